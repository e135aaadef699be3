#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# srun --nuioa-trace beside tools that count the calls of MPI (PMPI): each counts with the trace
# what it counts without, and the trace is right or says which tool hides it. And what srun says of
# a trace that was not written.
. "$(dirname "$0")/testlib.sh"
setup
need_trace
programs=$here/../trace
tool=/run/stage/usr/bin/nuioa
plugin on "topology=$topology" "${patient[@]}"
work=$CLUSTER_DIR/home/tools dir=$home/tools
install -d -m 1777 "$work"

# mpi KIND N COMMAND SRUN-ARG...: on one node, by shared memory; see 50-trace.t
mpi() {
    local kind=$1 n=$2 command=$3
    local settings=(OMPI_MCA_btl=^tcp OMPI_MCA_btl_vader_single_copy_mechanism=none
        OMPI_MCA_btl_sm_single_copy_mechanism=none OMPI_MCA_osc=^ucx) pmi=pmix
    shift 3
    launched=$((launched + 1))
    [ "$kind" = openmpi ] || { settings=(UCX_TLS=self,posix); pmi=pmi2; }
    # shellcheck disable=SC2086
    user env "${settings[@]}" ${preload:+"LD_PRELOAD=$preload"} srun -n "$n" --mpi=$pmi -w node1 \
        --exclusive "$@" $command
    # shellcheck disable=SC2053
    [[ $rc = ${wanted_rc:-0} ]] || lose "$command $*"
}
counts() { grep '^count ' <<<"$out" | sort; }
known() { grep '^pair ' <<<"$out"; }
# What is said of the trace, but what to type next.
said() { grep 'nuioa: trace' <<<"$err" | grep -v 'nuioa: trace: written\. '; }
pairs() {
    in_node ctl "$tool" profile "$dir/$1" --out /tmp/merged >/dev/null &&
        in_node ctl grep -E '^(pair|coll)' /tmp/merged
}

# counted NAME KIND COMMAND: sets $wanted to what the tool counts without a trace
counted() {
    mpi "$2" 4 "$3"
    wanted=$(counts)
    like "$2: $1 counts" "$wanted" '(startall|isend|fortran) [1-9]'
}
# same NAME KIND COMMAND: the tool counts $wanted with a trace, whose profile is $2
same() {
    rm -f "$work/$2"
    mpi "$2" 4 "$3" --nuioa-trace="$dir/$2"
    is "$2: $1 counts the same with a trace" "$(counts)" "$wanted"
}
# hidden NAME KIND FILE: the last run was not recorded, and one line names the tool's file
hidden() {
    local line="nuioa: trace: not recorded: $3 takes MPI_Init before nuioa. Link this tool to the"
    is "$2: ... the trace names $1" "$(said | grep -v 'srun sees')|$(ls "$work/$2" 2>/dev/null)" \
        "$line program, as a shared library|"
}

for kind in openmpi mpich; do
    if ! command -v mpicc.$kind >/dev/null || [ ! -e "$installed/libnuioa-trace-$kind.so" ]; then
        skip "$kind" "no mpicc.$kind, or built without it"
        continue
    fi
    cc=("mpicc.$kind" -Wall -Wextra -Werror -std=gnu11)
    counter=libcounter.$kind.so fortran=libcounter-fortran.$kind.so
    link=(-L "$work" "-Wl,--no-as-needed,-rpath,$dir")
    ok "$kind: the tool compiles" "${cc[@]}" -shared -fPIC -o "$work/$counter" \
        "$programs/counter.c"
    ok "$kind: a program compiles" "${cc[@]}" -o "$work/plain.$kind" "$programs/irregular.c"
    ok "$kind: a program with the tool compiles" "${cc[@]}" -o "$work/linked.$kind" \
        "$programs/irregular.c" "${link[@]}" "-l:$counter"
    ok "$kind: a program that contains the tool compiles" "${cc[@]}" -o "$work/static.$kind" \
        "$programs/irregular.c" "$programs/counter.c"

    counted "a tool that is linked" $kind "$dir/linked.$kind"
    same "... it" $kind "$dir/linked.$kind"
    is "$kind: ... the profile is what the program did, each message once" "$(pairs $kind)" \
        "$(known)"
    is "$kind: ... nothing is said" "$(said)" ""
    preload=$dir/$counter
    counted "a tool that is preloaded" $kind "$dir/plain.$kind"
    same "... it" $kind "$dir/plain.$kind"
    hidden "it" $kind "$dir/$counter"
    preload=
    same "a tool in the program" $kind "$dir/static.$kind"
    hidden "the program" $kind "$dir/static.$kind"
    cat >"$work/behind" <<END
