# SPDX-License-Identifier: BSD-3-Clause
"""The part of `nuioa probe --nic` that measures; tools/probe/nic_probe.c starts it.

A benchmark that is installed runs between two ends on this node, each bound to a NUMA node. Nothing
that it starts outlives this program.

Standard input is JSON, whose keys nic_probe.c explains. The arguments are --tool and --number,
texts that need not be UTF-8, or "". Standard output gets JSON, whose keys nic_report.c explains.
"""
import signal
STOPS = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
         if signal.getsignal(number) != signal.SIG_IGN]
signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # wait() takes them

import ctypes
import errno
import json
import locale
import math
import os
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from glob import glob

LATENCY = 2  # of the quantities 0 to 2; the first are rates of writes and reads
OUTPUT_BYTES = 256 << 10  # what is kept of what an end prints
LISTEN_S, LINGER_S = 10, 0.5  # until a server listens; until it ends by itself after its client
LOCKED_BYTES = 8 << 20  # less locked memory than this is named where a benchmark fails

SERVER, CLIENT = range(2)

ctypes.CDLL("libnuma.so.1", ctypes.RTLD_GLOBAL)
libc = ctypes.CDLL(None, use_errno=True)


class Failed(Exception):
    """Says in one line what happened."""


# --- a run of a benchmark -------------------------------------------------------------------------

class Benchmark:
    """One of task["benchmarks"]. A word of its command with {...} that has no value is left out, as
    {host} has none for the server."""

    def __init__(self, command, variables, number, factor, ends, kinds, groups):
        self.command, self.variables, self.factor = command, variables, factor
        self.ends, self.kinds, self.group = ends, kinds, 2 * min(groups, 9)
        self.program = os.path.basename(command.split()[0])
        self.regex = ctypes.create_string_buffer(512)  # no system's regex_t is larger
        libc.regcomp(self.regex, os.fsencode(number), 1 | 4)  # REG_EXTENDED | REG_NEWLINE

    def numbers(self, output):
        """Returns the numbers above 0 in the last group of matches, converted; two at most."""
        text, match = ctypes.create_string_buffer(output.split(b"\0")[0]), (ctypes.c_int * 20)()
        at, found = 0, []
        while len(found) < 2 and at < len(text) - 1 and not libc.regexec(  # 1 is REG_NOTBOL
                self.regex, ctypes.byref(text, at), 10, match, text[at - 1:at] not in (b"", b"\n")):
            begin, end = match[self.group:self.group + 2]
            word = text[at + begin:at + end]
            if re.fullmatch(rb"[ \t]*[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", word) and \
                    0 < float(word) * self.factor < math.inf:
                found.append(float(word) * self.factor)
            at += match[1] or 1
        return found


def words_of(text, values):
    """Splits a command into words, and puts values in place of what is in braces."""
    words = [word for word in re.findall("[^ \t]+", text)
             if all(values.get(name, True) for name in re.findall("{([a-z]+)}", word))]
    return [re.sub("{([a-z]+)}", lambda m: values.get(m.group(1), m.group(0)), w) for w in words]


def values_of(nic):
    """Returns what takes the place of words in braces."""
    with socket.socket() as free:
        free.bind(("", 0))
        return dict(nic["values"], port=str(free.getsockname()[1]))


