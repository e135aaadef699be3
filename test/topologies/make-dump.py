#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a sysfs dump of a machine that XML files cannot describe.

It has rates, link layers and virtual functions.

Usage: make-dump.py DIR      DIR must not exist; nuioa topo --topology DIR reads it

Two sockets of 8 CPUs. Root bus 10 is local to NUMA node 0, 80 to node 1, c0 to nobody.
"""
import os
import sys

MELLANOX, INTEL = 0x15b3, 0x8086
LOCAL = {0x10: "00ff", 0x80: "ff00", 0xc0: "ffff"}
SUBNET = "fe80:0000:0000:0000"


class Dump:
    def __init__(self, top):
        self.top = top
        os.makedirs(top)

    def write(self, path, *lines):
        full = os.path.join(self.top, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="ascii") as file:
            file.write("\n".join(map(str, lines)) + "\n")

    def link(self, path, target):
        full = os.path.join(self.top, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        os.symlink(target, full)

    def processors(self):
        system = "sys/devices/system"
        for name in ("online", "possible", "present"):
            self.write("%s/cpu/%s" % (system, name), "0-15")
        for cpu in range(16):
            where = "%s/cpu/cpu%d/topology/" % (system, cpu)
            self.write(where + "core_id", cpu % 8)
            self.write(where + "physical_package_id", cpu // 8)
            self.write(where + "thread_siblings", "%04x" % (1 << cpu))
            self.write(where + "core_siblings", ("00ff", "ff00")[cpu // 8])
        self.write(system + "/node/online", "0-1")
        for node in (0, 1):
            where = "%s/node/node%d/" % (system, node)
            self.write(where + "cpumap", ("00ff", "ff00")[node])
            self.write(where + "distance", ("10 21", "21 10")[node])
            self.write(where + "meminfo", "Node %d MemTotal:        8388608 kB" % node)
        self.write("proc/cpuinfo", "processor\t: 0")

    def function(self, bus, slot, cls, vendor, device, numa_node, function=0):
        """A device on a root bus; returns its path from sys/devices."""
        busid = "0000:%02x:%02x.%d" % (bus, slot, function)
        where = "pci0000:%02x/%s" % (bus, busid)
        files = {"class": "0x%04x00" % cls, "vendor": "0x%04x" % vendor,
                 "device": "0x%04x" % device,
                 "subsystem_vendor": "0x%04x" % vendor, "subsystem_device": "0x0000",
                 "local_cpus": LOCAL[bus], "numa_node": numa_node, "config": ""}
        for name, text in files.items():
            self.write("sys/devices/%s/%s" % (where, name), text)
        self.link("sys/bus/pci/devices/" + busid, "../../../devices/" + where)
        return where

    def net(self, function, name, speed, state="up", port=0, guid=None, more=()):
        where = "%s/net/%s" % (function, name)
        address = "02:00:00:00:00:01"
        if guid:
            digits = guid.replace(":", "")
            address = "80:00:00:48:fe:80:00:00:00:00:00:00:" + ":".join(
                digits[i:i + 2] for i in range(0, 16, 2))
        files = {"address": address, "operstate": state, "dev_port": port, "dev_id": "0x0",
                 "type": 32 if guid else 1, "speed": speed}
        for file, text in list(files.items()) + [(m, "") for m in more]:
            self.write("sys/devices/%s/%s" % (where, file), text)
        self.link("sys/devices/%s/device" % where, "../../../" + os.path.basename(function))
        self.link("sys/class/net/" + name, "../../devices/" + where)

    def verbs(self, function, name, ports):
        """PORTS: (state, rate, link layer, GUID) from port 1 on."""
        where = "%s/infiniband/%s" % (function, name)
        self.write("sys/devices/%s/node_guid" % where, "0200:00ff:0000:0000")
        for number, (state, rate, layer, guid) in enumerate(ports, 1):
            port = "sys/devices/%s/ports/%d/" % (where, number)
            self.write(port + "state", state)
            self.write(port + "rate", rate)
            self.write(port + "link_layer", layer)
            self.write(port + "lid", "0x1" if layer == "InfiniBand" else "0x0")
            self.write(port + "gids/0", "%s:%s" % (SUBNET, guid))
        self.link("sys/devices/%s/device" % where, "../../../" + os.path.basename(function))
        self.link("sys/class/infiniband/" + name, "../../devices/" + where)


def guid(index, port=1):
    return "0200:00ff:00%02x:%04x" % (index, port)


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    dump = Dump(sys.argv[1])
    dump.processors()
    active, down, armed = "4: ACTIVE", "1: DOWN", "3: ARMED"
    hdr, edr = "200 Gb/sec (4X HDR)", "100 Gb/sec (4X EDR)"

    def infiniband(bus, slot, index, numa_node, rate=hdr, state=active, function=0):
        where = dump.function(bus, slot, 0x0207, MELLANOX, 0x101b, numa_node, function)
        dump.verbs(where, "mlx5_%d" % index, [(state, rate, "InfiniBand", guid(index))])
        dump.net(where, "ib%d" % index, -1, "up" if state == active else "down", 0, guid(index))
        return where

    # NUMA node 0: a link that is too slow, one that is a bond's, one whose speed nobody knows.
    dump.net(dump.function(0x10, 0, 0x0200, INTEL, 0x1521, 0), "eno1", 1000)
    dump.net(dump.function(0x10, 1, 0x0200, INTEL, 0x1593, 0), "ens1", 25000,
             more=("bonding_slave/state",))
    dump.net(dump.function(0x10, 2, 0x0200, INTEL, 0x1593, 0), "ens2", -1)
    # NUMA node 1: the fastest fabric, with a virtual function on it.
    first = infiniband(0x80, 0, 0, 1)
    dump.link("sys/devices/%s/physfn" % infiniband(0x80, 0, 1, 1, function=1),
              "../" + os.path.basename(first))
    # ... RDMA over Ethernet, by the link layer only.
    where = dump.function(0x80, 1, 0x0207, MELLANOX, 0x101b, 1)
    dump.verbs(where, "mlx5_2", [(active, edr, "Ethernet", guid(2))])
    dump.net(where, "ens3", 100000)
    # ... two ports of one function, the netdevs in the wrong order, one port down.
    where = dump.function(0x80, 2, 0x0207, MELLANOX, 0x1017, 1)
    dump.verbs(where, "mlx5_3", [(active, hdr, "InfiniBand", guid(3)),
                                 (down, "10 Gb/sec (4X SDR)", "InfiniBand", guid(3, 2))])
    dump.net(where, "ib3a", -1, "down", 1, guid(3, 2))
    dump.net(where, "ib3b", -1, "up", 0, guid(3, 1))
    # ... one that says of itself that it is on NUMA node 0, one that only waits for its subnet
    # manager.
    infiniband(0x80, 3, 4, 0)
    infiniband(0x80, 4, 5, 1, state=armed)
    # The bridge tells nothing: one knows by itself, one does not.
    infiniband(0xc0, 0, 6, 1)
    infiniband(0xc0, 1, 7, -1)
    # Software.
    for name in ("lo", "bond0", "br0"):
        dump.link("sys/class/net/" + name, "../../devices/virtual/net/" + name)
        dump.write("sys/devices/virtual/net/%s/operstate" % name, "up")
    return 0


if __name__ == "__main__":
    sys.exit(main())
