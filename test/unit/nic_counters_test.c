/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "dump.h"
#include "topology/nic_counters.h"
#include "unit.h"

/* What the NICs carried, from trees of sysfs as drivers of each kind make them. */

static struct nuioa_nic nic_of(enum nuioa_nic_kind kind, const char *name, uint32_t port,
                               const char *netdev)
{
    struct nuioa_nic nic = { .kind = kind, .port = port, .pci = "0000:81:00.0" };
    snprintf(nic.name, sizeof(nic.name), "%s", name);
    snprintf(nic.netdev, sizeof(nic.netdev), "%s", netdev);
    return nic;
}

/* Reads the counters of a NIC. Returns what reading them returned. */
static int read_nic(const struct nuioa_nic *nic, struct nuioa_nic_counters *counters)
{
    struct nuioa_sysfs sysfs;
    nuioa_sysfs_open(&sysfs, dump_path);
    int rc = nuioa_nic_counters_read(&sysfs, nic, counters);
    nuioa_sysfs_close(&sysfs);
    return rc;
}

static void is_read(const struct nuioa_nic *nic, uint64_t received, uint64_t sent,
                    uint64_t received_packets)
{
    struct nuioa_nic_counters c;
    assert_int_equal(read_nic(nic, &c), 0);
    assert_int_equal(c.received, received);
    assert_int_equal(c.sent, sent);
    assert_int_equal(c.received_packets, received_packets);
}

/* Four files with the numbers 1000, 2000, 3000 and 4000. */
static void put_four(const char *folder, const char *const names[4])
{
    for (int i = 0; i < 4; i++) {
        char path[200], text[16];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        snprintf(text, sizeof(text), "%d000\n", i + 1);
        dump_file(path, text);
    }
}

static const char *const port_names[] = { "port_rcv_data", "port_xmit_data", "port_rcv_packets",
                                          "port_xmit_packets" };
static const char *const statistics_names[] = { "rx_bytes", "tx_bytes", "rx_packets",
                                                "tx_packets" };

TEST(infiniband)
{
    dump_make();
    put_four("sys/class/infiniband/mlx5_0/ports/2/counters", port_names);
    put_four("sys/class/net/ib1/statistics", statistics_names);
    const struct nuioa_nic nic = nic_of(NUIOA_NIC_INFINIBAND, "mlx5_0", 2, "ib1");
    is_read(&nic, 4000, 8000, 3000); /* units of 4 bytes */
    /* 32 bits, and stopped */
    dump_file("sys/class/infiniband/mlx5_0/ports/2/counters/port_rcv_data", "4294967295\n");
    is_read(&nic, NUIOA_NO_COUNTER, 8000, 3000);
    /* as large as they get */
    dump_file("sys/class/infiniband/mlx5_0/ports/2/counters/port_rcv_data",
              "18446744073709551614\n");
    is_read(&nic, NUIOA_NO_COUNTER, 8000, 3000);
}

TEST(hw_counters)
{
    static const char *const efa[] = { "rx_bytes", "tx_bytes", "rx_pkts", "tx_pkts" };
    static const char *const opa[] = { "RxWords", "TxWords", "RxPkt", "TxPkt" };
    dump_make();
    put_four("sys/class/infiniband/rdmap0/ports/1/hw_counters", efa);
    put_four("sys/class/infiniband/hfi1_0/ports/1/hw_counters", opa);
    put_four("sys/class/infiniband/rdmap1/hw_counters", efa);
    const struct nuioa_nic a = nic_of(NUIOA_NIC_EFA, "rdmap0", 1, ""),
                           b = nic_of(NUIOA_NIC_OMNIPATH, "hfi1_0", 1, ""),
                           c = nic_of(NUIOA_NIC_EFA, "rdmap1", 1, "");
    is_read(&a, 1000, 2000, 3000);
    is_read(&b, 4000, 8000, 3000);
    is_read(&c, 1000, 2000, 3000);
}

