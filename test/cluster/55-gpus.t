#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Steps with GPUs, on a cluster of its own whose nodes have files that Slurm takes for GPUs: no
# variable keeps a task whose GPUs nobody can find from a NIC, NCCL's is set only where nic= is.
. "$(dirname "$0")/testlib.sh"
line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_GPUS=4 "$here/up" 2 --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup
cat >"$CLUSTER_DIR/home/gpus" <<'END'
#!/bin/sh
/usr/bin/env | /bin/grep -E '^(NUIOA_NIC|NUIOA_GPUS|UCX|NCCL|FI|CUDA|SLURM_STEP_GPUS)' |
    /bin/sed "s/^/$SLURM_PROCID /"
[ -z "$SLURM_TEST_STARTED" ] || : >"$SLURM_TEST_STARTED/$SLURM_JOB_ID.$SLURM_STEP_ID.$SLURM_PROCID"
END
chmod +x "$CLUSTER_DIR/home/gpus"

# gpus N [SRUN-ARG]...: of N ranks
gpus() { tally "$1" srun -n "$@" "$home/gpus"; }
lines() { grep -c "$1" <<<"$err"; }

# --- variables that choose NICs: of this machine's, for nothing is exported of a topology file's

# unknown COUNT RANKS: what the report says where nobody knows the GPUs of COUNT ranks
unknown() {
    echo "export: $1 of $2 ranks get no variable that chooses NICs: their GPUs are unknown"
}
plugin on "${patient[@]}" default=export export=env,ucx,nccl
gpus 1 -N1
nic=$(of 0 NUIOA_NIC)
if [ -z "$nic" ]; then
    skip "variables that choose NICs" "this machine has no NIC that counts"
else
    is "no GPU in the step: UCX is told" "$(of 0 UCX_NET_DEVICES)" "$nic"
    is "NCCL is told nothing while nobody says nic=" "$(grep -c NCCL_ <<<"$out")" 0
    gpus 1 -N1 --nuioa=export,report
    is "no GPU: nothing to report" "$(lines ' export: ')" 0
    gpus 2 -N1 --nuioa-nic="$nic"
    is "NCCL is told what nic= takes" "$(all NCCL_IB_HCA)$(all NCCL_SOCKET_IFNAME)" "=$nic =$nic"

    gpus 1 -N1 --gpus-per-node=1 --nuioa-nic="$nic"
    is "one GPU that this node does not describe: it is told its NIC" \
        "$(of 0 CUDA_VISIBLE_DEVICES)|$(of 0 NUIOA_NIC)" "0|$nic"
    is "one GPU: no variable narrows it" "$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" 0
    gpus 2 -N1 --gpus-per-task=1 --nuioa-nic="$nic" --nuioa=export,report
    is "a GPU for each task: no variable" \
        "$(all CUDA_VISIBLE_DEVICES)|$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" "0 1|0"
    is "the report says it of both" "$(lines "$(unknown 2 2)")" 1

    gpus 1 -N1 --gpus-per-node=4 --nuioa-nic="$nic"
    is "four GPUs: it is told its NIC" "$(of 0 CUDA_VISIBLE_DEVICES)|$(of 0 NUIOA_NIC)" \
        "0,1,2,3|$nic"
    is "four GPUs: no variable narrows it" "$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" 0
    is "without a report not a word" "$err" ""
    gpus 1 -N1 --gpus-per-node=4 --nuioa-nic="$nic" --nuioa=export,report
    is "the report says why, once" "$(lines "$(unknown 1 1)")" 1
    note "$err"
    gpus 2 -N1 --gpus-per-task=2 --nuioa-nic="$nic"
    is "two GPUs for each task: no variable" \
        "$(all NUIOA_NIC)|$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" "$nic $nic|0"
    gpus 2 -N1 --gpus-per-node=2 --nuioa-nic="$nic"
    is "two GPUs for both tasks: no variable" \
        "$(all NUIOA_NIC)|$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" "$nic $nic|0"
    tally 2 salloc -n2 -N1 --gpus-per-node=4 srun --gpu-bind=none "$home/gpus"
    is "GPUs that are not bound: no variable" \
        "$(all NUIOA_NIC)|$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" "$nic $nic|0"
    tally 1 env UCX_NET_DEVICES=mine srun -n 1 -N1 --gpus-per-node=4 "$home/gpus"
    is "the user's own stays" "$(of 0 UCX_NET_DEVICES)" mine
fi

# --- NICs of each task's GPUs: in test/topologies/gpus.xml NIC k and GPU k share a PCI bridge -----

for node in node1 node2; do
    install -m 0644 "$here/../topologies/gpus.xml" "$CLUSTER_DIR/nodes/$node/gpus.xml"
done
plugin on topology=/run/node/gpus.xml "${patient[@]}" default=export export=env
reversed="mlx5_3:1 mlx5_2:1 mlx5_1:1 mlx5_0:1"
in_order="mlx5_0:1 mlx5_1:1 mlx5_2:1 mlx5_3:1"
gpus 4 -N1 --gpus=4 --gpu-bind=map_gpu:3,2,1,0
is "each task looks up the NIC of its own GPU" \
    "$(all CUDA_VISIBLE_DEVICES)|$(all NUIOA_NIC)" "3 2 1 0|$reversed"
gpus 4 -N1 --gpus-per-task=1
is "GPUs in order: NICs in order" "$(all NUIOA_NIC)" "$in_order"
gpus 4 -N1 --gpus=4 --gpu-bind=map_gpu:3,2,1,0 --nuioa=on,report
is "the plan waits for the tasks and has the same NICs" "$(all NUIOA_NIC)" "$reversed"
is "so has the report" \
    "$(sed -n 's/^  node1  *\([0-3]\) .*\(mlx5_[0-3]:1\).*/\1 \2/p' <<<"$err" |
        sort | cut -d' ' -f2 | xargs)" "$reversed"
is "and the level of each rank from its GPU" \
    "$(grep -cE '^  node1 .* [0-3]    [0-9]       PIX$' <<<"$err")|$(grep -c 'GPU  to GPU  path' \
        <<<"$err")" "4|1"
gpus 8 -N2 --ntasks-per-node=4 --gpus-per-node=4 --gpu-bind=map_gpu:3,2,1,0 --nuioa
is "two nodes choose alike" "$(all NUIOA_NIC)" "$reversed $reversed"
gpus 2 -N1 --gpus=4 --gpu-bind=mask_gpu:0x8,0x4 --nuioa=export
is "of two ranks, too" "$(all NUIOA_NIC)" "mlx5_3:1 mlx5_2:1"
gpus 2 -N1 --gpus=4 --gpu-bind=none --nuioa
is "nobody knows which GPUs: a NIC all the same, and no GPU is named" \
    "$(all NUIOA_NIC | wc -w)|$(grep -c NUIOA_GPUS <<<"$out")" "2|0"
gpus 4 -N1 --gpus=4 --nuioa-gpus=local-rank
is "all see all, and each takes the one of its local rank" \
    "$(all CUDA_VISIBLE_DEVICES)|$(all NUIOA_NIC)" "0,1,2,3 0,1,2,3 0,1,2,3 0,1,2,3|$in_order"
gpus 2 -N1 --gpus=4 --nuioa-gpus=local-rank:block --nuioa
is "... in blocks" "$(all NUIOA_NIC)" "mlx5_0:1 mlx5_2:1"
gpus 4 -N1 --gpus=4 --gpu-bind=none --nuioa-gpus=local-rank
is "... and without a variable" "$(all NUIOA_NIC)" "$in_order"
plugin off
finish
