#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A user's own srun whose launch message says what is not so: root reads it in no time and in little
# memory, and the job runs.
. "$(dirname "$0")/testlib.sh"
setup
build forge "the srun that lies"
forge=(LD_PRELOAD="$home/forge.so")

is_over() { ! in_node node1 pgrep -x slurmstepd >/dev/null; }

plugin on "topology=$topology" default=on deadline_ms=60000
forged() { # NAME LIST [VARIABLE=VALUE]...: a step of one node that says LIST is where it runs
    local name=$1 list=$2
    shift 2
    TIMEOUT=20 launch 2 "${forge[@]}" "FORGE_SLURM_STEP_NODELIST=$list" "$@" -N1 -w node1
    is "$name: the job runs" "$rc,$ranks" "0,2"
    ok "$name: nothing is left on the node" await 20 is_over
}
forged "a list that is right" node1 FORGE_SLURM_STEP_NUM_NODES=2
forged "a range beyond all numbers" 'a[0-99999999999999999999]b[1-2]' FORGE_SLURM_STEP_NUM_NODES=2
forged "the same, asked for the ranks" 'a[0-99999999999999999999]b[1-2]' \
    FORGE_SLURM_STEP_NUM_TASKS=3
forged "four billion names" 'a[0-4294967295]' FORGE_SLURM_STEP_NUM_NODES=2
forged "brackets without end" "$(printf 'a[1-9]%.0s' {1..9})" FORGE_SLURM_STEP_NUM_NODES=2
forged "ranks beyond all jobs" 'x[1-65535],node1' FORGE_SLURM_STEP_NUM_TASKS=3 \
    'FORGE_SLURM_STEP_TASKS_PER_NODE=4096(x65535),2'
like "ranks beyond all jobs: said" "$(nuioa_lines)" 'rank 268431360'

plugin off
finish
