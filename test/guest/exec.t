#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa exec on the 8-node Opteron with its NIC on NUMA node 5: without the plugin, with Slurm and
# with other launchers, each process takes the part of the plan that srun --nuioa would give it.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    # The guest has MPICH's library only; its launcher is this machine's.
    if ! cp /usr/bin/mpiexec.hydra /usr/bin/hydra_pmi_proxy "$payload/usr/local/bin/" ||
        ! ldd /usr/bin/mpiexec.hydra | awk '/libslurm/ { print $3 }' |
        xargs cp -Lt "$payload/usr/lib"; then
        . "$here/../tap.sh"
        skip "nuioa exec" "no mpiexec.hydra"
        done_testing
        exit
    fi
    "$here/boot" hagrid5 --cgroup --timeout 900 --payload "$payload" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh
the_plugin_does # nuioa(1) is not there without it either

export OMPI_MCA_hwloc_base_use_hwthreads_as_cpus=0 OMPI_MCA_plm_rsh_agent=/bin/false
megabytes=8

# start COMMAND...: one whereami a rank by another launcher, as launch does with srun. Without the
# plugin there is no nuioa(1) either: then that part of the command is left out.
start() {
    local word inside=no words=()
    for word; do
        [ "$plugin $word" != "no nuioa" ] || inside=yes
        [ $inside = yes ] || words+=("$word")
        [ "$word" != -- ] || inside=no
    done
    status=0
    ranks=$(as_user timeout 120 "${words[@]}" whereami --env "$megabytes" 2>/tmp/said |
        sort -t= -k2n) || status=$?
    said=$(cat /tmp/said)
    [ "$status" = 0 ] && [ -n "$ranks" ] && return
    tap_count=$((tap_count + 1)) tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s: status %d\n' "$tap_count" "$*" "$status"
    note "$said"
}

# torchrun COUNT [SECONDS [COMMAND]]: processes with torchrun's variables, started so far apart;
# COMMAND runs after the first.
torchrun() {
    local i exec=(nuioa exec --)
    [ "$plugin" = yes ] || exec=()
    for ((i = 0; i < $1; i++)); do
        LOCAL_RANK=$i LOCAL_WORLD_SIZE=$1 RANK=$i WORLD_SIZE=$1 \
            as_user timeout 120 "${exec[@]}" whereami --env "$megabytes" &
        sleep "${2:-0}"
        [ "$i" != 0 ] || ${3:-:}
    done >/tmp/ranks 2>/tmp/said
    wait
    ranks=$(sort -t= -k2n /tmp/ranks) said=$(cat /tmp/said)
}

# Prints what the ranks have. Pages of a rank with several NUMA nodes are where its first thread
# happens to run: what counts is how many ranks have them on their own.
facts() {
    sed -E 's/ (local|mems|pages|NUIOA_EXEC)=[^ ]*//g' <<<"$ranks"
    echo "pages near: $(near_own)"
}

# The launches that the others are compared with.
declare -A by_plugin
job=$(hold 16)
for tasks in 1 2 5; do
    launch --jobid="$job" -n$tasks --nuioa
    by_plugin[$tasks]=$(facts)
    [[ ${by_plugin[$tasks]} = *NUIOA_NIC=eth0* ]] || by_plugin[$tasks]="no plan"
done
like "the plugin divides the CPUs" "${by_plugin[2]}" 'cpus=6-7,10-15 .*cpus=0-5,8-9 .*near: 2'

ranks=$(as_user srun --jobid="$job" -n5 --nuioa nuioa exec --nuioa=report -- whereami --env 8 \
    2>/tmp/said | sort -t= -k2n)
is "a placement by the plugin is left alone" "$(facts)" "${by_plugin[5]}"
is "... and it is said once" "$(grep -c "the plugin has placed" /tmp/said)" 1

# --- Slurm without the plugin ---
echo >/etc/slurm/plugstack.conf
for tasks in 1 2 5; do
    start srun --jobid="$job" -n$tasks nuioa exec --
    is "srun without the plugin, -n$tasks: as with it" "$(facts)" "${by_plugin[$tasks]}"
done
start srun --jobid="$job" -n5 --cpu-bind=none nuioa exec --
is "--cpu-bind=none: for nuioa" "$(facts)" "${by_plugin[5]}"
start srun --jobid="$job" -n16
slurms=$(values cpus)
start srun --jobid="$job" -n16 nuioa exec --nuioa=report --
is "srun -n16: Slurm has bound the ranks, they stay, and are told the NIC but no leader" \
    "$(values cpus) $(values NUIOA_NIC) $(distinct NUIOA_LEADER)" "$slurms $(repeat 16 eth0) 1"
like "... and the report says why" "$said" 'the launcher has bound this rank'
start srun --jobid="$job" -n16 nuioa exec --nuioa=force --
is "force: 16 of 16 have a CPU of their own, and their pages" \
    "$(distinct cpus) $(at_home)" "16 16"
outer=(env NUIOA_CPUS=0-15 NUIOA_LEADER=99 SLURM_NUIOA_STEP="$job.99")
start "${outer[@]}" srun --jobid="$job" -n2 nuioa exec --
is "what another step's ranks were told does not count" "$(facts)" "${by_plugin[2]}"
release "$job"
job=$(hold 4)
start srun --jobid="$job" -n3 nuioa exec --
is "a job of 4 CPUs: three ranks stay in it, and divide it" \
    "$(values cpus | tr ' ,-' '\n' | sort -nu | tail -n 1) $(division)" \
    "3 least 1, all 4, twice 0"
release "$job"

