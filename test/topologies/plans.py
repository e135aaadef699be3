#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""plans.py TOOL DIRECTORY: what `nuioa plan` decides for every topology of ours.

One line for each case:
    hagrid5 descending: hopsort 70.2>62.1 near=2 | 0*:10@5/0 1:11@5/0 ...
                                                   rank, * the leader, : CPUs @ NUMA nodes / level,
                                                   ^ NIC where it is not the first one,
                                                   = level from its GPUs
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

# Of a machine with GPUs, with ranks as many as these and at most 8: one core each in a wider step,
# and all CPUs each. Rank 0 has the last GPU, and so on; or all have it.
GPU_CASES = [
    ("gpus-bound", [], False),
    ("gpus-wide", ["--binding", "none"], False),
    ("gpus-one", ["--binding", "none"], True),
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
        far = "" if t["to_gpu"] is None else f"={t['to_gpu']}"
        ranks.append(f"{rank}:{t['cpus']}@{numa}/{level}{other}{memory}{far}")
    cost = plan["cost"]
    change = f" {cost['slurm']:g}>{cost['plan']:g}" if cost["slurm"] else ""
    head = f"{plan['mapper']}{change} near={plan['near']} {first}"
    return f"{head} | {' '.join(ranks)} | {plan['reason']}"


def plan(tool, path, name, options):
    result = subprocess.run([tool, "plan", "--topology", path, "--mem", "local", "--json",
                             *options], capture_output=True, text=True)
    text = describe(json.loads(result.stdout)) if result.returncode == 0 else \
        f"status {result.returncode}: {result.stderr.strip()}"
    print(f"{path.stem} {name}: {text}")


def main():
    tool, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    for path in sorted([*directory.glob("*.xml"), *directory.glob("gpus/*.xml")]):
        topo = json.loads(subprocess.run([tool, "topo", "--topology", path, "--json"], check=True,
                                         capture_output=True).stdout)
        cpus = len(set().union(*(cpus_of(n["allowed_cpus"]) for n in topo["numa"])))
        gpus = len(topo["gpus"])
        for name, options, one in GPU_CASES if gpus else []:
            last = [str(gpus - 1 if one else gpus - 1 - k) for k in range(min(gpus, 8))]
            plan(tool, path, name, ["--gpus", ";".join(last), *options])
        for name, options in CASES if path.parent == directory else []:
            tasks = 1 if name == "alone" else 8
            # spread over the machine: whole cores, as many CPUs each as there are
            each = max(1, cpus // tasks) if name not in ("packed", "alone") else 1
            plan(tool, path, name, ["--tasks", str(tasks), "--cpus-per-task", str(each),
                                    *options])


def cpus_of(cpulist):
    cpus = set()
    for part in filter(None, (cpulist or "").split(",")):
        low, _, high = part.partition("-")
        cpus.update(range(int(low), int(high or low) + 1))
    return cpus


if __name__ == "__main__":
    main()
