#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds doc/formats.md against what the programs print and what the sources say.

Usage: formats.py json HEADING FILE...   documents that a command printed, against the table
                                         under HEADING
       formats.py names HEADING NAME...  names found elsewhere, against its first column
       formats.py example WORD           prints the example in the block ```WORD

Prints what differs, one line each; the exit status is 0 if nothing does.
"""
import json
import os
import re
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "doc", "formats.md")


def section(heading):
    """The lines from a heading to the next one of any level."""
    with open(PAGE, encoding="utf-8") as page:
        lines = page.read().splitlines()
    starts = [i for i, line in enumerate(lines)
              if line.startswith("#") and line.lstrip("#").strip() == heading]
    if len(starts) != 1:
        sys.exit("doc/formats.md has %d headings '%s'" % (len(starts), heading))
    inside = []
    for line in lines[starts[0] + 1:]:
        if line.startswith("#"):
            break
        inside.append(line)
    return inside


def rows(heading):
    """[first column, other columns...] of each row whose first column is `one name`."""
    found = []
    for line in section(heading):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `") and re.fullmatch(r"`[^`]+`", cells[0]):
            found.append([cells[0].strip("`")] + cells[1:])
    if not found:
        sys.exit("doc/formats.md: no table under '%s'" % heading)
    return found


def kind(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, float) else "string"


class Document:
    """The content of documents: leaves[path] = kinds of values; objects[path] = keys of each."""

    def __init__(self):
        self.leaves, self.objects = {}, {}

    def add(self, value, path=""):
        if isinstance(value, dict):
            self.objects.setdefault(path, []).append(set(value))
            for key, child in value.items():
                self.add(child, path + "." + key if path else key)
        elif isinstance(value, list):
            for child in value:
                self.add(child, path + "[]")
        else:
            self.leaves.setdefault(path, set()).add(kind(value))


def plain(path):
    return path.replace("[]", "")


def allowed(kinds):
    """The words of "integer or null"; an integer is a number, too."""
    words = set(re.findall(r"integer|number|string|boolean|null", kinds))
    return words | {"integer"} if "number" in words else words


def check_json(heading, paths):
    document, wrong = Document(), []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document.add(json.load(file))
    table = rows(heading)
    for path, kinds in sorted(document.leaves.items()):
        said = [row for row in table if row[0] == path]
        if not said and kinds == {"null"}:  # an array that is null as a whole
            said = [row for row in table if plain(row[0]) == plain(path)]
        if not said:
            wrong.append("%s is printed and not described" % path)
        elif not kinds <= allowed(said[0][1]):
            wrong.append("%s is %s, not %s" % (path, " or ".join(sorted(kinds)), said[0][1]))
    for row in table:
        if row[0] not in document.leaves:
            wrong.append("%s is described and was never printed" % row[0])
        parts = row[0].split(".")
        for i, part in enumerate(parts):
            holders = document.objects.get(".".join(parts[:i]), [])
            absent = "absent" in " ".join(row[1:])
            if not absent and any(plain(part) not in keys for keys in holders):
                wrong.append("%s is missing from some documents, which is not said" % row[0])
    return wrong


def check_names(heading, names):
    said, found = {row[0] for row in rows(heading)}, set(names)
    return (["%s exists and is not described" % name for name in sorted(found - said)] +
            ["%s is described and does not exist" % name for name in sorted(said - found)])


def example(word):
    with open(PAGE, encoding="utf-8") as page:
        found = re.findall(r"^```%s\n(.*?)^```$" % re.escape(word), page.read(), re.M | re.S)
    if len(found) != 1:
        sys.exit("doc/formats.md has %d blocks ```%s" % (len(found), word))
    sys.stdout.write(found[0])


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "example":
        return example(sys.argv[2])
    if len(sys.argv) < 4 or sys.argv[1] not in ("json", "names"):
        sys.exit(__doc__)
    wrong = (check_json if sys.argv[1] == "json" else check_names)(sys.argv[2], sys.argv[3:])
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
