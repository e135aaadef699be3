#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# srun's port for reports is open only while nodes may connect, and only for steps in which they do.
# What keeps them from it is said once, however short the step is.
. "$(dirname "$0")/testlib.sh"
setup
good=("topology=$topology" default=on "${patient[@]}")
build disturb "the plugin that disturbs"

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
    # The second process is the one that srun leaves to clean up if it is killed; the third, which
    # has printed the report, waits for the end of the step.
    is "-N$nodes: what srun has forked holds nothing of ours" "$(held | cut -d ' ' -f 2-)" \
        "$(cut -d ' ' -f 2- <<<"$held_without") 0"
    end
done

# Without the plugin on a node nobody removes the variable from the environment: a rank can print
# it.
port='s/^SLURM_NUIOA_COLLECTOR=[0-9]*://p'
port_of() { sed -n "$port" "$CLUSTER_DIR/home/waiting/$1"; }
plugin -n node1 off
for how in "-N1 -n1 -w node1 --nuioa" "-N4 -n4" "-N4 -n4 --nuioa=export" "-N4 -n4 --nuioa"; do
    # shellcheck disable=SC2086
    begin $how --exclusive
    is "$how: nobody needs srun, and there is no port" "$(port_of 0)" ""
    end
done
begin -N4 -n4 --exclusive --nuioa=report
port=$(port_of 0)
like "a node never reports: it was told a port" "$port" '^[0-9]+$'
is "... which is open while the step runs" \
    "$(in_node ctl bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>&1)" ""
end
like "... and is closed when it is over" \
    "$(in_node ctl bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>&1)" 'Connection refused'
is "... one warning" "$(grep -c '^nuioa: report: no record from node1;' "$CLUSTER_DIR/begun.err")" 1

# The error is said even if the step ends before the time to wait.
plugin on "${good[@]}" munge_socket=/run/node/none
plugin -n ctl on "${good[@]}"
for round in 1 2 3; do
    launch 8 -N4 --exclusive --nuioa=report
    is "a short step, and no node has a munged, $round: each prints its own" \
        "$rc,$ranks,$(reported)" "0,8,$own_reports"
    is "... the first node says why, and srun that it has no record" \
        "$(grep -c '^nuioa: report: MUNGE: .* each node prints its own' <<<"$err"),$(
            grep -c '^nuioa: report: no record from' <<<"$err")" 1,1
done
plugin off
plugin -n ctl on "${good[@]}"
launch 4 -N4 --exclusive --nuioa=report
is "only srun has the plugin: the job runs" "$rc,$ranks" "0,4"
one_line "only srun has the plugin: one line"
like "only srun has the plugin: it says what to install, and where" "$err" \
    'no record from node\[1-4\]; fix what Slurm .* install the same nuioa'
launch 4 -N4 --exclusive
is "only srun has the plugin, no report: not a word" "$(nuioa_lines)" ""

# The plugin is there, but Slurm starts no rank: whose fault that is, Slurm says.
plugin on "${good[@]}"
for node in node1 node2 node3 node4; do
    echo "required /no/such/plugin.so" >>"$CLUSTER_DIR/nodes/$node/plugstack.conf"
done
refused -N4 -n4 --exclusive --nuioa=report
is "Slurm refuses the step: no rank" "$ranks" 0
like "Slurm refuses the step: it says why" "$err" \
    'launch failed: (Plugin initialization failed|Unspecified error)'
one_line "Slurm refuses the step: one line of ours"
like "Slurm refuses the step: which does not say that no plugin is there" "$(nuioa_lines)" \
    'no record from .*; fix what Slurm or a node reports'

plugin off
finish
