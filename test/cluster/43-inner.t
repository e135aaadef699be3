#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What nuioa has set in a rank for other libraries is not in what this rank starts elsewhere: an
# inner step, the ranks of an mpirun on another node, a rank that MPI_Comm_spawn starts there. All
# these have the same variables with export=auto and with export=none. (guest/exports.t shows it
# with variables that export=auto has really set, on one node.)
. "$(dirname "$0")/testlib.sh"
setup
plugin on "topology=$topology" "${patient[@]}"

# What export=auto would set in a rank of the outer step, with a NIC that is here: the plugin itself
# sets nothing where a file describes the node.
cat >"$CLUSTER_DIR/home/told" <<'END'
#!/bin/sh
export UCX_NET_DEVICES=eth0 UCX_MAX_RNDV_RAILS=3
export NUIOA_EXPORTED=UCX_NET_DEVICES,UCX_MAX_RNDV_RAILS
export SLURM_NUIOA_EXPORTED="UCX_NET_DEVICES=$UCX_NET_DEVICES UCX_MAX_RNDV_RAILS=3"
exec "$@"
END
# "NODE: VARIABLES", without those of UCX that are the user's below
cat >"$CLUSTER_DIR/home/show" <<'END'
#!/bin/sh
echo "$(hostname): $(/usr/bin/env | /bin/grep -vE '^UCX_(TLS|LOG)' |
    /bin/grep -E '^(UCX_|NCCL_|FI_|HCOLL_|MPICH_|OMP_P|(SLURM_)?NUIOA_EXPORTED)' |
    /usr/bin/sort | /usr/bin/paste -s -d ' ')"
END
cat >"$CLUSTER_DIR/home/spawn.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "host", "node2");
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, info, 0, MPI_COMM_SELF, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&children);
    } else {
        fflush(stdout);
        if (system("./show"))
            return 1;
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
END
chmod 755 "$CLUSTER_DIR/home/told" "$CLUSTER_DIR/home/show"

# same NAME WANTED COMMAND...: what is shown is WANTED, with auto as with none; %e is the option
same() {
    local name=$1 wanted=$2 how got=()
    shift 2
    for how in none auto; do
        launched=$((launched + 1))
        user "${@//%e/$how}"
        [ "$rc" -eq 0 ] || lose "$name, $how"
        got+=("$(sort <<<"$out" | paste -s -d ';')")
    done
    is "$name: with export=none" "${got[0]}" "$wanted"
    is "$name: the same with export=auto" "${got[1]}" "${got[0]}"
}
outer=(salloc -N2 -w node1,node2 --exclusive srun -N1 -n1 -w node1)

user srun -n1 -w node1 "$home/told" "$home/show"
like "the outer rank is told" "$out" '^node1: NUIOA_EXPORTED=.* UCX_NET_DEVICES=eth0$'
same "a step in a step" "node1: ;node2: " "${outer[@]}" --nuioa --nuioa-export=%e "$home/told" \
    srun --overlap -N2 -n2 "$home/show"
same "... which requests nuioa itself" "node1: ;node2: " "${outer[@]}" "$home/told" \
    srun --overlap -N2 -n2 --nuioa --nuioa-export=%e "$home/show"

if ! has_command mpirun.openmpi || ! has_command mpicc.openmpi; then
    skip "mpirun and MPI_Comm_spawn" "no Open MPI"
else
    same "mpirun in a rank, on another node" "node2: " salloc -N2 -w node1,node2 --exclusive \
        srun -N1 -n1 -w node1 --nuioa --nuioa-export=%e "$home/told" \
        env SLURM_OVERLAP=1 "SLURM_TASKS_PER_NODE=1(x2)" mpirun.openmpi -n 1 -H node2:1 "$home/show"
    ok "a program that spawns compiles" in_node ctl mpicc.openmpi -Wall -Wextra -Werror -o spawn \
        spawn.c
    same "MPI_Comm_spawn onto another node" "node2: " env "${openmpi_by_ucx[@]}" \
        salloc -N2 -w node1,node2 --exclusive env -u UCX_NET_DEVICES \
        mpirun.openmpi --oversubscribe -n 1 -H node1:1,node2:1 \
        nuioa exec --export %e -- "$home/told" "$home/spawn"
fi
finish
