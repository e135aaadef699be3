#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Ways to a step other than plain srun: batch, salloc, --export=NONE, PMIx, heterogeneous; and what
# must come through unchanged.
. "$(dirname "$0")/testlib.sh"
setup
plugin on "topology=$topology" "${patient[@]}"

# batch N SCRIPT: a job, to its end; what it printed is in $out, and what it said on stderr in $err
batch() {
    local n=$1
    printf '%s\n' "$2" >"$CLUSTER_DIR/home/job.sh"
    rm -f "$CLUSTER_DIR"/home/job.out "$CLUSTER_DIR"/home/job.err
    tally "$n" "$home/submit" -o "$home/job.out" -e "$home/job.err" "$home/job.sh"
    out=$(cat "$CLUSTER_DIR/home/job.out" 2>/dev/null)
    err=$err$(cat "$CLUSTER_DIR/home/job.err" 2>/dev/null)
}

batch 16 "#!/bin/bash
#SBATCH -w node1 -n 16 --exclusive
#SBATCH --nuioa=export
#SBATCH --nuioa-leader=rank0
env | sed -n 's/^NUIOA_/batch NUIOA_/p'
srun $home/rank"
is "#SBATCH options reach the inner srun" "$(of 3 NUIOA_VERSION),$(of 3 NUIOA_LEADER)" "1,0"
is "the batch step itself is left alone" "$(grep -c ^batch <<<"$out")" 0
is "not a word" "$err" ""

batch 16 "#!/bin/bash
#SBATCH -w node1 -n 16 --exclusive
#SBATCH --nuioa=export
#SBATCH --nuioa-leader=rank0
srun --nuioa-leader=near $home/rank"
is "the inner command line is above #SBATCH" "$(of 3 NUIOA_LEADER)" 8

batch 32 "#!/bin/bash
#SBATCH -N 2 -n 32 --exclusive
srun -n 16 -N 1 --nuioa=export $home/rank
SLURM_NUIOA=off srun -n 16 -N 1 --nuioa=off $home/rank | sed 's/^/off /'"
is "srun --nuioa in a plain batch job" "$(of 3 NUIOA_VERSION)" 1
is "--nuioa=off for one step" "$(grep -c '^off .*NUIOA_' <<<"$out")" 0

tally 16 salloc -w node1 -n16 --exclusive --nuioa=export --nuioa-leader=rank0 srun "$home/rank"
is "salloc options reach the inner srun" "$(of 3 NUIOA_LEADER)" 0
user salloc -w node1 -n2 --nuioa=export env
is "salloc's own command is left alone" \
    "$(grep -c ^SLURM_JOB_ID= <<<"$out")|$(grep -c ^NUIOA_ <<<"$out")" "1|0"
tally 16 salloc -w node1 -n16 --exclusive --nuioa=export srun --nuioa=off "$home/rank"
is "off for one step of an allocation" "$(grep -c NUIOA_ <<<"$out")" 0

launch 16 SLURM_NUIOA=export SLURM_NUIOA_LEADER=rank0 -w node1 --exclusive --export=NONE
is "SLURM_NUIOA_* with --export=NONE" "$(of 3 NUIOA_LEADER)" 0
launch 16 -w node1 --exclusive --export=NONE --nuioa=export
is "--nuioa with --export=NONE" "$(of 3 NUIOA_LEADER)" 8
launch 16 -w node1 --exclusive --export=NONE --nuioa=on --nuioa-hints=heavy=3
is "hints with --export=NONE" "$(of 3 NUIOA_LEVEL)" 0
batch 16 "#!/bin/bash
#SBATCH -w node1 -n 16 --exclusive --export=NONE
#SBATCH --nuioa=export
srun $home/rank"
is "sbatch --export=NONE" "$(of 3 NUIOA_LEADER)" 8

for mpi in none pmi2 pmix; do
    launch 8 -N2 --mpi=$mpi --nuioa=on --nuioa-hints=heavy=0
    is "--mpi=$mpi" "$rc,$(of 0 NUIOA_VERSION)" "0,1"
done

tally 5 srun -n2 --nuioa=export "$home/rank" : -n3 --nuioa=export "$home/rank"
is "heterogeneous: every rank is told" "$(all NUIOA_VERSION)" "1 1 1 1 1"
tally 5 srun -n2 --nuioa=export --nuioa-leader=rank0 "$home/rank" : -n3 "$home/rank"
is "heterogeneous: an option of one component" "$rc" 0

plugin on "topology=$topology" default=on "${patient[@]}"
launch 4 -w node1
is "default=on" "$(of 0 NUIOA_VERSION)" 1
launch 1 SLURM_TEST_EXIT=7 -w node1
is "the exit status comes through" "$rc" 7
launch 4 -w node1 --cpu-bind=none
is "--cpu-bind=none: still told" "$(of 0 NUIOA_VERSION),$rc" "1,0"
launch 2 -w node1 --label
is "nothing else is printed" "$err" ""
user srun -n1 sh -c 'kill -9 $$'
is "a killed rank is reported as without the plugin" "$rc" 137
user srun -n2 /no/such/program
ok "a program that does not exist fails as ever" test "$rc" -ne 0
user srun -n1 sh -c 'cat; echo done' </dev/null
is "standard input ends as ever" "$out" "done"
user sh -c 'timeout -s INT 2 srun -n1 sleep 30; echo interrupted: $?'
is "an interrupted srun ends" "$out" "interrupted: 124"
is "an interrupted job leaves nothing behind" "$(in_node ctl sh -c 'sleep 1; squeue -h')" ""

