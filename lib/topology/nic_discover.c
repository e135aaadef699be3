/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/device_locality.h"
#include "topology/nic_port.h"

enum { VENDOR_MELLANOX = 0x15b3, VENDOR_CRAY = 0x17db, VENDOR_AMAZON = 0x1d0f };
enum { CLASS_ETHERNET = 0x0200, CLASS_NETWORK = 0x02, CLASS_INFINIBAND_BUS = 0x0c06 };

/* A netdev and its PCI function. The two ports of a card may be two functions, or two netdevs of
 * one function. */
struct netdev {
    hwloc_obj_t obj;
    hwloc_obj_t pci; /* NULL: none */
    long port;       /* of the verbs device on the same function; 0: unknown */
    bool infiniband; /* by the length of its hardware address */
    bool derived;    /* an IPoIB child or a representor of a virtual function */
    bool taken;      /* is paired with a verbs port */
    char guid[24];   /* port GUID in the hardware address, "02c9:0300:..."; "" if unknown */
};

/* A verbs port, before and after it is paired with a netdev. */
struct verbs_port {
    hwloc_obj_t obj;
    hwloc_obj_t pci;
    struct netdev *netdev;
    unsigned number;
    bool lid;      /* has a local identifier: an InfiniBand subnet manager gave it */
    char gid[64];  /* GID 0, "" if unknown */
    char link[24]; /* link layer as sysfs says, "" if unknown */
};

struct discovery {
    struct nuioa_node *node;
    hwloc_topology_t topology;
    const struct nuioa_sysfs *sysfs;
    bool native;
    struct netdev *netdevs;
    struct verbs_port *ports;
    unsigned netdev_count, port_count;
};

/* --- reading ---------------------------------------------------------------------------------- */

static hwloc_obj_t pci_of(hwloc_obj_t obj)
{
    while (obj && obj->type != HWLOC_OBJ_PCI_DEVICE)
        obj = obj->parent;
    return obj;
}

static bool is_osdev(hwloc_obj_t obj, hwloc_obj_osdev_type_t type)
{
    return obj->attr->osdev.type == type && obj->name && obj->name[0] && !strchr(obj->name, '/');
}

/* Returns false for the loopback interface, and for the second device of a Slingshot card: hwloc
 * 2.13 and later list cxi0, which has no hardware address, beside the netdev hsn0. */
static bool is_netdev(hwloc_obj_t obj)
{
    if (!is_osdev(obj, HWLOC_OBJ_OSDEV_NETWORK) || !strcmp(obj->name, "lo"))
        return false;
    if (strncmp(obj->name, "cxi", 3) || hwloc_obj_get_info_by_name(obj, "Address") || !pci_of(obj))
        return true;
    for (hwloc_obj_t other = obj->parent->io_first_child; other; other = other->next_sibling)
        if (other->type == HWLOC_OBJ_OS_DEVICE && is_osdev(other, HWLOC_OBJ_OSDEV_NETWORK) &&
            hwloc_obj_get_info_by_name(other, "Address"))
            return false;
    return true;
}

static const char *port_info(hwloc_obj_t obj, unsigned port, const char *what)
{
    char name[32];
    snprintf(name, sizeof(name), "Port%u%s", port, what);
    return hwloc_obj_get_info_by_name(obj, name);
}

static bool has_port(hwloc_obj_t obj, unsigned port)
{
    return port_info(obj, port, "State") || port_info(obj, port, "LID") ||
           port_info(obj, port, "GID0");
}

/* Returns the number of the next port of a verbs device after `port`, 0: of the first one; or 0 if
 * there is none. A device of which no port is known has port 1. */
static unsigned next_port(hwloc_obj_t obj, unsigned port)
{
    if (!is_osdev(obj, HWLOC_OBJ_OSDEV_OPENFABRICS))
        return 0;
    for (unsigned next = port + 1; next < 256; next++)
        if (has_port(obj, next))
            return next;
    return !port;
}

/* Writes the port GUID in the form that GIDs have. In an IPoIB address of 20 bytes it is the last
 * 8. */
static void guid_of_address(const char *address, char *guid, size_t size)
{
    /* NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result): constants. */
    const char *byte = address + 12 * 3;
    snprintf(guid, size, "%.2s%.2s:%.2s%.2s:%.2s%.2s:%.2s%.2s", byte, byte + 3, byte + 6, byte + 9,
             byte + 12, byte + 15, byte + 18, byte + 21);
}

