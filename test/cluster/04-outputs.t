#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranks get the variables that `nuioa plan` prints for their node, whatever the shape of the step.
. "$(dirname "$0")/testlib.sh"
setup

plugin on "topology=$topology" "${patient[@]}"

# ranks_on NODE: the ranks that ran there, as a list for --ranks
ranks_on() { sed -n "s/^\([0-9]*\) HOST=$1\$/\1/p" <<<"$out" | sort -n | paste -s -d ,; }

# step_cores N: what a step of N tasks has that is given a core for each and no more (srun outside
# an allocation): from the 2 sockets of 8 cores in turn
step_cores() {
    printf '0-%d' $((($1 + 1) / 2 - 1))
    [ "$1" -eq 1 ] || printf ',8-%d' $((8 + $1 / 2 - 1))
}

# as_planned NAME [PLAN-OPTION]...: each node's ranks were told what the plan for that node says,
# if the step has the whole node; exactly_as_planned: if it has a core for each rank
as_planned() { compare_plans "" "$@"; }
exactly_as_planned() { compare_plans exact "$@"; }
compare_plans() {
    local exact=$1 name=$2 node list plan
    shift 2
    [ -n "$(all HOST)" ] || fail "$name: it ran" "$err"
    for node in $(all HOST | tr ' ' '\n' | sort -u); do
        list=$(ranks_on "$node")
        plan=$(in_node "$node" nuioa plan --topology "$topology" --ranks "$list" --json "$@" \
            ${exact:+--allowed "$(step_cores "$(tr , '\n' <<<"$list" | wc -l)")"} 2>&1)
        # shellcheck disable=SC2046
        is "$name: $node ($list)" "$("$here/plan-env" --given $(tr , ' ' <<<"$list") <<<"$out")" \
            "$("$here/plan-env" <<<"$plan" 2>&1)"
    done
}

launch 16 -w node1 --exclusive --nuioa=on --nuioa-hints=0:100,1:90,2:80,rest:1
as_planned "heavy first ranks" --hints 0:100,1:90,2:80,rest:1
is "the heaviest are beside the NIC" "$(of 0 NUIOA_LEVEL)$(of 1 NUIOA_LEVEL)$(of 2 NUIOA_LEVEL)" 000
is "everything is marked planned" "$(all NUIOA_PLANNED | tr ' ' '\n' | grep -c 1)" 16
is "every rank has its own CPU" "$(all NUIOA_CPUS | tr ' ' '\n' | sort -u | wc -l)" 16

launch 16 -w node1 --exclusive --nuioa=on
as_planned "no hints, on"
launch 16 -w node1 --exclusive --nuioa=export
as_planned "export" --nuioa export
is "export moves nobody" "$(of 0 NUIOA_CPUS),$(of 15 NUIOA_CPUS)" "0,15"
printf '# three\n0:100,1:90\n2:80 rest:1\n' >"$CLUSTER_DIR/home/list"
launch 16 -w node1 --exclusive --nuioa=on "--nuioa-hints=@$home/list"
as_planned "a list of hints in a file" --hints 0:100,1:90,2:80,rest:1

launch 16 -w node1 --exclusive --nuioa=on --nuioa-policy=latency --nuioa-hints=heavy=3,5
as_planned "latency" --policy latency --hints heavy=3,5

# Fewer ranks than cores: a step of an allocation has the whole node, other steps only as many cores
# as ranks, and no more is theirs to use.
# whole N [SALLOC-ARG]... -- [SRUN-ARG]...
whole() {
    local n=$1 allocation=()
    shift
    while [ "$1" != -- ]; do allocation+=("$1"); shift; done
    shift
    tally "$n" salloc --exclusive "${allocation[@]}" srun -n "$n" "$@" "$home/rank"
}
whole 5 -w node1 -- --nuioa=on --nuioa-cores=pack
as_planned "pack" --cores pack
is "pack: all five beside the NIC" "$(all NUIOA_LEVEL)" "0 0 0 0 0"
launch 5 -w node1 --exclusive --nuioa=on --nuioa-cores=pack
exactly_as_planned "pack, five cores" --cores pack
is "pack, five cores: those that there are" "$(all NUIOA_CPUS | tr ' ' '\n' | sort -n | paste -s)" \
    "$(printf '0\t1\t2\t8\t9')"
whole 1 -w node1 -- --nuioa=on
as_planned "one rank alone"
is "one rank alone goes to the NIC" "$(of 0 NUIOA_LEVEL)" 0
launch 1 -w node1 --exclusive --nuioa=on
exactly_as_planned "one rank alone, one core"
is "one rank alone, one core: it stays" "$(of 0 NUIOA_CPUS),$(of 0 NUIOA_LEVEL)" "0,1"

