#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Each node reads the flows of a hints file itself, as the user. Where it cannot, its ranks are
# placed by the list that srun has made, one line says so, and nobody is left behind.
. "$(dirname "$0")/testlib.sh"
setup
plugin on "topology=$topology" "${patient[@]}"

# By the list, rank 1 has the bytes that rank 0 of its own node sends it; by the flows it has not.
list=1005 flows=5
cat >"$CLUSTER_DIR/home/flows" <<'END'
nuioa-profile 1
ranks 8
pair 0 1 1000 1 0
pair 1 2 100 1 0
END
uses="it uses srun's list of weights"
in_node ctl install -m 0644 "$home/flows" /tmp/p
on1() { in_node node1 sh -c "$*"; }
nobody_left() { [ "$(on1 'pgrep -c slurmstepd')" -eq 0 ]; }

# reads_flows NAME [SRUN-ARG]...: all nodes read the file, and nobody says anything
reads_flows() {
    local name=$1
    shift
    launch 8 -N4 --exclusive --nuioa "$@"
    is "$name: flows" "$rc|$(of 1 NUIOA_WEIGHT)|$(nuioa_lines)" "0|$flows|"
}

# takes_list NAME REASON FILE: node1 has a file that srun can read and it cannot
takes_list() {
    local begin
    begin=$(date +%s%3N)
    launch 8 -N4 --exclusive --nuioa "--nuioa-hints=$3"
    note "$1: $(($(date +%s%3N) - begin)) ms"
    is "$1: the job runs, placed by the list" "$rc|$(of 1 NUIOA_WEIGHT)" "0|$list"
    one_line "$1: one line"
    like "$1: it says why" "$(nuioa_lines)" "^nuioa: node1: hints: .*$3: $2; $uses\$"
}

# hostile NAME REASON COMMAND: the command makes /tmp/p on node1; elsewhere it is right
hostile() {
    on1 "rm -f /tmp/p; $3"
    takes_list "$1" "$2" /tmp/p
    ok "$1: nobody is left behind" await 10 nobody_left
}

reads_flows "a shared file" "--nuioa-hints=$home/flows"
reads_flows "with @" "--nuioa-hints=@$home/flows"
reads_flows "in srun's directory" --nuioa-hints=./flows
reads_flows "without variables" --export=NONE "--nuioa-hints=$home/flows"
takes_list "a private /tmp" "no such file .*" /tmp/p
like "a private /tmp: other nodes say it in their log" \
    "$(in_node node2 grep 'hints:' /run/node/log/slurmd.log)" "cannot read /tmp/p: no such file"
for node in node1 node2 node3 node4; do
    in_node $node install -m 0644 "$home/flows" /tmp/p
done
reads_flows "a file that each node has" --nuioa-hints=/tmp/p

hostile "a pipe" "not a regular file, .*" 'mkfifo -m 0666 /tmp/p'
hostile "a device" "not a regular file, .*" 'ln -s /dev/zero /tmp/p'
hostile "its own memory" "Permission denied" 'ln -s /proc/self/mem /tmp/p'
hostile "root's" "Permission denied" "install -m 0600 $home/flows /tmp/p"
hostile "another group's" "Permission denied" "install -m 0640 -g daemon $home/flows /tmp/p"
hostile "300 MB" "larger than 256 MB" 'truncate -s 300M /tmp/p; chmod 0644 /tmp/p'
hostile "no profile" "not a regular file, or not a profile" 'echo hello >/tmp/p'
hostile "not for all" "Permission denied" \
    "mkdir -m 0700 -p /tmp/closed; cp $home/flows /tmp/closed/p; ln -s closed/p /tmp/p"

# It is written faster than it is read
on1 "rm -f /tmp/p; cp $home/flows /tmp/p; chmod 0644 /tmp/p"
in_node node1 python3 -c 'import os, time
begin = time.monotonic()
with open("/tmp/p", "ab", 0) as file:
    while time.monotonic() < begin + 3 and file.tell() < 400 << 20:
        file.write(b"pair 2 3 1 1 0\n" * 100000)
        time.sleep(0.005)' &
