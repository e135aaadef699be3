#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# If anything is wrong on a node, the job runs as if the plugin were absent, and one line says why.
. "$(dirname "$0")/testlib.sh"
setup

n1=$CLUSTER_DIR/nodes/node1
bad=$n1/bad

# survives NAME: after a launch on node1 and node2 where node1 has the fault
survives() {
    is "$1: the job runs" "$rc,$ranks" "0,4"
    ok "$1: no hook waits (${waited_ms:-?} ms)" test "$waited_ms" -lt 8000
    is "$1: the other node is served" "$(of 2 NUIOA_NIC)" mlx5_0:1
}

warned() { one_line "$1: one line"; }

# The longest time in a hook on node1, which slurmstepd logs when all is over; the time of the whole
# launch would say more of the machine than of the plugin.
timing() { grep -ao 'nuioa: timing .*' "$n1/log/slurmd.log"; }
timed_launch() {
    local before i
    before=$(timing | wc -l)
    launch 4 -w node1,node2 --ntasks-per-node=2 -m block --nuioa=on
    for ((i = 0; i < 200; i++)); do
        [ "$(timing | wc -l)" -eq "$before" ] || break
        sleep 0.05
    done
    waited_ms=$(timing | tail -n "+$((before + 1))" | grep -o '=[0-9]*us' | tr -d '=us' |
        sort -n | tail -n 1)
    waited_ms=${waited_ms:+$((waited_ms / 1000))}
}

# with WHAT: launch with node1's arguments being WHAT
with() {
    plugin on "topology=$topology" "${patient[@]}"
    plugin -n node1 on "${patient[@]}" "$@"
    timed_launch
}

make_fault() { # KIND GOOD-FILE
    rm -rf "$bad"
    case $1 in
    missing) ;;
    empty) : >"$bad" ;;
    garbage) head -c 5000 /dev/urandom >"$bad" ;;
    truncated) head -c $(($(stat -c %s "$2") / 2)) "$2" >"$bad" ;;
    flipped)
        cp "$2" "$bad"
        printf '\377\377\377\377' | dd of="$bad" bs=1 seek=300 conv=notrunc status=none
        ;;
    directory) mkdir "$bad" ;;
    pipe) mkfifo "$bad" ;;
    "a user's") install -o nobody -m 0644 "$2" "$bad" ;;
    writable) install -m 0666 "$2" "$bad" ;;
    link) ln -s "$home/planted" "$bad" && install -o nobody "$2" "$CLUSTER_DIR/home/planted" ;;
    endless) ln -s /dev/zero "$bad" ;;
    esac
}

with "topology=$topology"
is "no fault: both nodes are served" "$(of 0 NUIOA_NIC),$(of 2 NUIOA_NIC)" "mlx5_0:1,mlx5_0:1"

for kind in missing empty garbage truncated directory pipe "a user's" writable link endless; do
    make_fault "$kind" "$n1/topology.xml"
    with topology=/run/node/bad deadline_ms=500
    survives "topology, $kind"
    warned "topology, $kind"
    is "topology, $kind: nothing of it is used" "$(of 0 NUIOA_NIC)" ""
done
with topology=bad
survives "topology, relative path"

# The cache: a bad one is not used, and what it held is found out anew: this machine, where nothing
# is marked as planned, unlike with what the caches here describe.
in_node node1 nuioa cache --topology "$topology" --out /run/node/good.cache
in_node node2 nuioa cache --topology "$topology" --out /run/cluster/home/foreign.cache
with cache=/run/node/good.cache
survives "a good cache"
is "a good cache is used" "$(of 0 NUIOA_NIC),$(of 0 NUIOA_PLANNED)" mlx5_0:1,1
for kind in missing empty garbage truncated flipped directory pipe "a user's" writable link \
    endless; do
    make_fault "$kind" "$n1/good.cache"
    with cache=/run/node/bad
    survives "cache, $kind"
    is "cache, $kind: it is not believed" "$(of 0 NUIOA_VERSION),$(of 0 NUIOA_PLANNED)" "1,"
    if [ "$kind" = missing ]; then
        is "cache, missing: nothing is said" "$(nuioa_lines)" ""
    else
        warned "cache, $kind"
        like "cache, $kind: it is named" "$(nuioa_lines)" 'node1: cache not used: .*/run/node/bad'
    fi