static long netdev_port(const struct nuioa_sysfs *sysfs, hwloc_obj_t obj)
{
    long port = 0;
    if (!nuioa_sysfs_number(sysfs->net, &port, "%s/dev_port", obj->name) && port > 0)
        return port + 1;
    /* Old drivers have the number of the port in dev_id. */
    if (!nuioa_sysfs_number(sysfs->net, &port, "%s/dev_id", obj->name))
        return port + 1;
    const char *info = hwloc_obj_get_info_by_name(obj, "Port");
    return info ? strtol(info, NULL, 10) : 0;
}

static void read_netdev(struct netdev *netdev, hwloc_obj_t obj, const struct nuioa_sysfs *sysfs)
{
    const char *address = hwloc_obj_get_info_by_name(obj, "Address");
    char text[64];
    netdev->obj = obj;
    netdev->pci = pci_of(obj);
    netdev->port = netdev_port(sysfs, obj);
    netdev->infiniband = address && strlen(address) == 20 * 3 - 1;
    if (netdev->infiniband)
        guid_of_address(address, netdev->guid, sizeof(netdev->guid));
    nuioa_sysfs_text(sysfs->net, text, sizeof(text), "%s/phys_port_name", obj->name);
    /* Names such as "pf0vf3" and "c1pf0sf2" belong to representors of virtual functions. */
    bool representor = strstr(text, "pf") && (strstr(text, "vf") || strstr(text, "sf"));
    netdev->derived = representor || nuioa_sysfs_exists(sysfs->net, "%s/parent", obj->name) ||
                      (netdev->infiniband && strchr(obj->name, '.'));
}

static void read_port(struct verbs_port *port, hwloc_obj_t obj, unsigned number,
                      const struct nuioa_sysfs *sysfs)
{
    const char *lid = port_info(obj, number, "LID"), *gid = port_info(obj, number, "GID0");
    *port = (struct verbs_port){ .obj = obj, .pci = pci_of(obj), .number = number };
    port->lid = lid && strtoul(lid, NULL, 16);
    nuioa_sysfs_text(sysfs->verbs, port->link, sizeof(port->link), "%s/ports/%u/link_layer",
                     obj->name, number);
    if (nuioa_sysfs_text(sysfs->verbs, port->gid, sizeof(port->gid), "%s/ports/%u/gids/0",
                         obj->name, number) <= 0)
        nuioa_copy(port->gid, sizeof(port->gid), gid ? gid : "");
}

static int collect(struct discovery *d)
{
    unsigned netdevs = 0, ports = 0;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_osdev(d->topology, obj));) {
        netdevs += is_netdev(obj);
        for (unsigned port = 0; (port = next_port(obj, port));)
            ports++;
    }
    d->netdevs = calloc(netdevs + 1, sizeof(*d->netdevs));
    d->ports = calloc(ports + 1, sizeof(*d->ports));
    if (!d->netdevs || !d->ports)
        return -ENOMEM;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_osdev(d->topology, obj));) {
        if (is_netdev(obj))
            read_netdev(&d->netdevs[d->netdev_count++], obj, d->sysfs);
        for (unsigned port = 0; (port = next_port(obj, port));)
            read_port(&d->ports[d->port_count++], obj, port, d->sysfs);
    }
    return 0;
}

/* --- pairing ---------------------------------------------------------------------------------- */

enum { BY_NUMBER, BY_GUID, IN_ORDER_INFINIBAND, IN_ORDER, PASSES };

static bool fits(const struct netdev *netdev, const struct verbs_port *port, int pass)
{
    if (netdev->taken || netdev->derived || !port->pci || netdev->pci != port->pci)
        return false;
    if (pass == BY_NUMBER)
        return netdev->port == (long)port->number;
    if (netdev->port)
        return false;
    size_t gid = strlen(port->gid), guid = strlen(netdev->guid);
    if (pass == BY_GUID)
        return guid && gid > guid && !strcasecmp(port->gid + gid - guid, netdev->guid);
    return pass == IN_ORDER || netdev->infiniband;
}

static void pair(struct discovery *d)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (unsigned p = 0; p < d->port_count; p++)
            for (unsigned n = 0; n < d->netdev_count && !d->ports[p].netdev; n++)
                if (fits(&d->netdevs[n], &d->ports[p], pass)) {
                    d->ports[p].netdev = &d->netdevs[n];
                    d->netdevs[n].taken = true;
                }
}

