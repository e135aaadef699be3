#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa exec: its command line, what it learns from launchers, what it prints, and that the program
# runs in any case. Real CPUs are bound in test/guest/exec.t.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
hagrid=$machines/hagrid5.xml
unset "${!OMPI_@}" "${!PMI_@}" "${!MV2_@}" "${!PALS_@}" "${!FLUX_@}" "${!JSM_@}" "${!PMIX_@}"
unset "${!NUIOA_@}"
unset LOCAL_RANK LOCAL_WORLD_SIZE LOCAL_SIZE RANK WORLD_SIZE GROUP_WORLD_SIZE CROSS_SIZE
unset MPI_LOCALRANKID MPI_LOCALNRANKS OMP_NUM_THREADS

# --- the program runs ---------------------------------------------------------------------------

# shellcheck disable=SC2016 # the inner shell's
run "${patient[@]}" --local-rank 0 --local-size 1 -- sh -c 'echo "$1"; exit 7' sh "a b"
is "the program's arguments and status" "$status|$out|$err" "7|a b|"
run "${patient[@]}" -- sh -c 'exit 5'
is "no launcher: it runs, and one line says what was looked at" \
    "$status|$(wc -l <"$work/err")" "5|1"
for name in openmpi hydra mvapich pals torchrun deepspeed flux jsm slurm pmix --local-rank \
    --local-size "the program runs"; do
    is "... $name" "$(grep -c -- "$name" "$work/err")" 1
done
run "${patient[@]}" --local-rank 0 --local-size 1 -- "$work/no such program"
is "no such program: 127" "$status|$(grep -c 'no such program: No such file' "$work/err")" "127|1"
run "${patient[@]}" --local-rank 0 --local-size 1 -- "$work"
is "no program: 126" "$status|$(wc -l <"$work/err")" "126|1"
run exec --nuioa=off -- sh -c 'echo on'
is "off: nothing but the program" "$status|$out|$err" "0|on|"
run "${patient[@]}" --local-rank 0 --local-size 1 --cache /no/such -- echo on
is "a cache that is not there: a warning" \
    "$status|$out|$(grep -c 'cache not used' <<<"$err")" "0|on|1"
run "${patient[@]}" --local-rank 0 --local-size 1 --distances /no/such -- echo on
is "no distances: it runs" "$status|$out|$(wc -l <"$work/err")" "0|on|1"
run "${patient[@]}" --local-rank 0 --local-size 1 --ranks 0 --hints /no/such -- echo on
is "no hints: it runs" "$status|$out|$(wc -l <"$work/err")" "0|on|1"
run "${patient[@]}" --local-rank 0 --local-size 1 --cpus-per-task 2 -- env
is "threads: nothing that binds them is set" "$(grep -cE '^(OMP_P|MPIR_|I_MPI_)' "$work/out")" 0
run "${patient[@]}" --local-rank 0 --local-size 1 --cpus-per-task 2 --threads on -- env
is "--threads on: bound, if there are cores to choose from" \
    "$(grep -c '^OMP_PLACES=' "$work/out")" "$(grep -c '^NUIOA_COMM_CPUS=' "$work/out")"
run "${patient[@]}" --local-rank 0 --local-size 1 --cpus-per-task 2 --threads on -- \
    "$tool" "${patient[@]}" --local-rank 0 --local-size 1 -- env
is "... and a program in it, that is placed anew, does not inherit them" \
    "$(grep -cE '^OMP_P|NUIOA_EXPORTED' "$work/out")|$(grep -c '^NUIOA_VERSION' "$work/out")" "0|1"
pid=$("$tool" "${patient[@]}" --local-rank 0 --local-size 1 -- sh -c 'echo $$' & echo "$!"; wait)
is "it is the same process" "$(sort <<<"$pid" | uniq -c | awk '{ print $1 }')" 2
ls -l /proc/self/fd >"$work/fds"
"$tool" "${patient[@]}" --local-rank 0 --local-size 1 -- ls -l /proc/self/fd >"$work/fds2"
is "no descriptor is left open" "$(wc -l <"$work/fds2")" "$(wc -l <"$work/fds")"
# The C library changes how signals 32 and 33 are treated, which are its own.
state='umask; pwd; grep -E "^Sig(Blk|Ign|Cgt)|^Uid" /proc/self/status |
    sed -E "s/[0-9a-f]{9}([0-9a-f]{7})$/\1/"'
is "umask, directory, signals and user are as before" \
    "$("$tool" "${patient[@]}" --local-rank 0 --local-size 1 -- sh -c "$state")" "$(sh -c "$state")"
NUIOA_LEADER=99 run "${patient[@]}" --local-rank 0 --local-size 1 --ranks 0 -- env
is "variables of an outer step go" \
    "$(grep -E '^NUIOA_(LEADER|VERSION)' "$work/out" | sort | xargs)" \
    "NUIOA_LEADER=0 NUIOA_VERSION=1"
run "${patient[@]}" --local-rank 0 --local-size 2 --export none -- env
is "export=none" "$(grep -c NUIOA_ "$work/out")" 0
run "${patient[@]}" --local-rank 0 --local-size 2 --trace /tmp/x -- true
is "what needs the plugin is said" "$status|$err" \
    "0|nuioa: warning: trace ignored: it requires the plugin. Use srun --nuioa-trace=FILE"

# --- the environment, as srun reads it ----------------------------------------------------------

