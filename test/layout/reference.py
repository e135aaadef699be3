# SPDX-License-Identifier: BSD-3-Clause
"""A layout by METIS and Scotch, to compare with: ranks to the switches of each level from the top
down, then the ranks of each switch to its nodes. Each partition is made with some slack, and then
repaired to exact capacities by single moves. Of five seeds for each of three programs (gpmetis
recursive and k-way, scotch_gmap) the cheapest layout counts. Debian: metis, scotch."""
import heapq
import math
import os
import random
import subprocess
import sys
import tempfile

SEEDS = 5
SLACK = 5  # percent, for k-way METIS and Scotch: the repair takes it back


def call(*words):
    """Runs a partitioner, which need not take long."""
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=300)


def subgraph(members, neighbours):
    """The ranks `members` and what they exchange: [{other: bytes}] by their place in the list."""
    place = {v: k for k, v in enumerate(members)}
    return [{place[u]: b for u, b in neighbours[v].items() if u in place} for v in members]


def whole_bytes(graph):
    """Both programs take whole numbers of 32 bits; the heaviest pair gets 100,000 or less."""
    most = max((b for row in graph for b in row.values()), default=1)
    total = sum(b for row in graph for b in row.values()) or 1
    scale = min(100000 / most, 1e9 / total)
    return [{u: max(1, round(b * scale)) for u, b in row.items()} for row in graph]


def metis(graph, capacities, seed, directory, kind):
    edges = sum(len(row) for row in graph) // 2
    with open(f"{directory}/graph", "w") as out:
        print(len(graph), edges, "001", file=out)
        for row in graph:
            print(*(f"{u + 1} {b}" for u, b in row.items()), file=out)
    with open(f"{directory}/weights", "w") as out:
        for k, capacity in enumerate(capacities):
            print(f"{k} = {capacity / sum(capacities):.9f}", file=out)
    slack = ["-ufactor=5"] if kind == "rb" else [f"-ufactor={10 * SLACK}"]
    call("gpmetis", f"-ptype={kind}", f"-seed={seed}", f"-tpwgts={directory}/weights", *slack,
         f"{directory}/graph", str(len(capacities)))
    with open(f"{directory}/graph.part.{len(capacities)}") as result:
        return [int(line) for line in result]


def scotch(graph, capacities, seed, directory, _):
    """Scotch's programs have no seed: the vertices get another order instead."""
    order = list(range(len(graph)))
    random.Random(seed).shuffle(order)
    at = {v: k for k, v in enumerate(order)}
    with open(f"{directory}/graph", "w") as out:
        print(f"0\n{len(graph)} {sum(len(row) for row in graph)}\n0 010", file=out)
        for v in order:
            print(len(graph[v]), *(f"{b} {at[u]}" for u, b in graph[v].items()), file=out)
    with open(f"{directory}/target", "w") as out:
        print("cmpltw", len(capacities), *capacities, file=out)
    call("scotch_gmap", f"{directory}/graph", f"{directory}/target", f"{directory}/map",
         f"-b{SLACK / 100}")
    part = [0] * len(graph)
    with open(f"{directory}/map") as result:
        next(result)
        for line in result:
            k, p = line.split()
            part[order[int(k)]] = int(p)
    return part


