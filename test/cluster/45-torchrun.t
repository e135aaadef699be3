#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa exec under the real torchrun (test/deps torch), on one node and on two: each worker knows
# its local rank, its rank in the job and those of its node. Skipped where PyTorch is not there.
. "$(dirname "$0")/testlib.sh"
setup # nuioa(1) is installed with it
plugin off
if ! has_command torchrun; then
    skip_all "nuioa exec under torchrun" "no torchrun"
fi
# With Python 3.11, PyTorch 1.13 understands no number but 1 and 2 in -r and -t, which say where
# output goes.
workers=(--nproc_per_node 2 -r 1 -t 1)

# told: who each worker is, and the CPUs that its node's plan gives it
told() {
    sed -n 's/^\[.*nuioa: \(n[12]: local rank [^:]*: CPUs [0-9-]*\),.*/\1/p' <<<"$out" | sort
}
node1="n1: local rank 0 of 2 (torchrun), rank 0: CPUs 8-15
n1: local rank 1 of 2 (torchrun), rank 1: CPUs 0-7"

launched=$((launched + 2))
user srun -N1 -n1 -w node1 torchrun --standalone "${workers[@]}" --no_python \
    nuioa exec --print --topology "$topology"
is "torchrun on a node" "$(told)" "$node1"
[ "$rc" -eq 0 ] || lose torchrun
cat >"$CLUSTER_DIR/home/worker.py" <<END
import os
os.execvp("nuioa", ["nuioa", "exec", "--print", "--topology", "$topology"])
END
user srun -N2 -n2 --ntasks-per-node=1 /usr/bin/python3 -m torch.distributed.run --nnodes 2 \
    "${workers[@]}" --rdzv_backend c10d --rdzv_endpoint node1:29500 --rdzv_id 7 "$home/worker.py"
is "python3 -m torch.distributed.run on two nodes" "$(told | sed 's/rank [0-9]*: CPUs.*/rank/')" \
    "$(printf 'n%d: local rank %d of 2 (torchrun), rank\n' 1 0 1 1 2 0 2 1)"
is "... ranks of a node are consecutive" "$(told | sed 's/.*), rank \([0-9]*\):.*/\1/' | xargs -n2 |
    sort | xargs)" "0 1 2 3"
[ "$rc" -eq 0 ] || lose torch.distributed.run
finish