# with NAME WANTED VARIABLE... -- ARGUMENT...: status, stdout, and the lines on stderr
with() {
    local name=$1 wanted=$2 env=()
    shift 2
    while [ "$1" != -- ]; do env+=("$1"); shift; done
    env "${env[@]}" "$tool" exec "${@:2}" >"$work/out" 2>"$work/err"
    is "$name" "$?|$(<"$work/out")|$(wc -l <"$work/err")" "$wanted"
}
one=(--deadline-ms 60000 --local-rank 0 --local-size 2 --ranks 0,1)
told=(sh -c 'echo "${NUIOA_VERSION-not} ${NUIOA_LEADER-nobody}"')
with "SLURM_NUIOA=off: nothing but the program" "0|7 7|0" SLURM_NUIOA=off NUIOA_VERSION=7 \
    NUIOA_LEADER=7 SLURM_NUIOA_POLICY=fast -- "${one[@]}" -- "${told[@]}"
with "... the command line wins" "0|1 0|0" SLURM_NUIOA=off -- "${one[@]}" --nuioa --leader rank0 \
    -- "${told[@]}"
with "... so does off there" "0|not nobody|0" SLURM_NUIOA=on -- "${one[@]}" --nuioa=off -- \
    "${told[@]}"
with "an empty one is not set" "0|1 0|0" SLURM_NUIOA= SLURM_NUIOA_LEADER= -- "${one[@]}" \
    --leader rank0 -- "${told[@]}"
with "SLURM_NUIOA_LEADER" "0|1 nobody|0" SLURM_NUIOA_LEADER=off -- "${one[@]}" -- "${told[@]}"
with "... the command line wins" "0|1 0|0" SLURM_NUIOA_LEADER=off -- "${one[@]}" --leader rank0 -- \
    "${told[@]}"
with "SLURM_NUIOA_EXPORT=none" "0|not nobody|0" SLURM_NUIOA_EXPORT=none -- "${one[@]}" -- \
    "${told[@]}"
with "SLURM_NUIOA=help in a job: the program runs" "0|not nobody|0" SLURM_NUIOA=help -- \
    "${one[@]}" -- "${told[@]}"
for wrong in SLURM_NUIOA=onn SLURM_NUIOA_LEADER=first SLURM_NUIOA_LEDER=rank0 \
    SLURM_NUIOA_CACHE=/tmp/cache; do
    with "$wrong: one line, and it runs" "0|1 0|1" "$wrong" -- "${one[@]}" --leader rank0 -- \
        "${told[@]}"
    is "... the line names it" "$(grep -c "^nuioa: warning: ${wrong%%=*}: " "$work/err")" 1
done
with "... of local rank 0 only" "0|1 0|0" SLURM_NUIOA_LEDER=rank0 SLURM_NUIOA_LEADER=rank0 -- \
    "${one[@]}" --local-rank 1 -- "${told[@]}"
with "what srun sets for its nodes is no option" "0|1 0|0" SLURM_NUIOA_HINTS_LIST=0:1 \
    SLURM_NUIOA_OVERLAP=1 SLURM_NUIOA_SWITCH=off SLURM_NUIOA_SRUN=1:2:3 SLURM_NUIOA_STEP=1.2 -- \
    "${one[@]}" --leader rank0 -- "${told[@]}"
with "SLURM_NUIOA_TRACE: one line says that it needs the plugin" "0|1 0|1" \
    SLURM_NUIOA_TRACE=trace -- "${one[@]}" --leader rank0 -- "${told[@]}"
ln -s "$(ldd "$(type -P env)" | awk '/libc\.so/ { print $3 }')" "$work/libnuioa-preload.so"
with "... which has preloaded the recorder here" "0|1 0|0" SLURM_NUIOA_TRACE=trace \
    LD_PRELOAD="$work/libnuioa-preload.so" \
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
    -- "${one[@]}" --leader rank0 -- "${told[@]}"

# --- the plan -----------------------------------------------------------------------------------

# entry: of the last answer of plan, the task with the local rank
same_entries() {
    local name=$1 count=$2 i different=0
    shift 2
    run plan --topology "$hagrid" --tasks "$count" --binding none --json "$@"
    cp "$work/out" "$work/plan"
    for ((i = 0; i < count; i++)); do
        run exec --print --json --topology "$hagrid" --local-rank "$i" --local-size "$count" \
            --ranks "0-$((count - 1))" "$@"
        python3 - "$work/plan" "$work/out" "$i" <<'END' || different=$((different + 1))
import json, sys
plan, task = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
sys.exit(plan["tasks"][int(sys.argv[3])] != task)
END
    done
    is "--print --json is an entry of plan --json: $name" "$status|$different" "0|0"
}
same_entries "16 ranks" 16
same_entries "5 ranks" 5
same_entries "one" 1
same_entries "hints" 4 --hints heavy=3
same_entries "-c4" 2 --cpus-per-task 4
same_entries "latency" 6 --policy latency --hints 5:10,rest:1

# said NAME WANTED ENVIRONMENT... : what is said with these variables, up to the CPUs
by() {
    local name=$1 wanted=$2
    shift 2
    out=$(env "$@" "$tool" exec --print --topology "$hagrid" "${options[@]}" 2>&1)
    is "$name" "$(sed 's/^nuioa: [^ ]*: //; s/: CPUs.*//' <<<"$out")" "$wanted"
}
options=()
by "Open MPI" "local rank 3 of 8 (openmpi), rank 11" OMPI_COMM_WORLD_LOCAL_RANK=3 \
    OMPI_COMM_WORLD_LOCAL_SIZE=8 OMPI_COMM_WORLD_RANK=11 OMPI_COMM_WORLD_SIZE=16
by "Hydra, Intel MPI" "local rank 3 of 8 (hydra), rank 11" MPI_LOCALRANKID=3 MPI_LOCALNRANKS=8 \
    PMI_RANK=11 PMI_SIZE=16
by "MVAPICH2" "local rank 3 of 8 (mvapich), rank 11" MV2_COMM_WORLD_LOCAL_RANK=3 \
    MV2_COMM_WORLD_LOCAL_SIZE=8 MV2_COMM_WORLD_RANK=11 MV2_COMM_WORLD_SIZE=16
