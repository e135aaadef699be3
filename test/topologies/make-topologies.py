#!/usr/bin/env python3
"""Writes the topologies of this directory (README.md says what each is for).

Usage: make-topologies.py [DIR]      default: the directory of this script
The files are committed; run this again after changing a machine here.
"""
import os
import sys

from hwlocxml import (bridge, cores, document, gpu, group, hostbridge, l3, netdev, numa, package,
                      pci, verbs)

MELLANOX, INTEL, AMAZON, CRAY, BROADCOM = 0x15b3, 0x8086, 0x1d0f, 0x17db, 0x14e4
MACHINES = {}


def machine(build):
    MACHINES[build.__name__.replace("_", "-")] = build
    return build


# --- parts ----------------------------------------------------------------------------------

def mlx5(bus, index=0, net="ib0", states=(4,), **more):
    """A ConnectX card at BUS:00.0 with its own host bridge."""
    busid = "0000:%02x:00.0" % (bus + 1)
    kids = [verbs("mlx5_%d" % index, states, **more)] + ([netdev(net)] if net else [])
    return hostbridge(bus, [bridge("0000:%02x:01.0" % bus, bus + 1, bus + 1,
                                   [pci(busid, 0x0207, MELLANOX, 0x101b, kids)])])


def ethernet(bus, net="eth0", vendor=INTEL, device=0x1521):
    busid = "0000:%02x:00.0" % (bus + 1)
    return hostbridge(bus, [bridge("0000:%02x:02.0" % bus, bus + 1, bus + 1,
                                   [pci(busid, 0x0200, vendor, device, [netdev(net)], gbs=1.0)])])


def two_sockets(on0=(), on1=(), per_socket=8, **more):
    kids = [package(s, [numa(s)] + cores(s * per_socket, per_socket) + list((on0, on1)[s]))
            for s in (0, 1)]
    return document(kids, more.pop("slit", [[10, 21], [21, 10]]), **more)


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


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, build in MACHINES.items():
        with open(os.path.join(target, name + ".xml"), "w", encoding="ascii") as out:
            out.write(build())


if __name__ == "__main__":
    main()
