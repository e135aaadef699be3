#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the topologies of this directory (README.md says what each is for).

Usage: make-topologies.py [DIR]      default: the directory of this script
./bootstrap runs this; run it again after changing a machine here.
"""
import os
import sys

sys.dont_write_bytecode = True
from hwlocxml import (OSDEV, OSDEV_GPU, OSDEV_NETWORK, Obj, bridge, cores,  # noqa: E402
                      document, gpu, group, hostbridge, ipoib, l3, netdev, numa, package, pci,
                      verbs)

MELLANOX, INTEL, AMAZON, CRAY = 0x15b3, 0x8086, 0x1d0f, 0x17db
MACHINES = {}


def machine(build):
    MACHINES[build.__name__.replace("_", "-")] = build
    return build


# --- parts ----------------------------------------------------------------------------------

def card(bus, cls, vendor, device, kids, function=0, **more):
    return pci("0000:%02x:00.%d" % (bus, function), cls, vendor, device, kids, **more)


def slot(bus, *functions):
    """A host bridge at BUS with a root port, the PCI functions behind it on BUS+1."""
    return hostbridge(bus, [bridge("0000:%02x:01.0" % bus, bus + 1, bus + 1, list(functions))])


def mlx5(bus, index=0, net="ib0", states=(4,), **more):
    """An InfiniBand card; NET None: no IP over InfiniBand."""
    name = "mlx5_%d" % index
    kids = [verbs(name, states, **more)] + ([ipoib(net, name)] if net else [])
    return slot(bus, card(bus + 1, 0x0207, MELLANOX, 0x101b, kids))


def ethernet(bus, net="eth0", vendor=INTEL, device=0x1521):
    return slot(bus, card(bus + 1, 0x0200, vendor, device, [netdev(net)], gbs=1.0))


def cassini(bus, net):
    """Slingshot shows only as a net device."""
    return slot(bus, card(bus + 1, 0x0200, CRAY, 0x0501, [netdev(net)], gbs=31.5))


def two_sockets(on0=(), on1=(), per_socket=8, **more):
    kids = [package(s, [numa(s)] + cores(s * per_socket, per_socket) + list((on0, on1)[s]))
            for s in (0, 1)]
    return document(kids, more.pop("slit", [[10, 21], [21, 10]]), **more)


def flat(count, value=20):
    return [[10 if i == j else value for j in range(count)] for i in range(count)]


def nested(count, per_box, inside, outside):
    return [[10 if i == j else inside if i // per_box == j // per_box else outside
             for j in range(count)] for i in range(count)]


def dies(sockets, per_socket, cores_each, devices=None, wrap=group):
    """Sockets of several dies with a NUMA node each; DEVICES: NUMA node to I/O objects."""
    out = []
    for s in range(sockets):
        kids = []
        for d in range(per_socket):
            n = s * per_socket + d
            kids.append(wrap(n, [numa(n)] + cores(n * cores_each, cores_each,
                                                  first_core=d * cores_each)
                             + (devices or {}).get(n, [])))
        out.append(package(s, kids))
    return out


# --- four nodes of one cluster -----------------------------------------------------------------

@machine
def cluster_node1():
    return two_sockets(on1=[mlx5(0x80)], host="n1")


@machine
def cluster_node2():
    return two_sockets(on0=[mlx5(0x40)], host="n2")


@machine
def cluster_node3():
    return two_sockets(host="n3")


@machine
def cluster_node4():
    return two_sockets(on1=[mlx5(0x80, states=(1,))], host="n4")


# --- fabrics -----------------------------------------------------------------------------------

@machine
def infiniband():
    return two_sockets(on1=[mlx5(0x80)])


@machine
def infiniband_hsi():
    """An InfiniBand interface with the name that Slingshot's have elsewhere."""
    return two_sockets(on0=[mlx5(0x10, net="hsi0")])


@machine
def omnipath():
    return two_sockets(on1=[slot(0x80, card(0x81, 0x0208, INTEL, 0x24f0,
                                            [verbs("hfi1_0"), ipoib("ib0", "hfi1_0")]))])


