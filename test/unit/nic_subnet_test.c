/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include "topology/nic_subnet.h"
#include "unit.h"

enum { NICS = 4 };

struct address {
    struct ifaddrs list;
    struct sockaddr_storage address, mask;
};

static void put(struct sockaddr_storage *to, const char *text)
{
    memset(to, 0, sizeof(*to));
    to->ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
    void *at = to->ss_family == AF_INET ? (void *)&((struct sockaddr_in *)to)->sin_addr
                                        : (void *)&((struct sockaddr_in6 *)to)->sin6_addr;
    assert_int_equal(inet_pton(to->ss_family, text, at), 1);
}

/* Prepends an address of a netdev to `list`, and returns it. */
static struct ifaddrs *add(struct ifaddrs *list, struct address *a, char *netdev,
                           const char *address, const char *mask)
{
    put(&a->address, address);
    put(&a->mask, mask);
    a->list = (struct ifaddrs){ .ifa_next = list,
                                .ifa_name = netdev,
                                .ifa_addr = (struct sockaddr *)&a->address,
                                .ifa_netmask = (struct sockaddr *)&a->mask };
    return &a->list;
}

static void make_nics(struct nuioa_node *node, struct nuioa_nic *nics, enum nuioa_nic_kind kind)
{
    memset(nics, 0, NICS * sizeof(*nics));
    *node = (struct nuioa_node){ .nics = nics, .nic_count = NICS };
    for (unsigned i = 0; i < NICS; i++) {
        nics[i].kind = kind;
        snprintf(nics[i].netdev, sizeof(nics[i].netdev), "eth%u", i);
    }
}

TEST(test_subnets)
{
    struct nuioa_node node;
    struct nuioa_nic nics[NICS];
    struct address a[6];
    char eth0[] = "eth0", eth1[] = "eth1", eth2[] = "eth2", other[] = "eth10";
    struct ifaddrs none = { .ifa_name = eth0 }, *list = &none;
    list = add(list, &a[0], eth0, "10.1.2.3", "255.255.0.0");
    list = add(list, &a[1], eth0, "fd00::1", "ffff:ffff:ffff:ffff::");
    list = add(list, &a[2], eth1, "10.1.77.1", "255.255.0.0");
    list = add(list, &a[3], eth2, "fe80::1", "ffff:ffff:ffff:ffff::");
    list = add(list, &a[4], eth2, "fd00:0:0:7:8::1", "ffff:ffff:ffff:ffff::");
    list = add(list, &a[5], other, "192.168.1.1", "255.255.255.0");
    make_nics(&node, nics, NUIOA_NIC_ROCE);
    nuioa_nic_subnets_set(&node, list);
    assert_string_equal(nics[0].subnet, "10.1.0.0/16"); /* not that of IPv6, which comes first */
    assert_string_equal(nics[1].subnet, "10.1.0.0/16");
    assert_string_equal(nics[2].subnet, "fd00:0:0:7::/64"); /* not the link-local one */
    assert_string_equal(nics[3].subnet, "");
    nuioa_nic_subnets_set(&node, NULL);
    assert_string_equal(nics[0].subnet, "");

    make_nics(&node, nics, NUIOA_NIC_INFINIBAND); /* IP says nothing of an InfiniBand subnet */
    nuioa_nic_subnets_set(&node, list);
    assert_string_equal(nics[0].subnet, "");
}

/* Each port may give itself such an address, in whatever network it is. */
TEST(test_link_local)
{
    struct nuioa_node node;
    struct nuioa_nic nics[NICS];
    struct address a[5];
    char eth0[] = "eth0", eth1[] = "eth1", eth2[] = "eth2";
    struct ifaddrs *list = NULL;
    list = add(list, &a[0], eth0, "169.254.1.2", "255.255.0.0");
    list = add(list, &a[1], eth1, "10.1.2.3", "255.255.0.0");
    list = add(list, &a[2], eth1, "169.254.7.8", "255.255.0.0");
    list = add(list, &a[3], eth2, "fd00:0:0:7::1", "ffff:ffff:ffff:ffff::");
    list = add(list, &a[4], eth2, "169.254.9.9", "255.255.0.0");
    make_nics(&node, nics, NUIOA_NIC_ROCE);
    nuioa_nic_subnets_set(&node, list);
    assert_string_equal(nics[0].subnet, "");
    assert_string_equal(nics[1].subnet, "10.1.0.0/16");
    assert_string_equal(nics[2].subnet, "fd00:0:0:7::/64");
}

