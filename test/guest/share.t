#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Steps that are wider than their ranks, on the 8-node Opteron with its NIC on NUMA node 5, under
# cgroup v2: what srun gives inside a job whenever nobody types -c. Slurm binds nobody then.
[ -e /nuioa/settings ] || exec "$(dirname "$0")/boot" hagrid5 --cgroup --timeout 900 \
    --plugstack deadline_ms=60000 "$@" -- "$0" "${NUIOA_GUEST_PART:-}"
# shellcheck source=lib.sh
. /nuioa/lib.sh
part=$1

# The local ranks that have NUMA node 5.
beside_nic() {
    values numa | tr ' ' '\n' | grep -nE '(^|,)5(,|$)' | cut -d: -f1 | awk '{ print $1 - 1 }' |
        paste -sd' '
}

job=$(hold 16)
launch --jobid="$job" -n2
is "Slurm alone: both ranks have all CPUs" "$(values cpus)" "0-15 0-15"
the_plugin_does

megabytes=4
for tasks in 2 5 ${part:+3}; do
    launch --jobid="$job" "-n$tasks" --nuioa=report
    is "-n$tasks: no core has two ranks, none is left, nobody has less than a fair share" \
        "$(division)" "least $((16 / tasks)), all 16, twice 0"
    is "-n$tasks: rank 0 is beside the NIC and leads; memory follows" \
        "$(beside_nic); $(distinct NUIOA_LEADER); $(near_own)" "0; 1; $tasks"
    is "-n$tasks: the report says it" \
        "$(says "the ranks divide the CPUs that they shared, the lowest ranks nearest")" 1
    launch --jobid="$job" "-n$tasks" --nuioa --nuioa-hints="heavy=$((tasks - 1))"
    is "-n$tasks, the last is heavy: it is beside the NIC" \
        "$(division); $(beside_nic); $(near_own)" \
        "least $((16 / tasks)), all 16, twice 0; $((tasks - 1)); $tasks"
done

launch --jobid="$job" -n2 --nuioa=report
is "-n2: each rank spans NUMA nodes, and the report says what to type" \
    "$(values policy); $(says "one thread per rank, use srun")" "default default; 1"

SLURM_NUIOA=on launch --jobid="$job" -n2
is "SLURM_NUIOA=on, no flag: as with the flag" "$(division)" "least 8, all 16, twice 0"

launch --jobid="$job" -n1 --nuioa=report
is "-n1: it keeps all CPUs, its memory is where it is first touched, and the report says so" \
    "$(values cpus); $(values policy); $(nics); $(says "where a thread first touches it")" \
    "0-15; default; eth0; 1"
is "-n1: the report says what to type" "$(says "use sbatch -c N, or salloc -c N")" 1
OMP_NUM_THREADS=1 launch --jobid="$job" -n1 --nuioa=report
is "-n1 with one thread: it has no policy, and the report says what to type" \
    "$(values cpus); $(values policy); $(says "one thread per rank, use srun --cpu-bind=cores")" \
    "0-15; default; 1"
OMP_NUM_THREADS=1 launch --jobid="$job" -n1 --nuioa=report --cpu-bind=cores
is "... then its core is beside the NIC, and so is what it touches first" \
    "$(values numa); $(values pages); $(values policy); $(says "one thread per rank")" \
    "5; 5:1024; default; 0"
OMP_NUM_THREADS=1 launch --jobid="$job" -n1 --nuioa --nuioa-mem=local
is "-n1 --nuioa-mem=local with one thread: its memory is preferred beside the NIC" \
    "$(values cpus); $(values pages); $(values policy)" "0-15; 5:1024; preferred:5"
launch --jobid="$job" -n1 --nuioa --nuioa-mem=nic
is "-n1 --nuioa-mem=nic: the same" "$(values cpus); $(values pages); $(values policy)" \
    "0-15; 5:1024; preferred:5"
OMP_NUM_THREADS=1 launch --jobid="$job" -n2 --nuioa --nuioa-mem=local
is "-n2 --nuioa-mem=local, one thread each: on the NUMA node of its CPUs nearest the NIC" \
    "$(values pages); $(values policy)" "5:1024 1:1024; preferred:5 preferred:1"
launch --jobid="$job" -n2 --nuioa --nuioa-mem=nic
is "-n2 --nuioa-mem=nic: all memory is beside the NIC" "$(values pages)" "5:1024 5:1024"
OMP_NUM_THREADS=16 launch --jobid="$job" -n1 --nuioa --nuioa-mem=local
is "-n1 --nuioa-mem=local, 16 threads: no policy" "$(values policy); $(nics)" "default; eth0"
SLURM_CPUS_PER_TASK=4 launch --jobid="$job" -n1 --nuioa=report
is "-n1, -c4 of sbatch: the 4 CPUs nearest the NIC" "$(values cpus)" "6-7,10-11"
is "... and the report says it" "$(says "--cpus-per-task CPUs, those nearest")" 1
SLURM_CPUS_PER_TASK=4 launch --jobid="$job" -n2 --nuioa
is "-n2, -c4 of sbatch: fair shares, which are more" "$(division)" "least 8, all 16, twice 0"
SLURM_CPUS_PER_TASK=6 launch --jobid="$job" -n3 --nuioa=report
is "-n3, -c6 of sbatch: no part has 6, all keep all" \
    "$(values cpus); $(says "below --cpus-per-task")" "0-15 0-15 0-15; 1"

