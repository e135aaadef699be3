# SPDX-License-Identifier: BSD-3-Clause
"""What a leader near the NIC gains beside the broadcasts that MPI libraries choose today."""
from machine import Machine
from page import change, table
from simulate import RENDEZVOUS, Job

TITLE = "Beside today's MPI libraries"
KB, MB = 1 << 10, 1 << 20
SIZES = (64 * KB, 256 * KB, MB)
SHAPES = [("infini", 2, 4), ("cass", 8, 8), ("xeon", 8, 8), ("frontier", 8, 8), ("epyc", 8, 8)]
PRECISION = "1e-7"  # of simulated seconds; with 1e-6 a ring of short blocks is a third off
CHOICES = {"HAN": "han:65536", "alpha": "mpich:alpha", "default": "mpich:auto"}
NOTHING = 0.01  # a gain or loss below is none


def composition(nodes, per_node, size):
    """MPICH's choice, as today.c makes it."""
    ranks = nodes * per_node
    if ranks < 8 or size < 12 * KB:
        return "alpha"
    return "beta" if ranks & (ranks - 1) == 0 and size < 512 * KB else "gamma"


def places(name):
    """NUMA nodes of local rank 0: as far from every NIC as can be, and beside one."""
    machine = Machine(name)
    def hops(numa):
        return min(machine.hops(numa, nic) for nic in machine.nics)
    return {"far": max(range(machine.numa), key=hops), "near": min(range(machine.numa), key=hops)}


def job(shape, what, first, sizes=SIZES):
    return Job(*shape, what, sizes, 1, eager=RENDEZVOUS, precision=PRECISION, first=first)


def ms(seconds):
    return f"{seconds * 1e3:.3f}"


def counts(ratios):
    """Of [a/b]: how many are more than one, about one, and less."""
    return (sum(ratio > 1 + NOTHING for ratio in ratios),
            sum(abs(ratio - 1) <= NOTHING for ratio in ratios),
            sum(ratio < 1 - NOTHING for ratio in ratios))


def head(shape, size):
    machine, nodes, per_node = shape
    return machine, f"{nodes} x {per_node}", f"{size >> 10} KB"


def leaders(times, jobs, report):
    """What it is worth to these libraries that local rank 0 is beside the NIC."""
    lines, ratios = [], {name: [] for name in CHOICES}
    for shape in SHAPES:
        for at, size in enumerate(SIZES):
            line = list(head(shape, size))
            for name in CHOICES:
                far, near = (times[jobs[shape, name, place]][at] for place in ("far", "near"))
                ratios[name].append(far / near)
                line += [ms(far), ms(near), change(far, near)]
            lines.append((*line, composition(*shape[1:], size)))
    report.text("""
### Their own leaders, placed far from the NIC and near

Local rank 0 is the root. *far*: it runs on the NUMA node that is furthest from every NIC, *near*:
beside a NIC, as nuioa places it where whole NUMA nodes may change places; all else is the same,
and nothing is preloaded. ms, and the throughput gained. The last column: what MPICH's default is
there.
""")
    report.text(table(["machine", "nodes x ranks", "size",
                       *(f"{name}{what}" for name in CHOICES for what in (", far", ", near",
                                                                         ", gain")),
                       "default is"], lines))
    for name, of in ratios.items():
        more, same, less = counts(of)
        report.text(f"{name}: near gains in {more} of {len(of)}, at most "
                    f"{100 * (max(of) - 1):.0f} %; nothing (within 1 %) in {same}; it loses in "
                    f"{less}.\n")


def short_checks(sim, report):
    shape, sizes = ("infini", 2, 4), (MB,)
    runs = {(name, place): job(shape, what, first, sizes) for name, what in CHOICES.items()
            for place, first in places("infini").items()}
    auto = {size: [job(shape, f"mpich:{how}", 0, (size,)) for how in
                   ("auto", composition(*shape[1:], size))] for size in (64 * KB, 512 * KB)}
    times = sim.all([*runs.values(), *(one for both in auto.values() for one in both)])
    for name in CHOICES:
        report.check(times[runs[name, "far"]][0] > times[runs[name, "near"]][0],
                     f"{name}: local rank 0 near the NIC gains on a machine of 2007")
    report.check(all(times[one] == times[other] for one, other in auto.values()),
                 "MPICH's default is the composition that the page names")


def section(sim, report, short=False):
    if short:
        short_checks(sim, report)
        return
    jobs = {(shape, name, place): job(shape, what, first) for shape in SHAPES
            for place, first in places(shape[0]).items() for name, what in CHOICES.items()}
    times = sim.all(jobs.values())
    report.text(f"""
## {TITLE}

What follows is what MPI libraries do for a broadcast of 64 KB and more unless they are told
otherwise, after their sources, in `test/sim/today.c`:

- **Open MPI 5.0.10: HAN**, with one leader a node: the rank with the root's local rank. Segments
  of 64 KB go between leaders by libnbc (to all at once up to 4 nodes, else along a chain in
  fragments of 8 KB), and each goes within the nodes by tuned while the next one comes: the leader
  sends to all others, or along a binomial tree from 16 ranks on. (The sources for 6.0 have 512
  KB.)
- **MPICH 5.0.1** has one leader a node, local rank 0, in the compositions *alpha* (below 12 KB,
  and on less than 8 ranks) and *beta* (below 512 KB, if the number of ranks is a power of two):
  binomial or scatter and allgather between leaders, then 8 KB at a time through four cells of
  shared memory. For all else, large messages too, it takes *gamma*: scatter and a ring over all
  ranks, without leaders. Alpha for every size is shown as well: `MPIR_CVAR_BCAST_COMPOSITION=1`.

Both are charged alike: a copy through shared memory, a flag, and a message cost the same in both, a
segment costs the latency of its message and no more, and messages within a node are copied once.
Every message waits for its receiver: SMPI's eager ones have no back-pressure, and a ring of them
takes up to 4 times as long. That is hard on HAN, whose fragments of 8 KB most transports send
eagerly: with messages below 64 KB eager, 1 MB on xeon takes it 0.15 ms. MPICH's cells are taken to
be in the memory of local rank 0, which writes them first. infini and cass are the machines of the
papers of 2007 and 2011; xeon, frontier and epyc are of today.
""")
    leaders(times, jobs, report)
