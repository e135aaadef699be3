#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# srun --nuioa-coll=on: the broadcasts of real programs under Open MPI and MPICH over four nodes
# are led by the library, with nuioa's advice, and do what the plain MPI does; what is no MPI
# program, and a job without advice, is left alone. NUIOA_COLL_CALLS: how many random calls are
# compared under each MPI.
. "$(dirname "$0")/testlib.sh"
. "$here/colllib.sh"
setup
need_plugin
need_coll
calls=${NUIOA_COLL_CALLS:-600}
advice=(--nuioa=export --nuioa-hints=heavy=1,4,6)

led() { grep -o "[ ;] *$1 led=[0-9]*" <<<"$err" | sed 's/.*=//'; }
said() { grep -c 'nuioa: coll' <<<"$err"; }
unled() { sed -n 's/.*nuioa: coll: nothing was led: //p' <<<"$err"; }
rights() { echo "$(grep -c ' right$' <<<"$out") $(grep -c ' WRONG$' <<<"$out")"; }

compile() { # KIND
    in_node ctl sh -c "mpicc.$1 -Wall -Wextra -Werror -std=gnu11 -O1 -g -o differ.$1 \
        coll/differ*.c -ldl -lpthread &&
        mpicc.$1 -Wall -Wextra -Werror -std=gnu11 -O1 -o agree.$1 coll/agree.c -ldl"
}

# agrees KIND: when the library speaks to other ranks, and that it leads all together or not at all
agrees() {
    local kind=$1 what library=$preloads/libnuioa-coll-$1.so
    [ "$kind" = openmpi ] || library=$home/progress.so:$library
    mpi "$kind" 4 "env LD_PRELOAD=$library $home/agree.$kind messages self once small" -N4 \
        --exclusive
    for what in messages self once small; do
        like "$kind: collectives that the library adds, $what" "$(grep "^$what:" <<<"$out")" \
            ' right$'
    done
    printf '#!/bin/sh\n[ "$SLURM_PROCID" != 3 ] || export "$1"\nshift\nexec "$@"\n' \
        >"$CLUSTER_DIR/home/but3"
    chmod +x "$CLUSTER_DIR/home/but3"
    mpi "$kind" 8 "env LD_PRELOAD=$library NUIOA_COLL=force $home/agree.$kind led merged" -N4 \
        --exclusive
    for what in led merged; do
        like "$kind: told the same, $what: led" "$(grep "^$what:" <<<"$out")" ' right$'
    done
    for what in NUIOA_COLL=off NUIOA_COLL_ALGORITHM=bcast=flat; do
        mpi "$kind" 8 "env LD_PRELOAD=$library NUIOA_COLL=force $home/but3 $what
            $home/agree.$kind apart" -N4 --exclusive
        like "$kind: $what on one rank: nobody leads" "$out" ' 1 of the library.s own: right$'
        is "$kind: $what on one rank: which is said" \
            "$(grep -c 'have different settings' <<<"$err")" 1
    done
    mpi "$kind" 8 "$home/but3 NUIOA_COLL=off $prefix$home/agree.$kind apart" -N4 --exclusive \
        "${advice[@]}" --nuioa-coll=on
    like "$kind: off for one rank, by the shim" "$out" ' 1 of the library.s own: right$'
}

# compared KIND NAME DIFFER-ARG...: of 8 ranks on 4 nodes, each algorithm of the library in turns
compared() {
    local kind=$1 name=$2 library=$preloads/libnuioa-coll-$1.so
    shift 2
    [ "$kind" = openmpi ] || library=$home/progress.so:$library
    mpi "$kind" 8 "env LD_PRELOAD=$library NUIOA_COLL=force $home/differ.$kind --timeout 100 $*" \
        -N4 --exclusive "${advice[@]}"
    like "$kind: $name" "$out" '[1-9][0-9]* compared by all ranks.* 0 differences'
    note "$out" "$(grep 'nuioa: coll' <<<"$err")"
}

for kind in openmpi mpich; do
    bench=/run/stage/usr/bin/nuioa-bench-$kind
    can_mpi $kind || continue
    ok "$kind: the program that compares compiles" compile $kind
    prefix=
    if [ $kind = mpich ]; then
        in_node ctl gcc -D_GNU_SOURCE= -shared -fPIC -o progress.so coll/progress.c
        prefix="env LD_PRELOAD=$home/progress.so:$preloads/libnuioa-preload.so "
    fi
    plugin on "topology=$topology" "${patient[@]}"

    # The shim finds the library; leaders are those that nuioa names. The built-in table leads
    # this size.
    options="--sizes 64K --rounds 1 --calls 2 --warmup 1 --verify"
    mpi $kind 8 "$prefix$bench $options" -N4 --exclusive "${advice[@]}" --nuioa-coll=on
    is "$kind: every result is right, with and without" "$(rights)" "10 0"
    like "$kind: the library is there" "$out" 'library: yes'
    like "$kind: it leads bcast" "$(led bcast)" '^[1-9]'
    is "$kind: it leads nothing else" "$(grep -o '[a-z]* led=' <<<"$err")" "bcast led="
    is "$kind: and does not say that it led nothing" "$(unled)" ""
    mpi $kind 8 "$prefix$bench $options -c bcast --json" -N4 --exclusive "${advice[@]}" \
        --nuioa-coll=on
    is "$kind: JSON" "$(python3 -c 'import json, sys; d = json.load(sys.stdin); r = d["rows"][0]
