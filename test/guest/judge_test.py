#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests first_lines_judge.py: of launches that are made up here, each rule finds its fault, and
good ones have none. Prints TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import first_lines_judge as judge  # noqa: E402
import first_lines_seen as seen  # noqa: E402

# Four NUMA nodes in a line, two cores of two threads each, one NIC, on NUMA node 1, and beside that
# one more, of memory without CPUs.
MACHINE = ["@node 0 0-3 10 20 30 40 20", "@node 1 4-7 20 10 20 30 12",
           "@node 2 8-11 30 20 10 20 20", "@node 3 12-15 40 30 20 10 30",
           "@node 4 - 20 12 20 30 10", "@nic eth0 1 up", "@nic eth1 3 down", "@nic eth2 -1 up",
           *[f"@core {cpu} {cpu // 2 * 2}-{cpu // 2 * 2 + 1}" for cpu in range(16)]]
DIVIDED = "the ranks divide the CPUs that they shared"
BOUND = ["nuioa: node0: local rank 0 of 2 (slurm), rank 0: CPUs 0-1 kept, memory default, NIC eth0,"
         " level 1: the launcher has bound this rank: its CPUs stay"]
APART = "no hints, and moving a NUMA node's ranks would take neighbours apart"


def tell(rank, who, cpus, step_cpus, pages=None, policy="default", step=0, ran=None):
    """A line of inside.c."""
    own = min(seen.numbers(cpus)) // 4
    return (f"step={step} rank={rank} who={who} cpus={cpus} policy={policy}"
            f" pages={pages or f'{own}:16'} ran={own if ran is None else ran}"
            f" step_cpus={step_cpus}")


def launch(name, masks, step_cpus, more=(), status=0, **put):
    """Each rank of it has a first thread and a child."""
    return [f"@launch 000-{name}",
            *[tell(rank, who, cpus, step_cpus, **put)
              for rank, cpus in enumerate(masks) for who in ("main", "child")],
            *more, f"@status {status}"]


def report(moved, masks, sentence, memory="default"):
    return [f"nuioa: 1 nodes, {len(masks)} ranks, {moved} moved, policy bandwidth, leader *",
            "  node   rank     CPUs  NUMA  memory       NIC   level",
            *[f"  node0 {rank:5}     {cpus:4}  {min(seen.numbers(cpus)) // 4}     {memory:11}"
              f"  eth0  1" for rank, cpus in enumerate(masks)], sentence]


def judged(before, after, step_cpus="0-15", line="", hinted=False, site="", cpus_per_task=1,
           more=(), sentence="why", moved=None, memory="default", reported=None, said=None,
           status=0, late=(), beside=None, there=None, ran=None):
    """Of a row whose ranks had those masks before and after; beside: of a rank of another step;
    there: the pages of memory that nuioa has put somewhere; ran: where threads run with it."""
    moved = sum(a != b for a, b in zip(before, after)) if moved is None else moved
    said = report(moved, after, sentence, memory) if said is None else said
    if beside:
        more = [*more, *[tell(0, who, beside, beside, step=1) for who in ("main", "child")]]
        said = [*said, *report(0, [beside], sentence)]
    put = dict(pages=there, policy=memory, ran=ran) if there else dict(ran=ran)
    lines = [*MACHINE, *launch("0", before, step_cpus, more if beside else ()),
             *launch("1", after, step_cpus, more, status, **put), *late,
             *launch("2", reported or after, step_cpus, [*more, *said], **put)]
    machine, launches = seen.read(lines)
    row = dict(line=line, hinted=hinted, key=len(before) - 1 if hinted else 0, site=site,
               cpus_per_task=cpus_per_task,
               ranks=len(before) + bool(beside))
    return judge.judge(machine, row, *(launches.get(name) for name in "012"))


def test_sentence():
    """Lines of a sentence belong together, and another sentence follows it."""
    said = report(0, ["0"], f"{'it is ' * 16}\nright\nit helps\ncost 2 -> 1\nmore")
    return seen.Report("\n".join(said).splitlines()).sentence == f"{'it is ' * 16}right; it helps"


