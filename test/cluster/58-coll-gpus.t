#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Broadcasts whose buffers are in the memory of a GPU, which nobody may touch, by the runtimes of
# test/coll/runtime.c under Open MPI and MPICH over four nodes: all ranks pass such a call on,
# whoever has the buffer; test/coll/devices.c has the cases.
. "$(dirname "$0")/testlib.sh"
. "$here/colllib.sh"
setup
need_coll
runtimes=(libcuda.so.1:CUDA libamdhip64.so.5:HIP=5 libamdhip64.so.6:HIP=6 libze_loader.so.1:ZE)
cases='none loaded
one rank is given a GPU
loaded by one rank when it is too late to ask
loaded by one rank
managed memory
pinned memory of the host
an error of the runtime
the last error
MPI_BOTTOM
loaded by all ranks
device buffers alone'

for runtime in "${runtimes[@]}"; do
    ok "${runtime%:*} compiles" in_node ctl gcc -D_GNU_SOURCE= -std=gnu11 -Wall -Wextra -Werror \
        -shared -fPIC "-D${runtime#*:}" -o "$home/${runtime%:*}" coll/runtime.c
done
in_node ctl gcc -D_GNU_SOURCE= -shared -fPIC -o progress.so coll/progress.c

for kind in openmpi mpich; do
    can_mpi $kind || continue
    ok "$kind: the program compiles" in_node ctl mpicc.$kind -Wall -Wextra -Werror -std=gnu11 \
        -O1 -g -o devices.$kind coll/devices.c -ldl
    library=$preloads/libnuioa-coll-$kind.so
    [ $kind = openmpi ] || library=$home/progress.so:$library
    more= # each algorithm once, because it does not know the runtime
    [ $kind = mpich ] || more=algorithms
    for runtime in "${runtimes[@]%:*}"; do
        mpi $kind 8 "env LD_PRELOAD=$library NUIOA_COLL=force $home/devices.$kind $home/$runtime
            $more" -N4 --exclusive
        more=
        while read -r what; do
            like "$kind: $runtime: $what" "$(grep "^$what: " <<<"$out")" ' 0 wrong: right$'
        done <<<"$cases"
        note "$out"
    done
done
finish