for flags in "-n1 -c4" "-n1 -c4 --exact"; do
    # shellcheck disable=SC2086 # flags
    launch --jobid="$job" $flags --nuioa=report
    is "$flags: Slurm chose 4 CPUs, which stay; the report says what to type" \
        "$(values cpus); $(says "salloc --exclusive -c N, then srun")" "0-3; 1"
done
launch --jobid="$job" -n2 --exclusive --nuioa=report
is "-n2 --exclusive: two CPUs, one each" "$(division); $(nics)" \
    "least 1, all 2, twice 0; eth0 eth0"
launch --jobid="$job" -n2 --hint=nomultithread --nuioa
is "--hint=nomultithread: Slurm bound each rank to a core" "$(division); $(nics)" \
    "least 1, all 2, twice 0; eth0 eth0"
is "... and rank 0 goes to a free one beside the NIC" "$(beside_nic)" 0
for flags in --exclusive --hint=nomultithread; do
    launch --jobid="$job" -n16 $flags --nuioa --nuioa-hints=heavy=15
    is "-n16 $flags: a core each, the heaviest rank is beside the NIC, memory follows" \
        "$(division); $(values numa | cut -d' ' -f16); $(near_own)" \
        "least 1, all 16, twice 0; 5; 16"
done

launch --jobid="$job" -n2 --cpu-bind=none --nuioa=report
is "--cpu-bind=none: untouched" \
    "$(values cpus); $(values policy); $(says "an explicit --cpu-bind is left alone")" \
    "0-15 0-15; default default; 1"
launch --jobid="$job" -n1 --cpu-bind=none --nuioa
is "-n1 --cpu-bind=none: untouched" "$(values cpus); $(values policy); $(nics)" \
    "0-15; default; eth0"
for list in map_mem:0,1 rank ${part:+mask_mem:0x1,0x2}; do
    launch --jobid="$job" -n2 --exclusive "--mem-bind=$list" --nuioa=report
    is "--mem-bind=$list: the ranks stay beside their memory, and the report says why" \
        "$(values numa); $(near_own); $(says "an explicit --mem-bind gives each rank")" "0 1; 2; 1"
done
launch --jobid="$job" -n2 --exclusive --mem-bind=local --nuioa
is "--mem-bind=local: the first goes nearer the NIC, and Slurm binds memory there" \
    "$(values numa); $(values policy)" "1 0; bind:1 bind:0"

# A program that binds itself, to the NUMA node where it is without nuioa.
# shellcheck disable=SC2016 # the rank's shell expands them
itself=(sh -c 'exec numactl -N "$SLURM_LOCALID" "$@"' sh)
launch --jobid="$job" -n2 --exclusive --nuioa "${itself[@]}"
is "numactl -N: its pages are where it runs" \
    "$(values numa); $(near_own); $(nics)" "0 1; 2; eth0 eth0"
launch --jobid="$job" -n2 --exclusive --nuioa --nuioa-mem=local "${itself[@]}"
is "... with --nuioa-mem=local they are where nuioa had put it" \
    "$(values numa); $(near_own); $(nics)" "0 1; 0; eth0 eth0"

launch --jobid="$job" -n2 --overlap --nuioa=report
is "--overlap: untouched" "$(values cpus); $(values policy); $(says "Omit --overlap")" \
    "0-15 0-15; default default; 1"
launch --jobid="$job" -n1 --overlap --nuioa
is "-n1 --overlap: untouched" "$(values cpus); $(values policy); $(nics)" "0-15; default; eth0"
launch --jobid="$job" -n2 --nuioa --nuioa-cores=keep
is "cores=keep: untouched" "$(values cpus); $(nics)" "0-15 0-15; eth0 eth0"
launch --jobid="$job" -n20 -O --nuioa=report
is "more ranks than cores: untouched" \
    "$(distinct cpus); $(says "there are more ranks than cores")" "1; 1"
release "$job"

# srun in a rank of another step inherits its variables. inner STEP COMMAND: what launch sets, of
# the srun with which COMMAND ends, in a step of one rank with STEP's flags.
inner() {
    status=0
    # shellcheck disable=SC2086 # flags
    ranks=$(as_user timeout 120 srun --jobid="$job" -n1 $1 sh -c "$2 whereami --env 1" 2>/tmp/said |
        sort -t= -k2n) || status=$?
    said=$(cat /tmp/said)
}
job=$(hold 16)
for outer in "" -c16 --cpu-bind=none; do
    inner "$outer" "srun --overlap -n2 --nuioa=report"
    is "srun $outer, and srun --overlap -n2 in it: a mask of all CPUs is no choice" \
        "$(division); $(beside_nic); $(says "the ranks divide the CPUs that they shared")" \
        "least 8, all 16, twice 0; 0; 1"
