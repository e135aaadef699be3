#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Tests nuioa layout: what it prints for srun, what it says, and that srun runs whatever happens.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
unset "${!SLURM_@}"
mkdir "$work/bin" "$work/dir"
# The machine's own Slurm is not asked.
printf '#!/bin/sh\necho "$*" >>%s\ncat %s\n' "$work/asked" "$work/topology" >"$work/bin/scontrol"
chmod +x "$work/bin/scontrol"
PATH=$work/bin:$PATH

# Ranks i and i + 8 communicate; 16 ranks.
awk 'BEGIN { print "nuioa-profile 1\nranks 16"
    for (i = 0; i < 16; i++) printf "pair %d %d 1000 1 0\n", i, (i + 8) % 16 }' >"$work/halves"
# Neighbours do, as block has them.
awk 'BEGIN { print "nuioa-profile 1\nranks 16"
    for (i = 0; i < 16; i += 2) printf "pair %d %d 1000 1 0\n", i, i + 1 }' >"$work/pairs"
sed 's/^pair/coll/' "$work/halves" >"$work/collectives"
printf 'SwitchName=s0 Nodes=node[1-2]\nSwitchName=s1 Nodes=node[3-4]\n' >"$work/topology"

# in_job COMMAND...: four nodes of 2, 4, 4, 6 CPUs, or $nodes
in_job() {
    (
        cd "$work/dir" || exit
        export SLURM_JOB_NODELIST="${nodes:-node[1-4]}" SLURM_JOB_CPUS_PER_NODE='2,4(x2),6'
        "$@"
        printf '%s\n' "$status" "$out" "$err" >"$work/result"
    )
    { read -r status && IFS= read -r out && err=$(cat); } <"$work/result"
}
# quiet NAME REGEX: srun runs as ever, and one line says why
quiet() {
    like "$1" "$status|$out|$err" "^0\|\|nuioa: layout: $2"
    is "$1: one line" "$(wc -l <<<"$err")" 1
}

