# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# For the tests of libnuioa-coll. Source after testlib.sh.

preloads=/run/stage/usr/lib/nuioa

# need_coll: ends the test, as one skip, if there are no collectives; else copies test/coll into the
# cluster's own directory, so that the compilers of the nodes' distribution find all of it.
need_coll() {
    installed=/proc/$(cluster_node_pid ctl)/root$preloads
    if [ ! -e "$installed/libnuioa-preload.so" ]; then
        skip "${0##*/}" "built without MPI: no collectives"
        done_testing
        exit 0
    fi
    cp -rT "$here/../coll" "$CLUSTER_DIR/home/coll"
}

# mpi KIND N COMMAND SRUN-ARG...: $out, $err; a launch that does not end well is lost. Both MPIs
# must give the processor away, there are fewer than ranks. Open MPI 5: coll/han's reductions free
# memory twice. MPICH: its own Reduce is wrong or
# crashes in the compositions of its device; test/coll/progress.c says why it would not end.
mpi() {
    local kind=$1 n=$2 command=$3 settings
    shift 3
    launched=$((launched + 1))
    if [ "$kind" = openmpi ]; then
        settings=("${openmpi_by_ucx[@]}" OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_coll=^han)
        set -- --mpi=pmix "$@"
    else
        settings=(UCX_TLS=self,tcp UCX_NET_DEVICES=eth0 MPIR_CVAR_DEVICE_COLLECTIVES=none)
        set -- --mpi=pmi2 "$@"
    fi
    # shellcheck disable=SC2086
    TIMEOUT=$((200 + ${calls:-0} / 10)) user env "${settings[@]}" NUIOA_COLL_STATS=1 ${with:-} \
        srun -n "$n" "$@" $command
    [ "$rc" -eq 0 ] || lose "$command $*" "$out"
}

# can_mpi KIND: whether its compiler and our library for it are there; else one skip says why not
can_mpi() {
    if ! has_command "mpicc.$1"; then
        skip "$1" "no mpicc.$1"
    elif [ ! -e "$installed/libnuioa-coll-$1.so" ]; then
        skip "$1" "built without it"
    else
        return 0
    fi
    return 1
}

has_command() { in_node ctl sh -c "command -v $1" >/dev/null; }
