# SPDX-License-Identifier: BSD-3-Clause
"""Builds small hwloc v2 XML files: a tree of objects whose CPU and node sets are derived.

A machine is described top down with the functions below and written by save(). Objects that hold
cores get the union of their PUs as cpuset; node sets follow hwloc's rule (NUMA nodes of the object,
of its descendants and of its ancestors).
"""
import zlib
from xml.sax.saxutils import quoteattr

BRIDGE, PCI, OSDEV = "Bridge", "PCIDev", "OSDev"
IO_TYPES = (BRIDGE, PCI, OSDEV)
OSDEV_BLOCK, OSDEV_GPU, OSDEV_NETWORK, OSDEV_OPENFABRICS, OSDEV_COPROC = 0, 1, 2, 3, 5


class Obj:
    def __init__(self, type_, os_index=None, kids=(), infos=None, **attrs):
        self.type, self.os_index, self.kids = type_, os_index, list(kids)
        self.infos, self.attrs = dict(infos or {}), attrs
        self.cpus, self.nodes = set(), set()

    def walk(self):
        yield self
        for kid in self.kids:
            yield from kid.walk()


# --- processors and memory -------------------------------------------------------------------

def numa(index, gib=8):
    return Obj("NUMANode", index, local_memory=gib << 30)


def cores(first_pu, count, threads=1, stride=None, first_core=0):
    """COUNT cores; thread t of core i is PU first_pu + i + t * stride (stride 0: adjacent PUs)."""
    out = []
    for i in range(count):
        pus = [first_pu + i + t * stride if stride else first_pu + i * threads + t
               for t in range(threads)]
        out.append(Obj("Core", first_core + i, [Obj("PU", p) for p in pus]))
    return out


def l3(index, kids, mib=16):
    return Obj("L3Cache", index, kids, cache_size=mib << 20, depth=3, cache_linesize=64,
               cache_associativity=16, cache_type=0)


def group(index, kids):
    return Obj("Group", None, kids, kind=0, subkind=index)


def package(index, kids, model="Test CPU"):
    return Obj("Package", index, kids, {"CPUModel": model})


# --- devices -----------------------------------------------------------------------------------

def hostbridge(first_bus, kids, last_bus=None, domain=0):
    last_bus = first_bus + 0xf if last_bus is None else last_bus
    return Obj(BRIDGE, None, kids, bridge_type="0-1", depth=0,
               bridge_pci="%04x:[%02x-%02x]" % (domain, first_bus, last_bus))


def bridge(busid, first_bus, last_bus, kids, gbs=15.75):
    return Obj(BRIDGE, None, kids, bridge_type="1-1", depth=1,
               bridge_pci="%s:[%02x-%02x]" % (busid[:4], first_bus, last_bus), pci_busid=busid,
               pci_type="0604 [8086:347a] [8086:0000] 04", pci_link_speed="%f" % gbs)


def pci(busid, cls, vendor, device, kids, subvendor=None, gbs=15.75, infos=None):
    return Obj(PCI, None, kids, infos, pci_busid=busid, pci_link_speed="%f" % gbs,
               pci_type="%04x [%04x:%04x] [%04x:%04x] 00" %
               (cls, vendor, device, subvendor or vendor, device))


def netdev(name, mac="02:00:00:00:00:01"):
    return Obj(OSDEV, None, (), {"Address": mac}, name=name, osdev_type=OSDEV_NETWORK)


def port_guid(verbs_name, port=1):
    """As GIDs are written; the same for a verbs port and its IP interface."""
    number = zlib.crc32(verbs_name.encode()) & 0xffff
    return "0200:00ff:%04x:%04x" % (number, port)


def ipoib(name, verbs_name, port=1):
    """IP over InfiniBand: a 20-byte hardware address that ends in the port GUID."""
    guid = port_guid(verbs_name, port).replace(":", "")
    tail = ":".join(guid[i:i + 2] for i in range(0, 16, 2))
    dev = netdev(name, "80:00:00:48:fe:80:00:00:00:00:00:00:" + tail)
    dev.infos["Port"] = str(port)
    return dev


def verbs(name, states=(4,), prefix="fe80:0000:0000:0000", lids=None):
    """A verbs device with one port for each entry of STATES (1 down, 2 init, 4 active)."""
    infos = {"NodeGUID": port_guid(name, 0), "SysImageGUID": port_guid(name, 0)}
    for i, state in enumerate(states):
        lid = lids[i] if lids else 0x10 + i if state == 4 else 0
        infos["Port%dState" % (i + 1)] = str(state)
        infos["Port%dLID" % (i + 1)] = "0x%x" % lid
        infos["Port%dLMC" % (i + 1)] = "0"
        infos["Port%dGID0" % (i + 1)] = "%s:%s" % (prefix, port_guid(name, i + 1))
    return Obj(OSDEV, None, (), infos, name=name, osdev_type=OSDEV_OPENFABRICS)


