/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/number.h"
#include "util/sysfs.h"

/* This many bytes hold the counts of all CPUs of a large machine. */
#define COUNTS_MAX 32768

/* Returns true if an interrupt has ever come, from its counts on all CPUs ("0,0,1234,0"); true if
 * they cannot be read. */
static bool has_come(int root, uint32_t irq)
{
    char *counts = malloc(COUNTS_MAX);
    bool come = true;
    if (counts &&
        nuioa_sysfs_text(root, counts, COUNTS_MAX, "sys/kernel/irq/%u/per_cpu_count", irq) > 0)
        come = strpbrk(counts, "123456789") != NULL;
    free(counts);
    return come;
}

static int add_interrupt(int root, uint32_t irq, hwloc_bitmap_t cpus)
{
    char list[1024];
    if (!has_come(root, irq))
        return 0;
    /* Kernels before 4.13 only say which CPUs are allowed to handle it. */
    static const char *const names[] = { "effective_affinity_list", "smp_affinity_list" };
    int length = 0;
    for (unsigned i = 0; i < 2 && length <= 0; i++)
        length = nuioa_sysfs_text(root, list, sizeof(list), "proc/irq/%u/%s", irq, names[i]);
    if (length <= 0)
        return 0;
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    if (!own)
        return -ENOMEM;
    int found = 0;
    /* The list may have been cut, and hwloc reads "3-" as all CPUs from 3 on. */
    if (!hwloc_bitmap_list_sscanf(own, list) && hwloc_bitmap_last(own) >= 0) {
        found = 1;
        if (hwloc_bitmap_or(cpus, cpus, own))
            found = -ENOMEM;
    }
    hwloc_bitmap_free(own);
    return found;
}

static int add_listed(int root, const char *path, hwloc_bitmap_t cpus)
{
    int found = 0;
    DIR *dir = nuioa_sysfs_list(root, path);
    if (!dir)
        return 0;
    for (struct dirent *entry; found >= 0 && (entry = readdir(dir));) {
        uint32_t irq;
        if (nuioa_parse_u32(entry->d_name, UINT32_MAX, &irq) < 0)
            continue;
        int rc = add_interrupt(root, irq, cpus);
        found = rc < 0 ? rc : found + rc;
    }
    closedir(dir);
    return found;
}

/* Reads the interrupt of a device that has only one, without message-signalled interrupts. */
static bool irq_of(int root, const char *netdev, const char *device, long *irq)
{
    return !nuioa_sysfs_number(root, irq, "sys/class/net/%s/%s/irq", netdev, device) && *irq > 0;
}

/* Adds the interrupts of a netdev. A virtio NIC is one level below its PCI device. */
static int add_netdev(int root, const char *netdev, hwloc_bitmap_t cpus)
{
    static const char *const device[] = { "device", "device/.." };
    int found = 0;
    for (unsigned i = 0; i < 2 && !found; i++) {
        char path[128];
        long irq;
        snprintf(path, sizeof(path), "sys/class/net/%s/%s/msi_irqs", netdev, device[i]);
        found = add_listed(root, path, cpus);
        if (!found && irq_of(root, netdev, device[i], &irq))
            found = add_interrupt(root, (uint32_t)irq, cpus);
    }
    return found;
}

int nuioa_interrupt_cpus(const struct nuioa_node *node, const char *root, hwloc_bitmap_t cpus)
{
    int fd = open(*root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = 0;
    hwloc_bitmap_zero(cpus);
    for (uint32_t i = 0; fd >= 0 && found >= 0 && i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        if (nic->kind != NUIOA_NIC_ETHERNET || nic->state == NUIOA_NIC_DOWN || !*nic->netdev)
            continue;
        int rc = add_netdev(fd, nic->netdev, cpus);
        found = rc < 0 ? rc : found + rc;
    }
    if (fd >= 0)
        close(fd);
    if (found < 0)
        hwloc_bitmap_zero(cpus);
    return found;
}
