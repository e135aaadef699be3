#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A node, srun, munged or a disk fails at each moment of the rendezvous: other launches run, this
# one too unless Slurm itself needs what failed, there is at most one warning, and nothing is left.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin
build_disturb

# With gather=on there is a rendezvous in each step of several nodes.
plain=(default=on gather=on timeout_max_ms=60000 "${patient[@]}")
hasty=timeout_ms=3000 # where srun waits for what will never come, and says so
broken=$CLUSTER_DIR/home/broken

# hold NODE HOOK before|after: where steps on the node stop, before or after nuioa's part in it
hold() {
    local conf=$CLUSTER_DIR/nodes/$1/plugstack.conf line="optional $home/disturb.so $2"
    if [ "$3" = before ]; then sed -i "1i $line" "$conf"; else echo "$line" >>"$conf"; fi
}

# hold_at MOMENT ARG...: node2 stops there
hold_at() {
    local moment=$1
    shift
    plugin on "${plain[@]}" "$@"
    held=(node2)
    case $moment in
    "before the hello") hold node2 init_post_opt before ;;
    "after the hello") hold node2 init_post_opt after ;;
    "before the record") hold node2 task_post_fork before ;;
    "after the record") hold node2 task_post_fork after ;;
    esac
}
moments=("before the hello" "after the hello" "before the record" "after the record")

is_held() {
    local node
    for node in "${held[@]}"; do [ -e "$CLUSTER_DIR/home/held.$node" ] || return 1; done
}
is_over() { ! kill -0 "$srun" 2>/dev/null; }
no_step() {
    local node
    for node in node1 node2 node3 node4; do
        ! in_node "$node" pgrep -x slurmstepd >/dev/null || return 1
    done
}

# begin: a step of four nodes in the background, until it is held
begin() {
    rm -rf "$broken" "$CLUSTER_DIR"/home/held.*
    install -d -o nobody "$broken"
    : >"$CLUSTER_DIR/home/gate"
    in_node -u nobody ctl env SLURM_TEST_STARTED="$home/broken" timeout -k 5 300 \
        srun -J broken -N4 -n8 --ntasks-per-node=2 "$home/rank" \
        >"$CLUSTER_DIR/home/out" 2>"$CLUSTER_DIR/home/err" </dev/null &
    srun=$!
    ok "$name: the step is there" await 100 is_held
}

# proceed: nobody holds the step any more
proceed() { rm "$CLUSTER_DIR/home/gate"; }

# end: what the step has said and done, in $out, $err, $rc, $ranks, as launch does
end() {
    await 300 is_over || note "$name: srun does not end"
    rc=0
    wait "$srun" || rc=$?
    out=$(<"$CLUSTER_DIR/home/out")
    err=$(grep -vE "$waiting" "$CLUSTER_DIR/home/err")
    ranks=$(started broken)
    note "$err"
}

# others: a launch beside the broken one. others_run [SRUN-ARG]...: whatever it says
others() {
    others_run --nuioa-timeout-ms=60000
    is "$name: another launch: not a word" "$err" ""
}
others_run() {
    launch 4 -N2 -w node1,node3 "$@"
    is "$name: another launch: it runs" "$rc,$ranks" "0,4"
}

# left: processes, listening sockets, files and slurmd's descriptors on all nodes
left() {
    local node
    for node in ctl node1 node2 node3 node4; do
        in_node "$node" sh -c '
            ps -eo comm,stat | grep -E "slurmstepd|srun|rank|Z"
            awk "\$4 == \"0A\" { n++ } END { print \"ports\", n + 0 }" /proc/net/tcp
            find /run /run/node/spool /tmp /dev/shm -xdev ! -path "/run/.tmp*" | sort
            [ ! -e /run/slurmd.pid ] || ls /proc/$(cat /run/slurmd.pid)/fd | wc -l' |
            sed "s/^/$node: /"
    done
}
is_as_before() { now=$(left) && [ "$now" = "$before" ]; }
nothing_left() {
    await 100 is_as_before
    is "$name: nothing is left" "$(diff <(echo "$before") <(echo "$now"))" ""
    ok "$name: the nodes are free" idle 300
}

