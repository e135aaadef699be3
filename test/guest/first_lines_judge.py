# SPDX-License-Identifier: BSD-3-Clause
"""Judges launches by what was seen inside of them, and by sysfs alone: nothing here asks nuioa.

A launch is what launches.sh told: lines of inside.c, and whatever else was printed. A row of the
table has three: without nuioa, with it, and with it and its report."""
import re

from first_lines_seen import LOCAL, numbers


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
    if sharing <= 1 or len(cores) < sharing:
        return len(cpus), len(cores)
    return len(cores) // sharing * (len(cpus) // len(cores)), len(cores) // sharing


def never_fewer(row, machine, before, after):
    """A rank that nobody bound has those of -c, if that was typed because a report advised it."""
    old = before.steps()
    typed = row["cpus_per_task"] if row.get("situation") == "advised" else 1
    for t in after.threads:
        masks = old[t["step"]][0]
        key = [u for u in before.threads if (u["step"], u["rank"]) == (t["step"], t["rank"])]
        same = [u for u in key if u["who"] == t["who"]] or [u for u in key if u["who"] == "main"]
        cpus, cores = fair_share(machine, masks, same[0]["cpus"])
        if typed > 1:
            cpus, cores = min(cpus, typed), 1
        if len(t["cpus"]) < cpus or len(machine.cores(t["cpus"])) < cores:
            return (f"{t['who']} of rank {t['rank']} has {len(t['cpus'])} CPUs (cores:"
                    f" {len(machine.cores(t['cpus']))}), and should have {cpus} (cores: {cores})")
    for step, (masks, _) in after.steps().items():
        if typed == 1 and len(set().union(*masks)) < len(set().union(*old[step][0])):
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
    if machine.gpus:  # ranks go to theirs
        return ""
    old, new = most_ranks(machine, before), most_ranks(machine, after)
    return f"{new} ranks are on one NUMA node, without nuioa {old}" if new > old else ""


def divided_well(row, machine, before, after):
    """Where ranks that had the same CPUs divide them, somebody gains, and the lowest not least."""
    for step, (masks, _) in before.steps().items():
        parts = after.steps()[step][0]
        if len(masks) < 2 or any(cpus != masks[0] for cpus in masks) or parts == masks:
            continue
        beside = masks[0] & set().union(*map(machine.of_numa, machine.numas(parts[0])))
        if not row["hinted"] and len(parts[0]) < max(map(len, parts)) <= len(beside):
            return "the lowest rank has the smallest part"
        if "cores=share" not in row["line"] and "--gpus" not in row["line"] and not any(
                machine.distance(part) < machine.distance(masks[0]) for part in parts):
            return "CPUs are divided, and nobody is nearer"
    return ""


def inside_step(_, before, after):
    """No rank may have CPUs that its step does not have."""
    for t in after.threads:
        if t["step_cpus"] and not t["cpus"] <= t["step_cpus"]:
            return f"rank {t['rank']} has CPUs that its step does not have"
    return ""


def asks_for_memory(row):
    """Whether the user or the site has said where memory is to be."""
    return "mem=" in row["line"] + row["site"]


def first_touch_stays(row, before, after):
    """No rank gets a memory policy that nobody asked for."""
    for t in after.threads:
        was = {u["policy"] for u in before.threads
               if (u["step"], u["rank"]) == (t["step"], t["rank"])}
        if t["policy"] not in was and not asks_for_memory(row):
            return (f"the memory of {t['who']} of rank {t['rank']} is {t['policy']}, which nobody"
                    " asked for")
    return ""


