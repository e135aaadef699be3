#!/usr/bin/env python3
"""Palliative placement on one machine: one rank for each allowed core, strictly falling weights.

    palliative.py TOOL FILE.xml|DIR        runs `TOOL plan`; a line for each thing that is wrong
    palliative.py --applies FILE.xml|DIR   exit 0 if there is something to check, else says why not

With every core taken the optimum is plain: heavier ranks sit at lower levels, and each core is used
once. Levels are the oracle's, of the core's NUMA node from the nearest usable NIC, not the tool's.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import expect      # noqa: E402
import raw_sysfs   # noqa: E402
import raw_xml     # noqa: E402

# A hints list travels as one option value, which has a limit.
MOST_RANKS = 512


def facts(path):
    """({core's CPUs: level}, reason why there is nothing to check)"""
    raw = raw_sysfs.read(path) if os.path.isdir(path) else raw_xml.read(path)
    want = expect.expect(path)
    nics = [n for n in want["nics"] if n["usable"] and n["numa"]]
    if not nics:
        return {}, "no usable NIC whose place is known"
    order = [n["os_index"] for n in want["numa"]]
    levels = {}
    for core in raw.cores:
        cpus = core & raw.allowed_cpus
        homes = [n for n in raw.numas if cpus and cpus <= n.cpus]
        if cpus and not homes:
            return {}, "cores without a NUMA node of their own"
        if cpus:
            levels[frozenset(cpus)] = min(nic["level"][order.index(n.os_index)]
                                          for nic in nics for n in homes)
    if len(set(levels.values())) < 2:
        return {}, "all allowed cores are equally near"
    if len(levels) > MOST_RANKS:
        return {}, "more cores than a hints list has room for"
    return levels, None


def wrong(tool, path, levels):
    count = len(levels)
    # Rank 0 is the lightest, so that leaving everything where it was cannot pass by luck.
    hints = ",".join("%d:%d" % (rank, rank + 1) for rank in range(count))
    done = subprocess.run([tool, "plan", "--topology", path, "--tasks", str(count), "--hints", hints,
                           "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        return ["plan ended with %d" % done.returncode]
    plan, out = json.loads(done.stdout), []
    placed = []
    for task in sorted(plan["tasks"], key=lambda t: -t["weight"]):
        cpus = frozenset(raw_sysfs.Reader.list(task["cpus"]))
        if cpus not in levels:
            return ["rank %d has CPUs %s, which are no core" % (task["rank"], task["cpus"])]
        placed.append((levels[cpus], task["rank"], task["cpus"]))
    if len({cpus for _, _, cpus in placed}) != count or len(placed) != count:
        out.append("%d ranks on %d cores" % (len(placed), len({c for _, _, c in placed})))
    for (above, heavy, _), (below, light, cpus) in zip(placed, placed[1:]):
        if below < above:
            out.append("rank %d (heavier) at level %d, rank %d on %s at level %d" %
                       (heavy, above, light, cpus, below))
    return out[:5]


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    levels, why = facts(sys.argv[2])
    if sys.argv[1] == "--applies":
        print(why or "", end="\n" if why else "")
        return 1 if why else 0
    bad = wrong(sys.argv[1], sys.argv[2], levels)
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
