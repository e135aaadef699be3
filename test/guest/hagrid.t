#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The 8-node Opteron with its NIC on NUMA node 0. The site has switched placement on for everybody.
[ -e /nuioa/settings ] || exec "$(dirname "$0")/boot" hagrid --plugstack default=on "$@" -- "$0"
# shellcheck source=lib.sh
. /nuioa/lib.sh

is "distances from NUMA node 0, row = initiator" "$(slit 0)" "10 21 20 30 30 49 40 39"
is "the NIC is on NUMA node 0" "$(nic_numa)" "eth0:0 "
is "Slurm sees 8 sockets of 2 cores" "$(sinfo -h -o '%X %Y %Z')" "8 2 1"
the_plugin_does

megabytes=8
launch -n16 --nuioa --nuioa-hints="$(descending 16)"
is "descending weights: NUMA node 0, then 1 2, then 3 4, then 6 7, then 5" \
    "$(rings "0" "1 2" "3 4" "6 7" "5"), $(distinct cpus) CPUs" \
    "$(repeat 2 0 4 1 4 2 4 3 2 4), 16 CPUs"
is "every page of 8 MB is on the rank's NUMA node, without a policy" \
    "$(at_home) $(distinct NUIOA_LEADER) $(values NUIOA_NIC)" "16 1 $(repeat 16 eth0)"
is "every rank is told its level" "$(values NUIOA_LEVEL)" "$(repeat 2 0 4 1 4 2 4 3 2 4)"

SLURM_NUIOA_HINTS=heavy=15 launch -n16
moved=$(values numa | cut -d' ' -f16)
SLURM_NUIOA_HINTS=heavy=15 launch -n16 --nuioa=off
is "default=on moves ranks without any flag, and --nuioa=off does not" \
    "$moved, $(values numa | cut -d' ' -f16)" "0, 7"

done_testing
