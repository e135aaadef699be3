# SPDX-License-Identifier: BSD-3-Clause
"""Judges launches by what was seen inside of them, and by sysfs alone: nothing here asks nuioa.

A launch is what launches.sh told: lines of inside.c, and whatever else was printed. A row of the
table has three: without nuioa, with it, and with it and its report."""
import re

LOCAL = 10  # what SLIT says of a NUMA node's own memory
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
        self.slit = {}

    def add(self, kind, words):
        if kind == "@node":
            node = int(words[0])
            self.slit[node] = [int(word) for word in words[2:]]
            self.numa_of.update(dict.fromkeys(numbers(words[1]), node))
        elif kind == "@core":
            self.core_of[int(words[0])] = min(numbers(words[1]))
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
    """What --nuioa=report printed about one step on one node."""

    def __init__(self, lines):
        self.moved = int(re.search(r", (\d+) moved", lines[0])[1])
        self.memory = {}
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
                pages={int(page.split(":")[0]) for page in fields["pages"].split(",")},
                step_cpus=numbers(fields["step_cpus"]), alone="alone" in fields))
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
                  if re.match(r"nuioa: .*, \d+ ranks?, \d+ moved", line)]
        return [Report(self.said[i:j]) for i, j in zip(starts, starts[1:] + [len(self.said)])]


def read(lines):
    """(machine, launches by name) of what launches.sh told."""
    machine, launches, launch = Machine(), {}, Launch()
    for line in lines:
        kind, *words = line.split() or [""]
        if kind in ("@node", "@core", "@nic"):
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


# --- rules ----------------------------------------------------------------------------------------

def is_whole(launch, ranks):
    """Why nothing can be said of it, or nothing if it has run as it should."""
    if launch is None or launch.status is None:
        return "the launch did not end"
    if launch.status != 0:
        return f"the launch was lost, status {launch.status}: {' '.join(launch.said)[-200:]}"
    if len(launch.ranks()) != ranks:
        return f"{len(launch.ranks())} ranks of {ranks} said where they are"
    if launch.late or any(t["alone"] for t in launch.threads):
        return "what was to run at the same time did not"
    if any(not {"main", "child"} <= {t["who"] for t in launch.threads
                                     if (t["step"], t["rank"]) == key} for key in launch.ranks()):
        return "threads or children said nothing"
    return ""


def fair_share(machine, masks, cpus):
    """(CPUs, cores) that a rank is due: its own, or its part of those that several share."""
    sharing = sum(other == cpus for other in masks)
    cores = machine.cores(cpus)
    if sharing == 1 or len(cores) < sharing:
        return len(cpus), len(cores)
    return len(cores) // sharing * (len(cpus) // len(cores)), len(cores) // sharing


def never_fewer(machine, before, after):
    old = before.steps()
    for t in after.threads:
        masks = old[t["step"]][0]
        key = [u for u in before.threads if (u["step"], u["rank"]) == (t["step"], t["rank"])]
        same = [u for u in key if u["who"] == t["who"]] or [u for u in key if u["who"] == "main"]
        cpus, cores = fair_share(machine, masks, same[0]["cpus"])
        if len(t["cpus"]) < cpus or len(machine.cores(t["cpus"])) < cores:
            return (f"{t['who']} of rank {t['rank']} has {len(t['cpus'])} CPUs (cores:"
                    f" {len(machine.cores(t['cpus']))}), and should have {cpus} (cores: {cores})")
    for step, (masks, _) in after.steps().items():
        if len(set().union(*masks)) < len(set().union(*old[step][0])):
            return "CPUs that ranks had are left idle"
    return ""


def cores_of_several(machine, launch):
    seen, twice = set(), set()
    for cpus in launch.ranks().values():
        twice |= seen & machine.cores(cpus)
        seen |= machine.cores(cpus)
    return len(twice)


def no_core_twice(machine, before, after):
    old, new = cores_of_several(machine, before), cores_of_several(machine, after)
    return f"{new} cores have several ranks, without nuioa {old}" if new > old else ""


def most_ranks(machine, launch):
    count = {}
    for cpus in launch.ranks().values():
        for numa in machine.numas(cpus):
            count[numa] = count.get(numa, 0) + 1
    return max(count.values())


def not_more_on_a_node(machine, before, after):
    old, new = most_ranks(machine, before), most_ranks(machine, after)
    return f"{new} ranks are on one NUMA node, without nuioa {old}" if new > old else ""


def inside_step(_, before, after):
    """No rank may have CPUs that its step does not have."""
    for t in after.threads:
        if t["step_cpus"] and not t["cpus"] <= t["step_cpus"]:
            return f"rank {t['rank']} has CPUs that its step does not have"
    return ""


def is_one_thread(line):
    """Whether the user has said that memory may be beside the NIC, or that there is one thread."""
    return "mem=nic" in line or "OMP_NUM_THREADS=1 " in line