await 10 test "$(on1 stat -c %s /tmp/p)" -gt 1000000
takes_list "one that grows for ever" "(the file server took .*|larger than 256 MB).*" /tmp/p
wait $!
ok "one that grows for ever: nobody is left behind" await 10 nobody_left
on1 "rm /tmp/p; cp $home/flows /tmp/p
    (while [ ! -e /tmp/over ]; do cp $home/flows /tmp/q; mv /tmp/q /tmp/p; done) >/dev/null 2>&1 &"
reads_flows "one that is replaced again and again" --nuioa-hints=/tmp/p
on1 "touch /tmp/over"

# A server that answers nothing: the child cannot be killed before the server ends
if [ -e /dev/fuse ]; then
    in_node node1 mkdir -p /tmp/hung
    in_node ctl sh -c 'mkdir -p /tmp/hung; cp /tmp/p /tmp/hung/p'
    in_node node1 "$here/hung-fuse" /tmp/hung >"$CLUSTER_DIR/hung" &
    ok "a server hangs" await 20 test -s "$CLUSTER_DIR/hung"
    takes_list "a server that hangs" "the file server took more than 0.5 s.*" /tmp/hung/p
    await 10 eval '[ "$(on1 "pgrep -c slurmstepd")" -le 1 ]'
    child=$(on1 'pgrep slurmstepd')
    uid=$(id -u nobody)
    is "... holds the child: the user, without a right, a signal on its way" \
        "$(on1 "grep -E '^(Uid|CapEff|SigPnd)' /proc/$child/status" | tr -s '\t\n' ' ')" \
        "Uid: $uid $uid $uid $uid SigPnd: 0000000000000100 CapEff: 0000000000000000 "
    is "... with no file but its pipe" \
        "$(on1 "ls -l /proc/$child/fd" | sed -n 's/.* -> //p' | sed 's/:.*//' | sort -u |
            paste -s -d ' ')" "/dev/null pipe"
    is "... with a second of the processor, and no core file" "$(on1 "cat /proc/$child/limits" |
        awk '/Max (cpu time|core file)/ { print $(NF - 2), $(NF - 1) }' | paste -s -d ,)" "1 1,0 0"
    is "... whom no other process of the user's can read" \
        "$("$here/in" -u nobody node1 sh -c "cd /proc/$child
            cat mem maps environ auxv; ls fd" 2>&1 | grep -c 'Permission denied')" 5
    user srun -w node1 -n2 --exclusive true
    is "... and no later step" "$rc|$err" "0|"
    on1 "kill $(<"$CLUSTER_DIR/hung"); umount -l /tmp/hung"
    ok "nobody is left behind when the server has ended" await 20 nobody_left
else
    skip "a server that hangs" "no /dev/fuse"
fi

# The user's second group, which only Slurm tells the node
in_node ctl sh -c "(cat /etc/group; echo nuioa-second:x:4713:games) >/run/group
    mount --bind /run/group /etc/group"
on1 "rm -f /tmp/p; cp $home/flows /tmp/p; chmod 0640 /tmp/p; chown 0:4713 /tmp/p"
out=$("$here/in" -u games ctl srun -N4 -n8 --exclusive --nuioa --nuioa-hints=/tmp/p \
    "$home/rank" 2>&1)
is "a file of the user's second group: flows" \
    "$(of 1 NUIOA_WEIGHT)|$(grep -c nuioa: <<<"$out")" "$flows|0"
in_node ctl umount /etc/group

# A name in another language
cp "$CLUSTER_DIR/home/flows" "$CLUSTER_DIR/home/flüsse"
launch 8 -N4 --exclusive --nuioa=explain "--nuioa-hints=$home/flüsse"
is "explain, a name that is not ASCII: srun has the report" \
    "$rc|$(grep -c '^nuioa: 4 nodes' <<<"$err")|$(grep -c 'took no record' <<<"$err")" "0|1|0"

# Root reads no user's file on the nodes, and says nothing of it
out=$(in_node ctl srun -N4 -n8 --exclusive --nuioa "--nuioa-hints=$home/flows" "$home/rank" 2>&1)
is "root's job: the list" "$(of 1 NUIOA_WEIGHT)|$(grep -c nuioa: <<<"$out")" "$list|0"

