#!/bin/bash
# The rendezvous where there is no IPv4. On a cluster of its own.
. "$(dirname "$0")/testlib.sh"
line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_IPV6=1 "$here/up" --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup
need_plugin

user srun -N1 -n1 sh -c 'echo $SLURM_SRUN_COMM_HOST'
is "srun is reached by IPv6" "$out" fd77::254
plugin on "topology=$topology" default=on
launch 8 -N4 --exclusive
if grep -q munge_encode "$(readlink -f "${NUIOA_STAGE:-/none}/usr/lib/slurm/nuioa.so")" 2>/dev/null; then
    one_table "IPv6" 8
    is "not a word" "$err" ""
else
    skip "the rendezvous" "the plugin was built without MUNGE"
fi
finish
