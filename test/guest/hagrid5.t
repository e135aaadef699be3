#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The 8-node Opteron with its NIC on NUMA node 5, where a transposed distance matrix would give
# another order. First under cgroup v2 with ConstrainCores: the kernel refuses what is outside the
# job's cores. Then without a cgroup: nothing but the plugin keeps ranks inside their step.
[ -e /nuioa/settings ] || exec "$(dirname "$0")/boot" hagrid5 --cgroup \
    --conf SlurmdDebug=debug2 "$@" -- "$0"
# shellcheck source=lib.sh
. /nuioa/lib.sh

is "distances from NUMA node 0, row = initiator" "$(slit 0)" "10 21 20 30 30 49 40 39"
is "distances from NUMA node 5" "$(slit 5)" "39 29 29 20 31 10 20 21"
is "the NIC is on NUMA node 5" "$(nic_numa)" "eth0:5 "
is "Slurm sees 8 sockets of 2 cores" "$(sinfo -h -o '%X %Y %Z')" "8 2 1"
job=$(hold 2)
ranks=$(as_user srun -n14 --cpu-bind=none whereami 1)
release "$job"
is "a job's ranks are confined to its cores" "$(values cpus)" "$(repeat 14 2-15)"
the_plugin_does

is "nuioa topo says the same" "$(topo 5)" "[eth0:5] [39,29,29,20,31,10,20,21]"

# --- under a cgroup -------------------------------------------------------------------------------

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

# --- without a cgroup -----------------------------------------------------------------------------

sed -i 's|^\(ProctrackType\)=.*|\1=proctrack/linuxproc|; s|^\(TaskPlugin\)=.*|\1=task/affinity|' \
    /etc/slurm/slurm.conf
echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf
restart_slurmd

megabytes=8
launch -n16 --nuioa --nuioa-hints="$(descending 16)"
is "descending weights: NUMA node 5, then 3 6 7, then 1 2 4, then 0" \
    "$(rings "5" "3 6 7" "1 2 4" "0"), $(distinct cpus) CPUs" \
    "$(repeat 2 0 6 1 6 2 2 3), 16 CPUs"
is "every page of 8 MB is on the rank's NUMA node, without a policy" \
    "$(at_home) $(distinct NUIOA_LEADER) $(values NUIOA_NIC)" "16 1 $(repeat 16 eth0)"
megabytes=1
is "the heaviest rank leads" "$(values NUIOA_LEADER)" "$(repeat 16 0)"
is "every rank is told the NIC" "$(nics)" "$(repeat 16 eth0)"
is "every rank is told its level" "$(values NUIOA_LEVEL)" "$(repeat 2 0 6 1 6 2 2 3)"
is "every rank is told its CPUs, which are those it has" \
    "$(values NUIOA_CPUS)" "$(values cpus)"

launch -n16 --nuioa --nuioa-hints=heavy=15
is "one heavy rank, the last: it gets NUMA node 5" "$(rings 5 | cut -d' ' -f16)" 0

# neighbours STRIDE: where rank 0 is, how many ranks share the NUMA node of the one STRIDE after
# them, and what all use together.
neighbours() {
    local pairs
    pairs=$(values numa | awk -v stride="$1" '{
        for (i = 1; i <= NF - stride; i++) if ($i == $(i + stride)) pairs++
    } END { print pairs + 0 }')
    echo "$(values numa | cut -d' ' -f1), $pairs pairs, $(distinct numa) NUMA nodes," \
        "$(distinct cpus) CPUs"
}

launch -n16 --nuioa=on
is "no hints: local rank 0 is on NUMA node 5, neighbours stay together" \
    "$(neighbours 8)" \
    "5, 8 pairs, 8 NUMA nodes, 16 CPUs"

launch -n16 -m block:block --nuioa=on
is "no hints, block:block: the same" \
    "$(neighbours 1)" \
    "5, 8 pairs, 8 NUMA nodes, 16 CPUs"

# Steps that may use the whole node: srun by itself would give one with few ranks few cores.
job=$(hold 16)

launch --jobid="$job" -n1 --cpu-bind=cores --nuioa
is "one rank alone: NUMA node 5" "$(values numa), $(values NUIOA_LEVEL)" "5, 0"

# Seen from NUMA node 5, node 1 is nearer than node 0: rank 2 leads.
launch --jobid="$job" -n4 --cpu-bind=map_cpu:0,1,2,3 --nuioa --nuioa-hints="$(descending 4)"
is "map_cpu: untouched, leader, NIC and level still exported" \
    "$(values cpus); $(values NUIOA_LEADER); $(nics); $(values NUIOA_LEVEL)" \
    "0 1 2 3; 2 2 2 2; eth0 eth0 eth0 eth0; 3 3 2 2"

for unbound in --cpu-bind=none --nuioa-cores=keep; do
    launch --jobid="$job" -n4 "$unbound" --nuioa --nuioa-hints="$(descending 4)"
    is "unbound ranks ($unbound): not squeezed, leader and NIC still exported" \
        "$(values cpus); $(values NUIOA_LEADER); $(nics)" \
        "$(repeat 4 0-15); $(repeat 4 0); $(repeat 4 eth0)"
done
launch --jobid="$job" -n4 --nuioa --nuioa-hints="$(descending 4)"
is "unbound ranks, no cgroup: divided, the heaviest beside the NIC" \
    "$(values cpus)" "6-7,10-11 12-15 4-5,8-9 0-3"

SLURM_NUIOA=on launch --jobid="$job" -n1 --cpu-bind=cores
is "SLURM_NUIOA=on, no flag: as with the flag" "$(values numa)" 5
release "$job"

launch -n16 --hint=nomultithread --nuioa --nuioa-hints="$(descending 16)"
is "--hint=nomultithread: moved" "$(rings "5" "3 6 7" "1 2 4" "0")" "$(repeat 2 0 6 1 6 2 2 3)"

launch -n16 --cpu-bind=verbose,cores --nuioa --nuioa-hints="$(descending 16)"
is "--cpu-bind=verbose,cores: moved" "$(rings "5" "3 6 7" "1 2 4" "0")" \
    "$(repeat 2 0 6 1 6 2 2 3)"

# Without a cgroup the kernel would let a rank out of its step.
job=$(hold 4)
launch -n4 -m block:block --nuioa --nuioa-hints="$(descending 4)"
is "no cgroup: ranks stay inside their step, and are placed there" \
    "$(values numa); $(distinct cpus) CPUs" "3 3 2 2; 4 CPUs"
release "$job"

launch -n16 --nuioa=export
is "export: nothing moves, leader and NIC are exported" \
    "$(values cpus); $(values NUIOA_LEADER); $(nics)" \
    "0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15; $(repeat 16 5); $(repeat 16 eth0)"

# The site switches placement on for everybody.
[ "$plugin" = no ] || sed -i '/nuioa/s/$/ default=on/' /etc/slurm/plugstack.conf
restart_slurmd
SLURM_NUIOA_HINTS=heavy=15 launch -n16
moved=$(rings 5 | cut -d' ' -f16)
SLURM_NUIOA_HINTS=heavy=15 launch -n16 --nuioa=off
is "default=on moves ranks without any flag, and --nuioa=off does not" \
    "$moved, $(values numa | cut -d' ' -f16)" "0, 7"

done_testing