done
make_fault writable "$n1/good.cache"
plugin on "topology=$topology" default=on
plugin -n node1 on cache=/run/node/bad default=on
launch 4 -w node1
is "cache, writable: where nobody asked for nuioa nothing is said" "$(nuioa_lines)" ""
rm -rf "$bad"
cp "$CLUSTER_DIR/home/foreign.cache" "$bad"
with cache=/run/node/bad
survives "cache, of another node"
is "cache, of another node: it is not believed" "$(of 0 NUIOA_VERSION),$(of 0 NUIOA_PLANNED)" "1,"
with cache=/no/such/directory/cache
survives "cache, nowhere to put it"

with cache=/run/node/none deadline_ms=1
survives "discovery takes longer than its deadline"
warned "discovery takes longer than its deadline"
like "discovery takes longer than its deadline: so it says" "$(nuioa_lines)" 'more than 1 ms'

# All ranks of node1 with all others, which takes longer to place than a millisecond
{ printf 'nuioa-profile 1\nranks 16\n'
  for ((i = 0; i < 16; i++)); do
      for ((j = 0; j < i; j++)); do
          printf 'pair %d %d %d 1 0\n' $i $j $((i * 7919 % 101 + j * 31 % 17))
      done
  done; } >"$CLUSTER_DIR/home/profile"
plugin -n node1 on cache=/run/node/good.cache deadline_ms=1
launch 16 -N1 -w node1 --exclusive --nuioa=on "--nuioa-hints=@$home/profile"
one_line "planning takes longer than the deadline: one line"
like "planning takes longer than the deadline: so it says" "$(nuioa_lines)" \
    'processor time than deadline_ms'
is "planning takes longer than the deadline: the ranks run, as Slurm placed them" \
    "$rc,$ranks,$(all NUIOA_NIC)" "0,16,"
plugin -n node1 on cache=/run/node/good.cache "${patient[@]}"
launch 16 -N1 -w node1 --exclusive --nuioa=on "--nuioa-hints=@$home/profile"
is "planning takes no longer than the deadline: not a word" "$rc,$(nuioa_lines)" "0,"

make_fault garbage
with "topology=$topology" distances=/run/node/bad
survives "distances, garbage"
warned "distances, garbage"
like "distances, garbage: it is named" "$(nuioa_lines)" 'distances not used: /run/node/bad:1: '
is "distances, garbage: the rest is used" "$(of 0 NUIOA_NIC)" mlx5_0:1
with "topology=$topology" distances=/run/node/none
survives "distances, missing"
warned "distances, missing"
with "topology=$topology" nonsense policy=fast
survives "nonsense in one node's plugstack.conf"
is "nonsense in one node's plugstack.conf: the rest is used" "$(of 0 NUIOA_NIC)" mlx5_0:1

# The plugin itself is gone, or is not one.
plugin on "topology=$topology"
printf 'optional /run/stage/usr/lib/slurm/gone.so\n' >"$n1/plugstack.conf"
launch 4 -w node1,node2 --ntasks-per-node=2 --nuioa=on
is "no plugin on one node: the job runs" "$rc,$(of 2 NUIOA_NIC)" "0,mlx5_0:1"

# Mistakes in the files and variables of the user.
plugin on "topology=$topology"
launch 4 SLURM_NUIOA=on SLURM_NUIOA_HINTS=@/no/such/hints -w node1
is "hints file of the environment missing: the job runs" "$rc" 0
one_line "hints file of the environment missing: one line"
like "hints file of the environment missing: it is named" "$(nuioa_lines)" '/no/such/hints'
long=$(printf '%d:1,' {0..4000})0:1
launch 4 SLURM_NUIOA=on "SLURM_NUIOA_HINTS=$long" -w node1
is "hints of 25 KB: the job runs" "$rc" 0
launch 4 SLURM_NUIOA=on SLURM_NUIOA_HINTS=$'0:1\n\033[31m' -w node1
like "control characters: said" "$(nuioa_lines)" '0:1[?][?]\[31m'
unlike "control characters do not reach the terminal" "$err" $'\033'
launch 4 SLURM_NUIOA=on SLURM_NUIOA_HINTS=$'0:1\302\23331m\342\200\256gpj\342\200\250' -w node1
like "C1, and what turns text or ends a line: said" "$(nuioa_lines)" '0:1[?]31m[?]gpj[?]'
logged=$(LC_ALL=C grep -a nuioa: "$CLUSTER_DIR/nodes/node1/log/slurmd.log")
unlike "... nothing of it is in slurmd.log" "$logged" $'\302\233|\342\200'
launch 4 SLURM_NUIOA=on "SLURM_NUIOA_NIC=$(printf '%%n%.0s' {1..60})" -w node1
is "a hostile NIC name: the job runs" "$rc" 0
idle 300
is "nodes are fine after all this" "$(in_node ctl sinfo -h -o '%D %t')" "4 idle"

finish
