#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the NICs carried, after a step with a typed report: one table of all nodes, after the
# program's own output. Each node's eth0 is a real interface with real counters, which its own
# sysfs shows; the topology of the node says that it is a NIC with a place. An independent reader
# is /proc/PID/net/dev. Whatever goes wrong, the step ends as without it, and what is not known is
# said.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin
nodes=(node1 node2 node3 node4)
whole=(-N4 -n8 --exclusive)

# The nodes' topology, with eth0 in the place of the InfiniBand port; NAME: a second NIC with it
topology() { # [NAME]
    awk -v second="${1:-}" '
        /pci_type="0207 / { sub(/0207/, "0200"); gsub(/15b3:101b/, "8086:1592") }
        /name="mlx5_0"/ { skip = 1 }
        skip { if (/<\/object>/) skip = 0; next }
        /name="ib0"/ { sub(/ib0/, "eth0") }
        /name="Address"/ { sub(/value="[^"]*"/, "value=\"02:00:00:00:00:01\"") }
        /name="Port"/ { next }
        { print }
        /<\/object>/ && second && !done && seen {
            printf "<object type=\"OSDev\" gp_index=\"900\" name=\"%s\" osdev_type=\"2\">", second
            print "<info name=\"Address\" value=\"02:00:00:00:00:02\"/></object>"
            done = 1
        }
        /name="eth0"/ { seen = 1 }' "$here/../topologies/cluster-node1.xml"
}

# Whoever mounted sysfs, in whose network namespace, decides which interfaces it has.
own_sysfs() { # NODE
    in_node "$1" sh -e -c 'mkdir -p /run/node/sys
        mount -t sysfs sysfs /run/node/sys
        mount --bind /run/node/sys/class/net /sys/class/net
        mount --bind /run/node/sys/devices/virtual/net /sys/devices/virtual/net'
}

hosts_sysfs() { # NODE
    in_node "$1" umount -l /sys/class/net /sys/devices/virtual/net /run/node/sys
}

# put FILE NODE COUNTER: lets the node see FILE in the place of one of eth0's counters
put() { in_node "$2" mount --bind "$1" "/sys/devices/virtual/net/eth0/statistics/$3"; }
take_away() { in_node "$1" umount "/sys/devices/virtual/net/eth0/statistics/$2"; }

# counted NODE rx|tx: bytes of eth0, by another way than sysfs
counted() {
    awk -v field="$([ "$2" = rx ] && echo 2 || echo 10)" \
        '$1 == "eth0:" { printf "%d", $field }' "/proc/$(cluster_node_pid "$1")/net/dev"
}

# table: the lines of the table; cell NODE COLUMN: one cell, with its unit
table() { sed -n '/^nuioa: what the NICs carried/,/^[^ n]/p' <<<"$err" | grep -E '^  '; }
row() { table | awk -v node="$1" '$1 == node'; }
# "20.1 MB" as bytes
in_bytes() {
    awk '{ printf "%.0f", $1 * 1000 ^ (index("BkMGT", substr($2, 1, 1)) - 1) }'
}
received() { row "$1" | awk '{ print $3, $4 }' | in_bytes; }
sent() { row "$1" | awk '{ print $5, $6 }' | in_bytes; }
tables() { grep -c '^nuioa: what the NICs carried' <<<"$err"; }
said() { tr -s '\n ' ' ' <<<"$err"; } # without its lines
last_words() { tail -n 1 <<<"$err"; }

# near NAME GOT WANTED: within 1 %
near() {
    if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0 && a >= b * 0.99 && a <= b * 1.01) }'; then
        pass "$1"
    else
        fail "$1" "got: $2" "wanted: $3"
    fi
}

# told COMMAND...: a step with a report. On a busy machine a reading may come too late, which is
# said: then once more, and twice at most.
late() { said | grep -q 'could not be read in time'; }
told() {
    user "$@"
    ! late || user "$@"
    ! late || user "$@"
}

measure='^whether nearer ranks would save time, only runs can tell: nuioa compare -- srun \.\.\.$'
bound='^nearer ranks can save at most [0-9.]+ % of this step$'

install -m 0644 "$here/talk.c" "$CLUSTER_DIR/home/talk.c"
ok "the program that talks compiles" in_node ctl gcc -std=gnu11 -Wall -Wextra -Werror -O2 \
    -o "$home/talk" "$home/talk.c"
for node in "${nodes[@]}"; do
    topology >"$CLUSTER_DIR/nodes/$node/eth.xml"
    topology eth1 >"$CLUSTER_DIR/nodes/$node/eth2.xml"
    ok "$node sees its own interfaces" own_sysfs "$node"
done
plugin on "${patient[@]}" topology=/run/node/eth.xml

# --- what is said ---------------------------------------------------------------------------------

declare -A rx tx
for _ in 1 2 3; do
    for node in "${nodes[@]}"; do
        rx[$node]=$(counted "$node" rx) tx[$node]=$(counted "$node" tx)
    done
    user sh -c "srun ${whole[*]} --nuioa=report talk stream 20000000 2>&1"
    err=$out
    late || break