# A list that does not fit into the environment, and no file
{ echo nuioa-profile 1; echo ranks 2000
    for ((i = 0; i < 2000; i++)); do echo "rank $i 0 $((RANDOM + 1)) 1 1 0"; done
} >"$CLUSTER_DIR/home/long"
launch 8 -N4 --exclusive --nuioa "--nuioa-hints=$home/long"
is "a long list: from the file" "$rc|$(of 3 NUIOA_WEIGHT)|$(nuioa_lines | grep -c cannot)" \
    "0|$(awk '$2 == 3 && $1 == "rank" { print $4 }' "$CLUSTER_DIR/home/long")|0"
in_node ctl cp "$home/long" /tmp/long
launch 8 -N4 --exclusive --nuioa --nuioa-hints=/tmp/long
like "a long list and no file" "$rc|$(nuioa_lines | grep cannot)" \
    '^0\|nuioa: node1: no hints: .* /tmp/long: no such file [^;]*$'

# sbatch and salloc: the name is made absolute and looked at where it was typed
install -d -m 0755 "$CLUSTER_DIR/home/there"
cp "$CLUSTER_DIR/home/flows" "$CLUSTER_DIR/home/there/mine"
printf '#!/bin/sh\ncd /\nsrun -N4 -n8 %s\n' "$home/rank" >"$CLUSTER_DIR/home/there/script"
chmod 0755 "$CLUSTER_DIR/home/there/script"
for name in ./mine @mine "@$home/there/mine"; do
    user sh -c "cd $home/there; $home/submit -N4 -n8 --exclusive -o $home/job.out --nuioa \
        --nuioa-hints=$name ./script; cat $home/job.out"
    is "sbatch --nuioa-hints=$name" "$rc|$(of 1 NUIOA_WEIGHT)|$(grep -c nuioa: <<<"$out$err")" \
        "0|$flows|0"
    user sh -c "cd $home/there
        salloc -Q -N4 -n8 --exclusive --nuioa --nuioa-hints=$name ./script"
    is "salloc --nuioa-hints=$name" "$rc|$(of 1 NUIOA_WEIGHT)|$(nuioa_lines)" "0|$flows|"
done
echo 'pair 1' >"$CLUSTER_DIR/home/there/wrong"
said="./wrong:1: not a profile; the first line of one is 'nuioa-profile 1'"
for command in "$home/submit" "salloc -Q" "srun"; do
    user sh -c "cd $home/there; $command -N4 -n8 --nuioa --nuioa-hints=./wrong ./script"
    is "$command: a wrong file is refused" "$((rc != 0 && rc != 124))|$(nuioa_lines)" \
        "1|nuioa: --nuioa-hints: $said"
done
is "... and no job was made" "$(in_node ctl squeue -h)" ""

# Two components, several programs
tally 8 srun -n2 -w node1 --exclusive --nuioa "--nuioa-hints=$home/flows" "$home/rank" : \
    -n6 -w node2 --exclusive --nuioa "$home/rank"
is "heterogeneous: flows" "$rc|$(of 1 NUIOA_WEIGHT)|$(of 2 NUIOA_WEIGHT)|$(nuioa_lines)" \
    "0|$flows|100|"
printf '0-3 %s\n4-7 %s\n' "$home/rank" "$home/rank" >"$CLUSTER_DIR/home/programs"
tally 8 srun -N4 -n8 --exclusive --nuioa "--nuioa-hints=$home/flows" --multi-prog "$home/programs"
is "--multi-prog: flows" "$rc|$(of 1 NUIOA_WEIGHT)|$(nuioa_lines)" "0|$flows|"

# A directory of Open MPI's monitoring says only weights
install -d -m 0755 "$CLUSTER_DIR/home/monitoring"
printf 'E\t0\t1\t1000 bytes\t1 msgs sent\t0\n' >"$CLUSTER_DIR/home/monitoring/m.0.prof"
for ((i = 1; i < 8; i++)); do
    printf 'E\t%s\t0\t9 bytes\t1 msgs sent\t0\n' $i >"$CLUSTER_DIR/home/monitoring/m.$i.prof"
done
launch 8 -N4 --exclusive --nuioa "--nuioa-hints=$home/monitoring"
is "a directory: the list" "$rc|$(of 1 NUIOA_WEIGHT)" "0|1000.45"
one_line "a directory: one line"
like "a directory: it says how to keep flows" "$(nuioa_lines)" \
    "Run nuioa profile $home/monitoring --out FILE"
plugin off
finish
