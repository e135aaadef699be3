#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The view of an MPI library on the 8-node Opteron with its NIC on NUMA node 5: the groups that Open
# MPI makes, the leaders that libnuioa-client elects, the PMIx keys; against what the kernel says.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    # The library is in the payload, so that the programs also run without the plugin.
    build() {
        local top=$here/../.. flags=(-std=gnu11 -O2 -Wall -Wextra -Werror) lib
        lib=$NUIOA_STAGE/usr/lib/libnuioa-client.so.1
        cp -L "$lib" "$payload/usr/lib/"
        mpicc.openmpi "${flags[@]}" -I"$top/pmix/client" -o "$payload/usr/local/bin/mpi-groups" \
            "$here/mpi/mpi-groups.c" "$lib"
        # shellcheck disable=SC2046
        gcc "${flags[@]}" -I"$top" -o "$payload/usr/local/bin/keys" "$top/test/pmix/keys.c" "$lib" \
            $(pkg-config --cflags --libs pmix)
    }
    needs "Open MPI" mpicc.openmpi pmix
    (set -e; build) || exit
    "$here/boot" hagrid5 --timeout 900 --payload "$payload" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh

# Shared memory alone, and quick to start: there is one node.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export OMPI_MCA_osc=^ucx OMPI_MCA_btl_vader_single_copy_mechanism=none

# sharing FILE: for every rank the ranks on whose CPU that file in sysfs says the same, "0,6 1 ...";
# the CPU is the first one of /proc/self/status.
sharing() {
    local cpu list=()
    for cpu in $(values cpus); do
        cpu=${cpu%%[-,]*}
        # shellcheck disable=SC2086 # $1 may be a glob
        list+=("$(cat "/sys/devices/system/cpu/cpu$cpu/"$1)")
    done
    printf '%s\n' "${list[@]}" | awk '
        { of[NR - 1] = $0; group[$0] = group[$0] (group[$0] == "" ? "" : ",") NR - 1 }
        END { for (i = 0; i < NR; i++) printf "%s%s", i ? " " : "", group[of[i]] }'
}

# until_elected ORDER: for every rank that list, cut behind the rank.
until_elected() {
    awk -F, '{
        for (i = 1; i <= NF; i++) { list = list (i > 1 ? "," : "") $i; upto[$i] = list }
        for (i = 0; i < NF; i++) printf "%s%s", i ? " " : "", upto[i]
    }' <<<"$1"
}

singles() { seq -s" " 0 $(($(wc -l <<<"$ranks") - 1)); }

numa_file='node*/cpulist'
socket_file=topology/physical_package_id
l3_file=cache/index3/shared_cpu_list

# Local rank 0 is on NUMA node 0, the farthest; 2 and 4 are beside the NIC.
far=--cpu-bind=map_cpu:0,6,11,2,10,13,1,14
order=2,4,1,5,7,3,0,6
alike="0,6 1 2,4 3 2,4 5 0,6 7"
job=$(hold 16)

ask mpi-groups --jobid="$job" -n8 "$far" --mpi=pmix --nuioa=off
is "the kernel: where the ranks are" "$(values numa)" "0 3 5 1 5 6 0 7"
is "the kernel: who shares a NUMA node, a socket and an L3 cache" \
    "$(sharing "$numa_file"); $(sharing $socket_file); $(sharing $l3_file)" \
    "$alike; $alike; $alike"
is "nuioa=off: Open MPI's groups have one rank each" \
    "$(told numa); $(told socket); $(told l3)" "$(singles); $(singles); $(singles)"
is "nuioa=off: no advice, nobody is elected" "$(told source); $(told elected)" \
    "$(repeat 8 0); $(repeat 8 -)"
the_plugin_does

