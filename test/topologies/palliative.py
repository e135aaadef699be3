#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Palliative placement on one machine: one rank for each allowed core, strictly falling weights.

    palliative.py TOOL FILE.xml|DIR        runs `TOOL plan`; a line for each thing that is wrong
    palliative.py --applies FILE.xml|DIR   exit 0 if there is something to check, else says why not

With every core taken the optimum is plain: heavier ranks sit at lower levels, at equal level inside
the NIC's own CPUs (an L3 cache) first, and each core is used once. Levels are the oracle's, of the
core's NUMA node from the nearest usable NIC, not the tool's.
"""
import json
import math
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import expect      # noqa: E402
import raw_sysfs   # noqa: E402
import raw_xml     # noqa: E402

# A hints list travels as one option value, which has a limit.
MOST_RANKS = 512


def nearness(cpus, home, nics):
    """(level, 0 if a NIC of that level has these CPUs for its own)"""
    level = min(nic["level"][home] for nic in nics)
    own = any(nic["level"][home] == level and cpus <= raw_sysfs.Reader.list(nic["cpus"])
              for nic in nics)
    return level, 0 if own else 1


def facts(path):
    """({core's CPUs: nearness}, reason why there is nothing to check)"""
    raw = raw_sysfs.read(path) if os.path.isdir(path) else raw_xml.read(path)
    want = expect.expect(path)
    nics = [n for n in want["nics"] if n["usable"] and n["numa"]]
    if not nics:
        return {}, "no usable NIC whose place is known"
    order = [n["os_index"] for n in want["numa"]]
    near = {}
    for core in raw.cores:
        cpus = core & raw.allowed_cpus
        homes = [order.index(n.os_index) for n in raw.numas if cpus and cpus <= n.cpus]
        if cpus and not homes:
            return {}, "cores without a NUMA node of their own"
        if cpus:
            near[frozenset(cpus)] = min(nearness(cpus, home, nics) for home in homes)
    if len({level for level, _ in near.values()}) < 2:
        # Half of a NUMA node may be nearer, but a cost that cannot fall is no reason to move
        # anybody.
        return {}, "all allowed cores are equally near"
    if len(near) > MOST_RANKS:
        return {}, "more cores than a hints list has room for"
    return near, None


def weights_of(count):
    """1 to count in an order in which no block placement is right by luck."""
    step = next(s for s in range(int(count * 0.618) | 1, 2 * count + 3) if math.gcd(s, count) == 1)
    return [rank * step % count + 1 for rank in range(count)]


def wrong(tool, path, near):
    weights = weights_of(len(near))
    hints = ",".join("%d:%d" % pair for pair in enumerate(weights))
    done = subprocess.run([tool, "plan", "--topology", path, "--tasks", str(len(near)), "--hints",
                           hints, "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        return ["plan ended with %d" % done.returncode]
    placed, out = [], []
    for task in json.loads(done.stdout)["tasks"]:
        rank, cpus = task["rank"], frozenset(raw_sysfs.Reader.list(task["cpus"]))
        if cpus not in near:
            return ["rank %d has CPUs %s, which are no core" % (rank, task["cpus"])]
        if task["weight"] != weights[rank]:
            return ["rank %d has weight %s" % (rank, task["weight"])]
        placed.append((weights[rank], near[cpus], rank, task["cpus"]))
    placed.sort(reverse=True)
    if len({cpus for _, _, _, cpus in placed}) != len(near) or len(placed) != len(near):
        out.append("%d ranks on %d cores" % (len(placed), len({p[3] for p in placed})))
    for (_, above, heavy, _), (_, below, light, cpus) in zip(placed, placed[1:]):
        if below < above:
            out.append("rank %d (heavier) at level %d.%d, rank %d on %s at level %d.%d" %
                       ((heavy,) + above + (light, cpus) + below))
    return out[:5]


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    near, why = facts(sys.argv[2])
    if sys.argv[1] == "--applies":
        print(why or "", end="\n" if why else "")
        return 1 if why else 0
    bad = wrong(sys.argv[1], sys.argv[2], near)
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
