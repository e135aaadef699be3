#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks which NICs a plan gives to ranks with GPUs, from the hwloc XML alone.

Usage: gpu_oracle.py paths XML < topo.json       the matrix of `nuioa topo --json`
       gpu_oracle.py gpus XML RANKS              the value of --gpus: RANKS is one, two or half
       gpu_oracle.py plan XML TOPO < plan.json   the NICs of `nuioa plan --json`
       gpu_oracle.py rule XML TOPO < plan.json   the same, and local rank i has GPU i mod G
       gpu_oracle.py choice XML TOPO < plan.json prints the PCI addresses of each rank's NICs

TOPO is the file with the answer of `nuioa topo --json`, for the addresses of the NICs.

NICs that a plan may use are those of the most frequent fabric that are no BlueFields, where enough
others are, nor beside no GPU, where each GPU has another.

The path from a GPU to a NIC has nvidia-smi's classes: PIX, both are behind one PCIe switch, each on
one of its ports at the most; PXB, another PCIe bridge is above both; PHB, a host bridge; NODE, they
share a NUMA node; SYS, they do not. A plan is as good as possible if
  - no rank's GPU has a longer path to the nearest of the rank's NICs than to the nearest NIC of
    all: then the worst path of the plan is the shortest possible;
  - the most used NIC has as few GPUs as possible, which a maximum matching of GPUs with the NICs
    nearest to them tells (H. W. Kuhn, "The Hungarian Method for the Assignment Problem", 1955,
    augments paths in the same way).