launch 64 -N4 --exclusive --nuioa=on --nuioa-hints=0-63:8:10,rest:1
as_planned "four nodes" --hints 0-63:8:10,rest:1
is "no NIC on node3, so none is named" "$(of 32 NUIOA_NIC),$(of 32 NUIOA_LEVEL)" ","
is "node4's port is down" "$(of 48 NUIOA_NIC)" ""
is "node2's NIC is on the first socket" "$(of 16 NUIOA_NIC),$(of 16 NUIOA_LEADER)" "mlx5_0:1,16"

launch 7 -N3 --exclusive --nuioa=on --nuioa-hints=heavy=0,6
exactly_as_planned "-n7 -N3" --hints heavy=0,6
launch 7 -N3 --exclusive -m cyclic --nuioa=on --nuioa-hints=heavy=0,6
exactly_as_planned "-n7 -N3 cyclic" --hints heavy=0,6
whole 7 -N3 -- -N3 --nuioa=on --nuioa-hints=heavy=0,6
as_planned "-n7 -N3, whole nodes" --hints heavy=0,6
whole 7 -N3 -- -N3 -m cyclic --nuioa=on --nuioa-hints=heavy=0,6
as_planned "-n7 -N3 cyclic, whole nodes" --hints heavy=0,6
printf '%s\n' node2 node1 node2 node2 node2 node4 >"$CLUSTER_DIR/home/hosts"
# (--exclusive: 22.05 gives the nodes of a host file each other's number of cores otherwise.)
launch 6 "SLURM_HOSTFILE=$home/hosts" -m arbitrary --exclusive --nuioa=on --nuioa-hints=heavy=1,4
is "arbitrary: as the file says" "$(all HOST)" "node2 node1 node2 node2 node2 node4"
exactly_as_planned "arbitrary" --hints heavy=1,4

launch 4 -w node1 --nuioa=on --nuioa-export=none
is "export=none: the environment is empty" "$(grep -c NUIOA_ <<<"$out")" 0

# NUIOA_* are ours: what an outer step or the user left there would mislead.
mine=(NUIOA_NIC=mine NUIOA_LEADER=99 NUIOA_WEIGHT=7)
launch 4 "${mine[@]}" -w node1 --nuioa=export
exactly_as_planned "NUIOA_* set before" --nuioa export
launch 4 "${mine[@]}" -w node1 --nuioa=on --nuioa-export=none
is "export=none: nor what was set before" "$(grep -c NUIOA_ <<<"$out")" 0
launch 4 "${mine[@]}" -w node1 --nuioa=off
is "off: the environment is as it was" "$(grep '^3 NUIOA_' <<<"$out" | sort | paste -s -d ' ')" \
    "$(printf '3 %s\n' "${mine[@]}" | sort | paste -s -d ' ')"

# What nuioa has set for other libraries in a rank of an outer step is taken back in every step, a
# launcher's and one without nuioa too, and in a batch script; what the user has changed stays.
given=(UCX_NET_DEVICES=mlx5_0:1 UCX_MAX_RNDV_RAILS=4
    NUIOA_EXPORTED=UCX_NET_DEVICES,UCX_MAX_RNDV_RAILS
    "SLURM_NUIOA_EXPORTED=UCX_NET_DEVICES=mlx5_0:1 UCX_MAX_RNDV_RAILS=3")
cat >"$CLUSTER_DIR/home/mpirun" <<'END'
#!/bin/sh
/usr/bin/env | /bin/grep -E '^UCX_|EXPORTED' | /usr/bin/sort | /usr/bin/paste -s -d ' '
END
chmod +x "$CLUSTER_DIR/home/mpirun"
cp "$CLUSTER_DIR/home/mpirun" "$CLUSTER_DIR/home/exported"
for how in "--nuioa exported" exported "--nuioa mpirun" "--nuioa=off exported"; do
    flags=()
    [ "$how" = exported ] || flags=("${how% *}")
    user env "${given[@]}" srun -n1 -w node1 "${flags[@]}" "$home/${how##* }"
    is "an outer step's variables of other libraries: ${how}" "$out" UCX_MAX_RNDV_RAILS=4
done
user env "${given[@]}" srun --export=NONE -n1 -w node1 --nuioa "$home/exported"
is "... --export=NONE" "$out" ""
user env "${given[@]}" sbatch -W -n1 -w node1 -o "$home/exported.out" --wrap "$home/exported"
is "... a batch script" "$(cat "$CLUSTER_DIR/home/exported.out")" UCX_MAX_RNDV_RAILS=4

finish
