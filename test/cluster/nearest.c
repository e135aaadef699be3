/* SPDX-License-Identifier: BSD-3-Clause */

/* Asks Open MPI 5's own function for a NIC which one of several it would take in this rank. Usage:
 * nearest PCI-ADDRESS NAME [PCI-ADDRESS NAME]..., which are given to it as libfabric would. Prints
 * "RANK given=", the distances in PMIX_DEVICE_DISTANCES; "RANK computed=", those that PMIx
 * computes; "RANK chosen=NAME". */

#include <mpi.h>
#include <pmix.h>
#include <rdma/fabric.h>
#include <stdio.h>
#include <string.h>

/* Open MPI's own, whose headers are not all installed. */
extern char opal_process_info[];
int opal_common_ofi_mca_register(const void *component);
struct fi_info *opal_common_ofi_select_provider(struct fi_info *list, void *process_info);

enum { MAX = 16 };
static struct fid_nic nics[MAX];
static struct fi_bus_attr buses[MAX];

static struct fi_info *provider(int i, const char *address, const char *name)
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
    struct fi_info *list = NULL;
    for (int i = 0; i < MAX && 2 * i + 2 < argc; i++) {
        struct fi_info *next = provider(i, argv[2 * i + 1], argv[2 * i + 2]), **end = &list;
        while (*end)
            end = &(*end)->next;
        *end = next;
    }
    printf("%d chosen=%s\n", rank,
           opal_common_ofi_select_provider(list, opal_process_info)->domain_attr->name);
    PMIx_Finalize(NULL, 0);
    MPI_Finalize();
    return 0;
}
