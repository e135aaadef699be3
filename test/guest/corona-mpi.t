#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The loop closed: MPI programs whose traffic is known are traced, under Open MPI and under MPICH,
# and the next run takes the profile as hints. For traffic that leaves the node there is a second
# node, a slurmd in namespaces, so that the ranks that talk to it must come to lie beside the NICs:
# which are on NUMA nodes 0 and 3 of corona, those of its first socket being 0 to 3.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    build() {
        local kind program
        printf '%s\n' '#!/bin/sh' 'whereami 1' 'exec "$@"' >"$payload/usr/local/bin/placed"
        chmod 755 "$payload/usr/local/bin/placed"
        for kind in openmpi mpich; do
            for program in irregular lu; do
                mpicc.$kind -std=gnu11 -O2 -Wall -Wextra -Werror \
                    -o "$payload/usr/local/bin/$program.$kind" "$here/../trace/$program.c" \
                    "$here/mpi/patient.c" -ldl
            done
        done
    }
    needs "MPI" mpicc.openmpi mpicc.mpich
    (set -e; build) || exit
    "$here/boot" corona --timeout 900 --payload "$payload" \
        --plugstack "deadline_ms=30000" \
        --conf "NodeName=node1 NodeAddr=10.0.1.1 Sockets=2 CoresPerSocket=24 ThreadsPerCore=1" \
        --conf "PartitionName=both Nodes=node0,node1 MaxTime=INFINITE" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh

# Starts a second node: it has the same kernel and processors, and its own name, network, and
# directories of slurmd and MPI.
start_node1() {
    local try pid
    ip link add veth0 type veth peer name veth1
    ip address add 10.0.1.254/24 dev veth0
    ip link set veth0 up
    echo 1 >/proc/sys/net/ipv4/ip_forward
    echo "10.0.1.1 node1" >>/etc/hosts
    unshare --net --uts --ipc --mount sh -c '
        hostname node1
        for place in /run/slurm /var/lib/slurm/slurmd /var/log/slurm /dev/shm /tmp; do
            mount -t tmpfs -o mode=1777 tmpfs $place
        done
        mount -t sysfs sys /sys
        until ip address add 10.0.1.1/24 dev veth1 2>/dev/null; do sleep 0.1; done
        ip link set lo up; ip link set veth1 up; ip route add default via 10.0.1.254
        exec slurmd -D' >/dev/null 2>&1 &
    pid=$!
    while [ "$(readlink "/proc/$pid/ns/net")" = "$(readlink /proc/self/ns/net)" ]; do
        sleep 0.1
    done
    ip link set veth1 netns "$pid"
    for ((try = 0; try < 50; try++)); do
        [ "$(sinfo -h -p both -o %T)" = idle ] && return
        sleep 0.2
    done
}

export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_osc=pt2pt

# run KIND COMMAND SRUN-OPTION...: sets $ranks, the lines of whereami; $known, the pairs that the
# program says it has; $said.
run() {
    local kind=$1 command=$2 option options=() all
    shift 2
    options=("--mpi=$([ "$kind" = openmpi ] && echo pmix || echo pmi2)")
    # Over several nodes: UCX's TCP alone, for Open MPI's own kills a rank that is still in MPI_Init
    # when a peer speaks to it; and no compositions of MPICH's device, which crash.
    export UCX_TLS=self,posix OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
    export OMPI_MCA_btl_vader_single_copy_mechanism=none
    [[ " $* " != *" -N2 "* ]] ||
        export UCX_TLS=self,tcp MPIR_CVAR_DEVICE_COLLECTIVES=none UCX_LOG_LEVEL=fatal \
            OMPI_MCA_pml=ucx OMPI_MCA_opal_common_ucx_{tls,devices}=any
    for option; do [[ $plugin = no && $option = --nuioa* ]] || options+=("$option"); done
    status=0
    # shellcheck disable=SC2086 # words
    all=$(as_user timeout 600 srun "${options[@]}" $command 2>/tmp/said) || status=$?
    said=$(cat /tmp/said)
    ranks=$(grep '^rank=' <<<"$all" | sort -t= -k2n)
    all=$(grep '^pair' <<<"$all")
    known=${all:-$known} # of the last program that was one
    [ "$status" = 0 ] && return
    tap_count=$((tap_count + 1)) tap_failed=$((tap_failed + 1))
    printf 'not ok %d - srun %s %s: status %d\n' "$tap_count" "$*" "$command" "$status"
    note "$said"
}

# profile_of FILE: each of its pairs once
profile_of() { nuioa profile "$1" --out /tmp/merged && grep '^pair' /tmp/merged; }

# levels_by_weight: the levels of the ranks of node0, 0 to 3, in descending order of the weight of
# what they exchange with node1, as the program says.
levels_by_weight() {
    local level
    read -ra level <<<"$(rings "0 3" "1 2" "4 5 6 7")"
    awk '{ large += $6 }
        $2 > 3 && $3 < 4 { all[$3] += $4; big[$3] += $6 }
        $2 < 4 && $3 > 3 { weight[$2] += $4 / 20 }
        END { for (rank in all)
                weight[rank] += large ? big[rank] + 0.18 * (all[rank] - big[rank]) : all[rank]
            for (rank = 0; rank < 4; rank++) print rank, weight[rank] + 0 }' <<<"$known" |
        sort -k2gr | while read -r rank _; do echo "${level[rank]}"; done | paste -s -d' '
}

start_node1
is "a second node comes up" "$(sinfo -h -p both -o %T,%D)" "idle,2"
the_plugin_does

for kind in openmpi mpich; do
    for program in irregular lu; do
        # Without the plugin one is enough to see that nothing is recorded.
        [ "$plugin" = yes ] || [ $kind.$program = openmpi.irregular ] || continue
        run $kind $program.$kind -n8 -c6 --nuioa-trace=/home/user/$program.$kind
        [ $program = irregular ] || lu=$known
        is "$kind: the profile of $program is what it did, $(wc -l <<<"$known") pairs" \
            "$(profile_of /home/user/$program.$kind)" "$known"
    done
done

# On each node the ranks have a die each, in Slurm's order: 0, 4, 1, 5.
two_nodes=(-p both -N2 -n8 --ntasks-per-node=4 -c6 --exclusive)

# The program again, with what it did.
run openmpi "placed irregular.openmpi" "${two_nodes[@]}" --nuioa \
    --nuioa-hints=/home/user/irregular.openmpi
is "irregular, Open MPI: the heaviest rank beside the NIC, the next one level away, and so on" \
    "$(levels_by_weight)" "0 1 2 2"
# Without the plugin the others would say nothing new.
[ "$plugin" = yes ] || { done_testing; exit; }
run mpich "placed irregular.mpich" "${two_nodes[@]}" --nuioa \
    --nuioa-hints=/home/user/irregular.mpich
is "irregular, MPICH: the same" "$(levels_by_weight)" "0 1 2 2"

# Its four ranks on a node are a chain, and all send about the same to the other node: the half of
# the chain that sends most gets the NIC's socket.
known=$lu
run openmpi "placed true" "${two_nodes[@]}" --nuioa --nuioa-hints=/home/user/lu.openmpi
is "lu, Open MPI: the heaviest rank beside the NIC, with its neighbour" \
    "$(levels_by_weight), $(values numa | cut -d' ' -f1-4)" "0 1 2 2, 1 0 4 5"

done_testing
