#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The report where there is no IPv4. On a cluster of its own.
. "$(dirname "$0")/testlib.sh"
line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_IPV6=1 "$here/up" --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup

user srun -N1 -n1 sh -c 'echo $SLURM_SRUN_COMM_HOST'
is "srun is reached by IPv6" "$out" fd77::254
plugin on "topology=$topology" default=on "${patient[@]}"
launch 8 -N4 --exclusive --nuioa=report
one_report "IPv6" 4
finish