"""
import json
import sys
import xml.etree.ElementTree as ElementTree

CLASSES = ["PIX", "PXB", "PHB", "NODE", "SYS"]
NVIDIA, AMD, INTEL, CRAY, MELLANOX = "10de", "1002", "8086", "17db", "15b3"
BLUEFIELDS = ("a2d2", "a2d6", "a2dc", "a2df")
DISPLAY, ACCELERATOR = "03", "12"


class Device:
    """A PCI device: `above` are the bridges above it, the nearest first, as objects of the tree."""

    def __init__(self, element, above, nodes):
        self.element, self.above, self.nodes = element, above, nodes
        self.pci = element.get("pci_busid")
        kind = element.get("pci_type")
        self.cls, self.vendor, self.device = kind[:4], kind[6:10], kind[11:15]

    def os_devices(self, kind):
        return [o for o in self.element.findall("object")
                if o.get("type") == "OSDev" and o.get("osdev_type") == str(kind)]

    def is_gpu(self):
        if self.vendor == INTEL:
            return self.cls[:2] == DISPLAY and self.cls != "0300"
        return self.vendor in (NVIDIA, AMD) and self.cls[:2] in (DISPLAY, ACCELERATOR)

    def is_bluefield(self):
        return self.vendor == MELLANOX and self.device in BLUEFIELDS

    def fabric(self):
        """What the NIC reaches; None: it is no NIC of a fast network."""
        for verbs in self.os_devices(3):
            infos = {i.get("name"): i.get("value") for i in verbs.findall("info")}
            return infos["Port1GID0"][:19]
        return "slingshot" if self.vendor == CRAY and self.os_devices(2) else None


def nodes_of(element):
    """Numbers of the NUMA nodes in a nodeset such as 0x0000000f."""
    words = [int(word or "0x0", 16) for word in element.get("nodeset").split(",")]
    value = 0
    for word in words:
        value = value << 32 | word
    return {n for n in range(32 * len(words)) if value >> n & 1}


def devices(element, above=(), nodes=frozenset()):
    if element.get("nodeset"):
        nodes = nodes_of(element)
    if element.get("type") == "PCIDev":
        yield Device(element, list(above), nodes)
    if element.get("type") == "Bridge":
        above = (element,) + tuple(above)
    for child in element.findall("object"):
        yield from devices(child, above, nodes)


def by_pci(device):
    return (len(device.pci), device.pci)


class Machine:
    def __init__(self, path):
        root = ElementTree.parse(path).getroot().find("object")
        found = sorted(devices(root), key=by_pci)
        # Memory without CPUs, such as that of GPUs, is near nobody.
        bare = {int(o.get("os_index")) for o in root.iter("object")
                if o.get("type") == "NUMANode" and not int(o.get("cpuset").replace(",0x", ""), 16)}
        for device in found:
            device.nodes = device.nodes - bare
        self.gpus = [d for d in found if d.is_gpu()]
        nics = [d for d in found if d.fabric()]
        fabrics = [n.fabric() for n in nics]
        most = max(fabrics, key=lambda f: (fabrics.count(f), -fabrics.index(f)))
        self.nics = [n for n in nics if n.fabric() == most]
        self.keep_compute()

    def keep_compute(self):
        """Leaves the NICs that a specialist would use: no BlueFields, if others are enough; and if
        each GPU has a NIC behind its switch or on its host bridge, only such ones."""
        plain = [n for n in self.nics if not n.is_bluefield()]
        if len(plain) >= len(self.gpus) > 0:
            self.nics = plain
        near = [self.nearest(gpu) for gpu in self.gpus]
        beside = [[i for i in own if self.path(gpu, self.nics[i]) in CLASSES[:3]]
                  for gpu, own in zip(self.gpus, near)]
        if self.gpus and all(beside):
            used = set().union(*beside)
            self.nics = [n for i, n in enumerate(self.nics) if i in used]

    def path(self, gpu, nic):
        for height, bridge in enumerate(gpu.above):
            if bridge not in nic.above:
                continue
            if bridge.get("bridge_type").startswith("0-"):
                return "PHB"
            below = max(height, nic.above.index(bridge))
            return "PIX" if below <= 1 else "PXB"
        return "NODE" if gpu.nodes & nic.nodes else "SYS"

    def rank_of_path(self, gpu, nic):
        return CLASSES.index(self.path(gpu, nic))

    def nearest(self, gpu):
        """The indexes of the NICs nearest to a GPU."""
        paths = [self.rank_of_path(gpu, nic) for nic in self.nics]
        return [i for i, path in enumerate(paths) if path == min(paths)]

    def fewest_users(self, gpus):
        """How many of these GPUs (indexes, with repetitions) the most used NIC must have."""
        near = [self.nearest(self.gpus[g]) for g in gpus]
        limit = 1
        while not matches(near, limit):
            limit += 1
        return limit


def matches(near, limit):
    """Whether each GPU can have one of its NICs, and no NIC more than `limit` GPUs."""
    users = {}

    def augment(gpu, seen):
        for nic in near[gpu]:
            if nic in seen:
                continue
            seen.add(nic)
            mine = users.setdefault(nic, [])
            if len(mine) < limit:
                mine.append(gpu)
                return True
            for k, other in enumerate(mine):
                if augment(other, seen):
                    mine[k] = gpu
                    return True
        return False

    return all(augment(gpu, set()) for gpu in range(len(near)))


def wrong(*text):
    print(*text)
    return 1


def check_paths(machine, topo):
    bad = 0
    if [g["pci"] for g in topo["gpus"]] != [g.pci for g in machine.gpus]:
        return wrong("GPUs:", [g["pci"] for g in topo["gpus"]], "expected",
                     [g.pci for g in machine.gpus])
    at = {nic["pci"]: i for i, nic in enumerate(topo["nics"])}
    for g, gpu in enumerate(machine.gpus):
        for nic in machine.nics:
            got, expected = topo["paths"][g][at[nic.pci]], machine.path(gpu, nic)
            if got != expected:
                bad += wrong(f"path {gpu.pci} to {nic.pci}: {got}, expected {expected}")
    return bad


def check_plan(machine, plan, topo):
    pci_of = labels(topo)
    index = {nic.pci: i for i, nic in enumerate(machine.nics)}
    bad, near, all_gpus = 0, [], []
    for task in plan["tasks"]:
        nics = [machine.nics[index[pci_of[label]]] for label in task["nics"]]
        worst = 0
        if not nics or task["nic"] != task["nics"][0]:
            bad += wrong(f"rank {task['rank']}: nic {task['nic']}, nics {task['nics']}")
            continue
        for g in task["gpus"]:
            gpu = machine.gpus[g]
            got = min(machine.rank_of_path(gpu, nic) for nic in nics)
            best = min(machine.rank_of_path(gpu, nic) for nic in machine.nics)
            worst = max(worst, got)
            near.append([nic.pci for nic in nics if machine.rank_of_path(gpu, nic) == best])
            if got != best:
                bad += wrong(f"rank {task['rank']}, GPU {g}: {CLASSES[got]}, "
                             f"{CLASSES[best]} is possible")
        if task["path"] != CLASSES[worst]:
            bad += wrong(f"rank {task['rank']}: says {task['path']}, is {CLASSES[worst]}")
        all_gpus += task["gpus"]
    fewest = machine.fewest_users(all_gpus)
    if not bad and not matches(near, fewest):
        bad += wrong(f"some NIC has more than {fewest} GPUs, which is possible:", near)
    return bad


def check_rule(machine, plan):
    bad = 0
    for task in plan["tasks"]:
        expected = [task["local"] % len(machine.gpus)]
        if task["gpus"] != expected:
            bad += wrong(f"local rank {task['local']}: GPUs {task['gpus']}, expected {expected}")
    return bad


def labels(topo):
    """The PCI address of each NIC by its label."""
    return {nic["name"] + (f":{nic['port']}" if nic["port"] else ""): nic["pci"]
            for nic in topo["nics"]}


def gpus_value(machine, ranks):
    count = len(machine.gpus)
    if ranks == "half":
        return ";".join(f"{g},{g + 1}" for g in range(0, count, 2))
    each = {"one": 1, "two": 2}[ranks]
    return ";".join(str(g) for g in range(count) for _ in range(each))


def main():
    command, path = sys.argv[1:3]
    machine = Machine(path)
    if command == "gpus":
        print(gpus_value(machine, sys.argv[3]))
        return 0
    answer = json.load(sys.stdin)
    if command == "paths":
        return bool(check_paths(machine, answer))
    with open(sys.argv[3], encoding="utf-8") as file:
        topo = json.load(file)
    if command == "choice":
        pci_of = labels(topo)
        for task in answer["tasks"]:
            print(task["local"], *[pci_of[label] for label in task["nics"]])
        return 0
    if command == "rule" and check_rule(machine, answer):
        return 1
    return bool(check_plan(machine, answer, topo))


if __name__ == "__main__":
    sys.exit(main())
