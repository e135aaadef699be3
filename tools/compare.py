# SPDX-License-Identifier: BSD-3-Clause
"""nuioa compare: runs a program several times without and with nuioa, and says whether it is
faster. tools/python.c starts it; Python 3.6 and its standard library are enough."""
import glob
import json
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from types import SimpleNamespace

USAGE = """\
usage: nuioa compare [OPTION]... [--] srun [OPTION]... PROGRAM [ARGUMENT]...

Says whether nuioa makes a program faster: runs it in pairs, once without and once with
nuioa, in an order that is drawn for each pair, in the job in which it is called:
salloc -N2 --exclusive nuioa compare -- srun -n8 ./app
Each run does all that the program does: output files and checkpoints are written again.

  -n, --pairs N        make N pairs, 6 to 24; default: 6, and then 12 and 24 if these can
                       decide it
  --set VAR=VALUE      compare a variable instead, without nuioa on either side; may be
                       repeated
  --time REGEX         the time is the number in the program's output that this extended
                       regular expression finds last, in its first parentheses if it has
                       any; default: the time from the start of srun to its end
  --before CMD         a command for sh before each run, such as 'rm -f restart.*'
  --keep DIR           where the output of each run is kept, a directory that is not there
                       yet; default: nuioa-compare.XXXXXX, which is made
  --json               print JSON, for programs

Exit status: 0 whatever the verdict, 1 if a run failed or was interrupted.
"""


class Failure(Exception):
    """One line for the user, and the exit status if that is not 1."""


def usage(line):
    return Failure(line + "; see nuioa compare --help", 2)


def say(text):
    """A line for people, on stderr, without characters that could control a terminal."""
    line = "".join(c if c.isprintable() else "?" for c in text) + "\n"
    with suppress(OSError):
        os.write(2, os.fsencode(line))


# --- the verdict ----------------------------------------------------------------------------------
#
# Whether a program takes another time with a change than without it, from pairs of runs.
#
# The unit is the logarithm of the ratio of a pair, with over without: noise of a machine is a share
# of the time. The test is the exact sign-flip test of R. A. Fisher (The Design of Experiments,
# 1935, section 21): if the change does nothing, the logarithm of a pair could as well have had the
# other sign. Of all patterns of signs, p is the share whose sum is at least as far from zero as
# that of the runs. It supposes nothing about the form of the noise.
#
# A number of pairs that was typed is judged once, at a level of 5 %. Without it there are three
# looks: after 6, 12 and 24 pairs, at the levels 2/64, 0.0093 and 0.0093, whose sum is below 5 %. So
# of two programs that are equally fast at most 1 comparison in 20 says otherwise (Bonferroni's
# inequality). Stopping early without a verdict does not raise that.

PAIRS_MIN, PAIRS_MAX = 6, 24

# The difference that 4 of 5 comparisons see, in standard deviations of the logarithm of a pair's
# ratio, if that is distributed normally: found by simulation, which test/unit/verdict.py repeats.
# For 6, 7, ... 24 typed pairs; and without a typed number.
TYPED_POWER = (1.80, 1.33, 1.20, 1.09, 1.01, 0.94, 0.89, 0.845, 0.805, 0.78,
               0.745, 0.715, 0.70, 0.685, 0.66, 0.64, 0.625, 0.615, 0.605)
LOOKS_POWER = 0.79


def subset_sums(numbers):
    """The sums of all subsets, in ascending order."""
    sums = [0.0]
    for number in numbers:
        sums = sorted(sums + [s + number for s in sums])
    return sums


def upper_share(logs, centre):
    """The share of all patterns of signs whose sum is at least the sum of the logarithms less
    `centre` each. A pattern turns the signs of a subset, and is counted if the sum of that subset
    is not above 0: each sum of one half goes with a first part of those of the other half."""
    shifted = [x - centre for x in logs]
    zero = 1e-12 * math.fsum(map(abs, shifted))  # sums of equal numbers differ by rounding
    half = len(logs) // 2
    first, second = subset_sums(shifted[:half]), subset_sums(shifted[half:])
    counted, k = 0, len(second)
    for one in first:
        while k and one + second[k - 1] > zero:
            k -= 1
        counted += k
    return counted / (len(first) * len(second))