def repair(graph, part, capacities):
    """Moves single vertices, the cheapest first, from parts with too many to those with too few."""
    free = list(capacities)
    for p in part:
        free[p] -= 1
    to = []
    for row in graph:
        sums = {}
        for u, b in row.items():
            sums[part[u]] = sums.get(part[u], 0) + b
        to.append(sums)

    def cheapest(v):
        """The price of moving v to the best open part, and that part; None if v may stay."""
        if free[part[v]] >= 0:
            return None
        here = to[v].get(part[v], 0)
        anywhere = next(p for p, f in enumerate(free) if f > 0)
        return min([(here - to[v].get(anywhere, 0), v, anywhere)] +
                   [(here - b, v, p) for p, b in to[v].items() if free[p] > 0])

    heap = [c for c in map(cheapest, range(len(graph))) if c]
    heapq.heapify(heap)
    while any(f < 0 for f in free):
        entry = heapq.heappop(heap)
        price, v, p = entry
        now = cheapest(v)
        if now != entry:  # The entry is old.
            if now:
                heapq.heappush(heap, now)
            continue
        old = part[v]
        part[v] = p
        free[old] += 1
        free[p] -= 1
        for u, b in graph[v].items():
            to[u][old] -= b
            to[u][p] = to[u].get(p, 0) + b
            better = cheapest(u)
            if better:
                heapq.heappush(heap, better)
    return part


def divide(members, tree, neighbours, program, seed, node_of):
    """Gives each of `members` a node below `tree`: a node is (number, capacity), a switch a list.
    """
    if isinstance(tree, tuple):
        for v in members:
            node_of[v] = tree[0]
        return
    sizes = [capacity(t) for t in tree]
    part = [0] * len(members)
    if len(tree) > 1:
        graph = whole_bytes(subgraph(members, neighbours))
        function, kind = program
        with tempfile.TemporaryDirectory() as directory:
            part = function(graph, sizes, seed, directory, kind)
        part = repair(graph, part, sizes)
    for k, below in enumerate(tree):
        divide([v for v, p in zip(members, part) if p == k], below, neighbours, program, seed,
               node_of)


def capacity(tree):
    return tree[1] if isinstance(tree, tuple) else sum(capacity(t) for t in tree)


PROGRAMS = {"METIS recursive": (metis, "rb"), "METIS k-way": (metis, "kway"),
            "Scotch": (scotch, None)}


def best(instance, seeds=SEEDS):
    """Returns the cheapest layout, and the name of the program that made it."""
    found = None
    for name, program in PROGRAMS.items():
        for seed in range(1, seeds + 1):
            node_of = [0] * instance.ranks
            divide(list(range(instance.ranks)), instance.tree(), instance.neighbours(), program,
                   seed, node_of)
            cost = instance.cost(node_of)
            if found is None or cost < found[0]:
                found = cost, node_of, name
    return found[1], found[2]


TREEMATCH_RANKS = 2048  # its matrix has a row and a column for each rank


def leaves(tree, arity, depth=0, first=0):
    """The free leaves of a tree where all on one level have as many below them, and their nodes."""
    below = math.prod(arity[depth + 1:])
    if isinstance(tree, tuple):
        return [(first + i, tree[0]) for i in range(tree[1])]
    return [leaf for k, t in enumerate(tree)
            for leaf in leaves(t, arity, depth + 1, first + k * below)]


def arities(tree):
    if isinstance(tree, tuple):
        return [tree[1]]
    return [len(tree), *(max(column) for column in zip(*map(arities, tree)))]


def treematch(program, instance):
    """Returns the layout by TreeMatch (treematch.c), or None for too many ranks."""
    if instance.ranks > TREEMATCH_RANKS:
        return None
    tree = instance.tree()
    arity = arities(tree)
    free = dict(leaves(tree, arity))
    numbers = [len(arity), *arity, len(free), *free, instance.ranks, len(instance.pairs)]
    for (a, b), w in sorted(instance.pairs.items()):
        numbers += [a, b, w]
    answer = subprocess.run([program], input=" ".join(map(str, numbers)), check=True, timeout=600,
                            stdout=subprocess.PIPE, encoding="ascii").stdout
    return [free[int(leaf)] for leaf in answer.split()]


def is_there():
    """Whether both programs are installed; says so if not."""
    path = os.environ.get("PATH", "").split(":")
    for program in ("gpmetis", "scotch_gmap"):
        if not any(os.access(f"{d}/{program}", os.X_OK) for d in path):
            print(f"bench: {program} is missing (Debian: metis, scotch)", file=sys.stderr)
            return False
    return True
