/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/machine.h"
#include "stand_in.h"
#include "topology/cache.h"

/* Most launches have two tasks with a CPU each. With more CPUs both tasks would be on the first
 * NUMA node, and no rank could move to the other one. */
#define CPUS_MAX 2
#define GPUS 2

static unsigned cpus[CPUS_MAX], cpu_count;

unsigned place_cpu_count(void)
{
    return cpu_count;
}

unsigned place_cpu(unsigned index)
{
    return cpus[index % cpu_count];
}

void place_cpus_text(const cpu_set_t *set, char *text, unsigned size)
{
    unsigned used = 0;
    *text = '\0';
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++)
        if (CPU_ISSET(cpu, set))
            used += (unsigned)snprintf(text + used, size - used, "%s%u", used ? "," : "", cpu);
}

static void find_cpus(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    cpu_count = 0;
    sched_getaffinity(0, sizeof(set), &set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && cpu_count < CPUS_MAX; cpu++)
        if (CPU_ISSET(cpu, &set))
            cpus[cpu_count++] = cpu;
}

/* --- files ------------------------------------------------------------------------------------ */

static bool put(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool put(const char *text, const char *format, ...)
{
    char path[512];
    va_list args;
    size_t used = (size_t)snprintf(path, sizeof(path), "%s/", stand_in_directory);
    va_start(args, format);
    vsnprintf(path + used, sizeof(path) - used, format, args);
    va_end(args);
    for (char *slash = path + used; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool written = fputs(text, file) >= 0;
    return !fclose(file) && written && !chmod(path, 0644);
}

/* A verbs device with a netdev, and an Ethernet card. */
static bool put_sysfs(void)
{
    return put("4: ACTIVE\n", "sys/class/infiniband/mlx5_0/ports/1/state") &&
           put("100 Gb/sec (4X EDR)\n", "sys/class/infiniband/mlx5_0/ports/1/rate") &&
           put("4: ACTIVE\n", "sys/class/infiniband/mlx5_1/ports/1/state") &&
           put("100 Gb/sec (4X EDR)\n", "sys/class/infiniband/mlx5_1/ports/1/rate") &&
           put("0002:c903:0000:0001\n", "sys/class/infiniband/mlx5_0/node_guid") &&
           put("0002:c903:0000:0002\n", "sys/class/infiniband/mlx5_0/sys_image_guid") &&
           put("80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:01\n",
               "sys/class/net/ib0/address") &&
           put("up\n", "sys/class/net/ib0/operstate") &&
           put("00:1b:21:00:00:01\n", "sys/class/net/eth7/address") &&
           put("up\n", "sys/class/net/eth7/operstate") &&
           put("10000\n", "sys/class/net/eth7/speed");
}

/* Where a path through "..", as the kernel writes it, would lead: to a CPU of others. */
static bool put_outside(void)
{
    return put("0::/../outside\n", "proc/cgroup3") &&
           put("1023\n", "sys/fs/outside/cpuset.cpus.effective");
}

static bool put_cgroups(void)
{
    char list[64];
    int used = 0;
    for (unsigned i = 0; i < cpu_count; i++)
        used += snprintf(list + used, sizeof(list) - (size_t)used, "%s%u", i ? "," : "", cpus[i]);
    snprintf(list + used, sizeof(list) - (size_t)used, "\n");
    return put_outside() &&
           put("7:memory:/m\n3:cpu,cpuset:/slurm/job/step/\n0::/\n", "proc/cgroup1") &&
           put("1:name=systemd:/\n0::/slurm/job/step\n", "proc/cgroup2") &&
           put(list, "sys/fs/cgroup/cpuset/slurm/cpuset.cpus") &&
           put("\n", "sys/fs/cgroup/cpuset/slurm/job/cpuset.cpus") &&
           put(list, "sys/fs/cgroup/slurm/job/cpuset.cpus.effective");
}

/* A profile whose list is too long for the environment: the nodes get their parts of it. */
static bool put_huge(void)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return false;
    fputs("nuioa-profile 1\nranks 30000 partial\n", stream);
    for (unsigned i = 0; i < 30000; i++)
        fprintf(stream, "rank %u %u 1 1 1 0\n", i, i * 2654435761u >> 12);
    bool done = !fclose(stream) && put(text, "huge.txt");
    free(text);
    return done;
}

static bool open_to_all(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", stand_in_directory, name);
    return !chmod(path, 0666);
}

static bool put_topology(void)
{
    FILE *file = fopen(TOPOLOGY, "r");
    char *text = NULL;
    size_t size = 0;
    bool done = file && getdelim(&text, &size, '\0', file) > 0 && put(text, "node.xml") &&
                put(text, "open.xml") && open_to_all("open.xml");
    if (file)
        fclose(file);
    free(text);
    return done;
}

/* The device files of the GPUs; their numbers are against PCI order. */
static bool put_gpus(void)
{
    char path[128];
    if (!put("", "sys/class/drm/version") || !put("", "sys/fs/cgroup/slurm/job/step/cgroup.procs"))
        return false;
    for (unsigned i = 0; i < GPUS; i++) {
        char link[64];
        snprintf(path, sizeof(path), "%s/sys/class/drm/renderD%u", stand_in_directory,
                 128 + GPUS - 1 - i);
        snprintf(link, sizeof(link), "../../devices/pci0000:00/0000:00:0%u.0/drm/renderD", i + 1);
        if (symlink(link, path) < 0)
            return false;
    }
    return true;
}

static bool put_user_files(void)
{
    return put("", "shim") && put_topology() && put_huge() &&
           put("nuioa-profile 1\nranks 4\npair 0 1 100 1 0\npair 0 2 500 5 0\n"
               "pair 2 3 400 4 0\n",
               "pairs.txt") &&
           put("nuioa-profile 1\nranks 64 partial\nrank 1 900 900 9 9 0\n", "many.txt");
}

/* --- the description of a node ---------------------------------------------------------------- */

/* The machine is made with CPUs from 0; this gives them the numbers that there are here. */
static void renumber(struct nuioa_node *node)
{
    hwloc_bitmap_zero(node->allowed_cpus);
    for (unsigned i = 0; i < node->numa_count; i++)
        hwloc_bitmap_zero(node->numas[i].cpus);
    for (unsigned i = 0; i < node->pu_count; i++) {
        struct nuioa_pu *pu = &node->pus[i];
        pu->os_index = cpus[pu->os_index];
        hwloc_bitmap_set(node->allowed_cpus, pu->os_index);
        hwloc_bitmap_set(node->numas[pu->numa].cpus, pu->os_index);
    }
}

static void describe(struct nuioa_node *node)
{
    unsigned numas = cpu_count > 1 ? 2 : 1;
    machine_build(node, &(struct shape){ numas, cpu_count / numas, 1, 1, NULL });
    renumber(node);
    nuioa_copy(machine_nic(node, "mlx5_0", numas - 1)->netdev, sizeof(node->nics->netdev), "ib0");
    struct nuioa_nic *slow = machine_nic(node, "eth7", 0);
    slow->kind = NUIOA_NIC_ETHERNET;
    slow->port = 0;
    slow->rate_mbps = 10000;
    nuioa_copy(slow->netdev, sizeof(slow->netdev), "eth7");
    nuioa_nic_judge(node);
}

/* A GPU and a fast NIC in each NUMA node. */
static void add_gpus(struct nuioa_node *node)
{
    machine_nic(node, "mlx5_1", 0);
    nuioa_nic_judge(node);
    for (unsigned i = 0; i < GPUS; i++) {
        struct nuioa_gpu *gpu = machine_gpu(node, i % node->numa_count);
        snprintf(gpu->pci, sizeof(gpu->pci), "0000:00:0%u.0", i + 1);
        gpu->model = 0x10de2330;
    }
}

static bool put_cache(unsigned index, bool gpus)
{
    char path[128];
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    stand_in.node = index;
    describe(&node);
    if (gpus)
        add_gpus(&node);
    snprintf(node.host, sizeof(node.host), "n%u", index);
    snprintf(path, sizeof(path), "%s/%sn%u.cache", stand_in_directory, gpus ? "gpu-" : "", index);
    int rc = nuioa_cache_write(path, &node, NULL, &err);
    nuioa_node_free(&node);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.text);
    return rc >= 0;
}

bool place_put_caches(void)
{
    for (unsigned i = 0; i < NODES_MAX; i++)
        if (!put_cache(i, false) || !put_cache(i, true))
            return false;
    return true;
}

bool place_make(void)
{
    static const struct variant none = { .name = "none" };
    stand_in.variant = &none;
    strcpy(stand_in_directory, "/tmp/nuioa-hooks.XXXXXX");
    find_cpus();
    if (!mkdtemp(stand_in_directory) || chmod(stand_in_directory, 0755) < 0 || !put_sysfs() ||
        !put_cgroups() || !put_gpus() || !put_user_files()) {
        perror(stand_in_directory);
        return false;
    }
    return place_put_caches();
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

void place_remove(void)
{
    if (*stand_in_directory)
        nftw(stand_in_directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