def low_end(logs, level):
    """The least centre that the test does not refuse: the share grows with the centre."""
    low, high = min(logs), math.fsum(logs) / len(logs)
    for _ in range(40):
        middle = (low + high) / 2
        is_refused = 2 * upper_share(logs, middle) <= level
        low, high = (middle, high) if is_refused else (low, middle)
    return high


class Verdict:
    """What so many pairs of times say, in any unit. `typed`: the user has said how many."""

    def __init__(self, without, with_, typed):
        count = len(without)
        self.logs = logs = [math.log(b / a) for a, b in zip(without, with_)]
        self.turned = [-x for x in logs]
        self.centre = centre = math.fsum(logs) / count
        self.ratio = math.exp(centre)
        self.level = 0.05 if typed else 2 / 64 if count <= PAIRS_MIN else 0.0093
        self.p = min(1, 2 * min(upper_share(logs, 0), upper_share(self.turned, 0)))
        self.word = ("cannot tell" if self.p > self.level else
                     "faster" if centre < 0 else "slower")
        # The mean of the root is less than that of the noise, which matters for few pairs.
        deviation = statistics.stdev(logs) * (4 * count - 3) / (4 * count - 4)
        # The least difference that 4 of 5 comparisons would see with as much noise and the same
        # rule, as a logarithm and as a share of the time; and that of PAIRS_MAX typed pairs.
        self.seen = (TYPED_POWER[count - PAIRS_MIN] if typed else LOOKS_POWER) * deviation
        self.detectable = 1 - math.exp(-self.seen)
        self.best = 1 - math.exp(-TYPED_POWER[-1] * deviation)

    def interval(self):
        """The ratios that the test at this level does not refuse."""
        return (math.exp(low_end(self.logs, self.level)),
                math.exp(-low_end(self.turned, self.level)))

    def next_look(self):
        """How many pairs there are to be in all, without a typed number: no more than these if it
        has been decided, or if more of them could hardly decide it, because the difference found so
        far is below a third of what can be seen."""
        count = len(self.logs)
        if self.word != "cannot tell" or abs(self.centre) <= self.seen / 3:
            return count
        return 12 if count < 12 else PAIRS_MAX


# --- the runs -------------------------------------------------------------------------------------

END_S = 20  # how long srun may take to end its step after SIGTERM, before it is killed
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_all(child):
    """Ends the child, and what is left of its process group: srun ends its step at SIGTERM."""
    for number in signal.SIGTERM, signal.SIGKILL:
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(child.pid, number)
            child.wait(END_S)


