#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Hosts without libmunge or munged, as where Slurm has an authentication of its own: here
# auth/none, which every version has. On a cluster of its own.
. "$(dirname "$0")/testlib.sh"
line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_SLURM_CONF='AuthType=auth/none
CredType=cred/none' "$here/up" --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup
everywhere=(ctl node1 node2 node3 node4)
missing='nuioa: report: MUNGE: .*libmunge\.so\.2: .*; install it .*: each node prints its own'

# hide NODE... / show NODE...: the library; munged, which keeps it, stays for those who have it
library=$(in_node ctl sh -c '
    readlink -f "$(ldconfig -p | sed -n "s/.*libmunge.so.2 .* => //p" | head -n 1)"')
hide() { local node; for node; do in_node "$node" mount --bind /dev/null "$library"; done; }
show() { local node; for node; do in_node "$node" umount "$library"; done; }

good=("topology=$topology" default=on "${patient[@]}")
hide "${everywhere[@]}"
plugin on "${good[@]}"
launch 8 -N4 --exclusive --nuioa=report
some_report "without libmunge" "$own_reports"
like "without libmunge: what is missing, and what to do" "$err" "$missing"
is "without libmunge: each node knows its own leader" "$(all NUIOA_LEADER | wc -w)" 8

# If only a node lacks the library, the node says so.
show "${everywhere[@]}"
launch 8 -N4 --exclusive --nuioa=report
one_report "with libmunge" 4
hide node1
launch 8 -N4 --exclusive --nuioa=report
is "node1 has no libmunge: it prints its own" "$rc,$ranks,$(reported)" "0,8,3 nodes node1"
like "node1 has no libmunge: it says why" "$err" "$missing"
show node1

# Containers that have libmunge, and not munged's socket: srun's, and a node's
empty() { in_node "$1" mount -t tmpfs none /run/munge; }
empty ctl
launch 8 -N4 --exclusive --nuioa=report
some_report "srun sees no socket" "$own_reports"
like "srun sees no socket: it says why" "$err" \
    'MUNGE: /run/munge/munge.socket.2: No such file .*; start munged on this host: each node'
in_node ctl umount /run/munge
for node in node1 node3; do
    empty $node
    launch 8 -N4 --exclusive --nuioa=report
    is "$node sees no socket: it prints its own" "$rc,$ranks,$(reported)" "0,8,3 nodes $node"
    note "$(nuioa_lines)"
    in_node $node umount /run/munge
done

finish