@machine
def roce():
    kids = [verbs("mlx5_0", lids=(0,)), netdev("ens1f0np0")]
    return two_sockets(on0=[ethernet(0x10)],
                       on1=[slot(0x80, card(0x81, 0x0200, MELLANOX, 0x101d, kids))])


@machine
def slingshot():
    """One package, four NUMA nodes of two L3 each; each NIC local to the second L3 of its node."""
    kids = []
    for n in range(4):
        nic = cassini(0xc0 + 4 * n, "hsi%d" % n)
        kids.append(group(n, [numa(n), l3(2 * n, cores(16 * n, 8, 2, 64, 16 * n)),
                              l3(2 * n + 1, cores(16 * n + 8, 8, 2, 64, 16 * n + 8) + [nic])]))
    return document([package(0, kids)], flat(4, 12))


@machine
def efa():
    rdma = card(0x91, 0x0200, AMAZON, 0xefa1, [verbs("rdmap145s0", lids=(0,))])
    return two_sockets(on0=[ethernet(0x10, "ens5", AMAZON, 0xec20)], on1=[slot(0x90, rdma)])


@machine
def ethernet_only():
    return two_sockets(on0=[ethernet(0x10, "eth0")], on1=[ethernet(0x80, "eth1")])


@machine
def infiniband_and_gigabit():
    return two_sockets(on0=[ethernet(0x10, "eno1"), ethernet(0x20, "eno2")], on1=[mlx5(0x80)])


@machine
def two_fabrics():
    return two_sockets(on0=[mlx5(0x10, 0, "ib0", prefix="fe80:0000:0000:0000")],
                       on1=[mlx5(0x80, 1, "ib1", prefix="fec0:0000:0000:0001")])


@machine
def storage_and_management():
    """Two rails; before them in PCI order the HCA of the file system's fabric and a Gigabit port
    for administrators."""
    return two_sockets(on0=[mlx5(0x08, 0, "ib0", prefix="fec0:0000:0000:0007"),
                            ethernet(0x10, "eno1"), mlx5(0x20, 1, "ib1")],
                       on1=[mlx5(0x80, 2, "ib2")])


@machine
def four_rails():
    """Four NUMA nodes, a NIC of one fabric on each."""
    kids = [package(n, [numa(n)] + cores(n * 4, 4) + [mlx5(0x20 * n + 0x10, n, "ib%d" % n)])
            for n in range(4)]
    return document(kids, flat(4))


@machine
def down_port():
    """The near NIC's port is down, the far one works."""
    return two_sockets(on0=[mlx5(0x10, 0, "ib0", (4,))], on1=[mlx5(0x80, 1, "ib1", (1,))])


@machine
def two_port_card():
    kids = [verbs("mlx4_0", (4, 4)), ipoib("ib1", "mlx4_0", 2), ipoib("ib0", "mlx4_0", 1)]
    return two_sockets(on1=[slot(0x80, card(0x81, 0x0280, MELLANOX, 0x1003, kids))])


@machine
def virtual_functions():
    """A card and three of its virtual functions, one of them with an interface."""
    def vf(function, kids):
        return card(0x81, 0x0207, MELLANOX, 0x101c, kids, function,
                    infos={"PCIVendor": "Mellanox Technologies",
                           "PCIDevice": "MT28908 Family [ConnectX-6 Virtual Function]"})
    whole = card(0x81, 0x0207, MELLANOX, 0x101b, [verbs("mlx5_0"), ipoib("ib0", "mlx5_0")],
                 infos={"PCIVendor": "Mellanox Technologies",
                        "PCIDevice": "MT28908 Family [ConnectX-6]"})
    return two_sockets(on1=[slot(0x80, whole, vf(1, [verbs("mlx5_1"), ipoib("ib1", "mlx5_1")]),
                                 vf(2, [verbs("mlx5_2")]), vf(3, []))])


@machine
def gpus():
    """Each GPU shares a bridge with a NIC; the NICs are on NUMA nodes 0 and 1."""
    def pair(bus, index):
        return hostbridge(bus, [bridge("0000:%02x:01.0" % bus, bus + 1, bus + 4, [
            gpu("0000:%02x:00.0" % (bus + 2), "cuda%d" % index),
            card(bus + 3, 0x0207, MELLANOX, 0x1021,
                 [verbs("mlx5_%d" % index), ipoib("ib%d" % index, "mlx5_%d" % index)])])])
    return two_sockets(on0=[pair(0x10, 0), pair(0x20, 1)], on1=[pair(0x80, 2), pair(0x90, 3)])


