#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Orders of ranks over nodes in which Open MPI 5.0 gathers and scatters wrong data: where nuioa is
# on, all ranks get what they should, and HAN, the component of Open MPI that is wrong, stays on
# where it is right. What is set, and when, is the same with an MPI that has no such fault.
. "$(dirname "$0")/testlib.sh"
setup
plugin on topology=/run/node/topology.xml "${patient[@]}"
work=$(mktemp -d "$CLUSTER_DIR/home/han.XXXXXX")
chmod 777 "$work"
dir=$home/${work##*/}
install -m 0644 "$here/han.c" "$work"
mirror=node1,node2,node3,node4,node4,node3,node2,node1
says='^nuioa: Open MPI 5\.0 may gather wrong data in this order of ranks, so its HAN collectives '
says+='are off\. If yours is fixed, set OMPI_MCA_coll_han_priority=35 to keep them$'

# show: the variables of all ranks, each once with their number, as one line
show() { sort <<<"$out" | uniq -c | xargs; }
variables='env | grep -E "^(OMPI_MCA_coll|SLURM_NUIOA_HAN)" || echo none'
# ranks [VAR=VALUE]... SRUN-ARG...: srun whose ranks print the variables that are about HAN
ranks() {
    local env=()
    while [[ ${1:-} =~ ^[A-Za-z_]+= ]]; do env+=("$1"); shift; done
    launched=$((launched + 1))
    user env "${env[@]}" srun "$@" /bin/sh -c "$variables"
    [ "$rc" -eq 0 ] || lose "$*"
}
off="OMPI_MCA_coll_han_priority=0 8 SLURM_NUIOA_HAN=off"

# What is set, and when.
ranks -m arbitrary -w $mirror --nuioa
is "HAN is off in an order that is not safe" "$(show)" "8 $off"
like "... and one line says so" "$err" "$says"
ranks -m arbitrary -w $mirror --nuioa=export
is "... where ranks are only told" "$(show)" "8 $off"
tr , '\n' <<<$mirror >"$work/list"
ranks -m arbitrary -w "$dir/list" --nuioa
is "... in a list in a file" "$(show)" "8 $off"
ranks SLURM_HOSTFILE="$dir/list" --nuioa
is "... in SLURM_HOSTFILE" "$(show)" "8 $off"
ranks --export=NONE -m arbitrary -w $mirror --nuioa
is "... with --export=NONE" "$(show)" "8 $off"
while read -r name options; do
    # shellcheck disable=SC2086
    ranks -n8 $options --nuioa
    is "nothing is set: $name" "$(show):$err" "8 none:"
done <<END2
block -N4
cyclic -N4 -m cyclic
plane -N4 -m plane=1
nodes_in_another_order -m arbitrary -w node4,node4,node2,node2,node1,node1,node3,node3
cyclic_in_another_order -m arbitrary -w node4,node2,node1,node3,node4,node2,node1,node3
unlike_numbers_of_ranks -m arbitrary -w node2,node2,node2,node1,node1,node3,node4,node4
one_node -m arbitrary -w node1,node1,node1,node1,node1,node1,node1,node1
END2
ranks -m arbitrary -w $mirror
is "nothing is set without nuioa" "$(show):$err" "8 none:"
ranks -m arbitrary -w $mirror --nuioa=report,off
is "... where nuioa reports only" "$(show)" "8 none"
for set in OMPI_MCA_coll_han_priority=35 OMPI_MCA_coll_han_priority=0 OMPI_MCA_coll=^han; do
    ranks "$set" -m arbitrary -w $mirror --nuioa
    is "the user's $set stays" "$(show):$err" "8 $set:"
done
set=OMPI_MCA_coll_han_priority=35
ranks "--export=ALL,$set" -m arbitrary -w $mirror --nuioa
is "... in --export" "$(show):$err" "8 $set:"
plugin -n node3 off
ranks -m arbitrary -w $mirror --nuioa=export
is "a node without the plugin does the same as the others" "$(show)" "8 $off"
plugin -n node3 on topology=/run/node/topology.xml "${patient[@]}"
launched=$((launched + 1))
user srun -m arbitrary -w node1,node2,node2,node1 --nuioa sh -c "$variables" : \
    -n4 -w node3,node4 sh -c "$variables"
is "all components of a heterogeneous step do the same" "$(show)" "8 $off"

# What an outer step has set is gone in an inner one. The value that the user sets there stays.
cat >"$work/inner" <<END2
[ "\$SLURM_PROCID" = 0 ] || exit 0
unset SLURM_DISTRIBUTION
for options in "" --nuioa; do srun --overlap -N1 -n1 \$options sh -c '$variables'; done
OMPI_MCA_coll_han_priority=40 srun --overlap -N1 -n1 sh -c '$variables'
$home/submit -o $dir/inner.out --wrap '$variables'
cat $dir/inner.out
END2
launched=$((launched + 1))
user srun -m arbitrary -w node1,node2,node2,node1 --nuioa sh "$dir/inner"
is "inner steps and jobs" "$(xargs <<<"$out")" \
    "none none OMPI_MCA_coll_han_priority=40 none"

# measure KIND SRUN-ARG...: gathers and scatters at all roots, among the first $count ranks if it is
# set; sets $got: what came
count=
measure() {
    local kind=$1 settings=("${openmpi_by_ucx[@]}" OMPI_MCA_mpi_yield_when_idle=1) type=pmix
    shift
    [ "$kind" = openmpi ] || {
        settings=(UCX_TLS=self,tcp UCX_NET_DEVICES=eth0 MPIR_CVAR_DEVICE_COLLECTIVES=none
                  "LD_PRELOAD=$dir/progress.so")
        type=pmi2
    }
    launched=$((launched + 1))
    user srun "$@" --mpi=$type env "${settings[@]}" "$dir/han.$kind" $count
    [ "$rc" -eq 0 ] || lose "$kind $*" "$out"
    got=$(xargs <<<"$out")
}

# Profiles of mirrors, of random pairs, and of grids.
python3 - "$work" <<'END2'
import random, sys
random.seed(2026)
def write(name, ranks, pairs):
    with open(f"{sys.argv[1]}/{name}", "w", encoding="utf-8") as file:
        print("nuioa-profile 1\nranks", ranks, file=file)
        for a, b in pairs:
            print("pair", a, b, "1000 1 0\npair", b, a, "1000 1 0", file=file)
for ranks in 8, 12:
    write(f"mirror.{ranks}", ranks, [(r, ranks - 1 - r) for r in range(ranks // 2)])
    for draw in range(3):
        order = random.sample(range(ranks), ranks)
        write(f"pairs{draw}.{ranks}", ranks, zip(order[::2], order[1::2]))
for width, height in (4, 2), (5, 2), (3, 4), (4, 3):
    at = lambda x, y: y * width + x
    write(f"grid.{width}x{height}", width * height,
          [(at(x, y), at(x + 1, y)) for y in range(height) for x in range(width - 1)] +
          [(at(x, y), at(x, y + 1)) for y in range(height - 1) for x in range(width)])
END2

# compare KIND PROFILE NODES TASKS: the printed layout, without nuioa and with it. $default is what
# this MPI has for coll_han_priority; $faulty says whether it is wrong where HAN is on.
compare() {
    local kind=$1 name="$1, $2 on $3 nodes of $4 ranks" options unsafe='' wanted=$default
    user sh -c "cd $dir && nuioa layout ./$2 --nodes node[1-$3] --tasks-per-node $4"
    like "$name: there is a layout" "$out" '^-m arbitrary -w '
    read -ra options <<<"$out"
    [[ ! $err =~ OMPI_MCA_coll_han_priority=0 ]] || unsafe=yes
    measure "$kind" "${options[@]}"
    if [ "$unsafe$faulty" = yesyes ]; then
        like "$name, without nuioa: wrong" "$got" "^$default gather [1-9].* scatter [1-9]"
    else
        is "$name, without nuioa: right" "$got" "$default gather 0 scatter 0"
    fi
    measure "$kind" "${options[@]}" --nuioa
    [ -z "$unsafe" ] || [ "$default" = "priority -1" ] || wanted="priority 0"
    is "$name, with nuioa: right${unsafe:+, HAN is off}" "$got" "$wanted gather 0 scatter 0"
    is "$name: a line says what is off" "$(grep -cE "$says" <<<"$err")" "$((${#unsafe} > 0))"
    safe+="${unsafe:-no} "
}

# Of those an MPI that is right shows some. The last ones are safe.
layouts="mirror.8 4 2
pairs0.8 4 2
pairs1.8 4 2
mirror.8 2 4
pairs2.8 2 4
mirror.12 3 4
pairs0.12 4 3
grid.5x2 2 5
grid.3x4 3 4
pairs1.12 2 6
grid.4x2 2 4
grid.4x3 4 3"
for kind in openmpi mpich; do
    if ! has_command mpicc.$kind; then
        skip "$kind" "no mpicc.$kind"
        continue
    fi
    install -m 0644 "$here/progress.c" "$work"
    ok "$kind: the program compiles" in_node ctl sh -c \
        "cd $dir && mpicc.$kind -std=gnu11 -Wall -Werror -o han.$kind han.c &&
        gcc -D_GNU_SOURCE= -shared -fPIC -o progress.so progress.c"
    measure $kind -N4 -n8 --nuioa
    like "$kind, block: right" "$got" "^priority -?[0-9]+ gather 0 scatter 0\$"
    default=${got%% gather*}
    faulty=
    [ "$default" != "priority 35" ] || faulty=yes
    safe=
    while read -r profile nodes tasks; do
        compare $kind "$profile" "$nodes" "$tasks"
    done < <(if [ -n "$faulty" ]; then echo "$layouts"; else sed -n '1p;5p;$p' <<<"$layouts"; fi)
    like "$kind: orders that are safe, and others" "$safe" 'yes .*no '

    # Nodes of unlike numbers of ranks: all ranks are right, and the first four are not.
    count=4
    for nuioa in "" --nuioa; do
        # shellcheck disable=SC2086
        measure $kind -m arbitrary -w node1,node2,node2,node1,node1,node3 $nuioa
        if [ -z "$nuioa" ] && [ -n "$faulty" ]; then
            like "$kind, the first ranks of unlike nodes, without nuioa: wrong" "$got" \
                ' gather [1-9].* scatter [1-9]'
        else
            like "$kind, the first ranks of unlike nodes${nuioa:+, with nuioa}: right" "$got" \
                ' gather 0 scatter 0$'
        fi
    done
    count=
done
finish
