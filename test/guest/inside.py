#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Says the same lines as inside.c, of a Python that has loaded libgomp as its numeric libraries do:

    python3 inside.py
"""
import ctypes
import mmap
import os
import re
import threading


def step_cpus():
    """The CPUs of the cgroup, or of the nearest above it that says them."""
    with open("/proc/self/cgroup", encoding="ascii") as file:
        path = file.read().strip().rpartition("0::")[2]
    while path:
        try:
            with open(f"/sys/fs/cgroup{path}/cpuset.cpus.effective", encoding="ascii") as file:
                return file.read().strip()
        except FileNotFoundError:
            path = path.rpartition("/")[0]
    return ""


def field(who, name):
    """A field of /proc/.../status of this thread."""
    with open(f"/proc/self/task/{threading.get_native_id()}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(name + ":"):
                return line.split()[1]
    raise SystemExit(f"{who}: /proc has no {name}")


def own_numa():
    """The NUMA node of the CPU on which this thread runs."""
    numa = ctypes.c_uint()
    ctypes.CDLL(None).getcpu(None, ctypes.byref(numa))
    return numa.value


def touch_pages():
    """(new pages, the NUMA node on which all were touched, unless the thread is moved each time)"""
    size = mmap.PAGESIZE
    for _ in range(100):
        memory = mmap.mmap(-1, 16 * size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        before = own_numa()
        for page in range(16):
            memory[page * size] = 1
        ran = own_numa()
        if ran == before:
            break
    return memory, ran


def pages():
    """Policy; where the pages of a new mapping lie, as numa_maps has it: 5:16; who touched them."""
    memory, ran = touch_pages()
    view = ctypes.c_char.from_buffer(memory)
    start = ctypes.addressof(view)
    policy, places = "", ""
    best = -1
    with open("/proc/self/numa_maps", encoding="ascii") as file:
        for line in file:
            begin = int(line.split()[0], 16)
            if best < begin <= start:
                best, policy = begin, line.split()[1]
                places = ",".join(f"{n}:{count}" for n, count in
                                  re.findall(r" N(\d+)=(\d+)", line))
    return policy.replace("prefer:", "preferred:"), places, ran


def say(who):
    """Writes one line at once."""
    policy, places, ran = pages()
    text = (f"step={os.environ.get('SLURM_STEP_ID', '')} rank={os.environ['SLURM_PROCID']} "
            f"who={who} cpus={field(who, 'Cpus_allowed_list')} policy={policy} "
            f"pages={places} ran={ran} step_cpus={step_cpus()}\n")
    os.write(1, text.encode())


def main():
    ctypes.CDLL("libgomp.so.1")
    say("main")
    thread = threading.Thread(target=say, args=("thread",))
    thread.start()
    thread.join()
    child = os.fork()
    if child == 0:
        say("child")
        os._exit(0)
    os.waitpid(child, 0)


main()