#!/bin/sh
LD_PRELOAD="\$LD_PRELOAD:$dir/$counter" exec $dir/plain.$kind
END
    chmod 755 "$work/behind"
    same "a tool that is preloaded behind" $kind "$dir/behind"
    is "$kind: ... the profile is what the program did" "$(pairs $kind)|$(said)" "$(known)|"

    for program in fortran fortran08; do
        if ! command -v mpifort.$kind >/dev/null; then
            skip "$kind: $program" "no mpifort.$kind"
            continue
        fi
        ok "$kind: a tool for Fortran compiles" "${cc[@]}" -shared -fPIC -DFORTRAN \
            -o "$work/$fortran" "$programs/counter.c"
        ok "$kind: $program with it compiles" mpifort.$kind -o "$work/$program.$kind" \
            "$programs/$program.f90" "${link[@]}" "-l:$fortran"
        counted "a tool in $program" $kind "$dir/$program.$kind"
        same "... it" $kind "$dir/$program.$kind"
        is "$kind: ... each message is recorded once" "$(pairs $kind | cut -d ' ' -f 1-5 | sort)" \
            "coll 0 1 800 1
coll 1 2 800 1
coll 2 3 800 1
pair 0 1 8000 1
pair 0 2 8000 1
pair 0 3 8000 1"
    done
done

# empty NAME: of the last run srun says one line, and the file is what it was
empty() {
    local line="nuioa: trace: srun sees $dir/p as it was before the launch\. .*Link MPI dynamically"
    like "$1: srun says one line" "$(said)" \
        "^$line, append to LD_PRELOAD, end with MPI_Finalize\$"
    is "... and that is so" "$(stat -c '%i %s %y' "$work/p" 2>/dev/null)" "$before"
}
runner=
for kind in openmpi mpich; do
    [ ! -e "$work/plain.$kind" ] || runner=$kind
done
ok "a static program compiles" gcc -static -xc -o "$work/alone" - <<<'int main(void) { return 0; }'
before=
launched=$((launched + 1))
user srun -n 2 --nuioa-trace="$dir/p" "$dir/alone"
empty "a static program"
launched=$((launched + 1))
user srun -n 2 --nuioa-trace="$dir/p" /bin/bash -c 'exit 0'
empty "no program of MPI"
install -o nobody <(echo "nuioa-profile 1") "$work/p"
before=$(stat -c '%i %s %y' "$work/p")
launched=$((launched + 1))
user srun -n 2 --nuioa-trace="$dir/p" "$dir/alone"
empty "a static program, and an older file"
if [ -n "$runner" ]; then
    wanted_rc=5 mpi $runner 1 "$dir/plain.$runner _exit" --nuioa-trace="$dir/p"
    empty "_exit"
    mpi $runner 1 "env LD_PRELOAD=libm.so.6 $dir/plain.$runner" --nuioa-trace="$dir/p"
    empty "LD_PRELOAD is replaced"
    wanted_rc='[1-9]*' mpi $runner 1 "$dir/plain.$runner crash" --nuioa-trace="$dir/p"
    empty "a crash"
    mpi $runner 1 "$dir/plain.$runner" --nuioa-trace="$dir/p"
    is "it is written: srun says nothing" "$(said)" ""
    mpi $runner 1 "$dir/plain.$runner" --nuioa-trace="$dir/p"
    is "it is written once more, and is as long: srun says nothing" "$(said)" ""
fi
launched=$((launched + 1))
user sh -c "cd $dir && srun -n 1 --nuioa-trace=q true"
like "a relative path" "$(said)" "^nuioa: trace: srun sees $dir/q as it was before the launch"
for typed in --chdir --chd; do
    launched=$((launched + 1))
    user srun -n 1 $typed "$home" --nuioa-trace=tools/q true
    like "a relative path, $typed" "$(said)" "^nuioa: trace: srun sees $dir/q as it was"
done
launched=$((launched + 1))
user srun -n 1 true
is "no trace: srun says nothing" "$(said)" ""
install -m 755 /bin/true "$work/mpirun"
launched=$((launched + 1))
user srun -n 1 --nuioa-trace="$dir/q" "$dir/mpirun"
like "a launcher" "$(said)" '^nuioa: trace: not recorded: this step runs a launcher\. Start the '

rm -rf "$work"
plugin off
finish
