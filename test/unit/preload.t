#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# libnuioa-preload.so leads the calls of a program to our library for the ABI with which the program
# was compiled, and to no other. Needs no MPI: small stand-ins have the names and versions of MPI
# libraries, and of ours.
#
# NUIOA: the program; libnuioa-preload.so is the one of its build tree.

. "$(dirname "$0")/../tap.sh"
tool=${NUIOA:-$PWD/../../tools/nuioa}
shim=$(dirname "$tool")/../mpi/libnuioa-preload.so
give_up() { skip_all "libnuioa-preload.so" "$1"; }
[ -e "$shim" ] || give_up "built without MPI"
cc=$(command -v cc || command -v gcc) || give_up "no compiler of the name cc or gcc"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!SLURM_@}" "${!NUIOA_@}" LD_PRELOAD LD_LIBRARY_PATH
cp "$shim" "$work/libnuioa-preload.so"

# library FILE <SOURCE: in the working directory, with this file name as its soname
library() { ok "$1 compiles" "$cc" -shared -fPIC -xc -o "$work/$1" "-Wl,-soname,$1" -; }
# mpi FILE VERSION: an MPI library of which there is just enough
mpi() {
    library "$1" <<<"#include <stdio.h>
#include <string.h>
int PMPI_Get_library_version(char *text, int *length)
{
    *length = (int)strlen(strcpy(text, \"$2\"));
    return 0;
}
static int initialized;
int PMPI_Comm_rank(void) { return 0; }
int PMPI_Init(void) { return initialized = 1, 0; }
int PMPI_Initialized(int *flag) { return *flag = initialized, 0; }
int MPI_Send(void) { return 0; }
int MPI_Init(void) { return puts(\"$1\") < 0; }"
}
for name in trace-{mpich,openmpi}; do
    library "libnuioa-$name.so" <<<"void *(*nuioa_trace_find)(const char *);
int puts(const char *); int MPI_Init(void) { return puts(\"ours: $name\") < 0; }"
done
ok "a program that loads its MPI library itself compiles" \
    "$cc" -xc -o "$work/interpreter" - -ldl <<<'#include <dlfcn.h>
extern int MPI_Init(void) __attribute__((weak));
int main(int argc, char **argv)
{
    return argc < 2 || !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) || !MPI_Init || MPI_Init();
}'

# started VARIABLE... -- PROGRAM ARGUMENT...: its status and what it printed, in one line
started() {
    local settings=()
    while [ "$1" != -- ]; do settings+=("$1"); shift; done
    shift
    timeout 60 env "${settings[@]}" LD_PRELOAD="$work/libnuioa-preload.so" "$@" \
        >"$work/out" 2>"$work/err"
    echo "$?|$(<"$work/out")|$(<"$work/err")"
}

why="the program uses the standard ABI of MPI 5, libmpi_abi; compile it with mpicc"
why+=", for the MPI library's own ABI"
while read -r file own version; do
    mpi "$file" "$version"
    ok "a program for $file ($version) compiles" "$cc" -xc -o "$work/program" - \
        -xnone "$work/$file" "-Wl,-rpath,$work" <<<'int MPI_Init(void);
int main(void) { return MPI_Init(); }'
    for how in "is linked" "a module loads"; do
        form="$file ($version) that $how"
        program=("$work/program")
        [ "$how" = "is linked" ] || program=("$work/interpreter" "$work/$file")
        if [[ $own == no* ]]; then
            [ "$own" = none ] || why="neither Open MPI nor MPICH"
            trace="0|$file|nuioa: trace: not recorded: $why" rank="0|$file|"
        else
            trace="0|ours: trace-$own|" rank=$trace
        fi
        is "trace: $form" "$(started NUIOA_TRACE_FILE="$work/profile" -- "${program[@]}")" "$trace"
        is "one rank says it: $form" \
            "$(started NUIOA_TRACE_FILE="$work/profile" SLURM_PROCID=1 -- "${program[@]}")" "$rank"
        is "nothing is wanted: $form" "$(started -- "${program[@]}")" "0|$file|"
    done
done <<'END'
libmpi_abi.so.1 none MPICH Version: 5.0.2
libmpi_abi.so.1 none Open MPI v6.0.0rc2
libmpi_abi_mpich.so.1.0.0 none MPICH Version: 5.0.2
libmpi.so.12 no Another MPI 1.0
libmpi.so.12 mpich MPICH Version: 5.0.2
libmpi.so.40 openmpi Open MPI v6.0.0rc2
END

# Tools in front of it: one hides all, one hides a call, one hides nothing.
library libhides.so <<<'int PMPI_Init(void);
int MPI_Init(void) { return PMPI_Init(); }'
library libsends.so <<<'int MPI_Send(void) { return 0; }'
library libpasses.so <<<'#define _GNU_SOURCE
#include <dlfcn.h>
int MPI_Init(void) { return ((int (*)(void))dlsym(RTLD_NEXT, "MPI_Init"))(); }
int MPI_Send(void) { return ((int (*)(void))dlsym(RTLD_NEXT, "MPI_Send"))(); }'
# behind TOOL VARIABLE...: what is said in a program for Open MPI behind this tool
behind() {
    local list=$work/$1:$work/libnuioa-preload.so
    shift
    timeout 60 env "$@" LD_PRELOAD="$list" "$work/program" 2>"$work/err" >"$work/out"
    cat "$work/err"
}
cp "$work/interpreter" "$work/podman" # without an argument it only ends
is "trace: what starts a container" \
    "$(started NUIOA_TRACE_FILE="$work/profile" -- "$work/podman")" \
    "1||nuioa: trace: not recorded: it cannot look into a container, started by podman"
mv "$work/libnuioa-trace-openmpi.so" "$work/aside"
is "trace: ours is not there" "$(started NUIOA_TRACE_FILE="$work/profile" -- "$work/program")" \
    "0|libmpi.so.40|nuioa: trace: not recorded: nothing for this MPI: openmpi"
mv "$work/aside" "$work/libnuioa-trace-openmpi.so"
library libnone.so <<<'int none;'
is "a call that no MPI library has" \
    "$(started -- "$work/interpreter" "$work/libnone.so" 2>"$work/shell")" \
    "134||nuioa: preload: MPI_Init: no MPI library has it"
link="before nuioa. Link this tool to the program, as a shared library"
trace=NUIOA_TRACE_FILE=$work/profile
is "a tool in front that hides all is named" "$(behind libhides.so "$trace")" \
    "nuioa: trace: not recorded: $work/libhides.so takes MPI_Init $link"
is "... by one rank" "$(behind libhides.so "$trace" SLURM_PROCID=1)" ""
is "... where a trace is wanted" "$(behind libhides.so)" ""
is "a tool in front that hides a call is named" "$(behind libsends.so "$trace")" \
    "nuioa: trace: calls may be missing: $work/libsends.so takes MPI_Send $link"
is "a tool in front that hides nothing is not" "$(behind libpasses.so "$trace")" ""
done_testing
