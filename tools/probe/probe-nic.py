# SPDX-License-Identifier: BSD-3-Clause
"""The part of `nuioa probe --nic` that measures; tools/probe/nic_probe.c starts it.

A benchmark that is installed runs between two ends on this node, each bound to a NUMA node. Nothing
that it starts outlives this program.

Standard input has a line of JSON, whose keys nic_probe.c explains, then the section of this node
for the site's distance file. The arguments are texts that need not be UTF-8, or "": the files of
--out and --heatmap, each as typed and as its name in its directory; --tool; --number.
"""
import signal
if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback

import ctypes
import errno
import json
import locale
import math
import os
import random
import re
import resource
import select
import shutil
import socket
import statistics
import subprocess
import sys
import time

WRITES, READS, LATENCY = range(3)  # the card into memory, from memory; time of a message
NAMES = "writes", "reads", "latency"
KEYS = "write_mb_s", "read_mb_s", "latency_ns"
ROW = "%-16s %-16s %5s %12s %12s %12s %8s"
OUTPUT_BYTES = 256 << 10  # what is kept of what an end prints
LISTEN_S, LINGER_S = 10, 0.5  # until a server listens; until it ends by itself after its client
LOCKED_BYTES = 8 << 20  # less locked memory than this is named where a benchmark fails
BUSY_CPUS = 0.5  # more than this is another program, and not the one that looks for it
ERRORS = 4  # standard errors of their difference by which medians must differ
LEVELS = 8  # farther ones are not looked at

# The benchmarks: command; environment; where the number is; what a unit of it is in MB/s (10^6
# bytes) or nanoseconds; whether the server is the one that sends; kinds of NIC. A word with {...}
# that has no value is left out, as {host} has none for the server. The options are documented in
#   ib_*          perftest(1) of github.com/linux-rdma/perftest, man/perftest.1; 6.06 was tried
#   cxi_write_bw  cxi_write_bw(1) 2.4 of the CXI Diagnostics and Utilities
#   ucx_perftest  ucx_perftest -h, and openucx.readthedocs.io for UCX_TLS and UCX_NET_DEVICES
#   fi_rma_bw     fabtests(7) of github.com/ofiwg/libfabric, fabtests/man/fabtests.7.md
# Messages are of 1 MiB: large enough for the full rate, small enough for 8 MB of locked memory.
# perftest means 10^9 bits by Gb, libfabric and cxi 10^6 bytes by MB, UCX 2^20 bytes. With write
# both ends of fi_rma_bw would write at once; with writedata the client alone does, which
# Slingshot's provider of libfabric lacks.
B = "[[:blank:]]"
N = B + "+[0-9.]+"
LINE = "^" + B + "*[0-9]+" + N
END = B + "*$"
VERBS = ("infiniband", "roce", "omnipath", "other")
BW = " -d {nic} -i {ibport} -p {port} -F -s 1048576 -n 1000 --report_gbits --use_cuda={gpu} {host}"
CUDA = "CUDA_DEVICE_ORDER=PCI_BUS_ID"
TABLE = (
    ("ib_write_bw" + BW, CUDA, LINE + N + "(" + N + ")" + N + END, 125, False, VERBS),
    ("ib_read_bw" + BW, CUDA, LINE + N + "(" + N + ")" + N + END, 125, True, VERBS),
    ("cxi_write_bw -d {cxi} -p {port} -s 1048576 -n 100 {host}", "",
     LINE + "(" + N + ")" + N + END, 1, False, ("slingshot",)),
    ("ucx_perftest -t ucp_put_bw -s 1048576 -n 1000 -w 100 -f -p {port} {host}",
     "UCX_NET_DEVICES={nic}:{ibport} UCX_TLS=ib",
     "^" + B + "*[0-9]+" + 4 * N + "(" + N + ")" + 2 * N + END, 1.048576, False, VERBS),
    ("fi_rma_bw -p {provider} -d {domain} -o writedata -S 1048576 -I 1000 -b={port} {host}", "",
     "^[0-9]+[kmg]?" + 2 * (B + "+[0-9]+[kmg]?") + N + "s(" + N + ")", 1, False, VERBS + ("efa",)),
    ("ib_write_lat -d {nic} -i {ibport} -p {port} -F -s 8 -n 2000 {host}", "",
     LINE + 2 * N + "(" + N + ")" + N, 1000, False, VERBS),
)
PROVIDERS = {"efa": "efa", "slingshot": "cxi", "omnipath": "opx"}  # of libfabric; else verbs

