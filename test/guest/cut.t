#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# NUMA nodes that cut through cores and packages: hwloc takes all CPUs for local to both, the kernel
# knows better. Nobody is moved, no memory policy is set, and it is said where people look.
[ -e /nuioa/settings ] || exec "$(dirname "$0")/boot" cut --cgroup "$@" -- "$0"
# shellcheck source=lib.sh
. /nuioa/lib.sh

is "the kernel's NUMA nodes" "$(cat /sys/devices/system/node/node{0,1}/cpulist | xargs)" \
    "0,2,4,6 1,3,5,7"
is "the NIC says that it is on NUMA node 1" "$(nic_numa)" "eth0:1 "
the_plugin_does

nuioa topo --json 2>/dev/null >/tmp/topo.json
is "nuioa topo: their CPUs are the kernel's" \
    "$(jq -r '[.numa[].cpus] | join(" ")' /tmp/topo.json)" "0,2,4,6 1,3,5,7"
is "... the place of the NIC is unknown" \
    "$(jq -r '.nics[0] | "\(.locality) \(.numa | length) \(.level | length)"' /tmp/topo.json)" \
    "unknown 0 0"
cut="NUMA nodes cut through cores or packages"
is "... and it says so once" \
    "$(nuioa topo 2>/dev/null | tr -s ' \n' ' ' | grep -o "$cut" | wc -l)" 1
is "nuioa doctor says so once" "$(nuioa doctor --json |
    jq -r '[.findings[].id | select(test("numa|nic"))] | join(" ")')" numa-cut

launch -n4 -c2 --cpu-bind=cores
before=$(values cpus)
launch -n4 -c2 --cpu-bind=cores --nuioa=report,force --nuioa-mem=local \
    --nuioa-hints="$(descending 4)"
is "nobody moves, even with force, no rank has a memory policy, and the report says why once" \
    "$(values cpus), $(values policy | xargs -n1 | sort -u), $(says "$cut: ranks stay")" \
    "$before, default, 1"
done_testing
