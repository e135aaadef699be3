#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the recipes of CONTRIBUTING.md. A step is a number, files, a colon and a text:

    1. `lib/option/option.h`, `test/unit/`: a field of `struct nuioa_options`.

Prints each function, type, variable and constant between backquotes in the text that is in none of
the files (or directories) of its step, and each line that is no such step. Where the files end with
"...", all sources count.
"""
import glob
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
STEP = re.compile(r"^(\d+)\. (.*?(?:`|\.\.\.)):\s+(.*(?:\n {3}\S.*)*)", re.M)
NAME = re.compile(r"(?:(?:struct|enum) )?([A-Za-z_]\w*)(?:\(\))?")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def files_of(named):
    """The files that the first part of a step names."""
    words = re.findall(r"`([^`]+)`", named)
    if "..." in named:
        words += ["lib", "spank", "pmix", "mpi", "tools"]
    paths = [path for word in words for path in glob.glob(word)]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *paths],
                            capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if os.path.isfile(path)] if paths else []


def missing(text):
    """[(step, fault)] of recipes: a name that is in no file of its step, a line that is no step."""
    found = []
    for recipe in re.split(r"^### ", text, flags=re.M)[1:]:
        title = recipe.split("\n", 1)[0]
        for line in re.findall(r"^\d+\..*", recipe, re.M):
            if not STEP.match(line + "\n   -"):
                found.append((title, f"no step: {line}"))
        for number, named, rest in STEP.findall(recipe):
            words = [NAME.fullmatch(word) for word in re.findall(r"`([^`]+)`", rest)]
            content = "\n".join(map(read, files_of(named))) if any(words) else ""
            found += [(f"{title}, step {number}", f"{word[1]} is in none of its files")
                      for word in words if word and not re.search(rf"\b{word[1]}\b", content)]
    return found


def main():
    os.chdir(TOP)
    lost = missing(read("CONTRIBUTING.md"))
    for step, fault in lost:
        print(f"CONTRIBUTING.md, {step}: {fault}")
    return bool(lost)


sys.exit(main())
