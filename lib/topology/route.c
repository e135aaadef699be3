/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/route.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/number.h"
#include "util/sysfs.h"
#include "util/word.h"

/* Flags of a route (RTF_UP, RTF_REJECT of net/route.h). */
enum { UP = 1, REJECT = 0x200 };

/* The largest part of the file that is read: 2048 routes. */
#define TEXT_MAX (256u << 10)

static bool read_hex(const char *text, uint32_t *number)
{
    size_t length = strlen(text);
    if (!length || length > 8 || strspn(text, "0123456789abcdefABCDEF") != length)
        return false;
    *number = (uint32_t)strtoul(text, NULL, 16);
    return true;
}

/* Reads a line such as "eth0 0002A8C0 00000000 0001 0 0 100 00FFFFFF 0 0 0": interface, addresses,
 * gateway, flags, two counts, metric, mask. Returns false for another one, such as the head, and
 * for a route that is not used. */
static bool read_route(char *line, struct nuioa_route *route)
{
    char *fields[8];
    uint32_t flags;
    for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (!(fields[i] = nuioa_next_word(&line, " \t")))
            return false;
    nuioa_copy(route->netdev, sizeof(route->netdev), fields[0]);
    return read_hex(fields[1], &route->to) && read_hex(fields[3], &flags) &&
           (flags & (UP | REJECT)) == UP &&
           !nuioa_parse_u32(fields[6], UINT32_MAX, &route->metric) &&
           read_hex(fields[7], &route->mask) && (route->to & ~route->mask) == 0;
}

static void add(struct nuioa_routes *routes, const struct nuioa_route *route)
{
    uint32_t count = routes->count;
    if (!(count & (count - 1))) { /* the room is a power of two */
        struct nuioa_route *more = realloc(routes->route, (count ? 2 * count : 1) * sizeof(*more));
        if (!more)
            return;
        routes->route = more;
    }
    routes->route[routes->count++] = *route;
}

void nuioa_routes_read(struct nuioa_routes *routes, const char *root)
{
    struct nuioa_route route;
    *routes = (struct nuioa_routes){ 0 };
    char *text = nuioa_sysfs_lines(AT_FDCWD, TEXT_MAX, "%s/proc/net/route", root), *rest = text;
    for (char *line; text && (line = nuioa_next_word(&rest, "\n"));)
        if (read_route(line, &route))
            add(routes, &route);
    free(text);
}

void nuioa_routes_free(struct nuioa_routes *routes)
{
    free(routes->route);
    *routes = (struct nuioa_routes){ 0 };
}

const struct nuioa_route *nuioa_route_to(const struct nuioa_routes *routes, uint32_t address)
{
    const struct nuioa_route *best = NULL;
    for (uint32_t i = 0; i < routes->count; i++) {
        const struct nuioa_route *r = &routes->route[i];
        int longer = best ? __builtin_popcount(r->mask) - __builtin_popcount(best->mask) : 1;
        if ((address & r->mask) == r->to &&
            (longer > 0 || (longer == 0 && r->metric < best->metric)))
            best = r;
    }
    return best;
}

bool nuioa_route_is_only(const struct nuioa_routes *routes, const struct nuioa_route *route)
{
    for (uint32_t i = 0; i < routes->count; i++) {
        const struct nuioa_route *r = &routes->route[i];
        if (r->to == route->to && r->mask == route->mask && strcmp(r->netdev, route->netdev) != 0)
            return false;
    }
    return true;
}