/* --- one entry -------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static enum nuioa_nic_kind verbs_kind(const struct verbs_port *port)
{
    const char *name = port->obj->name;
    unsigned vendor = port->pci ? port->pci->attr->pcidev.vendor_id : 0;
    if (begins(name, "usnic") || begins(name, "scif"))
        return NUIOA_NIC_OTHER;
    if (begins(name, "hfi1") || begins(name, "opa"))
        return NUIOA_NIC_OMNIPATH; /* its link layer says InfiniBand */
    if (vendor == VENDOR_AMAZON)
        return NUIOA_NIC_EFA;
    if (vendor == VENDOR_CRAY)
        return NUIOA_NIC_SLINGSHOT;
    if (port->link[0])
        return strcasecmp(port->link, "InfiniBand") ? NUIOA_NIC_ROCE : NUIOA_NIC_INFINIBAND;
    if (port->lid || (port->netdev && port->netdev->infiniband))
        return NUIOA_NIC_INFINIBAND;
    bool ethernet = !port->pci || port->pci->attr->pcidev.class_id == CLASS_ETHERNET;
    return ethernet ? NUIOA_NIC_ROCE : NUIOA_NIC_INFINIBAND;
}

static enum nuioa_nic_kind netdev_kind(const struct netdev *netdev, const struct nuioa_sysfs *sysfs)
{
    if (nuioa_sysfs_exists(sysfs->net, "%s/wireless", netdev->obj->name))
        return NUIOA_NIC_OTHER;
    if (netdev->pci) {
        unsigned class_id = netdev->pci->attr->pcidev.class_id;
        if (netdev->pci->attr->pcidev.vendor_id == VENDOR_CRAY)
            return NUIOA_NIC_SLINGSHOT; /* the name is no proof: hsiN is InfiniBand elsewhere */
        if (class_id >> 8 != CLASS_NETWORK && class_id != CLASS_INFINIBAND_BUS)
            return NUIOA_NIC_OTHER; /* such as the USB network of a management processor */
    }
    return netdev->infiniband ? NUIOA_NIC_INFINIBAND : NUIOA_NIC_ETHERNET;
}

static bool has_nic(const struct discovery *d, hwloc_obj_t pci)
{
    for (unsigned i = 0; pci && i < d->port_count + d->netdev_count; i++)
        if (pci == (i < d->port_count ? d->ports[i].pci : d->netdevs[i - d->port_count].pci))
            return true;
    return false;
}

static bool is_named_virtual(hwloc_obj_t pci)
{
    const char *text = hwloc_obj_get_info_by_name(pci, "PCIDevice");
    text = text ? text : pci->name;
    return text && strstr(text, "Virtual Function");
}

/* Reads the link from a virtual function to the function of the card, "../0000:81:00.0". Returns
 * false if there is none. */
static bool read_card(const struct discovery *d, const char *pci, char *link, size_t size)
{
    char path[40];
    snprintf(path, sizeof(path), "%s/physfn", pci);
    return !nuioa_sysfs_link(d->sysfs->pci, link, size, path);
}

/* Returns true if this is a virtual function. A topology that was read from XML has only names. */
static bool is_function(const struct discovery *d, const struct nuioa_nic *nic, hwloc_obj_t pci)
{
    char link[256];
    return pci && (read_card(d, nic->pci, link, sizeof(link)) ||
                   (d->sysfs->pci < 0 && is_named_virtual(pci)));
}

/* Returns true if this is a virtual function of a card that has a NIC here, too. A virtual function
 * alone is the NIC of a virtual machine or of a container, and counts as a real one. */
static bool is_virtual_function(const struct discovery *d, const struct nuioa_nic *nic,
                                hwloc_obj_t pci)
{
    char link[256];
    if (!nic->is_function)
        return false;
    if (read_card(d, nic->pci, link, sizeof(link)))
        return has_nic(d, hwloc_get_pcidev_by_busidstring(d->topology, link + strspn(link, "./")));
    for (hwloc_obj_t other = NULL; (other = hwloc_get_next_pcidev(d->topology, other));) {
        const struct hwloc_pcidev_attr_s *a = &pci->attr->pcidev, *b = &other->attr->pcidev;
        if (a->domain == b->domain && a->bus == b->bus && a->vendor_id == b->vendor_id &&
            !is_named_virtual(other) && has_nic(d, other))
            return true;
    }
    return false;
}

