#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The rendezvous of nodes with their srun: one report for all, and each node's part of a profile;
# whatever goes wrong, the job runs, no node waits for another, and there is one warning.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin
hasty=("topology=$topology" default=on) # where time is to pass
good=("${hasty[@]}" "${patient[@]}")
plugin on "${good[@]}"

nodes_are_free() { # NAME
    for _ in $(seq 200); do
        [ "$(in_node ctl sinfo -h -o '%D %t')" != "4 idle" ] || break
        sleep 0.1
    done
    is "$1: the nodes are free again" "$(in_node ctl sinfo -h -o '%D %t')" "4 idle"
}

timed() { # launch..., its time in $took_ms
    local start
    start=$(date +%s%3N)
    "$@"
    took_ms=$(($(date +%s%3N) - start))
}

# Launches steps of four nodes in every way: srun reports all of them. $1: auth=
everybody_meets() {
    local how
    plugin on "${good[@]}" "auth=$1"
    launch 8 -N4 --exclusive --nuioa=report
    one_report "$1: 4 nodes" 4
    for how in block cyclic plane=2; do
        launch 13 -N4 --exclusive -m "$how" --nuioa=report
        one_report "$1: 13 ranks, $how" 4
    done
    tally 8 srun -N4 -n8 --exclusive --nuioa=report --multi-prog "$home/programs"
    one_report "$1: multi-prog" 4
    tally 8 srun -N2 -n4 --exclusive --nuioa=report "$home/rank" : -N2 -n4 --exclusive "$home/rank"
    is "$1: het job: it runs" "$rc" 0
    one_report "$1: het job, whose first component asks for a report" 4
    tally 8 sbatch -W -N4 --exclusive -o "$home/batch.out" "$home/batch"
    err=$(<"$CLUSTER_DIR/home/batch.out")
    one_report "$1: srun in sbatch" 4
    launch 8 -N4 --exclusive --export=NONE --nuioa=report
    one_report "$1: --export=NONE" 4
    # A hints file: each node gets its part, which knows who is on the node
    launch 8 -N4 --exclusive --nuioa-hints="@$home/profile"
    is "$1: a profile: what stays on the node does not count" \
        "$(of 0 NUIOA_WEIGHT),$(of 1 NUIOA_WEIGHT),$(of 2 NUIOA_WEIGHT)" "0,5,100"
    is "$1: a profile of as many ranks: nothing is said" "$(nuioa_lines)" ""
    launch 8 -N4 --exclusive
    is "$1: nothing is asked for: not a word" "$rc,$err" "0,"
    launch 8 -N4 --exclusive --nuioa
    is "$1: nothing goes wrong: not a word" "$rc,$err" "0,"
}

printf '0-3 %s\n4-7 %s\n' "$home/rank" "$home/rank" >"$CLUSTER_DIR/home/programs"
printf '#!/bin/sh\nsrun -n8 --nuioa=report %s\n' "$home/rank" >"$CLUSTER_DIR/home/batch"
chmod 0755 "$CLUSTER_DIR/home/batch"
printf 'nuioa-profile 1\nranks 8\npair 0 1 1000 1 0\npair 1 2 100 1 0\n' \
    >"$CLUSTER_DIR/home/profile"
everybody_meets munge
everybody_meets key
plugin on "${good[@]}"

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
launch 8 -N4 --exclusive --nuioa-gather=off --nuioa=report
is "gather=off: each node reports" "$(reported)" "$own_reports"

# No node waits for another one: node4 has not made its plan, and the ranks of the others run.
build_disturb
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

# What goes wrong on a node srun says, wherever the ranks' errors go.
plugin on cache=/run/node/blind.cache "${patient[@]}"
echo "optional $home/disturb.so blind" >>"$CLUSTER_DIR/nodes/node4/plugstack.conf"
launch 4 -N4 --exclusive --nuioa
is "a node cannot read masks: its ranks are told nothing" \
    "$(of 3 NUIOA_LEADER)$(of 3 NUIOA_CPUS)" ""
one_line "a node cannot read masks: one line"
like "a node cannot read masks: which says so" "$err" \
    '^nuioa: node4: .*cannot read where rank 3 may'
launch 4 -N4 --exclusive --nuioa --error=/dev/null
is "... which srun prints, and not the node" "$(grep -c '^nuioa: node4: .*cannot' <<<"$err")" 1
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

# A profile that no list can say
awk 'BEGIN { srand(1); print "nuioa-profile 1\nranks 4000"
    for (i = 0; i < 4000; i++) print "rank", i, 0, int(10 ^ (rand() * 12)), 1, 1, 0 }' \
    >"$CLUSTER_DIR/home/profile"