# srun tells these variables only to the nodes.
cat >"$CLUSTER_DIR/home/mpirun" <<'END'
#!/bin/sh
env | grep -e ^PATH= -e ^SLURM_NUIOA_SRUN= -e ^SLURM_NUIOA_HINTS_LIST= -e ^SLURM_NUIOA_HINTS_PATH= \
    -e ^SLURM_NUIOA_OVERLAP= -e ^SLURM_NUIOA_OUTER= | cut -d = -f 1
END
install -m 0755 "$CLUSTER_DIR/home/mpirun" "$CLUSTER_DIR/home/print-secrets"
chmod 0755 "$CLUSTER_DIR/home/mpirun"
keeps_quiet() { # NAME COMMAND...: whatever runs on the node sees nothing of it
    local name=$1
    shift
    user "$@"
    is "$name" "$rc,$out" "0,PATH"
}
say=$home/print-secrets
printf 'nuioa-profile 1\nranks 1\npair 0 0 5 1 0\n' >"$CLUSTER_DIR/home/profile"
plugin on "topology=$topology" default=on "hints=$home/profile" "${patient[@]}"
keeps_quiet "a rank is not told where srun listens" srun -n1 -w node1 "$say"
keeps_quiet "a rank is not told of --overlap" srun -n1 -w node1 --overlap "$say"
keeps_quiet "a rank in a rank is not told so" srun -n1 -w node1 srun --overlap -n1 "$say"
keeps_quiet "a launcher is not" srun -n1 -w node1 --overlap "$home/mpirun"
user srun -N2 -n2 --nuioa --nuioa-hints=none "$home/mpirun"
is "a launcher on two nodes: none of them calls, and nobody is told to install anything" \
    "$rc|$(grep -c . <<<"$err")" "0|1"
like "... but srun says that no rank is placed" "$err" \
    '^nuioa: no rank is placed: this step runs a launcher. Put nuioa exec'
user env SLURM_NUIOA=on SLURM_NUIOA_HINTS=none srun -N2 -n2 "$home/mpirun"
is "... not if only a variable asks: a job of many mpirun would say it many times" "$rc|$err" "0|"
user srun -N2 -n2 --nuioa=report --nuioa-hints=none "$home/mpirun"
is "... and a report says in one line" "$rc|$(grep -c . <<<"$err")" "0|1"
like "... why there is none" "$err" '^nuioa: no report: this step runs a launcher. Put nuioa exec'
keeps_quiet "a batch script is not" \
    env SLURM_NUIOA_SRUN=1:2:3 SLURM_NUIOA_COLLECTOR=1:2 SLURM_NUIOA_HINTS_LIST=0:1 \
    SLURM_NUIOA_HINTS_PATH=/p SLURM_NUIOA_OVERLAP=1 \
    sh -c "$home/submit -w node1 -n1 -o $home/job.out $say; cat $home/job.out"
printf 'LaunchParameters=use_interactive_step\n' >>"$CLUSTER_DIR/slurm.conf"
keeps_quiet "an interactive step is not" sh -c "SHELL=$say salloc -Q -n1 -w node1"
sed -i '/^LaunchParameters/d' "$CLUSTER_DIR/slurm.conf"
# Ranks that mpirun starts are not placed, and the job says so once. (Not its steps: Open MPI throws
# away what they print.)
head="#!/bin/bash
#SBATCH -w node1,node2 -N 2 -n 2"
twice="$home/mpirun -n 2 ./app
$home/mpirun -n 2 ./app"
advice="nuioa: ranks that mpirun starts are not placed: use srun, or mpirun --bind-to none \
nuioa exec -- ./app"
batch 0 "$head --nuioa
$twice"
is "sbatch --nuioa of mpirun: one line a job says what to type" "$rc|$err" "0|$advice"
SLURM_NUIOA=on batch 0 "$head
$twice"
is "SLURM_NUIOA=on sbatch: the same" "$rc|$err" "0|$advice"
tally 0 "$home/submit" -w node1 -n1 --nuioa -o "$home/job.out" --wrap "true; time $home/mpirun"
is "sbatch --wrap: the same" "$rc|$(head -n 1 "$CLUSTER_DIR/home/job.out")" "0|$advice"
for quiet in "--nuioa=off|$twice" "|$twice" "--nuioa|true # mpirun" "--nuioa|# mpirun" \
    "--nuioa|$home/mpirun --bind-to none nuioa exec -- ./app"; do
    batch 0 "$head ${quiet%%|*}
${quiet#*|}"
    is "sbatch ${quiet//$'\n'/; }: not a word" "$rc|$err" "0|"
done
user salloc -Q -w node1 -n1 --nuioa "$home/mpirun"
is "salloc --nuioa mpirun" "$rc|$err" "0|$advice"
user salloc -Q -w node1 -n1 --nuioa
like "salloc --nuioa: a shell in which somebody may type it" "$err" "^$advice"
user salloc -Q -w node1 -n1 --nuioa srun -n1 true
is "salloc --nuioa srun: not a word" "$rc|$err" "0|"
user salloc -Q -w node1 -n1
unlike "salloc: not a word" "$err" nuioa

for off in off "on topology=/run/node/none"; do
    # shellcheck disable=SC2086
    plugin -n node1 on "topology=$topology" ${off/#/default=} "${patient[@]}"
    keeps_quiet "a rank is not where the node says $off" srun -n1 -w node1 --overlap "$say"
    keeps_quiet "a launcher is not where the node says $off" srun -n1 -w node1 "$home/mpirun"
done
plugin off

finish
