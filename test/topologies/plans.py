#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""plans.py TOOL DIRECTORY: what `nuioa plan` decides for every topology of ours.

One line for each case:
    hagrid5 descending: hopsort 70.2>62.1 near=2 | 0*:10@5/0 1:11@5/0 ...
                                                   rank, * the leader, : CPUs @ NUMA nodes / level,
                                                   ^ NIC where it is not the first one
The committed plans.golden is this output, read by a person once, so that a change of any decision
shows in the change that makes it.
"""
import json
import pathlib
import subprocess
import sys

CASES = [
    ("descending", ["--hints", "0:8,1:7,2:6,3:5,4:4,5:3,6:2,7:1"]),
    ("last-heavy", ["--hints", "heavy=7"]),
    ("two-heavy", ["--hints", "heavy=0,1"]),
    ("no-hints", []),
    ("packed", ["--cores", "pack", "--hints", "0:8,1:7,2:6,3:5,4:4,5:3,6:2,7:1"]),
    ("latency", ["--policy", "latency", "--hints", "heavy=5-7"]),
    ("interleave", ["--mem", "interleave", "--hints", "heavy=0"]),
    ("alone", []),
]


def describe(plan):
    first = next((t["nic"] for t in plan["tasks"] if t["nic"]), None)
    ranks = []
    for t in plan["tasks"]:
        numa = ",".join(str(n) for n in t["numa"])
        level = "?" if t["level"] is None else t["level"]
        other = "" if t["nic"] == first else "^" + str(t["nic"])
        memory = "" if t["memory"].startswith("preferred") else "!" + t["memory"]
        rank = f"{t['rank']}{'*' if t['leader'] else ''}"
        ranks.append(f"{rank}:{t['cpus']}@{numa}/{level}{other}{memory}")
    cost = plan["cost"]
    change = f" {cost['slurm']:g}>{cost['plan']:g}" if cost["slurm"] else ""
    head = f"{plan['mapper']}{change} near={plan['near']} {first}"
    return f"{head} | {' '.join(ranks)} | {plan['reason']}"


def main():
    tool, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    for path in sorted(directory.glob("*.xml")):
        topo = json.loads(subprocess.run([tool, "topo", "--topology", path, "--json"], check=True,
                                         capture_output=True).stdout)
        cpus = len(set().union(*(cpus_of(n["allowed_cpus"]) for n in topo["numa"])))
        for name, options in CASES:
            tasks = 1 if name == "alone" else 8
            # spread over the machine: whole cores, as many CPUs each as there are
            each = max(1, cpus // tasks) if name not in ("packed", "alone") else 1
            result = subprocess.run([tool, "plan", "--topology", path, "--tasks", str(tasks),
                                     "--cpus-per-task", str(each), "--mem", "local", "--json",
                                     *options],
                                    capture_output=True, text=True)
            text = describe(json.loads(result.stdout)) if result.returncode == 0 else \
                f"status {result.returncode}: {result.stderr.strip()}"
            print(f"{path.stem} {name}: {text}")


def cpus_of(cpulist):
    cpus = set()
    for part in filter(None, (cpulist or "").split(",")):
        low, _, high = part.partition("-")
        cpus.update(range(int(low), int(high or low) + 1))
    return cpus


if __name__ == "__main__":
    main()
