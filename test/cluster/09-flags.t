#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The flags of sbatch, of #SBATCH lines and of salloc, and what each srun inside makes of them. Rank
# 3 is placed beside the NIC (level 0) where ranks are placed, and is far from it where Slurm puts
# it.
. "$(dirname "$0")/testlib.sh"
setup

full=(-w node1 -n16 --exclusive)

# submit N SCRIPT [SBATCH-ARG]...: a job in which N ranks must start, to its end; what it printed
# is in $out, and what it said on stderr in $err
submit() {
    local n=$1
    printf '#!/bin/sh\n%s\n' "$2" >"$CLUSTER_DIR/home/job.sh"
    shift 2
    rm -f "$CLUSTER_DIR"/home/job.out "$CLUSTER_DIR"/home/job.err
    tally "$n" "$home/submit" "${full[@]}" -o "$home/job.out" -e "$home/job.err" "$@" \
        "$home/job.sh"
    out=$(cat "$CLUSTER_DIR/home/job.out" 2>/dev/null)
    err=$err$(cat "$CLUSTER_DIR/home/job.err" 2>/dev/null)
}

# said: the exit status, whether rank 3 was told anything, and its level
said() { echo "$rc $(of 3 NUIOA_VERSION) $(of 3 NUIOA_LEVEL)"; }
placed="0 1 0" told="0 1 1" nothing="0  "

for default in off export on; do
    plugin on "topology=$topology" "default=$default" hints=heavy=3 "${patient[@]}"
    while read -r flag expected; do
        submit 16 "srun $home/rank" "$flag"
        is "default=$default, sbatch $flag" "$(said):$err" "${!expected}:"
        submit 16 "#SBATCH $flag
srun $home/rank"
        is "default=$default, #SBATCH $flag" "$(said):$err" "${!expected}:"
        tally 16 salloc -Q "${full[@]}" "$flag" srun "$home/rank"
        is "default=$default, salloc $flag" "$(said):$err" "${!expected}:"
    done <<'END'
--nuioa placed
--nuioa=on placed
--nuioa=export told
--nuioa=off nothing
END
done

plugin on "topology=$topology" hints=heavy=3 "${patient[@]}"
submit 16 "srun --nuioa=off $home/rank" --nuioa
is "a flag of the inner srun wins: off" "$(said):$err" "$nothing:"
submit 16 "srun --nuioa=export $home/rank" --nuioa
is "a flag of the inner srun wins: export" "$(said):$err" "$told:"
submit 16 "srun --nuioa $home/rank" --nuioa=export
is "a plain flag of the inner srun wins" "$(said):$err" "$placed:"
submit 16 "SLURM_NUIOA=off srun $home/rank" --nuioa=on
is "a variable that the script sets wins over the flag of sbatch" "$(said):$err" "$nothing:"
submit 16 "SLURM_NUIOA_LEADER=rank0 srun $home/rank" --nuioa=export --nuioa-leader=off
is "that holds for every flag" "$(of 3 NUIOA_LEADER):$err" "0:"
submit 16 "srun $home/rank" --nuioa --export=NONE
is "sbatch --nuioa --export=NONE" "$(said):$err" "$placed:"
tally 16 salloc -Q "${full[@]}" --nuioa sh -c "env | grep -c ^SLURM_SPANK_; srun $home/rank"
is "nothing but SLURM_NUIOA is left behind" "$(head -n 1 <<<"$out"):$(said)" "0:$placed"
inner="srun -n1 --overlap $home/rank; srun --nuioa -n1 --overlap $home/rank"
tally 3 salloc -Q "${full[@]}" --nuioa srun -n1 sh -c "$home/rank; $inner"
is "srun inside of srun" "$rc:$(all NUIOA_VERSION):$err" "0:1 1 1:"

# A job in a job: it inherits SLURM_NUIOA, and may have a flag of its own.
printf '#!/bin/sh\nsrun -n1 %s\n' "$home/rank" >"$CLUSTER_DIR/home/inner.sh"
for flag in "" --nuioa --nuioa=export; do
    submit 1 "$home/submit -w node2 -n1 -o $home/job.out $flag $home/inner.sh" --nuioa
    is "sbatch $flag inside of sbatch --nuioa" "$rc:$(of 0 NUIOA_VERSION):$err" "0:1:"
done
tally 1 salloc -Q -w node1 -n1 --nuioa salloc -Q -w node2 -n1 --nuioa srun "$home/rank"
is "salloc --nuioa inside of salloc --nuioa" "$rc:$(of 0 NUIOA_VERSION):$err" "0:1:"

