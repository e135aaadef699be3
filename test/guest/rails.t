#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two nodes, each with a NIC on one network, beside NUMA node 0, and two NICs on another, beside
# NUMA node 1; nothing connects the networks. MPI programs exchange data over UCX and RDMA, and the
# kernel's counters say which NICs carried it: those that nuioa names. Where ranks lie beside NICs
# that do not reach each other, nuioa names all of them, and the program still works.
#
# The RDMA devices are rxe: RoCE, made by the kernel on a NIC that has none. They never use another
# NIC than their own. TCP would not do: the kernel routes around a NIC that UCX was told to use.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    build() {
        local kind flags
        for kind in openmpi mpich; do
            flags=(-std=gnu11 -O2 -Wall -Wextra -Werror)
            [ $kind = mpich ] || flags+=(-DDISCONNECTS)
            mpicc.$kind "${flags[@]}" \
                -o "$payload/usr/local/bin/exchange.$kind" "$here/mpi/exchange.c" \
                "$here/mpi/patient.c" -ldl
        done
        gcc -std=gnu11 -O2 -Wall -Wextra -Werror -o "$payload/usr/local/bin/talk" \
            "$here/../cluster/talk.c"
    }
    needs "MPI over two NICs" mpicc.openmpi mpicc.mpich
    (set -e; build) || exit
    "$here/boot" rails --timeout 900 --payload "$payload" \
        --plugstack "deadline_ms=30000 export=env,pmix,ucx" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh

# In both: UCX 1.13 takes a datagram to an IPv4 address from a Mellanox card only, so the addresses
# are IPv6; Open MPI would not take rxe for fast enough; MPICH's compositions crash.
export UCX_TLS=self,rc UCX_IB_GID_INDEX=0 UCX_LOG_LEVEL=error UCX_HANDLE_ERRORS=none
export OMPI_MCA_pml=ucx OMPI_MCA_opal_common_ucx_{tls,devices}=any OMPI_MCA_osc=pt2pt
export OMPI_MCA_mpi_yield_when_idle=1 MPIR_CVAR_DEVICE_COLLECTIVES=none

# run KIND SRUN-OPTION...: exchanges data between a rank on each node. Sets ranks, told and said as
# ask does, and status. A program that works is known by what its ranks say after a barrier, and not
# by its status: on a busy host srun sometimes had not ended long after that. The limit ends it.
run() {
    local kind=$1 option options=() all
    shift
    options=("--mpi=$([ "$kind" = openmpi ] && echo pmix || echo pmi2)" -N2 -n2)
    for option; do [[ $plugin = no && $option = --nuioa* ]] || options+=("$option"); done
    status=0
    all=$(as_user timeout 120 srun "${options[@]}" sh -c "whereami --env 1; exec exchange.$kind" \
        2>/tmp/said) || status=$?
    said=$(cat /tmp/said)
    ranks=$(grep '^rank=' <<<"$all" | sort -t= -k2n)
    told=$(grep '^[0-9]' <<<"$all" | sort -n)
}

# check NAME WANTED: what became of the exchange, who carried it, and what UCX was told.
check() {
    is "$1" "$(told exchange); $(told carried); $(told devices)" "$2"
    [ "$status" = 0 ] || note "$said"
}

is "two nodes come up" "$(sinfo -h -o %T,%D)" "idle,2"
is "each has a NIC on one network, and two on another" \
    "$(srun -N2 ip -4 -o address show scope global up | awk '$2 != "lo" { print $2, $4 }' |
        sed 's,\.[0-9]*/,.0/,' | sort | uniq -c | awk '{ print $1, $2, $3 }' | paste -sd' ')" \
    "2 eth0 10.1.1.0/24 2 eth1 10.1.2.0/24 2 eth2 10.1.2.0/24"
ok "each has RDMA devices" srun -N2 bash -c "$(declare -f make_roce); make_roce"
run openmpi -c4 --exclusive
check "UCX alone takes the NICs that it finds first" \
    "right right; eth0,eth1 eth0,eth1; - -"