by "Hydra, not spawned" "local rank 0 of 2 (hydra), rank 0" MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2 \
    PMI_RANK=0 PMI_SIZE=2 PMI_SPAWNED=0
by "PALS" "local rank 3 of 8 (pals), rank 11" PALS_LOCAL_RANKID=3 PALS_LOCAL_SIZE=8 PALS_RANKID=11
by "PALS, the size from Cray PMI" "local rank 3 of 8 (pals), rank 11" PALS_LOCAL_RANKID=3 \
    PMI_LOCAL_SIZE=8 PALS_RANKID=11 PMI_RANK=11 PMI_LOCAL_RANK=3 PMI_SIZE=16
by "torchrun" "local rank 3 of 8 (torchrun), rank 11" LOCAL_RANK=3 LOCAL_WORLD_SIZE=8 RANK=11 \
    WORLD_SIZE=16
by "torchrun, more processes on the first node" "local rank 0 of 2 (torchrun), rank 5" \
    LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 RANK=5 WORLD_SIZE=7 GROUP_WORLD_SIZE=2
for i in 0 1 3; do
    by "torchrun --virtual-local-rank, $i" "local rank $i of 4 (torchrun), rank $((4 + i))" \
        LOCAL_RANK=0 LOCAL_WORLD_SIZE=4 RANK=$((4 + i)) WORLD_SIZE=8 GROUP_WORLD_SIZE=2
done
by "DeepSpeed" "local rank 3 of 8 (deepspeed), rank 11" LOCAL_RANK=3 LOCAL_SIZE=8 RANK=11 \
    WORLD_SIZE=16 CROSS_RANK=1 CROSS_SIZE=2
by "DeepSpeed, elastic" "local rank 3 of 8 (torchrun), rank 11" LOCAL_RANK=3 LOCAL_SIZE=8 \
    LOCAL_WORLD_SIZE=8 RANK=11 WORLD_SIZE=16
by "Accelerate starts torchrun, or DeepSpeed beside it" "local rank 3 of 8 (torchrun), rank 3" \
    LOCAL_RANK=3 LOCAL_WORLD_SIZE=8 RANK=3 WORLD_SIZE=8 ACCELERATE_MIXED_PRECISION=no
by "Ray Train" "local rank 1 of 2 (torchrun), rank 3" LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 RANK=3 \
    WORLD_SIZE=4 NODE_RANK=1
by "Lightning sets nothing under srun" "local rank 1 of 3 (slurm), rank 4" SLURM_LOCALID=1 \
    SLURM_PROCID=4 SLURM_GTIDS=3,4,5 SLURM_STEP_NUM_TASKS=6 SLURM_NTASKS=6
by "Flux on one node" "local rank 3 of 8 (flux), rank 3" FLUX_TASK_LOCAL_ID=3 FLUX_JOB_NNODES=1 \
    FLUX_JOB_SIZE=8 FLUX_TASK_RANK=3
by "JSM" "local rank 3 of 8 (jsm), rank 11" JSM_NAMESPACE_LOCAL_RANK=3 JSM_NAMESPACE_LOCAL_SIZE=8 \
    JSM_NAMESPACE_RANK=11 JSM_NAMESPACE_SIZE=16
by "Slurm" "local rank 1 of 3 (slurm), rank 4" SLURM_LOCALID=1 SLURM_PROCID=4 SLURM_GTIDS=3,4,5
by "Slurm without SLURM_GTIDS" "local rank 1 of 3 (slurm), rank 8" SLURM_LOCALID=1 SLURM_PROCID=8 \
    SLURM_NODEID=2 SLURM_STEP_TASKS_PER_NODE='4,3(x2)'
by "Slurm, all nodes alike" "local rank 1 of 3 (slurm), rank 8" SLURM_LOCALID=1 SLURM_PROCID=8 \
    SLURM_STEP_TASKS_PER_NODE='3(x4)'
by "Slurm comes last" "local rank 3 of 8 (hydra)" MPI_LOCALRANKID=3 MPI_LOCALNRANKS=8 \
    SLURM_LOCALID=0 SLURM_GTIDS=0 SLURM_PROCID=0
copied=(SLURM_LOCALID=1 SLURM_PROCID=4 SLURM_GTIDS=3,4,5 SLURM_STEP_NUM_TASKS=6)
by "a script has copied Slurm's numbers" "local rank 1 of 3 (slurm), rank 4" "${copied[@]}" \
    LOCAL_RANK=1 RANK=4 WORLD_SIZE=6
by "... and the number of local ranks" "local rank 1 of 3 (torchrun), rank 4" "${copied[@]}" \
    LOCAL_RANK=1 RANK=4 WORLD_SIZE=6 LOCAL_WORLD_SIZE=3
by "torchrun in a step of one task" "local rank 3 of 4 (torchrun), rank 3" SLURM_LOCALID=0 \
    SLURM_PROCID=0 SLURM_GTIDS=0 SLURM_STEP_NUM_TASKS=1 LOCAL_RANK=3 LOCAL_WORLD_SIZE=4 RANK=3 \
    WORLD_SIZE=4
for i in 0 3; do
    by "LOCAL_RANK alone, of rank 0, in local rank $i" "local rank $i of 8 (openmpi)" LOCAL_RANK=0 \
        OMPI_COMM_WORLD_LOCAL_RANK=$i OMPI_COMM_WORLD_LOCAL_SIZE=8
done
by "two that agree" "local rank 3 of 8 (openmpi)" OMPI_COMM_WORLD_LOCAL_RANK=3 \
    OMPI_COMM_WORLD_LOCAL_SIZE=8 LOCAL_RANK=3 LOCAL_WORLD_SIZE=8
