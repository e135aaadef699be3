#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Public reports, each as a machine, what was typed, and what is right: the files *.case.

A line of such a file is "KEY: VALUE":
  source     where the report is
  machine    made: machines/NN.tar.xz, made from the words of the report; real: the dump of a real
             machine, NN-*/input.tar.xz in the directory of env NUIOA_CASES; repository: a file here
  real       a test with a real launch in a guest or on the cluster, and a text in it
  write      NAME LINE...: writes a file for the commands, a line for each word
  ranks      how often the next command is run: %d stands for the local rank, from 0
  run        [VARIABLE=VALUE]... COMMAND...: arguments of nuioa; {} is the directory of the machine,
             {tmp} that of the files, {top} the sources
What is right, of the last "run":
  nics gpus cpus path level to_gpu memory   a word for each rank
  says, silent                              a regular expression
  status                                    of the last rank; 0 if it is not there
"known KEY: VALUE" is right, too, and known to be otherwise: the line "why" above it says why. A
known difference that is gone is a failure, as is one more than KNOWN.

Usage: cases.py [NN]...      default: all
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CASES = os.environ.get("NUIOA_CASES", os.path.join(TOP, "../shared/cases"))
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of small files
KNOWN = 0
FIELDS = ("nics", "gpus", "cpus", "path", "level", "to_gpu", "memory")
tested = 0


def report(good, name, *why):
    global tested
    tested += 1
    print("%sok %d - %s" % ("" if good else "not ", tested, name))
    for line in [] if good else "\n".join(why).splitlines():
        print("#   " + line)


def find_tool():
    stage, build = os.environ.get("NUIOA_STAGE"), os.environ.get("NUIOA_BUILD")
    for path in (os.environ.get("NUIOA"), stage and stage + "/usr/bin/nuioa",
                 build and build + "/tools/nuioa"):
        if path and os.access(path, os.X_OK):
            return path
    return None


def clean_environment():
    """Without what a launcher or a user has set for this test."""
    names = (r"SLURM|CUDA_|ROCR_|HIP_|ZE_|OMPI_|PM[I2]|MPI_|MV2_|PALS_|NUIOA_|UCX_|OMP_|"
             r"(LOCAL_|WORLD_)?(RANK|SIZE)")
    return {k: v for k, v in os.environ.items() if not re.match(names, k)}


class Case:
    def __init__(self, path, tool):
        self.number, self.tool = os.path.basename(path)[:2], tool
        with open(path, encoding="utf-8") as lines:
            self.lines = [line.rstrip("\n").split(": ", 1) for line in lines
                          if line.strip() and not line.startswith("#")]
        self.problems, self.known, self.ranks, self.runs = [], 0, 1, []
        self.title = self.first("source")

    def first(self, key):
        return next((line[1] for line in self.lines if line[0] == key), None)

    def archive(self):
        """The machine's archive: "" if it needs none, None if it is not there."""
        kind = self.first("machine")
        if kind == "made":
            return os.path.join(HERE, "machines", self.number + ".tar.xz")
        if kind == "real":
            return next(iter(glob.glob(os.path.join(CASES, self.number + "-*/input.tar.xz"))), None)
        return ""

    def start(self, command, tmp):
        """Runs a command for each rank. Each answer is JSON or text, with the status."""
        self.runs, self.json = [], None
        self.command = command.replace("{}", tmp).replace("{tmp}", tmp).replace("{top}", TOP)
        for rank in range(self.ranks):
            self.runs.append(self.call(rank, ()))

    def call(self, rank, more):
        words = shlex.split(self.command.replace("%d", str(rank)))
        environment = clean_environment()
        while "=" in words[0]:
            name, value = words.pop(0).split("=", 1)
            environment[name] = value
        done = subprocess.run([self.tool, *words, *more], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                              check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def tasks(self):
        if self.json is None:
            texts = [self.call(rank, ("--json",))[1] for rank in range(self.ranks)]
            answers = [json.loads(text[text.index("{"):]) for text in texts]
            self.json = [t for answer in answers for t in answer.get("tasks", [answer])]
        return self.json

    def field(self, key):
        words = []
        for task in self.tasks():
            value = task[key]
            if isinstance(value, list):
                value = ",".join(str(v) for v in value)
            words.append("-" if value in (None, "") else str(value))
        return " ".join(words)

    def differs(self, key, wanted):
        """Returns what is there instead, or None."""
        text = "".join(run[1] for run in self.runs)
        if key in FIELDS:
            try:
                got = self.field(key)
            except (KeyError, ValueError):
                return "no JSON: " + text[:500]
            return None if got == " ".join(wanted.split()) else got
        if key == "status":
            got = str(self.runs[-1][0])
            return None if got == wanted else got
        found = re.search(wanted, re.sub(r"\s+", " ", text) if key == "says" else text, re.M)
        return None if bool(found) == (key == "says") else text[:2000]

    def check(self, key, wanted):
        known = key.startswith("known ")
        got = self.differs(key[6:] if known else key, wanted)
        if known:
            self.known += 1
            if got is None:
                self.problems.append("%s: %s is no longer otherwise: it is not 'known' now"
                                     % (key, wanted))
        elif got is not None:
            self.problems += ["nuioa " + self.command, "right: %s: %s" % (key, wanted),
                              "got:   " + got]

    def really(self, value):
        path, text = value.split(" ", 1)
        with open(os.path.join(TOP, path), encoding="utf-8") as test:
            if text not in test.read():
                self.problems.append("%s has no '%s'" % (path, text))

    def do(self, tmp):
        for key, value in self.lines:
            if key == "write":
                name, *lines = value.split()
                with open(os.path.join(tmp, name), "w", encoding="utf-8") as out:
                    out.write("\n".join(lines) + "\n")
            elif key == "ranks":
                self.ranks = int(value)
            elif key == "run":
                self.start(value, tmp)
            elif key == "real":
                self.really(value)
            elif key not in ("source", "machine", "why", "person"):
                self.check(key, value)


def main():
    tool, missing, known, right = find_tool(), 0, 0, 0
    paths = sorted(glob.glob(os.path.join(HERE, "*.case")))
    wanted = sys.argv[1:]
    if not tool:
        print("ok 1 - cases # SKIP nuioa is not built (env NUIOA, NUIOA_STAGE or NUIOA_BUILD)")
        print("1..1")
        return 0
    if not wanted:
        report(len(paths) == 34, "34 cases", "there are %d" % len(paths))
    failed = 0
    for path in paths:
        case = Case(path, tool)
        if wanted and case.number not in wanted:
            continue
        archive = case.archive()
        if archive is None:
            global tested
            tested += 1
            missing += 1
            print("ok %d - %s: %s # SKIP no dump in %s (env NUIOA_CASES)"
                  % (tested, case.number, case.title, CASES))
            continue
        with tempfile.TemporaryDirectory(dir=MEMORY) as tmp:
            if archive:
                subprocess.run(["tar", "-xJf", archive, "-C", tmp], check=True)
            case.do(tmp)
        known += case.known
        failed += bool(case.problems)
        right += not case.problems and not case.known
        report(not case.problems, "%s: %s" % (case.number, case.title), *case.problems)
    if not wanted:
        report(known == KNOWN, "%d values are known to be otherwise" % KNOWN,
               "%d are; KNOWN may only become smaller" % known)
    print("1..%d" % tested)
    count = len(wanted) or len(paths)
    print("# %d of %d%s%s" % (right, count, ", %d without their dump" % missing if missing else "",
                              ", %d values known to be otherwise" % known if known else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