class Runs:
    """Runs the program, and keeps what it prints in files of `directory`. Meanwhile each of
    INTERRUPTS raises KeyboardInterrupt, once, while `interruptible`."""

    def __init__(self, asked, directory):
        self.asked, self.directory, self.interruptible = asked, directory, True
        self.actions = [(number, signal.signal(number, self.interrupt)) for number in INTERRUPTS]
        self.environment = dict(os.environ)
        with open("/proc/self/environ", "rb") as file:
            if b"\0LC_CTYPE=" not in b"\0" + file.read():
                self.environment.pop("LC_CTYPE", None)  # Python's own, in the C locale

    def interrupt(self, _number, _frame):
        if self.interruptible:
            self.interruptible = False
            raise KeyboardInterrupt

    def begin(self):
        """What a child does: its own process group, so that a signal reaches all that it starts."""
        os.setpgid(0, 0)
        for number, action in self.actions:
            signal.signal(number, action)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)

    def path(self, name):
        return os.path.join(self.directory, name)

    def lines(self, name):
        with open(self.path(name), "rb") as file:
            for line in file:
                yield os.fsdecode(line.rstrip(b"\n"))

    def command(self, words, variables, name):
        """Runs one command, with an empty standard input. It must end with status 0."""
        with open(self.path(name + ".out"), "xb") as out, \
                open(self.path(name + ".err"), "xb") as err:
            signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     env=dict(self.environment, **variables),
                                     preexec_fn=self.begin)
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
                status = child.wait()
            except KeyboardInterrupt:
                end_all(child)
                raise
        if status:
            what = words[0] if words is self.asked.program else "the command of --before"
            how = "ended with status %d" if status > 0 else "was ended by signal %d"
            said = self.last_line(name)
            raise Failure("%.40s %s, so nothing is compared%s" %
                          (what, how % abs(status), said and "; it said: " + said[:119]))

    def last_line(self, name):
        """The last line that the program has printed to its standard error. nuioa's tables, lines
        with two blanks below a line of nuioa's, are passed over; other lines of nuioa's and of
        srun's count if there are none of the program's."""
        line = head = own = ""
        table = False
        for text in self.lines(name + ".err"):
            table = bool(table or head) and text.startswith("  ")
            if head and not table:
                own = head
            head = text if text.startswith("nuioa: ") else ""
            if text.startswith("srun: "):
                own = text
            elif text and not head and not table:
                line = text
        return line or head or own

    def once(self, variables, name):
        """Runs --before and then the program; returns its time in seconds, above 0."""
        if self.asked.before:
            self.command(["sh", "-c", self.asked.before], {}, name + ".before")
        begin = time.monotonic()
        self.command(self.asked.program, variables, name)
        passed = time.monotonic() - begin
        return self.printed_time(name) if self.asked.time else passed

    def printed_time(self, name):
        """The last match counts: programs print a total at their end."""
        seconds = 0
        for end in ".out", ".err":
            for line in self.lines(name + end) if not seconds else ():
                match = self.asked.time.search(line)
                text = match and ((match.re.groups and match.group(1)) or match.group())
                if text and re.fullmatch("[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?", text):
                    seconds = float(text) if 1e-99 < float(text) < 1e99 else seconds
        if not seconds:
            raise Failure("%s: no line has a time above 0 that --time matches" %
                          self.path(name + ".out"))
        return seconds


def question(names, theirs):
    """The variables that make the first run ask the MPI library for `names`. A user's LD_PRELOAD
    stays; one that is compared is left alone."""
    prefix = os.path.normpath(os.path.realpath(__file__) + "/../../..")
    found = [path for libraries in ("lib", "lib64", "lib/*") for path in
             glob.glob(glob.escape(prefix) + "/" + libraries + "/nuioa/libnuioa-preload.so")]
    if not names or not found or "LD_PRELOAD" in names:
        return {}
    return {"NUIOA_COMPARE_SET": ",".join(names),
            "LD_PRELOAD": theirs + ":" + found[0] if theirs else found[0]}


def warm_up(runs, with_):
    """The first run is thrown away: it fills caches of files, and shows whether all works. Returns
    the head of nuioa's report, if nuioa is compared."""
    names = runs.asked.set
    runs.once(dict(with_, **question(names, runs.environment.get("LD_PRELOAD"))), "warm-up")
    said = [line for line in runs.lines("warm-up.err") if line.startswith("nuioa: ")]
    answers = [line[len("nuioa: compare: "):] for line in said  # of mpi/known.c
               if line.startswith("nuioa: compare: ")]
    if answers and answers[0] != "asked":
        raise Failure("--set: %s: nothing is compared" % answers[0])
    if not names and not said:
        raise Failure("the run with nuioa printed no report (%s): is the plugin there? Try "
                      "srun --nuioa=report hostname" % runs.path("warm-up.err"))
    say("nuioa compare: the first run is not counted; what runs print is in " + runs.directory)
    doubted = [name for name in names
               if not answers or not name.startswith(("OMPI_MCA_", "MPIR_CVAR_"))]
    if doubted:
        say("nuioa compare: no MPI library is known to read %s: if the program does not read it, "
            "both sides are the same" % ", ".join(doubted))
    return said[0][:159] if not names else ""