plugin on "${plain[@]}"
launch 8 -N4 # which makes the caches
idle 100
before=$(left)

# --- a node ------------------------------------------------------------------------------------

# slurmd first: it would speak for its slurmstepd. Its tasks are of the same name until they run.
kill_node() { in_node "$1" sh -c 'kill -KILL $(pgrep -x slurmd) $(pgrep -x slurmstepd)'; }
# A slurmstepd that is killed cannot remove its socket and its copy of the topology.
start_slurmd() {
    in_node "$1" sh -c 'rm -f /run/node/spool/node*_*.* /run/node/spool/hwloc_topo_*.xml'
    in_node "$1" setsid slurmd -D </dev/null >/dev/null 2>&1 &
}
six_run() { [ "$(started broken)" -eq 6 ]; }

for moment in "${moments[@]}"; do
    name="node2 is killed $moment"
    limit=$hasty
    [ "$moment" != "after the record" ] || limit=
    hold_at "$moment" "topology=$topology" $limit
    begin
    kill_node node2
    others
    proceed
    ok "$name: the ranks of the other nodes run" await 60 six_run
    in_node ctl scancel -u "$(id -u nobody)"
    end
    if [ "$moment" = "after the record" ]; then
        is "$name: not a word" "$(nuioa_lines)" ""
    else
        one_line "$name: one warning"
    fi
    start_slurmd node2
    nothing_left
done

# --- srun --------------------------------------------------------------------------------------

for moment in "${moments[@]}"; do
    name="srun is killed $moment"
    hold_at "$moment" "topology=$topology" $hasty
    begin
    in_node ctl sh -c 'kill -KILL $(pgrep -x srun)'
    others
    proceed
    ok "$name: no node waits for it" await 60 no_step
    in_node ctl scancel -u "$(id -u nobody)"
    end
    nothing_left
done

# --- munged ------------------------------------------------------------------------------------

# munged SIGNAL: Slurm's own, which all nodes share
munged() { in_node ctl sh -c "kill -$1 \$(pgrep -x -o munged)"; }

for how in "key:before the record" "${moments[@]/#/munge:}"; do
    name="auth=${how%%:*}, munged is stopped ${how#*:}, and goes on after a second"
    hold_at "${how#*:}" "topology=$topology" "auth=${how%%:*}" timeout_ms=20000
    begin
    munged STOP
    proceed
    sleep 1
    munged CONT
    end
    is "$name: the job runs" "$rc,$ranks" "0,8"
    # srun waits for a second, and no longer, for a peer to say who it is.
    if [ "$how" != "munge:before the hello" ]; then
        is "$name: not a word" "$(nuioa_lines)" ""
    fi
    nothing_left
done

# Only srun needs this one, which decodes the credentials of the nodes with it.
in_node ctl sh -c 'mkdir -p /run/second && exec munged --force --key-file=/run/cluster/munge.key \
    --log-file=/run/second/log --pid-file=/run/second/pid --seed-file=/run/second/seed \
    --socket=/run/second/socket' >/dev/null 2>&1
without_second=$before
before=$(left)
second=("topology=$topology" auth=munge munge_socket=/run/second/socket)
for moment in "before the hello" "before the record" "after the record"; do
    name="auth=munge, srun's munged is stopped $moment"
    # Without it no hello is ever read; with the others', all have been.
    limit=
    [ "$moment" != "before the hello" ] || limit=$hasty
    hold_at "$moment" "${second[@]:0:2}" $limit
    plugin -n ctl on "${plain[@]}" "${second[@]}" $limit
    begin
    in_node ctl sh -c 'kill -STOP $(cat /run/second/pid)'
    others_run --nuioa-timeout-ms=500
    one_line "$name: another launch: one warning"
    proceed
    end
    is "$name: the job runs" "$rc,$ranks" "0,8"
    if [ "$moment" = "before the hello" ]; then
        one_line "$name: one warning"
    else
        is "$name: not a word" "$(nuioa_lines)" ""
    fi
    in_node ctl sh -c 'kill -CONT $(cat /run/second/pid)'
    nothing_left
