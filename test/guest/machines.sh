# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# The machines: define_machine NAME sets
#   sockets dies cores threads   the processors (cores for each die, dies for each socket)
#   numa_nodes                   in the order of the CPUs
#   numa_cpus                    how many CPUs each NUMA node has; empty: equally many
#   numa_lists                   or which ones
#   memory_mb                    of each NUMA node; node 0 also holds the kernel and gets 512 more
#   nics                         the NUMA node of each NIC, eth0 first
#   odd_nic                      the model of one NIC more, on the root bus: its place is unknown
#   switches                     NODE:GPUS:NICS of each PCIe switch, in the order of the NUMA nodes;
#                                those of one NUMA node share a host bridge
#   nodes                        2: there are two such machines, node0 and node1
#   segments                     with two nodes: the network segment of each of nics, as a number;
#                                the NICs of one segment are on one hub, and no segment on another
#   distance                     numa_nodes x numa_nodes, row = initiator, column = memory

define_machine() {
    dies=1 threads=1 memory_mb=384 numa_cpus=() odd_nic="" distance=() switches=() nodes=1
    numa_lists=() segments=()
    case $1 in
    hagrid5)
        sockets=8 cores=2 numa_nodes=8
        nics=(5)
        hagrid_distance
        ;;
    quad)
        sockets=4 cores=2 threads=2 numa_nodes=4 memory_mb=512
        nics=(1 3)
        distance=(10 20 30 20  20 10 20 30  30 20 10 20  20 30 20 10)
        ;;
    corona)
        sockets=2 dies=4 cores=6 numa_nodes=8 memory_mb=512
        nics=(0 3)
        corona_distance
        ;;
    hbm) # a NUMA node of fast memory on each socket
        sockets=2 cores=4 numa_nodes=4 numa_cpus=(4 4 0 0)
        nics=(1)
        distance=(10 21 13 23  21 10 23 13  13 23 10 23  23 13 23 10)
        ;;
    cxl) # memory on an expander card of socket 1
        sockets=2 cores=4 numa_nodes=3 numa_cpus=(4 4 0)
        nics=(1)
        distance=(10 21 34  21 10 24  34 24 10)
        ;;
    snc | uneven) # sub-NUMA clusters: two in each socket
        [ "$1" = snc ] && cores=4 || cores=5 numa_cpus=(3 2 3 2)
        sockets=2 numa_nodes=4
        nics=(3)
        distance=(10 12 21 21  12 10 21 21  21 21 10 12  21 21 12 10)
        ;;
    cut) # each core's two hardware threads, as QEMU shows them, are on two NUMA nodes
        sockets=2 cores=2 threads=2 numa_nodes=2 numa_lists=("0 2 4 6" "1 3 5 7")
        nics=(1)
        distance=(10 21  21 10)
        ;;
    smt) # hardware threads; the NIC is on the second socket
        sockets=2 cores=4 threads=2 numa_nodes=2
        nics=(1)
        distance=(10 21  21 10)
        ;;
    flat) # one NUMA node
        sockets=1 cores=8 numa_nodes=1 memory_mb=1024
        nics=(0)
        distance=(10)
        ;;
    pair) # two nodes, each with its NIC on the second socket
        sockets=2 cores=4 numa_nodes=2
        nics=(1) nodes=2 segments=(1)
        distance=(10 21  21 10)
        ;;
    gpus3) # all GPUs on the second socket
        sockets=2 cores=4 numa_nodes=2
        nics=(1) switches=(1:3:0)
        distance=(10 21  21 10)
        ;;
    twin)
        sockets=2 cores=2 numa_nodes=2
        nics=(1 0) odd_nic=e1000e
        distance=(10 21  21 10)
        ;;
    gpus)
        sockets=2 cores=4 numa_nodes=2
        nics=(0) switches=(0:1:1 0:1:1 1:2:2)
        distance=(10 21  21 10)
        ;;
    gpus6)
        sockets=2 cores=4 numa_nodes=2
        nics=(0) switches=(0:2:2 0:1:1 1:3:3)
        distance=(10 21  21 10)
        ;;
    rails)
        sockets=2 cores=2 numa_nodes=2
        nics=(0 1 1) nodes=2 segments=(1 2 2)
        distance=(10 21  21 10)
        ;;
    *) return 1 ;;
    esac
}

# Moreaud, master thesis 2007, table 3.1: nanoseconds above a local access, from the processors
# of a NUMA node (row) to each memory bank. One HyperTransport link, 34 ns, is made 10.
hagrid_distance() {
    local ns=(
        0    37  35  67  67 133 102 100
        37    0  67  35 134  66  97  97
        35   69   0  36  35 101  69  67
        69   34  35   0 102  33  66  68
        67  101  35  67   0  69  38  37
        100  65  66  34  71   0  35  37
        102 115  69  83  37  35   0  35
        115  99  83  67  37  37  35   0)
    local i
    for i in "${!ns[@]}"; do distance[i]=$((10 + (ns[i] * 10 + 17) / 34)); done
}

# Four dies a socket: 16 to another die, 32 to another socket.
corona_distance() {
    local i j
    for ((i = 0; i < 8; i++)); do
        for ((j = 0; j < 8; j++)); do
            distance[i * 8 + j]=$((i == j ? 10 : i / 4 == j / 4 ? 16 : 32))
        done
    done
}
