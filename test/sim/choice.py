# SPDX-License-Identifier: BSD-3-Clause
"""Chooses an algorithm of libnuioa-coll's Bcast for each size of message.

It simulates all of them and writes mpi/coll/built_in.h.

The library knows of a communicator how many nodes it has and how many ranks they have, not which
machine it is on, which MPI library it is in, nor where that one's leader runs. Nobody shall become
slower by the default, so a row leads only if that is no loss whatever these are. An algorithm's
gain on a machine is the time of the best of THEIRS over its own, in the worst of these cases: local
rank 0, the root, far from the NIC or near; short messages eager or not. A row needs

    a gain of at least LEAST on every machine of its class, and of more than 1 in the mean,
    at both ends of the sizes that it is for.

Of several algorithms that with the largest mean is taken. Sizes in a row that are led reach at
least to the double of the first: a model cannot tell more finely. Everything else is `pass`.
"""
import dataclasses
import math
import os
import re

import library
from machine import HERE
from page import table
from published import MODES
from simulate import Job, say
from today import PRECISION, places

TITLE = "The built-in table of libnuioa-coll"
HEADER = os.path.normpath(os.path.join(HERE, "..", "..", "mpi", "coll", "built_in.h"))

LEAST = 0.98  # 2 % are what a model of this kind cannot tell

# HAN of Open MPI 5, the default of MPICH 4 and 5, tuned of Open MPI 4, a binomial tree.
THEIRS = {"HAN": ("han:65536", "default"), "MPICH": ("mpich:auto", "default"),
          "tuned": ("bcast", "ompi"), "binomial": ("bcast", "mpich")}

# Above 1 MB MPICH scatters and has a ring over all ranks, without leaders: every core sends.
KB, MB = 1 << 10, 1 << 20
SIZES = tuple(size * KB for size in (64, 96, 128, 192, 256, 384, 512, 768, 1024))

# Those that also gain where nodes share CPUs, which no simulation shows, and the sizes that they
# are for. Measured with nuioa-bench-openmpi over TCP on test/cluster, whose nodes all share 2 CPUs:
# srun -N4 -n8, -N2 -n8 and -N2 -n4, chain+window:8192 at 64, 128, 512 KB: +149 +193 +117, +47 +77
# +22, -19 -17 -37 %; chain+window:16384 at 64 KB, 512 KB, 4 MB: +370 +367 +252, +39 +45 +7, +14 +20
# -11 %; chain+window:262144 at 64 KB, 512 KB, 4 MB: +166 +420 +188, +55 +98 +38, +40 +84 +24 %;
# scatter+window:65536: +308 +129 +71, +58 +149 +71, +74 +111 +73 %. And spine+comb:65536, the best
# of all for long messages where each rank has a core, with -N4 -n8 at 512 KB and 4 MB: -46 and
# -56 %: each segment needs a turn of each rank of the chain. With 2 ranks on each of 4 nodes
# chain+window:16384 loses 12 to 19 % from 512 KB on, scatter+window:65536 5 to 24 % at 128 and
# 256 KB. Ranks of one node that have no CPU each are left alone (coll_map_is_crowded), so more than
# 2 on a node were not measured.
ALGORITHMS = {"chain+window:8192": MB // 4, "chain+window:16384": MB,
              "chain+window:262144": MB, "scatter+window:65536": MB}
SCATTER = {"scatter+window:65536": 256 * KB}
OF_TWO = {**ALGORITHMS, "chain+window:8192": 0}
OF_FEW = {"chain+window:8192": 128 * KB, "chain+window:16384": 512 * KB,
          "chain+window:262144": MB, "scatter+window:65536": 128 * KB}

