#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# PMIX_DEVICE_DISTANCES as their reader in Open MPI 5 has it: its own function that chooses a NIC,
# in a rank, takes ours for this machine's NIC, which is said to hang off the second CPU; name and
# uuid are as PMIx_Compute_distances gives them. On a cluster of its own.
. "$(dirname "$0")/testlib.sh"
. "$here/pmixlib.sh"

give_up() { skip "Open MPI's choice of a NIC" "$1"; done_testing; exit 0; }

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
setup
need_trial
in_node ctl sh -c 'mpicc.openmpi --showme:version' 2>/dev/null | grep -q ' 5\.' ||
    give_up "no Open MPI 5"

cat >"$CLUSTER_DIR/home/nearest.c" <<'END_OF_PROGRAM'
#include <mpi.h>
#include <pmix.h>
#include <rdma/fabric.h>
#include <stdio.h>
#include <string.h>

/* Open MPI's own, whose headers are not all installed. */
extern char opal_process_info[];
int opal_common_ofi_mca_register(const void *component);
struct fi_info *opal_common_ofi_select_provider(struct fi_info *list, void *process_info);

static struct fid_nic nics[2];
static struct fi_bus_attr buses[2];

static struct fi_info *provider(int i, char *address, const char *name)
{
    struct fi_info *info = fi_allocinfo();
    unsigned domain, bus, device, function;
    sscanf(address, "%x:%x:%x.%u", &domain, &bus, &device, &function);
    info->fabric_attr->prov_name = strdup("test");
    info->fabric_attr->name = strdup("test");
    info->domain_attr->name = strdup(name);
    info->nic = &nics[i];
    nics[i].bus_attr = &buses[i];
    buses[i].bus_type = FI_BUS_PCI;
    buses[i].attr.pci = (struct fi_pci_attr){ domain, bus, device, function };
    return info;
}

static void print(int rank, const char *what, const pmix_device_distance_t *d, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%d %s=%s %s %u\n", rank, what, d[i].osname, d[i].uuid, d[i].mindist);
}

int main(int argc, char **argv)
{
    int rank;
    pmix_proc_t self;
    pmix_value_t *value = NULL;
    pmix_topology_t topology = PMIX_TOPOLOGY_STATIC_INIT;
    pmix_cpuset_t cpuset = PMIX_CPUSET_STATIC_INIT;
    pmix_device_distance_t *computed = NULL;
    size_t n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    opal_common_ofi_mca_register(NULL);
    PMIx_Init(&self, NULL, 0);
    if (PMIx_Get(&self, PMIX_DEVICE_DISTANCES, NULL, 0, &value) == PMIX_SUCCESS)
        print(rank, "given", value->data.darray->array, value->data.darray->size);
    if (PMIx_Load_topology(&topology) == PMIX_SUCCESS &&
        PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS) == PMIX_SUCCESS &&
        PMIx_Compute_distances(&topology, &cpuset, NULL, 0, &computed, &n) == PMIX_SUCCESS)
        print(rank, "computed", computed, n);
    struct fi_info *list = provider(0, argv[1], "other");
    list->next = provider(1, argv[2], argv[3]);
    printf("%d chosen=%s\n", rank,
           opal_common_ofi_select_provider(list, opal_process_info)->domain_attr->name);
    PMIx_Finalize(NULL, 0);
    MPI_Finalize();
    return 0;
}
END_OF_PROGRAM
other=$(find /sys/bus/pci/devices -mindepth 1 ! -name "*$pci*" -printf '%f\n' | sort | head -n 1)
ok "a program that calls Open MPI's function" in_node ctl sh -c '
    mpicc.openmpi -std=gnu11 -Wall -Werror -o nearest nearest.c \
        $(pkg-config --cflags --libs pmix) -lopen-pal -lfabric'

nearest() {
    launched=$((launched + 1))
    user env "${openmpi_by_ucx[@]}" OMPI_MCA_opal_common_ofi_verbose=1 \
        srun --mpi=pmix -n2 -O "$home/nearest" "$other" "$pci" "$name"
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