def bind_to(numa):
    """Binds a child to the CPUs and the memory of a NUMA node, or ends it."""
    number, bits = numa["numa"], 8 * ctypes.sizeof(ctypes.c_ulong)
    mask = (ctypes.c_ulong * (number // bits + 1))()
    mask[number // bits] = 1 << number % bits
    try:
        what = "the CPUs of NUMA node %d cannot be used: %s\n"
        os.sched_setaffinity(0, numa["cpus"])
        what = "the memory of NUMA node %d cannot be used: %s\n"
        # MPOL_BIND is 2. A kernel without NUMA (ENOSYS) has one node only.
        if libc.set_mempolicy(2, mask, ctypes.c_ulong(len(mask) * bits + 1)) and \
                ctypes.get_errno() != errno.ENOSYS:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    except OSError as e:
        os.write(2, os.fsencode(what % (number, e.strerror)))
        os._exit(127)


class End(subprocess.Popen):
    """The server or the client: a process whose CPUs and memory are on one NUMA node."""

    def __init__(self, role, benchmark, numa, values):
        def prepare():
            libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
            bind_to(numa)
            os.environ.update(w.split("=", 1) for w in words_of(benchmark.variables, values))
        self.name, self.port = "%s (%s)" % (benchmark.program, role), int(values["port"])
        words = words_of(benchmark.command, values) or [""]
        try:
            super().__init__(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, bufsize=0, preexec_fn=prepare,
                             start_new_session=True)
        except OSError as e:
            if not e.filename:
                raise Failed("no process can be started: %s" % e.strerror)
            raise Failed("%s ended with status 127: %s: %s" % (self.name, words[0], e.strerror))
        self.printed = {self.stdout: bytearray(), self.stderr: bytearray()}
        for stream in self.printed:
            os.set_blocking(stream.fileno(), False)

    def drain(self):
        """Takes what it has printed; of a flood, a part."""
        for stream, text in self.printed.items():
            text += (stream.read(1 << 20) or b"")[:OUTPUT_BYTES - len(text)]

    def has_ended(self):
        return self.poll() is not None

    def is_listening(self):
        """Looks into /proc: most benchmarks would take who connects for the client."""
        files = []
        for path in (p for pid in family_of(self.pid) for p in glob("/proc/%d/fd/*" % pid)):
            with suppress(OSError):  # it may be closed by now
                files.append(os.readlink(path))
        for name in glob("/proc/net/tcp*"):
            with open(name) as file:
                for _, local, _, state, *rest in map(str.split, file):
                    if state == "0A" and (int(local.rsplit(":", 1)[1], 16) == self.port or
                                          "socket:[%s]" % rest[5] in files):
                        return True
        if self.has_ended():
            raise self.blame("")
        return False

    def blame(self, what):
        """Returns what it did, or else how it ended, with its last line, and with little memory
        that may be locked."""
        self.drain()
        what = what or ("died of signal %d" % -self.returncode if self.returncode < 0 else
                        "ended with status %d" % self.returncode)
        lines = re.split(b"[\r\n]+", self.printed[self.stderr] or self.printed[self.stdout])
        last = ([line for line in lines if line.strip(b" \t-=+|*#")] or [b""])[-1].lstrip(b" \t")
        said = re.sub("[\0-\x1f\x7f]", " ", last[:99].decode("utf-8", "replace"))
        limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
        return Failed("%s %s%s%s" % (
            self.name, what, ": " + said if said else "; it printed nothing",
            "; only %d KB may be locked in memory: see ulimit -l" % (limit >> 10)
            if 0 <= limit < LOCKED_BYTES else ""))


def family_of(pid):
    """Returns a process and its descendants."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return [pid] + [p for child in file.read().split() for p in family_of(int(child))]
    except OSError:
        return [pid]


def wait(is_so, ends, limit_s):
    """Waits until is_so() is true, and takes what the ends print. Returns false if it is late."""
    end_s = time.monotonic() + limit_s
    while not is_so():
        if time.monotonic() >= end_s:
            return False
        if signal.sigtimedwait(STOPS, 0.005):
            sys.exit(1)
        for end in ends:
            end.drain()
    return True


def kill_children():
    """Kills all descendants, which become children of this process, and waits for them."""
    end_s = time.monotonic() + 2
    with suppress(ChildProcessError):
        while time.monotonic() < end_s:
            for pid in family_of(os.getpid())[1:]:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(0.001)


def run_pair(benchmark, nic, places, limit_s):
    """Runs both ends, each at (NUMA node, number of the GPU or ""), and returns the number."""
    values = values_of(nic)
    try:
        server = End("server", benchmark, places[SERVER][0],
                     dict(values, gpu=places[SERVER][1], host=""))
        if not wait(server.is_listening, [server], min(LISTEN_S, limit_s)):
            raise server.blame("does not listen")
        client = End("client", benchmark, places[CLIENT][0],
                     dict(values, gpu=places[CLIENT][1], host="127.0.0.1"))
        if not wait(client.has_ended, [client, server], limit_s):
            raise client.blame("did not end in time")
        client.drain()
        found = sum((benchmark.numbers(bytes(text)) for text in client.printed.values()), [])
        if client.returncode:
            raise client.blame("")
        if not found:
            raise client.blame("printed no number that fits")
        if found[1:]:
            raise client.blame("printed more than one number that fits")
        wait(server.has_ended, [server], LINGER_S)
        return found[0]
    finally:
        kill_children()


# --- cells ----------------------------------------------------------------------------------------

class Row:
    """What is measured between a NIC and a NUMA node or a GPU: of each quantity the benchmark, its
    values, one of each round, and why there are none."""

    def __init__(self, nic, numa, gpu):
        self.nic, self.numa, self.gpu = nic, numa, gpu
        self.benchmarks, self.errors, self.values = [None] * 3, [""] * 3, ([], [], [])

    def find_benchmark(self, quantity, known, asked):
        """Finds that of the command line, or the first that fits and is on PATH. Returns what is
        false if the quantity is not asked for: no benchmark tells it."""
        fitting = [b for b in known if b.ends[quantity] >= 0]
        if not asked:
            fitting = [b for b in fitting if self.nic["kind"] in b.kinds.split("|")]
            names = " ".join(b.program for b in fitting)
            fitting = [b for b in fitting if shutil.which(b.program)]
            if not fitting and quantity != LATENCY and not self.gpu:
                self.errors[quantity] = "none of %s is installed; see --tool for any other" % \
                    names if names else "no benchmark is known for %s; see --tool for any" % (
                        self.nic["kind"])
        if fitting and (not self.gpu or "{gpu}" in fitting[0].command):
            self.benchmarks[quantity] = fitting[0]
        return self.benchmarks[quantity] or self.errors[quantity]

    def measure(self, quantity, limit_s):
        """The end that the quantity is about is here, the other one beside the NIC. Once it has
        failed, it is not measured again."""
        if self.errors[quantity]:
            return
        benchmark, places = self.benchmarks[quantity], [(self.nic["near"], "")] * 2
        places[benchmark.ends[quantity]] = self.numa, str(self.gpu["place"]) if self.gpu else ""
        try:
            self.values[quantity].append(run_pair(benchmark, self.nic, places, limit_s))
        except Failed as e:
            self.errors[quantity] = str(e)

    def told(self):
        """Returns what is told of it. Texts need not be UTF-8: each byte becomes a character."""
        programs = [b.program if b else "" for b in self.benchmarks]
        texts = [[os.fsencode(text).decode("latin-1") for text in pair]
                 for pair in zip(programs, self.errors)]
        return {"nic": self.nic["at"], "numa": self.numa["at"],
                "gpu": self.gpu["at"] if self.gpu else -1,
                "cells": [[*pair, values] for pair, values in zip(texts, self.values)]}


def near(device, numas):
    """Returns a NUMA node beside a device; where none is known that can be used, any."""
    return ([numa for numa in numas if numa["numa"] in device["numas"]] + numas)[0]


def make_cells(task, tool, number):
    """Returns all that is to be measured, each as (row, quantity)."""
    typed = {"command": tool, "number": number} if number else {}
    cells, known = [], [Benchmark(**dict(row, **typed)) for row in task["benchmarks"]]
    numas = task["numas"]
    for nic in task["nics"] if numas else ():
        nic["near"] = near(nic, numas)
        rows = [Row(nic, numa, None) for numa in numas] + [
            Row(nic, near(gpu, numas), gpu) for gpu in task["gpus"]]
        cells += [(row, q) for row in rows for q in range(3) if row.find_benchmark(q, known, tool)]
    return cells


def show(done, count, rounds):
    """Shows progress: a bar on a terminal, else a line for each round."""
    share, text = done / (count * rounds), ""
    if os.isatty(2):
        text = "\r[%-40s] %3d %%" % ("#" * int(40 * share), 100 * share)
        text += "\r" + 48 * " " + "\r" if share == 1 else ""
    elif done % count == 0:
        text = "nuioa: %d of %d rounds measured\n" % (done // count, rounds)
    os.write(2, text.encode())


def measure(cells, task):
    """Measures all cells, in an order that is shuffled in each round: what changes slowly, such as
    temperature, falls on all alike."""
    order, shuffler, done = list(cells), random.Random(1), 0
    for _ in range(task["rounds"]):
        if all(row.errors[quantity] for row, quantity in cells):
            break
        shuffler.shuffle(order)
        for row, quantity in order:
            row.measure(quantity, task["limit_s"])
            done += 1
            show(done, len(cells), task["rounds"])


# --- all of it ------------------------------------------------------------------------------------

def main(tool, number):
    task = json.load(sys.stdin)
    while os.open(os.devnull, os.O_RDWR) < 3:
        pass  # no pipe gets the number of an output that was closed
    libc.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    cells = make_cells(task, tool, number)
    measure(cells, task)
    json.dump([row.told() for row in dict.fromkeys(row for row, _ in cells)], sys.stdout)


if __name__ == "__main__":
    locale.setlocale(locale.LC_ALL, "C")  # for expressions, as in the other parts of nuioa
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main(*sys.argv[1:])
