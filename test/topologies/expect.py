#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Derives what `nuioa topo --json` must say from raw files, without libnuioa and without hwloc.

    expect.py show FILE.xml|DIR             the expectation, as JSON
    expect.py check TOOL.json FILE.xml|DIR  compares the tool's answer; a line for each difference
    expect.py table FILE.xml|DIR...         one line for each NIC, for people

A test oracle: raw_xml.py and raw_sysfs.py read the facts, this file applies the definitions below.
They are the specification that the library implements too; where the two disagree, one of them is
wrong.

Distances. NUMA nodes in ascending OS index, matrix[i][j] from initiator i to memory j.
  slit       The firmware's table, if it is complete (no hole, no zero) and no value of a row is
             below the diagonal one.
  structure  No such table, or a flat one (all values off the diagonal equal) on more than two NUMA
             nodes whose structure is graded: some pairs share a package or a group and others do
             not. 10 same; 12 a common ancestor is a package or lies inside one, or the two have the
             same CPUs; 16 a common group above packages; 21 otherwise. If that is one grade only:
             20.
  none       One NUMA node: [[10]].
  A flat table on more than two NUMA nodes that stays gets a warning with "unknown beyond
  same/other".
Levels. Row by row: 0 on the diagonal; the other values ascending, in classes from 1; a class holds
  values up to 1.08 times its smallest, not chained. NUMA nodes without CPUs are left out: such a
  one has the level of the farthest class that is not farther, 1 at least.
CPUs of a NUMA node. Those that the kernel says are its own; hwloc also gives CPUs to memory that is
  only local to them (raw_xml.py).
Locality of a NIC. The closest ancestor that is no I/O object: its CPUs, and the NUMA nodes of its
  node set that have some of these CPUs (memory-only NUMA nodes that are local to them included,
  those that hang off the machine not). The whole machine, if several NUMA nodes have CPUs, is
  "unknown"; if one has, local to all of them. A sysfs dump: the CPUs of the first device on the
  NIC's root bus, as hwloc asks for the host bridge. Unknown so far, but the device's own numa_node
  names a NUMA node: "sysfs". Both known and different: the former wins, with a warning that names
  the NIC. Nothing known: numa [], cpus null, level []. A NIC's level[k] is the least level from its
  NUMA nodes that have CPUs, or else from all of them, to entry k; 0 to its own.
Entries. One for each port of a verbs device, with the netdev of that port; then the netdevs of PCI
  functions that are left over, named by the netdev, port null. Without a hardware address cxiN
  beside a netdev is no entry: it is the same card of Slingshot. Netdevs find their port by its
  number, else by the port GUID in their hardware address, else in order, InfiniBand addresses
  first. Software devices (no PCI function behind them) are not listed in topologies from files.
