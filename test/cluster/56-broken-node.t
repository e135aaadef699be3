#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A node, srun, munged or a disk fails at each moment of a launch with a report: other launches run,
# this one too unless Slurm itself needs what failed, warnings are few, and nothing is left.
. "$(dirname "$0")/testlib.sh"
setup
build disturb "the plugin that disturbs"

plain=("default=on,report" "${patient[@]}")
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
    "before its child") hold node2 init_post_opt before ;;
    "after its child") hold node2 init_post_opt after ;;
    "before the record") hold node2 task_post_fork before ;;
    "after the record") hold node2 task_post_fork after ;;
    esac
}
moments=("before its child" "after its child" "before the record" "after the record")

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

# others: a launch beside the broken one
others() {
    launch 4 -N2 -w node1,node3
    is "$name: another launch: it runs" "$rc,$ranks" "0,4"
    one_report "$name: another launch" 2
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
    hold_at "$moment" "topology=$topology"
    begin
    kill_node node2
    others
    proceed
    ok "$name: the ranks of the other nodes run" await 60 six_run
    in_node ctl scancel -u "$(id -u nobody)"
    end
    if [ "$moment" = "after the record" ]; then
        one_report "$name" 4
    else
        is "$name: one warning" "$(reported),$(warnings)" "3 nodes,1"
    fi
    start_slurmd node2
    nothing_left
done

# --- srun --------------------------------------------------------------------------------------

for moment in "${moments[@]}"; do
    name="srun is killed $moment"
    hold_at "$moment" "topology=$topology"
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

for moment in "before its child" "before the record"; do
    name="munged is stopped $moment, and goes on after a second"
    hold_at "$moment" "topology=$topology"
    begin
    munged STOP
    proceed
    sleep 1
    munged CONT
    end
    is "$name: the job runs" "$rc,$ranks" "0,8"
    nothing_left
done

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
        plugin on "${plain[@]}"
        all_run "$mpi"
        is "$name, --mpi=$mpi: it runs if it does without nuioa ($without)" "$ran" "$without"
        # Where Slurm gives the step up, a node may still call srun, which has gone.
        ok "$name, --mpi=$mpi: one warning of srun's and one of a node's at most" \
            test "$(warnings)" -le $((2 - without))
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
    when=("before its child")
    [[ $what != /run* ]] || when+=("before the record" "after the record")
    for moment in "${when[@]}"; do
        name="node2's $what breaks $moment"
        hold_at "$moment"
        begin
        break_disk "$what"
        others
        proceed
        end
        is "$name: the job runs" "$rc,$ranks" "0,8"
        one_report "$name" 4
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
