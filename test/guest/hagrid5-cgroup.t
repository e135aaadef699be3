#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The 8-node Opteron with its NIC on NUMA node 5, under cgroup v2 with ConstrainCores: the kernel
# refuses what is outside the job's cores.
[ -e /nuioa/settings ] || exec "$(dirname "$0")/boot" hagrid5 --cgroup \
    --conf SlurmdDebug=debug2 "$@" -- "$0"
# shellcheck source=lib.sh
. /nuioa/lib.sh

job=$(hold 2)
ranks=$(as_user srun -n14 --cpu-bind=none whereami 1)
release "$job"
is "a job's ranks are confined to its cores" "$(values cpus)" "$(repeat 14 2-15)"
the_plugin_does

launch -n16 --nuioa --nuioa-hints="$(descending 16)"
is "whole node, descending weights: NUMA node 5, then 3 6 7, then 1 2 4, then 0" \
    "$(rings "5" "3 6 7" "1 2 4" "0"), $(distinct cpus) CPUs, $(at_home) at home" \
    "$(repeat 2 0 6 1 6 2 2 3), 16 CPUs, 16 at home"

# killed: how many processes Slurm has killed so far at the ends of steps. It then waits a second,
# and two, four, ... more while any is there.
killed() { grep -cE "proctrack_p_signal: (killing|sending) process" /var/log/slurm/slurmd.log; }
before=$(killed)
launch -n16 --nuioa=report
is "a report: when the ranks have ended nothing is left of the step that Slurm must kill" \
    "$(says "16 ranks"); $(($(killed) - before))" "1; 0"
before=$(killed)
launch -n20 -O --nuioa=report
is "... nor with more ranks than cores" "$(says "20 ranks"); $(($(killed) - before))" "1; 0"

# Two jobs, one after the other, then without the first: all cores are free but those of node 5.
below=$(hold 10)
node5=$(hold 2)
release "$below"

launch -n14 --nuioa --nuioa-hints="$(descending 14)"
is "NUMA node 5 is not ours: the nearest cores that are, no error" \
    "$(rings "5" "3 6 7" "1 2 4" "0"), $(distinct cpus) CPUs, ${said:-silent}" \
    "$(repeat 6 1 6 2 2 3), 14 CPUs, silent"
is "levels are still those of the whole machine" \
    "$(values NUIOA_LEVEL)" "$(repeat 6 1 6 2 2 3)"

launch -n1 -c14 --nuioa
is "one rank with every core left keeps them all" \
    "$(values cpus); $(values NUIOA_LEADER)" "0-9,12-15; 0"

rest=$(hold 14)
launch --jobid="$rest" -n1 --cpu-bind=cores --nuioa
is "one rank alone: the nearest NUMA nodes that are ours" "$(rings "5" "3 6 7")" 1
release "$rest"

launch -n4 -m block:block --nuioa --nuioa-hints="$(descending 4)"
is "four cores on NUMA nodes 0 and 1: the heaviest ranks on 1" "$(values numa)" "1 1 0 0"
release "$node5"

done_testing
