# SPDX-License-Identifier: BSD-3-Clause
"""libnuioa-coll's Bcast against the bound and the published way."""
import bound
from page import change, percent, table
from published import MB8, MODES, STANDARD
from simulate import DEFAULT_EAGER, Job

TITLE = "libnuioa-coll"

# Segments that go by rendezvous in every MPI.
SHOWN = ["spine+comb:65536", "spine+chain:65536", "chain+chain:65536", "binomial+comb:65536",
         "scatter+comb:65536"]
SHAPES = {"cass": (8, 8), "hagrid": (4, 16), "xeon": (8, 8), "frontier": (8, 8), "epyc": (8, 8)}


def bcast(machine, nodes, per_node, sizes, algorithm=None, roots=1, eager=DEFAULT_EAGER,
          leaders="near", selector="ompi", first=0):
    """The library's; by its built-in table unless an algorithm is named. What it leaves to MPI, and
    its own small messages, are the selector's."""
    env = [("NUIOA_COLL", "force"), ("NUIOA_SIM_LEADERS", leaders)]
    if algorithm:
        env.append(("NUIOA_COLL_ALGORITHM", f"bcast={algorithm}"))
    return Job(machine, nodes, per_node, "bcast", sizes, roots, eager=eager, selector=selector,
               precision="1e-6", env=tuple(env), first=first)


def the_bound(report):
    report.text("""
### The bound

The least that any algorithm must put on each resource of the CASS 2011 testbed, 8 nodes x 8
ranks, 8 MB, and the time that takes. Every rank but the root gets every byte: it is written once
into that rank's bank and read once somewhere, and the network has no multicast. Latency is left
out.
""")
    rows = bound.bounds("cass", 8, 8, MB8)
    report.text(table(["resource", "MB", "MB/s", "ms"],
                      [(what, f"{traffic / 1e6:.1f}", f"{rate:.0f}", f"{ms:.2f}")
                       for what, traffic, rate, ms in rows]))
    report.text("The bound of the other machines, 64 ranks, 8 MB:\n")
    report.text(table(["machine", "nodes x ranks", "bound, ms", "by"],
                      [(name, f"{nodes} x {ranks}",
                        f"{bound.bound_ms(name, nodes, ranks, MB8):.2f}",
                        max(bound.bounds(name, nodes, ranks, MB8), key=lambda row: row[3])[0])
                       for name, (nodes, ranks) in SHAPES.items()]))


def testbed(sim, report):
    """The CASS 2011 testbed at 64 ranks and 8 MB, root beside the NIC and far from it."""
    places = {"near": -2, "far": 1}
    lib = {(name, root): bcast("cass", 8, 8, (MB8,), name, roots)
           for name in SHOWN for root, roots in places.items()}
    old = {(name, root): Job("cass", 8, 8, f"{what}:default", (MB8,), -2 if root == "near" else 1)
           for name, what in STANDARD.items() for root in places}
    times = sim.all([*lib.values(), *old.values()])
    least = bound.bound_ms("cass", 8, 8, MB8) / 1e3
    lines = []
    for names, jobs, label in ((SHOWN, lib, "{}"),
                               (STANDARD, old, "published, {}, default leaders")):
        for name in names:
            took = [times[jobs[name, root]][0] for root in places]
            lines.append((label.format(name), *(f"{value * 1e3:.2f}" for value in took),
                          *(percent(least / value) for value in took)))
    report.text(f"""
### The library on the CASS 2011 testbed, 64 ranks, 8 MB

Leaders near the NIC; root beside the NIC or far from it (local rank 0). The bound is
{least * 1e3:.2f} ms.
""")
    report.text(table(["algorithm", "ms, root near", "ms, root far", "of the bound, near", "far"],
                      lines))
    best = {root: min(SHOWN, key=lambda name: times[lib[name, root]][0]) for root in places}
    both(sim, report, best, places, least)


def both(sim, report, best, places, least):
    """The best, and what it is better than, with eager messages off and on."""
    lines, gained, shares = [], [], []
    for root, roots in places.items():
        jobs = [(bcast("cass", 8, 8, (MB8,), best[root], roots, eager),
                 [Job("cass", 8, 8, f"{what}:default", (MB8,), roots, eager=eager)
                  for what in STANDARD.values()]) for eager in MODES]
        times = sim.all(job for one, others in jobs for job in (one, *others))
        gains = [min(times[job][0] for job in others) / times[one][0] for one, others in jobs]
        linear = [times[others[0]][0] / times[one][0] for one, others in jobs]
        gained += gains
        shares += [least / times[one][0] for one, _ in jobs]
        lines.append((f"{best[root]}, root {root}",
                      *(percent(least / times[one][0]) for one, _ in jobs),
                      *(f"{gain:.2f}" for gain in gains), *(f"{gain:.2f}" for gain in linear)))
    report.text("""
 The best of them: share of the bound, and how many times faster than the published hierarchical
broadcast with default leaders: than its best phase between leaders, and than Hierarch's (the root
sends to each leader). T: with SMPI's threshold; R: all rendezvous; E: all eager. The library
sends segments of 64 KB and more synchronously, so they wait for their receivers even then.
""")
    report.text(table(["", "bound, T", "R", "E", "than the best, T", "R", "E",
                       "than linear, T", "R", "E"], lines))
    sign = "." if min(gained) > 1 else "; the sign changes, so nothing is claimed of it."
    report.text(f"Aims: 85 % of the bound: {percent(min(shares))} at least. "
                f"1.5 times the published way: {min(gained):.2f} at least{sign}")
    report.check(min(shares) >= 0.85, "85 % of the bound, root near and far, eager on and off")
    report.check(min(gained) >= 1.5, "1.5 times the published way with default leaders")


def near_default(sim, report):
    jobs = {(name, eager, leaders): bcast("cass", 8, 8, (MB8,), name, -2, eager, leaders)
            for name in SHOWN for eager in MODES for leaders in ("near", "rank0")}
    times = sim.all(jobs.values())
    report.text("""
The library's own algorithms with leaders near and with the lowest rank of each node, root near,
8 MB: gain of near leaders.
""")
    lines = [(name, *(change(times[jobs[name, eager, "rank0"]][0],
                             times[jobs[name, eager, "near"]][0]) for eager in MODES))
             for name in SHOWN]
    report.text(table(["", "threshold", "rendezvous", "eager"], lines))


def section(sim, report, short=False):
    if short:
        job = bcast("cass", 4, 8, (2 << 20,), "spine+comb:65536", -2)
        old = Job("cass", 4, 8, STANDARD["chain"] + ":default", (2 << 20,), -2)
        times = sim.all([job, old])
        least = bound.bound_ms("cass", 4, 8, 2 << 20) / 1e3
        report.check(times[job][0] > least, "no broadcast is faster than the bound")
        report.check(times[job][0] < times[old][0], "the library's chain beats the published one")
        return
    report.text(f"""
## {TITLE}

The library's sources (`mpi/coll/*.c`) compiled for SMPI; only what touches shared memory and asks
the machine is replaced (`test/sim/library.c`). Copies through shared windows are charged to the
bank, the links and the core that they use; messages inside a node are copied once, by the
receiver.
""")
    the_bound(report)
    testbed(sim, report)
    near_default(sim, report)
