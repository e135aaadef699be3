#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The programs of examples/. bcast.c: who leads each node, and every byte from each root, under Open
# MPI and MPICH, on nodes of like and unlike numbers of ranks, with advice and without.
# han_leaders.c: who sends to other nodes in Allreduce of Open MPI's HAN, and its results.
. "$(dirname "$0")/testlib.sh"
setup
examples=$here/../../examples
stage=/run/stage/usr
work=$CLUSTER_DIR/home/examples
dir=$home/examples
install -d -m 1777 "$work"
install -m 0644 "$examples"/*.c "$here"/{han,han_senders}.c "$here/progress.c" "$work"

# Each node has a NIC: that of node2 beside NUMA node 0, with the lower cores, the others beside 1.
for node in node1 node2 node3 node4; do
    name=cluster-node1.xml
    [ $node != node2 ] || name=cluster-node2.xml
    install -m 0644 "$here/../topologies/$name" "$CLUSTER_DIR/nodes/$node/nic.xml"
done
on=(on topology=/run/node/nic.xml "${patient[@]}")
plugin "${on[@]}"


# mpi KIND COMMAND SRUN-ARG...: $out, $err; a launch that does not end well is lost; $monitored: but
# not if it crashes in MPI_Finalize, as Open MPI's monitoring may with HAN
mpi() {
    local kind=$1 command=$2 settings=("${openmpi_by_ucx[@]}" OMPI_MCA_mpi_yield_when_idle=1)
    shift 2
    if [ "$kind" = openmpi ]; then
        set -- --mpi=pmix "$@"
    else
        settings=(UCX_TLS=self,tcp UCX_NET_DEVICES=eth0 MPIR_CVAR_DEVICE_COLLECTIVES=none
                  "LD_PRELOAD=$dir/progress.so")
        set -- --mpi=pmi2 "$@"
    fi
    launched=$((launched + 1))
    # shellcheck disable=SC2086
    user env "LD_LIBRARY_PATH=$stage/lib" "${settings[@]}" srun "$@" env $command
    [ "$rc" -eq 0 ] || [[ ${monitored:-} && $out == *wrong* ]] || lose "$kind $command $*" "$out"
}

# leads NAME ROOTS WANTED: the last bcast was right from each root, and led as WANTED says: lines of
# "NODE LEADER RANKS LEVEL"
leads() {
    is "$1: who leads" "$(sed -nE 's/^(node[0-9]): rank ([0-9]+) leads ([0-9]+), NIC /\1 \2 \3 /p' \
        <<<"$out" | sed 's/mlx5_0:1, level //' | sort)" "$3"
    is "$1: every root" "$(grep -v '^node' <<<"$out")" \
        "$2 roots, 300001 bytes each, 0 wrong bytes"
}

bcast() { # KIND
    local kind=$1 program="$dir/bcast.$1 300001" four=(-N4 --exclusive -c4)
    mpi "$kind" "$program" -n16 "${four[@]}" --nuioa=export
    leads "$kind" 16 "node1 2 4 0
node2 4 4 0
node3 10 4 0
node4 14 4 0"
    mpi "$kind" "$program" -n16 "${four[@]}" --nuioa=export --nuioa-hints=heavy=3,5,11,12
    leads "$kind, with hints" 16 "node1 3 4 0
node2 5 4 0
node3 11 4 0
node4 14 4 0"
    mpi "$kind" "$program" -n10 "${four[@]}" --nuioa=export
    leads "$kind, nodes of unlike numbers of ranks" 10 "node1 2 3 0
node2 3 3 0
node3 7 2 0
node4 9 2 0"
    mpi "$kind" "$program" -n14 "${four[@]}" -m cyclic --nuioa=export
    leads "$kind, cyclic and unlike" 14 "node1 8 4 0
node2 1 4 0
node3 10 3 0
node4 11 3 0"
    mpi "$kind" "$program" -n10 "${four[@]}"
    leads "$kind, without nuioa" 10 "node1 0 3 unknown
node2 3 3 unknown
node3 6 2 unknown
node4 8 2 unknown"
    plugin -n node3 off
    mpi "$kind" "$program" -n16 "${four[@]}" --nuioa=export
    leads "$kind, a node without the plugin" 16 "node1 2 4 0
node2 4 4 0
node3 8 4 unknown
node4 14 4 0"
    plugin "${on[@]}"
}

for kind in openmpi mpich; do
    if ! has_command mpicc.$kind; then
        skip "bcast with $kind" "no mpicc.$kind"
    elif ok "$kind: bcast compiles" in_node ctl sh -c "cd $dir &&
        gcc -D_GNU_SOURCE= -shared -fPIC -o progress.so progress.c &&
        mpicc.$kind -std=c11 -O2 -Wall -Wextra -Werror -I$stage/include -o bcast.$kind bcast.c \
            -L$stage/lib -lnuioa-client"; then
        bcast $kind
    fi
done
end() { plugin off; rm -r "$work"; finish; exit; }

if ! has_command mpicc.openmpi; then
    skip "han_leaders" "no mpicc.openmpi"
    end
fi
# MPICH takes each rank of an arbitrary layout for a node of its own.
mpi openmpi "$dir/bcast.openmpi 300001" --exclusive -c4 --nuioa=export -m arbitrary \
    -w node1,node2,node2,node1,node1,node3,node4,node4,node2,node1
leads "openmpi, arbitrary" 10 "node1 4 4 0
node2 1 3 0
node3 5 1 1
node4 7 2 0"

# han NAME WANTED COMMAND SRUN-ARG...: who sends to other nodes in Allreduce, by Open MPI's own
# count, and whether all results are right; rank / 4 or $on_node is a rank's node
han() {
    local name=$1 wanted=$2 command=$3
    shift 3
    monitored=yes mpi openmpi "OMPI_MCA_pml=ucx,monitoring OMPI_MCA_pml_monitoring_enable=1
        OMPI_MCA_coll_han_priority=100 $command $dir/han_senders monitored" -n16 -N4 --exclusive \
        -c4 "$@"
    is "HAN, $name: who sends to other nodes" "$(awk '
        function node(rank) { return int('"${on_node:-rank / 4}"') }
        /^sent/ && node($2) != node($3) { print $2 }' <<<"$out" | sort -nu | xargs)" "$wanted"
    is "HAN, $name: Allreduce, Bcast and Reduce" "$(grep wrong <<<"$out")" "wrong 0"
}

compile="cd $dir && mpicc.openmpi -std=c11 -O2 -Wall -Wextra -Werror -I$stage/include -shared \
    -fPIC -o han_leaders.so han_leaders.c -L$stage/lib -lnuioa-client"
if ! in_node ctl mpicc.openmpi --showme:version 2>/dev/null | grep -q ' [5-9]\.'; then
    like "han_leaders is not for Open MPI 4" "$(in_node ctl sh -c "$compile" 2>&1)" \
        '#error "requires Open MPI 5: '
    skip "HAN with han_leaders" "no Open MPI 5"
    end
fi
ok "han_leaders compiles" in_node ctl sh -c "$compile &&
    mpicc.openmpi -std=gnu11 -O2 -Wall -Wextra -Werror -o han_senders han_senders.c &&
    mpicc.openmpi -std=gnu11 -O2 -Wall -Wextra -Werror -o han han.c"
hints=(--nuioa=export --nuioa-hints=heavy=3,5,11,12)
preload=LD_PRELOAD=$dir/han_leaders.so
han "by itself" "0 4 8 12" "" "${hints[@]}"
han "with han_leaders and hints" "3 5 11 14" "$preload" "${hints[@]}"
han "with han_leaders, without hints" "2 4 10 14" "$preload" --nuioa=export
han "with han_leaders, without nuioa" "0 4 8 12" "$preload"
on_node="rank % 4" han "with han_leaders, cyclic: as by itself" "0 1 2 3" "$preload" -m cyclic \
    "${hints[@]}"

for n in 16 14; do
    mpi openmpi "OMPI_MCA_coll_han_priority=100 $preload $dir/han_senders halves" -n$n -N4 \
        --exclusive -c4 "${hints[@]}"
    is "HAN, with han_leaders: $n ranks, other communicators" "$out" "wrong 0"
done

# Gather and Scatter, which HAN gets wrong in some orders, are not wrong because of han_leaders.
for order in block cyclic; do
    by_itself=
    for preload in "" "LD_PRELOAD=$dir/han_leaders.so"; do
        mpi openmpi "OMPI_MCA_coll_han_priority=100 $preload $dir/han" -n16 -N4 --exclusive -c4 \
            -m $order "${hints[@]}"
        by_itself=${by_itself:-$(xargs <<<"$out")}
    done
    like "HAN by itself, $order: it gathers and scatters" "$by_itself" "^priority 100 gather [0-9]"
    is "HAN with han_leaders, $order: the same" "$(xargs <<<"$out")" "$by_itself"
done
end