static bool name_is_virtual(const char *name)
{
    static const char prefixes[][8] = { "bond",    "br",    "cali", "cni",  "docker", "dummy",
                                        "flannel", "ifb",   "ipvl", "macv", "mic",    "ovs",
                                        "rxe",     "scif",  "siw",  "tap",  "team",   "tun",
                                        "veth",    "virbr", "vlan", "vnet" };
    for (unsigned i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (begins(name, prefixes[i]))
            return true;
    return strchr(name, '.') != NULL;
}

static bool is_virtual(const struct discovery *d, const struct nuioa_nic *nic, hwloc_obj_t pci,
                       int class_dir)
{
    char link[256];
    bool placed = !nuioa_sysfs_link(class_dir, link, sizeof(link), nic->name);
    return (placed && strstr(link, "/virtual/")) || is_virtual_function(d, nic, pci) ||
           (!placed && !pci && name_is_virtual(nic->name));
}

/* --- locality --------------------------------------------------------------------------------- */

/* Returns the numa_node of the device, or -1 if it is unknown. A virtio NIC is one level below its
 * PCI device. */
static long own_numa_node(const struct discovery *d, const struct nuioa_nic *nic, int class_dir)
{
    long numa = -1;
    if (*nic->pci)
        nuioa_sysfs_number(d->sysfs->pci, &numa, "%s/numa_node", nic->pci);
    else if (nuioa_sysfs_number(class_dir, &numa, "%s/device/numa_node", nic->name))
        nuioa_sysfs_number(class_dir, &numa, "%s/device/../numa_node", nic->name);
    return numa;
}

static int locate(struct discovery *d, struct nuioa_nic *nic, hwloc_obj_t obj, hwloc_obj_t pci,
                  int class_dir)
{
    long own = own_numa_node(d, nic, class_dir);
    int known = nuioa_device_locality(d->node, d->topology, obj, own, &nic->numas, &nic->cpus);
    if (known < 0)
        return known;
    nic->locality = (enum nuioa_locality)known;
    if (known != NUIOA_LOCALITY_HWLOC)
        return 0;
    if (d->native && nuioa_device_is_overridden(pci))
        nic->locality = NUIOA_LOCALITY_OVERRIDE;
    else if (own >= 0 && nuioa_node_numa(d->node, (unsigned)own) >= 0 &&
             !hwloc_bitmap_isset(nic->numas, (unsigned)own))
        nuioa_warn(
            &d->node->warnings,
            "%s: numa_node says %ld, but the host bridge another node: the host bridge counts",
            nic->name, own);
    return 0;
}

/* Physical functions of BlueField to BlueField-4, as the driver mlx5_core of Linux lists them. */
static bool is_bluefield(hwloc_obj_t pci)
{
    static const unsigned short devices[] = { 0xa2d2, 0xa2d6, 0xa2dc, 0xa2df };
    for (unsigned i = 0; pci && i < sizeof(devices) / sizeof(*devices); i++)
        if (pci->attr->pcidev.vendor_id == VENDOR_MELLANOX &&
            pci->attr->pcidev.device_id == devices[i])
            return true;
    return false;
}

/* Sets what follows from the PCI device. */
static int place(struct discovery *d, struct nuioa_nic *nic, hwloc_obj_t obj, hwloc_obj_t pci,
                 int class_dir)
{
    if (pci)
        nuioa_device_pci_name(pci, nic->pci, sizeof(nic->pci));
    nic->card = nuioa_device_card(d->node, d->topology, pci, d->node->nic_count - 1);
    nic->hints = is_bluefield(pci) ? NUIOA_HINT_BLUEFIELD : 0;
    nic->is_function = is_function(d, nic, pci);
    nic->is_virtual = is_virtual(d, nic, pci, class_dir);
    return locate(d, nic, obj, pci, class_dir);
}

/* A Slingshot card has two names: the network device, such as hsn0, by which nuioa names the NIC,
 * and the device that libfabric opens, such as cxi0. Their numbers need not agree. Returns true for
 * a second name that fits. */
static bool is_cxi(const char *name, size_t size)
{
    size_t digits = strncmp(name, "cxi", 3) ? 0 : strlen(name + 3);
    return digits && digits + 3 < size && strspn(name + 3, "0123456789") == digits;
}

/* Reads the second name, which the topology has beside the network device (hwloc 2.13 and later),
 * or else sysfs. */
static void read_cxi(hwloc_obj_t netdev, const struct nuioa_sysfs *sysfs, char *name, size_t size)
{
    char path[64];
    for (hwloc_obj_t obj = netdev->parent->io_first_child; obj && !*name; obj = obj->next_sibling)
        if (obj->type == HWLOC_OBJ_OS_DEVICE && obj->name && is_cxi(obj->name, size))
            nuioa_copy(name, size, obj->name);
    snprintf(path, sizeof(path), "%.32s/device/cxi", netdev->name);
    DIR *directory = *name ? NULL : nuioa_sysfs_list(sysfs->net, path);
    for (struct dirent *entry; directory && !*name && (entry = readdir(directory));)
        if (is_cxi(entry->d_name, size))
            nuioa_copy(name, size, entry->d_name);
    if (directory)
        closedir(directory);
}

/* --- all entries ------------------------------------------------------------------------------ */

/* The first four words of "fe80:0000:0000:0000:..." are the prefix. It is zero until a subnet
 * manager has set it. */
static void read_subnet(const struct discovery *d, const struct verbs_port *port,
                        struct nuioa_nic *nic)
{
    long lid;
    if (strlen(port->gid) == 39 && strncmp(port->gid, "0000:0000:0000:0000", 19))
        snprintf(nic->fabric, sizeof(nic->fabric), "%.19s", port->gid);
    if (!nuioa_sysfs_number(d->sysfs->verbs, &lid, "%s/ports/%u/sm_lid", nic->name, nic->port) &&
        lid > 0 && lid <= UINT16_MAX)
        nic->sm_lid = (uint32_t)lid;
}

static int add_port(struct discovery *d, const struct verbs_port *port)
{
    struct nuioa_nic *nic = &d->node->nics[d->node->nic_count++];
    const char *state = port_info(port->obj, port->number, "State");
    nuioa_copy(nic->name, sizeof(nic->name), port->obj->name);
    nic->port = port->number;
    nic->kind = verbs_kind(port);
    /* A device that combines several ports (mlx5_bond_0) has a netdev that is on no card. */
    if (nuioa_sysfs_text(d->sysfs->verbs, nic->netdev, sizeof(nic->netdev),
                         "%s/ports/%u/gid_attrs/ndevs/0", nic->name, nic->port) <= 0)
        nuioa_copy(nic->netdev, sizeof(nic->netdev), port->netdev ? port->netdev->obj->name : "");
    if (nic->kind == NUIOA_NIC_INFINIBAND)
        read_subnet(d, port, nic);
    if (!nuioa_nic_read_port(d->sysfs, nic) && state)
        nic->state = !strcmp(state, "4") ? NUIOA_NIC_ACTIVE : NUIOA_NIC_DOWN;
    return place(d, nic, port->obj, port->pci, d->sysfs->verbs);
}

static int add_netdev(struct discovery *d, const struct netdev *netdev)
{
    struct nuioa_nic *nic = &d->node->nics[d->node->nic_count++];
    const char *name = netdev->obj->name;
    nuioa_copy(nic->name, sizeof(nic->name), name);
    nuioa_copy(nic->netdev, sizeof(nic->netdev), name);
    nic->kind = netdev_kind(netdev, d->sysfs);
    if (nic->kind == NUIOA_NIC_SLINGSHOT)
        read_cxi(netdev->obj, d->sysfs, nic->cxi, sizeof(nic->cxi));
    nuioa_nic_read_port(d->sysfs, nic);
    int rc = place(d, nic, netdev->obj, netdev->pci, d->sysfs->net);
    nic->is_virtual = nic->is_virtual || netdev->derived ||
                      nuioa_sysfs_exists(d->sysfs->net, "%s/bonding_slave", name);
    return rc;
}

/* NICs without an address come last. */
static int by_pci(const void *left, const void *right)
{
    const struct nuioa_nic *a = left, *b = right;
    if (!a->pci[0] != !b->pci[0])
        return a->pci[0] ? -1 : 1;
    int order = nuioa_device_pci_order(a->pci, b->pci);
    if (!order)
        order = strcmp(a->name, b->name);
    return order ? order : (a->port > b->port) - (a->port < b->port);
}

static int add_all(struct discovery *d)
{
    int rc = 0;
    d->node->nics = calloc(d->port_count + d->netdev_count + 1, sizeof(*d->node->nics));
    if (!d->node->nics)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < d->port_count; i++)
        rc = add_port(d, &d->ports[i]);
    for (unsigned i = 0; !rc && i < d->netdev_count; i++)
        if (!d->netdevs[i].taken)
            rc = add_netdev(d, &d->netdevs[i]);
    if (!rc && d->node->nic_count)
        qsort(d->node->nics, d->node->nic_count, sizeof(*d->node->nics), by_pci);
    return rc;
}

int nuioa_discover_nics(struct nuioa_node *node, hwloc_topology_t topology,
                        const struct nuioa_sysfs *sysfs, bool native, struct nuioa_error *err)
{
    struct discovery d = { .node = node, .topology = topology, .sysfs = sysfs, .native = native };
    int rc = collect(&d);
    if (!rc) {
        pair(&d);
        rc = add_all(&d);
    }
    free(d.netdevs);
    free(d.ports);
    return rc ? nuioa_fail(err, rc, "out of memory while looking at network devices") : 0;
}
