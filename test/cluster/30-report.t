#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The report of all nodes, which srun makes; whatever goes wrong, the job runs, no node waits for
# another or for srun, and there is one warning.
. "$(dirname "$0")/testlib.sh"
setup
good=("topology=$topology" default=on "${patient[@]}")
plugin on "${good[@]}"

nodes_are_free() { # NAME
    for _ in $(seq 200); do
        [ "$(in_node ctl sinfo -h -o '%D %t')" != "4 idle" ] || break
        sleep 0.1
    done
    is "$1: the nodes are free again" "$(in_node ctl sinfo -h -o '%D %t')" "4 idle"
}


printf '0-3 %s\n4-7 %s\n' "$home/rank" "$home/rank" >"$CLUSTER_DIR/home/programs"
printf '#!/bin/sh\nsrun -n8 --nuioa=report %s\n' "$home/rank" >"$CLUSTER_DIR/home/batch"
chmod 0755 "$CLUSTER_DIR/home/batch"
launch 8 -N4 --exclusive --nuioa=report
one_report "4 nodes" 4
for how in block cyclic plane=2; do
    launch 13 -N4 --exclusive -m "$how" --nuioa=report
    one_report "13 ranks, $how" 4
done
tally 8 srun -N4 -n8 --exclusive --nuioa=report --multi-prog "$home/programs"
one_report "multi-prog" 4
tally 8 srun -N2 -n4 --exclusive --nuioa=report "$home/rank" : -N2 -n4 --exclusive "$home/rank"
is "het job: it runs" "$rc" 0
one_report "het job, whose first component asks for a report" 4
tally 8 "$home/submit" -N4 --exclusive -o "$home/batch.out" "$home/batch"
err=$(<"$CLUSTER_DIR/home/batch.out")
one_report "srun in sbatch" 4
tally 8 salloc -N4 --exclusive srun -n8 --nuioa=report "$home/rank"
one_report "srun in salloc" 4
launch 8 -N4 --exclusive --export=NONE --nuioa=report
one_report "--export=NONE" 4
launch 8 -N4 --exclusive --nuioa=report -l --unbuffered -e /dev/null
one_report "the ranks' errors go elsewhere: the report comes from srun" 4
launch 8 -N4 --exclusive
is "nothing is asked for: not a word" "$rc,$err" "0,"
launch 8 -N4 --exclusive --nuioa
is "nothing goes wrong: not a word" "$rc,$err" "0,"
launch 8 SLURM_NUIOA_COLLECTOR=13:1 -N4 --exclusive --nuioa=report
one_report "an outer srun's port does not count" 4
is "... and no rank is told of one" "$(grep -c COLLECTOR <<<"$out")" 0

# Reports
launch 64 -N4 --exclusive --nuioa=report --mpi=pmix
is "report: one header" "$(grep -c '^nuioa: 4 nodes, 64 ranks' <<<"$err")" 1
is "report: a line for each rank" "$(grep -cE '^ +node[1-4] +[0-9]+ ' <<<"$err")" 64
like "report: a node without NIC" "$err" 'node3: no mlx5_0:1'
like "report: a port that is down" "$err" 'node4: mlx5_0:1 is down'
like "report: a NIC elsewhere" "$err" 'node2: mlx5_0:1 is on NUMA node'
launch 80 -N4 -O --nuioa=report
is "report of 80 ranks: no line for each" "$(grep -cE '^ +node[1-4] +[0-9]+ ' <<<"$err")" 0
like "report of 80 ranks: classes" "$err" 'ranks by level'
launch 8 -N4 --exclusive --nuioa=explain
like "explain: why" "$err" 'How the placement was found'

# No node waits for another one: node4 has not made its plan, and the ranks of the others run.
build disturb "the plugin that disturbs"
six_run() { [ "$(started early)" -eq 6 ]; }
install -d -o nobody "$CLUSTER_DIR/home/early"
for what in --nuioa --nuioa=report; do
    plugin on "${good[@]}"
    sed -i "1i optional $home/disturb.so task_post_fork" \
        "$CLUSTER_DIR/nodes/node4/plugstack.conf"
    : >"$CLUSTER_DIR/home/gate"
    in_node -u nobody ctl env SLURM_TEST_STARTED="$home/early" timeout -k 5 300 srun -N4 -n8 \
        --exclusive $what "$home/rank" >/dev/null 2>"$CLUSTER_DIR/home/early.err" &
    ok "$what: the ranks of the other nodes run" await 60 six_run
    ok "... node4 is held" await 60 test -e "$CLUSTER_DIR/home/held.node4"
    is "... and its ranks do not run" "$(started early)" 6
    rm "$CLUSTER_DIR/home/gate"
    wait $!
    is "... then they do" "$(started early)" 8
    find "$CLUSTER_DIR/home/early" "$CLUSTER_DIR/home/held.node4" -type f -delete
    err=$(<"$CLUSTER_DIR/home/early.err")
