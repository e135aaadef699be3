"""Which algorithm of libnuioa-coll's Bcast for which message: simulates all, writes mpi/coll_built_in.h.

The library knows of a communicator how many nodes it has and how many ranks they have, not which
machine it is on. So of the algorithms that are on no machine slower than the better of Open MPI's
and MPICH's choice, that with the largest mean gain is taken; none: pass.
"""
import math
import os
import re

import library
from machine import HERE
from published import SIZES
from simulate import say

HEADER = os.path.normpath(os.path.join(HERE, "..", "..", "mpi", "coll_built_in.h"))

# Rendezvous-size segments for long messages; short ones in parts, or one piece for each node. Only
# those that also gain where ranks have no core of their own, which no simulation shows: 8 ranks on
# the 4 nodes of test/cluster, that is on 2 CPUs, nuioa-bench-openmpi over TCP, 512 KB and 4 MB:
# scatter+window:65536 +45 and +95 %, chain+window:262144 +56 and +47 %, spine+window:262144 +44 and
# +30 %; but spine+comb:65536 -46 and -56 %: each segment needs a turn of each rank of the chain.
ALGORITHMS = ["scatter+window:65536", "spine+window:262144", "chain+window:262144"]

# Nodes of a row; runs on which machines, of how many nodes and ranks; sizes; algorithms. Larger
# communicators: not simulated, so without a row: pass.
CLASSES = [
    ("2-15", [("cass", 8, 8), ("hagrid", 4, 16), ("xeon", 8, 8), ("frontier", 8, 8),
              ("epyc", 8, 8)], SIZES, ALGORITHMS),
    ("16-32", [("cass", 32, 8), ("hagrid", 16, 16), ("xeon", 32, 8), ("frontier", 32, 8),
               ("epyc", 32, 8)], SIZES, ALGORITHMS[::2]),
]


def best_of(gains):
    """Of {algorithm: [gain on each machine]}."""
    good = {name: values for name, values in gains.items() if min(values) >= library.LEAST}
    return max(good, key=lambda name: math.prod(good[name]), default="pass")


def choose(sim, shapes, sizes, algorithms):
    """[algorithm for each size]"""
    own = [[library.selector(*shape, name, sizes) for name in library.SELECTORS] for shape in shapes]
    mine = {name: [library.bcast(*shape, sizes, name) for shape in shapes] for name in algorithms}
    times = sim.all([job for jobs in (*own, *mine.values()) for job in jobs])
    chosen = []
    for at, size in enumerate(sizes):
        better = [min(times[job][at] for job in jobs) for jobs in own]
        gains = {name: [value / times[job][at] for value, job in zip(better, jobs)]
                 for name, jobs in mine.items()}
        chosen.append(best_of(gains))
        say(f"  {size >> 10} KB: {chosen[-1]}; " + ", ".join(
            f"{name} " + "/".join(f"{gain:.2f}" for gain in values)
            for name, values in gains.items()))
    return chosen


def rows(nodes, sizes, chosen):
    """Largest messages first; one row where neighbours agree."""
    lines = []
    for at in reversed(range(len(sizes))):
        if at == 0 or chosen[at] != chosen[at - 1]:
            lines.append(f"bcast {nodes} 2- {sizes[at]} {chosen[at]}")
    return lines


def write(sim):
    lines = []
    for nodes, shapes, sizes, algorithms in CLASSES:
        say(f"sim: {nodes} nodes")
        lines += rows(nodes, sizes, choose(sim, shapes, sizes, algorithms))
    with open(HEADER, "w", encoding="utf-8") as out:
        out.write("/* Written by test/sim/run --table, from simulations: see test/sim/choice.py. */\n"
                  "#define COLL_BUILT_IN_BCAST \\\n")
        out.write(" \\\n".join(f'    "{line}\\n"' for line in lines) + "\n")


def built_in():
    """[(least nodes, most nodes, from bytes, algorithm)]"""
    with open(HEADER, encoding="utf-8") as file:
        found = re.findall(r'"bcast (\d+)-(\d*) 2- (\d+) (\S+)\\n"', file.read())
    return [(int(low), int(high or 1 << 30), int(least), name) for low, high, least, name in found]


def algorithm_of(nodes, size):
    for low, high, least, name in built_in():
        if low <= nodes <= high and size >= least:
            return name
    return "pass"
