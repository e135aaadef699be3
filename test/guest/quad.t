#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A ring of four NUMA nodes, two hardware threads a core, NICs on 1 (eth0) and 3 (eth1):
# NUMA nodes 0 and 2 are equally near both.
[ -e /nuioa/settings ] || exec "$(dirname "$0")/boot" quad --cgroup "$@" -- "$0"
# shellcheck source=lib.sh
. /nuioa/lib.sh

is "distances from NUMA node 1" "$(slit 1)" "20 10 20 30"
is "the NICs are on NUMA nodes 1 and 3" "$(nic_numa)" "eth0:1 eth1:3 "
is "Slurm sees 4 sockets of 2 cores of 2 threads" "$(sinfo -h -o '%X %Y %Z')" "4 2 2"
is "CPUs 0 and 1 are one core" \
    "$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)" "0-1"
the_plugin_does

is "nuioa topo says the same" "$(topo 1)" "[eth0:1,eth1:3] [20,10,20,30]"

# nics_of NUMA...: the NICs that the ranks there have, without repetition.
nics_of() {
    paste -d' ' <(values numa | tr ' ' '\n') <(nics | tr ' ' '\n') |
        awk -v wanted=" $* " 'index(wanted, " " $1 " ") { print $2 }' | sort -u | xargs
}
count() { tr ' ' '\n' <<<"$2" | grep -cx "$1"; }

# load NIC: the sum of the weights of its ranks, rank 0 having the first of $weights.
load() {
    paste -d' ' <(nics | tr ' ' '\n') <(tr ' ' '\n' <<<"$weights") |
        awk -v nic="$1" '$1 == nic { sum += $2 } END { print sum + 0 }'
}

# How many ranks have both hardware threads of one core and nothing else.
whole_cores() {
    values cpus | tr ' ' '\n' | awk -F- 'NF == 2 && $1 % 2 == 0 && $2 == $1 + 1' | sort -u | wc -l
}

launch -n8 -c2 --nuioa --nuioa-hints=0-7:1
is "equal weights: the NIC of the own NUMA node" "$(nics_of 1), $(nics_of 3)" "eth0, eth1"
is "equally near NICs are shared" "$(count eth0 "$(nics)") $(count eth1 "$(nics)")" "4 4"

weights="9 1 1 1 1 1 1 5"
launch -n8 -c2 --nuioa --nuioa-hints=0:9,1-6:1,7:5
is "heavy ranks at both NICs: those with a choice even it out" "$(load eth0) $(load eth1)" "10 10"

launch -n8 -c2 --nuioa --nuioa-hints="$(descending 8)"
is "descending weights: the heavy half beside the NICs, a core's two threads with one rank" \
    "$(rings "1 3" "0 2"), $(whole_cores) whole cores" "$(repeat 4 0 4 1), 8 whole cores"

weights="8 7 6 5 4 3 2 1"
spread=$(($(load eth0) - $(load eth1)))
ok "descending weights: loads differ by less than one of the shared ranks" \
    test "${spread#-}" -le 4 -a "$(load eth0)" -gt 0

launch -n8 -c2 --nuioa --nuioa-nic=^eth0 --nuioa-hints="$(descending 8)"
is "nic=^eth0: all on eth1, placed around NUMA node 3" \
    "$(rings "3" "0 2" "1"), $(nics)" "$(repeat 2 0 4 1 2 2), $(repeat 8 eth1)"

launch -n8 -c2 --nuioa --nuioa-nic=eth0 --nuioa-hints="$(descending 8)"
is "nic=eth0: all on eth0, placed around NUMA node 1" \
    "$(rings "1" "0 2" "3"), $(nics)" "$(repeat 2 0 4 1 2 2), $(repeat 8 eth0)"

ip link set eth1 down
launch -n8 -c2 --nuioa --nuioa-hints="$(descending 8)"
is "eth1 is down: all on eth0, placed around NUMA node 1" \
    "$(rings "1" "0 2" "3"), $(nics)" "$(repeat 2 0 4 1 2 2), $(repeat 8 eth0)"
ip link set eth1 up

# Slurm gives each rank one thread of a core and leaves the other one idle.
launch -n8 --hint=nomultithread --nuioa --nuioa-hints="$(descending 8)"
is "one thread a core: moved, no core has two ranks" \
    "$(rings "1 3" "0 2"), $(values cpus | tr ' ' '\n' | awk '{ print int($1 / 2) }' |
        sort -u | wc -l) cores" "$(repeat 4 0 4 1), 8 cores"

# Two heavy ranks, both on NUMA node 0, which is halfway between the NICs: one goes to each.
launch -n8 -c2 --nuioa --nuioa-hints=heavy=0,1
is "two heavy ranks do not share a NIC" \
    "$(rings "1 3" "0 2" | cut -d' ' -f1,2), $(
        nics | cut -d' ' -f1,2 | tr ' ' '\n' | sort | xargs)" "0 0, eth0 eth1"

job=$(hold 16)
launch --jobid="$job" -n4 --cpu-bind=cores --nuioa --nuioa-cores=pack --nuioa-hints=0-3:1
is "cores=pack: four whole cores beside the NICs" \
    "$(rings "1 3"), $(whole_cores) whole cores, $(count eth0 "$(nics)") $(count eth1 "$(nics)")" \
    "$(repeat 4 0), 4 whole cores, 2 2"

# Slurm binds both ranks to NUMA node 0, and the other cores of the step are free.
launch --jobid="$job" -n2 --cpu-bind=cores -m block:block --nuioa=report
is "free cores: both ranks go beside a NIC, each to a whole core, and their memory with them" \
    "$(values cpus); $(at_home); $(nics)" "4-5 6-7; 2; eth0 eth0"
is "... and the report says it" "$(says "rank's NUMA node moved nearer the NIC")" 1
launch --jobid="$job" -n2 -m block:block --hint=nomultithread --nuioa
is "free cores, one thread a core: each rank has one thread of a core beside a NIC" \
    "$(values cpus)" "4 6"
launch --jobid="$job" -n2 --cpu-bind=cores -m block:block --nuioa --nuioa-hints=heavy=1
is "free cores, the second rank is heavy: it alone goes beside a NIC" \
    "$(values cpus)" "0-1 4-5"
launch --jobid="$job" -n2 --cpu-bind=cores -m block:block --overlap --nuioa=report
is "free cores, --overlap: untouched, and the report says why" \
    "$(values cpus); $(says "other steps may use them. Omit --overlap")" "0-1 2-3; 1"

release "$job"

# Emulated time means nothing, and nuioa probe must notice by itself.
nuioa probe --quick --out /tmp/distances >/dev/null 2>/tmp/said
is "nuioa probe refuses what it measures here, in a line that says why" \
    "$?|$(grep -vc measur /tmp/said)|$(test -e /tmp/distances; echo $?)" "1|1|1"
is "... and how far it is, while it measures" "$(grep -c 'of 4 NUMA nodes measured$' /tmp/said)" 3
like "... the matrix itself tells" "$(cat /tmp/said)" \
    'cannot be trusted: (the diagonal|from [0-3] the memory|no clear gap|noise|contradiction)'

done_testing
