/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_subnet.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static bool has_subnet(const struct nuioa_nic *nic)
{
    return (nic->kind == NUIOA_NIC_ROCE || nic->kind == NUIOA_NIC_ETHERNET) && nic->netdev[0];
}

/* Writes the network part of an address and its length in bits, such as "10.1.0.0/16". */
static void print_subnet(int family, const unsigned char *address, const unsigned char *mask,
                         char *text, size_t size)
{
    unsigned char network[sizeof(struct in6_addr)];
    char name[INET6_ADDRSTRLEN];
    unsigned bytes = family == AF_INET ? 4 : 16, bits = 0;
    for (unsigned i = 0; i < bytes; i++) {
        network[i] = address[i] & mask[i];
        bits += (unsigned)__builtin_popcount(mask[i]);
    }
    if (inet_ntop(family, network, name, sizeof(name)))
        snprintf(text, size, "%s/%u", name, bits);
}

/* A link-local address, which each port may give itself, says nothing of the network that it is
 * in. */
static void take_address(struct nuioa_nic *nic, const struct ifaddrs *a)
{
    int family = a->ifa_addr->sa_family;
    size_t offset = family == AF_INET ? offsetof(struct sockaddr_in, sin_addr)
                                      : offsetof(struct sockaddr_in6, sin6_addr);
    const unsigned char *address = (const unsigned char *)a->ifa_addr + offset;
    const unsigned char *mask = (const unsigned char *)a->ifa_netmask + offset;
    bool local = family == AF_INET ? address[0] == 169 && address[1] == 254
                                   : address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
    bool wanted = !nic->subnet[0] || (family == AF_INET && strchr(nic->subnet, ':'));
    if (wanted && !local)
        print_subnet(family, address, mask, nic->subnet, sizeof(nic->subnet));
}

void nuioa_nic_subnets_set(struct nuioa_node *node, const struct ifaddrs *addresses)
{
    for (uint32_t i = 0; i < node->nic_count; i++) {
        struct nuioa_nic *nic = &node->nics[i];
        nic->subnet[0] = '\0';
        for (const struct ifaddrs *a = addresses; a && has_subnet(nic); a = a->ifa_next)
            if (a->ifa_addr && a->ifa_netmask && !strcmp(a->ifa_name, nic->netdev) &&
                (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6))
                take_address(nic, a);
    }
}

void nuioa_nic_subnets_read(struct nuioa_node *node)
{
    struct ifaddrs *addresses = NULL;
    unsigned comparable = 0;
    for (uint32_t i = 0; i < node->nic_count; i++)
        comparable += has_subnet(&node->nics[i]);
    if (node->emulated || comparable < 2 || getifaddrs(&addresses) < 0)
        addresses = NULL;
    nuioa_nic_subnets_set(node, addresses);
    if (addresses)
        freeifaddrs(addresses);
}

static bool is_one_network(const struct nuioa_nic *a, const struct nuioa_nic *b)
{
    switch (a->kind) {
    case NUIOA_NIC_INFINIBAND:
        return b->kind == a->kind && a->fabric[0] && !strcmp(a->fabric, b->fabric) &&
               !nuioa_nic_prefix_is_default(a->fabric);
    case NUIOA_NIC_ROCE:
    case NUIOA_NIC_ETHERNET:
        return b->kind == a->kind && a->subnet[0] && !strcmp(a->subnet, b->subnet);
    case NUIOA_NIC_SLINGSHOT:
    case NUIOA_NIC_EFA: return b->kind == a->kind;
    default: return false;
    }
}

bool nuioa_nics_are_connected(const struct nuioa_node *node, const uint32_t *nics, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (!is_one_network(&node->nics[nics[0]], &node->nics[nics[i]]))
            return false;
    return true;
}
