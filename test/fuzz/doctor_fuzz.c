/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "input.h"
#include "tools/doctor/checks.h"

/* The files of a machine that `nuioa doctor` reads: slurm.conf and what belongs to it, and sysfs.
 * The input is these files (files.h). The machine has two NUMA nodes, a fast card with two ports on
 * one of them, and an Ethernet port. */

static struct nuioa_pu pus[4];
static struct nuioa_numa numas[2] = { { .os_index = 0 }, { .os_index = 1 } };
static struct nuioa_nic nics[3] = {
    { .name = "mlx5_0", .netdev = "ib0", .pci = "0000:41:00.0", .port = 1 },
    { .name = "mlx5_1", .netdev = "ib1", .pci = "0000:41:00.1", .port = 1 },
    { .name = "eth0", .netdev = "eth0", .pci = "0000:01:00.0" },
};

static void make_machine(struct nuioa_node *node)
{
    for (unsigned i = 0; i < 4; i++)
        pus[i] = (struct nuioa_pu){ .os_index = i, .core = i, .numa = (int)i / 2 };
    for (unsigned i = 0; i < 3; i++) {
        nics[i].kind = i < 2 ? NUIOA_NIC_INFINIBAND : NUIOA_NIC_ETHERNET;
        nics[i].state = i == 1 ? NUIOA_NIC_DOWN : NUIOA_NIC_ACTIVE;
        nics[i].locality = NUIOA_LOCALITY_HWLOC;
        nics[i].rate_mbps = i < 2 ? 100000 : 25000;
        nics[i].card = i / 2;
        nics[i].usable = i == 0;
        nics[i].numas = hwloc_bitmap_alloc();
        nics[i].cpus = hwloc_bitmap_alloc();
        hwloc_bitmap_set(nics[i].numas, 1);
        hwloc_bitmap_set_range(nics[i].cpus, 2, 3);
    }
    *node = (struct nuioa_node){
        .pu_count = 4,
        .core_count = 4,
        .pus = pus,
        .numa_count = 2,
        .numas = numas,
        .nic_count = 3,
        .nics = nics,
    };
}

static void check(struct doctor *d)
{
    doctor_check_plugin(d);
    doctor_check_task_plugin(d);
    doctor_check_cpu_bind(d);
    doctor_check_missing(d);
    doctor_check_locality(d);
    doctor_check_ports(d);
    doctor_check_rates(d);
}

/* --- all of it -------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *own[] = { NULL };
    static struct doctor d;
    char **before = environ, path[PATH_MAX];
    d = (struct doctor){ .root = "/machine", .role = DOCTOR_COMPUTE, .ignore = "slit-flat,x:y" };
    strcpy(d.host, "node2");
    make_machine(&d.node);
    d.node_known = true;
    environ = own;
    files_open(data, size);
    doctor_conf_read(&d.slurm, -1, "");
    if (doctor_conf_plugin(&d.slurm, "libslurmfull.so", path))
        INPUT_CHECK(strlen(path) > strlen("libslurmfull.so"));
    check(&d);
    files_close();
    environ = before;
    INPUT_CHECK(d.count <= DOCTOR_FINDINGS_MAX);
    nuioa_arena_free(&d.slurm.arena);
    for (unsigned i = 0; i < 3; i++) {
        hwloc_bitmap_free(nics[i].numas);
        hwloc_bitmap_free(nics[i].cpus);
    }
    return 0;
}
