#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# If a node knows its leader before it has a plan, no other node waits for it.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin
own=(cache=/run/node/early.cache default=on "${patient[@]}")

build_disturb

disturb() { # HOW: what happens to node4 from now on
    echo "optional $home/disturb.so $1" >>"$CLUSTER_DIR/nodes/node4/plugstack.conf"
}

# How many ms after the first rank the last has begun, in steps as long as the others wait
lead_ms() {
    user srun -N4 -n4 --exclusive /bin/sh -c 'echo $SLURM_PROCID $(date +%s%3N)'
    sort -n <<<"$out" | awk 'NR == 1 { first = $2 } END { print $2 - first }'
}

plugin on "${own[@]}"
disturb slow
launch 4 -N4 --exclusive
one_table "one rank a node, and one node slow to fork" 4
is "one rank a node: not a word" "$err" ""
ms=$(lead_ms)
ok "one rank a node: the others have begun long before ($ms ms)" test "$ms" -gt 1000
launch 8 -N4 --exclusive --nuioa-leader=rank0
one_table "leader=rank0" 8
launch 4 -N4 --exclusive --nuioa=report
is "report: all nodes are in it" "$(grep -cE '^ +node[1-4] +[0-9]+ ' <<<"$err")" 4

# Two NUMA nodes, two ranks: where they end up decides.
plugin on "topology=$topology" default=on
disturb slow
launch 8 -N4 --exclusive
no_table "two ranks a node, of which either may lead"

# A node gives up after it has sent its early leader: its ranks take part in what all ranks do.
plugin on "${own[@]}"
disturb blind
launch 4 -N4 --exclusive
is "a node cannot read masks: its ranks are told nothing" \
    "$(of 3 NUIOA_LEADER)$(of 3 NUIOA_CPUS)" ""
is "a node cannot read masks: the others have the table" "$(all NUIOA_LEADERS)" \
    "0,1,2,3 0,1,2,3 0,1,2,3"
is "a node cannot read masks: one line" \
    "$(nuioa_lines | grep -c 'node4.*cannot read where rank 3 may run')" 1
launch 4 -N4 --exclusive --error=/dev/null
is "a node cannot read masks: srun says so, wherever the ranks' errors go" \
    "$(nuioa_lines | grep -c 'node4.*cannot')" 1

plugin off
finish
