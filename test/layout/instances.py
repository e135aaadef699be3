# SPDX-License-Identifier: BSD-3-Clause
"""What test/layout/bench lays out: who communicates, and the nodes and switches."""
import math
import os
import random


class Instance:
    """Ranks with their traffic, nodes with numbers of tasks, and above them levels of switches:
    levels[k][n] is the switch of node n on level k, the lowest first."""

    def __init__(self, name, ranks, pairs, tasks, levels):
        assert sum(tasks) == ranks
        self.name, self.ranks, self.tasks, self.levels = name, ranks, tasks, levels
        self.pairs = pairs  # {(first, second): bytes}
        self.rows = None

    def neighbours(self):
        if self.rows is None:
            self.rows = [{} for _ in range(self.ranks)]
            for (a, b), w in self.pairs.items():
                self.rows[a][b] = self.rows[b][a] = w
        return self.rows

    def tree(self):
        """A node is (number, tasks), a switch the list of what is below it."""
        below = [(n, t) for n, t in enumerate(self.tasks)]
        inside = [[n] for n in range(len(self.tasks))]
        for level in self.levels:
            switches, members = {}, {}
            for t, nodes in zip(below, inside):
                switches.setdefault(level[nodes[0]], []).append(t)
                members.setdefault(level[nodes[0]], []).extend(nodes)
            below, inside = list(switches.values()), list(members.values())
        return below

    def figures(self, node_of):
        """Bytes off node, bytes off switch, cost."""
        node = switch = cost = 0
        for (a, b), w in self.pairs.items():
            x, y = node_of[a], node_of[b]
            if x != y:
                apart = [level[x] != level[y] for level in self.levels]
                node += w
                switch += w if apart and apart[0] else 0
                cost += w * (1 + sum(apart))
        return node, switch, cost

    def cost(self, node_of):
        return self.figures(node_of)[2]

    def block(self):
        return [n for n, t in enumerate(self.tasks) for _ in range(t)]

    def cyclic(self):
        left, order = list(self.tasks), []
        while any(left):
            for n, t in enumerate(left):
                if t:
                    order.append(n)
                    left[n] -= 1
        return order

    def profile(self):
        lines = [f"pair {a} {b} {w} 1 0" for (a, b), w in sorted(self.pairs.items())]
        return "\n".join(["nuioa-profile 1", f"ranks {self.ranks}"] + lines) + "\n"

    def network(self):
        """As `scontrol show topology` prints it."""
        lines = []
        for k, level in enumerate(self.levels):
            for s in sorted(set(level)):
                nodes = [n for n in range(len(level)) if level[n] == s]
                if k == 0:
                    lines.append(f"SwitchName=s0-{s} Level=0 Nodes=" +
                                 ",".join(f"n{n}" for n in nodes))
                else:
                    under = sorted({self.levels[k - 1][n] for n in nodes})
                    lines.append(f"SwitchName=s{k}-{s} Level={k} Switches=" +
                                 ",".join(f"s{k - 1}-{u}" for u in under))
        k = len(self.levels)
        if not k:
            lines.append("SwitchName=top Nodes=" +
                         ",".join(f"n{n}" for n in range(len(self.tasks))))
        else:
            lines.append(f"SwitchName=top Level={k} Switches=" +
                         ",".join(f"s{k - 1}-{s}" for s in sorted(set(self.levels[-1]))))
        return "\n".join(lines) + "\n"

    def relabelled(self, seed):
        """The same with the ranks' numbers drawn at random."""
        new = list(range(self.ranks))
        random.Random(seed).shuffle(new)
        return Instance(self.name, self.ranks, add_all(
            (new[a], new[b], w) for (a, b), w in self.pairs.items()), self.tasks, self.levels)


def add_all(edges):
    pairs = {}
    for a, b, w in edges:
        if a != b:
            key = min(a, b), max(a, b)
            pairs[key] = pairs.get(key, 0) + w
    return pairs


def shuffled(pairs, ranks, seed):
    new = list(range(ranks))
    random.Random(seed).shuffle(new)
    return add_all((new[a], new[b], w) for (a, b), w in pairs.items())


# --- who communicates ----------------------------------------------------------------------------

def sides(ranks, dimensions):
    """Whole sides of a box with so many ranks, as like each other as may be."""
    box = []
    for d in range(dimensions, 0, -1):
        side = max(s for s in range(1, round(ranks ** (1 / d)) + 1) if ranks % s == 0)
        box.append(side)
        ranks //= side
    return box


def stencil(ranks, dimensions, reach):
    """A box without wrap-around. reach 0: the faces; else all within `reach` in each direction."""
    box = sides(ranks, dimensions)
    steps = [[]]
    for _ in box:
        steps = [s + [d] for s in steps for d in range(-max(reach, 1), max(reach, 1) + 1)]
    steps = [s for s in steps if s > [0] * len(box) and
             (reach or sum(map(abs, s)) == 1)]

    def edges():
        for i in range(ranks):
            at, rest = [], i
            for side in reversed(box):
                at.insert(0, rest % side)
                rest //= side
            for step in steps:
                to = [a + s for a, s in zip(at, step)]
                if all(0 <= t < side for t, side in zip(to, box)):
                    j = 0
                    for t, side in zip(to, box):
                        j = j * side + t
                    near = sum(map(abs, step))
                    yield i, j, {1: 1000, 2: 100}.get(near, 10) if reach == 1 else 1000
    return add_all(edges())