def compare(runs, result):
    """Makes pairs until they have decided, or cannot."""
    asked, sides = runs.asked, {"without": {"SLURM_NUIOA": "report,off"}}
    sides["with"] = dict(asked.set, SLURM_NUIOA="report,off" if asked.set else "report,on")
    result.report = warm_up(runs, sides["with"])
    number, wanted = 0, asked.pairs or PAIRS_MIN
    while number < wanted:
        number += 1
        seconds = {name: runs.once(sides[name], "%02d-%s" % (number, name))
                   for name in random.SystemRandom().sample(sorted(sides), 2)}
        result.without.append(seconds["without"])
        result.with_.append(seconds["with"])
        say("nuioa compare: pair %d of %d: without %s s, with %s s" %
            (number, wanted, three_digits(seconds["without"]), three_digits(seconds["with"])))
        if number == wanted:
            verdict = Verdict(result.without, result.with_, asked.pairs)
            wanted = asked.pairs or verdict.next_look()
            result.verdict = verdict if number == wanted else None


# --- what is printed ------------------------------------------------------------------------------

def three_digits(seconds):
    return "%.*f" % (sum(seconds < limit for limit in (1, 10, 100)), seconds)


def as_text(result, variables):
    v, text = result.verdict, ""
    what = ["%s=%s" % item for item in variables.items()] or ["nuioa"]
    if result.with_:
        text += "without %s%s: median %s s; with: median %s s; %d pairs\n" % (
            what[0], ", ..." if what[1:] else "", three_digits(statistics.median(result.without)),
            three_digits(statistics.median(result.with_)), len(result.with_))
    if result.report:
        text += "what it did: %s\n" % result.report
    if not v:
        return text
    text += "with / without: ratio %.3f, and with 95 %% confidence from %.3f to %.3f\n" % (
        (v.ratio,) + v.interval())
    if v.word != "cannot tell":
        return text + "%s: the program takes %.1f %% %s time\n" % (
            v.word, 100 * abs(v.ratio - 1), "less" if v.word == "faster" else "more")
    text += "cannot tell: the runs are too noisy to detect differences below %.1f %%" % (
        100 * v.detectable)
    if v.best < 0.95 * v.detectable:
        text += "; -n %d sees %.1f %%" % (PAIRS_MAX, 100 * v.best)
    return text + "\n"


def as_json(result):
    v = result.verdict
    return json.dumps({
        "nuioa": 1, "pairs": len(result.with_), "without_s": rounded(result.without),
        "with_s": rounded(result.with_), "ratio": v and rounded([v.ratio])[0],
        "interval": v and rounded(v.interval()), "verdict": v and v.word,
        "detectable": v and rounded([v.detectable])[0]}, indent=1) + "\n"


def rounded(numbers):
    """15 digits, as in the JSON of the other commands."""
    return [float("%.15g" % number) for number in numbers]


# --- the command line -----------------------------------------------------------------------------

def pairs_of(text):
    if re.fullmatch("0*[0-9]{1,2}", text) and PAIRS_MIN <= int(text[-2:]) <= PAIRS_MAX:
        return int(text[-2:])
    raise usage("--pairs: '%.40s' is not a number from %d to %d" % (text, PAIRS_MIN, PAIRS_MAX))


CLASSES = {"alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "digit": "0-9",
           "lower": "a-z", "punct": r"!-/:-@\[-`{-~", "space": r"\s", "upper": "A-Z",
           "xdigit": "0-9a-fA-F"}


def expression_of(text):
    """An extended regular expression; Python's lack the classes of POSIX."""
    try:
        return re.compile(re.sub(r"\[:([a-z]+):\]", lambda m: CLASSES[m.group(1)], text))
    except KeyError as e:
        why = "it has no class [:%s:]" % e.args[0]
    except (re.error, OverflowError, RecursionError) as e:
        why = e
    raise usage("--time: '%.80s' is not a regular expression: %s" % (text, why))


