#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa compare in a job of a real Slurm: a program that nuioa makes faster or slower by a factor
# that the test chooses, one that it leaves as it is, a variable, Ctrl-C, and a job without the
# plugin. The program sleeps as long as its variables say.
. "$(dirname "$0")/testlib.sh"
setup
plugin on topology=/run/node/topology.xml
work=$(mktemp -d "$CLUSTER_DIR/home/compare.XXXXXX")
chmod 777 "$work"
dir=$home/${work##*/}
cat >"$work/program" <<'END'
#!/bin/sh
# program WITHOUT WITH: seconds without and with a plan of nuioa, and what it took as a program
# would say it, so that a busy machine has no part in it.
seconds=$1
[ -z "$NUIOA_VERSION" ] || seconds=$2
[ -z "$TUNED" ] || seconds=$2
[ "$SLURM_PROCID" = 0 ] || exit 0
sleep 0.1
# A little noise, which differs from run to run.
echo "$seconds $$" | awk '{ printf "took %.4f\n", $1 * (1 + ($2 % 7) / 1000) }'
END
chmod 755 "$work/program"

# compare OPTIONS -- PROGRAM: in a job of two nodes
compare() {
    user salloc -Q -N2 sh -c "cd $dir && exec nuioa compare $*"
}

compare --time "'took (.*)'" -- srun -n2 "$dir/program" 10 8
like "faster" "$rc|$out" \
    '^0\|.*ratio 0\.(79|80)[0-9].*faster: the program takes (19|20)\.[0-9] % less time'
like "what nuioa did" "$out" 'what it did: nuioa: '
compare --time "'took (.*)'" -- srun -n2 "$dir/program" 8 10
like "slower" "$rc|$out" '^0\|.*slower: the program takes 2[45]\.[0-9] % more time'
compare --time "'took (.*)'" -n 6 -- srun -n2 "$dir/program" 10 10
like "neither, or a difference below the noise" "$rc|$out" '^0\|.*ratio (0\.99|1\.00)[0-9]'
compare --time "'took (.*)'" --set TUNED=1 -- srun -n2 "$dir/program" 10 9
like "a variable" "$rc|$out" '^0\|.*without TUNED=1: median 10\..*faster: '
compare --time "'took (.*)'" --set OMPI_MCA_x=1 srun -n2 "$dir/program" 10 9
like "a variable of MPI, and a program without it" "$rc|$err" \
    '^0\|.*nuioa compare: no MPI library is known to read OMPI_MCA_x: if the program does not'

# What the MPI library does not have is not measured as if it did something.
cat >"$work/mpi.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    puts("took 10");
    return MPI_Finalize();
}
END
installed=/proc/$(cluster_node_pid ctl)/root/run/stage/usr/lib/nuioa
for kind in openmpi mpich; do
    if [ ! -e "$installed/libnuioa-trace-$kind.so" ] ||
        ! in_node ctl "mpicc.$kind" -o "$dir/$kind" "$dir/mpi.c" 2>/dev/null; then
        skip "$kind: variables of the library" "no mpicc.$kind, or built without it"
        continue
    fi
    pmi=pmix
    known=OMPI_MCA_coll_tuned_use_dynamic_rules=1 other=MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=smp
    [ "$kind" = openmpi ] || { pmi=pmi2 known=$other other=OMPI_MCA_coll=^han; }
    compare --time "'took (.*)'" --set TUNED=1 --set "$other" -- srun --mpi=$pmi -n1 "$dir/$kind"
    like "$kind: a variable of another library" "$rc|$err" \
        "^1\\|.*nuioa: --set: ${other%%=*} is not in this library, .*: nothing is compared"
    compare --time "'took (.*)'" --set "${known%%=*}_X=1" -- srun --mpi=$pmi -n1 "$dir/$kind"
    like "$kind: one that does not exist" "$rc|$err" \
        "^1\\|.*nuioa: --set: ${known%%=*}_X is not in this library, .*: nothing is compared"
    compare --time "'took (.*)'" --set "$known" -n 6 -- srun --mpi=$pmi -n1 "$dir/$kind"
    like "$kind: one that it has" "$rc|$out" "^0\\|.*without $known: median 10"
    unlike "$kind: ... is no reason to doubt" "$err" 'no MPI library is known to read'
done

compare --time "'took (.*)'" -- srun -n2 "$dir/absent" 10 9
like "a program that is not there" "$rc|$err" \
    '^1\|.*nuioa: srun ended with status [0-9]+, so nothing is compared'
cat >"$work/fails" <<'END'
#!/bin/sh
sleep 0.1
[ "$SLURM_PROCID" != 0 ] || echo "cannot open input.dat" >&2
exit 3
END
chmod 755 "$work/fails"
compare --time "'took (.*)'" -- srun -n2 "$dir/fails"
like "a program that fails: its last words" "$rc|$err" \
    '^1\|.*nuioa: srun ended with status 3, so nothing is .*; it said: cannot open input\.dat$'
user sh -c "cd $dir && exec nuioa compare -- srun -n2 $dir/program 1 1"
like "outside of a job" "$rc|$err" '^1\|nuioa: not in a job'

# Ctrl-C: the step ends at once, and the job's shell goes on.
user salloc -Q -N2 sh -c "cd $dir && { nuioa compare -- srun -n2 sleep 300 & pid=\$!
    while ! scontrol show step \$SLURM_JOB_ID.0 2>/dev/null | grep -q RUNNING; do sleep 0.2; done
    kill -INT \$pid; wait \$pid; echo status \$?
    for i in \$(seq 60); do
        squeue -h -s -j \$SLURM_JOB_ID -o %j | grep -q '^sleep' || { echo gone; break; }
        sleep 1
    done; }"
like "interrupted: no step is left" "$out|$err" '^status 1
gone\|.*nuioa: interrupted after 0 pairs'

plugin off
compare -- srun -n2 "$dir/program" 1 1
like "no plugin" "$rc|$err" \
    '^1\|.*nuioa: the run with nuioa printed no report .*is the plugin there\?'

finish
