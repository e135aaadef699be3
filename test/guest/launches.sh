#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The guest's part of test/first-lines: tells what the machine is, from sysfs, then runs each of the
# scripts in /nuioa/launches as an ordinary user. Each is a directory with the files
#   script     what is run; its output is told between two lines that begin with "@"
#   plugstack  arguments of the plugin's line; none: no change
#   hold       options of salloc for another job, which has its CPUs meanwhile; empty: no such job
# shellcheck source=lib.sh
. /nuioa/lib.sh

tell_machine() {
    local node cpu cpus nic
    for node in /sys/devices/system/node/node[0-9]*; do
        cpus=$(cat "$node/cpulist")
        echo "@node ${node##*node} ${cpus:--} $(cat "$node/distance")"
    done
    for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
        echo "@core ${cpu##*cpu} $(cat "$cpu/topology/thread_siblings_list")"
    done
    for nic in /sys/class/net/eth*; do
        echo "@nic ${nic##*/} $(cat "$nic"/device/../numa_node) $(cat "$nic/operstate")"
    done
    sed 's/^/@gpu /' /sys/class/drm/renderD*/device/numa_node 2>/dev/null
}

# wait_for_jobs COUNT: until no more than that many are left, at most a minute.
wait_for_jobs() {
    local try
    for ((try = 0; try < 300; try++)); do
        [ "$(squeue -h | wc -l)" -gt "$1" ] || return 0
        sleep 0.2
    done
    echo "@late"
}

# hold_others OPTIONS: the job that holds CPUs is that one, or none.
hold_others() {
    [ "$1" != "$held" ] || return
    [ -z "$job" ] || release "$job"
    job="" held=$1
    # shellcheck disable=SC2086 # several options
    [ -z "$1" ] || job=$(as_user salloc --no-shell $1 true 2>&1 |
        sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p')
}

job="" held=""
tell_machine
for launch in /nuioa/launches/*; do
    hold_others "$(cat "$launch/hold")"
    [ ! -e "$launch/plugstack" ] || echo "optional /usr/lib/slurm/nuioa.so $(cat \
        "$launch/plugstack")" >/etc/slurm/plugstack.conf
    echo "@launch ${launch##*/}"
    [ -z "$held" ] || [ -n "$job" ] || echo "@late"
    # Signalled as a group, so that no srun outlives the time.
    as_user timeout -k 5 600 bash "$launch/script" 2>&1 </dev/null
    echo "@status $?"
    wait_for_jobs $((${#job} > 0))
done
exit 0 # what launches lack the judge sees
