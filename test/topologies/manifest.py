#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the oracle itself: expect.py against what MANIFEST.tsv of the corpus says of a machine.

    manifest.py MANIFEST.tsv NAME FILE.xml|DIR      a line for each difference

The manifest was made by another hand with another program (hwloc's default load), so agreement
counts. It describes what a restricted process sees, while topo describes the whole machine: fewer
NUMA nodes and distances in the manifest are no difference if a cpuset restricts the machine.
"""
import csv
import sys

sys.dont_write_bytecode = True
from expect import expect  # noqa: E402

# The oracle also uses the NUMA node that the device itself names, where the host bridge names none;
# the manifest asked only for the host bridge's.
OWN_NUMA_NODE = {("r910-nolocality", "ib0"), ("r910-nolocality", "qib0")}


def devices_of(row):
    out = {}
    for word in row["nics"].split():
        if "@" in word:
            name, place = word.split("@")
            place = place.split("(")[0]
            out[name] = [] if place == "root" else [int(n) for n in place[1:].split(",")]
    return out


def main():
    path, name, machine = sys.argv[1:]
    with open(path, encoding="utf-8", newline="") as table:
        row = next(r for r in csv.DictReader(table, delimiter="\t") if r["name"] == name)
    want, bad = expect(machine), []
    restricted = any(n["allowed_cpus"] != n["cpus"] for n in want["numa"])
    if int(row["numa"]) != len(want["numa"]) and not restricted:
        bad.append("NUMA nodes: manifest %s, oracle %d" % (row["numa"], len(want["numa"])))
    values = sorted({v for r in want["distance"]["matrix"] for v in r})
    slit = "/".join(map(str, values)) if want["distance"]["source"] == "slit" else "-"
    if row["slit"] != slit and not restricted:
        bad.append("SLIT values: manifest %s, oracle %s" % (row["slit"], slit))

    theirs, ours = devices_of(row), {}
    for nic in want["nics"]:
        for device in {nic["name"], nic["netdev"]} - {None}:
            ours[device] = nic["numa"]
    for device in sorted(set(theirs) | set(ours)):
        if device not in theirs or device not in ours:
            bad.append("%s: only in the %s"
                       % (device, "manifest" if device in theirs else "oracle"))
            continue
        uma = len(want["numa"]) == 1 and not theirs[device]
        if ours[device] != theirs[device] and not uma and (name, device) not in OWN_NUMA_NODE:
            bad.append("%s: manifest %s, oracle %s" % (device, theirs[device], ours[device]))
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