print(d["ranks"], d["nodes"], len(d["rows"]), r["collective"], r["bytes"], r["wrong_bytes"])' \
        <<<"$out")" "8 4 1 bcast 65536 0"

    # Longer ones are left to the MPI library: nobody shall be slower by the default.
    long="--sizes 1M --rounds 1 --calls 2 --warmup 1 --verify -c bcast"
    mpi $kind 8 "$prefix$bench $long" -N4 --exclusive "${advice[@]}" --nuioa-coll=on
    is "$kind: 1 MB is right, and not led" "$(rights)|$(led bcast)" "1 0|0"
    like "$kind: 1 MB: one line says why" "$(unled)" '^no row of the table is for these nodes, '
    with=NUIOA_COLL=force mpi $kind 8 "$prefix$bench $long" -N4 --exclusive "${advice[@]}" \
        --nuioa-coll=on
    like "$kind: 1 MB by force: led" "$(rights)|$(led bcast)" '^1 0[|][1-9]'

    # Off, by the option, by the user's environment, by what nuioa does not say.
    mpi $kind 8 "$prefix$bench $options -c bcast" -N4 --exclusive "${advice[@]}"
    is "$kind: without the option nothing is led" "$(said)" 0
    with=NUIOA_COLL=off mpi $kind 8 "$prefix$bench $options -c bcast" -N4 --exclusive \
        "${advice[@]}" --nuioa-coll=on
    is "$kind: the user's NUIOA_COLL=off stands" "$(led bcast | grep -v '^0$')" ""
    mpi $kind 8 "${prefix}taskset -c 0 $bench $options -c bcast" -N4 --exclusive "${advice[@]}" \
        --nuioa-coll=on
    is "$kind: two ranks on one CPU: nothing is led" "$(led bcast | grep -v '^0$')" ""
    is "$kind: two ranks on one CPU: right" "$(rights)" "1 0"
    like "$kind: two ranks on one CPU: one line says why" "$(unled)" '^ranks share CPUs; [^;]*$'
    mpi $kind 8 "$prefix$bench --sizes 1K --rounds 1 --calls 2 --warmup 1 -c bcast" -N4 \
        --exclusive "${advice[@]}" --nuioa-coll=on
    like "$kind: small broadcasts: one line says why" "$(unled)" '^no broadcast had [0-9]* bytes or'
    mpi $kind 4 "$prefix$bench $options -c bcast" -N4 --exclusive "${advice[@]}" --nuioa-coll=on
    like "$kind: a rank on each node: one line says why" "$(unled)" '^each node has one rank; '
    plugin on "topology=$topology" "${patient[@]}" coll=on
    mpi $kind 4 "$prefix$bench $options -c bcast" -N4 --exclusive "${advice[@]}"
    is "$kind: coll=on of the site, which nobody typed: nothing is said" \
        "$(unled)|$(led bcast)" "|0"
    plugin on "topology=$topology" "${patient[@]}"
    if [ $kind = openmpi ]; then # MPICH may hang after a short run on one node, without nuioa too
        mpi $kind 4 "$prefix$bench $options -c bcast" -w node1 --exclusive "${advice[@]}" \
            --nuioa-coll=on
        like "$kind: one node: one line says why" "$(unled)" '^the ranks are on one node; [^;]*$'
        mpi $kind 4 "$bench $options -c bcast" -w node1 --exclusive
        is "$kind: without the library nuioa-bench says that it compares nothing" \
            "$(grep -c '^nuioa-bench: no library is preloaded, .*use srun --nuioa-coll=on$' \
                <<<"$err")" 1
        user env "${openmpi_by_ucx[@]}" srun -n1 --mpi=pmix "$bench"
        is "$kind: nuioa-bench alone: one line, and it ends at once" \
            "$rc|$out|$(grep -c '^nuioa-bench: one rank alone .* start several, ' <<<"$err")" "1||1"
        user env "${openmpi_by_ucx[@]}" srun -n1 --mpi=pmix "$bench" -c bcast --sizes 1 --rounds 1 \
            --calls 10001 --json
        like "$kind: nuioa-bench makes as many calls as it is told" "$out" '"calls": 10001,'
    fi
    plugin -n node2 on topology=/no/such/file
    mpi $kind 8 "$prefix$bench $options -c bcast" -N4 --exclusive "${advice[@]}" --nuioa-coll=on
    is "$kind: a node without advice: right" "$(rights)" "1 0"
    like "$kind: a node without advice: not used, which is said" "$err" \
        'coll: not used: not all nodes have said who leads them'
    plugin -n node2 off
    mpi $kind 8 "$prefix$bench $options -c bcast" -N4 --exclusive "${advice[@]}" --nuioa-coll=on \
        --nuioa-timeout-ms=500
    is "$kind: a node without the plugin: right" "$(rights)" "1 0"
    is "$kind: a node without the plugin: nothing is led" "$(led bcast)" ""
    plugin on "topology=$topology" "${patient[@]}"

    agrees $kind

    # A table made here and read again.
    with="LD_PRELOAD=$preloads/libnuioa-coll-$kind.so"
    [ $kind = openmpi ] || with="LD_PRELOAD=$home/progress.so:$preloads/libnuioa-coll-$kind.so"
    install -d -o nobody "$CLUSTER_DIR/home/table"
    mpi $kind 8 "env $with $bench --table $home/table/$kind --gain -90 -c bcast --sizes 64k:1M \
        --step 16 --rounds 1 --calls 1 --warmup 1" -N4 --exclusive "${advice[@]}"
    with=
    like "$kind: --table writes rows for 2 ranks on each of 4 nodes" \
        "$(grep -c '^bcast *4 2 ' "$CLUSTER_DIR/home/table/$kind")" '^[12]$'
    with=NUIOA_COLL_TABLE=$home/table/$kind mpi $kind 8 "$prefix$bench $options -c bcast" -N4 \
        --exclusive "${advice[@]}" --nuioa-coll=on
    is "$kind: the library takes it" \
        "$(grep -c 'built-in' <<<"$err")|$(led bcast | grep -c '[1-9]')" "0|1"

    # A table and a choice of a version that led more than broadcasts.
    { cat "$CLUSTER_DIR/home/table/$kind"; echo "allreduce 4 2 0 ring+window"; } \
        >"$CLUSTER_DIR/home/former.$kind"
    with="NUIOA_COLL_TABLE=$home/former.$kind NUIOA_COLL_ALGORITHM=reduce=pass" mpi $kind 8 \
        "$prefix$bench $options -c bcast" -N4 --exclusive "${advice[@]}" --nuioa-coll=on
    is "$kind: the rest of it counts; each thing that is left out is one line" \
        "$(grep -c 'line [0-9]*: this row is left out: only bcast is led' <<<"$err") \
$(grep -c '"reduce" is ignored: bcast=ALGORITHM is expected' <<<"$err") \
$(led bcast | grep -c '[1-9]')" "1 1 1"

    compared $kind "$calls random calls" --calls "$calls" --seed 1
    if [ $kind = mpich ]; then
        skip "mpich: two threads at once" \
            "MPICH over UCX's tcp stops now and then, without nuioa too"
    else
        compared $kind "two threads at once" --calls $((calls / 40)) --seed 2 --threads
        like "$kind: with threads it stands down, which is said" "$err" \
            'not used: .*MPI_THREAD_MULTIPLE'
    fi
    compared $kind "communicators that nobody frees" --calls 50 --seed 3 --leave
    compared_churn=$preloads/libnuioa-coll-$kind.so
    [ $kind = openmpi ] || compared_churn=$home/progress.so:$compared_churn
    mpi $kind 8 "env LD_PRELOAD=$compared_churn NUIOA_COLL=force $home/differ.$kind --churn 100" \
        -N4 --exclusive "${advice[@]}"
    is "$kind: a freed communicator leaves no memory and no file" "$(sed -n \
        's/churn: library: 100 communicators leave \([0-9-]*\) maps, \([0-9-]*\) files.*/\1 \2/p' \
        <<<"$out" | awk '{ print ($1 > 8), ($2 > 0) }')" "0 0"
    note "$out"

    if has_command mpifort.$kind && has_command gfortran; then
        ok "$kind: the Fortran program compiles" in_node ctl mpifort.$kind -o fortran.$kind \
            coll/fortran.f90
        with=NUIOA_COLL=force mpi $kind 8 "$prefix$home/fortran.$kind" -N4 --exclusive \
            "${advice[@]}" --nuioa-coll=on
        is "$kind: Fortran: right" "$out" wrong=0
        like "$kind: Fortran: led" "$(led bcast)" '^[1-9]'
    else
        skip "$kind: Fortran" "no mpifort.$kind or no gfortran"
    fi

    # A program that a shell starts, and programs that are none of MPI's.
    cat >"$CLUSTER_DIR/home/shell" <<END
#!/bin/sh
exec $prefix$bench $options -c bcast
END
    chmod +x "$CLUSTER_DIR/home/shell"
    mpi $kind 8 "$home/shell" -N4 --exclusive "${advice[@]}" --nuioa-coll=on
    like "$kind: started by a shell: led" "$(led bcast)" '^[1-9]'
    for command in "sh -c true" "python3 -c pass" hostname; do
        has_command "${command%% *}" || continue
        launched=$((launched + 1))
        # shellcheck disable=SC2086
        user env NUIOA_COLL_STATS=1 srun -N4 -n 4 --nuioa=export --nuioa-coll=on $command
        is "$kind: $command: nothing is said" "$rc|$err" "0|"
    done
done

plugin off
finish
