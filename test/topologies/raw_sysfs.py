# SPDX-License-Identifier: BSD-3-Clause
"""Reads an extracted sysfs dump (the root that HWLOC_FSROOT would name) into raw.Raw. No hwloc."""
import os
import re

from raw import Box, Function, Net, Numa, Port, Raw, Verbs, add_missing_ports, split_gid


class Reader:
    def __init__(self, top):
        self.top = top
        self.raw = Raw()

    def path(self, *parts):
        return os.path.join(self.top, *parts)

    def text(self, *parts):
        """A file's text, or None. Some dumps are padded with null bytes."""
        try:
            with open(self.path(*parts), encoding="utf-8", errors="replace") as file:
                return file.read().replace("\0", "").strip()
        except OSError:
            return None

    def names(self, *parts):
        try:
            return sorted(os.listdir(self.path(*parts)))
        except OSError:
            return []

    def number(self, *parts):
        text = self.text(*parts)
        try:
            return int(text, 0)
        except (TypeError, ValueError):
            return None

    @staticmethod
    def mask(text):
        value = 0
        for word in text.split(","):
            value = value << 32 | int(word, 16)
        return {i for i in range(value.bit_length()) if value >> i & 1}

    @staticmethod
    def list(text):
        out = set()
        for part in filter(None, text.split(",")):
            first, _, last = part.partition("-")
            out |= set(range(int(first), int(last or first) + 1))
        return out

    # --- CPUs and NUMA nodes

    def online(self):
        cpus = set()
        for name in self.names("sys/devices/system/cpu"):
            if re.fullmatch(r"cpu\d+", name) and self.number("sys/devices/system/cpu", name,
                                                             "online") != 0:
                if os.path.isdir(self.path("sys/devices/system/cpu", name, "topology")):
                    cpus.add(int(name[3:]))
        return cpus

    def packages(self, cpus):
        out = {}
        for cpu in cpus:
            topology = "sys/devices/system/cpu/cpu%d/topology" % cpu
            number = self.number(topology, "physical_package_id")
            siblings = self.text(topology, "core_siblings")
            if siblings:
                out[frozenset(self.mask(siblings) & cpus)] = number
        return out

    def read_numas(self):
        cpus = self.online()
        packages = self.packages(cpus)
        rows = {}
        for name in self.names("sys/devices/system/node"):
            if not re.fullmatch(r"node\d+", name):
                continue
            index, where = int(name[4:]), "sys/devices/system/node/" + name
            memory = re.search(r"MemTotal:\s+(\d+) kB", self.text(where, "meminfo") or "")
            own = self.mask(self.text(where, "cpumap")) & cpus
            self.raw.numas.append(Numa(index, own, int(memory[1]) << 10 if memory else None))
            rows[index] = [int(v) for v in (self.text(where, "distance") or "").split()]
        self.raw.slit = [rows[i] for i in sorted(rows)] if all(rows.values()) else None
        self.raw.allowed_cpus = cpus & self.cpuset(cpus)
        own = {n.os_index: n.cpus for n in self.raw.numas}
        for numa in self.raw.numas:
            near = self.names("sys/devices/system/node/node%d/access0/initiators" % numa.os_index)
            numa.local = numa.cpus or set().union(
                *(own[int(n[4:])] for n in near if re.fullmatch(r"node\d+", n)))
            numa.package = next((p for c, p in packages.items()
                                 if numa.local and numa.local <= c), None)
        for group in packages:
            nodes = {n.os_index for n in self.raw.numas if n.cpus and n.cpus <= group}
            if len(nodes) > 1:
                self.raw.boxes.append(Box(nodes, True))
        siblings = {c: self.text("sys/devices/system/cpu/cpu%d/topology" % c, "thread_siblings")
                    for c in cpus}
        self.raw.cores = [set(core) for core in {
            frozenset(self.mask(text) & cpus if text else {c}) for c, text in siblings.items()}]
        self.cpus = cpus

    def cpuset(self, everything):
        """The CPUs of the cpuset of the process that made the dump."""
        name = self.text("proc/self/cpuset")
        for line in (self.text("proc/mounts") or "").splitlines():
            _, where, kind, options = line.split()[:4]
            if name and (kind == "cpuset" or kind == "cgroup" and "cpuset" in options.split(",")):
                for file in ("cpus", "cpuset.cpus"):
                    text = self.text(where.lstrip("/"), name.lstrip("/"), file)
                    if text:
                        return self.list(text)
        return everything

    # --- devices

    def pci_of(self, *parts):
        """PCI address of the function a class device hangs off, and of its root-bus ancestor."""
        try:
            link = os.readlink(self.path(*parts))
        except OSError:
            return None
        chain = re.findall(r"/([0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=/)", link)
        return (chain[-1], chain[0]) if chain else None

    def bridge_cpus(self, on_root_bus):
        bus = on_root_bus.rsplit(":", 1)[0]
        first = min(d for d in self.names("sys/bus/pci/devices") if d.startswith(bus + ":"))
        text = self.text("sys/bus/pci/devices", first, "local_cpus")
        return self.mask(text) & self.cpus if text else set()

    def function(self, busid, on_root_bus):
        where = "sys/bus/pci/devices/" + busid
        cpus = self.bridge_cpus(on_root_bus) or set(self.cpus)
        nodes = {n.os_index for n in self.raw.numas
                 if n.local and (n.local <= cpus or cpus <= n.local)}
        out = Function(busid, self.number(where, "class") >> 8, self.number(where, "vendor"),
                       self.number(where, "device"), nodes, cpus, cpus == self.cpus)
        out.numa_node = self.number(where, "numa_node")
        out.is_vf = os.path.lexists(self.path(where, "physfn"))
        return out

    def net(self, name):
        where = "sys/class/net/" + name
        port = self.number(where, "dev_port")
        if not port:
            # Old drivers number the ports of one function in dev_id.
            port = self.number(where, "dev_id")
        speed = self.number(where, "speed")
        return Net(name, self.text(where, "address") or "", None if port is None else port + 1,
                   self.text(where, "operstate"), speed if speed and 0 < speed < 1 << 31 else None,
                   os.path.exists(self.path(where, "bonding_slave")))

    def verbs(self, name):
        ports = {}
        for number in self.names("sys/class/infiniband", name, "ports"):
            where = "sys/class/infiniband/%s/ports/%s" % (name, number)
            port = ports[int(number)] = Port(int(number))
            port.state = int((self.text(where, "state") or "0").split(":")[0]) or None
            port.lid = self.number(where, "lid") or 0
            port.link_layer = self.text(where, "link_layer")
            rate = re.match(r"([\d.]+) Gb/sec", self.text(where, "rate") or "")
            port.rate_mbps = int(float(rate[1]) * 1000) if rate else None
            gid = self.text(where, "gids/0")
            if gid:
                port.prefix, port.guid = split_gid(gid)
        return Verbs(name, ports)

    def read_functions(self):
        functions = {}
        for kind in ("infiniband", "net"):
            for name in self.names("sys/class", kind):
                pci = self.pci_of("sys/class", kind, name)
                if pci is None:
                    continue
                function = functions.setdefault(pci[0], None) or self.function(*pci)
                functions[pci[0]] = function
                if kind == "net":
                    function.nets.append(self.net(name))
                else:
                    function.verbs.append(self.verbs(name))
        for function in functions.values():
            add_missing_ports(function)
        self.raw.functions = [functions[k] for k in sorted(functions)]

    def read(self):
        self.read_numas()
        self.read_functions()
        return self.raw


def read(path):
    return Reader(path).read()