done
is "a stream over all nodes: it runs" "$rc" 0
is "one table" "$(tables)" 1
is "after the program's own output" \
    "$(grep -nE '^done|^nuioa: what' <<<"$out" | tail -n 1 | sed 's/^[0-9]*://; s/carried.*//')" \
    "nuioa: what the NICs "
for node in "${nodes[@]}"; do
    near "$node: received" "$(received "$node")" "$(($(counted "$node" rx) - rx[$node]))"
    near "$node: sent" "$(sent "$node")" "$(($(counted "$node" tx) - tx[$node]))"
    like "$node: all by the planned NIC" "$(row "$node")" ' 100 % +100 % '
done
like "it says that all is counted" "$err" 'with file systems and all else'
like "a busy stream: only a measurement can tell" "$(last_words)" "$measure"
note "$(table)"
told srun "${whole[@]}" --nuioa=report talk pingpong 3000
is "ping-pong: it runs" "$rc" 0
like "ping-pong: nobody says that nothing can be saved" "$(last_words)" "$measure"

# A program that reads a file over the NIC, and tells its ranks nothing
head -c 40000000 /dev/zero >"$CLUSTER_DIR/home/data"
in_node ctl timeout 60 python3 -m http.server --directory "$home" 8077 >/dev/null 2>&1 &
server=$!
printf '%s\n' 'import os, time, urllib.request' 'if os.environ["SLURM_LOCALID"] == "0":' \
    '    for i in range(100):' '        try:' \
    '            print(len(urllib.request.urlopen("http://ctl:8077/data").read()))' \
    '            break' '        except OSError:' '            time.sleep(0.1)' \
    >"$CLUSTER_DIR/home/read.py"
told srun "${whole[@]}" --nuioa=report python3 "$home/read.py"
is "a file over the NIC: read by each node" "$(sort <<<"$out" | uniq -c | xargs)" "4 40000000"
near "... and counted" "$(received node2)" 40000000
like "... the table says so, and there is a bound, or none is known" \
    "$(said)$(last_words)" "with file systems and all else.*(${measure#^}|${bound#^})"
kill "$server"
rm "$CLUSTER_DIR/home/data"
told srun "${whole[@]}" --nuioa=report talk quiet 2000
like "a program that does not talk: there is a bound" "$(last_words)" "$bound"
told srun "${whole[@]}" --nuioa=report,off talk quiet 2000
like "report,off: the same" "$(last_words)" "$bound"
told env SLURM_NUIOA=report srun "${whole[@]}" talk quiet 10
is "the variable asks as the flag does" "$(tables)" 1
told srun -N1 -n1 --exclusive --nuioa=explain talk quiet 10
is "one node" "$(tables),$(table | grep -c 'eth0 ')" 1,1
like "one rank: not a word of failure" "$(last_words)" "($measure|$bound)"

# A second NIC, which nobody uses
for node in "${nodes[@]}"; do
    in_node "$node" sh -c 'ip link add eth1 type veth peer name other && ip link set eth1 up'
done
plugin on "${patient[@]}" topology=/run/node/eth2.xml nic=eth0,eth1
told srun "${whole[@]}" --nuioa=report talk stream 20000000
is "two NICs: a line for each" "$(table | grep -cE 'eth[01] ')" 8
like "two NICs: shares" "$(row node2)" 'eth0 .* 100 % +50 % '
like "... and the idle one is named, with what would change it" "$(said)" \
    'node\[1-4\]: eth1 carried less than a fifth of what was planned .* UCX_NET_DEVICES'
note "$(table)" "$(tail -n 3 <<<"$err")"
told srun "${whole[@]}" --nuioa=report talk quiet 100
unlike "nobody talks: no NIC is called idle" "$err" 'less than a fifth'
plugin on "${patient[@]}" topology=/run/node/eth.xml
for node in "${nodes[@]}"; do in_node "$node" ip link del eth1; done

# --- where there is none --------------------------------------------------------------------------

children() { # how many slurmstepds a node has, and as whom they run, while a step runs there
    in_node -u nobody ctl timeout 60 srun -w node1 -n1 --exclusive "$@" "$home/talk" quiet 4000 \
        >/dev/null 2>&1 &
    await 20 in_node node1 pgrep -x talk >/dev/null
    sleep 1 # a child that is there may not have run yet
    in_node node1 ps -o euser= -C slurmstepd | sort | paste -s -d ' '
    wait $!
}
is "without a report nothing more runs" "$(children --nuioa)" "root"
plugin on "${patient[@]}" topology=/run/node/eth.xml default=report
is "the site's report is none that was typed" "$(children)" "root"
plugin on "${patient[@]}" topology=/run/node/eth.xml
is "with one a child without privileges" "$(children --nuioa=report)" "nobody root"
is "... which ends with the step" \
    "$(await 10 sh -c "! '$here/in' node1 pgrep -x slurmstepd" >/dev/null && echo gone)" gone
