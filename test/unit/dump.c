/* SPDX-License-Identifier: BSD-3-Clause */
#include "dump.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

char dump_path[64];

static void die(const char *what)
{
    perror(what);
    abort();
}

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) && errno != EEXIST)
            die(path);
        *slash = '/';
    }
}

void dump_file(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof(full), "%s/%s", dump_path, path);
    make_parents(full);
    FILE *file = fopen(full, "w");
    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
        die(full);
}

void dump_link(const char *path, const char *target)
{
    char full[512];
    snprintf(full, sizeof(full), "%s/%s", dump_path, path);
    make_parents(full);
    if (symlink(target, full) && errno != EEXIST)
        die(full);
}

static void put(const char *text, const char *path, ...)
{
    char full[400];
    va_list args;
    va_start(args, path);
    vsnprintf(full, sizeof(full), path, args);
    va_end(args);
    dump_file(full, text);
}

static void make_cpus(void)
{
    static const char *const masks[2] = { "00000003", "0000000c" };
    for (int cpu = 0; cpu < 4; cpu++) {
        char core[16], package[16], own[16];
        snprintf(core, sizeof(core), "%d", cpu % 2);
        snprintf(package, sizeof(package), "%d", cpu / 2);
        snprintf(own, sizeof(own), "%08x", 1u << cpu);
        put(core, "sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
        put(package, "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        put(own, "sys/devices/system/cpu/cpu%d/topology/thread_siblings", cpu);
        put(masks[cpu / 2], "sys/devices/system/cpu/cpu%d/topology/core_siblings", cpu);
    }
    put("0-3", "sys/devices/system/cpu/online");
    put("0-1", "sys/devices/system/node/online");
    for (int node = 0; node < 2; node++) {
        char memory[64];
        snprintf(memory, sizeof(memory), "Node %d MemTotal:        4194304 kB", node);
        put(masks[node], "sys/devices/system/node/node%d/cpumap", node);
        put(memory, "sys/devices/system/node/node%d/meminfo", node);
        put(node ? "21 10" : "10 21", "sys/devices/system/node/node%d/distance", node);
    }
    put("processor\t: 0", "proc/cpuinfo");
}

void dump_make(void)
{
    snprintf(dump_path, sizeof(dump_path), "%s", file_directory());
    make_cpus();
    put("", "sys/class/net/.keep");
}

void dump_pci(const char *busid, const char *ids)
{
    char class_id[16], vendor[16], device[16], link[128], target[128];
    int bus = busid[5] == '8' ? 1 : busid[5] == '0' ? 0 : -1;
    if (sscanf(ids, "%15s %15s %15s", class_id, vendor, device) != 3)
        die(ids);
    const char *cpus = bus == 1 ? "0000000c" : bus == 0 ? "00000003" : "0000000f";
    put(class_id, "sys/devices/pci/%s/class", busid);
    put(vendor, "sys/devices/pci/%s/vendor", busid);
    put(device, "sys/devices/pci/%s/device", busid);
    put(vendor, "sys/devices/pci/%s/subsystem_vendor", busid);
    put(device, "sys/devices/pci/%s/subsystem_device", busid);
    put(cpus, "sys/devices/pci/%s/local_cpus", busid);
    put(bus == 1 ? "1" : bus == 0 ? "0" : "-1", "sys/devices/pci/%s/numa_node", busid);
    snprintf(link, sizeof(link), "sys/bus/pci/devices/%s", busid);
    snprintf(target, sizeof(target), "../../../devices/pci/%s", busid);
    dump_link(link, target);
}

/* sys/class/CLASS/NAME, a link to its directory below the PCI function, as the kernel has it. */
static void make_device(const char *busid, const char *class, const char *name, char *directory,
                        size_t size)
{
    char link[128], target[256], device[160];
    snprintf(directory, size, "sys/devices/%s%s/%s/%s", busid ? "pci/" : "virtual",
             busid ? busid : "", class, name);
    snprintf(link, sizeof(link), "sys/class/%s/%s", class, name);
    snprintf(target, sizeof(target), "../../%s", directory + 4);
    dump_link(link, target);
    put(name, "%s/uevent", directory);
    if (busid) {
        snprintf(link, sizeof(link), "%s/device", directory);
        snprintf(device, sizeof(device), "../../../%s", busid);
        dump_link(link, device);
    }
}

void dump_net(const char *busid, const char *name, const char *address, const char *operstate,
              const char *speed_mbps)
{
    char directory[200];
    make_device(busid, "net", name, directory, sizeof(directory));
    put(address, "%s/address", directory);
    put(operstate, "%s/operstate", directory);
    put("0x0", "%s/dev_id", directory);
    if (speed_mbps)
        put(speed_mbps, "%s/speed", directory);
}

void dump_verbs(const char *busid, const char *name, int port, const char *link_layer,
                const char *state, const char *rate, const char *gid_prefix)
{
    char directory[200], gid[64];
    make_device(busid, "infiniband", name, directory, sizeof(directory));
    snprintf(gid, sizeof(gid), "%s:0002:c903:0000:000%d", gid_prefix, port);
    put("0002:c903:0000:0000", "%s/node_guid", directory);
    put(state, "%s/ports/%d/state", directory, port);
    put(rate, "%s/ports/%d/rate", directory, port);
    put(link_layer, "%s/ports/%d/link_layer", directory, port);
    put("0x1", "%s/ports/%d/lid", directory, port);
    put("0", "%s/ports/%d/lid_mask_count", directory, port);
    put(gid, "%s/ports/%d/gids/0", directory, port);
}
