#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Nodes without libmunge, as where Slurm has an authentication of its own: here auth/none, which
# every version has. On a cluster of its own.
. "$(dirname "$0")/testlib.sh"
line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_SLURM_CONF='AuthType=auth/none
CredType=cred/none' "$here/up" --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup
need_plugin
everywhere=(ctl node1 node2 node3 node4)
missing='^nuioa: MUNGE: .*libmunge\.so\.2: .*; install it .*or have auth=key in plugstack.conf: '
missing+='each node is placed, and reports, by itself'

# hide NODE... / show NODE...: the library; munged, which keeps it, stays for those who have it
library=$(in_node ctl sh -c '
    readlink -f "$(ldconfig -p | sed -n "s/.*libmunge.so.2 .* => //p" | head -n 1)"')
hide() { local node; for node; do in_node "$node" mount --bind /dev/null "$library"; done; }
show() { local node; for node; do in_node "$node" umount "$library"; done; }

good=("topology=$topology" default=on "${patient[@]}")
hide "${everywhere[@]}"
plugin on "${good[@]}"
launch 8 -N4 --exclusive --nuioa=report
is "without libmunge the job runs" "$rc,$ranks" "0,8"
one_report "without libmunge, auth=key" 4
plugin on "${good[@]}" auth=munge
launch 8 -N4 --exclusive --nuioa=report
some_report "without libmunge, auth=munge" "$own_reports"
like "without libmunge, auth=munge: what is missing, and what to do" "$err" "$missing"
is "without libmunge, auth=munge: each node knows its own leader" "$(all NUIOA_LEADER | wc -w)" 8

# If only a node lacks the library, the node says so.
show "${everywhere[@]}"
plugin on "${good[@]}" auth=munge
launch 8 -N4 --exclusive --nuioa=report
one_report "with libmunge, auth=munge" 4
hide node2
plugin on "topology=$topology" default=on timeout_ms=500 auth=munge
launch 8 -N4 --exclusive --nuioa=report
some_report "node2 has no libmunge" "3 nodes node2"
like "node2 has no libmunge: its log says why" \
    "$(grep -a nuioa "$CLUSTER_DIR/nodes/node2/log/slurmd.log")" \
    'MUNGE: .*libmunge\.so\.2: .*install it'
show node2

finish