launch 8 -N4 --exclusive --nuioa-hints="@$home/profile"
is "a profile too irregular for a list: its weight" "$(of 7 NUIOA_WEIGHT)" \
    "$(awk '$1 == "rank" && $2 == 7 { print $4 }' "$CLUSTER_DIR/home/profile")"

# Ports
printf 'SrunPortRange=61000-61031\n' >>"$CLUSTER_DIR/slurm.conf"
launch 8 -N4 --exclusive --nuioa=report
one_report "SrunPortRange" 4
sed -i 's/-61031$/-61005/' "$CLUSTER_DIR/slurm.conf"
launch 8 -N4 --exclusive --nuioa-gather=on
is "too few ports: the job runs" "$rc,$ranks" "0,8"
like "too few ports: srun needs them itself" "$err" 'SrunPortRange'
sed -i '/^SrunPortRange/d' "$CLUSTER_DIR/slurm.conf"

# Faults
plugin on "${hasty[@]}"
plugin -n node2 off
launch 8 -N4 --exclusive --nuioa
is "a node without the plugin: the job runs" "$rc,$ranks" "0,8"
one_line "a node without the plugin: one line"
like "a node without the plugin: it is named, and what to install" "$err" \
    'gather: no call from node2 .*; unless Slurm or a node says why, install nuioa there'
launch 8 -N4 --exclusive --nuioa=report
some_report "a node without the plugin, report" "3 nodes"
like "a node without the plugin, report: it is named" "$err" \
    'no call from node2 .*; unless Slurm or a node says why, install nuioa'
is "a node without the plugin, report: it is not in it" "$(grep -c '^ *node2 ' <<<"$err")" 0
node_log() { grep -a 'nuioa: ' "$CLUSTER_DIR/nodes/$1/log/slurmd.log"; }
plugin -n node2 on "${hasty[@]}" gather=off
launch 8 -N4 --exclusive --nuioa
like "a node that does not call: its slurmd.log says why" "$(node_log node2)" \
    'gather: srun waits for its nodes, but this one does not call: its options'
plugin on "${good[@]}"
plugin -n node2 on topology=/run/node/none default=on
launch 8 -N4 --exclusive --nuioa=report
some_report "a node that stands down" "3 nodes"
is "a node that stands down: srun prints why, and its slurmd.log has it, once" \
    "$(grep -c 'node2: topology=' <<<"$err"),$(node_log node2 | grep -c '=/run/node/none: No')" 1,1
sealed=("${hasty[@]}" auth=munge)
for node in node1 node3; do
    plugin on "${sealed[@]}"
    plugin -n "$node" on "${sealed[@]}" munge_socket=/run/node/none
    launch 8 -N4 --exclusive --nuioa=report
    some_report "$node has no munged" "3 nodes $node"
done
plugin on "${good[@]}" munge_socket=/run/node/none
launch 8 -N4 --exclusive --nuioa=report
one_report "auth=key needs no munged" 4
second_munged='mkdir -p /run/second && munged --force --key-file=/run/cluster/munge.key
    --log-file=/run/second/log --pid-file=/run/second/pid --seed-file=/run/second/seed
    --socket=/run/second/socket'
second_munged=${second_munged//$'\n'/ }
in_node node2 sh -c "$second_munged" >/dev/null 2>&1
plugin on "${good[@]}" auth=munge
plugin -n node2 on "${good[@]}" auth=munge munge_socket=/run/second/socket
launch 8 -N4 --exclusive --nuioa=report
one_report "another munged on node2" 4
plugin on "${sealed[@]}"
plugin -n node2 on "${sealed[@]}" munge_socket=/run/second/socket
in_node node2 sh -c 'kill -STOP $(cat /run/second/pid)'
launch 8 -N4 --exclusive --nuioa=report
some_report "that munged is stopped" "3 nodes node2"
for node in node1 node2 node3 node4; do
    where=()
    [ $node != node2 ] || where=(munge_socket=/run/second/socket)
    plugin -n $node on "${sealed[@]}" timeout_ms=60000 timeout_max_ms=60000 "${where[@]}"
done
timed launch 8 -N4 --exclusive --nuioa=report --nuioa-timeout-ms=100
ok "timeout_ms=100, and not the node's 60000: it ends ($took_ms ms)" test "$took_ms" -lt 20000
in_node node2 sh -c 'kill -CONT $(cat /run/second/pid); kill $(cat /run/second/pid)'
plugin on "${good[@]}"

# srun dies while it waits for the last node
plugin -n node1 -n node2 -n node3 -n ctl on "${hasty[@]}" timeout_ms=3000
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