done
inner "-c4" "srun --overlap -n2 --nuioa=report"
is "a mask of some CPUs stays, and the report says what to type" \
    "$(values cpus); $(says "unset SLURM_CPU_BIND before srun")" "0-3 0-3; 1"
inner "-c4" "unset SLURM_CPU_BIND; srun --overlap -n2 --nuioa=report"
is "... which helps" "$(division); $(says SLURM_CPU_BIND)" "least 8, all 16, twice 0; 0"
if [ -n "$part" ]; then
    inner -n2 '[ "$SLURM_PROCID" = 1 ] || srun --overlap -n2 --nuioa=report'
    is "the other ranks of a step of two do not wait: --overlap counts" \
        "$(values cpus); $(says "Omit --overlap")" "0-15 0-15; 1"
    inner "-c16" "srun --overlap -n2 --cpu-bind=none --nuioa=report"
    is "a mask that is typed for the inner step is a choice" \
        "$(values cpus); $(says "an explicit --cpu-bind is left alone")" "0-15 0-15; 1"
    inner "" "SLURM_CPU_BIND=none srun --overlap -n2 --nuioa=report"
    is "... and so is one that the user has set" \
        "$(values cpus); $(says "an explicit --cpu-bind is left alone")" "0-15 0-15; 1"
    inner "--mem-bind=mask_mem:0xff" "srun --overlap -n2 --nuioa=report"
    is "--mem-bind of the outer step: a mask of all NUMA nodes is no choice" \
        "$(division); $(beside_nic); $(says "the ranks divide the CPUs that they shared")" \
        "least 8, all 16, twice 0; 0; 1"
    inner "--mem-bind=map_mem:0" "srun --overlap -n2 --nuioa=report"
    is "... one of them stays, and the report says what to type" \
        "$(values cpus); $(says "unset SLURM_MEM_BIND before srun")" "0-15 0-15; 1"
    inner "--mem-bind=map_mem:0" "unset SLURM_MEM_BIND; srun --overlap -n2 --nuioa=report"
    is "... which helps" "$(division); $(says SLURM_MEM_BIND)" "least 8, all 16, twice 0; 0"
    inner "--mem-bind=map_mem:0" "srun --overlap -n2 --mem-bind=map_mem:1,2 --nuioa=report"
    is "... one that is typed is this step's own" \
        "$(values cpus); $(says "an explicit --mem-bind gives")" "0-15 0-15; 1"
fi
inner "" "srun --overlap -n1 env; :"
is "ranks are not told what srun tells the nodes" "$(grep -c SLURM_NUIOA_ <<<"$ranks")" 0
release "$job"

# Steps that run at the same time, each with cores of its own.
cat >/tmp/four.sh <<'END'
#!/bin/bash
for step in 1 2 3 4; do
    srun -n2 -c2 --exclusive --nuioa sh -c 'whereami --env 1; sleep 2' >"/tmp/four.$step" 2>&1 &
done
wait
END
as_user salloc -Q -n16 bash /tmp/four.sh
ranks=$(grep -h ^rank= /tmp/four.[1-4])
is "four exclusive steps at once: each core has one rank" "$(division); $(near_own); $(nics)" \
    "least 2, all 16, twice 0; 8; $(repeat 8 eth0)"

# What a site says for everybody divides nothing, unless it says so.
echo "optional /usr/lib/slurm/nuioa.so default=on" >/etc/slurm/plugstack.conf
job=$(hold 16)
for tasks in 1 2 ${part:+3 5}; do
    launch --jobid="$job" "-n$tasks"
    is "default=on alone, -n$tasks: untouched" \
        "$(values cpus); $(values policy); $(nics)" \
        "$(repeat "$tasks" 0-15); $(repeat "$tasks" default); $(repeat "$tasks" eth0)"
done
echo "optional /usr/lib/slurm/nuioa.so default=on cores=share" >/etc/slurm/plugstack.conf
launch --jobid="$job" -n2
is "default=on cores=share: divided" "$(division)" "least 8, all 16, twice 0"
release "$job"

# Slurm confines nobody: the CPUs of a rank are those of all jobs.
sed -i 's|^TaskPlugin=.*|TaskPlugin=task/none|' /etc/slurm/slurm.conf
restart_slurmd
job=$(hold 6)
launch --jobid="$job" -n2 --nuioa=report
is "task/none, a job of 6 cores: untouched; the report says what to set" \
    "$(values cpus); $(says "TaskPlugin=task/affinity, or task/cgroup")" "0-15 0-15; 1"
launch --jobid="$job" -n1 --nuioa
is "task/none, -n1: untouched" "$(values cpus); $(values policy); $(nics)" "0-15; default; eth0"
release "$job"

done_testing