options=(--local-size 8)
by "a number that was typed is not looked for in Slurm's" "local rank 3 of 8 (torchrun)" \
    LOCAL_RANK=3 SLURM_LOCALID=0 SLURM_PROCID=0 SLURM_GTIDS=0 SLURM_STEP_NUM_TASKS=1
by "Flux on several nodes" "local rank 3 of 8 (flux), rank 11" FLUX_TASK_LOCAL_ID=3 \
    FLUX_JOB_NNODES=2 FLUX_JOB_SIZE=16 FLUX_TASK_RANK=11
options=(--local-size 8 --ranks block)
by "PMIx" "local rank 3 of 8 (pmix), rank 11" PMIX_RANK=11 PMIX_NAMESPACE=prterun-n1-7@1 \
    SLURM_LOCALID=0 SLURM_GTIDS=0
options=(--launcher torchrun)
by "the launcher that is named" "local rank 1 of 2 (torchrun)" OMPI_COMM_WORLD_LOCAL_RANK=3 \
    OMPI_COMM_WORLD_LOCAL_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2
options=(--local-rank 1 --local-size 2)
by "by hand, spawned" "local rank 1 of 2 (openmpi)" OMPI_COMM_WORLD_LOCAL_RANK=0 \
    OMPI_COMM_WORLD_LOCAL_SIZE=1 OMPI_PARENT_PORT=1.0:1
by "by hand" "local rank 1 of 2" A=1
by "by hand, against the environment" "local rank 1 of 2" OMPI_COMM_WORLD_LOCAL_RANK=x LOCAL_RANK=3

# what_to_type NAME WANTED ENVIRONMENT...: the program runs, and one line contains WANTED
what_to_type() {
    local name=$1 wanted=$2
    shift 2
    out=$(env "$@" "$tool" "${patient[@]}" "${options[@]}" -- echo ran 2>"$work/err")
    is "$name" "$out|$(wc -l <"$work/err")|$(grep -cF -- "$wanted" "$work/err")" "ran|1|1"
}
options=()
what_to_type "no number" "OMPI_COMM_WORLD_LOCAL_RANK is unset or not a number: use --local-rank R" \
    OMPI_COMM_WORLD_LOCAL_RANK=x OMPI_COMM_WORLD_LOCAL_SIZE=8
what_to_type "no size" "MPI_LOCALNRANKS is unset or not a number: use --local-size N" \
    MPI_LOCALRANKID=0
what_to_type "MVAPICH2 without its size" "MV2_COMM_WORLD_LOCAL_SIZE is unset or not a number" \
    MV2_COMM_WORLD_LOCAL_RANK=0
what_to_type "PALS without a size" "PALS_LOCAL_SIZE is unset or not a number" PALS_LOCAL_RANKID=0
what_to_type "DeepSpeed without a number" "LOCAL_SIZE is unset or not a number" LOCAL_RANK=0 \
    LOCAL_SIZE=x
what_to_type "Lightning, which starts its processes itself" "LOCAL_WORLD_SIZE is unset or not" \
    LOCAL_RANK=0 NODE_RANK=0 WORLD_SIZE=4
what_to_type "Flux on several nodes says no size" "FLUX_JOB_NNODES=1" FLUX_TASK_LOCAL_ID=0 \
    FLUX_JOB_NNODES=2 FLUX_JOB_SIZE=16
what_to_type "PMIx says the rank only" \
    "PMIx gives only the rank in the job (PMIX_RANK): use --local-size N --ranks block" PMIX_RANK=0
what_to_type "Slurm says no number" "SLURM_GTIDS or SLURM_STEP_TASKS_PER_NODE" SLURM_LOCALID=0 \
    SLURM_STEP_TASKS_PER_NODE='4,3(x2)'

# once NAME WANTED N FORM...: of N processes, with these variables each, in which %d is the local
# rank, %r the rank from 4 on, all run the program, and one says WANTED
once() {
    local name=$1 wanted=$2 count=$3 i ran=0 variables
    shift 3
    : >"$work/lines"
    for ((i = 0; i < count; i++)); do
        variables=("${@//%d/$i}") variables=("${variables[@]//%r/$((i + 4))}")
        env "${variables[@]}" "$tool" "${patient[@]}" -- echo ran 2>>"$work/lines" |
            grep -q '^ran$' && ran=$((ran + 1))
    done
    is "$name" "$ran|$(wc -l <"$work/lines")|$(grep -cF -- "$wanted" "$work/lines")" "$count|1|1"
}
step=(SLURM_LOCALID=%d SLURM_PROCID=%r SLURM_GTIDS=4,5,6,7 SLURM_STEP_NUM_TASKS=8)
ompi=(OMPI_COMM_WORLD_LOCAL_RANK=%d OMPI_COMM_WORLD_LOCAL_SIZE=4 OMPI_COMM_WORLD_RANK=%r
    OMPI_COMM_WORLD_SIZE=8)
once "once for the node: a local rank of another step" \
    "SLURM_LOCALID=0 and LOCAL_RANK=3 contradict each other: use --launcher slurm or \
--launcher torchrun" 4 "${step[@]}" LOCAL_RANK=3 RANK=%r WORLD_SIZE=8
once "... which is that of rank 0" "SLURM_LOCALID=1 and LOCAL_RANK=0 contradict" 4 "${step[@]}" \
    LOCAL_RANK=0 RANK=%r WORLD_SIZE=8
once "... a rank of another step" "SLURM_PROCID=4 and RANK=0 contradict" 4 "${step[@]}" \
    LOCAL_RANK=%d RANK=0 WORLD_SIZE=8
once "... which is that of the first one" "SLURM_PROCID=5 and RANK=4 contradict" 4 "${step[@]}" \
    LOCAL_RANK=%d RANK=4 WORLD_SIZE=8
once "... all numbers are those of the job's first rank" "SLURM_PROCID=4 and RANK=0 contradict" 4 \
    "${step[@]}" LOCAL_RANK=0 RANK=0 WORLD_SIZE=8
