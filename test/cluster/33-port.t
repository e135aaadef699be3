#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# srun's port for the rendezvous is open only while nodes may connect, and only for steps in which
# they do. What keeps them from it is said once, however short the step is.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin
hasty=("topology=$topology" default=on)
good=("${hasty[@]}" "${patient[@]}")
build_disturb

# begin SRUN-ARG...: a step whose ranks wait for end; $sruns are the processes of srun on its host
begin() {
    install -d -o nobody "$CLUSTER_DIR/home/waiting"
    in_node -u nobody ctl env SLURM_TEST_STARTED="$home/waiting" timeout 60 srun "$@" \
        sh -c 'env >$SLURM_TEST_STARTED/$SLURM_PROCID; until [ -e ~/go ]; do sleep 0.1; done' \
        >/dev/null 2>"$CLUSTER_DIR/begun.err" &
    begun=$!
    for _ in $(seq 300); do
        [ "$(started waiting)" -lt "$(grep -oE -m 1 -- '-n[0-9]+' <<<"$*" | cut -c 3-)" ] || break
        sleep 0.1
    done
    sleep 0.3
    sruns=$(in_node ctl pgrep -x srun)
    like "the step runs: $*" "$(started waiting),${sruns//$'\n'/ }" '^[1-9][0-9]*,[0-9]'
}

end() {
    touch "$CLUSTER_DIR/home/go"
    wait "$begun"
    rm -r "$CLUSTER_DIR/home/go" "$CLUSTER_DIR/home/waiting"
    idle 100
}

# ports: how many srun listens on; held: what its processes hold of those and of what waits for them
ports() { in_node ctl ss -Hltn | wc -l; }
held() {
    local pid
    for pid in $sruns; do
        in_node ctl sh -c "ls -l /proc/$pid/fd" | grep -cE 'eventpoll|eventfd|socket:'
    done | paste -s -d ' '
}

plugin on "${good[@]}"
for nodes in 1 4; do
    begin -N$nodes -n$nodes --exclusive --nuioa=off
    without=$(ports) held_without=$(held)
    end
    begin -N$nodes -n$nodes --exclusive --nuioa=report
    is "-N$nodes: in a running step srun listens on no port of ours" "$(ports)" "$without"
    # The second process is the one that srun leaves to clean up if it is killed.
    is "-N$nodes: what srun has forked holds nothing of ours" "$(held | cut -d ' ' -f 2-)" \
        "$(cut -d ' ' -f 2- <<<"$held_without")"
    end
done

# Without the plugin on a node nobody removes the token from the environment: a rank can print it.
token='s/^SLURM_NUIOA_SRUN=//p'
port_of() {
    sed -n "$token" "$CLUSTER_DIR/home/waiting/$1" | tr : '\n' | grep -m 1 -E '^[0-9]{4,5}$'
}
plugin -n node1 off
for how in "-N1 -n1 -w node1 --nuioa" "-N4 -n4" "-N4 -n4 --nuioa=export"; do
    # shellcheck disable=SC2086
    begin $how --exclusive
    is "$how: nobody needs srun, and there is no invitation" \
        "$(sed -n "$token" "$CLUSTER_DIR/home/waiting/0")" ""
    end
done
plugin on "${hasty[@]}"
plugin -n node1 off
begin -N4 -n4 --exclusive --nuioa
port=$(port_of 0)
like "a node never calls: the others were told a port" "$port" '^[0-9]+$'
await 30 grep -q '^nuioa: ' "$CLUSTER_DIR/begun.err" # no rank waits for it
is "a node never calls: one warning" "$(grep -c '^nuioa: ' "$CLUSTER_DIR/begun.err")" 1
refusal=$(in_node ctl bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>&1)
like "then who comes late is refused" "$refusal" 'Connection refused'
end

# The error is said even if the step ends before the time to wait.
plugin on "${hasty[@]}" auth=munge timeout_ms=5000 munge_socket=/run/node/none
plugin -n ctl on "${hasty[@]}" auth=munge timeout_ms=5000
for round in 1 2 3; do
    launch 8 -N4 --exclusive --nuioa=report
    some_report "a short step, and no node has a munged, $round" "$own_reports"
done
plugin off
plugin -n ctl on "${hasty[@]}"
launch 4 -N4 --exclusive --nuioa=report
is "only srun has the plugin: the job runs" "$rc,$ranks" "0,4"
is "only srun has the plugin: one line says that no node has called" \
    "$(nuioa_lines | grep -c 'no node of the step has called srun')" 1
one_line "only srun has the plugin: and no other"
like "only srun has the plugin: it says what to install, and where" "$err" \
    'unless Slurm or a node says why, install nuioa on node\[1-4\], with its line in plugstack'
launch 4 -N4 --exclusive --nuioa
one_line "only srun has the plugin, --nuioa: one line"
like "only srun has the plugin, --nuioa: it says what to install, and where" "$err" \
    'has called srun: unless Slurm or a node says why, install nuioa on node\[1-4\]'
launch 4 -N4 --exclusive
is "only srun has the plugin, no report: not a word" "$(nuioa_lines)" ""

# The plugin is there, but Slurm starts no rank: whose fault that is, Slurm says.
plugin on "${hasty[@]}"
for node in node1 node2 node3 node4; do
    echo "required /no/such/plugin.so" >>"$CLUSTER_DIR/nodes/$node/plugstack.conf"
done
refused -N4 -n4 --exclusive --nuioa=report
is "Slurm refuses the step: no rank" "$ranks" 0
like "Slurm refuses the step: it says why" "$err" \
    'launch failed: (Plugin initialization failed|Unspecified error)'
one_line "Slurm refuses the step: one line of ours"
like "Slurm refuses the step: which does not say that no plugin is there" "$(nuioa_lines)" \
    'no node of the step has called srun, .*: unless Slurm or a node says why, install'

# auth= differs between srun's host and the nodes
plugin on "${hasty[@]}" auth=munge
plugin -n ctl on "${hasty[@]}"
launch 8 -N4 --exclusive --nuioa=report
is "auth=munge on the nodes, key on srun's host: the job runs" "$rc,$ranks" "0,8"
is "auth=munge on the nodes, key on srun's host: each node reports" "$(reported)" "$own_reports"
like "auth=munge on the nodes: it says so" "$err" 'auth=munge on this node and auth=key on srun'
plugin on "${good[@]}"
plugin -n ctl on "${good[@]}" auth=munge
launch 8 -N4 --exclusive --nuioa=report
one_report "auth=munge on srun's host, key on the nodes" 4

# As where srun has not stayed to listen: 34-async.t has such an srun
plugin on "${hasty[@]}"
for node in node1 node2 node3 node4; do
    sed -i "1i optional $home/disturb.so async" "$CLUSTER_DIR/nodes/$node/plugstack.conf"
done
launch 8 -N4 --exclusive --nuioa-gather=on
is "srun does not listen: the job runs" "$rc,$ranks" "0,8"
is "srun does not listen: not a word" "$(nuioa_lines)" ""
plugin on "${hasty[@]}"
plugin off
finish
