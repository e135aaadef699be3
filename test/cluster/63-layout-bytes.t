#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What leaves the nodes is what nuioa layout has said: ranks i and i + n/2 exchange a known number
# of bytes, and the counters of the nodes' eth0 are read before and after. Bytes only, no times.
# Nodes have as many ranks each, or not; Open MPI and MPICH.
. "$(dirname "$0")/testlib.sh"
setup
plugin on topology=/run/node/topology.xml "${patient[@]}"
work=$(mktemp -d "$CLUSTER_DIR/home/bytes.XXXXXX")
chmod 777 "$work"
dir=$home/${work##*/}
count=16 length=262144
for ranks in 8 16; do
    awk -v ranks=$ranks -v bytes=$((count * length)) -v count="$count" 'BEGIN {
        print "nuioa-profile 1\nranks " ranks
        for (i = 0; i < ranks; i++)
            printf "pair %d %d %d %d 0\n", i, (i + ranks / 2) % ranks, bytes, count }' \
        >"$work/halves.$ranks"
done
install -m 0644 "$here/bytes.c" "$here/progress.c" "$work"

# predict RANKS TASKS: sets $predicted[block], $predicted[layout]: bytes off node
declare -A predicted
predict() {
    local which
    user sh -c "cd $dir && nuioa layout --json --hints halves.$1 --nodes node[1-4] \
        --tasks-per-node $2"
    for which in block layout; do
        predicted[$which]=$(python3 -c 'import json, sys
print(round(json.load(sys.stdin)["off_node_bytes"][sys.argv[1]]))' $which <<<"$out")
    done
}

# srun's block, where nodes differ, as a list
block_of() {
    local node=0 tasks names=
    for tasks in ${1//,/ }; do
        node=$((node + 1))
        while ((tasks-- > 0)); do names+=,node$node; done
    done
    echo "-m arbitrary -w ${names#,}"
}

# measure KIND TASKS OPTIONS: sets $sent, $wrong, and $listed, $at: the nodes in the order of ranks,
# in the list and where they were; OPTIONS are words of a shell in the job
measure() {
    local settings=("${openmpi_by_ucx[@]}" OMPI_MCA_mpi_yield_when_idle=1) type=pmix
    [ "$1" = openmpi ] || {
        settings=(UCX_TLS=self,tcp UCX_NET_DEVICES=eth0 MPIR_CVAR_DEVICE_COLLECTIVES=none
                  "LD_PRELOAD=$dir/progress.so")
        type=pmi2
    }
    launched=$((launched + 1))
    user salloc -Q -N4 --exclusive sh -c "cd $dir && options=\"$3\" && echo \"list \$options\" &&
        srun \$options --mpi=$type --nuioa=export env ${settings[*]} ./bytes.$1 $count $length"
    [ "$rc" -eq 0 ] || lose "$1 $2 $3" "$out"
    sent=$(sed -n 's/^sent //p' <<<"$out")
    wrong=$(sed -n 's/^wrong //p' <<<"$out")
    listed=$(sed -n 's/^list .*-w //p' <<<"$out")
    at=$(sed -n 's/^at [0-9]* //p' <<<"$out" | paste -s -d ,)
}

# check NAME PREDICTED LEAST: all went well, and the bytes are within 5 % of it, or below LEAST
check() {
    is "$1: each rank is where the list says" "$at" "$listed"
    is "$1: what came is right" "$wrong" 0
    ok "$1: $sent bytes left the nodes, $2 were predicted" \
        awk -v s="$sent" -v p="$2" -v l="$3" \
        'BEGIN { exit !(s != "" && ((s > 0.95 * p && s < 1.05 * p) || (s >= 0 && s < l))) }'
}

for kind in openmpi mpich; do
    if ! has_command mpicc.$kind; then
        skip "$kind" "no mpicc.$kind"
        continue
    fi
    ok "$kind: the program compiles" in_node ctl sh -c \
        "cd $dir && mpicc.$kind -std=gnu11 -Wall -Werror -o bytes.$kind bytes.c &&
        gcc -D_GNU_SOURCE= -shared -fPIC -o progress.so progress.c"
    while read -r ranks tasks; do
        name="$kind, nodes of $tasks ranks"
        all=$((ranks * count * length))
        predict "$ranks" "$tasks"
        measure $kind "$tasks" "$(block_of "$tasks")"
        check "$name, block" "${predicted[block]}" 0
        measure $kind "$tasks" "\$(nuioa layout ./halves.$ranks --tasks-per-node $tasks)"
        check "$name, layout" "${predicted[layout]}" $((all / 100))
    done <<'END'
8 2,2,2,2
8 1,2,2,3
16 2,4,4,6
END
done
is "predicted for the last: all bytes by block, none in the layout" \
    "${predicted[block]} ${predicted[layout]}" "$all 0"
finish
