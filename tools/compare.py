# SPDX-License-Identifier: BSD-3-Clause
"""nuioa compare: runs a program several times without and with nuioa, and says whether it is
faster. tools/compare_command.c has read its command line and starts it; Python 3.6 and its standard
library are enough."""
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
from bisect import bisect_right
from contextlib import suppress
from glob import escape, glob
from types import SimpleNamespace


def say(text):
    """A line for people, on stderr, without characters that could control a terminal."""
    line = "".join(c if c.isprintable() else "?" for c in text) + "\n"
    with suppress(OSError):
        os.write(2, os.fsencode(line))


def fail(line, status=1):
    say("nuioa: " + line[:255])
    sys.exit(status)


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
        sums += [s + number for s in sums]
    return sorted(sums)


def upper_share(logs, centre):
    """The share of all patterns of signs whose sum is at least the sum of the logarithms less
    `centre` each. A pattern turns the signs of a subset, and is counted if the sum of that subset
    is not above 0."""
    shifted = [x - centre for x in logs]
    zero = 1e-12 * math.fsum(map(abs, shifted))  # sums of equal numbers differ by rounding
    half = len(logs) // 2
    first, second = subset_sums(shifted[:half]), subset_sums(shifted[half:])
    return sum(bisect_right(second, zero - s) for s in first) / (len(first) * len(second))


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
INTERRUPTS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
AWAITED = INTERRUPTS | {signal.SIGCHLD}  # blocked, and taken by sigwait()


class Runs:
    """Runs the program, and keeps what it prints in files of `directory`, and its times."""

    def __init__(self, asked):
        self.asked, self.environment = asked, dict(os.environ)
        self.report, self.without, self.with_, self.verdict = "", [], [], None
        try:
            if asked.keep:
                os.mkdir(asked.keep)
            self.directory = asked.keep or os.path.basename(
                tempfile.mkdtemp(prefix="nuioa-compare.", dir="."))
        except OSError as e:
            fail("%s%s: %s" % ("--keep: " if asked.keep else "", e.filename, e.strerror))
        with open("/proc/self/environ", "rb") as file:
            if b"\0LC_CTYPE=" not in b"\0" + file.read():
                self.environment.pop("LC_CTYPE", None)  # Python's own, in the C locale
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)

    def path(self, name):
        return os.path.join(self.directory, name)

    def lines(self, name):
        with open(self.path(name), "rb") as file:
            for line in file:
                yield os.fsdecode(line.rstrip(b"\n"))

    def command(self, words, variables, name):
        """Runs one command, with an empty standard input. It must end with status 0. Its own
        process group gets SIGTERM if this program is interrupted: srun then ends its step."""
        with open(self.path(name + ".out"), "xb") as out, \
                open(self.path(name + ".err"), "xb") as err:
            child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                env=dict(self.environment, **variables),
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, AWAITED))
        while child.poll() is None:
            if signal.sigwait(AWAITED) in INTERRUPTS:
                for number in signal.SIGTERM, signal.SIGKILL:
                    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                        os.killpg(child.pid, number)
                        child.wait(END_S)
                tell(self)
                fail("interrupted after %d pairs" % len(self.with_))
        if child.returncode:
            what = words[0] if words is self.asked.program else "the command of --before"
            how = "ended with status %d" if child.returncode > 0 else "was ended by signal %d"
            said = self.last_line(name)
            fail("%.40s %s, so nothing is compared%s" % (
                what, how % abs(child.returncode), said and "; it said: " + said[:119]))

    def last_line(self, name):
        """The last line that the program has printed to its standard error. nuioa's tables, lines
        with two blanks below a line of nuioa's, are passed over; other lines of nuioa's and of
        srun's count if there are none of the program's."""
        text = re.sub("(?m)^nuioa: .*(\n  .*)+", "", "\n".join(self.lines(name + ".err")))
        lines = [line for line in text.split("\n") if line]
        own = [line for line in lines if not line.startswith(("nuioa: ", "srun: "))]
        return (own or lines or [""])[-1]

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
            for match in filter(None, map(self.asked.time.search, self.lines(name + end))):
                text = (match.re.groups and match.group(1)) or match.group()
                if re.fullmatch("[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?", text):
                    seconds = float(text) if 1e-99 < float(text) < 1e99 else seconds
            if seconds:
                return seconds
        fail("%s: no line has a time above 0 that --time matches" % self.path(name + ".out"))


