#!/bin/bash
# Steps with GPUs, on a cluster of its own whose nodes have files that Slurm takes for GPUs: no variable
# narrows a task with several of them to one NIC, and NCCL's is set only where nic= is.
. "$(dirname "$0")/testlib.sh"
line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_GPUS=4 "$here/up" 2 --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup
need_plugin
cat >"$CLUSTER_DIR/home/gpus" <<'END'
#!/bin/sh
/usr/bin/env | /bin/grep -E '^(NUIOA_COLL|NUIOA_NIC|UCX|NCCL|FI|CUDA|SLURM_STEP_GPUS)' | /bin/sed "s/^/$SLURM_PROCID /"
[ -z "$SLURM_TEST_STARTED" ] || : >"$SLURM_TEST_STARTED/$SLURM_JOB_ID.$SLURM_STEP_ID.$SLURM_PROCID"
END
chmod +x "$CLUSTER_DIR/home/gpus"

# gpus N [SRUN-ARG]...: of N ranks
gpus() { tally "$1" srun -n "$@" "$home/gpus"; }
lines() { grep -c "$1" <<<"$err"; }

# --- variables that name one NIC: of this machine's, for nothing is exported of a topology file's ----------

several='export: no variable names one NIC to a task that has several GPUs, or may have'
plugin on "${patient[@]}" default=export export=env,ucx,nccl
gpus 1 -N1 --gpus-per-node=1
nic=$(of 0 NUIOA_NIC)
if [ -z "$nic" ]; then
    skip "variables that name one NIC" "this machine has no NIC that counts"
else
    is "one GPU: UCX is told its NIC" "$(of 0 CUDA_VISIBLE_DEVICES)|$(of 0 UCX_NET_DEVICES)" "0|$nic"
    is "NCCL is told nothing while nobody says nic=" "$(grep -c NCCL_ <<<"$out")" 0
    gpus 1 -N1 --gpus-per-node=1 --nuioa=export,report
    is "one GPU: nothing to report" "$(lines ' export: ')" 0
    gpus 2 -N1 --gpus-per-task=1 --nuioa-nic="$nic"
    is "a GPU for each task: UCX is told" "$(all CUDA_VISIBLE_DEVICES)|$(all UCX_NET_DEVICES)" "0 1|$nic $nic"
    is "NCCL is told what nic= takes" "$(all NCCL_IB_HCA)$(all NCCL_SOCKET_IFNAME)" "=$nic =$nic"

    gpus 1 -N1 --gpus-per-node=4 --nuioa-nic="$nic"
    is "four GPUs: it is told its NIC" "$(of 0 CUDA_VISIBLE_DEVICES)|$(of 0 NUIOA_NIC)" "0,1,2,3|$nic"
    is "four GPUs: no variable narrows it" "$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" 0
    is "without a report not a word" "$err" ""
    gpus 1 -N1 --gpus-per-node=4 --nuioa-nic="$nic" --nuioa=export,report
    is "the report says why, once" "$(grep -cE "$several" <<<"$err")" 1
    note "$err"
    gpus 2 -N1 --gpus-per-task=2 --nuioa-nic="$nic"
    is "two GPUs for each task: no variable" "$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" 0
    gpus 2 -N1 --gpus-per-node=2 --nuioa-nic="$nic"
    is "two GPUs for both tasks: no variable" "$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" 0
    tally 2 salloc --gpus-per-node=4 srun -n2 -N1 --gpu-bind=none "$home/gpus"
    is "GPUs that are not bound: no variable" "$(grep -cE ' (UCX|NCCL|FI)_' <<<"$out")" 0
    tally 1 env UCX_NET_DEVICES=mine srun -n 1 -N1 --gpus-per-node=4 "$home/gpus"
    is "the user's own stays" "$(of 0 UCX_NET_DEVICES)" mine
    gpus 1 -N1 --nuioa-nic="$nic"
    is "no GPU in the step: UCX is told" "$(of 0 UCX_NET_DEVICES)" "$nic"
fi

plugin off
finish