ctypes.CDLL("libnuma.so.1", ctypes.RTLD_GLOBAL)
libc = ctypes.CDLL(None, use_errno=True)
stopped = 0  # the signal that asked to stop


class Failed(Exception):
    """Says in one line what happened."""


def fail(text):
    """Prints a line that is safe for a terminal on standard error. Returns the exit status."""
    line = "".join(c if c.isprintable() else "?" for c in text)[:255]
    os.write(2, ("nuioa: %s\n" % line).encode())
    return 1


def note_signal(number, _frame):
    global stopped
    stopped = number


# --- a run of a benchmark -------------------------------------------------------------------------

class Benchmark:
    """A row of TABLE, or --tool and --number of the command line."""

    def __init__(self, command, variables, number, factor, from_server, kinds, groups=1):
        self.command, self.variables, self.factor = command, variables, factor
        self.from_server, self.kinds = from_server, kinds
        self.program = os.path.basename(command.split()[0])
        self.is_latency = self.program == "ib_write_lat"
        self.group = min(groups, 9)
        self.regex = ctypes.create_string_buffer(512)  # no system's regex_t is larger
        libc.regcomp(self.regex, os.fsencode(number), 1 | 4)  # REG_EXTENDED | REG_NEWLINE

    def numbers(self, output):
        """Returns the numbers above 0 in the last group of matches, converted; two at most."""
        text, match = ctypes.create_string_buffer(output.split(b"\0")[0]), (ctypes.c_int * 20)()
        at, found = 0, []
        while len(found) < 2 and at < len(text) - 1:
            inside = 1 if at and text[at - 1] != b"\n" else 0  # REG_NOTBOL
            if libc.regexec(self.regex, ctypes.byref(text, at), 10, match, inside):
                break
            begin, end = match[2 * self.group:2 * self.group + 2]
            word = text[at + begin:at + end].lstrip(b" \t") if begin >= 0 else b""
            if re.fullmatch(rb"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", word) and \
                    0 < float(word) < math.inf:
                found.append(float(word) * self.factor)
            at += match[1] or 1
        return found


BENCHMARKS = [Benchmark(*row) for row in TABLE]


def words_of(text, values):
    """Splits a command into words, and puts values in place of what is in braces."""
    words = []
    for word in re.findall("[^ \t]+", text):
        if all(values.get(name, True) for name in re.findall("{([a-z]+)}", word)):
            words.append(re.sub("{([a-z]+)}", lambda m: values.get(m.group(1), m.group(0)), word))
    return words


def values_of(nic, port):
    """Returns what takes the place of words in braces."""
    kind, cxi = nic["kind"], nic["cxi"] or nic["name"]
    domain = cxi if kind == "slingshot" else nic["name"] + ("-rdm" if kind == "efa" else "")
    return {"nic": nic["name"], "ibport": str(nic["port"] or 1), "cxi": cxi, "domain": domain,
            "provider": PROVIDERS.get(kind, "verbs"), "host": "", "port": port, "gpu": ""}


