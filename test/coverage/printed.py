#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints how many of doc/messages.md's messages a test has printed, and the others with the reason.

    printed.py DIRECTORY...

The directories have the counts of run: build/coverage/unit and build/coverage/cluster. A message is
printed if a line of its call ran. A text of a table has no line: one that names it must have run.
Programs in Python, and those that become another program, have no counts: of their messages a test
must expect the longest piece.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from messages import by_text, files, first, read  # noqa: E402
from table import read_level  # noqa: E402

# Why no test prints a message: the first row that fits its statement.
WHY_NOT = (
    (r"out of memory|ENOMEM|MB of", "memory"),
    (r"strerror|errno|REASON|dlerror", "a failing system call"),
    (r"pmix/|MUNGE|munge|Slurm|PMIx|hwloc|scontrol", "another Slurm or other software"),
    (r"", "no test"),
)


def why_not(text, sites, counts, ran, tests):
    """Returns "" if a test has printed the text, or else the reason."""
    for m in sites:
        own = [counts[m.file, n] for n in m.lines if (m.file, n) in counts]
        if any(own) or not own and m.key and re.search(r"(?<!\w)%s(?!\w)" % re.escape(m.key), ran):
            return ""
    piece = max(re.split(r"(?:NAME|FILE|REASON|\bN)+\b|[][{}|()]", text), key=len)
    piece = piece.strip(" ';:,.")[:30]
    if len(piece) > 12 and piece in tests:
        return ""
    return first(WHY_NOT, text + " ".join("%s %s" % (m.file, " ".join(read(
        m.file).splitlines()[m.lines[0] - 4:m.lines[-1]])) for m in sites))


def main():
    counts = {}
    for directory in sys.argv[1:]:
        for file, lines in read_level(directory).items():
            for line, count in lines.items():
                counts[file, line] = counts.get((file, line), 0) + count
    ran = "\n".join(line for file in files(".c") for n, line in enumerate(
        read(file).splitlines(), 1) if counts.get((file, n)))
    tests = "".join(read(name) for name in files("", under="test"))
    missing = {}
    for text, sites in by_text().items():
        reason = why_not(text, sites, counts, ran, tests)
        missing.setdefault(reason, []).append((text, sites[0]))
    total = sum(map(len, missing.values()))
    printed = len(missing.pop("", []))
    print("%d messages, %d printed by a test (%.0f %%)" % (total, printed, 100 * printed / total))
    for reason, found in sorted(missing.items()):
        print("%s: %d" % (reason, len(found)))
        for text, message in found:
            print("  %s:%d: %s" % (message.file, message.lines[0], text))


if __name__ == "__main__":
    main()