once "... of the node's first one" "SLURM_LOCALID=1 and LOCAL_RANK=0 contradict" 4 \
    "${step[@]}" LOCAL_RANK=0 RANK=4 WORLD_SIZE=8
once "... the size of the job, of which this is one step" \
    "SLURM_STEP_NUM_TASKS=8 and WORLD_SIZE=16 contradict" 4 "${step[@]}" LOCAL_RANK=%d RANK=%r \
    WORLD_SIZE=16
once "... a part of the numbers is there" "LOCAL_WORLD_SIZE is unset or not a number" 4 \
    "${step[@]}" LOCAL_RANK=%d
once "... two launchers" "OMPI_COMM_WORLD_LOCAL_RANK=0 and LOCAL_RANK=1 contradict" 4 "${ompi[@]}" \
    LOCAL_RANK=1 RANK=%r
once "... and their sizes" "OMPI_COMM_WORLD_LOCAL_SIZE=4 and LOCAL_WORLD_SIZE=2 contradict" 4 \
    "${ompi[@]}" LOCAL_RANK=%d LOCAL_WORLD_SIZE=2
once "... workers of one process of a launcher" \
    "OMPI_COMM_WORLD_LOCAL_SIZE=1 and LOCAL_WORLD_SIZE=4 contradict" 4 \
    OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1 LOCAL_RANK=%d LOCAL_WORLD_SIZE=4
once "... DeepSpeed's size, and torchrun's" "LOCAL_WORLD_SIZE=4 and LOCAL_SIZE=2 contradict" 4 \
    LOCAL_RANK=%d LOCAL_WORLD_SIZE=4 LOCAL_SIZE=2
once "... spawned ranks" \
    "spawned ranks are not placed: openmpi does not say which ranks started them" 4 "${ompi[@]}" \
    OMPI_PARENT_PORT=204800001.0:3373690132
once "... of MPICH" "spawned ranks are not placed: hydra" 2 MPI_LOCALRANKID=%d MPI_LOCALNRANKS=2 \
    PMI_RANK=%d PMI_SPAWNED=1
once "... another launch's local rank, which need not be 0" "and LOCAL_WORLD_SIZE=2 contradict" \
    4 "${ompi[@]}" LOCAL_RANK=1 LOCAL_WORLD_SIZE=2
once "... or that of the other launcher" "OMPI_COMM_WORLD_LOCAL_SIZE=4 and LOCAL_WORLD_SIZE=3" 3 \
    OMPI_COMM_WORLD_LOCAL_RANK=2 OMPI_COMM_WORLD_LOCAL_SIZE=4 LOCAL_RANK=%d LOCAL_WORLD_SIZE=3
once "... no number" "OMPI_COMM_WORLD_LOCAL_RANK=x and LOCAL_RANK=0 contradict" 4 \
    OMPI_COMM_WORLD_LOCAL_RANK=x LOCAL_RANK=%d
once "... a local rank that is too large" "local rank 2 of 2 is not possible" 3 \
    MPI_LOCALRANKID=%d MPI_LOCALNRANKS=2
what_to_type "a rank alone: it is too large" "local rank 5 of 2 is not possible" LOCAL_RANK=5 \
    LOCAL_WORLD_SIZE=2
what_to_type "... nobody says how many there are" "LOCAL_WORLD_SIZE is unset or not" LOCAL_RANK=3
options=(--local-rank 1)
what_to_type "... it was typed" "no launcher found of" A=1
options=(--local-rank 5)
what_to_type "... and the launcher says how many" "local rank 5 of 2 is not possible" \
    OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2
options=(--hints heavy=0)
what_to_type "hints need the ranks of the others" "--ranks block" OMPI_COMM_WORLD_LOCAL_RANK=0 \
    OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4

# leader ENVIRONMENT...: what a process is told of the leader
leader() {
    env "$@" "$tool" "${patient[@]}" "${options[@]}" -- env 2>&1 | sed -n 's/^NUIOA_ORDER=//p'
}
options=()
is "no consecutive ranks: DeepSpeed with unlike nodes" "$(leader LOCAL_RANK=1 LOCAL_SIZE=2 RANK=3 \
    WORLD_SIZE=5 CROSS_SIZE=2)" ""
is "... with equal ones" "$(leader LOCAL_RANK=1 LOCAL_SIZE=2 RANK=5 WORLD_SIZE=6 CROSS_SIZE=3 |
    tr , '\n' | sort | xargs)" "4 5"
is "consecutive ranks: torchrun" "$(leader LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 RANK=4 WORLD_SIZE=8 |
    tr , '\n' | sort | xargs)" "4 5"
ompi=(OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_RANK=4)
is "no leader where the ranks of the others are not known" "$(leader "${ompi[@]}")" ""
options=(--ranks block)
is "... --ranks block says it" "$(leader "${ompi[@]}" | tr , '\n' | sort | xargs)" "4 5"
options=()
is "Slurm says them, in a heterogeneous step, too" "$(leader SLURM_LOCALID=1 SLURM_PROCID=7 \
    SLURM_GTIDS=0,2 | tr , '\n' | sort | xargs)" "5 7"

# --- GPUs ---------------------------------------------------------------------------------------

# nic VARIABLE...: the NIC of a process with these variables; each GPU has a NIC beside it
nic() {
    env "$@" "$tool" exec --print --json --topology "$machines/gpus.xml" --local-rank 1 \
        --local-size 4 | python3 -c 'import json, sys; print(json.load(sys.stdin)["nic"])'
}
unset "${!CUDA_@}" "${!ROCR_@}" "${!HIP_@}" "${!ZE_@}" GPU_DEVICE_ORDINAL
other=$(nic A=1)
for gpu in 0 1 2 3; do
    is "the NIC is beside the GPU of this process: GPU $gpu" \
        "$(nic "CUDA_VISIBLE_DEVICES=$gpu")" "mlx5_$gpu:1"
