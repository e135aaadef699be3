#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files of a healthy compute node: sys, proc and etc as far as nuioa doctor reads them.

Usage: doctor-node.py DIR      DIR must not exist; nuioa doctor --root DIR reads it

Two packages of 8 CPUs, each with its NUMA node and a card of 200 Gb/s; one more card has two ports
of 1 Gb/s, of which one is used.
"""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    spec = importlib.util.spec_from_file_location("dump", os.path.join(HERE, name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def processors(dump):
    dump.processors()
    system = "sys/devices/system/cpu/cpu%d/"
    for cpu in range(16):
        first = cpu // 4 * 4        # four cores share a level 3 cache
        cache = system % cpu + "cache/index3/"
        for name, text in (("level", 3), ("type", "Unified"), ("size", "32768K"),
                           ("shared_cpu_map", "%04x" % (0xf << first))):
            dump.write(cache + name, text)
    dump.write("proc/cpuinfo", *("processor\t: %d\nmodel name\t: Some Processor\n" % cpu
                                 for cpu in range(16)))


def card(module, dump, bus, index):
    """A card with one port."""
    where = dump.function(bus, 0, 0x0207, module.MELLANOX, 0x101b, index)
    guid = module.guid(index)
    dump.verbs(where, "mlx5_%d" % index, [("4: ACTIVE", "200 Gb/sec (4X HDR)", "InfiniBand", guid)])
    dump.net(where, "ib%d" % index, -1, "up", 0, guid)


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    module = load("../topologies/make-dump.py")
    dump = module.Dump(sys.argv[1])
    processors(dump)
    card(module, dump, 0x10, 0)
    card(module, dump, 0x80, 1)
    for function, state, speed, flags in ((0, "up", 1000, "0x1003"), (1, "down", -1, "0x1002")):
        where = dump.function(0x10, 2, 0x0200, module.INTEL, 0x1521, 0, function)
        dump.net(where, "eno%d" % (2 + function), speed, state)
        dump.write("sys/class/net/eno%d/flags" % (2 + function), flags)
    dump.write("proc/sys/kernel/hostname", "n1")
    dump.write("proc/77/comm", "slurmd")
    dump.write("etc/slurm/slurm.conf", "ClusterName=c", "TaskPlugin = task/affinity,\\",
               "task/cgroup # both", "SelectType=select/cons_tres", "Include nodes.conf",
               "SelectTypeParameters=CR_Core")
    dump.write("etc/slurm/nodes.conf", "NodeName=n[1-4] Sockets=2 CoresPerSocket=8 # CpuBind=none")
    dump.write("etc/slurm/cgroup.conf", "ConstrainCores=yes")
    dump.write("etc/slurm/plugstack.conf", "# all of them", "include plugstack.conf.d/*.conf")
    dump.write("etc/slurm/plugstack.conf.d/nuioa.conf",
               "optional /usr/lib/slurm/nuioa.so default=export nic=infiniband")
    dump.write("usr/lib/slurm/nuioa.so", "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
