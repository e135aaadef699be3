#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""measured.py TOOL DIRECTORY TEMPORARY: plans by what was measured of a NIC, against an oracle.

Random rates, latencies and spreads of each NUMA node go into a distance file. From the same numbers
the oracle derives prices: 1 where a difference from the best is below four standard errors, else
the quotient. Ranks have weights only and one NIC, so the least cost is that of the heaviest rank in
the cheapest of Slurm's masks, and so on. The tool's plan must have that cost, and each rank in it
that of its place. TAP on stdout.
"""
import json
import math
import random
import subprocess
import sys

TOOL, DIRECTORY, TEMPORARY = sys.argv[1:4]
CORES = {"quad": 8, "infiniband": 16, "hagrid5": 16, "corona": 48, "big": 128}
ROUNDS = 4


def run(*arguments):
    return json.loads(subprocess.run([TOOL, *arguments, "--json"], check=True,
                                     capture_output=True, text=True).stdout)


def prices(values, better):
    """{NUMA node: price} of {NUMA node: (value, n, mad)}"""
    best = better(values, key=lambda k: values[k][0])
    result = {}
    for numa, (value, n, mad) in values.items():
        top, top_n, top_mad = values[best]
        ratio = value / top if better is min else top / value
        lost = 1 - 1 / ratio
        errors = [1.2533 * 1.4826 * m / math.sqrt(k) for m, k in ((mad, n), (top_mad, top_n))]
        result[numa] = 1 if lost < 4 * math.hypot(*errors) else ratio
    return result


def case(machine, seed):
    """What differs: a list of lines."""
    random.seed(f"{machine} {seed}")
    xml = f"{DIRECTORY}/{machine}.xml"
    topo = run("topo", "--topology", xml)
    nic = next(n for n in topo["nics"] if n["usable"])
    label = f"{nic['name']}:{nic['port']}"
    numas = [n["os_index"] for n in topo["numa"]]
    path = f"{TEMPORARY}/{machine}.{seed}"
    rates, times = {}, {}
    with open(path, "w", encoding="utf-8") as file:
        packages = len({n["package"] for n in topo["numa"]})
        print("nuioa-distances 1", file=file)
        print(f"machine packages={packages} numa={len(numas)} cores={CORES[machine]}", file=file)
        print("numa", *numas, file=file)
        for row in topo["distance"]["matrix"]:
            print("row", *row, file=file)
        for numa in numas:
            n, mad = random.choice([5, 15]), random.choice([0.001, 0.01, 0.04])
            rates[numa] = (random.randint(9000, 24000), n, mad)
            times[numa] = (random.randint(900, 1500), n, mad)
            print(f"nic {random.choice([label, nic['name']])} numa={numa}",
                  f"write_mb_s={rates[numa][0]} latency_ns={times[numa][0]} n={n} mad={mad}",
                  file=file)
    policy = random.choice(["bandwidth", "latency"])
    price = prices(times, min) if policy == "latency" else prices(rates, max)
    tasks = CORES[machine]  # so that no core is spare
    weights = [random.randint(1, 1000) for _ in range(tasks)]
    plan = run("plan", "--topology", xml, "--distances", path, "--tasks", str(tasks),
               "--policy", policy, "--nic", nic["name"], "--hints",
               ",".join(f"{i}:{w}" for i, w in enumerate(weights)))
    wrong = []
    if plan["warnings"]:
        wrong.append(f"warnings {plan['warnings']}")
    numa_of = {}
    for n in topo["numa"]:
        for part in n["cpus"].split(","):
            low, _, high = part.partition("-")
            for cpu in range(int(low), int(high or low) + 1):
                numa_of[cpu] = n["os_index"]
    masks = [price[numa_of[int(t["was"].replace(",", "-").split("-")[0])]] for t in plan["tasks"]]
    least = sum(w * p for w, p in zip(sorted(weights, reverse=True), sorted(masks)))
    slurm = sum(w * p for w, p in zip(weights, masks))
    for what, got, wanted in [
            ("Slurm's cost", plan["cost"]["slurm_nic"], slurm),
            ("the plan's cost", plan["cost"]["plan_nic"], least)]:
        if abs(got - wanted) > 1e-6 * wanted:
            wrong.append(f"{policy}: {what} is {got}, the oracle's {wanted}")
    for t in plan["tasks"]:
        wanted = weights[t["local"]] * price[t["numa"][0]]
        if abs(t["cost"]["plan_nic"] - wanted) > 1e-6 * wanted:
            wrong.append(f"rank {t['rank']}: cost {t['cost']['plan_nic']}, the oracle's {wanted}")
    return wrong


count = bad = 0
for name in CORES:
    for number in range(ROUNDS):
        lines = case(name, number)
        count += 1
        bad += bool(lines)
        print(f"{'not ok' if lines else 'ok'} {count} - {name}, rates {number}: the oracle's plan")
        for text in lines[:6]:
            print(f"#   {text}")
print(f"1..{count}")
sys.exit(bad > 0)
