#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa probe --nic --at-least as the two tasks of a step of a real Slurm. The benchmark is that of
# test/probe: client and server speak TCP between the nodes, and its rate is a secret matrix, by
# what each end finds that it is bound to. The NICs of the nodes are files in place of sysfs.
. "$(dirname "$0")/testlib.sh"
setup
work=$(mktemp -d "$CLUSTER_DIR/home/probe.XXXXXX")
chmod 777 "$work"
dir=$home/${work##*/}
cp "$here/../probe/secret_bw.c" "$here/../probe/numa_stand_in.c" "$work"
cp "$here"/../topologies/{quad,infiniband}.xml "$work"
if ! in_node ctl sh -c "command -v nuioa" >/dev/null; then
    skip "nuioa probe --nic --at-least" "no plugin: NUIOA_STAGE was not set"
    done_testing
    exit
elif ! in_node ctl sh -c "cd $dir && gcc -O1 -o secret_bw secret_bw.c -lnuma -lm &&
    gcc -O1 -shared -fPIC -o stand_in.so numa_stand_in.c" 2>"$work/cc"; then
    skip "nuioa probe --nic --at-least" "no compiler, or no libnuma: $(tail -n 1 "$work/cc")"
    done_testing
    exit
fi

# ports RATE1 STATE1 RATE2 STATE2: of mlx5_0 on node1 and on node2, in Gb/sec
ports() {
    local node base
    for node in node1 node2; do
        base=/sys/class/infiniband/mlx5_0/ports/1
        in_node $node sh -c "mountpoint -q /sys/class || mount -t tmpfs tmpfs /sys/class
            mkdir -p $base; echo '$1 Gb/sec (4X EDR)' >$base/rate; echo '$2' >$base/state"
        shift 2
    done
}
give_sysfs_back() {
    in_node node1 umount /sys/class
    in_node node2 umount /sys/class
}

# matrix RATE...: of the server's NUMA node (row) and the client's (column)
matrix() { { echo 4; printf '%s %s %s %s\n' "$@"; } >"$work/matrix.mlx5_0"; }

# as_task OPTION...: what each task of the step runs
# on MACHINE CPUS: what follows is on nodes of that kind, with so many CPUs on a NUMA node
on() {
    probe="env HWLOC_THISSYSTEM=1 HWLOC_XMLFILE=$dir/$1.xml SECRET_BW=$dir SECRET_CPUS=$2"
    probe+=" LD_PRELOAD=$dir/stand_in.so nuioa probe"
}
plain="--tool '$dir/secret_bw {nic} {host}' --number 'rate: ([0-9.]+)' --nic=mlx5_0"

# accept OPTION...: on two nodes; srun's own lines are left out
accept() {
    user srun -N2 -w 'node[1-2]' sh -c "$probe $plain $*"
    err=$(grep -v '^srun: ' <<<"$err")
    said=$(grep -v 'rounds measured$' <<<"$err" | sort)
}

on quad 4
ports 8 '4: ACTIVE' 8 '4: ACTIVE'
matrix 910 910 910 910  910 950 910 910  910 910 910 910  910 910 910 910
accept --at-least 90% --rounds 1
is "all pairs reach it: each NUMA node with the one beside the NIC, in both directions" \
    "$rc|$said|$(awk '/^from/ { way = $2 $4 } /^mlx5/ { print way $2 "-" $3 "=" $4 }' <<<"$out" |
        sort | paste -sd' ')" \
    "0||node1node2:0-1=910 node1node2:1-0=910 node1node2:1-1=950 node1node2:1-2=910 \
node1node2:1-3=910 node1node2:2-1=910 node1node2:3-1=910 node2node1:0-1=910 node2node1:1-0=910 \
node2node1:1-1=950 node2node1:1-2=910 node2node1:1-3=910 node2node1:2-1=910 node2node1:3-1=910"
like "progress of both" "$err" 'node1 to node2: 1 of 1 rounds.*node2 to node1: 1 of 1 rounds'

# A server on NUMA node 1 with a client on 3; a client on 1 with a server on 0.
matrix 910 899 910 910  910 950 910 500  910 910 910 910  910 910 910 910
accept --at-least 90 --rounds 2
# short NUMA NUMA MB/S PERCENT: the lines of both nodes
short() {
    local node
    for node in 1 2; do
        echo "nuioa: mlx5_0:1, NUMA node $1 of node$node with $2 of node$((3 - node)): $3 MB/s," \
            "$4 % of the port's 1000 MB/s, below 90 %"
    done
}
is "a line for each pair below it, and status 1" "$rc|$said" \
    "1|$(short 1 0 899 89.9; short 3 1 500 50.0)"
accept --at-least 50% --rounds 1 --json
is "JSON, an object for each direction" \
    "$rc|$(python3 -c '