done
for list in 2-3 " 2" 2,2 MIG-2 GPU-2; do
    is "... as without a GPU, if it is not known: $list" \
        "$(nic "CUDA_VISIBLE_DEVICES=$list")" "$other"
done

# gpus=local-rank: each process has the one of its local rank among those that all see.
# by_rank WORD VARIABLE...: the GPUs of eight local ranks; "-" unknown
by_rank() {
    local word=$1 i
    shift
    for i in 0 1 2 3 4 5 6 7; do
        env "$@" "$tool" exec --print --json --topology "${shape:-$machines/gpus.xml}" \
            --gpus "$word" --local-rank $i --local-size 8 | python3 -c '
import json, sys
gpus = json.load(sys.stdin)["gpus"]
print("-" if gpus is None else ",".join(map(str, gpus)), end=" ")'
    done
}
is "gpus=local-rank: i mod G" "$(by_rank local-rank A=1)" "0 1 2 3 0 1 2 3 "
is "gpus=local-rank:block: i * G / R" "$(by_rank local-rank:block A=1)" "0 0 1 1 2 2 3 3 "
is "... in the order of the variable" "$(by_rank local-rank CUDA_VISIBLE_DEVICES=2,0)" \
    "2 0 2 0 2 0 2 0 "
is "... which names one: that is its own" "$(by_rank local-rank CUDA_VISIBLE_DEVICES=3)" \
    "3 3 3 3 3 3 3 3 "
is "... a part of Slurm's step, which a launcher's processes all see" "$(by_rank local-rank \
    CUDA_VISIBLE_DEVICES=2,3 SLURM_GPUS_ON_NODE=4)" "2 3 2 3 2 3 2 3 "
is "... none" "$(by_rank local-rank CUDA_VISIBLE_DEVICES=)" "        "
is "auto assumes nothing" "$(by_rank auto A=1)" "- - - - - - - - "
shape=$machines/gpu-paths.xml
is "unknown where the order of a mixed node is" "$(by_rank local-rank A=1)" "- - - - - - - - "
unset shape

# With the word typed CPUs follow, and all processes make the same plan, that of nuioa plan.
hagrid=$machines/gpus/hgx-h100.xml
same_entries "gpus=local-rank" 8 --gpus local-rank
same_entries "gpus=local-rank:block, half as many" 4 --gpus local-rank:block
same_entries "gpus=local-rank, twice as many" 16 --gpus local-rank
hagrid=$machines/hagrid5.xml

# said NAME PATTERN ARGUMENT...: what is printed for local rank 1 of 8 on a node with 8 GPUs
said() {
    local name=$1 pattern=$2
    shift 2
    run exec --print --topology "$machines/gpus/hgx-h100.xml" "$@"
    is "$name" "$(grep -cE -- "$pattern" "$work/out")" 1
}
one=(--local-rank 1 --local-size 8)
said "which GPU it has, and that its CPUs follow" \
    ': CPUs [0-9,-]+, GPU 0000:[0-9a-f:.]+, to GPU 0, memory .* mlx5_1:1, .*: CPUs follow GPUs' \
    "${one[@]}" --gpus local-rank
said "nobody is bound where it is not known" \
    ': CPUs [0-9,-]+ kept, memory .*: which rank has which GPU is unknown: ranks stay' "${one[@]}"
export LOCAL_RANK=1 LOCAL_WORLD_SIZE=8 RANK=1 WORLD_SIZE=8
said "torchrun: it is told the NIC of its GPU, and stays" \
    ': CPUs [0-9,-]+ kept, GPU 0000:[0-9a-f:.]+, to GPU 1, memory .* mlx5_1:1, .*as the launcher'
said "... with the word typed it moves" ': CPUs [0-9,-]+, GPU .*: CPUs follow GPUs' \
    --gpus local-rank
said "... gpus=keep is typed: nothing is assumed" ': CPUs [0-9,-]+ kept, memory' --gpus keep
unset LOCAL_RANK LOCAL_WORLD_SIZE RANK WORLD_SIZE

# One list for all processes is nobody's own; a part of the step's is.
lists() { # NAME WANTED SIZE VARIABLE...: the number of GPUs that the process has; "-": unknown
    local name=$1 wanted=$2 size=$3
    shift 3
    is "$name" "$(env "$@" "$tool" exec --print --json --topology "$machines/gpus.xml" \
        --local-rank 0 --local-size "$size" | python3 -c '
import json, sys
gpus = json.load(sys.stdin)["gpus"]
print("-" if gpus is None else len(gpus))')" "$wanted"
}
all=CUDA_VISIBLE_DEVICES=0,1,2,3
lists "all GPUs, inherited by all" - 4 $all SLURM_GPUS_ON_NODE=4
lists "... in a step" - 4 $all SLURM_STEP_GPUS=0,1,2,3
lists "... without Slurm" - 4 $all
lists "... of one process" 4 1 $all SLURM_STEP_GPUS=0,1,2,3
lists "a part of the step's" 2 2 CUDA_VISIBLE_DEVICES=2,3 SLURM_GPUS_ON_NODE=4
lists "... which Slurm calls the step's" 2 2 CUDA_VISIBLE_DEVICES=2,3 SLURM_STEP_GPUS=2,3 \
    SLURM_GPUS_ON_NODE=4
lists "the step's, a part of the node's" - 2 CUDA_VISIBLE_DEVICES=2,3 SLURM_STEP_GPUS=2,3 \
    SLURM_GPUS_ON_NODE=2
for bind in gpu:closest gpu:mask_gpu:3,3; do
    lists "a part that others may have, too: $bind" - 4 CUDA_VISIBLE_DEVICES=2,3 \
        SLURM_GPUS_ON_NODE=4 SLURM_TRES_BIND=$bind