user srun "${whole[@]}" --nuioa=report --nuioa-gather=off talk quiet 10
is "gather=off: no table" "$(tables)" 0
is "gather=off: one line says so" "$(grep -c '^no counters after the step' <<<"$err")" 1
out=$(in_node ctl timeout 60 srun "${whole[@]}" --nuioa=report "$home/talk" quiet 10 2>&1)
is "root: one line says so" "$(grep -c '^no counters after the step' <<<"$out")" 1

# --- other kinds of steps -------------------------------------------------------------------------

user srun -N2 -n4 --exclusive --nuioa=report "$home/talk" quiet 100 : \
    -N2 -n4 --exclusive --nuioa=report "$home/talk" quiet 100
is "a heterogeneous step: one table of all nodes" "$(tables),$(table | grep -c 'eth0 ')" 1,4
printf '#!/bin/sh\nsrun -n8 --nuioa=report %s quiet 100\n' "$home/talk" >"$CLUSTER_DIR/home/batch"
chmod 0755 "$CLUSTER_DIR/home/batch"
user sbatch -W -N4 --exclusive -o "$home/batch.out" "$home/batch"
err=$(<"$CLUSTER_DIR/home/batch.out")
is "sbatch: one table of all nodes" "$(tables),$(table | grep -c 'eth0 ')" 1,4
like "sbatch: the batch script is nobody else" "$(last_words)" "($measure|$bound)"
user salloc -N4 --exclusive srun -n8 --nuioa=report "$home/talk" quiet 100
is "salloc: one table of all nodes" "$(tables),$(table | grep -c 'eth0 ')" 1,4
user srun "${whole[@]}" -K --nuioa=report sh -c '[ "$SLURM_PROCID" != 3 ] || exit 7; sleep 60'
is "-K: one table of all nodes" "$(tables),$(table | grep -c 'eth0 ')" 1,4
user sh -c "srun ${whole[*]} -J ends --nuioa=report $home/talk quiet 60000 & sleep 2
    scancel -s TERM -n ends; wait"
is "scancel: one table of all nodes" "$(tables),$(table | grep -c 'eth0 ')" 1,4

# --- others on the node ---------------------------------------------------------------------------

user salloc -N4 --exclusive sh -c "srun -n4 --overlap $home/talk quiet 4000 & sleep 1
    srun -n8 --overlap --nuioa=report $home/talk quiet 100; wait"
like "a step beside it: totals of all jobs" "$err" 'node\[1-4\]: of all jobs'
unlike "... no shares" "$(row node1)" '100 %'
unlike "... no sentence" "$err" "nearer ranks"
user srun -N4 -n8 -c1 --nuioa=report "$home/talk" quiet 100
like "a job with a part of each node: the same" "$err" 'node\[1-4\]: of all jobs'

# --- what goes wrong ------------------------------------------------------------------------------

in_node node2 mkfifo /run/node/fifo
put /run/node/fifo node2 rx_bytes
for _ in 1 2 3; do
    user srun "${whole[@]}" --nuioa=report talk quiet 100
    # On a busy machine other nodes may be late, too.
    said | grep -q 'node\[[^]]*\]: eth0: not known' || break
done
is "a counter that blocks: the step ends" "$rc,$(grep -c "done" <<<"$out")" 0,4
like "... it is named" "$(said)" 'node2: eth0: not known: its counters could not be read in'
is "... the other nodes are there" "$(table | grep -c 'eth0 ')" 4
like "... nothing is promised" "$(last_words)" "$measure"
is "... and nothing is left behind" \
    "$(await 10 sh -c "! '$here/in' node2 pgrep -x slurmstepd" >/dev/null && echo gone)" gone
take_away node2 rx_bytes

in_node node3 sh -c 'echo 1000000 >/run/node/count; chmod 0666 /run/node/count'
put /run/node/count node3 rx_bytes
changes() { # TEXT: what a rank of node3 writes there
    local _
    for _ in 1 2 3; do
        in_node node3 sh -c 'echo 1000000 >/run/node/count'
        user srun "${whole[@]}" --nuioa=report sh -c \
            "[ \$SLURMD_NODENAME != node3 ] || printf '$1' >/run/node/count; sleep 0.1"
        late || break
    done
}
changes '5\n'
like "a counter that fell" "$(said)" 'node3: eth0: not known: its counters fell during the step'
changes ''
like "a counter that went" "$(said)" \
    'node3: eth0: not known: its counters could not be read any more'
take_away node3 rx_bytes

in_node -u nobody ctl timeout 60 srun "${whole[@]}" --nuioa=report "$home/talk" quiet 20000 \
    >/dev/null 2>"$CLUSTER_DIR/home/killed" &
await 20 in_node node3 pgrep -x talk >/dev/null
in_node node3 sh -c 'kill -9 $(pgrep -o -x slurmstepd)'
wait $!
err=$(<"$CLUSTER_DIR/home/killed")
like "a slurmstepd that is killed: its node is named" "$(said)" \
    'node3: not known: the node, its slurmstepd or the connection did not live to tell'
is "... the others are there" "$(table | grep -c 'eth0 ')" 3
in_node node3 sh -c 'kill -9 $(pgrep -x talk) 2>/dev/null'
idle 200 || give_back

for node in "${nodes[@]}"; do hosts_sysfs "$node"; done
plugin off
finish