done
one_report "... and srun reports all" 4

# What goes wrong on a node that node says, or srun in its report.
plugin on cache=/run/node/blind.cache "${patient[@]}"
echo "optional $home/disturb.so blind" >>"$CLUSTER_DIR/nodes/node4/plugstack.conf"
launch 4 -N4 --exclusive --nuioa
is "a node cannot read masks: its ranks are told nothing" \
    "$(of 3 NUIOA_LEADER)$(of 3 NUIOA_CPUS)" ""
one_line "a node cannot read masks: one line"
like "a node cannot read masks: which says so" "$err" \
    '^nuioa: node4: .*cannot read where rank 3 may'
launch 4 -N4 --exclusive --nuioa=report --error=/dev/null
is "... with a report srun says it, and not the node" \
    "$(grep -c '^nuioa: node4: .*cannot' <<<"$err")" 1
plugin on "${good[@]}"

# Nodes with GPUs: node3 has one GPU fewer, and node4 other NICs
for node in node1 node2 node3 node4; do
    install -m 0644 "$here/../topologies/gpus.xml" "$CLUSTER_DIR/nodes/$node/gpus.xml"
done
sed -i '/"0000:92:00.0"/s/"0302 /"0880 /' "$CLUSTER_DIR/nodes/node3/gpus.xml"
sed -i -e 's/"mlx5_0"/"swap"/; s/"mlx5_1"/"mlx5_0"/; s/"swap"/"mlx5_1"/; s/"mlx5_3"/"mlx5_9"/' \
    -e '/"mlx5_2"/,/object>/s/"fe80:0000:0000:0000:/"fe80:0000:0000:0001:/' \
    "$CLUSTER_DIR/nodes/node4/gpus.xml"
plugin on "${patient[@]}" default=on topology=/run/node/gpus.xml
plugin -n node4 on "${patient[@]}" default=on topology=/run/node/gpus.xml nic-role=mlx5_2:storage
launch 8 -N4 --exclusive --nuioa=report
is "nodes with GPUs: the report says which differ, and in what" \
    "$(sed -n '/^nodes that differ/,/^[^ ]/s/^  //p' <<<"$err")" \
    "node3: 3 GPUs, elsewhere 4
node3: mlx5_3:1 is perhaps for storage, elsewhere of an unknown role
node4: mlx5_0:1 is beside GPU 1, elsewhere GPU 0
node4: mlx5_1:1 is beside GPU 0, elsewhere GPU 1
node4: mlx5_2:1 is for storage, elsewhere of an unknown role
node4: mlx5_2:1 is in InfiniBand subnet fe80:0000:0000:0001, elsewhere fe80:0000:0000:0000
node4: no mlx5_3:1
node4: has mlx5_9:1, others have not"
plugin on "${good[@]}"

# Ports
printf 'SrunPortRange=61000-61031\n' >>"$CLUSTER_DIR/slurm.conf"
launch 8 -N4 --exclusive --nuioa=report
one_report "SrunPortRange" 4
sed -i 's/-61031$/-61005/' "$CLUSTER_DIR/slurm.conf"
launch 8 -N4 --exclusive --nuioa=report
some_report "too few ports" "$own_reports"
like "too few ports: srun needs them itself" "$err" 'SrunPortRange'
# Other programs have all ports of the range but the four that srun takes: they are left to srun.
sed -i 's/=61000-61005$/=61100-61131/' "$CLUSTER_DIR/slurm.conf"
in_node ctl python3 -c 'import os, socket, time
taken = [socket.create_server(("", port)) for port in range(61104, 61132)]
print(os.getpid(), flush=True)
time.sleep(600)' >"$CLUSTER_DIR/taken" &
ok "other programs have most ports" await 20 test -s "$CLUSTER_DIR/taken"
launch 8 -N4 --exclusive --nuioa=report
some_report "no port to spare" "$own_reports"
like "no port to spare: srun needs them itself" "$err" 'SrunPortRange'
in_node ctl kill "$(<"$CLUSTER_DIR/taken")"
wait $!
sed -i '/^SrunPortRange/d' "$CLUSTER_DIR/slurm.conf"

