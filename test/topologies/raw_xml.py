# SPDX-License-Identifier: BSD-3-Clause
"""Reads an hwloc XML file, version 1 or 2, into raw.Raw. No hwloc."""
import re
import xml.etree.ElementTree as ElementTree

from raw import Box, Function, Net, Numa, Port, Raw, Verbs, add_missing_ports, split_gid

IO = ("Bridge", "PCIDev", "OSDev", "Misc")
PACKAGE = ("Package", "Socket")
OSDEV_NETWORK, OSDEV_OPENFABRICS = "2", "3"


def bits(text):
    """hwloc's bitmap: 32-bit words, highest first, empty words are 0."""
    value = 0
    for word in (text or "").split(","):
        value = value << 32 | int(word or "0", 16)
    return {i for i in range(value.bit_length()) if value >> i & 1}


def infos(obj):
    return {i.get("name"): i.get("value") for i in obj.findall("info")}


class Reader:
    def __init__(self, root):
        self.root = root
        self.machine = root.find("object")
        self.parent = {kid: obj for obj in root.iter("object") for kid in obj.findall("object")}
        self.raw = Raw()

    def ancestors(self, obj):
        while obj in self.parent:
            obj = self.parent[obj]
            yield obj

    def objects(self, *kinds):
        return [o for o in self.root.iter("object") if o.get("type") in kinds]

    # --- NUMA nodes

    def numa_cpus(self, obj):
        cpus = bits(obj.get("cpuset"))
        up = self.parent.get(obj)
        if not cpus and up is not None and up.get("type") == "Group":
            # Version 1 gave memory-only nodes no CPUs even where a group holds them together with
            # the cores that they are local to.
            cpus = bits(up.get("cpuset"))
        return cpus

    def package_of(self, obj, cpus):
        for up in self.ancestors(obj):
            if up.get("type") in PACKAGE:
                return int(up.get("os_index"))
        for package in self.objects(*PACKAGE):
            if cpus and cpus <= bits(package.get("cpuset")):
                return int(package.get("os_index"))
        return None

    def read_numas(self):
        raw = self.raw
        for obj in self.objects("NUMANode"):
            cpus = self.numa_cpus(obj)
            memory = obj.get("local_memory")
            raw.numas.append(Numa(int(obj.get("os_index")), cpus, int(memory) if memory else None,
                                  self.package_of(obj, cpus), cpus))
        self.take_cpus_from_memory()
        if not raw.numas:
            # UMA machines of version 1 have no NUMA node; the machine is one.
            memory = self.machine.get("local_memory")
            cpus = bits(self.machine.get("cpuset"))
            raw.numas.append(Numa(0, cpus, int(memory) if memory else None))
            packages = self.objects(*PACKAGE)
            if len(packages) == 1:
                raw.numas[0].package = int(packages[0].get("os_index"))
        raw.allowed_cpus = (bits(self.machine.get("allowed_cpuset")) if
                            self.machine.get("allowed_cpuset") else
                            bits(self.machine.get("cpuset")))

    def take_cpus_from_memory(self):
        """hwloc gives memory without CPUs those that it is local to. The kernel gives each CPU to
        one NUMA node: to the smallest, to one with memory, to the first."""
        numas = self.raw.numas
        order = sorted(range(len(numas)), key=lambda i: (len(numas[i].local),
                                                         not numas[i].memory_bytes, i))
        taken = set()
        for numa in (numas[i] for i in order):
            if numa.local & taken:
                numa.cpus = set()
            taken |= numa.cpus

    def read_boxes(self):
        """Everything below the machine that holds NUMA nodes."""
        for obj in self.root.iter("object"):
            if obj is self.machine or obj.get("type") in IO + ("NUMANode",):
                continue
            nodes = {int(n.get("os_index")) for n in obj.iter("object")
                     if n.get("type") == "NUMANode"}
            if len(nodes) > 1:
                line = [obj] + list(self.ancestors(obj))
                self.raw.boxes.append(Box(nodes, any(o.get("type") in PACKAGE for o in line)))

    # --- distances

    def read_slit(self):
        numbers = [n.os_index for n in self.raw.numas]
        found = None
        for table in self.root.findall("distances2"):
            if (table.get("type") != "NUMANode" or
                    table.get("name") not in ("NUMALatency", "", None)):
                continue
            if int(table.get("kind")) & 4 == 0 or table.get("indexing") != "os":
                continue
            order = [int(i) for e in table.findall("indexes") for i in e.text.split()]
            values = [int(v) for e in table.findall("u64values") for v in e.text.split()]
            found = order, values
        for table in self.machine.findall("distances"):
            base = float(table.get("latency_base"))
            values = [round(float(e.get("value")) * base) for e in table.findall("latency")]
            if int(table.get("nbobjs")) == len(numbers):
                found = numbers, values
        if found is None or sorted(found[0]) != sorted(numbers):
            return
        order, values = found
        count = len(order)
        if len(values) == count * count:
            at = [order.index(n) for n in sorted(numbers)]
            self.raw.slit = [[values[i * count + j] for j in at] for i in at]

    # --- devices

    def locality(self, pci):
        """(nodes, cpus, whole machine) of the closest ancestor that is no I/O object."""
        up = next(o for o in self.ancestors(pci) if o.get("type") not in IO)
        cpus = bits(up.get("cpuset"))
        if up is self.machine or cpus == bits(self.machine.get("cpuset")):
            return {n.os_index for n in self.raw.numas}, bits(self.machine.get("cpuset")), True
        # Memory that hangs off the machine belongs to every node set in it, and is near nobody.
        every = bits(self.machine.get("cpuset"))
        own = {n.os_index for n in self.raw.numas
               if n.local & cpus and (n.cpus or n.local != every)}
        return bits(up.get("nodeset")) & own, cpus, False

    def verbs(self, obj):
        info, ports = infos(obj), {}
        for key, value in info.items():
            match = re.fullmatch(r"Port(\d+)(State|LID|GID0)", key)
            if not match:
                continue
            port = ports.setdefault(int(match[1]), Port(int(match[1])))
            if match[2] == "State":
                port.state = int(value)
            elif match[2] == "LID":
                port.lid = int(value, 16)
            else:
                port.prefix, port.guid = split_gid(value)
        return Verbs(obj.get("name"), ports)

    def function(self, pci):
        ids = re.match(r"(\w{4}) \[(\w{4}):(\w{4})\]", pci.get("pci_type"))
        nodes, cpus, whole = self.locality(pci)
        out = Function(pci.get("pci_busid"), int(ids[1], 16), int(ids[2], 16), int(ids[3], 16),
                       nodes, cpus, whole)
        # A guest sees only its virtual function and must use it; beside its own card it is one
        # more.
        out.is_vf = "Virtual Function" in (infos(pci).get("PCIDevice") or pci.get("name") or "")
        for dev in pci.findall("object"):
            if dev.get("osdev_type") == OSDEV_OPENFABRICS:
                out.verbs.append(self.verbs(dev))
            elif dev.get("osdev_type") == OSDEV_NETWORK:
                info = infos(dev)
                if dev.get("name").startswith("cxi") and "Address" not in info and any(
                        "Address" in infos(other) for other in pci.findall("object")):
                    continue
                port = info.get("Port")
                out.nets.append(Net(dev.get("name"), info.get("Address", ""),
                                    int(port) if port else None))
        add_missing_ports(out)
        return out

    def read(self):
        self.read_numas()
        self.read_boxes()
        self.read_slit()
        self.raw.cores = [bits(o.get("cpuset")) for o in self.objects("Core") or self.objects("PU")]
        functions = [self.function(o) for o in self.objects("PCIDev")]
        self.raw.functions = sorted((f for f in functions if f.verbs or f.nets),
                                    key=lambda f: f.busid)
        cards = {(f.busid[:7], f.vendor) for f in functions if not f.is_vf}
        for function in self.raw.functions:
            function.is_vf = function.is_vf and (function.busid[:7], function.vendor) in cards
        return self.raw


def read(path):
    return Reader(ElementTree.parse(path).getroot()).read()
