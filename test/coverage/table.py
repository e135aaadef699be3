#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints a table of the lines that tests ran, out of gcovr's JSON files.

    table.py TSV UNIT-DIRECTORY [CLUSTER-DIRECTORY]

A room is a folder; "lib/" stands for all rooms below lib. The lines of a file that is compiled
several times are added up: a line was run if it was run in one of the builds.
Below the table are the files of which fewer lines ran than `aims` wants of their room.
TSV gets the table, with "-" for what has not run.
"""
import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOMS = ("lib/", "spank/", "pmix/", "mpi/", "tools/")


def read_level(directory):
    """{file: {line: count}} of one directory of JSON files"""
    files = {}
    for path in glob.glob(os.path.join(directory, "*.json")):
        with open(path, encoding="utf-8") as text:
            for file in json.load(text)["files"]:
                if file["file"].startswith(ROOMS):
                    lines = files.setdefault(file["file"], {})
                    for line in file["lines"]:
                        if not line.get("gcovr/noncode"):
                            number = line["line_number"]
                            lines[number] = lines.get(number, 0) + line["count"]
    return files


def share(level, names):
    """(lines, percent that ran) of some files"""
    lines = sum(len(level[name]) for name in names)
    ran = sum(count > 0 for name in names for count in level[name].values())
    return lines, 100.0 * ran / lines if lines else 0.0


def rooms_of(files):
    """{room or group of rooms: names of its files}"""
    rooms = {}
    for name in sorted(files):
        room = os.path.dirname(name)
        group = name.split("/")[0] + "/"
        for key in {room, group}:
            rooms.setdefault(key, []).append(name)
    # a group of one room is the room
    return {room: names for room, names in rooms.items()
            if not room.endswith("/") or rooms.get(room[:-1]) != names}


def aim_of(name, aims):
    fitting = [aims[key] for key in sorted(aims, key=len) if name.startswith(key)]
    return fitting[-1] if fitting else None


def main():
    tsv, levels = sys.argv[1], [read_level(directory) for directory in sys.argv[2:]]
    with open(os.path.join(HERE, "aims"), encoding="utf-8") as text:
        aims = {room: float(aim) for room, aim in (line.split() for line in text)}
    print(f"{'room':18} {'lines':>6} {'unit %':>7} {'with cluster tests %':>21}")
    with open(tsv, "w", encoding="utf-8") as table:
        print("room", "lines", "unit %", "with cluster tests %", sep="\t", file=table)
        for room, names in sorted(rooms_of(levels[0]).items()):
            shares = [share(level, [name for name in names if name in level])
                      for level in levels]
            percent = [f"{part:.1f}" for _, part in shares] + ["-"] * (2 - len(levels))
            print(f"{room:18} {shares[0][0]:6} {percent[0]:>7} {percent[1]:>21}")
            print(room, shares[0][0], *percent, sep="\t", file=table)
    print("files below the aim, with the lines that no unit test ran:")
    for name in sorted(levels[0]):
        aim, (_, part) = aim_of(name, aims), share(levels[0], [name])
        if aim is not None and part < aim:
            missed = [str(number) for number, count in sorted(levels[0][name].items()) if not count]
            print(f"  {name} {part:.1f}: {' '.join(missed)}")


if __name__ == "__main__":
    main()
