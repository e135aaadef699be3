/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_counters.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/subprocess.h"

/* The names of a driver's counters; NULL: there is no such counter. */
struct names {
    const char *received, *sent, *packets;
    uint32_t unit; /* of the first two, in bytes */
};

static const struct names hw_counters[] = {
    /* EFA (Linux, drivers/infiniband/hw/efa/efa_verbs.c) and bnxt_re */
    { "rx_bytes", "tx_bytes", "rx_pkts", 1 },
    /* Omni-Path: words of 32 bits (drivers/infiniband/hw/hfi1/chip.c, SEND_DWORD_CNT) */
    { "RxWords", "TxWords", "RxPkt", 4 },
    /* ionic */
    { "rx_rdma_ucast_bytes", "tx_rdma_ucast_bytes", "rx_rdma_ucast_pkts", 1 },
};

static const struct names port_counters = { "port_rcv_data", "port_xmit_data", "port_rcv_packets",
                                            4 };

/* Slingshot has packets by traffic class only. */
static const struct names telemetry = { "hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets", NULL, 1 };

static const struct names statistics = { "rx_bytes", "tx_bytes", "rx_packets", 1 };

/* A number that does not fit is NUIOA_NO_COUNTER, too, which strtoull returns then. */
uint64_t nuioa_nic_counter_parse(const char *text)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    bool ends = !*end || *end == '@' || isspace((unsigned char)*end);
    return isdigit((unsigned char)*text) && ends ? number : NUIOA_NO_COUNTER;
}

/* Counters of verbs ports that have 32 bits only stop at their end (InfiniBand Architecture
 * Specification, volume 1, section 16.1.3.5). */
static uint64_t read_one(int dir, const char *folder, const char *name, uint32_t unit)
{
    char text[64];
    if (!name || nuioa_sysfs_text(dir, text, sizeof(text), "%s/%s", folder, name) < 0)
        return NUIOA_NO_COUNTER;
    uint64_t number = nuioa_nic_counter_parse(text);
    return number == UINT32_MAX || number >= UINT64_MAX / unit ? NUIOA_NO_COUNTER : number * unit;
}

/* Returns true also for a counter that the driver cannot give now. */
static bool is_readable(int dir, const char *folder, const char *name)
{
    char text[64];
    int rc = nuioa_sysfs_text(dir, text, sizeof(text), "%s/%s", folder, name);
    return rc != -ENOENT && rc != -EACCES;
}

/* Reads one source, below the directory `folder` of `dir`. Returns false if it lacks one of the two
 * that count bytes. */
static bool read_source(struct nuioa_nic_counters *counters, const struct names *names, int dir,
                        const char *folder)
{
    if (!is_readable(dir, folder, names->received) || !is_readable(dir, folder, names->sent))
        return false;
    counters->received = read_one(dir, folder, names->received, names->unit);
    counters->sent = read_one(dir, folder, names->sent, names->unit);
    counters->received_packets = read_one(dir, folder, names->packets, 1);
    return true;
}

static bool read_verbs(const struct nuioa_sysfs *sysfs, const struct nuioa_nic *nic,
                       struct nuioa_nic_counters *counters)
{
    char port[80], device[64];
    snprintf(port, sizeof(port), "%s/ports/%u/counters", nic->name, nic->port);
    if (read_source(counters, &port_counters, sysfs->verbs, port))
        return true;
    snprintf(port, sizeof(port), "%s/ports/%u/hw_counters", nic->name, nic->port);
    snprintf(device, sizeof(device), "%s/hw_counters", nic->name);
    for (unsigned i = 0; i < sizeof(hw_counters) / sizeof(*hw_counters); i++)
        if (read_source(counters, &hw_counters[i], sysfs->verbs, port) ||
            read_source(counters, &hw_counters[i], sysfs->verbs, device))
            return true;
    return false;
}

/* Returns true if nothing but the kernel's network stack uses the NIC: it is Ethernet without a
 * verbs device, or has one that the kernel makes (rxe, which counts packets under this name, and no
 * bytes). */
static bool is_plain(const struct nuioa_sysfs *sysfs, const struct nuioa_nic *nic)
{
    if (!nic->port)
        return nic->kind == NUIOA_NIC_ETHERNET || nic->kind == NUIOA_NIC_OTHER;
    return nuioa_sysfs_exists(sysfs->verbs, "%s/ports/%u/hw_counters/rcvd_pkts", nic->name,
                              nic->port);
}

int nuioa_nic_counters_read(const struct nuioa_sysfs *sysfs, const struct nuioa_nic *nic,
                            struct nuioa_nic_counters *counters)
{
    char folder[64];
    *counters = (struct nuioa_nic_counters){ NUIOA_NO_COUNTER, NUIOA_NO_COUNTER, NUIOA_NO_COUNTER };
    if (nic->port && read_verbs(sysfs, nic, counters))
        return 0;
    snprintf(folder, sizeof(folder), "%s/telemetry", nic->pci);
    if (nic->kind == NUIOA_NIC_SLINGSHOT && *nic->pci &&
        read_source(counters, &telemetry, sysfs->pci, folder))
        return 0;
    snprintf(folder, sizeof(folder), "%s/statistics", nic->port ? nic->netdev : nic->name);
    return is_plain(sysfs, nic) && read_source(counters, &statistics, sysfs->net, folder) ? 0
                                                                                          : -ENOENT;
}

static void write_all(int fd, void *arg)
{
    const struct nuioa_node *node = arg;
    struct nuioa_sysfs sysfs;
    nuioa_sysfs_open(&sysfs, "");
    for (uint32_t i = 0; i < node->nic_count; i++) {
        struct nuioa_nic_counters counters;
        nuioa_nic_counters_read(&sysfs, &node->nics[i], &counters);
        nuioa_subprocess_write(fd, &counters, sizeof(counters));
    }
}

struct nuioa_nic_counters *nuioa_nic_counters_read_all(const struct nuioa_node *node,
                                                       unsigned deadline_ms)
{
    void *bytes = NULL;
    size_t length, wanted = node->nic_count * sizeof(struct nuioa_nic_counters);
    int rc = nuioa_subprocess_run(write_all, (void *)node, deadline_ms, wanted, &bytes, &length);
    if (!rc && length == wanted)
        return bytes ? bytes : calloc(1, sizeof(struct nuioa_nic_counters));
    free(bytes);
    return NULL;
}

bool nuioa_nic_counters_known(const struct nuioa_nic_counters *c)
{
    return c->received != NUIOA_NO_COUNTER && c->sent != NUIOA_NO_COUNTER;
}

static uint64_t between(uint64_t before, uint64_t after)
{
    return before == NUIOA_NO_COUNTER || after == NUIOA_NO_COUNTER || after < before
               ? NUIOA_NO_COUNTER
               : after - before;
}

void nuioa_nic_counters_between(const struct nuioa_nic_counters *before,
                                const struct nuioa_nic_counters *after,
                                struct nuioa_nic_counters *carried)
{
    *carried = (struct nuioa_nic_counters){
        .received = between(before->received, after->received),
        .sent = between(before->sent, after->sent),
        .received_packets = between(before->received_packets, after->received_packets),
    };
}
