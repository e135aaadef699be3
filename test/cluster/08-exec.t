#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa exec in a Slurm that has no plugin, on four nodes: ranks know their node's others, the
# program runs and ends as it would alone, and MPI finds its launcher. Real binding:
# test/guest/exec.t.
. "$(dirname "$0")/testlib.sh"
setup # nuioa(1) is installed with it
plugin off
work=$(mktemp -d "$CLUSTER_DIR/home/exec.XXXXXX")
chmod 755 "$work"

tally 8 srun -N4 --ntasks-per-node=2 nuioa exec -- "$home/rank"
is "every rank is told, and by itself" "$(all NUIOA_VERSION)|$err" "1 1 1 1 1 1 1 1|"
is "the ranks of each node" "$(of 0 NUIOA_ORDER) $(of 7 NUIOA_ORDER)" "0,1 6,7"
tally 8 srun -N4 --ntasks-per-node=2 -m cyclic nuioa exec -- "$home/rank"
is "... -m cyclic" "$(of 0 NUIOA_ORDER) $(of 7 NUIOA_ORDER)" "0,4 3,7"
tally 7 srun -N4 -n7 -m cyclic nuioa exec -- "$home/rank"
is "... uneven" "$(of 0 NUIOA_ORDER | tr , '\n' | sort -n)" \
    "$(sed -n "s/ HOST=$(of 0 HOST)\$//p" <<<"$out" | sort -n)"
tally 8 srun -N4 --ntasks-per-node=2 nuioa exec --hints heavy=7 -- "$home/rank"
is "hints are of the job's ranks" "$(of 6 NUIOA_WEIGHT) $(of 7 NUIOA_WEIGHT)" "0 1"
tally 8 srun -N4 --ntasks-per-node=2 nuioa exec --nuioa=report -- "$home/rank"
is "report: one for each node" "$(grep -c '^nuioa: .* 2 ranks' <<<"$err")" 4
tally 4 env SLURM_TEST_EXIT=3 srun -N4 -n4 nuioa exec -- "$home/rank"
is "the status is the program's" "$rc" 3
tally 8 env NUIOA_LEADER=99 srun -N4 --ntasks-per-node=2 nuioa exec --leader off -- "$home/rank"
is "what an outer step left is gone" "$(all NUIOA_LEADER)" "$(all NONE)"
tally 8 env SLURM_NUIOA=off srun -N4 --ntasks-per-node=2 nuioa exec -- "$home/rank"
is "SLURM_NUIOA=off: nothing" "$(all NUIOA_VERSION)|$err" "|"
tally 8 env SLURM_NUIOA_HINTS=heavy=7 SLURM_NUIOA_LEDER=off srun -N4 --ntasks-per-node=2 \
    nuioa exec -- "$home/rank"
is "SLURM_NUIOA_HINTS counts, and a wrong variable is one line a node" \
    "$(of 6 NUIOA_WEIGHT) $(of 7 NUIOA_WEIGHT) $(sort <<<"$err" | uniq -c | xargs)" \
    "0 1 4 nuioa: warning: SLURM_NUIOA_LEDER: no such option; did you mean SLURM_NUIOA_LEADER?"

# Scripts for PyTorch copy Slurm's numbers, without that of the local ranks.
cat >"$work/copied" <<'END'
#!/bin/sh
export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS
exec nuioa exec -- "$@"
END
chmod 755 "$work/copied"
tally 8 srun -N4 --ntasks-per-node=2 -m cyclic "$home/${work##*/}/copied" "$home/rank"
is "RANK, LOCAL_RANK and WORLD_SIZE of this step: as without them" \
    "$(of 0 NUIOA_ORDER) $(of 7 NUIOA_ORDER)|$err" "0,4 3,7|"
for layout in block cyclic; do
    tally 8 env RANK=0 LOCAL_RANK=0 WORLD_SIZE=8 srun -N4 --ntasks-per-node=2 -m $layout \
        nuioa exec -- "$home/rank"
    is "... of the first rank in all of them, -m $layout: one line a node" \
        "$rc|$(wc -l <<<"$err")|$(grep -c "contradict each other: use --launcher sl" <<<"$err")" \
        "0|4|4"
done
tally 8 env WORLD_SIZE=2 LOCAL_RANK=0 RANK=0 srun -N4 --ntasks-per-node=2 nuioa exec -- "$home/rank"
is "... of another job: one line a node" \
    "$rc|$(grep -c "SLURM_STEP_NUM_TASKS=8 and WORLD_SIZE=2 contradict" <<<"$err")" "0|4"

if command -v mpicc.openmpi >/dev/null; then
    mpicc.openmpi -o "$work/sum" "$here/sum.c"
    sum=$home/${work##*/}/sum
    user env OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader srun -N1 -n4 --mpi=pmix nuioa exec -- "$sum"
    is "Open MPI under srun --mpi=pmix finds its launcher" "$rc|$out" "0|sum 6"
    user env OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader mpirun.openmpi -n 2 --oversubscribe \
        --bind-to none nuioa exec -- "$sum"
    is "Open MPI's mpirun, too" "$rc|$out" "0|sum 1"
else
    skip "MPI" "no mpicc.openmpi"
fi

top=$(cd "$here/../.." && pwd)
# Answers of libnuioa-client in programs that nuioa exec has started under MPI's own launchers, also
# in a rank of srun, whose variables they hand on.
cat >"$work/told.c" <<'END'
#include <nuioa-client.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const uint32_t *order;
    struct nuioa_client *advice = nuioa_client_open();
    char *rank = getenv("OMPI_COMM_WORLD_RANK");
    printf("%s source=%d order=%zu\n", rank ? rank : getenv("PMI_RANK"),
           nuioa_client_source(advice), nuioa_client_order(advice, &order));
    nuioa_client_close(advice);
    return 0;
}
END
install -m 0644 "$top/pmix/client/nuioa-client.h" "$work"
cp -L "$NUIOA_STAGE/usr/lib/libnuioa-client.so.1" "$work"
# The library may want a newer C library than this machine's: that of the cluster.
gcc -I "$work" -o "$work/told" "$work/told.c" -Wl,-rpath,"$home/${work##*/}" -L "$work" \
    -Wl,--allow-shlib-undefined -l:libnuioa-client.so.1
told=$home/${work##*/}/told
for line in "mpirun.openmpi --oversubscribe --bind-to none" "mpiexec.hydra -launcher fork"; do
    read -ra launcher <<<"$line"
    if in_node ctl sh -c "command -v ${launcher[0]}" >/dev/null; then
        user "${launcher[@]}" -n 2 nuioa exec -- "$told"
        is "libnuioa-client after ${launcher[0]} and nuioa exec" "$rc|$(sort <<<"$out")" \
            "0|0 source=1 order=2
1 source=1 order=2"
        user srun -N1 -n1 nuioa exec -- "${launcher[@]}" -n 2 "$told"
        # Hydra 4.0 is now and then ended by SIGPIPE where its ranks end at once.
        [ "$rc" -ne 141 ] || user srun -N1 -n1 nuioa exec -- "${launcher[@]}" -n 2 "$told"
        is "... without it, in a rank that was told: a stranger's advice is none" \
            "$rc|$(sort <<<"$out")" "0|0 source=0 order=0
1 source=0 order=0"
        user srun -N1 -n1 nuioa exec -- "${launcher[@]}" -n 2 nuioa exec -- "$told"
        is "... with it, in a rank that was told" "$rc|$(sort <<<"$out")" \
            "0|0 source=1 order=2
1 source=1 order=2"
    else
        skip "libnuioa-client after ${launcher[0]}" "it is not installed"
    fi
done

finish
