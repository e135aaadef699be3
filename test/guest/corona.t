#!/bin/bash
# Two sockets of four dies, 48 CPUs, NICs on NUMA nodes 0 (eth0) and 3 (eth1), both on socket 0.
[ -e /nuioa/settings ] || exec "$(dirname "$0")/boot" corona "$@" -- "$0"
. /nuioa/lib.sh

is "distances from NUMA node 3" "$(slit 3)" "16 16 16 10 32 32 32 32"
is "the NICs are on NUMA nodes 0 and 3" "$(nic_numa)" "eth0:0 eth1:3 "
is "Slurm sees 2 sockets of 24 cores" "$(sinfo -h -o '%X %Y %Z')" "2 24 1"
the_plugin_does

is "nuioa topo says the same" "$(topo 3)" "[eth0:0,eth1:3] [16,16,16,10,32,32,32,32]"

launch -n48 --nuioa --nuioa-hints="$(descending 48)"
is "descending weights: the NICs' dies, their socket, the other socket" \
    "$(rings "0 3" "1 2" "4 5 6 7"), $(distinct cpus) CPUs, $(at_home) at home" \
    "$(repeat 12 0 12 1 24 2), 48 CPUs, 48 at home"
is "each die's ranks have its NIC" \
    "$(paste -d' ' <(values numa | tr ' ' '\n') <(nics | tr ' ' '\n') | grep '^[03] ' |
        sort | uniq -c | xargs)" "6 0 eth0 6 3 eth1"

done_testing
