#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks an answer of `nuioa topo --json` (or of the oracle) against the lines of golden.tsv.

    golden.py golden.tsv NAME ANSWER.json   a line for each difference; exit 3: no facts about NAME
"""
import json
import sys

sys.dont_write_bytecode = True
from expect import by_os_index  # noqa: E402


def line_of(source, nic):
    if nic is None:
        return [source, "-", "-", "-", "-"]
    label = "%s:%d" % (nic["name"], nic["port"]) if nic["port"] else nic["name"]
    return [source, label, ",".join(map(str, nic["numa"])) or "-",
            ",".join(map(str, nic["level"])) or "-", "yes" if nic["usable"] else "no"]


def main():
    facts, name, answer = sys.argv[1:]
    with open(facts, encoding="ascii") as table:
        rows = [line.rstrip("\n").split("\t") for line in table if line[:1] not in ("#", "\n")]
    want = sorted(row[1:] for row in rows if row[0] == name)
    if not want:
        return 3
    with open(answer, encoding="utf-8") as file:
        topo = by_os_index(json.load(file))
    got = sorted(line_of(topo["distance"]["source"], n) for n in topo["nics"] or [None])
    for row in want:
        if row not in got:
            print("missing: %s" % " ".join(row))
    for row in got:
        if row not in want:
            print("wrong:   %s" % " ".join(row))
    return 0 if got == want else 1


if __name__ == "__main__":
    sys.exit(main())