# Nodes and ranks per node of a row; runs on which machines, of how many nodes and ranks;
# algorithms. More nodes or ranks, most of all more than 64 together: not simulated, because it
# takes too long at this precision, so without a row: pass.
CLASSES = [
    ("2-3", "2", [("xeon", 2, 2), ("epyc", 2, 2), ("frontier", 2, 2), ("epyc", 3, 2),
                  ("frontier", 3, 2), ("cass", 2, 2)], OF_TWO),
    ("2-3", "3-4", [("xeon", 2, 4), ("epyc", 2, 4), ("frontier", 2, 4), ("frontier", 3, 4),
                    ("dalton", 2, 4), ("infini", 2, 4), ("cass", 2, 4), ("hagrid", 2, 4),
                    ("cass", 3, 4)], ALGORITHMS),
    ("2-3", "5-16", [("xeon", 2, 8), ("epyc", 2, 8), ("frontier", 2, 8), ("xeon", 3, 8),
                     ("frontier", 3, 8), ("epyc", 3, 8), ("two-rails", 2, 8), ("cass", 2, 8),
                     ("hagrid", 2, 16), ("cass", 3, 8)], ALGORITHMS),
    ("4-7", "2", [("xeon", 4, 2), ("epyc", 4, 2), ("frontier", 4, 2), ("epyc", 6, 2),
                  ("xeon", 7, 2), ("frontier", 5, 2), ("cass", 4, 2)], OF_FEW),
    ("4-7", "3-4", [("xeon", 4, 4), ("epyc", 4, 4), ("frontier", 4, 4), ("frontier", 7, 4),
                    ("epyc", 6, 4), ("cass", 4, 4), ("hagrid", 4, 4)], OF_FEW),
    ("4-7", "5-16", [("xeon", 4, 8), ("epyc", 4, 8), ("frontier", 4, 8), ("frontier", 7, 8),
                     ("epyc", 7, 8), ("cass", 4, 8), ("hagrid", 4, 16), ("cass", 7, 8)],
     ALGORITHMS),
    ("8-15", "2", [("xeon", 8, 2), ("epyc", 8, 2), ("frontier", 8, 2), ("epyc", 15, 2),
                   ("xeon", 12, 2), ("cass", 8, 2)], OF_FEW),
    ("8-15", "3-4", [("xeon", 8, 4), ("epyc", 8, 4), ("frontier", 8, 4), ("frontier", 15, 4),
                     ("xeon", 12, 4), ("cass", 8, 4)], OF_FEW),
    ("16-32", "2", [("xeon", 16, 2), ("epyc", 16, 2), ("frontier", 16, 2), ("xeon", 24, 2),
                    ("frontier", 32, 2), ("cass", 32, 2)], SCATTER),
]


def cases(shape):
    """[(NUMA node of local rank 0, threshold of eager messages)]"""
    return [(first, eager) for first in sorted(set(places(shape[0]).values()))
            for eager in MODES[:2]]


def their_jobs(shape, sizes):
    """{case: {name: job}}"""
    return {(first, eager): {name: Job(*shape, what, sizes, 1, eager=eager, selector=selector,
                                       precision=PRECISION, first=first)
                             for name, (what, selector) in THEIRS.items()}
            for first, eager in cases(shape)}


def our_jobs(shape, sizes, algorithm):
    """{case: job}"""
    return {(first, eager): dataclasses.replace(
        library.bcast(*shape, sizes, algorithm, eager=eager, first=first), precision=PRECISION)
            for first, eager in cases(shape)}


def gains_on(sim, shape, sizes, algorithms):
    """{(algorithm, size): gain}"""
    theirs = their_jobs(shape, sizes)
    ours = {name: our_jobs(shape, sizes, name) for name in algorithms}
    times = sim.all([job for jobs in theirs.values() for job in jobs.values()] +
                    [job for jobs in ours.values() for job in jobs.values()])
    return {(name, size): min(min(times[job][at] for job in theirs[case].values()) /
                              times[ours[name][case]][at] for case in theirs)
            for name in algorithms for at, size in enumerate(sizes)}


def gains_of(sim, shapes, algorithms):
    """{(algorithm, size): [gain on each machine]} of those that lose on none, and {size: (gain,
    machine)} of that which was dropped last."""
    found = {(name, size): [] for name, most in algorithms.items() for size in SIZES
             if size <= most}
    dropped = {}
    for shape in shapes:
        if not found:
            break
        sizes = tuple(size for size in SIZES if any(size == of for _, of in found))
        gains = gains_on(sim, shape, sizes, dict.fromkeys(name for name, _ in found))
        lost = {key for key in found if gains[key] < LEAST}
        dropped.update({size: (max(gains[key] for key in lost if key[1] == size), shape)
                        for size in sizes if any(key[1] == size for key in lost)})
        found = {key: values + [gains[key]] for key, values in found.items() if key not in lost}
        say(f"  {shape}: " + (", ".join(f"{name} {size >> 10} KB {values[-1]:.2f}"
                                        for (name, size), values in found.items()) or
                              f"the best is {max(gains.values()):.2f}"))
    return {key: values for key, values in found.items() if mean(values) > 1}, dropped


def mean(values):
    return math.prod(values) ** (1 / len(values))


def choose(gains):
    """[algorithm from each size to the next]; from the last size on: pass"""
    means = {key: mean(values) for key, values in gains.items()}
    chosen = []
    for size, end in zip(SIZES, SIZES[1:]):
        good = {name: means[name, size] * means[name, end] for name, of in means
                if of == size and (name, end) in means}
        chosen.append(max(good, key=good.get, default="pass"))
    return without_slivers([*chosen, "pass"])


def without_slivers(chosen):
    """The same, but what is led is at least from a size to its double."""
    chosen, at = list(chosen), 0
    while at < len(chosen):
        end = next(i for i in range(at, len(chosen)) if chosen[i] == "pass")
        if SIZES[end] < 2 * SIZES[at]:
            chosen[at:end] = ["pass"] * (end - at)
        at = end + 1
    return chosen