in_job run layout "$work/halves"
like "in a job: options of srun" "$out" '^-m arbitrary -w (node[1-4],){15}node[1-4]$'
is "each node has its ranks" "$(tr ',' '\n' <<<"${out##* }" | sort | uniq -c | tr -s ' \n' ' ')" \
    " 2 node1 4 node2 4 node3 6 node4 "
is "partners are together" "$(tr ',' '\n' <<<"${out##* }" |
    awk '{ at[NR] = $1 } END { for (i = 1; i <= 8; i++) n += at[i] != at[i + 8]; print n }')" 0
like "it says what is gained" "$status|$err" \
    '^0\|.*off node 100.0 % by block, .* 0.0 in this layout, off switch [0-9.]+, [0-9.]+, 0.0 %'
is "scontrol is asked once" "$(cat "$work/asked")" "show topology"
first=$out
in_job run layout --hints "$work/halves"
is "equal input, equal output" "$out" "$first"
in_job run layout "$work/pairs"
quiet "block is as good" "srun's block is as good: off node 0.0 % by block"
in_job run layout "$work/collectives"
quiet "collectives only" "the profile has nothing that a layout could change"

SLURM_NTASKS=16 SLURM_TASKS_PER_NODE='4(x4)' in_job run layout "$work/halves"
is "a job with a number of tasks" \
    "$(tr ',' '\n' <<<"${out##* }" | sort | uniq -c | tr -s ' \n' ' ')" \
    " 4 node1 4 node2 4 node3 4 node4 "
SLURM_NTASKS=8 SLURM_TASKS_PER_NODE='2(x4)' in_job run layout "$work/halves"
quiet "another number of ranks" "the profile is of 16 ranks, but the job has 8 tasks"
SLURM_NTASKS=8 in_job run layout "$work/halves" --tasks-per-node 1,3,6,6
is "typed numbers of ranks on the job's nodes" \
    "$(tr ',' '\n' <<<"${out##* }" | sort | uniq -c | tr -s ' \n' ' ')" \
    " 1 node1 3 node2 6 node3 6 node4 "
in_job run layout "$work/halves" --nodes 'node[3-6]' --tasks-per-node 4
quiet "nodes of others" "--nodes: node5 is not a node of this job, which has node\[1-4\]\$"
in_job run layout "$work/halves" --nodes 'node[3-6]' --tasks-per-node 4 --json
is "... of which only --json tells" "$status|${out:0:11}" '0|{"nuioa": 1'
SLURM_NTASKS=1 in_job run layout "$work/halves"
quiet "one task" "the profile is of 16 ranks, but the job has 1 task\$"
SLURM_CPUS_PER_TASK=2 in_job run layout "$work/halves"
quiet "too few CPUs" "the 16 ranks of the profile do not fit the job's CPUs"
SLURM_HET_SIZE=2 in_job run layout "$work/halves"
quiet "a heterogeneous job" "heterogeneous jobs are not supported"
run layout "$work/halves"
quiet "no job" "not in a Slurm job"
in_job run layout "$work/none"
quiet "no such profile" "$work/none: No such file"
printf 'hello\n' >"$work/garbage"
in_job run layout "$work/garbage"
quiet "no profile" "$work/garbage:1: not a profile; "
run layout "$work/halves" --nodes a --tasks-per-node 16
quiet "one node" "one node: nothing to lay out"
run layout "$work/halves" --nodes 4 --tasks-per-node 4
quiet "nodes without names" "worth it, for nodes with names: .*--network was not given"
run layout "$work/halves" --nodes 'a[1-4]' --tasks-per-node 5
quiet "too many places" "the profile is of 16 ranks, but --tasks-per-node gives 20"

# Networks that are none: scontrol's is left alone, a typed one is an error.
echo "No topology information available" >"$work/topology"
in_job run layout "$work/halves"
like "no switches" "$out|$err" '^-m arbitrary .*; scontrol lists no switches$'
echo "SwitchName=s0 Nodes=node[7-9]" >"$work/topology"
in_job run layout "$work/halves"
like "switches of other nodes" "$out|$err" '^-m arbitrary .*; scontrol.s list of switches'
in_job run layout "$work/halves" --network "$work/topology"
quiet "the same typed" "$work/topology: node node1 is below no switch"
printf 'SwitchName=a Nodes=node[1-4] Switches=b\nSwitchName=b Switches=a\n' >"$work/circle"
in_job run layout "$work/halves" --network "$work/circle"
quiet "switches in a circle" "$work/circle: switch a is below itself"
printf 'SwitchName=a Nodes=node[1-4]\nSwitchName=b Switches=a,c\n' >"$work/unknown"
in_job run layout "$work/halves" --network "$work/unknown"
quiet "a switch that is not there" "$work/unknown: switch c, below b, is not there"
in_job run layout "$work/halves" --network "$work/garbage"
quiet "a file without switches" "$work/garbage: no line with SwitchName="
printf '#!/bin/sh\nsleep 60\n' >"$work/bin/scontrol"
in_job run layout "$work/halves"
like "scontrol hangs" "$out|$err" '^-m arbitrary .*; scontrol took more than two seconds$'
printf '#!/bin/sh\nexit 1\n' >"$work/bin/scontrol"
in_job run layout "$work/halves"
like "scontrol fails" "$out|$err" '^-m arbitrary .*; scontrol printed no network$'
mkdir "$work/few"
ln -s "$(command -v timeout)" "$(command -v cat)" "$work/few"
PATH=$work/few in_job run layout "$work/halves"
like "no scontrol" "$out|$err" '^-m arbitrary .*; scontrol printed no network$'

# Files.
in_job run layout "$work/halves"
names=${out##* }
in_job run layout "$work/halves" --hostfile list
is "--hostfile" "$status|$out|$(tr '\n' ',' <"$work/dir/list")" \
    "0|-m arbitrary -w $work/dir/list|$names,"
in_job run layout "$work/halves" --hostfile list
like "an existing file stays" "$status|$out|$err" \
    '^1\|\|nuioa: layout: the list of nodes: list: File exists; --force replaces it$'
echo other >"$work/dir/list"
in_job run layout "$work/halves" --hostfile list --force
is "... unless --force" "$status|$out|$(tr '\n' ',' <"$work/dir/list")" \
    "0|-m arbitrary -w $work/dir/list|$names,"
mkfifo "$work/dir/fifo"
in_job run layout "$work/halves" --hostfile fifo --force
like "no FIFO is written to, and nobody waits" "$status|$out|$err" \
    '^1\|\|nuioa: layout: the list of nodes: .*/fifo: not a regular file: it is not replaced$'
ln -s "$work/dir/target" "$work/dir/link"
in_job run layout "$work/halves" --hostfile link
like "a link that leads nowhere is there" "$status|$out|$err" '^1\|\|.*link: File exists'
if [ "$(id -u)" -eq 0 ]; then
    mkdir -m 1777 "$work/dir/tmp"
    echo theirs >"$work/dir/target"
    ln -s "$work/dir/target" "$work/dir/tmp/list"
    chown -h nobody "$work/dir/tmp/list"
    in_job run layout "$work/halves" --hostfile tmp/list --force
    like "root follows no link of others" "$status|$out|$err|$(<"$work/dir/target")" \
        '^1\|\|nuioa: layout: the list of nodes: .*\|theirs$'
else
    skip "root follows no link of others" "not root"
fi
awk 'BEGIN { print "nuioa-profile 1\nranks 1024"
    for (i = 0; i < 1024; i++) printf "pair %d %d 1000 1 0\n", i, (i + 512) % 1024 }' \
    >"$work/large"
nodes='rack-with-a-name-that-is-long-node[1-8]' in_job run layout "$work/large" --tasks-per-node 128
like "a list of 32 KB and more is in a file" "$status|$out" \
    "^0\|-m arbitrary -w $work/dir/nuioa-layout-[A-Za-z0-9]{6}\$"
is "... with a name for each rank" "$(grep -c '^rack-with' "${out##* }")" 1024
like "... which is said" "$err" "the list is in $work/dir/nuioa-layout-"

# An order of ranks in which Open MPI 5.0 gathers wrong data.
unsafe='Open MPI 5\.0 may gather wrong data in this order of ranks\. '
unsafe+='Set OMPI_MCA_coll_han_priority=0; srun --nuioa sets it'
awk 'BEGIN { print "nuioa-profile 1\nranks 16"
    for (i = 0; i < 16; i++) printf "pair %d %d 1000 1 0\n", i, 15 - i }' >"$work/mirror"
for options in "" "--hostfile unsafe"; do
    # shellcheck disable=SC2086
    in_job run layout "$work/mirror" --tasks-per-node 4 $options
    like "an order that is not safe${options:+, $options}" "$status|$out|$err" \
        "^0\|-m arbitrary -w [^|]*\|nuioa: layout: $unsafe
nuioa: layout: .*: off node"
done
in_job run layout "$work/mirror" --tasks-per-node 4 --json
like "... in JSON" "$status|$out" "^0\|.*\"warnings\": \[.*\"$unsafe\"\]"
in_job run layout "$work/halves" --tasks-per-node 4
like "a safe order" "$status|$out" '^0\|-m arbitrary -w '
unlike "... of which nothing is said" "$err" 'Open MPI'

run layout "$work/none" --json
like "--json is not for srun: an error is one" "$status|$out" '^1\|$'
done_testing
