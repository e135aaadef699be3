#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# report and explain: on srun's stderr, never in the job's output, each node's part labelled. The
# sentences are compared with plans in test/unit/sentence_test.c.
. "$(dirname "$0")/testlib.sh"
setup
plugin on "topology=$topology" "${patient[@]}"

launch 8 -w node1,node2 --ntasks-per-node=4 --exclusive --nuioa=report --nuioa-hints=heavy=0
is "report implies on" "$(of 0 NUIOA_VERSION)" 1
like "report: the nodes are named" "$err" 'node1'
like "report: both" "$err" 'node2'
like "report: the NIC" "$err" 'mlx5_0'
unlike "report: not in the job's output" "$out" '[0-9] *(host|node|rank) '
for rank in 0 1 2 3 4 5 6 7; do
    ok "report: a line for rank $rank" \
        grep -qE "(^|[^0-9])$rank +.*$(of "$rank" NUIOA_CPUS)" <<<"$err"
done

launch 8 -w node1,node2 --ntasks-per-node=4 --exclusive --nuioa=explain --nuioa-hints=heavy=0
like "explain: where the distances come from" "$err" '[Dd]istance'
like "explain: for each rank why" "$err" \
    ' 0 .* (beside its NIC|nearer its NIC|where Slurm put it|not moved)'
report=$err
launch 8 -w node1,node2 --ntasks-per-node=4 --exclusive --nuioa=report,off
is "report,off: off" "$(grep -c NUIOA_ <<<"$out")" 0
launch 8 -w node1,node2 --ntasks-per-node=4 --exclusive --nuioa=report,export
is "report,export moves nobody" "$(of 0 NUIOA_CPUS)" 0
like "report,export: still reports" "$err" 'mlx5_0'
ok "explain says more than report" test "$(wc -c <<<"$report")" -gt "$(wc -c <<<"$err")"

# The report is true: the bound is of exchanges, a rank of an exact step has its CPUs alone, and
# CPUs nearer to the NIC may be farther from the GPU.
launch 8 -w node1 -c2 --exclusive --nuioa=report --nuioa-hints=heavy=0
like "moved: a gain" "$err" \
    "cost [0-9.]+ -> [0-9.]+ \([0-9.]+ % less\), no exchange of Slurm's masks can be below"
launch 1 -w node1 -c4 --exact --nuioa=report
like "an exact step's only rank has it all" "$err" \
    'the only rank stays: it has all CPUs of the step'
launch 17 -w node1 -O --nuioa=report
like "more ranks than cores: says so" "$err" 'there are more ranks than cores'
launch 17 -w node1 -O --overlap --nuioa=report
like "--overlap reaches the node" "$err" 'Omit --overlap'
launch 17 -w node1 -O --overl --nuioa=report
like "... abbreviated, too" "$err" 'Omit --overlap'
launch 17 -w node1 -O -J --overlap_ --nuioa=report
like "... and nothing that looks like it" "$err" 'there are more ranks than cores'
for said in report explain; do
    CUDA_VISIBLE_DEVICES=0,1 launch 8 -w node1 -c2 --exclusive --nuioa=force,$said \
        --nuioa-hints=heavy=0
    like "force,$said with GPUs: moves" "$err" '[1-9][0-9]* moved'
    like "force,$said with GPUs: says what is left out" "$err" 'farther from their GPUs'
    unlike "force,$said with GPUs: no gain" "$err" '% less|% of the gain|cost [0-9.]+ ->'
done
launch 8 -w node1 -c2 --exclusive --mem-bind=local --nuioa=report
like "--mem-bind: memory is said to be kept" "$err" ' kept +mlx5_0'
unlike "--mem-bind: memory is not said to be the default's" "$err" ' default +mlx5_0'
launch 8 -w node1 -c2 --exclusive --mem-bind=map_mem:0 --nuioa=report
like "--mem-bind by rank: the ranks stay, and it is said" "$err" \
    '0 moved.*an explicit --mem-bind gives each rank'
launch 2 -w node3 --nuioa=report
like "a node without a NIC says so" "$err" '[Nn][Ii][Cc]'
launch 2 -w node4 --nuioa=explain
like "a port that is down is explained" "$err" 'down'
launch 2 -N2 -w node1,node4 --nuioa=on --nuioa-nic=mlx5_0
like "a requested NIC that is down on the second node is said, also without a report" "$err" \
    '^nuioa: node4: nic: mlx5_0 port is down, not used$'
launch 2 -w node1 --nuioa=on
is "without report, not a word" "$err" ""

finish
