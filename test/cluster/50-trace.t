#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# srun --nuioa-trace: real MPI programs whose traffic is known, traced under Open MPI and MPICH;
# the profile is what they did, and the next run takes it as hints.
. "$(dirname "$0")/testlib.sh"
setup
need_trace
programs=$here/../trace
tool=/run/stage/usr/bin/nuioa
plugin on "topology=$topology" "${patient[@]}"

# mpi KIND N COMMAND SRUN-ARG...: $out, $err; a launch that does not end well is lost. Open MPI:
# one-sided by messages, because UCX's own fails now and then where several nodes are one machine;
# on one node by shared memory, because MPI_Win_flush does not end by messages through UCX, and
# pml/monitoring is not loaded beside it. MPICH: one node, for a barrier of its own (see
# 21-pmix-mpi.t).
mpi() {
    local kind=$1 n=$2 command=$3 settings
    shift 3
    launched=$((launched + 1))
    if [ "$kind" = openmpi ]; then
        settings=("${openmpi_by_ucx[@]}")
        [[ " $* " != *" -w node1 "* ]] || settings=(OMPI_MCA_btl=self,vader
            OMPI_MCA_btl_vader_single_copy_mechanism=none)
        settings+=(OMPI_MCA_osc=pt2pt)
        set -- --mpi=pmix "$@"
    else
        settings=(UCX_TLS=self,posix)
        set -- --mpi=pmi2 "$@"
    fi
    # shellcheck disable=SC2086
    user env "${settings[@]}" srun -n "$n" "$@" $command
    # shellcheck disable=SC2053
    [[ $rc = ${wanted_rc:-0} ]] || lose "$command $*"
}

# pairs FILE: of that profile in the users' directory, each pair once
pairs() {
    in_node ctl "$tool" profile "$home/$1" --out /tmp/merged &&
        in_node ctl grep -E '^(pair|coll)' /tmp/merged
}
# brief FILE: the same on one line, without the large bytes; "coll" is a c before the pair
brief() { pairs "$1" | sed 's/^pair //; s/^coll /c/' | cut -d ' ' -f 1-4 | tr ' \n' '/ '; }
# What is said of the trace, but what to type next.
trace_lines() { grep 'nuioa: trace' <<<"$err" | grep -v 'nuioa: trace: written\. '; }
said() { trace_lines | wc -l; }

# has KIND CALL: that MPI library has it
has() {
    "mpicc.$1" -xc -o "$CLUSTER_DIR/home/has" - 2>/dev/null <<<"#include <mpi.h>
        int main(void) { return !MPI_$2; }"
}

# forms KIND [OPTION...]: the programs with other forms of their calls; see test/trace/forms.h.
# Without options the collectives as they are.
forms() {
    local kind=$1 times=1 ibcast=
    shift
    [ $# -gt 0 ] || ibcast=ibcast
    ok "$kind: collective compiles with $*" "mpicc.$kind" -Wall -Wextra -Werror -std=gnu11 "$@" \
        -o "$CLUSTER_DIR/home/form.$kind" "$programs/collective.c"
    mpi "$kind" 4 "$home/form.$kind $ibcast" -w node1 --exclusive \
        --nuioa-trace="$home/trace/$kind.form"
    [[ "$*" != *PERSISTENT* ]] || times=2
    is "$kind: all collectives with $*" "$(brief "trace/$kind.form" | tr ' /' '\n ' | sort)" \
        "$(awk -v times=$times -v ibcast=$ibcast '$1 != "ibcast" || ibcast {
            for (i = 2; i <= NF; i++) {
                split($i, pair, "/")
                bytes[pair[1] " " pair[2]] += times * pair[3]
                msgs[pair[1] " " pair[2]] += times * pair[4]
            }
        } END { for (p in bytes) print p, bytes[p], msgs[p] }' <<<"$collectives" | sort)"
    [[ "$*" = -DLARGE ]] || return
    for program in irregular modes; do
        ok "$kind: $program compiles with $*" "mpicc.$kind" -Wall -Wextra -Werror -std=gnu11 "$@" \
            -o "$CLUSTER_DIR/home/form.$kind" "$programs/$program.c"
        mpi "$kind" 4 "$home/form.$kind" -w node1 --exclusive --nuioa-trace="$home/trace/$kind.form"
        is "$kind: $program with $*" "$(pairs "trace/$kind.form")" "$out"
    done
}

