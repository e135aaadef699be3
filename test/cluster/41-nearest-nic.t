#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# PMIX_DEVICE_DISTANCES as their reader in Open MPI 5 has it: its own function that chooses a NIC,
# in a rank, takes ours for this machine's NIC, which is said to hang off the second CPU; name and
# uuid are as PMIx_Compute_distances gives them. On a cluster of its own.
. "$(dirname "$0")/testlib.sh"
. "$here/pmixlib.sh"

give_up() { skip_all "Open MPI's choice of a NIC" "$1"; }

# shellcheck disable=SC2012 # where the links lead; names of devices have no blanks
nic=$(ls -l /sys/class/net |
    sed -n 's|.*/\([0-9a-f]\{4\}:[0-9a-f:]*\.[0-9]\)/.*net/\(.*\)|\1 \2|p' | head -n 1)
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[ -n "$nic" ] || give_up "this machine has no NIC on PCI"
[ ${#cpus[@]} -ge 2 ] || give_up "this machine has one CPU: no CPU is farther"
read -r pci name <<<"$nic"
mask=$(printf '0x%x' $((1 << cpus[1])))

unset NUIOA_CLUSTER_DIR
line=$(HWLOC_PCI_LOCALITY="${pci%:*} $mask" "$here/up" 1 --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup_bare
need_trial
in_node ctl sh -c 'mpicc.openmpi --showme:version' 2>/dev/null | grep -q ' 5\.' ||
    give_up "no Open MPI 5"

other=$(find /sys/bus/pci/devices -mindepth 1 ! -name "*$pci*" -printf '%f\n' | sort | head -n 1)
install -m 0644 "$here/nearest.c" "$CLUSTER_DIR/home/nearest.c"
ok "a program that calls Open MPI's function" in_node ctl sh -c '
    mpicc.openmpi -std=gnu11 -Wall -Werror -o nearest nearest.c \
        $(pkg-config --cflags --libs pmix) -lopen-pal -lfabric'

nearest() {
    launched=$((launched + 1))
    user env "${openmpi_by_ucx[@]}" OMPI_MCA_opal_common_ofi_verbose=1 \
        srun --mpi=pmix -n2 -O "$home/nearest" "$other" other "$pci" "$name"
    [ "$rc" -eq 0 ] || lose nearest
}

trial "default=on export=env,pmix,locality bind"
nearest
note "$out" "$(grep provider <<<"$err" | sort)"
device="$name ipv4://$(cat "/sys/class/net/$name/address")"
is "the rank beside the NIC" "$(of 1 given)" "$device 10"
is "the other one" "$(of 0 given)" "$device 11"
is "name and uuid as PMIx computes them" \
    "$(of 0 computed | grep "^$name " | cut -d ' ' -f 1,2)" "$device"
is "Open MPI chooses the NIC" "$(all chosen)" "$name $name"
for distance in 10 11; do
    like "by the distance $distance" "$err" "provider: $name dist: $distance"
done

trial "default=on export=env,pmix bind"
nearest
is "without the key there is none" "$(of 0 given)" ""
plugin off
finish
