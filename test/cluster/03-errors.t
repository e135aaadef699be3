#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A wrong value typed to srun is one clear line and no job; the same value from anywhere else is
# one warning line and the job runs. There is one option here of each kind that option_table.c
# reads; test/unit/wrong-lines.tsv has the lines of all.
. "$(dirname "$0")/testlib.sh"
setup

plugin on "topology=$topology" default=export

# NAME VALUE WHAT-THE-LINE-MUST-SAY (besides the value): what would have been right
# [WHAT-IT-MUST-QUOTE], if it is not all of the value
cases() {
    cat <<'END'
policy fast bandwidth
gpus local-rank:blocks local-rank:block
rails none auto|number
rails 0 from.1.to
export everything env
hints 0:x RANKS:WEIGHT
hints profile FILE.begins.with
hints ./no-such-file no-such-file
hints /dev/zero file
nic ^ nic
nic-role mlx5_0:disk compute
END
}

while read -r name value right typed; do
    refused "--nuioa-$name=$value"
    lines=$(nuioa_lines)
    is "--nuioa-$name=$value: nothing starts" "$ranks" 0
    ok "--nuioa-$name=$value: srun fails" test "$rc" -ne 0 -a "$rc" -ne 124
    one_line "--nuioa-$name=$value: one line"
    [ -n "$typed" ] || typed=${value//[\^.]/.}
    like "--nuioa-$name=$value: it names the input" "$lines" "$name.*$typed|$typed.*$name"
    like "--nuioa-$name=$value: it says what is right" "$lines" "$right"

    variable=${name^^} variable=SLURM_NUIOA_${variable//-/_}
    launch 4 "$variable=$value" -N2
    lines=$(nuioa_lines)
    is "$variable=$value: the job runs" "$rc" 0
    one_line "$variable=$value: one line, not one per node"
    like "$variable=$value: it names the variable" "$lines" "$variable"
done < <(cases)

refused --nuioa=onn
is "--nuioa=onn: nothing starts" "$ranks" 0
like "--nuioa=onn: it says what is right" "$(nuioa_lines)" 'onn.*on'
refused --nuioa=on,off
is "--nuioa=on,off: nothing starts" "$ranks" 0
user srun -Q -N1 --nuioa report,on hostname
like "--nuioa and its value behind a blank: what to type" "$(nuioa_lines)" \
    "^nuioa: 'report,on' is not a program: write --nuioa=report,on\$"
user srun -Q -N1 --nuioa hostname off
unlike "... a word of the program's is none" "$err" 'is not a program'
launch 2 SLURM_NUIOA=onn
one_line "SLURM_NUIOA=onn: one line"
launch 2 SLURM_NUIOA=export SLURM_NUIOA_POLCY=latency
one_line "SLURM_NUIOA_POLCY: one line"
like "SLURM_NUIOA_POLCY: as the user wrote it" "$(nuioa_lines)" \
    'SLURM_NUIOA_POLCY:.*SLURM_NUIOA_POLICY'
is "SLURM_NUIOA_POLCY: the rest still counts" "$(of 0 NUIOA_VERSION)" 1
refused --nuioa-polcy=latency
is "an unknown flag is srun's own error" "$ranks" 0

# A flag without the job: the same through sbatch, where no job must be queued.
user sbatch --nuioa-policy=fast --wrap true
ok "sbatch --nuioa-policy=fast fails" test "$rc" -ne 0
is "and queues nothing" "$(in_node ctl squeue -h)" ""

n1_log=$CLUSTER_DIR/nodes/node1/log/slurmd.log
# plugstack.conf: on every node and in srun. srun's user sees one line, not one per node.
while read -r argument; do
    plugin on "topology=$topology" default=export "$argument"
    logged=$(wc -l <"$n1_log")
    launch 4 -N2
    is "plugstack.conf $argument: the job runs" "$rc" 0
    one_line "plugstack.conf $argument: one line"
    like "plugstack.conf $argument: it names the input" "$(nuioa_lines)" "${argument%%=*}"
    is "plugstack.conf $argument: the same line in slurmd.log" \
        "$(tail -n "+$((logged + 1))" "$n1_log" | sed -n 's/.* error: nuioa/nuioa/p')" \
        "$(nuioa_lines)"
    is "plugstack.conf $argument: the rest still counts" "$(of 0 NUIOA_VERSION)" 1
done <<'END'
policy=fast
polcy=latency
nonsense
default
rails
policy = latency
policy= latency
deadline_ms=soon
=
cache=
deadline_ms=99999999999999999999
END

# A profile may say one thing in two ways: only one of them counts, which the user is told.
plugin on "topology=$topology"
printf 'nuioa-profile 1\nranks 4\nrank 2 0 9 0 1 0\npair 2 3 5 1 0\n' >"$CLUSTER_DIR/home/twice"
launch 4 -N2 --nuioa "--nuioa-hints=@$home/twice"
one_line "'rank' lines beside 'pair' lines: one line"
like "'rank' lines beside 'pair' lines: it names the file and the rank" "$rc:$(nuioa_lines)" \
    "^0:.*$home/twice: the profile has 'rank' and 'pair' lines for 1 rank, the first is rank 2: "

# Hints for ranks that are not there: one line, and the job runs.
echo 0:1,4-6:3 >"$CLUSTER_DIR/home/hints-list"
while read -r value; do
    launch 4 -N2 --nuioa "--nuioa-hints=$value"
    name=
    [ "${value#@}" = "$value" ] || name=": ${value#@}"
    is "hints $value of 4 ranks: one line" "$rc|$(nuioa_lines)" \
        "0|nuioa: --nuioa-hints$name names rank 4, but the ranks of this step are 0 to 3"
done <<END
heavy=1,4
0:1,4-6:3
@$home/hints-list
END
launch 4 SLURM_NUIOA_HINTS=0:1,9:3 -N2 --nuioa
is "SLURM_NUIOA_HINTS: one line" "$rc|$(nuioa_lines)" \
    "0|nuioa: SLURM_NUIOA_HINTS names rank 9, but the ranks of this step are 0 to 3"
launch 4 -N2 --nuioa --nuioa-hints=0:1,3-6:3
is "hints of which some ranks are there: nothing is said" "$rc|$(nuioa_lines)" "0|"
launched=$((launched + 1))
user srun -n3 -w node1 --exclusive --nuioa --nuioa-hints=7:2 true : -n5 -w node2 --exclusive \
    --nuioa --nuioa-hints=7:2 true
is "rank 7 of a heterogeneous job of 3 and 5: nothing is said" "$rc|$err" "0|"

# Only an administrator may set these options.
plugin on "topology=$topology" default=export
launch 16 -w node1 --exclusive
nic=$(of 0 NUIOA_NIC)
is "the administrator's topology has a NIC, the user's has none" "$nic" mlx5_0:1
install -m 0644 "$here/../topologies/cluster-node3.xml" "$CLUSTER_DIR/home/mine.xml"
for name in TOPOLOGY DISTANCES CACHE AUTH MUNGE_SOCKET DEADLINE_MS REMOTE_COST HOP_COST \
    LOAD_COST; do
    launch 16 "SLURM_NUIOA_$name=$home/mine.xml" -w node1 --exclusive
    is "SLURM_NUIOA_$name is not obeyed" "$(of 0 NUIOA_NIC)" "$nic"
    one_line "SLURM_NUIOA_$name: one line"
    like "SLURM_NUIOA_$name: it names the variable" "$(nuioa_lines)" "SLURM_NUIOA_$name"
done
refused "--nuioa-topology=$home/mine.xml"
is "--nuioa-topology: nothing starts" "$ranks" 0

finish