ask mpi-groups --jobid="$job" -n8 "$far" --mpi=pmix --nuioa=on
is "Open MPI's groups by NUMA node are the kernel's" "$(told numa)" "$(sharing "$numa_file")"
is "by socket" "$(told socket)" "$(sharing $socket_file)"
is "by L3 cache" "$(told l3)" "$(sharing $l3_file)"
is "the ranks are where --cpu-bind=map_cpu wants them, and are told so" \
    "$(values cpus); $(values NUIOA_CPUS)" "0 6 11 2 10 13 1 14; 0 6 11 2 10 13 1 14"
is "the leader is the first rank on NUMA node 5, told through PMIx" \
    "$(told leader); $(told source)" "$(repeat 8 2); $(repeat 8 2)"
is "communicators without those before elect the next of the order" \
    "$(told elected)" "$(until_elected $order)"
is "which is NUIOA_ORDER" "$(values NUIOA_ORDER)" "$(repeat 8 $order)"

ask "mpi-groups 8" --jobid="$job" -n8 "$far" --mpi=none --nuioa=on
is "--mpi=none: the same leader, from the environment" \
    "$(told leader); $(told source)" "$(repeat 8 2); $(repeat 8 1)"
is "--mpi=none: the same elections" "$(told elected)" "$(until_elected $order)"

# differing: the keys that are not what the environment says; every rank must have each of them.
differing() {
    local key name
    for key in leader order near nic level cpus; do
        name=NUIOA_${key^^}
        [[ " $(values "$name") " = *" - "* ]] && echo "no $name"
        [ "$(told nuioa.$key)" = "$(values "$name")" ] || echo "$key: $(told nuioa.$key)"
    done
}

# keys_are WHAT: checks those of the last launch, against the environment and /proc/self/status.
keys_are() {
    is "$1: PMIx has what the environment has" "$(differing)" ""
    is "$1: nuioa.cpus and the standard key are the CPUs that the rank has" \
        "$(told nuioa.cpus); $(told pmix.cpuset)" \
        "$(values cpus); $(values cpus | sed 's/[^ ][^ ]*/hwloc:&/g')"
    is "$1: the locality names the NUMA node, the socket and the cache" \
        "$(told pmix.locstr | tr ' ' '\n' | sed 's/SK\([0-9]*\):L3\([0-9]*\):.*:NM/\1 \2 /')" \
        "$(values numa | tr ' ' '\n' | sed 's/.*/& & &/')"
    is "$1: nothing says that it is only planned" \
        "$(told nuioa.version); $(told nuioa.planned)" \
        "$(values cpus | sed 's/[^ ][^ ]*/1/g'); $(told nothing)"
}

ask keys --jobid="$job" -n8 "$far" --mpi=pmix --nuioa=on
keys_are "map_cpu"

ask keys --jobid="$job" -n8 "$far" --mpi=pmix --nuioa=export
is "export: nuioa's keys, none of the standard ones" \
    "$(told nuioa.order); $(told nuioa.cpus); $(told pmix.locstr)" \
    "$(repeat 8 $order); $(values cpus); $(told nothing)"
release "$job"

# Sixteen ranks, the heavier nearer: what is told must be where they were moved to.
ask keys -n16 --mpi=pmix --nuioa=on --nuioa-hints="$(descending 16)"
is "moved: NUMA node 5, then 3 6 7, then 1 2 4, then 0" \
    "$(rings "5" "3 6 7" "1 2 4" "0")" "$(repeat 2 0 6 1 6 2 2 3)"
keys_are "moved"

ask mpi-groups -n16 --mpi=pmix --nuioa=on --nuioa-hints="$(descending 16)"
is "moved: Open MPI's groups are the kernel's" \
    "$(told numa); $(told socket); $(told l3)" \
    "$(sharing "$numa_file"); $(sharing $socket_file); $(sharing $l3_file)"
is "moved: the elections follow the order" "$(told elected)" \
    "$(until_elected "$(values NUIOA_ORDER | cut -d' ' -f1)")"

done_testing