/* The kernel's answer: a loopback interface has 127.0.0.1/8. */
TEST(test_this_machine)
{
    struct nuioa_node node;
    struct nuioa_nic nics[NICS];
    make_nics(&node, nics, NUIOA_NIC_ETHERNET);
    snprintf(nics[0].netdev, sizeof(nics[0].netdev), "lo");
    nuioa_nic_subnets_read(&node);
    assert_string_equal(nics[0].subnet, "127.0.0.0/8");
    assert_string_equal(nics[3].subnet, "");
    node.emulated = true; /* another machine */
    nuioa_nic_subnets_read(&node);
    assert_string_equal(nics[0].subnet, "");
    node.emulated = false;
    node.nic_count = 1; /* nothing to compare with */
    nuioa_nic_subnets_read(&node);
    assert_string_equal(nics[0].subnet, "");
}

static bool connected(const struct nuioa_node *node, uint32_t first, uint32_t second)
{
    const uint32_t pair[] = { first, second };
    return nuioa_nics_are_connected(node, pair, 2);
}

TEST(test_connected)
{
    struct nuioa_node node;
    struct nuioa_nic nics[NICS];
    static const uint32_t all[NICS] = { 0, 1, 2, 3 };
    make_nics(&node, nics, NUIOA_NIC_ETHERNET);
    assert_true(nuioa_nics_are_connected(&node, all, 1)); /* one NIC alone */
    assert_true(nuioa_nics_are_connected(&node, all, 0));
    assert_false(connected(&node, 0, 1)); /* unknown subnets */
    strcpy(nics[0].subnet, "10.1.0.0/16");
    strcpy(nics[1].subnet, "10.1.0.0/16");
    strcpy(nics[2].subnet, "10.2.0.0/16");
    assert_true(connected(&node, 0, 1));
    assert_false(connected(&node, 1, 2));
    assert_false(nuioa_nics_are_connected(&node, all, 3));
    nics[1].kind = NUIOA_NIC_ROCE;
    assert_false(connected(&node, 0, 1)); /* different kinds */

    make_nics(&node, nics, NUIOA_NIC_INFINIBAND);
    assert_false(connected(&node, 0, 1));
    strcpy(nics[0].fabric, "fec0:0000:0000:0001");
    strcpy(nics[1].fabric, "fec0:0000:0000:0001");
    strcpy(nics[2].fabric, "fe80:0000:0000:0000");
    strcpy(nics[3].fabric, "fe80:0000:0000:0000");
    assert_true(connected(&node, 0, 1));
    assert_false(connected(&node, 0, 2));
    /* Two subnets may have the default prefix, and managers with one number. */
    assert_false(connected(&node, 2, 3));
    nics[2].sm_lid = nics[3].sm_lid = 1;
    assert_false(connected(&node, 2, 3));
    assert_true(nuioa_nic_same_fabric(&nics[2], &nics[3]));
    nics[3].sm_lid = 7;
    assert_false(nuioa_nic_same_fabric(&nics[2], &nics[3]));
    nics[3].sm_lid = 0; /* unknown */
    assert_true(nuioa_nic_same_fabric(&nics[2], &nics[3]));
    nics[0].sm_lid = 1; /* a prefix of the site's says more than the manager */
    nics[1].sm_lid = 7;
    assert_true(nuioa_nic_same_fabric(&nics[0], &nics[1]));

    make_nics(&node, nics, NUIOA_NIC_SLINGSHOT);
    assert_true(nuioa_nics_are_connected(&node, all, NICS));
    make_nics(&node, nics, NUIOA_NIC_EFA);
    assert_true(nuioa_nics_are_connected(&node, all, NICS));
    make_nics(&node, nics, NUIOA_NIC_OMNIPATH); /* planes cannot be told apart */
    assert_false(connected(&node, 0, 1));
}