# --- other launchers ---
for tasks in 2 5; do
    start mpirun -n $tasks --bind-to none nuioa exec --
    is "mpirun --bind-to none, -n$tasks: as srun --nuioa" "$(facts)" "${by_plugin[$tasks]}"
    start mpiexec.hydra -n $tasks nuioa exec --
    is "mpiexec.hydra, -n$tasks: as srun --nuioa" "$(facts)" "${by_plugin[$tasks]}"
    torchrun $tasks
    is "torchrun's variables, $tasks: as srun --nuioa" "$(facts)" "${by_plugin[$tasks]}"
done
for launcher in "mpirun --bind-to none" mpiexec.hydra; do
    # shellcheck disable=SC2086 # words
    start $launcher -n 16 nuioa exec --nuioa=report --
    is "$launcher, -n16: 16 of 16 have a CPU of their own, and their pages" \
        "$(distinct cpus) $(at_home)" "16 16"
    is "... rank 0 leads beside the NIC, and reports once" \
        "$(values numa | cut -d' ' -f1) $(distinct NUIOA_LEADER) $(grep -c "the ranks divide" \
            <<<"$said")" "5 1 1"
done
start mpirun -n 16 --bind-to none nuioa exec --hints heavy=15 --
is "hints: the heaviest rank is beside the NIC" "$(values numa | cut -d' ' -f16)" 5
for binding in "" "--bind-to numa"; do
    # shellcheck disable=SC2086 # words
    start mpirun -n 4 $binding
    theirs="$(values cpus)"
    # shellcheck disable=SC2086 # words
    start mpirun -n 4 $binding nuioa exec --
    is "mpirun ${binding:-with its default}: what it bound stays" \
        "$(values cpus) $(values NUIOA_NIC)" "$theirs $(repeat 4 eth0)"
done
start numactl --interleave=0,1 mpirun -n 2 --bind-to none nuioa exec --
is "a memory policy that is there stays" "$(values policy) $(values NUIOA_NIC)" \
    "interleave:0,1 interleave:0,1 eth0 eth0"
# shellcheck disable=SC2016 # the rank's shell expands them
for policy in --membind --preferred; do
    start mpirun -n 2 --bind-to none \
        sh -c "exec numactl $policy=\$OMPI_COMM_WORLD_LOCAL_RANK \"\$@\"" sh \
        nuioa exec --nuioa=report --
    is "numactl $policy of a NUMA node for each: they stay, and the report says why" \
        "$(values cpus) $(values NUIOA_NIC) $(says "the memory policy of this rank")" \
        "0-15 0-15 eth0 eth0 1"
done
# shellcheck disable=SC2016
start mpirun -n 16 --bind-to none nuioa exec -- \
    sh -c 'exec numactl -N $((OMPI_COMM_WORLD_LOCAL_RANK / 2)) "$@"' sh
is "numactl -N behind it: pages are where the ranks run" \
    "$(near_own) $(values NUIOA_NIC)" "16 $(repeat 16 eth0)"

# --- a container ---
mkdir /sys/fs/cgroup/box
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
echo 4-7,10 >/sys/fs/cgroup/box/cpuset.cpus
boxed() {
    local i exec=(nuioa exec --)
    [ "$plugin" = yes ] || exec=()
    for i in 0 1 2; do
        sh -c 'echo 0 >/sys/fs/cgroup/box/cgroup.procs && exec "$@"' sh \
            setpriv --reuid=user --regid=user --init-groups \
            env LOCAL_RANK=$i LOCAL_WORLD_SIZE=3 RANK=$i WORLD_SIZE=3 \
            unshare -U -C "${exec[@]}" whereami --env $megabytes &
    done >/tmp/ranks 2>/tmp/said
    wait
    ranks=$(sort -t= -k2n /tmp/ranks) said=$(cat /tmp/said)
}
boxed
is "a container with a cpuset, without root: three ranks divide it" \
    "$(values cpus | tr ' ' '\n' | sort | paste -sd' ')" "10 4-5 6-7"
is "... rank 0 has the CPU beside the NIC" "$(values cpus | cut -d' ' -f1)" 10

# As Kubernetes does without CPU pinning; such a container sees its own cgroup only.
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
echo 0-15 >/sys/fs/cgroup/box/cpuset.cpus
echo "200000 100000" >/sys/fs/cgroup/box/cpu.max
sh -c 'echo 0 >/sys/fs/cgroup/box/cgroup.procs && exec unshare -C -m sh -c "
    mount --bind /sys/fs/cgroup/box /sys/fs/cgroup
    nuioa exec --local-rank 0 --local-size 2 --nuioa=report -- whereami"' >/tmp/ranks 2>/tmp/said
ranks=$(</tmp/ranks) said=$(</tmp/said)
is "a container with a quota of 2 CPUs: its CPUs stay" \
    "$(values cpus) $(says "the container has a CPU quota")" "0-15 1"

# --- a link that goes down while they start ---
torchrun 6
together=$(values cpus)
torchrun 6 2 "ip link set eth0 down"
is "processes 2 s apart agree, although the NIC has gone" "$(values cpus) $(distinct cpus)" \
    "$together 6"
is "... and those that came later are not told it" \
    "$(values NUIOA_NIC | tr ' ' '\n' | grep -c eth0)" 1
nuioa exec --nic=eth0 --nuioa=report --local-rank 0 --local-size 2 -- true 2>/tmp/said
said=$(</tmp/said)
is "a report while no NIC is up says so, names the requested one, and promises none" \
    "$(says "no usable NIC is up") $(says "port is down, not used") $(says "nearest the NIC") \
$(says " eth0 ")" "1 1 0 1"

done_testing
