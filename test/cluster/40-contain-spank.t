#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# SlurmdParameters=contain_spank (Slurm 24.05 and later) with job_container/tmpfs: user_init and
# task_post_fork run in a child inside the job's mount namespace, which shares slurmstepd's memory
# but has another pid and copies of its descriptors. The answers must be the same. On a cluster of
# its own.
. "$(dirname "$0")/testlib.sh"
. "$here/pmixlib.sh"

in_root() { PATH=/opt/slurm/sbin:$PATH ${NUIOA_CLUSTER_ROOT:+chroot "$NUIOA_CLUSTER_ROOT"} "$@"; }

version=$(in_root slurmd -V | sed 's/.* //')
if [ "$(printf '%s\n' 24.05 "$version" | sort -V | head -n 1)" != 24.05 ]; then
    skip_all "contain_spank" "Slurm $version does not have it"
fi

dir=$(mktemp -d /tmp/nuioa-contain.XXXXXX)
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')

# A namespace can hold only those that the kernel numbered later, and Linux 6.18 numbers per CPU: on
# some CPUs those of all jobs would come before those of the nodes. The CPU with the lowest numbers:
oldest_cpu() {
    local cpu oldest= holder holders=()
    for cpu in "${cpus[@]}"; do
        taskset -c "$cpu" unshare --mount \
            sh -c "mount -t tmpfs t '$dir' && touch '$dir/ns' && exec sleep 60" &
        holders[cpu]=$!
    done
    sleep 0.5
    for cpu in "${cpus[@]}"; do
        [ -n "$oldest" ] && nsenter -t "${holders[oldest]}" -m \
            mount --bind "/proc/${holders[cpu]}/ns/mnt" "$dir/ns" 2>/dev/null || oldest=$cpu
    done
    for holder in "${holders[@]}"; do kill "$holder"; done
    wait
    echo "$oldest"
}

printf '%s\n' AutoBasePath=true BasePath=/run/containers Dirs=/tmp >"$dir/job_container.conf"
line=$(NUIOA_CLUSTER_DIR=$dir NUIOA_CLUSTER_SLURM_CONF='JobContainerType=job_container/tmpfs
PrologFlags=Contain
SlurmdParameters=config_overrides,contain_spank' \
    taskset -c "$(oldest_cpu)" "$here/up" --no-plugin) || exit 1
eval "$line"
trap '"$here/down"; rm -r "$dir"' EXIT
for node in node1 node2 node3 node4; do     # only the namespaces had to be made there
    in_node "$node" sh -c "taskset -acp $(IFS=,; echo "${cpus[*]}") \$(pgrep -x slurmd)" >/dev/null
done
setup
need_trial

user srun -w node1 -n2 sh -c 'touch /tmp/mark.$SLURM_PROCID; readlink /proc/self/ns/mnt'
job=$(grep -m 1 mnt <<<"$out")
like "a job has run" "$job" '^mnt:'
unlike "a job has mounts of its own" "$job" \
    "^$(in_node node1 readlink /proc/self/ns/mnt | tr '[]' ..)\$"
is "its /tmp goes with it" "$(in_node node1 sh -c 'ls /tmp | grep mark')" ""

trial "topology=$topology default=on"
keys 4 -w node1 --exclusive
inside=$(told node1 | grep -o 'in=mnt:.*]')
like "the hook ran" "$inside" 'mnt:'
unlike "in the job's namespace" "$inside" "$(in_node node1 readlink /proc/self/ns/mnt | tr '[]' ..)"

# Binding by pid, from inside
trial "default=on export=env,pmix,locality bind"
if [ ${#cpus[@]} -lt 2 ]; then
    skip "ranks are bound" "this machine has one CPU"
else
    user srun -w node1 -n2 -O sh -c 'sed -n "s/^Cpus_allowed_list:.//p" /proc/self/status'
    is "ranks are bound" "$(sort -n <<<"$out" | paste -s -d ' ')" "${cpus[0]} ${cpus[1]}"
    keys 2 -w node1 -O
    is "and told so" "$(key_all pmix.cpuset)" "hwloc:${cpus[0]} hwloc:${cpus[1]}"
fi

# The children that work as the user begin outside the namespace; all else is said from inside.
printf 'nuioa-profile 1\nranks 8\npair 1 2 100 1 0\n' >"$CLUSTER_DIR/home/profile"
plugin on "topology=$topology" default=on "${patient[@]}"
launch 8 -N4 --exclusive --mpi=pmix --nuioa-hints="@$home/profile"
is "each node's part of a profile" "$(of 2 NUIOA_WEIGHT)" 100
is "not a word" "$err" ""
launch 8 -N4 --exclusive --mpi=pmix --nuioa=report
one_report "a report" 4
plugin off

# The same tests, the same answers
for test in 04-outputs 20-pmix-keys; do
    ok "$test" bash "$here/$test.t"
done

plugin on "topology=$topology" default=on "${patient[@]}"
keys 8 -N4 --exclusive
is "the plugin's own keys" "$(key_all nuioa.version)" "1 1 1 1 1 1 1 1"
user sh -c 'sleep 1; squeue -h'
is "no job stays" "$rc|$out" "0|"
is "no slurmstepd stays" "$(in_node node1 pgrep -c slurmstepd)" 0
plugin off
finish
