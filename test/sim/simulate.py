"""Builds and runs the programs of the simulation."""
import os
import subprocess
import sys

from machine import HERE, Machine

CXX = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"]


class Failed(Exception):
    pass


def command(words, env=None, **more):
    done = subprocess.run(words, env=dict(os.environ, **(env or {})), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    if done.returncode:
        raise Failed(f"{' '.join(words)}: status {done.returncode}\n{done.stderr[-3000:]}")
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

    def make(self, target, sources, words, depends=()):
        """Runs the compiler unless `target` is newer than all it is made of."""
        target = self.path(target)
        files = [self.source(name) for name in (*sources, *depends, "machine.hpp")]
        if os.path.exists(target) and all(
                os.path.getmtime(target) > os.path.getmtime(name) for name in files):
            return
        command([*words, "-o", target, *(self.source(name) for name in sources), "-lsimgrid"])

    def compile(self):
        self.make("platform.so", ["platform.cpp", "machine.cpp"], [*CXX, "-shared", "-fPIC"])
        self.make("flows", ["flows.cpp", "machine.cpp"], CXX)

    def flows(self, machine, what, scale=None):
        """Rows of words of the program `flows`."""
        env = {"NUIOA_SIM_MACHINE": Machine(machine).file, "NUIOA_SIM_NODES": "9"}
        if scale:
            env["NUIOA_SIM_SCALE"] = scale
        out = command([self.path("flows"), self.path("platform.so"), what, "--log=root.thres:error"],
                      env)
        return [line.split("\t") for line in out.splitlines()]


def say(text):
    print(text, file=sys.stderr, flush=True)