# Faults
plugin on "${good[@]}"
plugin -n node2 off
launch 8 -N4 --exclusive --nuioa
is "a node without the plugin, and no report: not a word" "$rc,$ranks,$err" "0,8,"
launch 8 -N4 --exclusive --nuioa=report
some_report "a node without the plugin, report" "3 nodes"
like "a node without the plugin, report: it is named" "$err" \
    'no record from node2; fix what Slurm .* install the same nuioa'
is "a node without the plugin, report: it is not in it" "$(grep -c '^ *node2 ' <<<"$err")" 0
node_log() { grep -a 'nuioa: ' "$CLUSTER_DIR/nodes/$1/log/slurmd.log"; }
plugin on "${good[@]}"
plugin -n node2 on topology=/run/node/none default=on
launch 8 -N4 --exclusive --nuioa=report
some_report "a node that stands down" "3 nodes"
is "a node that stands down: srun prints why, and its slurmd.log has it, once" \
    "$(grep -c 'node2: topology=' <<<"$err"),$(node_log node2 | grep -c '=/run/node/none: No')" 1,1

# munged: one of its own on node2, which is missing, stopped, of another key
for node in node1 node3; do
    plugin on "${good[@]}"
    plugin -n "$node" on "${good[@]}" munge_socket=/run/node/none
    launch 8 -N4 --exclusive --nuioa=report
    is "$node has no munged: the job runs, and it prints its own report" \
        "$rc,$ranks,$(reported)" "0,8,3 nodes $node"
    like "$node has no munged: srun names it" "$err" "no record from $node; "
done
plugin on "${good[@]}"
plugin -n ctl on "${good[@]}" munge_socket=/run/node/none
launch 8 -N4 --exclusive --nuioa=report
is "srun's host has no munged: each node prints its own" "$rc,$ranks,$(reported)" \
    "0,8,$own_reports"
like "srun's host has no munged: srun says why" "$err" \
    'nuioa: report: MUNGE: /run/node/none: .*; start munged on this host: each node prints its own'
second_munged='mkdir -p /run/second && cp /run/cluster/munge.key /run/second/key &&
    munged --force --key-file=/run/second/key
    --log-file=/run/second/log --pid-file=/run/second/pid --seed-file=/run/second/seed
    --socket=/run/second/socket'
second_munged=${second_munged//$'\n'/ }
end_munged='kill -CONT $(cat /run/second/pid); kill $(cat /run/second/pid)
    while [ -e /run/second/pid ]; do sleep 0.1; done; rm -r /run/second'
in_node node2 sh -c "$second_munged" >/dev/null 2>&1
plugin on "${good[@]}"
plugin -n node2 on "${good[@]}" munge_socket=/run/second/socket
launch 8 -N4 --exclusive --nuioa=report
one_report "another munged on node2" 4
in_node node2 sh -c 'kill -STOP $(cat /run/second/pid)'
launch 8 -N4 --exclusive --nuioa=report
is "that munged is stopped: the job runs, and the node prints its own report" \
    "$rc,$ranks,$(reported)" "0,8,3 nodes node2"
in_node node2 sh -c "$end_munged"
other_key='head -c 128 /dev/urandom >/run/second/key && chmod 600 /run/second/key'
in_node node2 sh -c "${second_munged/cp \/run\/cluster\/munge.key \/run\/second\/key/$other_key}" \
    >/dev/null 2>&1
launch 8 -N4 --exclusive --nuioa=report
is "that munged has another key: the job runs, and the node prints its own report" \
    "$rc,$ranks,$(reported)" "0,8,3 nodes node2"
in_node node2 sh -c "$end_munged"
plugin on "${good[@]}"

# Root's jobs
out=$(in_node ctl srun -N4 -n8 --exclusive --nuioa=report "$home/rank" 2>"$CLUSTER_DIR/root.err")
err=$(<"$CLUSTER_DIR/root.err")
is "root's job: each node prints its own" "$(reported),$(warnings)" "$own_reports,1"
like "root's job: srun says why" "$err" "nuioa: report: root's jobs have no common report: each"

# srun dies while it waits for the last node
plugin on "${good[@]}"
plugin -n node4 off
in_node -u nobody ctl \
    sh -c "srun -N4 -n8 --exclusive --nuioa=report $home/rank & sleep 1; kill -KILL \$!" \
    >/dev/null 2>&1
plugin on "${good[@]}"
nodes_are_free "srun killed"
launch 8 -N4 --exclusive --nuioa=report
one_report "after all that" 4
for node in ctl node1 node2 node3 node4; do
    is "$node: nothing is left" "$(in_node "$node" sh -c 'ps -eo stat,comm' |
        awk '$2 == "ps" { asked = 1 } /srun|slurmstepd|^Z/ { left++ } END { print asked, left + 0 }'
    )" "1 0"
done

plugin off
finish