# Each rank must send and receive this in a collective: the model is in mpi/trace/collective.c. What
# it calls a ring or a chain is a line `coll`.
collectives='bcast c1/2/1000/1 c2/3/1000/1 c3/0/1000/1
ibcast c1/2/1000/1 c2/3/1000/1 c3/0/1000/1
reduce c0/3/1000/1 c2/1/1000/1 c3/2/1000/1
allreduce c0/1/1500/6 c1/2/1500/6 c2/3/1500/6 c3/0/1500/6
scan c0/1/1000/1 c1/2/1000/1 c2/3/1000/1
gatherv 0/2/10/1 1/2/20/1 3/2/40/1
scatterv 2/0/10/1 2/1/20/1 2/3/40/1
allgather c0/1/300/3 c1/2/300/3 c2/3/300/3 c3/0/300/3
allgatherv c0/1/80/3 c1/2/70/3 c2/3/60/3 c3/0/90/3
reduce_scatter c0/1/90/3 c1/2/80/3 c2/3/70/3 c3/0/60/3'
alltoall=alltoall
for ((i = 0; i < 16; i++)); do
    ((i / 4 == i % 4)) || alltoall+=" $((i / 4))/$((i % 4))/100/1"
done
collectives+=$'\n'$alltoall

for kind in openmpi mpich; do
    if ! command -v mpicc.$kind >/dev/null; then
        skip "$kind" "no mpicc.$kind"
        continue
    fi
    if [ ! -e "$installed/libnuioa-trace-$kind.so" ]; then
        skip "$kind" "built without it"
        continue
    fi
    for program in irregular modes lu; do
        ok "$kind: $program compiles" "mpicc.$kind" -Wall -Wextra -Werror -std=gnu11 \
            -o "$CLUSTER_DIR/home/$program.$kind" "$programs/$program.c"
    done
    install -d -m 1777 "$CLUSTER_DIR/home/trace"
    nodes=(-N2)
    [ $kind = openmpi ] || nodes=(-w node1)
    irregular=$home/irregular.$kind

    # Point to point in all modes, on a communicator with other ranks, put and get.
    mpi $kind 8 "$irregular" "${nodes[@]}" --exclusive --nuioa-trace="$home/trace/$kind"
    known=$out
    is "$kind: nothing is said but what to type next" "$(said)|$(grep 'nuioa: trace' <<<"$err")" \
        "0|nuioa: trace: written. To use it: srun --nuioa=report $(
            echo "--nuioa-hints=$home/trace/$kind ...")"
    like "$kind: the program knows its pairs" "$(wc -l <<<"$known")" '^[3-5][0-9]$'
    is "$kind: the profile is what the program did" "$(pairs "trace/$kind")" "$known"
    is "$kind: it belongs to the user" "$(stat -c %U "$CLUSTER_DIR/home/trace/$kind")" nobody
    is "$kind: nothing else is left" "$(cd "$CLUSTER_DIR/home/trace" && echo $kind*)" "$kind"

    # The next run takes it: the ranks in the middle weigh most.
    mpi $kind 8 "$irregular" "${nodes[@]}" --exclusive --nuioa=report \
        --nuioa-hints="$home/trace/$kind"
    is "$kind: the second run has hints" "$out|$(grep -c 'no hints' <<<"$err")" "$known|0"
    launch 8 "${nodes[@]}" --exclusive --nuioa --nuioa-hints="$home/trace/$kind"
    # On one node nothing leaves it: no rank weighs anything then.
    if [ $kind = openmpi ]; then
        like "$kind: the heaviest ranks are those in the middle" \
            "$(sed -n 's/^\([0-9]*\) NUIOA_WEIGHT=/\1 /p' <<<"$out" | sort -k 2 -g -r | head -n 2 |
                cut -d ' ' -f 1 | paste -s -d ' ')" '^[2345] [2345]$'
    fi

    # Ready sends, persistent ones of all kinds, accumulating and request-based one-sided calls,
    # neighbours.
    mpi "$kind" 4 "$home/modes.$kind" -w node1 --exclusive --nuioa-trace="$home/trace/$kind.modes"
    is "$kind: other ways to send" "$(wc -l <<<"$out"): $(pairs "trace/$kind.modes")" "11: $out"

    # The stencil of the slides on TreeMatch.
    mpi $kind 8 "$home/lu.$kind" "${nodes[@]}" --exclusive --nuioa-trace="$home/trace/$kind.lu"
    is "$kind: lu has $(wc -l <<<"$out") pairs" "$(pairs "trace/$kind.lu")" "$out"

    # A program started by a shell; the user's own LD_PRELOAD stays.
    mpi "$kind" 4 "sh -c $irregular" -w node1 --exclusive --nuioa-trace="$home/trace/$kind.shell"
    is "$kind: started by a shell" "$(pairs "trace/$kind.shell")" "$out"
    launched=$((launched + 1))
    user env LD_PRELOAD=libm.so.6 srun -n 1 --nuioa-trace="$home/x" sh -c 'echo $LD_PRELOAD'
    like "$kind: the user's LD_PRELOAD stays, and comes first" "$out" \
        '^libm\.so\.6:/[^:]*/libnuioa-preload\.so$'

    forms $kind

    # MPI 4 added these.
    if has $kind Bcast_init; then
        forms $kind -DPERSISTENT
    else
        skip "$kind: persistent collectives" "this MPI has none"
    fi
    if has $kind Send_c; then
        forms $kind -DLARGE
        forms $kind -DLARGE -DPERSISTENT
    else
        skip "$kind: large counts" "this MPI has none"
    fi
    ok "$kind: counts compiles" "mpicc.$kind" -Wall -Wextra -Werror -D_GNU_SOURCE= \
        -I "$here/../.." -o "$CLUSTER_DIR/home/counts" "$programs/counts.c" \
        "$here"/../../mpi/trace/{collective,comm,point,table}.c -lpthread
    mpi $kind 2 "$home/counts" -w node1 --exclusive
    is "$kind: more elements than an int holds" "$out" "38000000000 4 38000000000"

    # The end does not come: what the rank has, marked as partial.
    wanted_rc='[1-9]*' mpi "$kind" 4 "$irregular abort" -w node1 --exclusive \
        --nuioa-trace="$home/trace/$kind.abort"
    is "$kind: MPI_Abort leaves a partial profile" \
        "$(sed -n 2p "$CLUSTER_DIR/home/trace/$kind.abort")" "ranks 4 partial"
    is "$kind: with what the rank that aborted knew" \
        "$(awk '/^pair/ { n++; if ($2 != 1 && $3 != 1) print } END { print (n > 0) }' \
            "$CLUSTER_DIR/home/trace/$kind.abort")" 1
    wanted_rc=4 mpi "$kind" 4 "$irregular exit" -w node1 --exclusive \
        --nuioa-trace="$home/trace/$kind.exit"
    is "$kind: so does exit without MPI_Finalize" \
        "$(sed -n 2p "$CLUSTER_DIR/home/trace/$kind.exit")" "ranks 4 partial"

    # The umask is that of all threads of the program.
    ok "$kind: mask compiles" "mpicc.$kind" -Wall -Wextra -Werror -D_GNU_SOURCE= -std=gnu11 \
        -o "$CLUSTER_DIR/home/mask.$kind" "$programs/mask.c" -ldl
    mpi "$kind" 2 "$home/mask.$kind" -w node1 --exclusive --nuioa-trace="$home/trace/$kind.mask"
    is "$kind: the umask is obeyed, and nobody changes it meanwhile" \
        "$out|$(stat -c %a "$CLUSTER_DIR/home/trace/$kind.mask")" "|640"

    # Threads that use a communicator, or a window, for the first time at once. Memory that is freed
    # is overwritten, so that its use shows. MPI_Put of MPICH 4.0 fails with threads.
    ok "$kind: first_use compiles" "mpicc.$kind" -Wall -Wextra -Werror -std=gnu11 \
        -o "$CLUSTER_DIR/home/first_use.$kind" "$programs/first_use.c" -lpthread
    mpi "$kind" 1 "env MALLOC_PERTURB_=165 $home/first_use.$kind" -w node1 --exclusive \
        --nuioa-trace="$home/trace/$kind.first"
    is "$kind: threads use communicators for the first time" "$(pairs "trace/$kind.first")" "$out"
    if [ $kind = openmpi ]; then
        mpi "$kind" 1 "env MALLOC_PERTURB_=165 OMPI_MCA_osc=ucx $home/first_use.$kind window" \
            -w node1 --exclusive --nuioa-trace="$home/trace/$kind.first"
        is "$kind: threads use windows for the first time" "$(pairs "trace/$kind.first")" "$out"
    fi

    # Without memory at the end nothing is missing; without memory to count it is said.
    ok "$kind: no_memory compiles" "mpicc.$kind" -Wall -Wextra -Werror -D_GNU_SOURCE= -std=gnu11 \
        -fno-builtin -o "$CLUSTER_DIR/home/no_memory.$kind" "$programs/no_memory.c" -ldl
    few="partial: 1 of 4 ranks had no memory to count all messages"
    for when in end count; do
        mpi "$kind" 4 "$home/no_memory.$kind $when" -w node1 --exclusive \
            --nuioa-trace="$home/trace/$kind.memory"
        wanted="ranks 4|$out|"
        [ $when = end ] ||
            wanted="ranks 4 partial|$out|nuioa: trace: $home/trace/$kind.memory: $few"
        is "$kind: no memory: $when" "$(sed -n 2p "$CLUSTER_DIR/home/trace/$kind.memory")|$(
            pairs "trace/$kind.memory")|$(trace_lines)" "$wanted"
    done

    # Parts of two lines: some ranks fill their last one, some do not.
    ok "$kind: a trace with small parts compiles" "mpicc.$kind" -D_GNU_SOURCE= -DPART_LINES=2 \
        -I "$here/../.." -I "$here/../../lib" -o "$CLUSTER_DIR/home/parts.$kind" \
        "$programs/irregular.c" "$here"/../../mpi/trace/*.c \
        "$here"/../../lib/util/{error,new_file,secure_file}.c -ldl -lpthread
    mpi $kind 8 "env NUIOA_TRACE_FILE=$home/trace/$kind.parts $home/parts.$kind" "${nodes[@]}" \
        --exclusive
    is "$kind: lines that come in parts" "$(pairs "trace/$kind.parts")" "$out"

    # root replaces no device.
    mknod "$CLUSTER_DIR/home/trace/device" c 1 3
    launched=$((launched + 1))
    in_node ctl sh -c "srun -n 1 --mpi=$([ $kind = openmpi ] && echo pmix || echo pmi2) -w node1 \
        --nuioa-trace=$home/trace/device $home/no_memory.$kind" \
        2>"$CLUSTER_DIR/device.err" >/dev/null
    is "$kind: root traces to a device" "$(stat -c %F "$CLUSTER_DIR/home/trace/device")|$(
        grep -c 'nuioa: trace: .*device: not a regular file' "$CLUSTER_DIR/device.err")" \
        "character special file|1"
    rm "$CLUSTER_DIR/home/trace/device"

    # Nowhere to write: the program does not suffer.
    mpi "$kind" 4 "$irregular" -w node1 --exclusive --nuioa-trace=/no/such/dir/trace
    is "$kind: no such directory: two lines" "$(said)|$(wc -l <<<"$out")" \
        "2|$(pairs "trace/$kind.shell" | wc -l)"
    like "$kind: ... one of them before the program begins" "$(grep -m1 nuioa: <<<"$err")" \
        "^nuioa: trace: /no/such/dir/trace: its directory cannot be written: No such file or "

    # The counters alone: with threads, and their memory for 64 to 8,000,000 ranks.
    for program in threads memory; do
        mpicc.$kind -O2 -D_GNU_SOURCE= -I "$here/../.." -o "$CLUSTER_DIR/home/$program" \
            "$programs/$program.c" "$here/../../mpi/trace/table.c" -lpthread
    done
    is "$kind: threads lose nothing" "$("$CLUSTER_DIR/home/threads")" "8000000 800000 32000000000"
    is "$kind: at most 1 KB for a pair" "$("$CLUSTER_DIR/home/memory" |
        awk 'NR > 1 { n++; if ($3 > 1024) print } END { print n }')" 9

    for program in fortran fortran08; do
        if ! command -v mpifort.$kind >/dev/null; then
            skip "$kind: $program" "no mpifort.$kind"
            continue
        fi
        ok "$kind: $program compiles" \
            mpifort.$kind -o "$CLUSTER_DIR/home/$program.$kind" "$programs/$program.f90"
        mpi "$kind" 4 "$home/$program.$kind" -w node1 --exclusive \
            --nuioa-trace="$home/trace/$kind.$program"
        is "$kind: $program" "$(brief "trace/$kind.$program")" \
            "0/1/8000/1 c0/1/800/1 0/2/8000/1 0/3/8000/1 c1/2/800/1 c2/3/800/1 "
    done
done

# The output of Open MPI's own monitoring is read as it is. Its E lines are what the
# program sent, without persistent requests, which that of Open MPI 4.1 does not see, and without
# bytes of large messages.
if [ -e "$CLUSTER_DIR/home/irregular.openmpi" ] &&
    ompi_info 2>/dev/null | grep -q 'MCA pml: monitoring'; then
    install -d -m 1777 "$CLUSTER_DIR/home/trace/monitoring"
    mpi openmpi 4 "env OMPI_MCA_pml_monitoring_enable=2 OMPI_MCA_pml_monitoring_enable_output=3\
        OMPI_MCA_pml_monitoring_filename=$home/trace/monitoring/m $home/irregular.openmpi plain" \
        -w node1 --exclusive
    known=$out
    ok "Open MPI's monitoring is read" in_node ctl "$tool" profile "$home/trace/monitoring"
    sed -i '/^[ISRC]/d' "$CLUSTER_DIR"/home/trace/monitoring/*.prof
    is "it saw the same messages" "$(pairs trace/monitoring | cut -d ' ' -f 1-5)" \
        "$(cut -d ' ' -f 1-5 <<<"$known")"
else
    skip "Open MPI's monitoring" "it is not there"
fi

# Hints of another number of ranks: one line names the file and both numbers, and the job runs.
printf 'nuioa-profile 1\nranks 8\nrank 7 0 500 0 1 0\n' >"$CLUSTER_DIR/home/trace/eight"
hints=$home/trace/eight
for n in 4 16; do
    launch $n -N2 --exclusive --nuioa --nuioa-hints="$hints"
    is "hints of 8 ranks for $n: it runs, and that is said" "$rc|$(nuioa_lines)" \
        "0|nuioa: --nuioa-hints: $hints is for 8 ranks, but this step has $n"
done
launch 4 SLURM_NUIOA_HINTS="$hints" -w node1 --exclusive --nuioa
is "hints of 8 ranks in the environment" "$rc|$(nuioa_lines)" \
    "0|nuioa: SLURM_NUIOA_HINTS: $hints is for 8 ranks, but this step has 4"
launch 8 -N2 --exclusive --nuioa --nuioa-hints="$hints"
is "hints of 8 ranks for 8: nothing is said" "$rc|$(nuioa_lines)|$(of 7 NUIOA_WEIGHT)" "0||500"
printf 'E\t0\t2\t500 bytes\t1 msgs sent\n' >"$CLUSTER_DIR/home/trace/m.0.prof"
launch 4 -N2 --exclusive --nuioa --nuioa-hints="$home/trace/m.0.prof"
is "files that do not say how many ranks there were: nothing is said" "$rc|$(nuioa_lines)" "0|"
launch 2 -N2 --exclusive --nuioa --nuioa-hints="$home/trace/m.0.prof"
like "but when they name more than there are" "$(nuioa_lines)" \
    'is for 3 ranks, but this step has 2$'
tally 8 srun -n3 -w node1 --exclusive --nuioa --nuioa-hints="$hints" "$home/rank" : \
    -n5 -w node2 --exclusive --nuioa --nuioa-hints="$hints" "$home/rank"
is "hints of 8 ranks for a heterogeneous job of 3 and 5" "$rc|$(nuioa_lines)" "0|"

# Programs that are no MPI programs.
cp /bin/env "$CLUSTER_DIR/home/singularity"
launched=$((launched + 1))
user srun -n 2 --nuioa-trace="$home/trace/none" "$home/singularity"
is "a container: one line of rank 0's, and no preload inside" \
    "$(trace_lines | grep -vc 'srun sees')|$(grep -c '^LD_PRELOAD=.*nuioa' <<<"$out")" "1|0"

rm -rf "$CLUSTER_DIR/home/trace"
plugin off
finish