def first_touch_stays(machine, row, before, after):
    """A rank that spans NUMA nodes may have threads on each: its pages stay where they touch."""
    for t in after.threads:
        was = {u["policy"] for u in before.threads
               if (u["step"], u["rank"]) == (t["step"], t["rank"])}
        if (len(machine.numas(t["cpus"])) > 1 and t["policy"] not in was
                and not is_one_thread(row["line"])):
            return (f"{t['who']} of rank {t['rank']} spans NUMA nodes, and its memory is"
                    f" {t['policy']}, which nobody asked for")
    return ""


def memory_at(machine, said, thread):
    """Whether pages of the thread are where a report says; None if it does not say."""
    kind, _, where = said.partition(":")
    if kind == "default":
        return thread["pages"] <= machine.numas(thread["cpus"])
    if kind in ("preferred", "interleave") and where:
        return thread["pages"] <= numbers(where)
    return None


def memory_as_said(machine, launch):
    reports = launch.reports()
    if len(reports) != len(launch.steps()):
        return f"{len(reports)} reports came of {len(launch.steps())} steps"
    for t in launch.threads:  # of several reports nothing says which is whose
        said = [report.memory[t["rank"]] for report in reports if t["rank"] in report.memory]
        found = [memory_at(machine, text, t) for text in said]
        if None in found or not found:
            return f"the report does not say where the memory of rank {t['rank']} is"
        if not any(found):
            return (f"the report says memory {said[0]} of rank {t['rank']}, and pages of its"
                    f" {t['who']} are on {spell(t['pages'])}")
    return ""


def report_is_so(_, before, after, report):
    """The sentence must be about what happened."""
    if report.ranks() != after.ranks():
        return "with the report other CPUs were chosen than without it"
    if not all(r.sentence for r in report.reports()):
        return "the report says no sentence"
    moved = sum(r.moved for r in report.reports())
    seen = sum(cpus != before.ranks()[key] for key, cpus in report.ranks().items())
    return f"the report says {moved} moved, and {seen} did" if bool(moved) != bool(seen) else ""


# --- what could have been done --------------------------------------------------------------------

def is_bound(machine, masks):
    """Slurm gave each rank CPUs of its own, of one NUMA node."""
    apart = sum(len(cpus) for cpus in masks) == len(set().union(*masks))
    return apart and all(len(machine.numas(cpus)) == 1 for cpus in masks)


def blocks(machine, masks):
    """The masks of each NUMA node."""
    found = {}
    for cpus in masks:
        found.setdefault(min(machine.numas(cpus)), []).append(cpus)
    return found


def shape(machine, masks):
    """What one block must have in common with another one to change places with it."""
    return sorted((len(cpus), len(machine.cores(cpus))) for cpus in masks)