def rows(nodes, ranks, chosen):
    """Largest messages first; one row where neighbours agree; none if all would say pass."""
    lines = []
    for at in reversed(range(len(SIZES))):
        if any(name != "pass" for name in chosen) and (at == 0 or chosen[at] != chosen[at - 1]):
            lines.append(f"bcast {nodes} {ranks} {SIZES[at]} {chosen[at]}")
    return lines


def chosen_classes(sim):
    """[(nodes, ranks, gains, dropped, [algorithm from each size on])] of CLASSES"""
    found = []
    for nodes, ranks, shapes, algorithms in CLASSES:
        say(f"sim: {nodes} nodes of {ranks} ranks")
        gains, dropped = gains_of(sim, shapes, algorithms)
        found.append((nodes, ranks, gains, dropped, choose(gains)))
    return found


def write(sim):
    lines = [line for nodes, ranks, _, _, chosen in chosen_classes(sim)
             for line in rows(nodes, ranks, chosen)]
    with open(HEADER, "w", encoding="utf-8") as out:
        out.write("/* SPDX-License-Identifier: BSD-3-Clause */\n\n"
                  "/* Written by test/sim/run --table, from simulations: see test/sim/choice.py. "
                  "*/\n"
                  "#define COLL_BUILT_IN_BCAST \\\n")
        out.write(" \\\n".join(f'    "{line}\\n"' for line in lines) + "\n")


def built_in():
    """The rows of the header."""
    with open(HEADER, encoding="utf-8") as file:
        return re.findall(r'"(bcast .*)\\n"', file.read())


def cell(at, gains, dropped, chosen):
    """Of a size: what the table leads gains at its two ends, or why it is passed."""
    name, size = chosen[at], SIZES[at]
    if name != "pass":
        both = [gain for end in SIZES[at:at + 2] for gain in gains[name, end]]
        return f"**{mean(both):.2f}**, least {min(both):.2f}"
    good = [mean(values) for (_, of), values in gains.items() if of == size]
    if good:
        return f"{max(good):.2f}, alone"
    if size not in dropped:
        return "not tried"
    gain, (machine, nodes, per_node) = dropped[size]
    return f"{gain:.2f}, {machine} {nodes} x {per_node}"


def short_check(sim, report):
    _, _, shapes, algorithms = CLASSES[0]
    sizes, names = SIZES[:2], list(algorithms)[:2]
    gains = gains_on(sim, shapes[0], sizes, names)
    report.check(max(gains.values()) > 1, "2 nodes of 2 ranks: the library gains at 64 KB")


def section(sim, report, short=False):
    if short:
        short_check(sim, report)
        return
    classes = chosen_classes(sim)
    lines = [line for nodes, ranks, _, _, chosen in classes for line in rows(nodes, ranks, chosen)]
    report.text(f"""
## {TITLE}

Nobody shall be slower by the default, whichever MPI library it is. So the built-in table
(`mpi/coll/built_in.h`, which `test/sim/run --table` makes of these very runs) leads a message only
where the library is not behind the **best** of what MPI libraries choose for it: HAN of Open MPI 5
and the default of MPICH (4.0 and 5.0 choose the same), both as above; tuned of Open MPI 4 and a
binomial tree over all ranks, which are SMPI's selectors `ompi` and `mpich`. A machine counts by
the worst of these cases: local rank 0, the root, far from the NIC or near; messages below 64 KB
sent eagerly or not. A row has at least {LEAST} of the best on **every** machine, and more than 1
in the mean, at both ends of the sizes that it is for, and what is led reaches at least to the
double of its first size. All else is left to the MPI library. The table is one for all machines,
as the library does not know which it is on.

That leaves little, and nothing where a node has more than 2 ranks: there HAN or MPICH is ahead on
a machine of today at almost any size. Runs of more than 64 ranks take too long, so they are left to
the MPI library too. `nuioa-bench --table` makes a table of what gains on the machine itself.

Time of the best of them over the library's. **Bold**: led from this size to the next; mean and
least of all machines, at both ends. The others are passed. A machine is named: there the last
algorithm loses, and so much of its throughput is left. *Alone*: it gains in the mean of all
machines, but ends a row, or the sizes beside do not reach to the double. `test/sim/choice.py` names
all runs, and the sizes that each algorithm is tried at: no long ones where it loses in real runs if
ranks share cores.
""")
    report.text(table(["nodes", "ranks per node", *(f"{size >> 10} KB" for size in SIZES)],
                      [(nodes, ranks, *(cell(at, gains, dropped, chosen)
                                        for at in range(len(SIZES))))
                       for nodes, ranks, gains, dropped, chosen in classes]))
    report.text("The table:\n")
    report.text("\n".join("    " + line for line in lines))
    report.check(lines == built_in(), "the built-in table is that of these runs")
