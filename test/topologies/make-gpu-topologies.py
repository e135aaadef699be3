#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the nodes with GPUs and several NICs, in gpus/ (README.md says what each is for).

Usage: make-gpu-topologies.py [DIR]      default: gpus/ beside this script
./bootstrap runs this; run it again after changing a machine here. They have the shape of
machines that vendors describe, not their sizes: few cores, and bus numbers of our own.
"""
import os
import sys

sys.dont_write_bytecode = True
from hwlocxml import (OSDEV_COPROC, Obj, bridge, cores, document, hostbridge,  # noqa: E402
                      ipoib, l3, netdev, numa, package, pci, verbs)

MELLANOX, INTEL, AMAZON, CRAY, NVIDIA, AMD, ASPEED = (0x15b3, 0x8086, 0x1d0f, 0x17db, 0x10de,
                                                      0x1002, 0x1a03)
DISPLAY_3D, DISPLAY_OTHER, ACCELERATOR = 0x0302, 0x0380, 0x1200
MACHINES = {}


def machine(build):
    MACHINES[build.__name__.replace("_", "-")] = build
    return build


# --- parts ---------------------------------------------------------------------------------------

def address(bus, device=0, function=0, domain=0):
    return "%04x:%02x:%02x.%x" % (domain, bus, device, function)


def nvidia(bus, index, device=0x2330, domain=0):
    return pci(address(bus, domain=domain), DISPLAY_3D, NVIDIA, device, [
        Obj("OSDev", None, (), {"Backend": "CUDA", "GPUVendor": "NVIDIA Corporation"},
            name="cuda%d" % index, subtype="CUDA", osdev_type=OSDEV_COPROC)], gbs=63.0)


def amd(bus, index, cls, device):
    return pci(address(bus), cls, AMD, device, [
        Obj("OSDev", None, (), {"Backend": "RSMI", "GPUVendor": "AMD"},
            name="rsmi%d" % index, subtype="RSMI", osdev_type=OSDEV_COPROC)], gbs=63.0)


def infiniband(bus, index, domain=0, **more):
    """An InfiniBand card with one port."""
    name = "mlx5_%d" % index
    return pci(address(bus, domain=domain), 0x0207, MELLANOX, 0x1021,
               [verbs(name, **more), ipoib("ib%d" % index, name)], gbs=63.0)


def roce(bus, index):
    """RDMA over Ethernet: the port has no LID."""
    name = "mlx5_%d" % index
    return pci(address(bus), 0x0200, MELLANOX, 0x1021,
               [verbs(name, lids=(0,)), netdev("eth%d" % index)], gbs=63.0)


def efa(bus, device):
    return pci(address(bus, device), 0x0200, AMAZON, 0xefa2,
               [verbs("rdmap%ds%d" % (bus, device), lids=(0,))], gbs=31.5)


def cassini(bus, index):
    return pci(address(bus), 0x0200, CRAY, 0x0501, [netdev("hsn%d" % index)], gbs=31.5)


def gigabit(bus, name):
    return root(bus, [pci(address(bus + 1), 0x0200, INTEL, 0x1521, [netdev(name)], gbs=1.0)])


def bmc(bus):
    """The display of a management processor: no GPU."""
    return root(bus, [pci(address(bus + 1), 0x0300, ASPEED, 0x2000, [], gbs=0.0)])


def root(bus, devices, last=None, domain=0):
    """A host bridge at BUS with a root port, and DEVICES behind it on BUS + 1."""
    last = bus + 1 if last is None else last
    return hostbridge(bus, [bridge(address(bus, 1, 0, domain), bus + 1, last, devices)],
                      last, domain)


def ports(bus, devices, domain=0):
    """The ports of a PCIe switch whose upstream port is at BUS: device i is on BUS + 2 + i."""
    return bridge(address(bus, 0, 0, domain), bus + 1, bus + 1 + len(devices),
                  [bridge(address(bus + 1, i, 0, domain), bus + 2 + i, bus + 2 + i, [device])
                   for i, device in enumerate(devices)])


def switch(bus, devices):
    """A host bridge at BUS, a root port, and a switch with DEVICES, which are on BUS + 3 + i."""
    return root(bus, [ports(bus + 1, devices)], bus + 2 + len(devices))


def sockets(devices, per_socket=8, numas=1):
    """Packages of NUMAS NUMA nodes; DEVICES: a list for each NUMA node."""
    each = per_socket // numas
    kids = []
    for s in range(len(devices) // numas):
        parts = []
        for n in range(s * numas, (s + 1) * numas):
            inside = [numa(n)] + cores(n * each, each) + devices[n]
            parts += inside if numas == 1 else [Obj("Group", None, inside, kind=0, subkind=n)]
        kids.append(package(s, parts))
    count = len(devices)
    slit = [[10 if i == j else 12 if i // numas == j // numas else 32 for j in range(count)]
            for i in range(count)]
    return document(kids, slit)


# --- machines ------------------------------------------------------------------------------------

@machine
def hgx_h100():
    """GPU k and NIC k on a switch of their own, four switches on each socket."""
    def pair(k):
        return switch(0x10 + 0x10 * k, [nvidia(0x13 + 0x10 * k, k), infiniband(0x14 + 0x10 * k, k)])
    return sockets([[bmc(0x02), gigabit(0x04, "eno1")] + [pair(k) for k in range(4)],
                    [pair(k) for k in range(4, 8)]])


@machine
def hgx_b200():
    """Two GPUs and two NICs on each switch; the NICs come first in PCI order. A third card on the
    first socket is for storage, on a fabric of its own."""
    def four(k):
        bus = 0x10 + 0x20 * k
        return switch(bus, [infiniband(bus + 3, 2 * k), infiniband(bus + 4, 2 * k + 1),
                            nvidia(bus + 5, 2 * k, 0x2901), nvidia(bus + 6, 2 * k + 1, 0x2901)])
    storage = root(0x08, [infiniband(0x09, 8, prefix="fec0:0000:0000:0001")])
    return sockets([[storage, four(0), four(1)], [four(2), four(3)]])


@machine
def dgx_a100():
    """Four NUMA nodes a socket. Two switches behind one another: two GPUs on the second, the NICs
    on the first. GPUs and NICs are on four of the eight NUMA nodes."""
    def four(k):
        bus = 0x10 + 0x20 * k
        inner = ports(bus + 5, [nvidia(bus + 7, 2 * k, 0x20b2), nvidia(bus + 8, 2 * k + 1, 0x20b2)])
        outer = bridge(address(bus + 1), bus + 2, bus + 8, [
            bridge(address(bus + 2, 0), bus + 3, bus + 3, [infiniband(bus + 3, 2 * k)]),
            bridge(address(bus + 2, 1), bus + 4, bus + 4, [infiniband(bus + 4, 2 * k + 1)]),
            bridge(address(bus + 2, 2), bus + 5, bus + 8, [inner])])
        return root(bus, [outer], bus + 8)
    return sockets([[], [four(1)], [], [four(0)], [], [four(3)], [], [four(2)]], 16, 4)


@machine
def mi300x():
    """Eight GPUs of class accelerator, each with a RoCE card on its switch."""
    def pair(k):
        bus = 0x10 + 0x10 * k
        return switch(bus, [amd(bus + 3, k, ACCELERATOR, 0x74a1), roce(bus + 4, k)])
    return sockets([[pair(k) for k in range(4)], [pair(k) for k in range(4, 8)]])


@machine
def mi250x():
    """As a node of Frontier: 4 NUMA nodes of two L3 caches; each L3 cache has a GPU on its host
    bridge, and every second one a NIC beside it. PCI order is not the order of the NUMA nodes."""
    kids = []
    for n, bus in enumerate((0xd0, 0xc8, 0xd8, 0xc0)):
        alone = root(bus, [amd(bus + 1, 2 * n, DISPLAY_OTHER, 0x7408)])
        both = hostbridge(bus + 4, [
            bridge(address(bus + 4, 1), bus + 5, bus + 5, [cassini(bus + 5, (bus - 0xc0) // 8)]),
            bridge(address(bus + 4, 7), bus + 6, bus + 6,
                   [amd(bus + 6, 2 * n + 1, DISPLAY_OTHER, 0x7408)])], bus + 6)
        kids.append(Obj("Group", None, [
            numa(n), l3(2 * n, cores(8 * n, 4) + [alone]),
            l3(2 * n + 1, cores(8 * n + 4, 4) + [both])], kind=0, subkind=n))
    return document([package(0, kids)], [[10 if i == j else 12 for j in range(4)]
                                         for i in range(4)])


@machine
def mi300a():
    """Four packages, each CPU and GPU in one; the NIC of each on another host bridge."""
    return sockets([[root(0x10 + 0x20 * s, [amd(0x11 + 0x20 * s, s, ACCELERATOR, 0x74a0)]),
                     root(0x18 + 0x20 * s, [cassini(0x19 + 0x20 * s, s)])] for s in range(4)], 8)


@machine
def gh200():
    """Four superchips: the GPU has a PCI domain of its own, its memory is a NUMA node without CPUs
    (4 to 7); the NIC has another domain."""
    kids = []
    for s in range(4):
        devices = [root(0x00, [nvidia(0x01, s, 0x2342, 2 * s + 1)], domain=2 * s + 1),
                   root(0x00, [infiniband(0x01, s, 2 * s)], domain=2 * s)]
        kids.append(package(s, [numa(s)] + cores(8 * s, 8) + devices))
    for s in range(4):
        memory = numa(4 + s, 96)
        memory.attrs["cpuless"] = True
        kids.append(memory)
    slit = [[10 if i == j else 80 if max(i, j) > 3 else 40 for j in range(8)] for i in range(8)]
    return document(kids, slit)


@machine
def p5():
    """A GPU and four EFA devices on each of eight switches."""
    def five(k):
        bus = 0x10 + 0x10 * k
        return switch(bus, [efa(bus + 3, 0), efa(bus + 4, 0), nvidia(bus + 5, k),
                            efa(bus + 6, 0), efa(bus + 7, 0)])
    return sockets([[five(k) for k in range(4)], [five(k) for k in range(4, 8)]])


@machine
def two_planes():
    """Four GPUs, each with a NIC of each plane on its switch. The planes are InfiniBand subnets
    that do not reach each other; the second has one more NIC."""
    def three(k):
        bus = 0x10 + 0x10 * k
        return switch(bus, [nvidia(bus + 3, k), infiniband(bus + 4, 2 * k),
                            infiniband(bus + 5, 2 * k + 1, prefix="fec0:0000:0000:0002")])
    extra = root(0x08, [infiniband(0x09, 8, prefix="fec0:0000:0000:0002")])
    return sockets([[extra, three(0), three(1)], [three(2), three(3)]])


def hgx(card, storage):
    """hgx-h100 with a card for storage on the first socket, which comes first in PCI order."""
    def pair(k):
        return switch(0x10 + 0x10 * k, [nvidia(0x13 + 0x10 * k, k), card(0x14 + 0x10 * k, k)])
    return sockets([[root(0x08, [storage])] + [pair(k) for k in range(4)],
                    [pair(k) for k in range(4, 8)]])


@machine
def hgx_storage():
    """All on InfiniBand, with the prefix that subnet managers have by default."""
    return hgx(infiniband, infiniband(0x09, 8))


@machine
def hgx_roce_storage():
    return hgx(roce, roce(0x09, 8))


@machine
def nvl72():
    """A tray: two sockets with two GPUs, two RoCE cards and a BlueField-3 each, all on host bridges
    of their own. The BlueFields come first in PCI order."""
    def bluefield(bus, index):
        name = "mlx5_%d" % index
        return pci(address(bus), 0x0200, MELLANOX, 0xa2dc,
                   [verbs(name, lids=(0,)), netdev("eth%d" % index)], gbs=63.0)

    def socket(s):
        bus, k = 0x10 + 0x80 * s, 2 * s
        return [root(bus, [bluefield(bus + 1, 4 + s)]), root(bus + 0x10, [roce(bus + 0x11, k)]),
                root(bus + 0x20, [roce(bus + 0x21, k + 1)]),
                root(bus + 0x30, [nvidia(bus + 0x31, k, 0x2941)]),
                root(bus + 0x40, [nvidia(bus + 0x41, k + 1, 0x2941)])]
    return sockets([socket(0), socket(1)])


@machine
def aurora():
    """Two sockets with three GPUs of Intel and four Slingshot cards each, all on host bridges of
    their own."""
    def socket(s):
        bus = 0x10 + 0x80 * s
        gpus = [root(bus + 4 * i, [pci(address(bus + 4 * i + 1), DISPLAY_OTHER, INTEL, 0x0bd6, [],
                                       gbs=63.0)]) for i in range(3)]
        return gpus + [root(bus + 0x20 + 4 * i, [cassini(bus + 0x21 + 4 * i, 4 * s + i)])
                       for i in range(4)]
    return sockets([socket(0), socket(1)])


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "gpus")
    os.makedirs(target, exist_ok=True)
    for name, build in MACHINES.items():
        with open(os.path.join(target, name + ".xml"), "w", encoding="ascii") as out:
            out.write(build())


if __name__ == "__main__":
    main()
