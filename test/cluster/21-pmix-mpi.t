#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Unmodified MPI libraries: the example of libnuioa-client(3) elects the leaders that nuioa names,
# with Open MPI through PMIx and with MPICH through the environment; Open MPI sees the localities.
. "$(dirname "$0")/testlib.sh"
. "$here/pmixlib.sh"
setup_bare
need_trial

work=$(mktemp -d)
top=$here/../..
hints=heavy=3,6,9,12
with_plan="topology=$topology hints=$hints default=on"

from_manual leaders.c >"$work/leaders.c"
like "the example is about 30 lines" "$(wc -l <"$work/leaders.c")" '^(2[5-9]|3[0-9])$'

# Do all ranks of a node hold the same advice? The test is that they all think the same of it.
cat >"$work/agree.c" <<'END'
#include <mpi.h>
#include <nuioa-client.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    uint64_t vote[2];
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (getenv("WITHOUT") && rank == atoi(getenv("WITHOUT"))) /* as a wrapper may do */
        unsetenv("NUIOA_VERSION");
    struct nuioa_client *advice = nuioa_client_open();
    nuioa_client_vote(advice, NUIOA_CLIENT_NODE, vote);
    MPI_Allreduce(MPI_IN_PLACE, vote, 2, MPI_UINT64_T, MPI_MAX, node);
    printf("%d agreed=%d\n%d source=%d\n", rank, nuioa_client_agreed(vote), rank,
           nuioa_client_source(advice));
    nuioa_client_close(advice);
    MPI_Finalize();
    return 0;
}
END
cat >"$work/groups.c" <<'END'
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Comm group;
    int rank, size[3];
    int kind[] = { OMPI_COMM_TYPE_HWTHREAD, OMPI_COMM_TYPE_CORE, OMPI_COMM_TYPE_SOCKET };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_split_type(MPI_COMM_WORLD, kind[i], 0, MPI_INFO_NULL, &group);
        MPI_Comm_size(group, &size[i]);
    }
    printf("%d groups=%d,%d,%d\n", rank, size[0], size[1], size[2]);
    MPI_Finalize();
    return 0;
}
END

# compile WRAPPER SUFFIX PROGRAM...: in the users' directory, where the cluster's MPI is
compile() {
    local wrapper=$1 suffix=$2 program
    shift 2
    for program in "$@"; do
        install -m 0644 "$top/pmix/client/nuioa-client.h" "$work/$program.c" "$CLUSTER_DIR/home"
        in_node ctl "$wrapper" -Wall -Wextra -Werror -std=gnu11 -I. \
            -o "$program.$suffix" "$program.c" \
            -L. -l:libnuioa-client.so.1 || return
    done
}

has_compiler() { in_node ctl sh -c "command -v $1" >/dev/null; }

# mpi N PROGRAM [VAR=VALUE]... SRUN-ARG...: $out; a launch whose ranks do not all finish is lost
mpi() {
    local n=$1 program=$2 env=()
    shift 2
    while [[ ${1:-} =~ ^[A-Z_]+= ]]; do env+=("$1"); shift; done
    launched=$((launched + 1))
    user env LD_LIBRARY_PATH="$home" "${openmpi_by_ucx[@]}" FI_PROVIDER=tcp "${env[@]}" \
        srun -n "$n" "$@" "$home/$program"
    [ "$rc" -eq 0 ] || lose "$program $*"
}

leading() { sed -n 's/^rank \([0-9]*\) leads.*/\1/p' <<<"$out" | sort -n | paste -s -d ' '; }

# nuioa names the heavy rank of each node, which is the lowest one only on node4.
wanted="3 6 9 12"

if ! has_compiler mpicc.openmpi; then
    skip "Open MPI" "no mpicc.openmpi"