done
lists "one GPU, shared or not" 1 4 CUDA_VISIBLE_DEVICES=2 SLURM_STEP_GPUS=2 SLURM_GPUS_ON_NODE=1

# A GPU that cannot be found on this node: nothing may keep the process from its NIC.
# filters VARIABLE...: how many variables of other programs are set beside these
filters() {
    env "$@" "$tool" "${patient[@]}" --local-rank 0 --local-size 2 --export ucx,ofi -- env |
        grep -cE '^(UCX|FI)_'
}
# --print shows them for another machine, and for this one what the process would really get.
for check in "HOME=/|exports: UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1" "UCX_TLS=all|" \
    "UCX_NET_DEVICES=mlx5_3:1|"; do
    is "--print: the variables of other libraries, ${check%|*}" \
        "$(env -u UCX_TLS "${check%|*}" "$tool" exec --print --topology "$machines/four-rails.xml" \
            --local-rank 0 --local-size 8 --rails connected | grep ^exports)" "${check#*|}"
done
is "--print --json: the same" "$("$tool" exec --print --json --topology "$machines/four-rails.xml" \
    --local-rank 7 --local-size 8 --rails connected |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["exports"])')" \
    "{'UCX_NET_DEVICES': 'mlx5_3:1,mlx5_0:1'}"

# emulated ARGUMENT...: what export=auto gives a process whose hwloc reads a file
emulated() {
    env -u UCX_TLS HWLOC_XMLFILE="$machines/four-rails.xml" "$tool" "${patient[@]}" \
        --local-rank 0 --local-size 8 --rails connected "$@" | grep -E '^(exports:|UCX_NET_)'
}
is "HWLOC_XMLFILE: --print shows the NICs of that machine" "$(emulated --print)" \
    "exports: UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1"
is "... and a program, which runs on this one, is not told of them" "$(emulated -- env)" ""

# tells NAME WANTED VARIABLE... -- ARGUMENT...: what a process says that may see GPUs
tells() {
    local name=$1 wanted=$2 env=(HWLOC_XMLFILE="$machines/gpus.xml")
    shift 2
    while [ "$1" != -- ]; do env+=("$1"); shift; done
    like "$name" "$(env "${env[@]}" "$tool" "${patient[@]}" "${@:2}" 2>&1 | tr '\n' ' ')" "$wanted"
}
libraries=(--nuioa=report --export env,ucx)
tells "a report: a GPU that is unknown" \
    "^nuioa: export: no variable chooses NICs: this process' GPUs are unknown nuioa: n1, " \
    CUDA_VISIBLE_DEVICES=GPU-1 -- "${libraries[@]}" --local-rank 0 --local-size 2 -- true
torchrun=(RANK=0 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 WORLD_SIZE=2)
tells "a report: a GPU that is assumed" \
    '^nuioa: export: no .* the GPU of each rank is only assumed\. Use --gpus=local-rank nuioa: n1' \
    "${torchrun[@]}" -- "${libraries[@]}" -- true
tells "... and then named" '^nuioa: n1, 2 ranks' "${torchrun[@]}" -- "${libraries[@]}" \
    --gpus=local-rank -- true
placed=(SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_NUIOA_STEP=7.0 SLURM_PROCID=0 SLURM_LOCALID=0
    SLURM_NTASKS=1 SLURM_GTIDS=0 SLURM_NODEID=0
    NUIOA_CPUS="$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/self/status)")
tells "a rank that the plugin has placed" \
    '^nuioa: the plugin has placed this rank: nothing is left to do $' \
    "${placed[@]}" CUDA_VISIBLE_DEVICES= -- --nuioa=report -- true
tells "... and its NIC" \
    ' NIC mlx5_3:1: the plugin has placed this rank: nothing is left to do $' \
    "${placed[@]}" NUIOA_NICS=mlx5_3:1 -- --print
tells "... and given a GPU since" \
    ': the plugin placed this rank without knowing its GPUs: it gets their NICs ' \
    "${placed[@]}" CUDA_VISIBLE_DEVICES=0 -- --print
tells "... which the plugin knew" ': the plugin has placed this rank: nothing is left to do ' \
    "${placed[@]}" CUDA_VISIBLE_DEVICES=0 NUIOA_GPUS=0000:12:00.0 -- --print

# What nuioa has set in a rank of an outer step goes, what the user has changed since stays.
inherited() {
    local value=$1
    shift
    [ $# -gt 0 ] || set -- --local-rank 0 --local-size 2
    env NUIOA_EXPORTED=UCX_NET_DEVICES UCX_NET_DEVICES="$value" \
        SLURM_NUIOA_EXPORTED=UCX_NET_DEVICES=mlx5_7:1 \
        "$tool" "${patient[@]}" "$@" -- env 2>/dev/null |
        grep -E '^(UCX_NET|NUIOA_EXPORTED|SLURM_NUIOA_EX)'
}
is "exec takes back what an outer step has set" "$(inherited mlx5_7:1)" ""
is "... and not what the user has set" "$(inherited mlx5_6:1)" UCX_NET_DEVICES=mlx5_6:1
is "... and --print shows what then is set" "$(env NUIOA_EXPORTED=UCX_NET_DEVICES \
    UCX_NET_DEVICES=mlx5_7:1 SLURM_NUIOA_EXPORTED=UCX_NET_DEVICES=mlx5_7:1 "$tool" exec --print \
    --topology "$machines/four-rails.xml" --local-rank 0 --local-size 8 --rails connected |
    grep ^exports)" "exports: UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1"