Kind. usnic_* and scif*: other. hfi1_*, opa*: omnipath. Amazon's PCI vendor with a verbs device:
  efa. HPE/Cray's PCI vendor: slingshot (never by name: hsiN is also what LLNL calls an InfiniBand
  interface). Other verbs devices by link layer: sysfs link_layer; else a LID or an InfiniBand
  hardware address says infiniband; else the PCI class (0200: roce, others infiniband). Netdevs
  alone: slingshot as above; other behind a PCI function that is no network controller (a management
  processor's USB); infiniband by the hardware address; else ethernet.
State. Verbs port state: 4 active, other known values down. Else operstate: up active, others down.
  Else unknown. Rate. Verbs `rate`, else `speed` if positive; else null. Fabric. InfiniBand: the
  subnet prefix of GID 0 if known and not zero, else null. Virtual: a virtual function whose card is
  there too, and a netdev (without verbs device) that is part of a bond.
Usable: see judge().
"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import raw_sysfs  # noqa: E402
import raw_xml    # noqa: E402

AMAZON, CRAY = 0x1d0f, 0x17db
MIN_RATE_MBPS = 8000
SPREAD = 1.08


def cpulist(cpus):
    """The kernel's list form: 0,2,4-7"""
    out, cpus = [], sorted(cpus)
    while cpus:
        first = last = cpus.pop(0)
        while cpus and cpus[0] == last + 1:
            last = cpus.pop(0)
        out.append(str(first) if first == last else "%d-%d" % (first, last))
    return ",".join(out)


# --- distances --------------------------------------------------------------------------------

def grade(raw, a, b):
    if a.os_index == b.os_index:
        return 10
    common = [box for box in raw.boxes if {a.os_index, b.os_index} <= box.nodes]
    if any(box.in_package for box in common) or (a.local and a.local == b.local):
        return 12
    return 16 if common else 21


def off_diagonal(matrix):
    return {v for i, row in enumerate(matrix) for j, v in enumerate(row) if i != j}


def slit_is_sound(slit, count):
    return (slit is not None and len(slit) == count and all(len(row) == count for row in slit)
            and all(v > 0 for row in slit for v in row)
            and all(row[i] == min(row) for i, row in enumerate(slit)))


def distances(raw, warnings):
    count = len(raw.numas)
    if count == 1:
        return "none", [[10]]
    structure = [[grade(raw, a, b) for b in raw.numas] for a in raw.numas]
    graded = len(off_diagonal(structure)) > 1
    if slit_is_sound(raw.slit, count):
        flat = len(off_diagonal(raw.slit)) == 1 and sum(bool(n.cpus) for n in raw.numas) > 2
        if not (flat and graded):
            if flat:
                warnings.append("unknown beyond same/other")
            return "slit", raw.slit
    if not graded:
        structure = [[10 if i == j else 20 for j in range(count)] for i in range(count)]
    return "structure", structure


def level_row(row, own, has_cpus):
    level, smallest, out = 0, None, [0] * len(row)
    for j in sorted((j for j in range(len(row)) if j != own),
                    key=lambda j: (row[j], not has_cpus[j])):
        if has_cpus[j] and (smallest is None or row[j] > SPREAD * smallest):
            level, smallest = level + 1, row[j]
        out[j] = max(level, 1)
    return out


# --- network ports ------------------------------------------------------------------------------

def kind_of(function, verbs, port, net):
    if verbs is None:
        if function.vendor == CRAY:
            return "slingshot"
        if function.pci_class >> 8 != 0x02 and function.pci_class != 0x0c06:
            return "other"
        return "infiniband" if net.is_infiniband else "ethernet"
    if verbs.name.startswith(("usnic", "scif")):
        return "other"
    if verbs.name.startswith(("hfi1", "opa")):
        return "omnipath"
    if function.vendor == AMAZON:
        return "efa"
    if function.vendor == CRAY:
        return "slingshot"
    if port.link_layer:
        return "infiniband" if port.link_layer.lower() == "infiniband" else "roce"
    if port.lid or (net and net.is_infiniband):
        return "infiniband"
    return "roce" if function.pci_class == 0x0200 else "infiniband"


def pair(verbs, nets):
    """[(port, netdev or None)] for a verbs device; takes what it uses out of `nets`."""
    found = {}
    for number, port in verbs.ports.items():
        own = [n for n in nets if n.port == number]
        own = own or [n for n in nets if n.port is None and port.guid and n.guid == port.guid]
        if own:
            found[number] = own[0]
            nets.remove(own[0])
    rest = sorted((n for n in nets if n.port is None), key=lambda n: not n.is_infiniband)
    for number in sorted(verbs.ports):
        if number not in found and rest:
            found[number] = rest.pop(0)
            nets.remove(found[number])
    return [(verbs.ports[k], found.get(k)) for k in sorted(verbs.ports)]


def state_of(port, net):
    if port and port.state is not None:
        return "active" if port.state == 4 else "down"
    if net is None or net.operstate in (None, "", "unknown"):
        return "unknown"
    return "active" if net.operstate == "up" else "down"


def entry(function, verbs, port, net):
    kind = kind_of(function, verbs, port, net)
    rate = (port.rate_mbps if port else None) or (net.speed_mbps if net else None)
    return {"name": verbs.name if verbs else net.name, "port": port.number if port else None,
            "netdev": net.name if net else None, "kind": kind, "pci": function.busid,
            "state": state_of(port, net), "rate_mbps": rate,
            "virtual": function.is_vf or (verbs is None and net.in_bond),
            "fabric": port.prefix if port and kind == "infiniband" and
            (port.prefix or "").strip("0:") else None}


def place(raw, function, nic, level, warnings):
    """Fills numa, cpus, locality and level of an entry."""
    order = [n.os_index for n in raw.numas]
    numa, cpus, locality = [], None, "unknown"
    apart = sum(bool(n.cpus) for n in raw.numas) > 1
    known = function.nodes and not (apart and function.whole_machine)
    if known:
        numa, cpus, locality = sorted(function.nodes), cpulist(function.cpus), "hwloc"
    own = function.numa_node
    if own in order:
        if not known:
            numa, locality = [own], "sysfs"
            cpus = cpulist(next(n.cpus for n in raw.numas if n.os_index == own))
        elif own not in numa:
            warnings.append(nic["name"])
    initiators = {n.os_index for n in raw.numas if n.cpus} & set(numa) or set(numa)
    nic.update(numa=numa, cpus=cpus, locality=locality,
               level=[0 if order[k] in numa else min(level[order.index(n)][k] for n in initiators)
                      for k in range(len(order))] if numa else [])


def judge(nics):
    """`usable`, the whole rule. Out: known to be down, virtual functions, links known to be below
    8 Gb/s, kind other. Of what is left one fabric stays, that is the ports of the same kind and the
    same subnet. The best by: highest known rate of a port (10 % are rounding, unknown is below
    every known one), RDMA before Ethernet, more ports, first in PCI order."""
    left = []
    for nic in nics:
        rate = nic["rate_mbps"]
        nic["usable"] = not (nic["state"] == "down" or nic["virtual"] or nic["kind"] == "other"
                             or (rate is not None and rate < MIN_RATE_MBPS))
        if nic["usable"]:
            left.append(nic)

    fabrics = {}
    for nic in left:
        fabrics.setdefault((nic["kind"], nic["fabric"]), []).append(nic)
    rates = {key: max(n["rate_mbps"] or 0 for n in own) for key, own in fabrics.items()}
    top = max(rates.values(), default=0)
    best = max((key for key in fabrics if rates[key] * 1.1 >= top), default=None,
               key=lambda key: (key[0] != "ethernet", len(fabrics[key]),
                                -left.index(fabrics[key][0])))
    for nic in left:
        nic["usable"] = (nic["kind"], nic["fabric"]) == best


def ports(raw, level, warnings):
    nics = []
    for function in raw.functions:
        nets, own = list(function.nets), []
        for verbs in function.verbs:
            own += [entry(function, verbs, port, net) for port, net in pair(verbs, nets)]
        own += [entry(function, None, None, net) for net in nets]
        for nic in own:
            place(raw, function, nic, level, warnings)
        nics += own
    judge(nics)
    return nics


def expect(path):
    raw = raw_sysfs.read(path) if os.path.isdir(path) else raw_xml.read(path)
    raw.numas.sort(key=lambda n: n.os_index)
    warnings = []
    source, matrix = distances(raw, warnings)
    level = [level_row(row, i, [bool(n.cpus) for n in raw.numas])
             for i, row in enumerate(matrix)]
    return {
        "numa": [{"os_index": n.os_index, "cpus": cpulist(n.cpus),
                  "allowed_cpus": cpulist(n.cpus & raw.allowed_cpus),
                  "memory_bytes": n.memory_bytes, "package": n.package} for n in raw.numas],
        "distance": {"source": source, "matrix": matrix, "level": level},
        "nics": ports(raw, level, warnings),
        "warnings": warnings,
    }


# --- comparing -----------------------------------------------------------------------------------

def by_os_index(answer):
    """Sorts NUMA nodes by OS index, and all that follows their order: the tool may list others."""
    numa = answer["numa"]
    order = sorted(range(len(numa)), key=lambda i: numa[i]["os_index"])

    def square(m):
        return [[m[i][j] for j in order] for i in order]
    out = dict(answer, numa=[numa[i] for i in order])
    out["distance"] = dict(answer["distance"], matrix=square(answer["distance"]["matrix"]),
                           level=square(answer["distance"]["level"]))
    out["nics"] = [dict(n, numa=sorted(n["numa"]),
                        level=[n["level"][i] for i in order] if n["level"] else [])
                   for n in answer["nics"]]
    return out


def differences(got, want):
    got, out = by_os_index(got), []

    def field(where, have, need):
        if have != need:
            out.append("%s: tool %s, expected %s" % (where, json.dumps(have), json.dumps(need)))

    field("NUMA nodes", [n["os_index"] for n in got["numa"]], [n["os_index"] for n in want["numa"]])
    if out:
        return out
    for have, need in zip(got["numa"], want["numa"]):
        where = "numa %d " % need["os_index"]
        for key in ("cpus", "allowed_cpus"):
            field(where + key, have[key] or "", need[key])
        field(where + "package", have["package"], need["package"])
        if need["memory_bytes"] is not None:
            field(where + "memory_bytes", have["memory_bytes"] or 0, need["memory_bytes"])
    for key in ("source", "matrix", "level"):
        field("distance." + key, got["distance"][key], want["distance"][key])

    def key_of(nic):
        return "%s:%s" % (nic["name"], nic["port"]) if nic["port"] else nic["name"]
    have, need = ({key_of(n): n for n in a["nics"]} for a in (got, want))
    field("NICs", sorted(have), sorted(need))
    for name in sorted(set(have) & set(need)):
        for key in ("netdev", "kind", "pci", "state", "rate_mbps", "virtual", "fabric", "numa",
                    "cpus", "locality", "level", "usable"):
            field("%s %s" % (name, key), have[name][key], need[name][key])
        if not need[name]["usable"] and not have[name]["why"]:
            out.append("%s: not usable and no reason given" % name)
    said = "\n".join(got["warnings"])
    for text in want["warnings"]:
        if text not in said:
            out.append("no warning with '%s'" % text)
    if "unknown beyond same/other" in said and "unknown beyond same/other" not in want["warnings"]:
        out.append("a warning about a flat SLIT that is not one")
    return out


def table(path):
    want, name = expect(path), os.path.basename(path.rstrip("/"))
    first = "%s  numa=%d %s" % (name, len(want["numa"]), want["distance"]["source"])
    for nic in want["nics"] or [None]:
        if nic is None:
            print(first, " -")
            continue
        label = nic["name"] + (":%d" % nic["port"] if nic["port"] else "")
        print(first, " %-12s %-10s %-10s %-8s numa=%s level=%s %s" % (
            label, nic["netdev"] or "-", nic["kind"], nic["state"],
            ",".join(map(str, nic["numa"])) or "?", "".join(map(str, nic["level"])) or "?",
            "usable" if nic["usable"] else "-"))


def main(args):
    if len(args) == 2 and args[0] == "show":
        print(json.dumps(expect(args[1]), indent=1))
    elif len(args) == 3 and args[0] == "check":
        with open(args[1], encoding="utf-8") as answer:
            bad = differences(json.load(answer), expect(args[2]))
        print("\n".join(bad), end="\n" if bad else "")
        return 1 if bad else 0
    elif len(args) >= 2 and args[0] == "table":
        for path in args[1:]:
            table(path)
    else:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