import json, sys
text, at = sys.stdin.read(), 0
while text[at:].strip():
    d, end = json.JSONDecoder().raw_decode(text[at:].lstrip())
    at += len(text[at:]) - len(text[at:].lstrip()) + end
    worst = min(d["pairs"], key=lambda p: p["mb_s"])
    print(d["node"], d["peer"], d["at_least"], d["rounds"], worst["nic"], worst["numa"],
          worst["peer_numa"], worst["mb_s"], worst["rate_mb_s"], worst["share"], worst["why"])
' <<<"$out" | sort | paste -sd,)" \
    "0|node1 node2 0.5 1 mlx5_0:1 3 1 500.0 1000.0 0.5 None,\
node2 node1 0.5 1 mlx5_0:1 3 1 500.0 1000.0 0.5 None"

# --- ports that differ --------------------------------------------------------------------------

ports 8 '4: ACTIVE' 4 '4: ACTIVE'
accept --at-least 99% --rounds 1
like "the slower port counts" "$rc|$said" "^0\|$"
ports 8 '4: ACTIVE' unknown '4: ACTIVE'
accept --at-least 1% --rounds 1
is "a port whose rate nobody knows cannot be judged" \
    "$rc|$(grep -c 'and the rate of the port is not known$' <<<"$said")" "1|14"
ports 8 '4: ACTIVE' 8 '1: DOWN'
accept --at-least 90% --rounds 1
like "a port that is down" "$rc|$said" \
    '^1\|nuioa: node2: nic: mlx5_0 port is down, not used.*the task on node2 has ended: what it p'
ports 8 '4: ACTIVE' 8 '4: ACTIVE'

# --- benchmarks that fail -----------------------------------------------------------------------

# bad NAME SCRIPT: a benchmark of which SCRIPT is both ends
bad() {
    printf '%s\n' '#!/bin/bash' 'good() { "$SECRET_BW/secret_bw" "$@"; }' "$2" >"$work/$1"
    chmod 755 "$work/$1"
}
# fails OPTION...: as accept, with the benchmark that is named first
fails() {
    local name=$1
    shift
    plain="--tool '$dir/$name {nic} {host}' --number 'rate: ([0-9.]+)' --nic=mlx5_0" accept "$@"
}
on infiniband 8 # two NUMA nodes: three pairs in each direction
{ echo 2; echo 910 910 910 910; } >"$work/matrix.mlx5_0"
marker=97$$
bad hangs "[ \$# = 1 ] && { good \$1; exit; }; echo it begins; sleep ${marker}1"
fails hangs --at-least 90% --rounds 1 --timeout 1
is "a client that hangs: each pair says so" \
    "$rc|$(grep -c 'hangs (client) did not end in time: it begins$' <<<"$said")" "1|6"
bad deaf "[ \$# = 1 ] || exit 1; [ \$SLURM_NODEID = 1 ] && sleep ${marker}2; good \$1"
fails deaf --at-least 90% --rounds 1 --timeout 1
is "a server that does not listen is said by the other node" \
    "$rc|$(grep -c ': node2: deaf (server) does not listen' <<<"$said")" "1|3"
bad dies 'if [ $# = 1 ]; then good $1 & sleep 1; kill $!; exit 3; fi; sleep 2; exit 4'
fails dies --at-least 90% --rounds 1
is "both ends that fail are said" \
    "$rc|$(grep -c 'dies (client) ended with status 4.*; on node[12]: dies (server) ended with' \
        <<<"$said")" "1|6"

# --- tasks that end, or are no two --------------------------------------------------------------

user srun -N2 -w 'node[1-2]' sh -c "[ \$SLURM_NODEID = 0 ] || exec timeout -s KILL 3 $probe $plain \
    --at-least 90% --rounds 1000; $probe $plain --at-least 90% --rounds 1000"
like "the other task was killed" "$rc|$err" "node1: task 0: Exited.*|.*the task on node2 has ended"
await 10 eval '[ -z "$(pgrep -f "sleep ${marker}[0-9]"; pgrep -f "$dir/secret_bw")" ]'
is "nothing is left running" "$(pgrep -f "sleep ${marker}[0-9]"; pgrep -f "$dir/secret_bw")" ""
# refuses SLURM-COMMAND...: sets said to the lines of the tasks
refuses() {
    user "$@" nuioa probe --nic --at-least 90%
    said=$(grep -v '^srun: ' <<<"$err")
}
refuses srun -N1
like "one node: status 2" "$rc|$said" \
    '^2\|nuioa: this step has 1 node, and --at-least measures between two: srun -N2'
is "... and one line" "$(wc -l <<<"$said")" 1
refuses srun -N2 -n4
like "two tasks on a node" "$rc|$said" \
    '^2\|nuioa: this step has 4 tasks, and --at-least takes one on each of two nodes: srun -N2'
refuses salloc -Q -N2
like "a job without a step" "$rc|$said" '^2\|nuioa: --at-least .*nodes of a step, and this is none'

give_sysfs_back
finish