def question(names, theirs):
    """The variables that make the first run ask the MPI library for `names`. A user's LD_PRELOAD
    stays; one that is compared is left alone."""
    prefix = os.path.normpath(os.path.realpath(__file__) + "/../../..")
    found = [path for libraries in ("lib", "lib64", "lib/*") for path in
             glob(escape(prefix) + "/" + libraries + "/nuioa/libnuioa-preload.so")]
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
        fail("--set: %s: nothing is compared" % answers[0])
    if not names and not said:
        fail("the run with nuioa printed no report (%s): is the plugin there? Try srun "
             "--nuioa=report hostname" % runs.path("warm-up.err"))
    say("nuioa compare: the first run is not counted; what runs print is in " + runs.directory)
    doubted = [name for name in names
               if not answers or not name.startswith(("OMPI_MCA_", "MPIR_CVAR_"))]
    if doubted:
        say("nuioa compare: no MPI library is known to read %s: if the program does not read it, "
            "both sides are the same" % ", ".join(doubted))
    return said[0][:159] if not names else ""


def compare(runs):
    """Makes pairs until they have decided, or cannot."""
    asked, sides = runs.asked, {"without": {"SLURM_NUIOA": "report,off"}}
    sides["with"] = dict(asked.set, SLURM_NUIOA="report,off" if asked.set else "report,on")
    runs.report = warm_up(runs, sides["with"])
    number, wanted = 0, asked.pairs or PAIRS_MIN
    while number < wanted:
        number += 1
        seconds = {name: runs.once(sides[name], "%02d-%s" % (number, name))
                   for name in random.SystemRandom().sample(sorted(sides), 2)}
        runs.without.append(seconds["without"])
        runs.with_.append(seconds["with"])
        say("nuioa compare: pair %d of %d: without %s s, with %s s" %
            (number, wanted, three_digits(seconds["without"]), three_digits(seconds["with"])))
        if number == wanted:
            verdict = Verdict(runs.without, runs.with_, asked.pairs)
            wanted = asked.pairs or verdict.next_look()
            runs.verdict = verdict if number == wanted else None


# --- what is printed ------------------------------------------------------------------------------

def three_digits(seconds):
    return "%.*f" % (sum(seconds < limit for limit in (1, 10, 100)), seconds)


def as_text(runs):
    v, text = runs.verdict, ""
    what = ["%s=%s" % item for item in runs.asked.set.items()] or ["nuioa"]
    if runs.with_:
        text += "without %s%s: median %s s; with: median %s s; %d pairs\n" % (
            what[0], ", ..." if what[1:] else "", three_digits(statistics.median(runs.without)),
            three_digits(statistics.median(runs.with_)), len(runs.with_))
    if runs.report:
        text += "what it did: %s\n" % runs.report
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


def as_json(runs):
    v = runs.verdict
    return json.dumps({
        "nuioa": 1, "pairs": len(runs.with_), "without_s": rounded(runs.without),
        "with_s": rounded(runs.with_), "ratio": v and rounded([v.ratio])[0],
        "interval": v and rounded(v.interval()), "verdict": v and v.word,
        "detectable": v and rounded([v.detectable])[0]}, indent=1) + "\n"


def rounded(numbers):
    """15 digits, as in the JSON of the other commands."""
    return [float("%.15g" % number) for number in numbers]


def tell(runs):
    text = as_json(runs) if runs.asked.json else as_text(runs)
    try:
        with open(1, "wb", closefd=False) as out:
            out.write(os.fsencode(text))
    except OSError as e:
        fail("standard output: " + e.strerror)


# --- the command line -----------------------------------------------------------------------------

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
    fail("--time: '%.80s' is not a regular expression: %s; see nuioa compare --help" % (text, why),
         2)


def read(words):
    """What tools/compare_command.c hands over: "" is what was not typed."""
    pairs, expression, before, keep, as_json = words[:5]
    end = words.index("--")  # each setting has a '='
    return SimpleNamespace(
        pairs=int(pairs or 0), time=expression and expression_of(expression), before=before,
        keep=keep, json=as_json, set=dict(word.split("=", 1) for word in words[5:end]),
        program=words[end + 1:])


def main():
    # Until the first run, and in a pipe, signals do what they do to other programs.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    runs = Runs(read(sys.argv[1:]))
    try:
        compare(runs)
    except OSError as e:
        fail("%s: %s" % (e.filename, e.strerror))
    tell(runs)


if __name__ == "__main__":
    main()
