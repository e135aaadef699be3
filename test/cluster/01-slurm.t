#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The cluster itself, without the plugin: everything the other tests take for granted.
. "$(dirname "$0")/testlib.sh"
setup_bare

is "every node is idle" "$(in_node ctl sinfo -h -o '%D %t')" "4 idle"
is "nodes have their own names" "$(in_node node3 hostname)" node3
in_node node1 touch /tmp/mark
is "nodes have their own /tmp" "$(in_node node2 find /tmp -maxdepth 1 -name mark)" ""
unlike "the system's munge is not used" "$(in_node ctl sh -c 'ls /run/munge')" 'munged.pid'

launch 8 -N4
is "a job on four nodes" "$(all HOST | tr ' ' '\n' | sort -u | paste -s -d ' ')" \
    "node1 node2 node3 node4"
is "its ranks" "$ranks" 8
is "no NUIOA_ variable without the plugin" "$(grep -c NUIOA_ <<<"$out")" 0

launch 7 -N3 --exclusive -m cyclic
is "uneven counts" "$(all HOST)" "node1 node2 node3 node1 node2 node3 node1"

printf 'node1\nnode2\nnode2\nnode4\n' >"$CLUSTER_DIR/home/hosts"
launch 4 SLURM_HOSTFILE=$home/hosts -m arbitrary
is "an arbitrary distribution" "$(all HOST)" "node1 node2 node2 node4"

launch 4 -N2 --mpi=pmix
is "PMIx starts" "$rc" 0
launch 2 --export=NONE
is "--export=NONE starts" "$rc" 0
tally 5 srun -n2 "$home/rank" : -n3 "$home/rank"
is "a heterogeneous job" "$rc" 0
tally 3 salloc -n3 -N2 srun "$home/rank"
is "salloc" "$rc" 0
tally 4 "$home/submit" -n4 -N2 -o "$home/batch.out" --wrap "srun $home/rank"
is "sbatch" "$rc" 0
launch 1 SLURM_TEST_EXIT=7
is "the exit status comes through" "$rc" 7
user srun -n1 id -un
is "jobs run as the user" "$out" nobody

finish
