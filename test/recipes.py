#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds what rows of CONTRIBUTING.md's recipes name: each function, type, variable and constant
between backquotes in the last column is in one of the files of that row. Prints those that are not.

A row whose files end with "..." names some of several files: there all files of the project count.
"""
import glob
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ROW = re.compile(r"^\|\s*(\d+)\s*\|(.*?)\|(.*)\|$")
NAME = re.compile(r"(?:(?:struct|enum) )?([A-Za-z_]\w*)(?:\(\))?")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def files_of(column):
    """The files that a row's second column names."""
    named = [path for word in re.findall(r"`([^`]+)`", column) for path in glob.glob(word)]
    if "..." in column:
        named += subprocess.run(["git", "ls-files", "lib", "spank", "pmix", "mpi", "tools"],
                                capture_output=True, text=True, check=True).stdout.split()
    return [path for path in named if os.path.isfile(path)]


def missing(text):
    """[(row, name)] of recipes: what is in no file of its row."""
    found, recipe = [], ""
    for line in text.splitlines():
        if line.startswith("### "):
            recipe = line[4:]
        row = ROW.match(line)
        if not row:
            continue
        words = [NAME.fullmatch(word) for word in re.findall(r"`([^`]+)`", row[3])]
        content = "\n".join(read(path) for path in files_of(row[2])) if any(words) else ""
        found += [(f"{recipe}, row {row[1]}", word[1]) for word in words
                  if word and not re.search(rf"\b{word[1]}\b", content)]
    return found


def main():
    os.chdir(TOP)
    lost = missing(read("CONTRIBUTING.md"))
    for row, name in lost:
        print(f"CONTRIBUTING.md, {row}: {name} is not in the files of that row")
    return bool(lost)


sys.exit(main())