def bind_to(numa):
    """Binds this process, and what it then starts, to the CPUs and the memory of a NUMA node."""
    number, bits = numa["numa"], 8 * ctypes.sizeof(ctypes.c_ulong)
    mask = (ctypes.c_ulong * (number // bits + 1))()
    mask[number // bits] = 1 << number % bits
    try:
        os.sched_setaffinity(0, numa["cpus"])
    except OSError as e:
        raise Failed("the CPUs of NUMA node %d cannot be used: %s" % (number, e.strerror))
    # MPOL_BIND is 2. A kernel without NUMA (ENOSYS) has one node only.
    if libc.set_mempolicy(2, mask, ctypes.c_ulong(len(mask) * bits + 1)) and \
            ctypes.get_errno() != errno.ENOSYS:
        raise Failed("the memory of NUMA node %d cannot be used: %s" % (
            number, os.strerror(ctypes.get_errno())))


class End:
    """The server or the client: a process whose CPUs and memory are on one NUMA node."""

    def __init__(self, role, benchmark, numa, values):
        def prepare():
            libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            try:
                bind_to(numa)
            except Failed as e:
                os.write(2, b"%s\n" % str(e).encode())
                os._exit(127)
            os.environ.update(w.split("=", 1) for w in words_of(benchmark.variables, values))
        self.role, self.benchmark, self.port = role, benchmark, int(values["port"] or 0)
        words = words_of(benchmark.command, values) or [""]
        try:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                bufsize=0, preexec_fn=prepare, start_new_session=True)
        except OSError as e:
            if not e.filename:
                raise Failed("no process can be started: %s" % e.strerror)
            raise Failed("%s (%s) ended with status 127: %s: %s" % (
                benchmark.program, role, words[0], e.strerror))
        self.text = {self.process.stdout: b"", self.process.stderr: b""}
        self.open = set(self.text)
        for stream in self.text:
            os.set_blocking(stream.fileno(), False)

    def drain(self):
        """Takes what it has printed; of a flood, a part."""
        for stream in sorted(self.open, key=id):
            for _ in range(64):
                got = stream.read(65536)
                if got == b"":
                    self.open.discard(stream)
                if not got:
                    break
                self.text[stream] += got[:OUTPUT_BYTES - 1 - len(self.text[stream])]

    def has_ended(self):
        return self.process.poll() is not None

    def blame(self, what):
        """Returns what it did, with its last line, and with little memory that may be locked."""
        line = ""
        for text in re.split(b"[\r\n]+", self.text[self.process.stderr]
                             or self.text[self.process.stdout]):
            if text.strip(b" \t-=+|*#"):
                line = text.lstrip(b" \t")[:99].decode("utf-8", "replace")
        limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
        return Failed("%s (%s) %s%s%s%s" % (
            self.benchmark.program, self.role, what, ": " if line else "; it printed nothing",
            re.sub("[\0-\x1f\x7f]", " ", line),
            "; only %d KB may be locked in memory: see ulimit -l" % (limit >> 10)
            if 0 <= limit < LOCKED_BYTES else ""))

    def blame_end(self):
        self.drain()
        status = self.process.returncode
        return self.blame("died of signal %d" % -status if status < 0
                          else "ended with status %d" % status)

    def stop(self):
        if not self.has_ended():
            os.killpg(self.process.pid, signal.SIGKILL)
        for stream in self.text:
            stream.close()


def await_output(ends, nap_s):
    """Waits a little for what they print, and takes it."""
    poll = select.poll()
    for stream in set().union(*(end.open for end in ends)):
        poll.register(stream, select.POLLIN)
    poll.poll(1000 * nap_s)
    for end in ends:
        end.drain()
    if stopped:
        raise Failed("stopped by signal %d" % stopped)


def family_of(pid):
    """Returns a process and its descendants."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return [pid] + [p for child in file.read().split() for p in family_of(int(child))]
    except OSError:
        return [pid]


def is_listening(server):
    """Looks into /proc: most benchmarks would take who connects for the client."""
    sockets = set()
    for pid in family_of(server.process.pid):
        try:
            for fd in os.listdir("/proc/%d/fd" % pid):
                link = os.readlink("/proc/%d/fd/%s" % (pid, fd))
                sockets.update(re.findall(r"^socket:\[(\d+)\]", link))
        except OSError:
            pass  # it is gone, or has closed it
    for name in filter(os.path.exists, ("/proc/net/tcp", "/proc/net/tcp6")):
        with open(name) as file:
            for _, local, _, state, *rest in [line.split() for line in file][1:]:
                port = int(local.rsplit(":", 1)[1], 16)
                if state == "0A" and (server.port == port != 0 or rest[5] in sockets):
                    return True
    return False


def await_server(server, limit_s):
    end_s, nap_s = time.monotonic() + min(LISTEN_S, limit_s), 0.002
    while not is_listening(server):
        await_output([server], nap_s)
        nap_s = min(nap_s + 0.002, 0.02)
        if server.has_ended():
            raise server.blame_end()
        if time.monotonic() >= end_s:
            raise server.blame("does not listen")


def await_client(client, server, limit_s):
    """Returns the client's number."""
    end_s = time.monotonic() + limit_s
    while not client.has_ended():
        await_output([client, server], 0.01)
        if time.monotonic() >= end_s:
            raise client.blame("did not end in time")
    if client.process.returncode:
        raise client.blame_end()
    client.drain()
    found = [n for text in client.text.values() for n in client.benchmark.numbers(text)]
    if not found:
        raise client.blame("printed no number that fits")
    if len(found) > 1:
        raise client.blame("printed more than one number that fits")
    return found[0]


def kill_children():
    """Kills all descendants, which become children of this process, and waits for them."""
    end_s = time.monotonic() + 2
    while time.monotonic() < end_s:
        for pid in family_of(os.getpid())[1:]:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def run_pair(benchmark, nic, server_at, client_at, limit_s):
    """Runs both ends, each at (NUMA node, number of the GPU or ""), and returns the number."""
    values, ends = values_of(nic, ""), []
    if "{port}" in benchmark.command:
        with socket.socket() as free:
            free.bind(("", 0))
            values["port"] = str(free.getsockname()[1])
    try:
        ends.append(End("server", benchmark, server_at[0], dict(values, gpu=server_at[1])))
        await_server(ends[0], limit_s)
        ends.append(End("client", benchmark, client_at[0],
                        dict(values, gpu=client_at[1], host="127.0.0.1")))
        number = await_client(ends[1], ends[0], limit_s)
        end_s = time.monotonic() + LINGER_S
        while not ends[0].has_ended() and time.monotonic() < end_s:
            await_output(ends[:1], 0.005)
        return number
    finally:
        for end in ends:
            end.stop()
        kill_children()


# --- cells ----------------------------------------------------------------------------------------

class Cell:
    """What is measured between a NIC and a NUMA node or a GPU, one value in each round."""

    def __init__(self, nic, numa, gpu, quantity):
        self.nic, self.numa, self.gpu, self.quantity = nic, numa, gpu, quantity
        self.place = "GPU %s" % gpu["pci"] if gpu else "NUMA node %d" % numa["numa"]
        self.level = nic["levels"][numa["at"]] if nic["levels"] and not gpu else None
        self.benchmark, self.error = None, ""  # why it is empty
        self.values, self.median = [], 0

    def find_benchmark(self, task):
        """Finds that of the command line, or the first of the table that fits and is on PATH.
        Returns False if the cell is not asked for, because no benchmark tells it."""
        fitting = [b for b in BENCHMARKS if b.is_latency == (self.quantity == LATENCY)]
        if task["custom"]:
            fitting = [task["custom"]] if self.quantity != LATENCY else []
        elif task["tool"]:
            fitting = [b for b in fitting if b.program == task["tool"]]
        else:
            fitting = [b for b in fitting if self.nic["kind"] in b.kinds]
            names = " ".join(b.program for b in fitting)
            fitting = [b for b in fitting if shutil.which(b.program)]
            if not fitting and self.quantity != LATENCY and not self.gpu:
                self.error = "none of %s is installed; see --tool for any other" % names \
                    if names else "no benchmark is known for %s; see --tool for any" % (
                        self.nic["kind"])
        if fitting and (not self.gpu or "{gpu}" in fitting[0].command):
            self.benchmark = fitting[0]
        return bool(self.benchmark or self.error)

    def measure(self, limit_s):
        """The card writes to the end that receives, and reads from the one that sends: the end that
        the quantity is about is here, the other one beside the NIC. A latency is about the client,
        whose cores start the messages."""
        ends = (self.numa, str(self.gpu["place"]) if self.gpu else ""), (self.nic["near"], "")
        is_server = self.quantity != LATENCY and self.benchmark.from_server == (
            self.quantity == READS)
        self.values.append(run_pair(self.benchmark, self.nic, *ends[::1 if is_server else -1],
                                    limit_s=limit_s))


def near(device, usable):
    """Returns a NUMA node beside a device; where none is known that can be used, any."""
    return ([numa for numa in usable if numa["numa"] in device["numas"]] + usable)[0]


def make_cells(task):
    usable, cells = [numa for numa in task["numas"] if numa["usable"]], []
    for nic in task["nics"] if usable else ():
        nic["near"] = near(nic, usable)
        if nic["taken"]:
            cells += [Cell(nic, numa, None, q) for numa in usable for q in range(3)]
            cells += [Cell(nic, near(gpu, usable), gpu, q)
                      for gpu in task["gpus"] for q in (WRITES, READS)]
    return [cell for cell in cells if cell.find_benchmark(task)]


def busy_cpus():
    """Returns how many processors are busy now, over a fifth of a second; -1 if unknown."""
    def read():
        with open("/proc/stat") as file:
            ticks = [int(t) for t in file.readline().split()[1:9]]
        return sum(ticks[:3] + ticks[5:]), sum(ticks)
    try:
        busy, ticks = read()
        time.sleep(0.2)
        more_busy, more_ticks = read()
    except (OSError, ValueError):
        return -1
    return os.sysconf("SC_NPROCESSORS_ONLN") * (more_busy - busy) / max(1, more_ticks - ticks)


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
    temperature, falls on all alike. A cell that fails once stays empty. Returns the processors that
    were busy before and after."""
    order, shuffler, done, before = list(cells), random.Random(1), 0, busy_cpus()
    for _ in range(task["rounds"]):
        if all(cell.error for cell in cells):
            break
        shuffler.shuffle(order)
        for cell in order:
            try:
                if not cell.error:
                    cell.measure(task["limit_s"])
            except Failed as e:
                cell.error = str(e)
            if stopped:
                raise Failed("stopped by signal %d" % stopped)
            done += 1
            show(done, len(cells), task["rounds"])
    return before, busy_cpus()


# --- what it tells --------------------------------------------------------------------------------

def median(values):
    return statistics.median(values) if values else 0


def mean(values):
    return sum(values) / len(values)


def pooled_mad(cells):
    """Returns the median distance of values from the median of their cell, over that median. Where
    the median is one of the values, that one tells nothing."""
    far = []
    for cell in cells:
        values = sorted(cell.values)
        if len(values) % 2:
            del values[len(values) // 2]
        far += [abs(value - cell.median) / cell.median for value in values if cell.median > 0]
    return median(far)


class Gap:
    """What distance from the NIC costs, from the rates at which cards write: the mean of the NUMA
    nodes beside them against that of each level, over all NICs. A difference below four standard
    errors is none, and one round does not tell these."""

    def __init__(self, cells, mad, rounds):
        self.error = 1.2533 * 1.4826 * mad / math.sqrt(rounds)  # of a median, with normal noise
        self.remote = self.hop = self.least = None  # there is nothing to compare
        levels = [[] for _ in range(LEVELS)]
        for cell in cells:
            beside = [c.median for c in cells if c.nic is cell.nic and c.level == 0]
            if beside and cell.level is not None and cell.level < LEVELS:
                levels[cell.level].append(cell.median / mean(beside))
        if levels[0] and levels[1] and rounds > 1:
            self.least = self.doubt(levels[0], levels[1])
            self.remote = self.more(levels[0], levels[1])
            hops = [max(0, self.more(levels[0], far) - self.remote) / (k - 1)
                    if self.more(levels[1], far) else 0
                    for k, far in enumerate(levels) if k > 1 and far]
            self.hop = mean(hops) if hops else None

    def doubt(self, a, b):
        """Returns the least difference of two levels that is believed."""
        return ERRORS * self.error * math.sqrt(1 / len(a) + 1 / len(b))

    def more(self, close, far):
        a, b = mean(close), mean(far)
        return a / b - 1 if a > b and a - b >= self.doubt(close, far) else 0


def settle(cells, task):
    """Computes medians and what follows from them."""
    for cell in cells:
        cell.median = median(cell.values) if not cell.error else 0
    task["mads"] = [pooled_mad([c for c in cells if c.quantity == q]) for q in range(3)]
    task["gap"] = Gap([c for c in cells if c.quantity == WRITES and c.median > 0],
                      task["mads"][WRITES], task["rounds"])
    task["rows"] = {}  # the cells of a NIC and a place
    for cell in cells:
        task["rows"].setdefault((cell.nic["label"], cell.place), {})[cell.quantity] = cell


def reasons(cells):
    """Says why cells are empty: each reason once, and few of them."""
    found = {}
    for cell in cells:
        if cell.error:
            found.setdefault(cell.error, []).append(cell)
    for why, empty in list(found.items())[:6]:
        yield "%s, %s, %s: %s%s" % (
            empty[0].nic["label"], empty[0].place, NAMES[empty[0].quantity], why,
            " (and %d more)" % (len(empty) - 1) if len(empty) > 1 else "")
    left = sum(len(empty) for empty in list(found.values())[6:])
    if left:
        yield "and %d more figures are missing" % left


def believed(task):
    """Says which differences are believed."""
    gap = task["gap"]
    if task["rounds"] < 2:
        yield "one round gives no variance, so no difference is believed: use --rounds 5"
        return
    yield "values spread by %.1f %% (median absolute deviation), so that a median has a standard " \
        "error of %.1f %%" % (100 * task["mads"][WRITES], 100 * gap.error)
    if gap.remote is None:
        return
    if gap.remote > 0:
        yield "leaving the NIC's NUMA node costs %.1f %% of the rate; from %.1f %% on a " \
            "difference is believed" % (100 * gap.remote / (1 + gap.remote), 100 * gap.least)
    else:
        yield "distance from the NIC costs nothing here: a difference of %.1f %% would have been " \
            "believed" % (100 * gap.least)
    hop = " (hop_cost needs a figure from two levels away)" if gap.hop is None else \
        " hop_cost=%.2f" % gap.hop
    yield "for plugstack.conf: remote_cost=%.2f%s" % (gap.remote, hop)


def report(cells, task):
    """Returns the lines for people."""
    tools = {c.quantity: c.benchmark.program for c in reversed(cells) if c.benchmark}
    numas = [numa for numa in task["numas"] if numa["whole"]]
    left_out = [numa for numa in numas if not numa["usable"]]
    yield "%s:%s %d round%s\n" % (
        task["host"], "".join(" %s by %s," % (NAMES[q], tools[q]) for q in sorted(tools)),
        task["rounds"], "" if task["rounds"] == 1 else "s")
    yield ROW % ("NIC", "memory", "level", "writes MB/s", "reads MB/s", "latency ns", "of best")
    for (label, place), row in task["rows"].items():
        cell, medians = list(row.values())[0], [row[q].median if q in row else 0 for q in range(3)]
        best = max((c.median for c in cells if c.nic is cell.nic and c.quantity == WRITES),
                   default=0)
        yield ROW % ((label, place, "-" if cell.level is None else cell.level)
                     + tuple("%.0f" % m if m > 0 else "-" for m in medians)
                     + ("%.0f %%" % (100 * medians[0] / best) if medians[0] > 0 else "-",))
    yield ""
    yield from reasons(cells)
    if left_out:
        yield "%d of the %d NUMA nodes may not be used here and are left out. In a job, use " \
            "srun --exclusive" % (len(left_out), len(numas))
    if max(task["busy"]) > BUSY_CPUS:
        yield "other load: %.1f CPUs before, %.1f after; figures may be too low" % tuple(
            max(0, busy) for busy in task["busy"])
    if any(c.median > 0 for c in cells if c.quantity == WRITES):
        yield from believed(task)


def json_of(task):
    def rounded(value):
        return None if value is None or value < 0 else round(float(value), 4)

    def row(cells):
        cell, why = list(cells.values())[0], [c.error for c in cells.values() if c.error]
        return {"nic": cell.nic["label"], "numa": None if cell.gpu else cell.numa["numa"],
                "gpu": cell.gpu["pci"] if cell.gpu else None, "level": cell.level,
                **{key: float("%.9g" % cells[q].median) or None if q in cells else None
                   for q, key in enumerate(KEYS)},
                "why": why[0] if why else None}
    gap, mads = task["gap"], task["mads"]
    return json.dumps({
        "nuioa": 1, "cells": [row(cells) for cells in task["rows"].values()],
        "rounds": task["rounds"], "write_mad": rounded(mads[WRITES]),
        "read_mad": rounded(mads[READS]), "latency_mad": rounded(mads[LATENCY]),
        "believed": rounded(gap.least), "busy_cpus": [rounded(b) for b in task["busy"]],
        "remote_cost": rounded(gap.remote), "hop_cost": rounded(gap.hop)}, indent=2)


# --- files ----------------------------------------------------------------------------------------

def write_new(directory, name, data, mode=None):
    """Puts a file in its place when it is complete: readers see the old one or the new one."""
    temporary = "%s.%016x" % (name[:200], random.SystemRandom().getrandbits(64))
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=directory)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            if mode:
                os.fchmod(fd, mode)
            os.fsync(fd)
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(temporary, dir_fd=directory)
        raise


def nic_lines(cells, task, known):
    """Returns the lines for the site's file: what it has, and in its place what was measured."""
    fields = {}
    for line in known:
        label, numa, *rest = line.decode("latin-1").split()[1:]
        fields[label, numa] = dict(field.split("=") for field in rest)
    for cell in cells:
        if cell.median > 0 and not cell.gpu:
            fields.setdefault((cell.nic["label"], "numa=%d" % cell.numa["numa"]), {}).update(
                {KEYS[cell.quantity]: "%.15g" % cell.median, "n": len(cell.values),
                 "mad": "%.6f" % max(task["mads"])})
    order = [(nic["label"], "numa=%d" % n["numa"]) for nic in task["nics"] for n in task["numas"]]
    return "".join(" ".join(("nic",) + at + tuple(
        "%s=%s" % (key, fields[at][key]) for key in KEYS + ("n", "mad") if key in fields[at]))
        + "\n" for at in order if at in fields).encode("latin-1")


def write_out(cells, task, section, name):
    """Writes the site's file, with the section of this node in the place of those with its key. The
    first one that fits counts, so it goes before the others."""
    flags, before = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, b""
    try:
        with open(os.open(name, flags, dir_fd=task["out"]), "rb") as file:
            before = file.read()
    except FileNotFoundError:
        pass
    lines = section.splitlines(True)
    known = [line for line in lines if line.startswith(b"nic ")]
    starts = [m.start() for m in re.finditer(rb"^[ \t\r]*machine[ \t\r]", before, re.M)]
    cuts = [0] + starts + [len(before)]
    head, *others = [before[a:b] for a, b in zip(cuts, cuts[1:])]
    pieces = [head or b"nuioa-distances 1\n",
              b"".join(lines[:len(lines) - len(known)]) + nic_lines(cells, task, known)]
    pieces += [piece for piece in others if not piece.startswith(b"".join(lines[:2]))]
    write_new(task["out"], name, b"".join(
        piece if piece.endswith(b"\n") else piece + b"\n" for piece in pieces), 0o644)


def draw(task, path, name):
    """Has the heat map drawn from the JSON. Returns the exit status."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe-heatmap.py")
    done = subprocess.run([sys.executable or "python3", "-I", script, path],
                          input=json_of(task).encode(), stdout=subprocess.PIPE)
    if not done.returncode:
        write_new(task["heatmap"], name, done.stdout)
    return done.returncode


# --- all of it ------------------------------------------------------------------------------------

def tell(cells, task, section, out, out_name, picture, picture_name):
    """Writes the files and prints the answer. Returns the exit status."""
    status, text = 0, json_of(task) if task["json"] else "\n".join(report(cells, task))
    if not any(cell.median > 0 for cell in cells):
        status, picture, out = 1, "", ""
        fail("nothing was measured: %s" % (cells[0].error if cells else (
            "no NUMA node has memory and CPUs that may be used")))
    try:
        path = picture
        status = draw(task, picture, picture_name) if picture else status
        path = out
        if out and not status:
            write_out(cells, task, section, out_name)
            if not task["json"]:
                text += "\nwritten: %s, for distances=%s in plugstack.conf" % (out, out)
        path = "standard output"
        rest = os.fsencode(text + "\n")
        while rest:
            rest = rest[os.write(1 if sys.stdout else -1, rest):]
    except OSError as e:
        return fail("%s: %s" % (path, e.strerror))
    return status


def main(out, out_name, picture, picture_name, tool, number):
    line, _, section = sys.stdin.buffer.read().partition(b"\n")
    while os.open(os.devnull, os.O_RDWR) < 3:
        pass  # no pipe gets the number of an output that was closed
    task = json.loads(line.decode())
    for fd in {task["out"], task["heatmap"]} - {-1}:
        os.set_inheritable(fd, False)
    for at, numa in enumerate(task["numas"]):
        numa["at"] = at
    task["tool"] = tool
    task["custom"] = number and Benchmark(tool, "", number, 1, False, (), task["groups"])
    libc.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    signals = [n for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
               if signal.getsignal(n) != signal.SIG_IGN]
    for n in signals:
        signal.signal(n, note_signal)
    cells = make_cells(task)
    try:
        task["busy"] = measure(cells, task)
    except Failed as e:
        fail(str(e))
        signal.signal(stopped, signal.SIG_DFL)
        os.kill(os.getpid(), stopped)
    for n in signals:
        signal.signal(n, signal.SIG_DFL)
    settle(cells, task)
    return tell(cells, task, section, out, out_name, picture, picture_name)


if __name__ == "__main__":
    locale.setlocale(locale.LC_ALL, "C")  # for expressions, as in the other parts of nuioa
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(*sys.argv[1:]))
