# SPDX-License-Identifier: BSD-3-Clause
"""Chooses an algorithm of libnuioa-coll's Bcast for each size of message.

It simulates all of them and writes mpi/coll/built_in.h.

The library knows of a communicator how many nodes it has and how many ranks they have, not which
machine it is on. So of the algorithms that are on no machine slower than the better of SMPI's
selectors (tuned of Open MPI 4, and a binomial tree), that with the largest mean gain is taken;
none: pass. What MPI libraries choose today is in today.py: a table made against that would pass
more.
"""
import math
import os
import re

import library
from machine import HERE
from published import MODES, SIZES
from simulate import say

HEADER = os.path.normpath(os.path.join(HERE, "..", "..", "mpi", "coll", "built_in.h"))

# Those that also gain where nodes share CPUs, which no simulation shows. Measured with
# nuioa-bench-openmpi over TCP on test/cluster, whose nodes all share 2 CPUs: srun -N4 -n8, -N2 -n8
# and -N2 -n4, chain+window:8192 at 64, 128, 512 KB: +149 +193 +117, +47 +77 +22, -19 -17 -37 %;
# chain+window:16384 at 64 KB, 512 KB, 4 MB: +370 +367 +252, +39 +45 +7, +14 +20 -11 %;
# chain+window:262144 at 64 KB, 512 KB, 4 MB: +166 +420 +188, +55 +98 +38, +40 +84 +24 %;
# scatter+window:65536: +308 +129 +71, +58 +149 +71, +74 +111 +73 %. And spine+comb:65536, the best
# of all where each rank has a core, with -N4 -n8 at 512 KB and 4 MB: -46 and -56 %: each segment
# needs a turn of each rank of the chain. With 2 ranks on each of 4 nodes chain+window:16384 loses
# 12 to 19 % from 512 KB on, scatter+window:65536 5 to 24 % at 128 and 256 KB. Ranks of one node
# that have no CPU each are left alone (coll_map_is_crowded), so more than 2 on a node were not
# measured.
MB = 1 << 20
ALGORITHMS = {"chain+window:8192": range(0, MB // 4), "chain+window:16384": range(0, MB),
              "chain+window:262144": range(0, 64 * MB), "scatter+window:65536": range(0, 64 * MB)}
SCATTER = {"scatter+window:65536": range(0, 64 * MB)}
OF_MANY = {**ALGORITHMS, "chain+window:16384": range(0, 64 * MB)}
BETWEEN = (128 << 10, 256 << 10)
OF_FEW = {**ALGORITHMS, "chain+window:8192": (64 << 10,),
          "chain+window:16384": (64 << 10, *BETWEEN),
          "scatter+window:65536": [size for size in SIZES if size not in BETWEEN]}

# Nodes and ranks per node of a row; runs on which machines, of how many nodes and ranks;
# algorithms, with the sizes that they are for. More nodes: not simulated, so without a row: pass.
# More ranks per node: of 32 only spine+comb and scatter+comb gain, from 1 MB on, and they are not
# for ranks that share cores.
CLASSES = [
    ("2-3", "2", [("cass", 2, 2), ("xeon", 2, 2), ("frontier", 2, 2), ("epyc", 2, 2),
                  ("epyc", 3, 2)], ALGORITHMS),
    ("2-3", "3-4", [("dalton", 2, 4), ("infini", 2, 4), ("cass", 2, 4), ("hagrid", 2, 4),
                    ("xeon", 2, 4), ("frontier", 2, 4), ("epyc", 2, 4), ("cass", 3, 4),
                    ("frontier", 3, 4)], ALGORITHMS),
    ("2-3", "5-16", [("two-rails", 2, 8), ("cass", 2, 8), ("hagrid", 2, 16), ("xeon", 2, 8),
                     ("frontier", 2, 8), ("epyc", 2, 8), ("cass", 3, 8), ("xeon", 3, 8),
                     ("frontier", 3, 8), ("epyc", 3, 8)], ALGORITHMS),
    ("4-7", "2-4", [("cass", 4, 4), ("hagrid", 4, 4), ("xeon", 4, 2), ("xeon", 4, 4),
                    ("frontier", 4, 2), ("frontier", 4, 4), ("epyc", 4, 2), ("epyc", 4, 4),
                    ("frontier", 7, 4), ("epyc", 6, 2)], OF_FEW),
    ("4-7", "5-16", [("cass", 4, 8), ("hagrid", 4, 16), ("xeon", 4, 8), ("frontier", 4, 8),
                     ("epyc", 4, 8), ("cass", 7, 8), ("frontier", 7, 8), ("epyc", 7, 8)], OF_MANY),
    ("8-15", "2-4", [("cass", 8, 4), ("xeon", 8, 2), ("frontier", 8, 2), ("frontier", 8, 4),
                     ("epyc", 8, 2), ("epyc", 8, 4), ("frontier", 15, 4), ("epyc", 15, 2)], OF_FEW),
    ("8-15", "5-16", [("cass", 8, 8), ("hagrid", 8, 16), ("xeon", 8, 8), ("frontier", 8, 8),
                      ("epyc", 8, 8), ("cass", 15, 8), ("frontier", 15, 8), ("epyc", 15, 8)],
     OF_MANY),
    ("16-32", "2-4", [("cass", 32, 4), ("xeon", 16, 2), ("frontier", 16, 2), ("frontier", 32, 4),
                      ("epyc", 16, 4)], SCATTER),
    ("16-32", "5-16", [("cass", 32, 8), ("hagrid", 16, 16), ("xeon", 32, 8), ("frontier", 32, 8),
                       ("epyc", 32, 8), ("frontier", 24, 8)], SCATTER),
]


def best_of(gains):
    """The algorithm with the largest mean gain of {algorithm: [gain on each machine]}."""
    good = {name: values for name, values in gains.items() if min(values) >= library.LEAST}
    return max(good, key=lambda name: math.prod(good[name]), default="pass")


def choose(sim, shapes, algorithms):
    """[algorithm for each size]: by the worse of both ways to send what is short"""
    own = [[[library.selector(*shape, name, SIZES, eager=eager) for name in library.SELECTORS]
            for eager in MODES[:2]] for shape in shapes]
    mine = {name: [[library.bcast(*shape, SIZES, name, eager=eager) for eager in MODES[:2]]
                   for shape in shapes] for name in algorithms}
    times = sim.all([job for modes in own for jobs in modes for job in jobs] +
                    [job for shapes in mine.values() for jobs in shapes for job in jobs])
    chosen = []
    for at, size in enumerate(SIZES):
        gains = {name: [min(min(times[other][at] for other in others) / times[job][at]
                            for job, others in zip(jobs, modes))
                        for jobs, modes in zip(mine[name], own)]
                 for name, sizes in algorithms.items() if size in sizes}
        chosen.append(best_of(gains))
        say(f"  {size >> 10} KB: {chosen[-1]}; " + ", ".join(
            f"{name} " + "/".join(f"{gain:.2f}" for gain in values)
            for name, values in gains.items()))
    return chosen


def rows(nodes, ranks, chosen):
    """Largest messages first; one row where neighbours agree."""
    lines = []
    for at in reversed(range(len(SIZES))):
        if at == 0 or chosen[at] != chosen[at - 1]:
            lines.append(f"bcast {nodes} {ranks} {SIZES[at]} {chosen[at]}")
    return lines


def write(sim):
    lines = []
    for nodes, ranks, shapes, algorithms in CLASSES:
        say(f"sim: {nodes} nodes of {ranks} ranks")
        lines += rows(nodes, ranks, choose(sim, shapes, algorithms))
    with open(HEADER, "w", encoding="utf-8") as out:
        out.write("/* Written by test/sim/run --table, from simulations: see test/sim/choice.py. "
                  "*/\n"
                  "#define COLL_BUILT_IN_BCAST \\\n")
        out.write(" \\\n".join(f'    "{line}\\n"' for line in lines) + "\n")


def span(text):
    """The range that a column of a row means: N, N-M or N-."""
    low, dash, high = text.partition("-")
    return range(int(low), int(high or (1 << 30 if dash else low)) + 1)


def built_in():
    """[(nodes, ranks of a node, from bytes, algorithm)]"""
    with open(HEADER, encoding="utf-8") as file:
        found = re.findall(r'"bcast (\S+) (\S+) (\d+) (\S+)\\n"', file.read())
    return [(span(nodes), span(ranks), int(least), name) for nodes, ranks, least, name in found]


def algorithm_of(nodes, per_node, size):
    for in_nodes, in_ranks, least, name in built_in():
        if nodes in in_nodes and per_node in in_ranks and size >= least:
            return name
    return "pass"