def free_place(machine, masks, allowed, moving, here):
    """A NUMA node nearer to a NIC without ranks, whose free cores can have those masks."""
    used = set().union(*masks)
    threads = max(len(cpus) // len(machine.cores(cpus)) for cpus in moving)
    for numa in machine.slit:
        free = machine.of_numa(numa) & allowed
        whole = [core for core in machine.cores(free)
                 if sum(machine.core_of[cpu] == core for cpu in free) >= threads]
        if (machine.is_nearer(numa, here) and not machine.of_numa(numa) & used
                and len(whole) >= len(machine.cores(set().union(*moving)))):
            return f"NUMA node {numa} is nearer, and its free CPUs of the step are enough"
    return ""


def other_place(machine, masks, moving, here):
    """A NUMA node nearer to a NIC with ranks that could change places with these."""
    for numa, there in blocks(machine, masks).items():
        if machine.is_nearer(numa, here) and (
                shape(machine, there) == shape(machine, moving) or
                len(moving) == 1 and any(shape(machine, [cpus]) == shape(machine, moving)
                                         for cpus in there)):
            return f"ranks of NUMA node {numa}, which is nearer, have equal masks"
    return ""


def could_have(machine, row, masks, allowed, key):
    """What could have brought the rank that counts nearer, without harm; nothing if that is not
    certain. masks: of all ranks, where none has come nearer; allowed: all CPUs of the step."""
    if "--overlap" in row["line"]:
        return ""
    if is_bound(machine, masks):
        here = min(machine.numas(masks[key]))
        moving = [masks[key]] if row["hinted"] else blocks(machine, masks)[here]
        text = other_place(machine, masks, moving, here)
        if not text and not row["site"]:
            text = free_place(machine, masks, allowed, moving, here)
        return text
    alike = all(cpus == masks[0] for cpus in masks)
    cores = machine.cores(masks[0])
    if (len(masks) > 1 and alike and len(cores) >= len(masks) * row["cpus_per_task"]
            and not row["site"] and len(machine.numas(masks[0])) > 1):
        return "ranks share CPUs of several NUMA nodes, and do not divide them"
    return ""


def gives_way(machine, row, step, before, sentence):
    """Whether the heavy rank leaves its NIC to that of another step, and the report says that."""
    heavy = {name: machine.nearest_nic(masks[-1]) for name, (masks, _) in before.steps().items()}
    mine = heavy.pop(step)
    return (row["hinted"] and len(machine.nics) > 1 and "share the NICs" in sentence
            and mine in heavy.values())


def is_taken(machine, row, step, after, sentence):
    """Whether each NIC that other ranks of the step are nearer to is that of another step's heavy
    rank, another one is idle, and the report says that."""
    masks = after.steps()[step][0]
    heavy = {machine.nearest_nic(others[-1])
             for name, (others, _) in after.steps().items() if name != step}
    nearer = {machine.nearest_nic(cpus) for cpus in masks
              if machine.distance(cpus) < machine.distance(masks[-1])}
    return (row["hinted"] and "the load of other steps" in sentence and nearer
            and nearer <= heavy < set(machine.nics))


def is_memory_beside(machine, step, rank, before, after):
    """Whether memory of that rank is beside a NIC by a policy that it had not without nuioa."""
    mine = [[t for t in launch.threads if (t["step"], t["rank"]) == (step, rank)]
            for launch in (before, after)]
    return all(t["policy"] != mine[0][0]["policy"]
               and all(machine.from_nic(numa) == LOCAL for numa in t["pages"]) for t in mine[1])


def judge_step(machine, row, step, before, after, sentence):
    """(verdict, fault) of one step, by its rank that counts: the heaviest, or else the lowest."""
    masks, allowed = before.steps()[step]
    key = len(masks) - 1 if row["hinted"] else 0
    old, new = machine.distance(masks[key]), machine.distance(after.steps()[step][0][key])
    if new < old:
        return "nearer", ""
    if new > old and gives_way(machine, row, step, before, sentence):
        return "another NIC", ""
    if new > old:
        return "farther", f"rank {key} is farther from the NIC than without nuioa"
    if new == LOCAL:
        return "as near as can be", ""
    if is_one_thread(row["line"]) and is_memory_beside(machine, step, key, before, after):
        return "nearer", ""
    if is_taken(machine, row, step, after, sentence):
        return "another NIC", ""
    missed = could_have(machine, row, after.steps()[step][0], allowed, key)
    # Without hints neighbours count, and how much is a matter of a rule, which the sentence names.
    apart = "neighbours apart" in sentence and not row["hinted"] and len(
        blocks(machine, masks)) > 1
    return "could not", f"it could have: {missed}" if missed and not apart else ""


# --- a row ----------------------------------------------------------------------------------------

def spell(values):
    """A set of numbers as "0-2,5"."""
    out, values = [], sorted(values)
    while values:
        last = values[0]
        while last + 1 in values:
            last += 1
        out.append(f"{values[0]}-{last}" if last > values[0] else str(last))
        values = [value for value in values if value > last]
    return ",".join(out)


def repeat(words):
    """The same word several times in a row is said once, with a number."""
    out = []
    for word in words:
        if out and out[-1][0] == word:
            out[-1][1] += 1
        else:
            out.append([word, 1])
    return " ".join(word if count == 1 else f"{word} (x{count})" for word, count in out)


def describe(machine, launch):
    """The NUMA nodes of the ranks of each step, and how many CPUs they have."""
    if launch is None or not launch.threads:
        return "-"
    steps = []
    for step, (masks, _) in launch.steps().items():
        least = [min(len(t["cpus"]) for t in launch.threads
                     if (t["step"], t["rank"]) == (step, rank)) for rank in range(len(masks))]
        sizes = [str(len(cpus)) if few == len(cpus) else f"{len(cpus)} (a thread or child {few})"
                 for cpus, few in zip(masks, least)]
        sizes = sizes[0] if len(set(sizes)) == 1 else repeat(sizes)
        steps.append(f"{repeat([spell(machine.numas(cpus)) for cpus in masks])}; {sizes}")
    return " / ".join(steps)


def judge(machine, row, before, after, report):
    """Of one row: verdict, sentence, before, after, and fault, which is empty for a good one."""
    out = dict(before=describe(machine, before), after=describe(machine, after), sentence="",
               verdict="broken")
    for what, launch in (("without nuioa", before), ("with it", after), ("the report", report)):
        wrong = is_whole(launch, row["ranks"])
        if wrong:
            return dict(out, fault=f"{what}: {wrong}")
    out["sentence"] = " / ".join(dict.fromkeys(r.sentence for r in report.reports()))
    verdicts = [judge_step(machine, row, step, before, after, out["sentence"])
                for step in before.steps()]
    order = ["farther", "could not", "another NIC", "nearer", "as near as can be"]
    out["verdict"] = min((verdict for verdict, _ in verdicts), key=order.index)
    faults = [rule(machine, before, after) for rule in (
        never_fewer, no_core_twice, not_more_on_a_node, inside_step)]
    faults += [first_touch_stays(machine, row, before, after), memory_as_said(machine, report),
               report_is_so(machine, before, after, report)]
    faults += [fault for _, fault in verdicts]
    return dict(out, fault="; ".join(filter(None, faults)))
