#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The programs in Python and Fortran of examples/, under srun: each rank prints the NIC and
# the leader that nuioa gives it, and nothing without nuioa.
. "$(dirname "$0")/testlib.sh"
setup
work=$CLUSTER_DIR/home/languages
dir=$home/languages
install -d "$work"
install -m 0644 "$here"/../../examples/{nic.py,leader.f90} "$work"
plugin on "topology=$topology" "${patient[@]}"

# run COMMAND SRUN-ARG...: sets $lines, what ranks of node1 and node2 print, each line once with
# its number
run() {
    local command=$1
    shift
    launched=$((launched + 1))
    # shellcheck disable=SC2086
    user env LD_LIBRARY_PATH=/run/stage/usr/lib "${openmpi_by_ucx[@]}" OMPI_MCA_coll=^han \
        srun -n6 -N2 --exclusive -c4 "$@" $command
    [ "$rc" -eq 0 ] || lose "$command $*" "$out"
    lines=$(sort <<<"$out" | uniq -c | sed 's/^ *//' | paste -s -d ';')
}

launch 6 -N2 --exclusive -c4 --nuioa=export
leaders=$(all NUIOA_LEADER | tr ' ' '\n' | sort | uniq -c |
    sed 's/^ *\([0-9]*\) /\1 led by rank /' | paste -s -d ';')
like "another rank than the lowest leads node1" "$leaders" \
    '^3 led by rank [12];3 led by rank [345]$'

run "/usr/bin/python3 $dir/nic.py" --nuioa=export
is "Python: the NIC" "$lines" "6 NIC mlx5_0:1"
run "/usr/bin/python3 $dir/nic.py"
is "Python, without nuioa" "$lines" "6 NIC unknown"

# With mpi/pmix the advice comes from PMIx once MPI_Init has returned.
for kind in openmpi mpich; do
    if ! in_node ctl sh -c "command -v mpifort.$kind && command -v gfortran" >/dev/null; then
        skip "Fortran with $kind" "no mpifort.$kind or no gfortran"
    elif ok "Fortran, $kind: it compiles" in_node ctl sh -c "cd $dir && mpifort.$kind -Wall \
        -Werror -o leader.$kind leader.f90 -L/run/stage/usr/lib -lnuioa-client"; then
        wanted=$leaders tls=tcp options=(--mpi=pmix)
        # MPICH 4.0 may hang in MPI_Finalize on several nodes: see 21-pmix-mpi.t.
        [ $kind = openmpi ] ||
            { wanted=${leaders%;*} tls=posix options=(--mpi=pmi2 -n3 -N1 -w node1); }
        program="env UCX_TLS=self,$tls $dir/leader.$kind"
        run "$program" "${options[@]}" --nuioa=export
        is "Fortran, $kind: the leader" "$lines" "$wanted"
        run "$program" "${options[@]}"
        is "Fortran, $kind, without nuioa: nothing" "$out" ""
    fi
done
rm -r "$work"
plugin off
finish