# with_variables VARIABLE=VALUE... -- [SRUN-ARG]...: srun of 16 ranks where they are set
with_variables() {
    local env=()
    while [ "$1" != -- ]; do env+=("$1"); shift; done
    shift
    tally 16 env "${env[@]}" srun "${full[@]}" "$@" "$home/rank"
}

# Several --nuioa on one command line say what one of them would say with all their words.
# reports: how many reports were printed
reports() { grep -c '^nuioa: .* ranks, ' <<<"$err"; }
plugin on "topology=$topology" hints=heavy=3 "${patient[@]}"
launch 16 "${full[@]}" --nuioa=report --nuioa=export
is "report, and then export" "$(said):$(reports)" "$told:1"
launch 16 "${full[@]}" --nuioa=export --nuioa=report
is "export, and then report" "$(said):$(reports)" "$told:1"
launch 16 "${full[@]}" --nuioa --nuioa=report
is "plain, and then report" "$(said):$(reports)" "$placed:1"
tally 5 srun -w node1 -n2 --nuioa=report "$home/rank" : -w node2 -n3 --nuioa=export "$home/rank"
is "in two components" "$rc:$(all NUIOA_VERSION):$(reports)" "0:1 1 1 1 1:1"
tally 5 srun -w node1 -n2 --nuioa=off "$home/rank" : -w node2 -n3 --nuioa=export "$home/rank"
is "in two components, off in one: no launch is lost, the last one counts" \
    "$rc:$(all NUIOA_VERSION):$err" "0:1 1 1 1 1:"
with_variables SLURM_NUIOA=report -- --nuioa=export
is "the command line replaces the environment" "$(said):$err" "$told:"
with_variables SLURM_NUIOA_SWITCH=off -- --nuioa
is "what an outer srun has joined is not this one's" "$(said):$err" "$placed:"
user srun -w node1 -n1 --nuioa=report --nuioa=export sh -c 'env | grep -c ^SLURM_NUIOA_SWITCH'
is "a rank is not told how they were joined" "$out" 0
submit 16 "#SBATCH --nuioa=report
#SBATCH --nuioa=export
srun $home/rank"
is "two lines #SBATCH" "$(said):$(reports)" "$told:1"
submit 16 "#SBATCH --nuioa=report
srun $home/rank" --nuioa=export
is "the command line of sbatch replaces the line #SBATCH" "$(said):$err" "$told:"
submit 16 "#SBATCH --nuioa
srun $home/rank" --nuioa=off
is "also by off" "$(said):$err" "$nothing:"
submit 16 "srun --nuioa=export $home/rank" --nuioa=report
is "srun's own replaces that of sbatch" "$(said):$err" "$told:"

for flags in "--nuioa=on --nuioa=off" "--nuioa=off --nuioa=force" --nuioa=off,explain; do
    # shellcheck disable=SC2086
    refused $flags
    is "$flags: nothing starts" "$ranks,$rc" 0,1
    one_line "$flags: one line"
    like "$flags: it says what goes" "$err" 'off can be combined with report only'
done

# report,off: everything stays, and the report says so.
for flags in --nuioa=report,off "--nuioa=off --nuioa=report"; do
    # shellcheck disable=SC2086
    launch 16 NUIOA_LEADER=7 "${full[@]}" $flags --nuioa-export=env,ucx
    is "$flags: nothing is told, nothing is taken away" "$rc,$(grep -c NUIOA_ <<<"$out")" 0,16
    is "$flags: one report" "$(reports)" 1
    like "$flags: it says that nothing was done" "$err" 'nuioa: .*16 ranks, 0 moved '
    unlike "$flags: nobody leads" "$err" 'leader'
    like "$flags: it says why" "$err" 'off: Slurm.s binding is unchanged'
done
launch 32 -w node1,node2 --exclusive --nuioa=report,off
is "report,off of two nodes: one report" "$(reports)" 1
user env NUIOA_LEADER=7 srun -w node1 -n2 --nuioa=report,off sh -c 'env'
is "report,off sets no variable" "$(grep -E '^(NUIOA_|OMP_|UCX_|LD_PRELOAD|PMIX_MCA)' <<<"$out" |
    sort -u)" NUIOA_LEADER=7
plugin on "topology=$topology"
plugin -n node2 off
launch 32 -w node1,node2 --exclusive --nuioa=report,off
like "report,off where a node has no plugin: it is named" "$err" \
    'no record from node2; fix what Slurm or a node reports'
unlike "... and nobody is said to know a leader" "$err" 'leader'

# Where nuioa has been removed, scripts that ask for it by variables still run.
plugin off
with_variables SLURM_NUIOA=on SLURM_NUIOA_LEADER=rank0 --
is "SLURM_NUIOA does nothing without the plugin" "$(said):$err" "$nothing:"

finish