def geometric(ranks, degree, seed):
    """Points in a square; who is near communicates."""
    r = random.Random(seed)
    points = [(r.random(), r.random()) for _ in range(ranks)]
    radius = math.sqrt(degree / (ranks * math.pi))
    cells = {}
    for i, (x, y) in enumerate(points):
        cells.setdefault((int(x / radius), int(y / radius)), []).append(i)

    def edges():
        for i, (x, y) in enumerate(points):
            for cx in (-1, 0, 1):
                for cy in (-1, 0, 1):
                    for j in cells.get((int(x / radius) + cx, int(y / radius) + cy), ()):
                        if i < j and math.dist(points[i], points[j]) < radius:
                            yield i, j, r.randint(1, 1000)
    return add_all(edges())


def power_law(ranks, degree, seed):
    """Preferential attachment (Barabasi, Albert 1999)."""
    r = random.Random(seed)
    each = degree // 2
    ends, edges = list(range(each)), []
    for i in range(each, ranks):
        targets = {r.choice(ends) for _ in range(each)}
        for t in sorted(targets):
            edges.append((i, t, r.randint(1, 1000)))
        ends += sorted(targets) + [i] * each
    return shuffled(add_all(edges), ranks, seed)


def read_profile(path):
    """The `pair` lines of a profile, both directions together."""
    ranks, edges = 0, []
    with open(path) as lines:
        for line in lines:
            words = line.split()
            if words and words[0] == "ranks":
                ranks = int(words[1])
            if words and words[0] == "pair":
                edges.append((int(words[1]), int(words[2]), int(words[3])))
    return ranks, add_all(edges)


# --- nodes and switches --------------------------------------------------------------------------

def machine(ranks, node_count, per_switch, even, levels, seed):
    """Numbers of tasks on the nodes, and the switches: `per_switch` of what is below to each."""
    tasks = [ranks // node_count + (n < ranks % node_count) for n in range(node_count)]
    r = random.Random(seed)
    for _ in range(0 if even else 2 * node_count):
        a, b = r.randrange(node_count), r.randrange(node_count)
        if a != b and tasks[a] > ranks // node_count // 2:
            tasks[a] -= 1
            tasks[b] += 1
    above, group = [], list(range(node_count))
    for _ in range(levels):
        group = [g // per_switch for g in group]
        above.append(group)
    return tasks, above


def recorded(directory):
    """Profiles of real programs, on even and uneven nodes."""
    names = sorted(os.listdir(directory)) if directory and os.path.isdir(directory) else []
    for name in names:
        if not name.endswith(".prof"):
            continue
        ranks, pairs = read_profile(os.path.join(directory, name))
        if ranks < 64:
            continue
        for even, node_count, levels in ((True, 4, 0), (False, 8, 1), (True, 16, 1)):
            tasks, above = machine(ranks, node_count, node_count // 2, even, levels, 1)
            kind = f"{node_count} {'even' if even else 'uneven'}"
            yield Instance(f"{name[:-5]}, {kind}", ranks, pairs, tasks, above)


def made_up():
    """80 instances of 64 to 1,024 ranks."""
    seed = 0
    for ranks in (64, 128, 256, 512, 1024):
        flat, box = stencil(ranks, 2, 0), stencil(ranks, 3, 1)
        kinds = {
            "5-point": flat, "5-point shuffled": shuffled(flat, ranks, 1),
            "27-point": box, "27-point shuffled": shuffled(box, ranks, 2),
            "geometric 10": geometric(ranks, 10, 3), "geometric 50": geometric(ranks, 50, 4),
            "power law 8": power_law(ranks, 8, 5), "power law 40": power_law(ranks, 40, 6)}
        node_count = ranks // 8 if ranks <= 128 else ranks // 16
        for name, pairs in kinds.items():
            for even in (True, False):
                seed += 1
                per = 8 if ranks == 1024 and even else 4
                tasks, above = machine(ranks, node_count, per, even, 2 if not even and
                                       ranks >= 512 else 1, seed)
                yield Instance(f"{name}, {'even' if even else 'uneven'}", ranks, pairs, tasks,
                               above)


def large():
    """10,000 ranks on 157 nodes below 10 switches."""
    ranks, tasks = 10000, [64] * 156 + [16]
    above = [[n // 16 for n in range(157)]]
    for name, pairs in (("49-point shuffled", shuffled(stencil(ranks, 2, 3), ranks, 1)),
                        ("geometric 50", geometric(ranks, 50, 2)),
                        ("power law 50", power_law(ranks, 50, 3)),
                        ("5-point shuffled", shuffled(stencil(ranks, 2, 0), ranks, 4))):
        yield Instance(name, ranks, pairs, tasks, above)