@machine
def gpu_paths():
    """GPUs of every vendor at every distance from mlx5_0, and displays that are no GPUs."""
    def display(busid, vendor, device, cls=0x0380, kids=(), **more):
        return pci(busid, cls, vendor, device, list(kids), **more)

    def port(bus, first, last, *kids, dev=0):
        return bridge("0000:%02x:%02x.0" % (bus, dev), first, last, list(kids))

    render = Obj(OSDEV, None, (), name="renderD128", osdev_type=OSDEV_GPU)
    # A switch has its upstream port on bus 0x11, its downstream ports on bus 0x12; one of these
    # leads to a second switch.
    switch = port(0x10, 0x11, 0x1c, port(
        0x11, 0x12, 0x1c,
        port(0x12, 0x13, 0x13, card(0x13, 0x0207, MELLANOX, 0x1021,
                                    [verbs("mlx5_0"), ipoib("ib0", "mlx5_0")])),
        port(0x12, 0x14, 0x14, gpu("0000:14:00.0", "cuda0"), dev=1),
        port(0x12, 0x15, 0x18, port(0x15, 0x16, 0x18, port(
            0x16, 0x17, 0x17, gpu("0000:17:00.0", "cuda1"))), dev=2)), dev=1)
    amd = port(0x10, 0x1d, 0x1d, display("0000:1d:00.0", 0x1002, 0x74a1, 0x1200), dev=2)
    intel = port(0x20, 0x21, 0x21, display("0000:21:00.0", INTEL, 0x0bd5), dev=1)
    virtio = port(0x20, 0x22, 0x22, display("0000:22:00.0", 0x1af4, 0x1050, kids=[render]),
                  dev=2)
    aspeed = port(0x20, 0x23, 0x23, display("0000:23:00.0", 0x1a03, 0x2000, 0x0300), dev=3)
    inside = display("0000:00:02.0", INTEL, 0x4680)
    # A GPU and a NIC on one card, without a bridge; and the GPU of an APU, which has none either.
    both = [pci("0000:81:00.0", 0x0207, MELLANOX, 0xa2d6,
                [verbs("mlx5_1"), ipoib("ib1", "mlx5_1")]),
            display("0000:81:00.1", 0x10de, 0x20b8, 0x0302)]
    apu = display("0001:01:00.0", 0x1002, 0x74a0, 0x1200)
    far = hostbridge(0xf0, [gpu("0000:f0:00.0", "cuda2")])
    kids = [package(0, [numa(0)] + cores(0, 4) + [
                hostbridge(0x00, [inside]), hostbridge(0x10, [switch, amd]),
                hostbridge(0x20, [intel, virtio, aspeed])]),
            package(1, [numa(1)] + cores(4, 4) + both + [apu]), far]
    return document(kids, [[10, 21], [21, 10]])


@machine
def slingshot_cxi():
    """hwloc 2.13 and later: each card of Slingshot is two OS devices of type network."""
    def cards(bus, index):
        cxi = Obj(OSDEV, None, (), {"CassiniVersion": "1.1", "NID": "0x6863"}, name="cxi%d" % index,
                  subtype="Slingshot", osdev_type=OSDEV_NETWORK)
        return slot(bus, card(bus + 1, 0x0200, CRAY, 0x0501, [netdev("hsn%d" % index), cxi],
                              gbs=31.5))
    return two_sockets(on0=[cards(0x20, 1)], on1=[cards(0x80, 0)])


# --- where the NIC hangs -------------------------------------------------------------------------

@machine
def nic_under_package():
    """Two NUMA nodes in each package, the NIC is equally near to both of package 1."""
    kids = dies(2, 2, 4)
    kids[1].kids.append(mlx5(0x80))
    return document(kids, nested(4, 2, 12, 21))


@machine
def nic_under_group():
    """A group of two packages holds the NIC."""
    def socket(n):
        return package(n, [numa(n)] + cores(n * 4, 4))
    return document([group(0, [socket(0), socket(1)]),
                     group(1, [socket(2), socket(3), mlx5(0x80)])], nested(4, 2, 16, 32))


