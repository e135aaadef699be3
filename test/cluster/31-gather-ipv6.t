#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The rendezvous where there is no IPv4. On a cluster of its own.
. "$(dirname "$0")/testlib.sh"
line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_IPV6=1 "$here/up" --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup
need_plugin

user srun -N1 -n1 sh -c 'echo $SLURM_SRUN_COMM_HOST'
is "srun is reached by IPv6" "$out" fd77::254
for auth in key munge; do
    plugin on "topology=$topology" default=on "${patient[@]}" "auth=$auth"
    launch 8 -N4 --exclusive --nuioa=report
    one_report "IPv6, auth=$auth" 4
done
finish
