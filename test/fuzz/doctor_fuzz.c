/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "files.h"
#include "input.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/ethernet.h"
#include "tools/doctor/mpi.h"
#include "tools/doctor/nic.h"
#include "tools/doctor/slurm.h"
#include "tools/doctor/system.h"

/* The files of a machine that `nuioa doctor` reads: slurm.conf and what belongs to it, settings of
 * MPI libraries, and sysfs. The input is these files (files.h). The machine has
 * two NUMA nodes, a fast port on one of them and an Ethernet port.
 *
 * ethtool/GLINKSETTINGS is what the kernel answers about the Ethernet port, which is then usable: a
 * byte with the number of words in a mask of link modes, then the masks. ethtool/name is the name
 * of that port, if it is not eth0. */

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
    strcpy(nics[2].name, "eth0");
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
    doctor_check_constraint(d);
    doctor_check_cpu_bind(d);
    doctor_check_mpi(d);
    doctor_check_missing(d);
    doctor_check_locality(d);
    doctor_check_ports(d);
    doctor_check_rates(d);
    doctor_check_pcie(d);
}

/* --- the kernel ------------------------------------------------------------------------------- */

/* Reads a file of the input; bytes that it lacks are 0. Returns false if there is no such file. */
static bool take(const char *path, void *bytes, size_t size)
{
    int fd = openat(-1, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    memset(bytes, 0, size);
    INPUT_CHECK(read(fd, bytes, size) >= 0);
    close(fd);
    return true;
}

/* The kernel fills the masks if it is asked for their right size, and otherwise tells the size as a
 * negative number. */
static int answer_modes(struct ethtool_link_settings *link)
{
    struct {
        int8_t words;
        uint32_t masks[3 * INT8_MAX];
    } __attribute__((packed)) modes;
    if (!take("ethtool/GLINKSETTINGS", &modes, sizeof(modes)))
        return -1;
    bool right = modes.words > 0 && link->link_mode_masks_nwords == modes.words;
    if (right)
        memcpy(link->link_mode_masks, modes.masks, 3 * sizeof(uint32_t) * (size_t)modes.words);
    else
        link->link_mode_masks_nwords = (int8_t)-modes.words;
    return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    struct ifreq *of = va_arg(arguments, struct ifreq *);
    va_end(arguments);
    INPUT_CHECK(fd >= 0 && request == SIOCETHTOOL && !strcmp(of->ifr_name, nics[2].name));
    return answer_modes((void *)of->ifr_data);
}

/* The kernel is asked about this machine only, which has no root. */
static void check_live(struct doctor *d)
{
    char byte;
    if (take("ethtool/name", nics[2].name, sizeof(nics[2].name) - 1))
        nics[2].name[strcspn(nics[2].name, "\n")] = '\0';
    nics[2].usable = take("ethtool/GLINKSETTINGS", &byte, 1);
    d->root = "";
    doctor_check_modes(d);
}

/* --- all of it -------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *own[] = { "HOME=/home/u", "OPAL_PREFIX=/opt/openmpi", NULL };
    static struct doctor d;
    char **before = environ, path[PATH_MAX];
    d = (struct doctor){ .root = "/machine", .role = DOCTOR_COMPUTE, .ignore = "slit-flat,x:y" };
    strcpy(d.host, "node2");
    make_machine(&d.node);
    d.node_known = true;
    environ = own;
    files_open(data, size);
    doctor_conf_read(&d.slurm, -1);
    doctor_stack_read(&d.stack, &d.slurm, -1, "");
    if (doctor_conf_plugin(&d.slurm, -1, "", "libslurmfull.so", path, sizeof(path)))
        INPUT_CHECK(strlen(path) > strlen("libslurmfull.so"));
    check(&d);
    check_live(&d);
    files_close();
    environ = before;
    INPUT_CHECK(d.count <= DOCTOR_FINDINGS_MAX);
    doctor_stack_free(&d.stack);
    doctor_conf_free(&d.slurm);
    for (unsigned i = 0; i < 3; i++) {
        hwloc_bitmap_free(nics[i].numas);
        hwloc_bitmap_free(nics[i].cpus);
    }
    return 0;
}