@machine
def nic_under_l3():
    """Half of NUMA node 1 is nearer than the other half."""
    kids = []
    for s in (0, 1):
        halves = [l3(2 * s + h, cores(8 * s + 4 * h, 4, first_core=4 * h)) for h in (0, 1)]
        if s == 1:
            halves[1].kids.append(mlx5(0x80))
        kids.append(package(s, [numa(s)] + halves))
    return document(kids, flat(2, 32))


@machine
def nic_under_machine():
    """The firmware says nothing about where the NIC is."""
    kids = [package(s, [numa(s)] + cores(s * 8, 8)) for s in (0, 1)]
    return document(kids + [mlx5(0x10)], flat(2, 21))


# --- NUMA nodes without CPUs, CPUs without NUMA nodes --------------------------------------------

@machine
def gpu_memory():
    """Two sockets (NUMA 0 and 8), each GPU's memory a NUMA node (252 and up) without CPUs,
    hung off the machine as far from everybody."""
    kids, slit = [], [[10, 40, 80, 80, 80, 80], [40, 10, 80, 80, 80, 80]]
    for s, index in ((0, 0), (1, 8)):
        memory = numa(index)
        extra = [numa(252 + 2 * s + i, 16) for i in (0, 1)]
        for node in extra:
            node.attrs["cpuless"] = True
        nic = [mlx5(0x30 + 0x20 * s, s, "ib%d" % s)]
        kids.append(package(index, [memory] + cores(s * 8, 8) + nic))
        kids += extra
    slit += [[80, 80] + [10 if i == j else 80 for j in range(4)] for i in range(4)]
    return document(kids, slit)


@machine
def gpu_memory_local():
    """GPU memory as a second NUMA node that is local to the cores of its package."""
    kids = [package(s, [numa(s), numa(s + 2, 96)] + cores(s * 8, 8)
                    + ([mlx5(0x80)] if s else [])) for s in (0, 1)]
    return document(kids, [[10, 40, 80, 120], [40, 10, 120, 80],
                           [80, 120, 10, 120], [120, 80, 120, 10]])


@machine
def cxl():
    """Memory on an expander card of the NIC's socket: nearer to the NIC than the other socket's."""
    kids = [package(0, [numa(0), numa(2, 64)] + cores(0, 8) + [mlx5(0x10)]),
            package(1, [numa(1)] + cores(8, 8))]
    return document(kids, [[10, 21, 14], [21, 10, 24], [14, 24, 10]])


@machine
def mcdram():
    """Four clusters with two kinds of memory each, no SLIT; NUMA nodes 0 and 4 hold the NIC."""
    kids = [group(n, [numa(n, 24), numa(n + 4, 4)] + cores(n * 4, 4, first_core=n * 4)
                  + ([mlx5(0x10)] if n == 0 else [])) for n in range(4)]
    return document([package(0, kids)])


@machine
def memoryless_die():
    """The NIC's NUMA node has cores but no memory."""
    kids = dies(1, 4, 4, {2: [mlx5(0x40)]})
    kids[0].kids[2].kids[0].attrs["local_memory"] = 0
    return document(kids, flat(4, 16))


@machine
def bare_die():
    """A die with cores, the NIC and no NUMA node at all."""
    kids = dies(2, 2, 4)
    bare = kids[1].kids[1]
    bare.kids = [k for k in bare.kids if k.type != "NUMANode"] + [mlx5(0x80)]
    return document(kids, [row[:3] for row in nested(4, 2, 16, 32)[:3]])


@machine
def mcdram_quad():
    """Two kinds of memory for all cores, no SLIT, and a NIC that hangs off the machine."""
    return document([package(0, [numa(0, 96), numa(1, 16)] + cores(0, 8, 4, 8)), mlx5(0x10)])


# --- distances -----------------------------------------------------------------------------------

@machine
def no_slit():
    """Groups of two packages of two NUMA nodes; nobody gives a distance."""
    pairs = dies(4, 2, 2, {5: [mlx5(0x80)]})
    return document([group(8, pairs[:2]), group(9, pairs[2:])])