elif ok "Open MPI: the example compiles" compile mpicc.openmpi openmpi leaders agree groups; then
    trial "$with_plan"
    mpi 16 leaders.openmpi -N4 --exclusive --mpi=pmix
    is "Open MPI: the leaders that nuioa names" "$(leading)" "$wanted"
    mpi 16 leaders.openmpi -N4 --exclusive -m cyclic --mpi=pmix
    is "Open MPI, cyclic" "$(leading)" "3 6 9 12"
    trial "$with_plan misname"
    mpi 16 leaders.openmpi -N4 --exclusive --mpi=pmix
    is "Open MPI without advice: the lowest ranks" "$(leading)" "0 4 8 12"
    trial "$with_plan"
    trial -n node2 "$with_plan misname"
    mpi 16 leaders.openmpi -N4 --exclusive --mpi=pmix
    is "Open MPI, one node without advice" "$(leading)" "3 4 9 12"

    trial "$with_plan"
    trial -n node3 "$with_plan misname"
    mpi 16 agree.openmpi -N4 --exclusive --mpi=pmix
    is "the ranks of a node agree, but where there is no advice" "$(all agreed)" \
        "1 1 1 1 1 1 1 1 0 0 0 0 1 1 1 1"
    is "through PMIx" "$(all source)" "2 2 2 2 2 2 2 2 0 0 0 0 2 2 2 2"

    if [ "$(nproc)" -lt 2 ]; then
        skip "Open MPI: groups by locality" "one CPU: nobody is bound"
    else
        trial "default=on export=env,pmix bind"
        mpi 2 groups.openmpi -w node1 -O --mpi=pmix
        is "Open MPI without the standard keys: groups of one" \
            "$(all groups | cut -d ' ' -f 1 | cut -d , -f 3)" 1
        trial "default=on export=env,pmix,locality bind"
        mpi 2 groups.openmpi -w node1 -O --mpi=pmix
        sockets=$(cat /sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id | sort -u |
            wc -l)
        if [ "$sockets" -eq 1 ]; then
            is "Open MPI with them: one group per socket" \
                "$(all groups | cut -d ' ' -f 1 | cut -d , -f 3)" 2
        else
            skip "Open MPI with them: one group per socket" "this machine has $sockets sockets"
        fi
        is "but each its own hardware thread" "$(all groups | cut -d ' ' -f 1 | cut -d , -f 1)" 1
    fi
fi

plugin off
if ! has_compiler mpicc.mpich; then
    skip "MPICH" "no mpicc.mpich"
elif [ ! -e "/proc/$(cluster_node_pid ctl)/root/run/stage/usr/lib/slurm/nuioa.so" ]; then
    skip "MPICH" "NUIOA_STAGE was not set when the cluster came up"
elif ok "MPICH: the example compiles" compile mpicc.mpich mpich leaders agree; then
    # On one node: MPICH 4.0 ends with a barrier of PMI in which it does not serve UCX, and ranks on
    # several nodes may wait for each other in MPI_Finalize for ever, with and without nuioa.
    plugin on "topology=$topology"
    for node in node1 node2; do
        launch 4 -w $node --exclusive --nuioa=export --nuioa-hints=heavy=1,3
        wanted=$(all NUIOA_LEADER | tr ' ' '\n' | sort -u)
        like "$node: nuioa names another than the lowest rank" "$wanted" '^[123]$'
        mpi 4 leaders.mpich UCX_TLS=self,posix -w $node --exclusive --mpi=pmi2 --nuioa=export \
            --nuioa-hints=heavy=1,3
        is "MPICH on $node: the leader that nuioa names" "$(leading)" "$wanted"
    done
    mpi 4 leaders.mpich UCX_TLS=self,posix -w node1 --exclusive --mpi=pmi2
    is "MPICH without advice: the lowest rank" "$(leading)" 0
    mpi 2 agree.mpich UCX_TLS=self,posix -w node1 --exclusive --mpi=pmi2 --nuioa=export
    is "through the environment, and they agree" "$(all source),$(all agreed)" "1 1,1 1"
    mpi 2 agree.mpich WITHOUT=1 UCX_TLS=self,posix -w node1 --exclusive --mpi=pmi2 --nuioa=export
    is "one rank lost its advice: both know that they do not agree" "$(all agreed)" "0 0"
fi

rm -r "$work"
plugin off
finish