def variable_of(text):
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise usage("--set: '%.80s' is not VARIABLE=VALUE" % text)
    if name.startswith("SLURM_NUIOA"):
        raise usage("--set: %.80s is set for each side here; without --set nuioa itself is "
                    "compared" % name)
    return name, value


VALUES = {"pairs": pairs_of, "set": None, "time": expression_of, "before": str, "keep": str}
NOT_EMPTY = {"time": "regular expression", "before": "command", "keep": "directory name"}


def read(words):
    """What was typed; options end at -- or at the first word that is none."""
    asked = SimpleNamespace(pairs=None, time=None, before=None, keep=None, set={}, json=False,
                            help=False)
    while words and words[0].startswith("-") and words[0] != "--":
        word, equals, value = words.pop(0).partition("=")
        if re.match("-n.", word):  # as srun's -n8
            word, equals, value = "-n", "=", word[2:] + equals + value
        name = {"-n": "--pairs", "-h": "--help"}.get(word, word)[2:].replace("_", "-")
        if not name or not (word.startswith("--") or word in ("-n", "-h")):
            raise usage("'%.80s' is not an option" % (word + equals + value))
        if name in ("json", "help") and equals:
            raise usage("--%s takes no value" % name)
        if name in ("json", "help"):
            setattr(asked, name, True)
            continue
        if name not in VALUES:
            raise usage("--%.80s: no such option" % name)
        if not equals and (not words or words[0] == "--"):
            raise usage("--%s needs a value" % name)
        value = value if equals else words.pop(0)
        if not value and name in NOT_EMPTY:
            raise usage("--%s: '' is not a %s" % (name, NOT_EMPTY[name]))
        if name == "set":
            asked.set.update([variable_of(value)])
        else:
            setattr(asked, name, VALUES[name](value))
    asked.program = words[1:] if words[:1] == ["--"] else words
    return asked


def check_program(words):
    """The program's own command line must not say what is compared here."""
    if not words or not words[0]:
        raise usage("the program is missing: nuioa compare -- srun ./app")
    if os.path.basename(words[0]) != "srun":
        raise usage("'%.80s' is not srun: start the ranks with srun" % words[0])
    for word in (word for word in words if word.partition("=")[0] == "--nuioa"):
        raise usage("leave out '%.80s': each side gets its own --nuioa" % word)


def write(text):
    try:
        with open(1, "wb", closefd=False) as out:
            out.write(os.fsencode(text))
    except OSError as e:
        raise Failure("standard output: " + e.strerror)


def run(words):
    asked = read(words)
    if asked.help:
        return write(USAGE)
    check_program(asked.program)
    if "SLURM_JOB_ID" not in os.environ:
        raise Failure("not in a job, and each srun would be its own job: use salloc "
                      "--exclusive nuioa compare -- srun ...")
    try:
        if asked.keep:
            os.mkdir(asked.keep)
        runs = Runs(asked, asked.keep or
                    os.path.basename(tempfile.mkdtemp(prefix="nuioa-compare.", dir=".")))
    except OSError as e:
        raise Failure("%s%s: %s" % ("--keep: " if asked.keep else "", e.filename, e.strerror))
    result = SimpleNamespace(without=[], with_=[], report="", verdict=None)
    try:
        compare(runs, result)
        runs.interruptible = False
        write(as_json(result) if asked.json else as_text(result, asked.set))
    except KeyboardInterrupt:
        write(as_json(result) if asked.json else as_text(result, asked.set))
        raise Failure("interrupted after %d pairs" % len(result.with_))


def main():
    # Until the first run, and in a pipe, signals do what they do to other programs.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return run(sys.argv[1:])
    except OSError as e:
        failure = Failure("%s: %s" % (e.filename, e.strerror))
    except Failure as e:
        failure = e
    line, status = (failure.args + (1,))[:2]
    say("nuioa: " + line[:255])
    return status


if __name__ == "__main__":
    sys.exit(main())
