#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What leaves the nodes is what nuioa layout has said: ranks i and i + n/2 exchange a known number
# of bytes, and the counters of the nodes' eth0 are read before and after. Bytes only, no times.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin
plugin on topology=/run/node/topology.xml "${patient[@]}"
work=$(mktemp -d "$CLUSTER_DIR/home/bytes.XXXXXX")
chmod 777 "$work"
dir=$home/${work##*/}
count=16 length=524288
awk -v bytes=$((count * length)) -v count="$count" 'BEGIN {
    print "nuioa-profile 1\nranks 8"
    for (i = 0; i < 8; i++) printf "pair %d %d %d %d 0\n", i, (i + 4) % 8, bytes, count }' \
    >"$work/halves"
install -m 0644 "$here/bytes.c" "$work/bytes.c"

# measure OPTIONS: sets $sent; OPTIONS are words of a shell in the job
measure() {
    launched=$((launched + 1))
    user salloc -Q -N4 --ntasks-per-node=2 sh -c "cd $dir && env ${openmpi_by_ucx[*]} \
        OMPI_MCA_mpi_yield_when_idle=1 srun --mpi=pmix $1 --nuioa=export ./bytes $count $length"
    [ "$rc" -eq 0 ] || lose "bytes $1" "$out"
    sent=$(sed -n 's/^sent //p' <<<"$out")
}

user sh -c "cd $dir && nuioa layout --json --hints halves --nodes node[1-4] --tasks-per-node 2"
[[ $out =~ '"off_node_bytes": {"block": '([0-9]+).*'"layout": 0.0}, "off_sw' ]]
predicted=${BASH_REMATCH[1]:-none}
is "predicted: all bytes by block, none in the layout" "$predicted" $((8 * count * length))

if ! in_node ctl sh -c "command -v mpicc.openmpi" >/dev/null; then
    skip "Open MPI" "no mpicc.openmpi"
    finish
    exit 0
fi
ok "the program compiles" in_node ctl sh -c \
    "cd $dir && mpicc.openmpi -std=gnu11 -Wall -Werror -o bytes bytes.c"
measure ""
ok "block: $sent bytes left the nodes, within 5 % of $predicted" \
    awk -v s="$sent" -v p="$predicted" 'BEGIN { exit !(s > 0.95 * p && s < 1.05 * p) }'
measure "\$(nuioa layout ./halves)"
ok "layout: $sent bytes, less than 1 % of them" \
    awk -v s="$sent" -v p="$predicted" 'BEGIN { exit !(s != "" && s >= 0 && s < 0.01 * p) }'
finish
