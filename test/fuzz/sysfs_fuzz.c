/* SPDX-License-Identifier: BSD-3-Clause */

/* Files of sysfs and procfs. The first line is the target of links, the second the value of
 * HWLOC_PCI_LOCALITY ("@" and the content of a file), and each further line the content of the next
 * of `files`, with bars between its lines; an empty line, or one that is missing, means that there
 * is none. The devices of these names are in devices.xml. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "topology/fingerprint.h"
#include "topology/gpu_device_file.h"
#include "topology/gpu_discover.h"
#include "topology/hwloc_open.h"
#include "topology/nic_counters.h"
#include "topology/nic_discover.h"
#include "topology/nic_port.h"
#include "unit/machine.h"

static const char *const files[] = {
    "sys/class/infiniband/mlx5_0/ports/1/state",
    "sys/class/infiniband/mlx5_0/ports/1/rate",
    "sys/class/infiniband/mlx5_0/ports/1/link_layer",
    "sys/class/infiniband/mlx5_0/ports/1/gids/0",
    "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0",
    "sys/class/infiniband/mlx5_0/device/numa_node",
    "sys/class/net/eno1/operstate",
    "sys/class/net/eno1/carrier",
    "sys/class/net/eno1/speed",
    "sys/class/net/eno1/dev_port",
    "sys/class/net/eno1/dev_id",
    "sys/class/net/eno1/phys_port_name",
    "sys/class/net/eno1/device/numa_node",
    "sys/class/net/ib0/dev_port",
    "sys/class/net/ib0/phys_port_name",
    "sys/class/net/ib0/parent",
    "sys/class/net/eno1/wireless",
    "sys/class/net/eno1/bonding_slave",
    "sys/devices/system/cpu/online",
    "sys/devices/system/node/online",
    "sys/bus/pci/devices/0000:81:00.0/numa_node",
    "sys/bus/pci/devices/0000:81:00.0/physfn",
    "sys/bus/pci/devices/0000:e0:00.0/numa_node",
    "sys/class/net/bond0/device/numa_node",
    "sys/class/infiniband/rxe0/device/numa_node",
    "proc/driver/nvidia/gpus/0000:81:00.0/information",
    "sys/bus/pci/devices/0000:c1:00.0/unique_id",
    "sys/bus/pci/devices/0000:c1:00.0/numa_node",
    "sys/class/infiniband/mlx5_0/ports/1/sm_lid",
};

static void make_links(const char *target)
{
    static const char *const links[] = { "sys/class/net/eno2", "sys/class/net/dev0",
                                         "sys/class/drm/renderD128" };
    char path[4096];
    for (unsigned i = 0; i < 3; i++) {
        input_no_file(links[i]);
        snprintf(path, sizeof(path), "%s/%s", input_directory(), links[i]);
        /* A target that is empty or too long makes no link. */
        if (symlink(target, path))
            errno = 0;
    }
}

static void set_locality(struct input *input)
{
    char *text = input_line(input);
    unsetenv("HWLOC_PCI_LOCALITY");
    if (*text == '@')
        setenv("HWLOC_PCI_LOCALITY", input_file("locality", text + 1, strlen(text + 1)), 1);
    else if (*text && *text != '/')
        setenv("HWLOC_PCI_LOCALITY", text, 1);
    free(text);
}

static void write_files(struct input *input)
{
    for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char *line = input_line(input);
        for (char *bar = line; (bar = strchr(bar, '|'));)
            *bar = '\n';
        if (*line)
            input_file(files[i], line, strlen(line));
        else
            input_no_file(files[i]);
        free(line);
    }
}

/* With the files below `root` as for a topology that was read on this machine; with NULL as for one
 * of an XML file. */
static void read_counters(const struct nuioa_sysfs *sysfs, const struct nuioa_nic *nic)
{
    struct nuioa_nic_counters counters;
    int rc = nuioa_nic_counters_read(sysfs, nic, &counters);
    INPUT_CHECK(!rc || counters.received == NUIOA_NO_COUNTER);
}

static void discover(const char *root)
{
    static hwloc_topology_t topology;
    const char *directory;
    struct nuioa_error err;
    struct nuioa_sysfs sysfs;
    struct nuioa_node node;
    fault_pause();
    if (!topology)
        INPUT_CHECK(!nuioa_hwloc_open(&topology, TOPOLOGY, false, &directory, &err));
    machine_build(&node, &(struct shape){ 2, 4, 1, 1, NULL });
    fault_resume();
    free(node.nics);
    free(node.gpus);
    node.nics = NULL;
    node.gpus = NULL;
    nuioa_sysfs_open(&sysfs, root);
    INPUT_HOLDS(!nuioa_discover_nics(&node, topology, &sysfs, root != NULL, &err));
    INPUT_HOLDS(!nuioa_discover_gpus(&node, topology, &sysfs, &err));
    INPUT_CHECK(node.gpu_count <= 1);
    for (uint32_t i = 0; i < node.nic_count; i++)
        read_counters(&sysfs, &node.nics[i]);
    nuioa_sysfs_close(&sysfs);
    nuioa_nic_judge(&node);
    nuioa_node_free(&node);
}

static void find_gpu_devices(void)
{
    struct nuioa_gpu gpus[] = { { .pci = "0000:81:00.0", .vendor = NUIOA_GPU_NVIDIA },
                                { .pci = "0000:c1:00.0", .vendor = NUIOA_GPU_AMD } };
    struct nuioa_gpu_device devices[2];
    struct nuioa_node node = { .gpus = gpus, .gpu_count = 2 };
    uint32_t known = nuioa_gpu_devices_read(&node, input_directory(), devices);
    INPUT_CHECK(known == (unsigned)(*devices[0].file != '\0') + (*devices[1].file != '\0'));
    for (unsigned i = 0; i < 2; i++)
        INPUT_CHECK(memchr(devices[i].file, '\0', sizeof(devices[i].file)) &&
                    memchr(devices[i].uuid, '\0', sizeof(devices[i].uuid)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    char *target = input_line(&input);
    set_locality(&input);
    write_files(&input);
    make_links(target);
    free(target);
    discover(input_directory());
    discover(NULL);
    find_gpu_devices();
    nuioa_fingerprint(input_directory());
    return 0;
}