done
in_node ctl sh -c 'kill $(cat /run/second/pid)
    while [ -e /run/second/pid ]; do sleep 0.1; done; rm -r /run/second'
before=$without_second

# --- disks -------------------------------------------------------------------------------------

# break_disk DIRECTORY: on node2 it takes neither another byte nor another file. /run, where Slurm
# and the tests have mounted, becomes read-only instead.
break_disk() {
    if [ "$1" = /run ]; then
        in_node node2 sh -c 'mount --rbind /run /run && mount -o remount,ro,bind /run'
    else
        in_node node2 sh -c "mkdir -p $1; mount -t tmpfs -o size=16k,nr_inodes=6,mode=1777 tmpfs $1
            dd if=/dev/zero of=$1/full bs=4k; while touch $1/full.\$((i = i + 1)); do :; done" \
            >/dev/null 2>&1
    fi
    ok "$name: it takes nothing more" in_node node2 sh -c "! touch $1/more"
}
mend_disk() { in_node node2 umount -l "$1"; }

# all_run MPI: $ran is 1 if all ranks of a step run, else 0. The status of srun does not say it.
all_run() {
    rm -rf "$broken"
    install -d -o nobody "$broken"
    SLURM_TEST_STARTED=$home/broken run_as_user 300 \
        srun -N4 -n8 --ntasks-per-node=2 "--mpi=$1" "$home/rank"
    ran=$(($(started broken) == 8))
}

# as_without_us MPI...: it runs if it runs without us: with PMIx, Slurm itself needs /tmp. What
# Slurm then leaves in its spool directory is removed.
as_without_us() {
    local mpi without ran
    for mpi; do
        plugin off
        all_run "$mpi"
        without=$ran
        plugin on "${plain[@]}" $hasty
        all_run "$mpi"
        is "$name, --mpi=$mpi: it runs if it does without nuioa ($without)" "$ran" "$without"
        # Where Slurm gives the step up, a node may still call srun, which has gone.
        ok "$name, --mpi=$mpi: one warning of srun's and one of a node's at most" \
            test "$(nuioa_lines | wc -l)" -le $((2 - without))
        note "$(nuioa_lines)"
        idle 100
        [ "$without" = 1 ] || in_node node2 sh -c 'rm -rf /run/node/spool/*pmix.*'
    done
}

for what in /run /run/nuioa /tmp /dev/shm; do
    name="node2's $what is broken"
    break_disk "$what"
    as_without_us none pmix
    mend_disk "$what"
    nothing_left
    when=("before the hello")
    [[ $what != /run* ]] || when+=("before the record" "after the record")
    for moment in "${when[@]}"; do
        name="node2's $what breaks $moment"
        hold_at "$moment"
        begin
        break_disk "$what"
        others
        proceed
        end
        is "$name: the job runs, not a word" "$rc,$ranks,$(nuioa_lines)" "0,8,"
        mend_disk "$what"
        nothing_left
    done
done

# Without a cache a node finds out what it is like, and cannot keep it.
for what in /run /run/nuioa; do
    name="node2's $what is broken and there is no cache"
    in_node node2 rm /run/nuioa/node2.cache
    break_disk "$what"
    plugin on "${plain[@]}"
    launch 8 -N4 --ntasks-per-node=2
    is "$name: the job runs" "$rc,$ranks" "0,8"
    mend_disk "$what"
    launch 8 -N4 --ntasks-per-node=2
    nothing_left
done

plugin off
finish