is "... where it does not know the local rank, too" "$(inherited mlx5_7:1 --local-rank 0)" ""
in_step() { SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_NUIOA_STEP=$1 inherited "${@:2}" | wc -l; }
is "... nor what the plugin has set in this step" "$(in_step 7.0 mlx5_7:1 --local-rank 0)" 3
is "... unlike in another one" "$(in_step 7.1 mlx5_7:1 --local-rank 0)" 0
is "... but with off nothing changes" "$(inherited mlx5_7:1 --nuioa=off | wc -l)" 3

if [ "$(filters CUDA_VISIBLE_DEVICES=)" = 0 ]; then
    skip "variables that choose NICs" "this machine has no NIC that counts"
else
    for gpu in ROCR_VISIBLE_DEVICES=7 ROCR_VISIBLE_DEVICES=0,1 ZE_AFFINITY_MASK=3 \
        CUDA_VISIBLE_DEVICES=GPU-8932f937 \
        CUDA_VISIBLE_DEVICES=MIG-8932f937-d72c-4106-c12f-20bd9faed9f6; do
        is "no variable chooses NICs where the GPU is unknown: $gpu" "$(filters "$gpu")" 0
    done
fi

# --- CPUs that are bound ------------------------------------------------------------------------

cpus=$(nproc --all)
if [ "$cpus" -gt 1 ] && [ "$(nproc)" = "$cpus" ]; then
    first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    mask='grep Cpus_allowed_list /proc/self/status | tr -dc 0-9,-'
    is "what is bound stays" \
        "$(taskset -c "$first" \
            "$tool" "${patient[@]}" --local-rank 1 --local-size 2 -- sh -c "$mask")" "$first"
    if "$tool" topo --json | grep -q '"level": \[[0-9].*"usable": true'; then
        is "two ranks divide the CPUs" "$(for i in 0 1; do
            "$tool" "${patient[@]}" --local-rank $i --local-size 2 --cores share -- sh -c "$mask"
            echo
        done | sort -u | grep -c .)" 2
    else
        skip "two ranks divide the CPUs" "no NIC whose NUMA node is known here"
    fi
else
    skip "what is bound stays" "one CPU, or this test is bound"
fi

# --- a NIC that is down ---------------------------------------------------------------------------

# This machine has not the port that the file has.
HWLOC_XMLFILE="$hagrid" HWLOC_THISSYSTEM=1 "$tool" exec --print --deadline-ms 60000 --nic mlx5_0 \
    --local-rank 0 --local-size 2 >"$work/out" 2>"$work/err"
is "a requested NIC that is down: it is named, and none is promised" \
    "$(<"$work/err")|$(grep -c 'memory default: no usable NIC is up: ranks ' "$work/out")" \
    "nuioa: warning: nic: mlx5_0 port is down, not used|1"

# Ports of which one is down. This machine may have none, so its class is a directory of this test.
if "${CC:-cc}" -shared -fPIC -xc -o "$work/ports.so" - 2>"$work/cc" <<'END'; then
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int open(const char *path, int flags, ...)
{
    const char *ports = strcmp(path, "/sys/class/infiniband") ? path : getenv("PORTS");
    return (int)syscall(SYS_openat, AT_FDCWD, ports, flags, 0600);
}
int open64(const char *path, int flags, ...) { return open(path, flags); }
END
    for i in 0 1 2 3; do
        mkdir -p "$work/ports/mlx5_$i/ports/1"
        echo "4: ACTIVE" >"$work/ports/mlx5_$i/ports/1/state"
    done
    # ports_named: those that a library is told, where all connect
    ports_named() {
        env LD_PRELOAD="$work/ports.so" PORTS="$work/ports" HWLOC_THISSYSTEM=1 \
            HWLOC_XMLFILE="$machines/four-rails.xml" \
            ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" "$tool" exec \
            --print --deadline-ms 60000 --export ucx --local-rank 0 --local-size 8 |
            sed -n 's/^exports: UCX_NET_DEVICES=//p'
    }
    is "all ports are up: all are named" "$(ports_named)" mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1
    echo "1: DOWN" >"$work/ports/mlx5_3/ports/1/state"
    is "... one is down, which is the NIC of other ranks: it is not named" "$(ports_named)" \
        mlx5_0:1,mlx5_1:1,mlx5_2:1
else
    skip "a port that is down" "no compiler"
fi

# --- CPUs that the kernel refuses ---------------------------------------------------------------

if [ "$(nproc)" -gt 1 ] && [ "$(nproc --all)" -le 16 ] &&
    "${CC:-cc}" -shared -fPIC -xc -o "$work/refuse.so" - 2>"$work/cc" <<'END'; then
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
/* All CPUs may be asked for, to see which there are; nothing else is set. */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    if (CPU_COUNT_S(size, set) > 1024)
        return (int)syscall(SYS_sched_setaffinity, pid, size, set);
    errno = EINVAL;
    return -1;
}
END
    refused=(LD_PRELOAD="$work/refuse.so" HWLOC_XMLFILE="$hagrid" HWLOC_THISSYSTEM=1
        ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0")
    # shellcheck disable=SC2016 # the rank's shell
    told=(sh -c 'echo "${NUIOA_CPUS-none} ${NUIOA_LEADER-nobody}"')
    mine=$(taskset -cp $$ | sed 's/.*: //; s/,/-/')
    with "the kernel refuses to bind: the CPUs stay, and nobody leads" "0|$mine nobody|2" \
        "${refused[@]}" -- --deadline-ms 60000 --local-rank 0 --local-size 2 --ranks 0,1 \
        --nuioa=report --cores share --hints heavy=0 -- "${told[@]}"
    is "... which is said" "$(grep -c 'local rank 0 may not run on all of CPUs' "$work/err") $(
        grep -c 'CPUs .* kept.*: its CPUs could not be set: they stay' "$work/err")" "1 1"
else
    skip "the kernel refuses to bind" "one CPU, more than 16, or no compiler"
fi

done_testing