# Name; what is wanted: the verdict, and a part of the fault, "" for none; what was seen.
CASES = [
    ("a block beside the NIC", "nearer", "", (["0", "1"], ["4", "5"]), {}),
    ("... and a rank of another step is not", "could not", "", (["0-1"], ["4-5"]),
     dict(beside="8-9")),
    ("it was there", "as near as can be", "", (["4-5", "6-7"], ["4-5", "6-7"]), {}),
    ("a rank has fewer CPUs", "nearer", "main of rank 0 has 1 CPUs", (["0-1"], ["4"]), {}),
    ("a rank has fewer cores", "nearer", "should have 2 (cores: 2)", (["0,2"], ["4-5"]), {}),
    ("a thread has fewer", "nearer", "omp1 of rank 0 has 1 CPUs", (["0-1"], ["4-5"]),
     dict(more=[tell(0, "omp1", "4", "0-15")])),
    ("a core has two ranks", "nearer", "1 cores have several ranks", (["0", "2"], ["4", "5"]), {}),
    ("a core had two ranks", "nearer", "", (["0", "1"], ["4", "5"]), {}),
    ("more ranks on a NUMA node", "nearer", "2 ranks are on one NUMA node",
     (["0-1", "8-9"], ["4-5", "6-7"]), {}),
    ("CPUs outside of the step", "nearer", "its step does not have", (["0-1"], ["4-5"]),
     dict(step_cpus="0-3")),
    ("pages are elsewhere", "nearer", "pages of its main are on 1", (["0-1"], ["4-5"]),
     dict(memory="preferred:2")),
    ("pages are where it says", "nearer", "", (["0-1"], ["4-5"]), dict(memory="preferred:1")),
    ("pages of a thread are not where it runs", "nearer", "pages of its omp1", (["0-1"], ["4-5"]),
     dict(more=[tell(0, "omp1", "4-5", "0-15", "3:16")])),
    ("memory is not said", "nearer", "does not say where", (["0-1"], ["4-5"]), dict(memory="?")),
    ("it went away", "farther", "farther from the NIC", (["4-5"], ["0-1"]), {}),
    ("free CPUs were left", "could not", "NUMA node 1 is nearer", (["0-1"], ["0-1"]), {}),
    ("with hints, too", "could not", "NUMA node 1 is nearer",
     (["0-1", "2-3"], ["0-1", "2-3"]), dict(hinted=True)),
    ("... but with --overlap", "could not", "", (["0-1"], ["0-1"]), dict(line="srun --overlap")),
    ("... but by default=on", "could not", "", (["0-1"], ["0-1"]), dict(site="default=on")),
    ("... but they were not of the step", "could not", "", (["0-1"], ["0-1"]),
     dict(step_cpus="0-3")),
    ("... but one core is too few", "could not", "", (["0-1", "2-3"], ["0-1", "2-3"]),
     dict(step_cpus="0-5")),
    ("... but one thread of each core is too few", "could not", "", (["0-1"], ["0-1"]),
     dict(step_cpus="0-4,6")),
    ("an equal block was left", "could not", "have equal masks",
     (["0-1", "4-5"], ["0-1", "4-5"]), dict(step_cpus="0-1,4-5")),
    ("... by default=on, too", "could not", "have equal masks",
     (["0-1", "4-5"], ["0-1", "4-5"]), dict(step_cpus="0-1,4-5", site="default=on")),
    ("... but for neighbours", "could not", "", (["0-1", "4-5"], ["0-1", "4-5"]),
     dict(step_cpus="0-1,4-5", sentence=APART)),
    ("neighbours are no reason with one block", "could not", "NUMA node 1 is nearer",
     (["0-1", "2-3"], ["0-1", "2-3"]), dict(sentence=APART)),
    ("an equal rank was left", "could not", "have equal masks",
     (["4-5", "6-7", "0-1"], ["4-5", "6-7", "0-1"]), dict(step_cpus="0-1,4-7", hinted=True)),
    ("no block is equal", "could not", "", (["0-1", "2-3", "4-5"], ["0-1", "2-3", "4-5"]),
     dict(step_cpus="0-5")),
    ("fewer ranks are nearer, beside free cores", "could not", "are fewer",
     (["0-1", "2-3", "4-5"], ["0-1", "2-3", "4-5"]), dict(step_cpus="0-7")),
    ("ranks span NUMA nodes, and one is nearer", "could not", "is equal, and nearer",
     (["0-3,12-15", "4-11"], ["0-3,12-15", "4-11"]), {}),
    ("nothing was divided", "could not", "do not divide them", (["0-15"] * 2, ["0-15"] * 2), {}),
    ("... but -c is too much", "could not", "", (["0-15"] * 2, ["0-15"] * 2),
     dict(cpus_per_task=9)),
    ("... but there are more ranks than cores", "could not", "",
     (["0-15"] * 9, ["0-15"] * 9), {}),
    ("its memory is beside the NIC, and nobody asked", "could not", "which nobody asked for",
     (["0-15"], ["0-15"]), dict(memory="preferred:1", there="1:16")),
    ("... also not with one thread", "could not", "which nobody asked for", (["0-15"], ["0-15"]),
     dict(memory="preferred:1", there="1:16", line="OMP_NUM_THREADS=1 srun")),
    ("... but with mem=nic", "nearer", "", (["0-15"], ["0-15"]),
     dict(memory="preferred:1", there="1:16", line="srun --nuioa-mem=nic")),
    ("one NUMA node, and a policy", "nearer", "which nobody asked for", (["0-1"], ["4-5"]),
     dict(memory="preferred:1", there="1:16")),
    ("a thread runs where its pages are not", "nearer", "0 % of the pages", (["0-1"], ["4-5"]),
     dict(ran=0)),
    ("... for which mem= was typed", "nearer", "", (["0-1"], ["4-5"]),
     dict(ran=0, line="srun --nuioa-mem=local")),
    ("it binds itself, whatever the report says", "binds itself", "", (["0-1"], ["0-1"]),
     dict(moved=1, line="srun numactl -N 0")),
    ("... and its pages are not where it runs", "binds itself", "0 % of the pages",
     (["0-1"], ["0-1"]), dict(ran=1, line="srun numactl -N 0")),
    ("--mem-bind keeps it, and the report says so", "could not", "", (["0-1"], ["0-1"]),
     dict(line="srun --mem-bind=rank", sentence="--mem-bind=rank: they stay")),
    ("... and the report does not say so", "could not", "NUMA node 1 is nearer",
     (["0-1"], ["0-1"]), dict(line="srun --mem-bind=rank")),
    ("a launcher has bound it: one line of nuioa exec", "could not", "",
     (["0-1", "2-3"], ["0-1", "2-3"]), dict(line="srun nuioa exec", said=BOUND)),
    ("... and not of what was seen", "could not", "memory preferred:2 of rank 0",
     (["0-1", "2-3"], ["0-1", "2-3"]),
     dict(line="srun nuioa exec", said=[BOUND[0].replace("default", "preferred:2")])),
    ("... and the memory is farther", "could not", "", (["0-15"], ["0-15"]),
     dict(memory="preferred:2", there="2:16", line="srun --nuioa-mem=nic")),
    ("one rank keeps all", "could not", "", (["0-15"], ["0-15"]), {}),
    ("divided", "nearer", "", (["0-15"] * 2, ["0-7", "8-15"]), dict(sentence=DIVIDED)),
    ("not fairly divided", "nearer", "should have 8 (cores: 4)",
     (["0-15"] * 2, ["0-5", "6-15"]), {}),
    ("the lowest rank has least", "nearer", "the smallest part",
     (["0-15"] * 5, ["4-5", "6-7", "0-3", "8-11", "12-15"]), {}),
    ("divided in vain", "could not", "nobody is nearer", (["0-3"] * 2, ["0-1", "2-3"]),
     dict(step_cpus="0-3")),
    ("CPUs are left idle", "nearer", "left idle", (["0-15"] * 3, ["4-7", "0-3", "8-11"]), {}),
    ("the launch was lost", "broken", "status 1", (["0"], ["4"]), dict(status=1)),
    ("the guest was late", "broken", "did not", (["0"], ["4"]), dict(late=["@late"])),
    ("no report", "nearer", "0 reports came of 1 steps", (["0-1"], ["4-5"]), dict(said=[])),
    ("no sentence", "nearer", "no sentence", (["0-1"], ["4-5"]), dict(sentence="")),
    ("nothing moved, it says", "nearer", "0 moved, and 1 did", (["0-1"], ["4-5"]), dict(moved=0)),
    ("it moved, it says", "as near as can be", "1 moved, and 0 did", (["4-5"], ["4-5"]),
     dict(moved=1)),
    ("the report's launch is another one", "nearer", "other CPUs were chosen",
     (["0-1"], ["4-5"]), dict(reported=["6-7"])),
]


def main():
    failed = 0
    for i, (name, verdict, fault, masks, more) in enumerate(CASES, 1):
        got = judged(*masks, **more)
        good = got["verdict"] == verdict and (fault in got["fault"] if fault else not got["fault"])
        failed += not good
        print(f"{'ok' if good else 'not ok'} {i} - {name}")
        if not good:
            print(f"#   got:    {got['verdict']}: {got['fault']}\n#   wanted: {verdict}: {fault}")
    failed += not test_sentence()
    print(f"{'ok' if test_sentence() else 'not ok'} {len(CASES) + 1} - the report's sentence")
    print(f"1..{len(CASES) + 1}")
    return 1 if failed else 0


sys.exit(main())
