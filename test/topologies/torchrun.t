#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa exec under torchrun, on nodes of many shapes: each worker is told the GPU that it takes as
# cuda:LOCAL_RANK, and NICs nearest to it, held against gpu_oracle.py. The variables are those that
# torchrun's agent sets (torch/distributed/elastic/agent/server/local_elastic_agent.py). Nobody
# moves, and without torchrun nothing is assumed.

. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" "${!CUDA_@}" "${!ROCR_@}" "${!HIP_@}" "${!ZE_@}" "${!PMI_@}" "${!OMPI_@}"
unset "${!PMIX_@}" GPU_DEVICE_ORDINAL OMP_NUM_THREADS

# worker I COUNT COMMAND...: as worker I of COUNT on the second node of two
worker() {
    local i=$1 count=$2
    shift 2
    env LOCAL_RANK="$i" LOCAL_WORLD_SIZE="$count" RANK=$((count + i)) WORLD_SIZE=$((2 * count)) \
        GROUP_RANK=1 GROUP_WORLD_SIZE=2 ROLE_RANK=$((count + i)) ROLE_WORLD_SIZE=$((2 * count)) \
        ROLE_NAME=default MASTER_ADDR=n1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none \
        TORCHELASTIC_RESTART_COUNT=0 TORCHELASTIC_MAX_RESTARTS=0 OMP_NUM_THREADS=1 "$@"
}

# told XML COUNT: writes what COUNT workers are told, as a plan
told() {
    local i
    {
        echo '{ "tasks": ['
        for ((i = 0; i < $2; i++)); do
            [ "$i" = 0 ] || echo ,
            worker "$i" "$2" timeout 60 "$tool" exec --print --json --topology "$1" || return 1
        done
        echo '] }'
    } >"$work/plan.json"
}

# right XML COUNT
right() {
    timeout 60 "$tool" topo --topology "$1" --json >"$work/topo.json" && told "$1" "$2" &&
        "$here/gpu_oracle.py" rule "$1" "$work/topo.json" <"$work/plan.json"
}

# field KEY: its distinct values in the plan
field() {
    python3 -c '
import json, sys
plan = json.load(open(sys.argv[1]))
print(*sorted({str(task[sys.argv[2]]) for task in plan["tasks"]}))' "$work/plan.json" "$1"
}

check_shape() {
    local gpus
    gpus=$("$here/gpu_oracle.py" gpus "$2" one | tr -cd ';' | wc -c)
    ok "$1: 8 workers" right "$2" 8
    is "$1: ... nobody moves" "$(field cpus | wc -w)" 1
    [ "$gpus" = 7 ] || ok "$1: as many as GPUs, $((gpus + 1))" right "$2" $((gpus + 1))
}

if [ -z "$tool" ]; then
    skip_all "torchrun" "$no_tool"
fi
for path in "$here"/gpus/*.xml; do
    [ "$(basename "$path" .xml)" != aurora ] || continue
    check_shape "$(basename "$path" .xml)" "$path"
done
# Level Zero takes each tile of Intel's GPUs for a device by default, so the order is not known.
told "$here/gpus/aurora.xml" 6
is "aurora: nobody is told a GPU" "$(field gpus)" None
told "$here/gpu-paths.xml" 8
is "GPUs of several vendors: nobody is told one" "$(field gpus)" None
for i in 0 5; do
    is "without torchrun nobody is told one: $i" "$(
        "$tool" exec --print --json --topology "$here/gpus/dgx-a100.xml" --local-rank $i \
            --local-size 8 | python3 -c 'import json, sys; print(json.load(sys.stdin)["gpus"])')" \
        None
done

corpus=${NUIOA_CORPUS:-$top/../shared/corpus}
found=0
for path in "$corpus"/nccl-*.xml; do
    [ -r "$path" ] || continue
    found=$((found + 1))
    name=$(basename "$path" .xml)
    "$here/nccl_to_hwloc.py" "$path" "$work/$name.xml" && check_shape "$name" "$work/$name.xml"
done
[ "$found" -gt 0 ] ||
    skip "machines as NCCL describes them" "no corpus in $corpus (env NUIOA_CORPUS)"
done_testing
