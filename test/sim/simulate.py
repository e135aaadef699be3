# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs the programs of the simulation."""
import concurrent.futures
import dataclasses
import os
import subprocess
import sys
import tempfile

from machine import HERE, Machine

CXX = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"]


CC = ["smpicc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"]

# Messages below this many bytes are sent without waiting for the receiver. SMPI's own default is a
# mixture, and a chain of such messages has no back-pressure.
RENDEZVOUS, EAGER = 0, 1 << 30
DEFAULT_EAGER = 65536 - 1

# Nothing of SimGrid's own idea of networks: rates and latencies are the platform's.
SETTINGS = ["smpi/simulate-computation:no", "smpi/bw-factor:0:1", "network/weight-S:0",
            "network/TCP-gamma:0", "network/crosstraffic:0"]


class Failed(Exception):
    status = None


@dataclasses.dataclass(frozen=True)
class Job:
    """One run of `bench`: what it measures, and on how many ranks of which machine."""
    machine: str
    nodes: int
    per_node: int
    what: str
    sizes: tuple
    roots: int = 1
    cores: tuple = ()  # of each node, where ranks run; else as few in each NUMA node as will do
    eager: int = DEFAULT_EAGER
    env: tuple = ()  # pairs
    precision: str = "1e-7"  # seconds: events so close are one; coarser is much faster
    timeout: int = 600
    first: int = 0  # NUMA node of local rank 0: its ranks and those of NUMA node 0 change places


def command(words, env=None, **more):
    done = subprocess.run(words, env=dict(os.environ, **(env or {})), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    if done.returncode:
        failed = Failed(f"{' '.join(words)}: status {done.returncode}\n{done.stderr[-3000:]}")
        failed.status = done.returncode
        raise failed
    return done.stdout


class Simulator:
    """Programs built in `build`; nothing else is written."""

    def __init__(self, build):
        self.build = build
        os.makedirs(build, exist_ok=True)

    def path(self, name):
        return os.path.join(self.build, name)

    def source(self, name):
        return os.path.join(HERE, name)

    def make(self, target, sources, words, depends=(), libraries=("-lsimgrid",)):
        """Runs the compiler unless `target` is newer than all it is made of."""
        target = self.path(target)
        files = [self.source(name) for name in (*sources, *depends, "machine.hpp")]
        if os.path.exists(target) and all(
                os.path.getmtime(target) > os.path.getmtime(name) for name in files):
            return
        command([*words, "-o", target, *(self.source(name) for name in sources), *libraries])

    def compile(self):
        self.make("platform.so", ["platform.cpp", "machine.cpp"], [*CXX, "-shared", "-fPIC"])
        self.make("flows", ["flows.cpp", "machine.cpp"], CXX)
        self.make("libmemory.so", ["memory.cpp"], [*CXX, "-shared", "-fPIC"],
                  ["memory.hpp"])
        self.make("bench", ["bench.c", "published.c", "today.c"],
                  [*CC, "-L" + self.build, "-Wl,-rpath," + self.build, "-D_GNU_SOURCE"],
                  ["published.h", "today.h", "memory.hpp"], ["-lmemory"])

    def flows(self, machine, what, scale=None):
        """Rows of words of the program `flows`."""
        env = {"NUIOA_SIM_MACHINE": Machine(machine).file, "NUIOA_SIM_NODES": "9"}
        if scale:
            env["NUIOA_SIM_SCALE"] = scale
        out = command([self.path("flows"), self.path("platform.so"), what,
                       "--log=root.thres:error"], env)
        return [line.split("\t") for line in out.splitlines()]


    def mpi(self, job):
        """Seconds for each size, or None where the run took longer than the job's limit."""
        machine = Machine(job.machine)
        per_numa = int(machine["cores"]) if job.cores else -(-job.per_node // machine.numa)
        cores = job.cores or exchanged(range(job.per_node), per_numa, job.first)
        env = {"NUIOA_SIM_MACHINE": machine.file, "NUIOA_SIM_NODES": str(job.nodes),
               "NUIOA_SIM_CORES": str(per_numa),
               "NUIOA_SIM_NEAR": str(machine.nics[0]), **dict(job.env)}
        with tempfile.NamedTemporaryFile("w", suffix=".hosts") as hosts:
            hosts.writelines(f"n{node}c{core}\n" for node in range(job.nodes) for core in cores)
            hosts.flush()
            settings = [*SETTINGS, f"smpi/async-small-thresh:{min(job.eager, 1 << 30)}",
                        f"smpi/send-is-detached-thresh:{job.eager}",
                        "smpi/coll-selector:default",
                        f"surf/precision:{job.precision}"]
            try:
                out = command(["timeout", str(job.timeout), "smpirun",
                               "-np", str(job.nodes * job.per_node), "-platform",
                               self.path("platform.so"), "-hostfile", hosts.name,
                               *("--cfg=" + setting for setting in settings),
                               "--log=root.thres:error", self.path("bench"), job.what,
                               str(job.per_node), str(job.roots), *map(str, job.sizes)],
                              env)
            except Failed as failed:
                if failed.status == 124:
                    return None
                raise
        times = dict(line.split() for line in out.splitlines())
        if len(times) != len(job.sizes):
            raise Failed(f"{job}: no result: {out}")
        return [float(times[str(size)]) for size in job.sizes]

    def all(self, jobs):
        """{job: times}; as many at once as there are processors, two at most."""
        jobs = list(dict.fromkeys(jobs))
        with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            return dict(zip(jobs, pool.map(self.mpi, jobs)))


def exchanged(cores, per_numa, first):
    """The cores of local ranks 0, 1, ... if those of NUMA node `first` come before those of 0."""
    other = {0: first, first: 0}
    return [core + (other.get(core // per_numa, core // per_numa) - core // per_numa) * per_numa
            for core in cores]


def say(text):
    print(text, file=sys.stderr, flush=True)
