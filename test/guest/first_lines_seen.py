# SPDX-License-Identifier: BSD-3-Clause
"""Reads what launches.sh told: the machine, and of each launch its threads and reports."""
import re

LOCAL = 10  # what SLIT says of a NUMA node's own memory
OF_ONE = r"local rank (\d+) of .*: CPUs \S+ kept, .*memory (\S+), NIC \S+, level \d+: (.*)"
AFTER_SENTENCE = r"cost |warning: |nuioa: |srun: |salloc: |\s*$"
WIDTH = 100  # of the lines of a report
CLEARLY = 0.95  # a distance is clearly less than another one below this part of it


def numbers(text):
    """The set of "0-2,5"."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


class Machine:
    """NUMA nodes, cores and NICs, as sysfs has them."""

    def __init__(self):
        self.numa_of = {}
        self.core_of = {}
        self.nics = []
        self.gpus = set()
        self.slit = {}

    def add(self, kind, words):
        if kind == "@node":
            node = int(words[0])
            self.slit[node] = [int(word) for word in words[2:]]
            self.numa_of.update(dict.fromkeys(numbers(words[1].strip("-")), node))
        elif kind == "@core":
            self.core_of[int(words[0])] = min(numbers(words[1]))
        elif kind == "@gpu":
            self.gpus.add(int(words[0]))
        elif kind == "@nic" and int(words[1]) >= 0 and words[2] in ("up", "unknown"):
            self.nics.append(int(words[1]))

    def numas(self, cpus):
        return {self.numa_of[cpu] for cpu in cpus}

    def cores(self, cpus):
        return {self.core_of[cpu] for cpu in cpus}

    def of_numa(self, numa):
        return {cpu for cpu, node in self.numa_of.items() if node == numa}

    def from_nic(self, numa):
        """From the nearest NIC to memory there: what is received goes that way."""
        return min(self.slit[nic][numa] for nic in self.nics)

    def to_nic(self, numa):
        return min(self.slit[numa][nic] for nic in self.nics)

    def mean(self, nic, cpus):
        return sum(self.slit[nic][self.numa_of[cpu]] for cpu in cpus) / len(cpus)

    def nearest_nic(self, cpus):
        """A rank uses one NIC: that from which the mean over its CPUs is the least."""
        return min(self.nics, key=lambda nic: self.mean(nic, cpus))

    def distance(self, cpus):
        return self.mean(self.nearest_nic(cpus), cpus)

    def is_nearer(self, numa, other):
        """Clearly, in both directions: what nobody may call a matter of taste."""
        return (self.from_nic(numa) < CLEARLY * self.from_nic(other)
                and self.to_nic(numa) <= self.to_nic(other))


def joined(lines):
    """The sentences: a line goes on with the one before if its first word had no room there."""
    found, last = [], ""
    for line in lines:
        if len(last) + 1 + len(line.split()[0]) > WIDTH:
            found[-1] += " " + line
        else:
            found.append(line)
        last = line
    return found


class Report:
    """What --nuioa=report printed about one step on one node. Where a launcher has bound the ranks,
    nuioa exec prints one line about one of them."""

    def __init__(self, lines):
        self.memory = {}
        self.of_one = re.search(OF_ONE, lines[0])
        if self.of_one:
            rank, memory, self.sentence = self.of_one.groups()
            self.moved, self.memory[int(rank)], self.warnings = 0, memory, []
            return
        self.moved = int(re.search(r", (\d+) moved", lines[0])[1])
        rest = lines[1:]
        while rest and rest[0].startswith("  "):
            self.add_row(rest.pop(0))
        sentence = []
        while rest and not re.match(AFTER_SENTENCE, rest[0]):
            sentence.append(rest.pop(0).strip())
        self.sentence = "; ".join(joined(sentence))
        self.warnings = [line for line in rest if line.startswith("warning: ")]

    def add_row(self, line):
        words = line.split()
        if words[:2] == ["node", "rank"]:
            self.start, self.end = line.index("memory"), line.index(" NIC")
        elif hasattr(self, "start") and re.fullmatch(r"[\d,-]+", words[1]):
            for rank in numbers(words[1]):
                self.memory[rank] = line[self.start:self.end].strip()


class Launch:
    """What one launch said: of each thread and child a dictionary, and the reports."""

    def __init__(self):
        self.threads = []
        self.said = []
        self.status = None
        self.late = False

    def add(self, line):
        if line.startswith("step="):
            fields = dict(word.split("=", 1) for word in line.split())
            self.threads.append(dict(
                step=fields["step"], rank=int(fields["rank"]), who=fields["who"],
                cpus=numbers(fields["cpus"]), policy=fields["policy"],
                pages={int(numa): int(count) for numa, count in (
                    page.split(":") for page in fields["pages"].split(","))},
                ran=int(fields["ran"]), step_cpus=numbers(fields["step_cpus"]),
                alone="alone" in fields))
        else:
            self.said.append(line)

    def ranks(self):
        """The CPUs of each rank's first thread, by (step, rank)."""
        return {(t["step"], t["rank"]): t["cpus"] for t in sorted(
            self.threads, key=lambda t: (t["step"], t["rank"])) if t["who"] == "main"}

    def steps(self):
        """For each step the CPUs of its ranks, in their order, and the CPUs of its cgroup."""
        found = {}
        for (step, _), cpus in self.ranks().items():
            found.setdefault(step, []).append(cpus)
        allowed = {t["step"]: t["step_cpus"] for t in self.threads}
        return {step: (cpus, allowed[step]) for step, cpus in found.items()}

    def reports(self):
        starts = [i for i, line in enumerate(self.said)
                  if re.match(rf"nuioa: .*(, \d+ ranks?, \d+ moved|{OF_ONE})", line)]
        return [Report(self.said[i:j]) for i, j in zip(starts, starts[1:] + [len(self.said)])]


def read(lines):
    """(machine, launches by name) of what launches.sh told."""
    machine, launches, launch = Machine(), {}, Launch()
    for line in lines:
        kind, *words = line.split() or [""]
        if kind in ("@node", "@core", "@nic", "@gpu"):
            machine.add(kind, words)
        elif kind == "@launch":
            launch = launches[words[0].partition("-")[2]] = Launch()
        elif kind == "@status":
            launch.status = int(words[0])
        elif kind == "@late":
            launch.late = True
        else:
            launch.add(line.rstrip("\n"))
    return machine, launches