def gpu(busid, name):
    dev = Obj(OSDEV, None, (), {"Backend": "CUDA", "GPUVendor": "NVIDIA Corporation"},
              name=name, subtype="CUDA", osdev_type=OSDEV_COPROC)
    return pci(busid, 0x0302, 0x10de, 0x20b0, [dev], gbs=31.5)


# --- writing -------------------------------------------------------------------------------------

def mask(numbers):
    """hwloc's form: 32-bit words, highest first; all words are printed."""
    value = sum(1 << n for n in set(numbers))
    words = []
    while True:
        words.append("0x%08x" % (value & 0xffffffff))
        value >>= 32
        if not value:
            return ",".join(reversed(words))


def _sum_up(obj):
    if obj.type == "PU":
        obj.cpus = {obj.os_index}
    for kid in obj.kids:
        _sum_up(kid)
        obj.cpus |= kid.cpus
    for kid in obj.kids:
        if kid.type == "NUMANode":
            # a NUMA node has the CPUs of what it hangs off, unless it was declared without
            kid.cpus = set() if kid.attrs.get("cpuless") else set(obj.cpus)


def _spread_nodes(obj, inherited):
    obj.nodes = inherited | {k.os_index for k in obj.kids if k.type == "NUMANode"}
    for kid in obj.kids:
        if kid.type == "NUMANode":
            kid.nodes = {kid.os_index}
        elif kid.type not in IO_TYPES:
            _spread_nodes(kid, obj.nodes)
    for kid in obj.kids:
        if kid.type not in IO_TYPES:
            obj.nodes = obj.nodes | kid.nodes


class Writer:
    def __init__(self, machine, allowed_cpus, allowed_nodes):
        self.lines, self.gp = [], 0
        self.allowed = (allowed_cpus, allowed_nodes)
        self.machine = machine

    def element(self, obj, indent):
        self.gp += 1
        pad = " " * indent
        attrs = [("type", obj.type)]
        if obj.os_index is not None:
            attrs.append(("os_index", obj.os_index))
        if obj.type not in IO_TYPES:
            attrs += [("cpuset", mask(obj.cpus)), ("complete_cpuset", mask(obj.cpus))]
            if obj is self.machine:
                attrs.append(("allowed_cpuset", mask(self.allowed[0])))
            attrs += [("nodeset", mask(obj.nodes)), ("complete_nodeset", mask(obj.nodes))]
            if obj is self.machine:
                attrs.append(("allowed_nodeset", mask(self.allowed[1])))
        attrs.append(("gp_index", self.gp))
        attrs += [(k, v) for k, v in obj.attrs.items() if k != "cpuless"]
        text = " ".join("%s=%s" % (k, quoteattr(str(v))) for k, v in attrs)
        if not obj.kids and not obj.infos:
            self.lines.append("%s<object %s/>" % (pad, text))
            return
        self.lines.append("%s<object %s>" % (pad, text))
        for name, value in obj.infos.items():
            self.lines.append("%s  <info name=%s value=%s/>" %
                              (pad, quoteattr(name), quoteattr(str(value))))
        for kid in obj.kids:
            self.element(kid, indent + 2)
        self.lines.append("%s</object>" % pad)


def _wrap(values, per_line, tag):
    out = []
    for i in range(0, len(values), per_line):
        text = " ".join(str(v) for v in values[i:i + per_line]) + " "
        out.append('    <%s length="%d">%s</%s>' % (tag, len(text), text, tag))
    return out


def document(kids, slit=None, host="n1", allowed_cpus=None, allowed_nodes=None, infos=None):
    """The text of one machine. SLIT: rows in ascending NUMA os_index, or None for no SLIT."""
    machine = Obj("Machine", 0, kids, {"HostName": host, "Architecture": "x86_64", **(infos or {})})
    _sum_up(machine)
    _spread_nodes(machine, set())
    writer = Writer(machine, machine.cpus if allowed_cpus is None else allowed_cpus,
                    machine.nodes if allowed_nodes is None else allowed_nodes)
    writer.element(machine, 2)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             '<!DOCTYPE topology SYSTEM "hwloc2.dtd">', '<topology version="2.0">'] + writer.lines
    if slit:
        n = len(slit)
        lines.append('  <distances2 type="NUMANode" nbobjs="%d" kind="5" name="NUMALatency" '
                     'indexing="os">' % n)
        lines += _wrap(sorted(machine.nodes), 10, "indexes")
        lines += _wrap([v for row in slit for v in row], 10, "u64values")
        lines.append('  </distances2>')
    lines += ['  <support name="discovery.pu"/>', '  <support name="discovery.numa"/>',
              '</topology>']
    return "\n".join(lines) + "\n"
