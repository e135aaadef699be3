/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_counters.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/subprocess.h"

#define COUNTERS 4

/* The open files of the counters of one NIC. */
struct files {
    int fd[COUNTERS]; /* in the order of struct nuioa_nic_counters; -1: there is no such counter */
    uint32_t unit;    /* how many bytes the first two count as one */
};

/* The names of a driver's counters in hw_counters, in the order of struct nuioa_nic_counters. */
struct names {
    const char *name[COUNTERS];
    uint32_t unit; /* bytes */
};

static const struct names hw_counters[] = {
    /* EFA (Linux, drivers/infiniband/hw/efa/efa_verbs.c) and bnxt_re */
    { { "rx_bytes", "tx_bytes", "rx_pkts", "tx_pkts" }, 1 },
    /* Omni-Path: words of 32 bits (drivers/infiniband/hw/hfi1/chip.c, SEND_DWORD_CNT) */
    { { "RxWords", "TxWords", "RxPkt", "TxPkt" }, 4 },
    /* ionic */
    { { "rx_rdma_ucast_bytes", "tx_rdma_ucast_bytes", "rx_rdma_ucast_pkts", "tx_rdma_ucast_pkts" },
      1 },
};

static const struct names port_counters = {
    { "port_rcv_data", "port_xmit_data", "port_rcv_packets", "port_xmit_packets" }, 4
};

/* Slingshot has packets by traffic class only. */
static const struct names telemetry = {
    { "hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets", NULL, NULL }, 1
};

static const struct names statistics = { { "rx_bytes", "tx_bytes", "rx_packets", "tx_packets" },
                                         1 };

static void close_files(struct files *files)
{
    for (int i = 0; i < COUNTERS; i++) {
        if (files->fd[i] >= 0)
            close(files->fd[i]);
        files->fd[i] = -1;
    }
}

static int open_one(int dir, const char *folder, const char *name)
{
    char path[256];
    int length = name ? snprintf(path, sizeof(path), "%s/%s", folder, name) : -1;
    if (dir < 0 || length < 0 || (size_t)length >= sizeof(path))
        return -1;
    return openat(dir, path, O_RDONLY | O_CLOEXEC);
}

/* Opens the files of one source, below the directory that `folder` names. Returns false if it lacks
 * one of the two that count bytes. */
static bool open_source(struct files *files, const struct names *names, int dir, const char *folder,
                        ...) __attribute__((format(printf, 4, 5)));

static bool open_source(struct files *files, const struct names *names, int dir, const char *folder,
                        ...)
{
    char path[192];
    va_list args;
    va_start(args, folder);
    int length = vsnprintf(path, sizeof(path), folder, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof(path))
        return false;
    files->unit = names->unit;
    for (int i = 0; i < COUNTERS; i++)
        files->fd[i] = open_one(dir, path, names->name[i]);
    if (files->fd[0] >= 0 && files->fd[1] >= 0)
        return true;
    close_files(files);
    return false;
}

static bool open_verbs(const struct nuioa_sysfs *sysfs, const struct nuioa_nic *nic,
                       struct files *files)
{
    if (open_source(files, &port_counters, sysfs->verbs, "%s/ports/%u/counters", nic->name,
                    nic->port))
        return true;
    for (unsigned i = 0; i < sizeof(hw_counters) / sizeof(*hw_counters); i++)
        if (open_source(files, &hw_counters[i], sysfs->verbs, "%s/ports/%u/hw_counters", nic->name,
                        nic->port) ||
            open_source(files, &hw_counters[i], sysfs->verbs, "%s/hw_counters", nic->name))
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

static int open_files(const struct nuioa_sysfs *sysfs, const struct nuioa_nic *nic,
                      struct files *files)
{
    *files = (struct files){ { -1, -1, -1, -1 }, 1 };
    if (nic->port && open_verbs(sysfs, nic, files))
        return 0;
    if (nic->kind == NUIOA_NIC_SLINGSHOT && *nic->pci &&
        open_source(files, &telemetry, sysfs->pci, "%s/telemetry", nic->pci))
        return 0;
    if (is_plain(sysfs, nic) && open_source(files, &statistics, sysfs->net, "%s/statistics",
                                            nic->port ? nic->netdev : nic->name))
        return 0;
    return -ENOENT;
}

uint64_t nuioa_nic_counter_parse(const char *text)
{
    uint64_t number = 0;
    const char *c = text;
    for (; isdigit((unsigned char)*c); c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (number > (UINT64_MAX - 1 - digit) / 10)
            return NUIOA_NO_COUNTER;
        number = number * 10 + digit;
    }
    bool ends = !*c || *c == '@' || isspace((unsigned char)*c);
    return c != text && ends ? number : NUIOA_NO_COUNTER;
}

/* Counters of verbs ports that have 32 bits only stop at their end (InfiniBand Architecture
 * Specification, volume 1, section 16.1.3.5). */
static uint64_t read_one(int fd, uint32_t unit)
{
    char text[64];
    ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
    if (got <= 0)
        return NUIOA_NO_COUNTER;
    text[got] = '\0';
    uint64_t number = nuioa_nic_counter_parse(text);
    if (number == NUIOA_NO_COUNTER || number == UINT32_MAX || number >= UINT64_MAX / unit)
        return NUIOA_NO_COUNTER;
    return number * unit;
}

int nuioa_nic_counters_read(const struct nuioa_sysfs *sysfs, const struct nuioa_nic *nic,
                            struct nuioa_nic_counters *counters)
{
    struct files files;
    int rc = open_files(sysfs, nic, &files);
    counters->received = read_one(files.fd[0], files.unit);
    counters->sent = read_one(files.fd[1], files.unit);
    counters->received_packets = read_one(files.fd[2], 1);
    counters->sent_packets = read_one(files.fd[3], 1);
    close_files(&files);
    return rc;
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
        .sent_packets = between(before->sent_packets, after->sent_packets),
    };
}
