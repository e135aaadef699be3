#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts a machine as NCCL describes it (NCCL_TOPO_FILE) to hwloc's XML.

Usage: nccl_to_hwloc.py NCCL.xml HWLOC.xml

A <cpu> becomes a package with one NUMA node of 16 cores, each <pci> directly in it has a host
bridge of its own, a <pci> of class 0604 becomes a bridge. GPUs keep their vendor, or are NVIDIA's
where the file names none. Network cards become InfiniBand devices, in the order of the file; links
between GPUs are left out.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
from hwlocxml import bridge, cores, document, hostbridge, numa, package, pci, verbs  # noqa: E402

BRIDGE, NETWORK = "0604", "02"
MELLANOX, NVIDIA = "0x15b3", "0x10de"


class Converter:
    def __init__(self):
        self.nics = 0

    def device(self, element):
        busid, cls = element.get("busid"), element.get("class")[2:6]
        if cls == BRIDGE:
            kids = [self.device(kid) for kid in element.findall("pci")]
            return bridge(busid, 0, 0xff, kids)
        usual = MELLANOX if cls.startswith(NETWORK) else NVIDIA
        vendor = int(element.get("vendor") or usual, 16)
        device = int(element.get("device") or "0x1", 16)
        kids = []
        if cls.startswith(NETWORK):
            kids.append(verbs("mlx5_%d" % self.nics))
            self.nics += 1
        return pci(busid, int(cls, 16), vendor, device, kids)

    def package(self, index, cpu):
        bridges = [hostbridge(0, [self.device(kid)], 0xff) for kid in cpu.findall("pci")]
        return package(index, [numa(index)] + cores(16 * index, 16) + bridges)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = re.sub(r"<!--.*?-->", "", file.read(), flags=re.S).strip()
    cpus = ElementTree.fromstring(text).findall("cpu")
    converter = Converter()
    kids = [converter.package(i, cpu) for i, cpu in enumerate(cpus)]
    slit = [[10 if i == j else 21 for j in range(len(cpus))] for i in range(len(cpus))]
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.write(document(kids, slit))


if __name__ == "__main__":
    main()
