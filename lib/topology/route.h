/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_ROUTE_H
#define NUIOA_TOPOLOGY_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

/* The routes of IPv4 of a machine: by which network interface (netdev) an address is reached.
 * Addresses are in network order, as in struct in_addr. */

struct nuioa_route {
    char netdev[32];
    uint32_t to, mask; /* it is for the addresses that are `to` in the bits of the mask */
    uint32_t metric;   /* of several routes to the same addresses the lowest counts */
};

struct nuioa_routes {
    uint32_t count;
    struct nuioa_route *route; /* [count], as the kernel lists them */
};

/* Reads the file proc/net/route below `root` ("" for this machine). Lines of another form, and
 * routes beyond the first 2048, are left out. *routes is overwritten, and the caller frees it with
 * nuioa_routes_free. It cannot fail: without the file, or without memory, there are fewer. */
void nuioa_routes_read(struct nuioa_routes *routes, const char *root);

/* Frees what *routes owns, and makes it empty. */
void nuioa_routes_free(struct nuioa_routes *routes);

/* Returns the route to an address: the one with the longest mask, and of several such that with the
 * lowest metric, the first one. NULL: there is none. */
const struct nuioa_route *nuioa_route_to(const struct nuioa_routes *routes, uint32_t address);

/* Returns true if no other interface has a route to the same addresses, whatever its metric. */
bool nuioa_route_is_only(const struct nuioa_routes *routes, const struct nuioa_route *route);

#endif
