#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two sockets of four dies, 48 CPUs, NICs on NUMA nodes 0 (eth0) and 3 (eth1), both on socket 0.
# Ranks of one CPU, and ranks of twelve with an OpenMP thread on each.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    cp -L "$(gcc -print-file-name=libgomp.so.1)" "$payload/usr/lib/"
    gcc -std=gnu11 -O2 -Wall -Wextra -Werror -fopenmp \
        -o "$payload/usr/local/bin/threads" "$here/threads.c" || exit
    "$here/boot" corona --payload "$payload" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
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

# threads_of N [VAR=VALUE]... SRUN-OPTION...: what `threads` says of each rank, with N threads, in
# $ranks.
threads_of() {
    local option options=() env=(OMP_NUM_THREADS="$1" OMP_WAIT_POLICY=passive)
    shift
    while [[ $1 =~ ^[A-Z_]+= ]]; do env+=("$1"); shift; done
    for option; do [[ $plugin = no && $option = --nuioa* ]] || options+=("$option"); done
    ranks=$(as_user env "${env[@]}" timeout 90 srun "${options[@]}" threads 2>/tmp/said |
        sort -t= -k2n)
    said=$(cat /tmp/said)
}

# firsts: the CPU of each rank's thread 0
firsts() { values cpus | tr ' ' '\n' | cut -d, -f1 | paste -s -d' '; }

# numas: the NUMA nodes of the first rank's threads
numas() {
    local cpu
    for cpu in $(values cpus | cut -d' ' -f1 | tr ',' ' '); do
        basename "/sys/devices/system/cpu/cpu$cpu/"node* | tr -d '[:lower:]'
    done | paste -s -d' '
}

# lowest: how many ranks have thread 0 as near a NIC as any of their threads, by the kernel's
# distances
lowest() {
    local cpu cpus count=0 numa distance row0 row3 first least
    read -ra row0 <<<"$(slit 0)"
    read -ra row3 <<<"$(slit 3)"
    for cpus in $(values cpus); do
        first="" least=""
        for cpu in ${cpus//,/ }; do
            numa=$(basename "/sys/devices/system/cpu/cpu$cpu/"node*)
            numa=${numa#node}
            distance=$((row0[numa] < row3[numa] ? row0[numa] : row3[numa]))
            [ -n "$first" ] || first=$distance
            [ -n "$least" ] && [ "$least" -le "$distance" ] || least=$distance
        done
        [ "$first" = "$least" ] && count=$((count + 1))
    done
    echo $count
}

# A program that only links libgomp, or forks, keeps all its CPUs.
threads_of 12 -n4 -c12 --nuioa=report --nuioa-hints=heavy=1,3
is "4 ranks x 12 threads: no rank, child or thread is bound to fewer CPUs than its rank has" \
    "$(values main), $(values child), $(values own), $(nics | tr ' ' '\n' | grep -c eth)" \
    "$(repeat 4 12), $(repeat 4 12), $(repeat 4 0), 4"
is "nothing that binds threads is set; the report says what to type" \
    "$(grep -cE 'OMP_P|MPIR_|I_MPI_' <<<"$ranks"), $(says "--nuioa-threads=on to bind each")" "0, 1"
threads_of 12 -n1 -c48 --nuioa
is "one rank with all cores: it and its child keep them; no NIC is its own" \
    "$(values main) $(values child), $(nics)" "48 48, -"

# Slots of two dies: 0 and 1, 2 and 3, and two on the other socket. Of the second the NIC's die is
# the last one, where thread 0 would not be by itself.
threads_of 12 -n4 -c12 --nuioa --nuioa-threads=on --nuioa-hints=heavy=1,3
is "4 ranks x 12 threads: thread 0 of the heavy ones is on a NIC's die" \
    "$(firsts | cut -d' ' -f2,4 | tr ' ' '\n' | sort -n | paste -s -d' ')" "0 18"
is "of each rank it is on the lowest level, and each thread has a CPU of its own" \
    "$(lowest): $(values own)" "4: 12 12 12 12"
is "thread 0 is where NUIOA_COMM_CPUS says" "$(firsts)" "$(values NUIOA_COMM_CPUS)"
is "all threads, the nearest die's first" \
    "$(values cpus | tr ' ' '\n' |
        grep -cxe "$(seq -s, 0 11)" -e "$(seq -s, 18 23),$(seq -s, 12 17)")" 2

threads_of 3 -n4 -c12 --nuioa --nuioa-threads=on --nuioa-hints=heavy=1,3
is "3 threads: on the nearest cores" \
    "$(values cpus | tr ' ' '\n' | grep -cE '^(0,1,2|18,19,20)$')" 2
# The first four of the list are the ranks' own.
next=$(for cpu in $(firsts); do echo $((cpu + 3)); done | paste -s -d,)
is "the progress threads of MPICH and Intel MPI get the next core" \
    "$(values MPIR_CVAR_PROGRESS_THREAD_AFFINITY | cut -d' ' -f1 | cut -d, -f1-4), \
$(values I_MPI_ASYNC_PROGRESS_PIN | cut -d' ' -f1 | cut -d, -f1-4)" "$next, $next"

threads_of 8 -n1 -c48 --nuioa --nuioa-threads=on
is "one rank with all cores: thread 0 beside the NIC, the others on all dies" \
    "$(firsts), $(numas | tr ' ' '\n' | sort -u | wc -l) NUMA nodes, $(values own)" \
    "0, 8 NUMA nodes, 8"

# The settings of the user are kept. (Without the plugin nothing changes them.)
[ "$plugin" = yes ] || { done_testing; exit; }
for theirs in 'OMP_PLACES={5}' OMP_PROC_BIND=false GOMP_CPU_AFFINITY=5 KMP_AFFINITY=none; do
    threads_of 2 "$theirs" -n1 -c48 --nuioa --nuioa-threads=on
    is "with $theirs no place is set" "$(grep -o ' \(OMP_P\|GOMP_C\|KMP_\|MPIR\|I_MPI\)[^ ]*' \
        <<<"$ranks"), $(values NUIOA_VERSION)" " $theirs, 1"
done
threads_of 2 MPICH_PROGRESS_THREAD_AFFINITY=5 I_MPI_ASYNC_PROGRESS_THREADS=2 -n1 -c48 --nuioa \
    --nuioa-threads=on
is "nor with other variables of progress threads" \
    "$(values OMP_PROC_BIND), $(grep -o ' \(MPIR_\|I_MPI_\)[^ ]*' <<<"$ranks")" \
    "spread,  I_MPI_ASYNC_PROGRESS_THREADS=2"
threads_of 2 -n1 -c48 --nuioa --nuioa-threads=off
is "nor with threads=off" "$(values NUIOA_VERSION), $(grep -c 'OMP_PLACES' <<<"$ranks")" "1, 0"

done_testing