the_plugin_does
[ "$plugin" = no ] || srun -N2 nuioa cache

# --- ranks with several NICs ----------------------------------------------------------------------

# Each rank is beside the two NICs of the second network, and only those count.
beside=(-c4 --exclusive --cpu-bind=map_cpu:2 --nuioa "--nuioa-nic=roce,^eth0")
run openmpi "${beside[@]}" --nuioa-rails=2
check "Open MPI: both NICs of a rank carry its data, and no other" \
    "right right; eth1,eth2 eth1,eth2; rxe1:1,rxe2:1 rxe1:1,rxe2:1"
# Without the plugin these would be the same once more.
if [ "$plugin" = yes ]; then
    run mpich "${beside[@]}" --nuioa-rails=2
    check "MPICH: the same" "right right; eth1,eth2 eth1,eth2; rxe1:1,rxe2:1 rxe1:1,rxe2:1"
    run openmpi "${beside[@]}" --nuioa-rails=1
    check "a rank with one NIC uses that one" "right right; eth1 eth1; rxe1:1 rxe1:1"
fi

# --- NICs that do not reach each other ------------------------------------------------------------

# Another job has the CPUs of node1 that are beside the first network.
job=$(hold 2 -w node1)
crossed=(-c1 --nuioa --nuioa-nic=roce)
run openmpi "${crossed[@]}"
is "rank 0 has its nearest NIC on one network, rank 1 on the other" \
    "$(values numa); $(values NUIOA_NIC)" "0 1; rxe0:1 rxe1:1"
is "... UCX is told all NICs, and the program works" \
    "$(told exchange); $(told devices)" \
    "right right; rxe0:1,rxe1:1,rxe2:1 rxe0:1,rxe1:1,rxe2:1"
run openmpi "${crossed[@]}" --nuioa-rails=auto,connected
is "a site that says what is not true: each has only NICs beside it, and they find no way" \
    "$([ "$status" != 0 ] && echo fails); $(told exchange); $(told devices)" \
    "fails; - -; rxe0:1 rxe1:1,rxe2:1"
note "$(tail -n 3 <<<"$said")"
release "$job"

# --- what the NICs carried ------------------------------------------------------------------------

# counted NIC: bytes that node0 has sent by it, as its queue counts them, and not its driver
counted() { tc -s -j qdisc show dev "$1" | jq '[.[] | select(.root) | .bytes] | add'; }
# of NIC KEY: what nuioa traffic says of a NIC of node0
of() {
    grep '^{' <<<"$said" |
        jq "select(.host == \"node0\") | .nics[] | select(.name == \"$1:1\") | .$2"
}
# near GOT WANTED: whether it is, within 1 %
near() {
    awk -v a="${1:-0}" -v b="$2" 'BEGIN { print (a >= b * 0.99 && a <= b * 1.01) ? "near" : a }'
}
address() {
    srun -w node1 -n1 ip -4 -o address show "$1" | awk '{ sub("/.*", "", $4); print $4 }'
}
first=$(address eth0) second=$(address eth1)
before=("$(counted eth0)" "$(counted eth1)")
told=$(as_user timeout 300 srun -N2 -n2 -c4 --exclusive nuioa traffic --json -- \
    talk to "$first" 80000000 "$second" 20000000 2>/tmp/said)
said=$(cat /tmp/said)
after=("$(counted eth0)" "$(counted eth1)")
is "80 MB over one NIC, and 20 MB over another: that is what nuioa traffic says" \
    "$(near "$(of rxe0 sent)" $((after[0] - before[0]))), $(
        near "$(of rxe1 sent)" $((after[1] - before[1])))" "near, near"
is "... and the shares" "$(of rxe0 'share * 100 | round') $(of rxe1 'share * 100 | round')" "80 20"
is "... and who was idle" "$(awk -v s="$(of rxe2 share)" 'BEGIN { print s != "" && s < 0.01 }')" 1
note "tc: ${before[*]} ${after[*]}" "$told" "$said"

done_testing