TEST(slingshot)
{
    dump_make();
    dump_file("sys/bus/pci/devices/0000:81:00.0/telemetry/hni_sts_rx_ok_octets",
              "5000@1700000000.123456789\n");
    dump_file("sys/bus/pci/devices/0000:81:00.0/telemetry/hni_sts_tx_ok_octets", "7@1\n");
    put_four("sys/class/net/hsn0/statistics", statistics_names);
    const struct nuioa_nic nic = nic_of(NUIOA_NIC_SLINGSHOT, "hsn0", 0, "hsn0");
    is_read(&nic, 5000, 7, NUIOA_NO_COUNTER);
}

/* The statistics of a netdev count for it if no card carries data past them. */
TEST(ethernet)
{
    struct nuioa_nic_counters c;
    dump_make();
    put_four("sys/class/net/eth0/statistics", statistics_names);
    const struct nuioa_nic plain = nic_of(NUIOA_NIC_ETHERNET, "eth0", 0, "eth0"),
                           soft = nic_of(NUIOA_NIC_ROCE, "rxe0", 1, "eth0"),
                           card = nic_of(NUIOA_NIC_ROCE, "bnxt_re0", 1, "eth0"),
                           slingshot = nic_of(NUIOA_NIC_SLINGSHOT, "eth0", 0, "eth0");
    dump_file("sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts", "1\n");
    is_read(&plain, 1000, 2000, 3000);
    is_read(&soft, 1000, 2000, 3000);
    assert_int_equal(read_nic(&card, &c), -ENOENT);
    assert_int_equal(read_nic(&slingshot, &c), -ENOENT);
    assert_int_equal(c.received, NUIOA_NO_COUNTER);
}

TEST(parsing)
{
    static const struct {
        const char *text;
        uint64_t number;
    } cases[] = {
        { "0", 0 },
        { "12\n", 12 },
        { "12 packets", 12 },
        { "12@3.4", 12 },
        { "18446744073709551614", UINT64_MAX - 1 },
        { "18446744073709551615", NUIOA_NO_COUNTER },
        { "99999999999999999999", NUIOA_NO_COUNTER },
        { "", NUIOA_NO_COUNTER },
        { "\n", NUIOA_NO_COUNTER },
        { "-1", NUIOA_NO_COUNTER },
        { "0x10", NUIOA_NO_COUNTER },
        { "N/A (not available)", NUIOA_NO_COUNTER },
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(nuioa_nic_counter_parse(cases[i].text), cases[i].number);
}

TEST(between)
{
    const struct nuioa_nic_counters before = { 10, 20, 30 }, after = { 15, 11, NUIOA_NO_COUNTER };
    struct nuioa_nic_counters carried;
    nuioa_nic_counters_between(&before, &after, &carried);
    assert_int_equal(carried.received, 5);
    assert_int_equal(carried.sent, NUIOA_NO_COUNTER); /* it fell */
    assert_int_equal(carried.received_packets, NUIOA_NO_COUNTER);
    nuioa_nic_counters_between(&after, &before, &carried);
    assert_int_equal(carried.received_packets, NUIOA_NO_COUNTER);
}

/* The child reads this machine's: what it says of lo is what /proc says, or a little less. */
TEST(all)
{
    struct nuioa_nic nics[] = { nic_of(NUIOA_NIC_ETHERNET, "nuioa-none", 0, "nuioa-none"),
                                nic_of(NUIOA_NIC_ETHERNET, "lo", 0, "lo") };
    struct nuioa_node node = { .nic_count = 2, .nics = nics };
    unsigned long long received = 0;
    char line[512];
    struct nuioa_nic_counters *c = nuioa_nic_counters_read_all(&node, 60000);
    FILE *file = fopen("/proc/net/dev", "r");
    assert_non_null(c);
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        sscanf(line, " lo: %llu", &received);
    fclose(file);
    assert_false(nuioa_nic_counters_known(&c[0]));
    if (!access("/sys/class/net/lo", F_OK)) {
        assert_true(nuioa_nic_counters_known(&c[1]));
        assert_true(c[1].received <= received);
    }
    free(c);
    node.nic_count = 0;
    c = nuioa_nic_counters_read_all(&node, 60000);
    assert_non_null(c);
    free(c);
}