@machine
def flat_slit():
    """Eight packages and a table that says 20 everywhere: nothing beyond same and other."""
    return document(dies(8, 1, 2, {3: [mlx5(0x40)]}, wrap=lambda n, kids: group(n, kids)), flat(8))


@machine
def flat_slit_graded():
    """The table says 20 everywhere, but the packages hold four NUMA nodes each."""
    return document(dies(2, 4, 2, {5: [mlx5(0x80)]}), flat(8))


@machine
def bad_slit():
    """A diagonal that is not the row minimum: the table is not to be believed."""
    slit = flat(4)
    slit[2][0] = 5
    return document(dies(2, 2, 4, {1: [mlx5(0x10)]}), slit)


def opterons(nic_on):
    """Eight dual-core Opterons. Moreaud, master thesis 2007, table 3.1: nanoseconds above a local
    access; one HyperTransport link, 34 ns, is made 10. Not symmetric."""
    ns = [[0, 37, 35, 67, 67, 133, 102, 100],
          [37, 0, 67, 35, 134, 66, 97, 97],
          [35, 69, 0, 36, 35, 101, 69, 67],
          [69, 34, 35, 0, 102, 33, 66, 68],
          [67, 101, 35, 67, 0, 69, 38, 37],
          [100, 65, 66, 34, 71, 0, 35, 37],
          [102, 115, 69, 83, 37, 35, 0, 35],
          [115, 99, 83, 67, 37, 37, 35, 0]]
    kids = [package(n, [numa(n)] + cores(n * 2, 2) + ([mlx5(0x20)] if n == nic_on else []),
                    model="Dual Core AMD Opteron(tm) Processor 865") for n in range(8)]
    return document(kids, [[10 + (v * 10 + 17) // 34 for v in row] for row in ns])


@machine
def hagrid():
    return opterons(0)


@machine
def hagrid5():
    return opterons(5)


# --- what a step may use -------------------------------------------------------------------------

@machine
def restricted():
    """The step has 10 of 16 CPUs and NUMA nodes 0 to 2 of 4; the NIC is on 3."""
    kids = dies(2, 2, 4, {3: [mlx5(0x80)]})
    return document(kids, nested(4, 2, 16, 32), allowed_cpus=range(10), allowed_nodes=range(3))


# --- sizes ---------------------------------------------------------------------------------------

@machine
def big():
    """256 PUs: two sockets of 64 cores of two hardware threads, numbered as Linux does."""
    kids = []
    for s in (0, 1):
        blocks = [l3(s * 8 + b, cores(s * 64 + b * 8, 8, 2, 128, b * 8), 32) for b in range(8)]
        kids.append(package(s, [numa(s, 256)] + blocks + ([mlx5(0xa0)] if s else [])))
    return document(kids, flat(2, 32))


@machine
def quad():
    """Four NUMA nodes in a ring, two hardware threads a core, NICs on 1 and 3."""
    kids = [package(n, [numa(n)] + cores(n * 4, 2, 2)
                    + ([mlx5(0x20 * n, n // 2, "ib%d" % (n // 2))] if n % 2 else []))
            for n in range(4)]
    return document(kids, [[10, 20, 30, 20], [20, 10, 20, 30], [30, 20, 10, 20], [20, 30, 20, 10]])


@machine
def corona():
    """Two sockets of four dies, 48 CPUs, NICs on NUMA nodes 0 and 3."""
    nics = {0: [mlx5(0x20, 0, "ib0")], 3: [mlx5(0x40, 1, "ib1")]}
    return document(dies(2, 4, 6, nics), nested(8, 4, 16, 32))


@machine
def laptop():
    """One NUMA node, no NIC."""
    return document([package(0, [numa(0)] + cores(0, 4, 2, 4))])


@machine
def laptop_with_nic():
    """One NUMA node and a NIC that hangs off the machine: it is local all the same."""
    return document([package(0, [numa(0)] + cores(0, 4, 2, 4)), mlx5(0x10)])


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, build in MACHINES.items():
        text = build()
        with open(os.path.join(target, name + ".xml"), "w", encoding="ascii") as out:
            out.write(text)


if __name__ == "__main__":
    main()
