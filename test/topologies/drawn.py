#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws machines of at most 8 cores and requests on them; drawn.c judges the plans.

    drawn.py [--requests N] [--seed S] [--list N] [--tap] [--keep DIR] BUILD [FORMER]

BUILD is a build tree of nuioa, FORMER another one. Prints a table by what a machine or a request
has, and the first N plans that are not right, as they can be typed:

  better     nearer a NIC, or a GPU, or a lower J, than with Slurm's masks
  former     the former build's plan is better, by this one's levels, and right but for its sentence
  lost       that, and this build's plan is not better
  could not  nobody moved, and a search through all places finds a better one
  wrong      the plan breaks a promise of doc/design.md

The exit status is 0 only if all that is lost, wrong, or could have moved is of a known kind and no
more than is known."""
import argparse
import collections
import importlib
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
from hwlocxml import cores, document, gpu, group, l3, numa, package  # noqa: E402
machines = importlib.import_module("make-topologies")

EACH = 40  # requests on a machine
SHAPES = ("all", "SMT", "no SMT", "caches", "memory", "GPUs", "odd", "spans", "uneven", "NICs",
          "hints", "bound", "divided", "alone")
HEADS = ("requests", "better", "former", "lost", "kept", "could not", "wrong")
# Of the 10,000 that many are known to be left; who mends one writes the lower number.
KNOWN = {"another rank is farther, which need not be": 1}  # free cores for a part of the blocks
Row = collections.namedtuple("Row", "moved better other wrong could reason masks")


class Machine:
    """Two sockets mostly, each of one or two NUMA nodes, of equally many cores or not."""

    def __init__(self, draw):
        sockets = draw.choice((1, 2, 2, 2, 3, 4))
        clusters = draw.choice((1, 1, 2)) if sockets < 3 else 1
        parts = sockets * clusters
        total = draw.choice((6, 8, 8))
        cuts = sorted(draw.sample(range(1, total), parts - 1))
        counts = [max(1, total // parts)] * parts if draw.random() < 0.6 else \
            [b - a for a, b in zip([0] + cuts, cuts + [total])]
        self.total, self.threads = sum(counts), draw.choice((1, 2))
        self.memory = draw.choice((0, 0, 0, 1, 2))  # NUMA nodes without CPUs
        self.caches = draw.random() < 0.2           # several in a NUMA node
        self.gpus = draw.choice((0, 0, 1, 2, 3, 4))
        self.nics = draw.choice((1, 1, 1, 2, 2, 3))
        self.uneven = len(set(counts)) > 1
        devices = [[] for _ in counts]
        for i in range(self.nics):
            draw.choice(devices).append(machines.mlx5(0x10 + 8 * i, i, f"ib{i}"))
        together = draw.choice((None, draw.choice(devices)))
        for i in range(self.gpus):
            bus = 0x80 + 8 * i
            (together if together is not None else devices[i % parts]).append(
                machines.slot(bus, gpu(f"0000:{bus + 1:02x}:00.0", f"cuda{i}")))
        self.sockets, self.numas, nodes, first = [], [], [], 0
        for n, count in enumerate(counts):
            mine = cores(first, count, self.threads, self.total, first)
            if self.caches:
                cut = draw.randrange(count)
                mine = [l3(2 * n + k, half) for k, half in enumerate((mine[:cut], mine[cut:]))
                        if half]
            nodes.append([numa(n)] + mine + devices[n])
            if n % clusters == 0:
                self.sockets.append([])
            self.numas.append(range(first, first + count))
            self.sockets[-1] += self.numas[-1]
            first += count
        kids = [package(s, nodes[s] if clusters == 1 else [
            group(n, nodes[n]) for n in range(s * clusters, (s + 1) * clusters)])
            for s in range(sockets)]
        local = draw.random() < 0.5  # that memory, to a socket
        for m in range(self.memory):
            node = numa(parts + m)
            node.attrs.update({} if local else {"cpuless": True})
            (kids[m % sockets].kids if local else kids).append(node)
        remote, size = draw.choice(((21,), (21,), (20, 30))), parts + self.memory
        slit = [[10] * size for _ in range(size)]
        for a in range(size):
            for b in range(a):
                slit[a][b] = slit[b][a] = draw.choice((14, 17, 24)) if a >= parts else \
                    12 if a // clusters == b // clusters else draw.choice(remote)
        self.xml = document(kids, slit)

    def cpus(self, chosen, threads=None):
        """The CPUs of these cores as a set of bits."""
        return sum(1 << core + t * self.total for core in chosen
                   for t in range(threads or self.threads))


class Request:
    def __init__(self, draw, m):
        everything = range(m.total)
        kind, wanted, each = draw.randrange(10), draw.randint(1, 7), draw.choice((1, 1, 2))
        if kind < 3:    # Slurm's block:cyclic: by turns a socket's next cores
            self.masks = self.take(m, wanted, each, [list(s) for s in m.sockets])
        elif kind < 5:  # block:block
            self.masks = self.take(m, wanted, each, [list(everything)])
        elif kind == 5:  # whole sockets
            self.masks = [m.cpus(m.sockets[i % len(m.sockets)]) for i in range(wanted)]
        elif kind == 6:  # a hardware thread each
            threads = [core + t * m.total for core in everything for t in range(m.threads)]
            self.masks = [1 << cpu for cpu in threads[:wanted]]
        elif kind == 7:  # some cores are another step's
            everything = sorted(draw.sample(everything, m.total - draw.randint(1, 2)))
            self.masks = self.take(m, wanted, 1, [list(everything)])
        else:
            self.masks = [m.cpus(everything)] * wanted
        used = {core for core in everything for mask in self.masks if mask & m.cpus([core])}
        some = [core for core in everything if draw.random() < 0.5]
        more = draw.choice((everything, everything, some, []))
        self.step = m.cpus(used | set(more))
        ranks = range(len(self.masks))
        self.hinted, last = draw.random() < 0.5, draw.random() < 0.5
        self.gpus = m.gpus > 0 and draw.random() < 0.6
        self.weights = [int(i == ranks[-1]) if last else draw.randrange(5) for i in ranks]
        self.gpu = [i % max(1, m.gpus) for i in ranks]
        self.search = not m.caches
        divided = len(ranks) > 1 and len(set(self.masks)) == 1
        spans = not divided and any(sum(bool(mask & m.cpus(numa)) for numa in m.numas) > 1
                                    for mask in self.masks)
        has = {"all": True, "SMT": m.threads > 1, "no SMT": m.threads == 1, "caches": m.caches,
               "memory": m.memory > 0, "GPUs": self.gpus, "odd": len(ranks) in (3, 5, 7),
               "spans": spans, "uneven": m.uneven, "NICs": m.nics > 1, "hints": self.hinted,
               "divided": divided, "alone": len(ranks) == 1,
               "bound": len(ranks) > 1 and not divided}
        self.shapes = [shape for shape in SHAPES if has[shape]]

    @staticmethod
    def take(m, wanted, each, sockets):
        """Masks of `each` cores from one socket after the other, until these are not enough."""
        masks = []
        while len(masks) < wanted and any(len(socket) >= each for socket in sockets):
            socket = sockets.pop(0)
            sockets.append(socket)
            if len(socket) >= each:
                masks.append(m.cpus([socket.pop(0) for _ in range(each)]))
        return masks or [m.cpus([0])]

    def line(self, file, other):
        """For drawn.c; other: the masks of another plan."""
        ranks = (f"{mask:x} {weight} {gpu} {there}" for mask, weight, gpu, there in zip(
            self.masks, self.weights, self.gpu, other or [f"{mask:x}" for mask in self.masks]))
        return (f"{file} {self.step:x} {self.hinted:d} {self.gpus:d} {self.search:d} "
                f"{len(self.masks)} {' '.join(ranks)}\n")

    def command(self, file):
        def cpus(mask):
            return ",".join(str(cpu) for cpu in range(64) if mask >> cpu & 1)
        masks = "\\n".join(map(cpus, self.masks))
        text = f"nuioa plan --topology {file} --allowed {cpus(self.step)} --binding <(echo -e " \
               f"'{masks}')"
        if self.hinted:
            text += " --hints " + ",".join(f"{i}:{w}" for i, w in enumerate(self.weights))
        return text + (f" --gpus '{';'.join(map(str, self.gpu))}'" if self.gpus else "")


def judge(build, folder, requests, former):
    """A Row for each of `requests`, pairs of a file and a request; former: rows, or none."""
    with open(f"{build}/Makefile", encoding="utf-8") as file:
        tree = re.search(r"^abs_top_srcdir = (.*)", file.read(), re.M)[1]
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "hwloc", "jansson"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
    subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror",
                    f"-I{tree}/lib", "-o", f"{folder}/drawn", f"{HERE}/drawn.c",
                    f"{build}/lib/.libs/libnuioa-core.a", *flags, "-lnuma", "-lm"], check=True)
    out = subprocess.run([f"{folder}/drawn"], check=True, stdout=subprocess.PIPE, text=True,
                         input="".join(request.line(file, former and former[i].masks)
                                       for i, (file, request) in enumerate(requests))).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    return [Row(*(cell == "1" for cell in row[:3]), *row[3:6], row[6].split()) for row in rows]


def tell(requests, rows, former, most, mark):
    """Prints the table, and of each kind of fault the first ones. Returns the number of each kind,
    and for each shape the number of requests, and of faults that are not of a known kind."""
    table = {shape: collections.Counter() for shape in SHAPES}
    kinds = collections.defaultdict(list)
    for i, ((file, request), row) in enumerate(zip(requests, rows)):
        was_better = former and row.other and (
            not former[i].wrong or former[i].wrong.endswith("it says"))
        # With GPUs and hints nobody moves where the place that is best for GPUs costs more.
        lost = "lost" if was_better and not row.better and (
            row.could or not (request.gpus and request.hinted)) else ""
        values = ("all", row.better, was_better, lost, not row.moved, row.could, row.wrong)
        for shape in request.shapes:
            table[shape].update(head for head, value in zip(HEADS, values) if value)
            table[shape]["new"] += any(what and what.partition(":")[0] not in KNOWN
                                       for what in (row.wrong, row.could, lost))
        for what in filter(None, (row.wrong, row.could, lost)):
            kinds[what.partition(":")[0]].append((", ".join(request.shapes), f"  {what}",
                                                  f"  {row.reason}", f"  {request.command(file)}"))
    print(f"{mark}{'':8}" + "".join(f"{head:>10}" for head in HEADS))
    for shape, numbers in table.items():
        print(f"{mark}{shape:8}" + "".join(f"{numbers[head]:10}" for head in HEADS))
    for kind, found in kinds.items():
        print(f"{mark}\n{mark}{len(found)} {kind}")
        for line in sum(found[:most], ()):
            print(f"{mark}  {line}")
    return {kind: len(found) for kind, found in kinds.items()}, table


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("requests", 10000), ("seed", 1), ("list", 3)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--tap", action="store_true")
    parser.add_argument("--keep", help="the machines stay in this directory")
    parser.add_argument("build")
    parser.add_argument("former", nargs="?")
    options = parser.parse_args()
    requests = []
    with tempfile.TemporaryDirectory() as spare:
        folder = options.keep or spare
        os.makedirs(folder, exist_ok=True)
        for i in range(-(-options.requests // EACH)):
            draw = random.Random(options.seed * 1000000 + i)
            machine, file = Machine(draw), f"{folder}/m{i}.xml"
            with open(file, "w", encoding="ascii") as out:
                out.write(machine.xml)
            requests += [(file, Request(draw, machine)) for _ in range(EACH)]
        former = options.former and judge(options.former, folder, requests, None)
        rows = judge(options.build, folder, requests, former)
    kinds, table = tell(requests, rows, former, options.list, "# " * options.tap)
    results = [(not table[shape]["new"], f"{table[shape]['requests']} requests, {shape}: "
                f"{table[shape]['new']} have a fault that is not known") for shape in SHAPES]
    results += [(kinds.get(kind, 0) <= number, f"{kinds.get(kind, 0)} {kind}: {number} are known")
                for kind, number in KNOWN.items()]
    for i, (good, text) in enumerate(results if options.tap else (), 1):
        print(f"{'' if good else 'not '}ok {i} - {text}")
    print(f"1..{len(results)}" if options.tap else "")
    return 0 if all(good for good, _ in results) else 1


sys.exit(main())