def local_percent(launch):
    """How many of the pages are on the NUMA node of the CPU on which their thread really ran."""
    return (100 * sum(t["pages"].get(t["ran"], 0) for t in launch.threads)
            // sum(sum(t["pages"].values()) for t in launch.threads))


def not_less_local(row, before, after, report):
    old, new = local_percent(before), min(local_percent(after), local_percent(report))
    if new < old and not asks_for_memory(row):
        return f"{new} % of the pages are where their thread runs, without nuioa {old} %"
    return ""


def memory_at(machine, said, thread):
    """Whether pages of the thread are where a report says; None if it does not say."""
    kind, _, where = said.partition(":")
    if kind == "kept":
        return thread["policy"] != "default"
    if kind == "default":
        return thread["pages"].keys() <= machine.numas(thread["cpus"])
    if kind in ("preferred", "interleave") and where:
        return thread["pages"].keys() <= numbers(where)
    return None


def memory_as_said(machine, launch):
    reports = launch.reports()
    steps = {step.partition(".")[0] for step in launch.steps()}
    if len(reports) != len(steps):
        return f"{len(reports)} reports came of {len(steps)} steps"
    for t in launch.threads:  # of several reports nothing says which is whose
        said = [report.memory[t["rank"]] for report in reports if t["rank"] in report.memory]
        found = [memory_at(machine, text, t) for text in said]
        if not found and any(report.of_one for report in reports):
            continue
        if None in found or not found:
            return f"the report does not say where the memory of rank {t['rank']} is"
        if not any(found):
            return (f"the report says memory {said[0]} of rank {t['rank']}, and pages of its"
                    f" {t['who']} are on {spell(t['pages'])}")
    return ""


def binds_itself(row):
    """Whether the program takes other CPUs than those with which it starts."""
    return re.search(r"numactl -N|taskset|KMP_AFFINITY|OMP_PROC_BIND", row["line"]) is not None


def report_is_so(row, before, after, report):
    """The sentence must be about what happened."""
    if report.ranks() != after.ranks():
        return "with the report other CPUs were chosen than without it"
    if not all(r.sentence for r in report.reports()):
        return "the report says no sentence"
    if binds_itself(row):
        return ""
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


def has_room(machine, allowed, masks, numa, moving):
    """Whether a NUMA node has cores for these masks, without ranks or with its own ones gone."""
    used = set().union(*masks) - machine.of_numa(numa)
    return len(machine.cores(machine.of_numa(numa) & allowed - used)) >= len(
        machine.cores(set().union(*moving)))


def other_place(machine, masks, allowed, moving, here):
    """A NUMA node nearer to a NIC with ranks that could change places with these."""
    for numa, there in blocks(machine, masks).items():
        if machine.is_nearer(numa, here) and (
                shape(machine, there) == shape(machine, moving) or
                len(moving) == 1 and any(shape(machine, [cpus]) == shape(machine, moving)
                                         for cpus in there)):
            return f"ranks of NUMA node {numa}, which is nearer, have equal masks"
        if (machine.is_nearer(numa, here) and len(there) <= len(moving)
                and len({len(cpus) for cpus in masks}) == 1
                and has_room(machine, allowed, masks, numa, moving)):
            return f"ranks of NUMA node {numa}, which is nearer, are fewer, and it has free cores"
    return ""


def could_have(machine, row, masks, allowed, key):
    """What could have brought the rank that counts nearer, without harm; nothing if that is not
    certain. masks: of all ranks, where none has come nearer; allowed: all CPUs of the step."""
    if "--overlap" in row["line"]:
        return ""
    if is_bound(machine, masks):
        here = min(machine.numas(masks[key]))
        moving = [masks[key]] if row["hinted"] else blocks(machine, masks)[here]
        text = other_place(machine, masks, allowed if not row["site"] else set().union(*masks),
                           moving, here)
        if not text and not row["site"]:
            text = free_place(machine, masks, allowed, moving, here)
        return text
    apart = sum(len(cpus) for cpus in masks) == len(set().union(*masks))
    for rank, cpus in enumerate(masks):
        if (apart and shape(machine, [cpus]) == shape(machine, [masks[key]])
                and len(machine.numas(cpus)) == len(machine.numas(masks[key]))
                and machine.distance(cpus) < machine.distance(masks[key])):
            return f"the mask of rank {rank} is equal, and nearer"
    alike = all(cpus == masks[0] for cpus in masks)
    cores = machine.cores(masks[0])
    if (len(masks) > 1 and alike and len(cores) >= len(masks) * row["cpus_per_task"]
            and not row["site"] and len(machine.numas(masks[0])) > 1):
        return "ranks share CPUs of several NUMA nodes, and do not divide them"
    return ""


def is_fixed(row, sentence):
    """Whether what the user typed fixes the ranks, and the report says that."""
    return ("--mem-bind=" in row["line"] and "--mem-bind" in sentence
            or "nuioa exec" in row["line"] and "the launcher has bound" in sentence)


def is_memory_beside(machine, step, rank, before, after):
    """Whether memory of that rank is beside a NIC by a policy that it had not without nuioa."""
    mine = [[t for t in launch.threads if (t["step"], t["rank"]) == (step, rank)]
            for launch in (before, after)]
    return all(t["policy"] != mine[0][0]["policy"]
               and all(machine.from_nic(numa) == LOCAL for numa in t["pages"]) for t in mine[1])


def judge_gpus(machine, before, after, allowed):
    """(verdict, fault) of ranks that have GPUs; all GPUs are on one NUMA node."""
    numa = min(machine.gpus)
    old, new = ([max(machine.slit[own][numa] for own in machine.numas(cpus)) for cpus in masks]
                for masks in (before, after))
    if any(a > b for a, b in zip(new, old)):
        return "farther", "a rank is farther from its GPU than without nuioa"
    free = machine.cores(machine.of_numa(numa) & allowed) - machine.cores(set().union(*after))
    far = max(new) > LOCAL
    verdict = "nearer" if sum(new) < sum(old) else "could not" if far else "as near as can be"
    return verdict, "a rank is far from its GPU, beside free cores" if far and free else ""


def judge_step(machine, row, step, before, after, sentence):
    """(verdict, fault) of one step, by its rank that counts: the heaviest, or else the lowest."""
    masks, allowed = before.steps()[step]
    if binds_itself(row):
        return "binds itself", ""
    if "--gpus" in row["line"]:
        return judge_gpus(machine, masks, after.steps()[step][0], allowed)
    key = row["key"]
    old, new = machine.distance(masks[key]), machine.distance(after.steps()[step][0][key])
    if new < old:
        return "nearer", ""
    if new > old:
        return "farther", f"rank {key} is farther from the NIC than without nuioa"
    if new == LOCAL:
        return "as near as can be", ""
    if asks_for_memory(row) and is_memory_beside(machine, step, key, before, after):
        return "nearer", ""
    missed = could_have(machine, row, after.steps()[step][0], allowed, key)
    # Without hints neighbours count, and how much is a matter of a rule, which the sentence names.
    apart = "neighbours apart" in sentence and not row["hinted"] and len(
        blocks(machine, masks)) > 1
    return "could not", (f"it could have: {missed}"
                         if missed and not apart and not is_fixed(row, sentence) else "")


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
        least = [min(len(t["cpus"]) for t in launch.threads if (t["step"], t["rank"]) == key)
                 for key in launch.ranks() if key[0] == step]
        sizes = [str(len(cpus)) if few == len(cpus) else f"{len(cpus)} (a thread or child {few})"
                 for cpus, few in zip(masks, least)]
        sizes = sizes[0] if len(set(sizes)) == 1 else repeat(sizes)
        steps.append(f"{repeat([spell(machine.numas(cpus)) for cpus in masks])}; {sizes}")
    return " / ".join(steps)


def judge(machine, row, before, after, report):
    """Of one row: verdict, sentence, before, after, local, and fault, which is empty for a good
    one."""
    out = dict(before=describe(machine, before), after=describe(machine, after), sentence="",
               verdict="broken", local="-")
    for what, launch in (("without nuioa", before), ("with it", after), ("the report", report)):
        wrong = is_whole(launch, row["ranks"])
        if wrong:
            return dict(out, fault=f"{what}: {wrong}")
    out["local"] = " -> ".join(f"{local_percent(launch)} %" for launch in (before, after))
    out["sentence"] = " / ".join(dict.fromkeys(r.sentence for r in report.reports()))
    verdicts = [judge_step(machine, row, step, before, after, out["sentence"])
                for step in before.steps()]
    order = ["farther", "could not", "nearer", "as near as can be", "binds itself"]
    out["verdict"] = min((verdict for verdict, _ in verdicts), key=order.index)
    faults = [rule(machine, before, after) for rule in (
        no_core_twice, not_more_on_a_node, inside_step)]
    faults += [never_fewer(row, machine, before, after), divided_well(row, machine, before, after),
               first_touch_stays(row, before, after), not_less_local(row, before, after, report),
               memory_as_said(machine, report), report_is_so(row, before, after, report)]
    faults += [fault for _, fault in verdicts]
    return dict(out, fault="; ".join(filter(None, faults)))
