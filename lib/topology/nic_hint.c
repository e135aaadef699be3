/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_hint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "topology/route.h"
#include "util/sysfs.h"
#include "util/word.h"

enum { VENDOR_MELLANOX = 0x15b3 };

/* The largest part of a file that is read. */
#define TEXT_MAX (256u << 10)

/* Physical functions of BlueField to BlueField-4, as the driver mlx5_core of Linux lists them. */
static bool is_bluefield(hwloc_topology_t topology, const char *pci)
{
    static const unsigned short devices[] = { 0xa2d2, 0xa2d6, 0xa2dc, 0xa2df };
    hwloc_obj_t obj = *pci ? hwloc_get_pcidev_by_busidstring(topology, pci) : NULL;
    for (unsigned i = 0; obj && i < sizeof(devices) / sizeof(*devices); i++)
        if (obj->attr->pcidev.vendor_id == VENDOR_MELLANOX &&
            obj->attr->pcidev.device_id == devices[i])
            return true;
    return false;
}

static void hint(struct nuioa_node *node, const char *netdev, uint32_t what)
{
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (!strcmp(node->nics[i].netdev, netdev))
            node->nics[i].hints |= what;
}

/* Reads an IPv4 address that ends with one of `ends`, or with the text. Returns false for another
 * text, and for an address of the machine itself (127.0.0.1 and its like), which no NIC has. */
static bool read_address(const char *text, const char *ends, uint32_t *address)
{
    char copy[INET_ADDRSTRLEN];
    size_t length = strcspn(text, ends);
    struct in_addr a;
    if (length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (inet_pton(AF_INET, copy, &a) != 1 || ntohl(a.s_addr) >> 24 == IN_LOOPBACKNET)
        return false;
    *address = a.s_addr;
    return true;
}

/* Reads a line of proc/self/mounts: source, target, type, options. Network file systems name their
 * server in the option addr= (NFS, CIFS) or at the beginning of the source (Lustre's
 * "10.1.0.9@o2ib:/scratch", Ceph's "10.1.0.9:6789:/"). Users can mount file systems of FUSE, which
 * say nothing of the site. */
static bool server_of(char *line, uint32_t *address)
{
    char *fields[4];
    for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (!(fields[i] = nuioa_next_word(&line, " ")))
            return false;
    if (!strncmp(fields[2], "fuse", 4))
        return false;
    for (char *option, *rest = fields[3]; (option = nuioa_next_word(&rest, ","));)
        if (!strncmp(option, "addr=", 5))
            return read_address(option + 5, "", address);
    return fields[0][strcspn(fields[0], "@:")] && read_address(fields[0], "@:", address);
}

/* The file is read, and no file system is asked: one whose server is gone would hang. */
static void read_mounts(struct nuioa_node *node, const struct nuioa_routes *routes,
                        const char *root)
{
    char *text = nuioa_sysfs_lines(AT_FDCWD, TEXT_MAX, "%s/proc/self/mounts", root), *rest = text;
    for (char *line; text && (line = nuioa_next_word(&rest, "\n"));) {
        uint32_t address;
        const struct nuioa_route *route =
            server_of(line, &address) ? nuioa_route_to(routes, address) : NULL;
        if (route)
            hint(node, route->netdev, NUIOA_HINT_MOUNT);
    }
    free(text);
}

/* Returns true if a line of etc/hosts, "10.1.0.5 node5.cluster node5", is of this host. */
static bool is_of_host(char *line, const char *host, uint32_t *address)
{
    line[strcspn(line, "#")] = '\0';
    char *first = nuioa_next_word(&line, " \t");
    for (char *name; first && (name = nuioa_next_word(&line, " \t"));)
        if (!strcmp(name, host))
            return read_address(first, "", address);
    return false;
}

/* Slurm reaches a node by the address of its name, unless slurm.conf says another one. No server of
 * names is asked: it might not answer. */
static void read_address_of_host(struct nuioa_node *node, const struct nuioa_routes *routes,
                                 const char *root)
{
    char *text = nuioa_sysfs_lines(AT_FDCWD, TEXT_MAX, "%s/etc/hosts", root), *rest = text;
    for (char *line; text && (line = nuioa_next_word(&rest, "\n"));) {
        uint32_t address;
        const struct nuioa_route *route =
            is_of_host(line, node->host, &address) ? nuioa_route_to(routes, address) : NULL;
        if (!route)
            continue;
        if (route->mask && nuioa_route_is_only(routes, route))
            hint(node, route->netdev, NUIOA_HINT_ADDRESS);
        break;
    }
    free(text);
}

static void read_routes(struct nuioa_node *node, const char *root)
{
    struct nuioa_routes routes;
    nuioa_routes_read(&routes, root);
    for (uint32_t i = 0; i < routes.count; i++)
        if (!routes.route[i].mask)
            hint(node, routes.route[i].netdev, NUIOA_HINT_ROUTE);
    read_mounts(node, &routes, root);
    read_address_of_host(node, &routes, root);
    nuioa_routes_free(&routes);
}

void nuioa_nic_hints_read(struct nuioa_node *node, hwloc_topology_t topology, const char *root)
{
    for (uint32_t i = 0; i < node->nic_count; i++)
        node->nics[i].hints =
            node->gpu_count && is_bluefield(topology, node->nics[i].pci) ? NUIOA_HINT_BLUEFIELD : 0;
    if (node->gpu_count && root)
        read_routes(node, root);
}
