#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Which NIC Open MPI 5 takes by itself, beside the one that nuioa gives: its own function that
# chooses one, in four ranks with a GPU each, on test/topologies/gpus.xml, where NIC k is behind the
# PCIe switch of GPU k and two are on each NUMA node. Of this topology only the first PU of each
# NUMA node is left; they are this machine's first two CPUs. On a cluster of its own.
#
# Open MPI asks PMIx whether its rank is bound (PMIX_CPUSET), and Slurm does not say so: it goes by
# ranks alone. The keys that nuioa publishes are not here, because this machine does not have the
# topology's NICs; that Open MPI follows them is in 41-nearest-nic.t, that they name the NICs of a
# rank's GPUs in guest/gpus.t.
. "$(dirname "$0")/testlib.sh"

give_up() { skip_all "Open MPI's own choice of a NIC" "$1"; }

mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[ "${cpus[*]:0:2}" = "0 1" ] || give_up "CPUs 0 and 1 are not both there"
command -v lstopo-no-graphics >/dev/null || give_up "no lstopo"

line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_GPUS=4 "$here/up" 1 --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup
in_node ctl sh -c 'mpicc.openmpi --showme:version' 2>/dev/null | grep -q ' 5\.' ||
    give_up "no Open MPI 5"

machine=$CLUSTER_DIR/nodes/node1/two-pus.xml
lstopo-no-graphics --whole-io --restrict 0x00000101 -i "$here/../topologies/gpus.xml" --of xml - |
    sed 's/0x00000101/0x00000003/g; s/0x00000100/0x00000002/g
         /type="PU"/s/os_index="8"/os_index="1"/' >"$machine"
is "the machine has two PUs and four NICs" \
    "$(grep -c 'type="PU"' "$machine") $(grep -c 'name="mlx5_' "$machine")" "2 4"
nics=()
for k in 0 1 2 3; do
    nics+=("$(grep -B1 "name=\"mlx5_$k\"" "$machine" | sed -n 's/.*pci_busid="\([^"]*\)".*/\1/p')" \
        "mlx5_$k")
done

install -m 0644 "$here/nearest.c" "$CLUSTER_DIR/home/nearest.c"
ok "a program that calls Open MPI's function" in_node ctl sh -c '
    mpicc.openmpi -std=gnu11 -Wall -Werror -o nearest nearest.c \
        $(pkg-config --cflags --libs pmix) -lopen-pal -lfabric'
# Open MPI and its PMIx see the topology; CPUs are bound as the kernel has it, two ranks on a PU.
cat >"$CLUSTER_DIR/home/choose" <<END
#!/bin/sh
echo "\$SLURM_PROCID gpu=\$CUDA_VISIBLE_DEVICES"
echo "\$SLURM_PROCID ours=\$NUIOA_NIC"
export HWLOC_XMLFILE=/run/node/two-pus.xml HWLOC_THISSYSTEM=1
exec taskset -c \$((1 - SLURM_LOCALID / 2)) "$home/nearest" ${nics[*]}
END
chmod 755 "$CLUSTER_DIR/home/choose"

# take MAP: sets $table, a line for each rank: its GPU, the NIC that nuioa gives it, the
# one that Open MPI takes.
take() {
    launched=$((launched + 1))
    user env "${openmpi_by_ucx[@]}" OMPI_MCA_mpi_yield_when_idle=1 srun --mpi=pmix -n4 -O \
        --gpus=4 --gpu-bind="map_gpu:$1" "$home/choose"
    [ "$rc" -eq 0 ] || lose "choose, GPUs $1"
    table=$(paste -d' ' <(all gpu | xargs -n1) <(all ours | xargs -n1) <(all chosen | xargs -n1))
    note "for each rank: its GPU, the NIC of nuioa, the NIC that Open MPI takes" "$table"
}

plugin on topology=/run/node/two-pus.xml "${patient[@]}" default=export export=env
take 0,1,2,3
is "GPUs in order: Open MPI takes by itself one NIC after the other, by rank" \
    "$(xargs <<<"$table")" \
    "0 mlx5_0:1 mlx5_0 1 mlx5_1:1 mlx5_1 2 mlx5_2:1 mlx5_2 3 mlx5_3:1 mlx5_3"
take 3,1,2,0
is "shuffled: nuioa gives the GPU's, Open MPI takes by itself the same as before" \
    "$(xargs <<<"$table")" \
    "3 mlx5_3:1 mlx5_0 1 mlx5_1:1 mlx5_1 2 mlx5_2:1 mlx5_2 0 mlx5_0:1 mlx5_3"
plugin off
finish
