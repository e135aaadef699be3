#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints each use of a retired name. "test/lint retired" calls it.

    test/retired.py <LIST OF FILES

test/retired.tsv has four columns: the old name, the new one, the kind, and the exceptions.

    file      a path that no longer exists: no text names it
    name      an identifier, or "struct NAME": it is in no text, not even in a comment
    word      an English word that was an identifier with another meaning: no C code has it as
              an identifier; comments and strings may use it
    sentence  words that told what is not so: no text has them, on one line or on several, in a
              string that is cut or between macros of a manual; the new ones tell what is so
    ordinary  an identifier that was renamed where it was wrong, and is right elsewhere: it is
              not searched for, and the last column says why

Exceptions are "PATTERN,PATTERN: REASON", separated by "; ". A pattern is a path, where * is any
text.
NEWS and the table itself may use every name, because they tell what has changed.
"""
import fnmatch
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TABLE = "test/retired.tsv"
KINDS = ("file", "name", "word", "sentence", "ordinary")
# What may stand between two words of a sentence, besides blanks.
BETWEEN = r"(?:[\s\"'*#\\]|\n\.[A-Z]{1,2} )+"
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)


def read(path):
    """The text of a file; None if it is no text."""
    try:
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            return file.read()
    except (UnicodeDecodeError, OSError):
        return None


def read_table():
    """[(old, kind, patterns of the files that may use it)]; prints the lines that are wrong."""
    rows = []
    for number, line in enumerate(read(TABLE).splitlines()[1:], 2):
        columns = line.split("\t")
        if len(columns) != 4 or columns[2] not in KINDS:
            print(f"{TABLE}:{number}: wanted are four columns and a kind of {', '.join(KINDS)}")
            continue
        old, _, kind, exceptions = columns
        parts = [part.partition(": ") for part in exceptions.split("; ") if part]
        if kind == "ordinary":
            if not exceptions:
                print(f"{TABLE}:{number}: {old} has no reason")
            continue
        for patterns, _, reason in parts:
            if not patterns or not reason:
                print(f"{TABLE}:{number}: an exception of {old} has no reason")
        rows.append((old, kind, [p for patterns, _, _ in parts for p in patterns.split(",")]))
    return rows


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def blank(match):
    """Comments and strings as blanks, so that the numbers of lines stay."""
    return re.sub(r"[^\n]", " ", match.group())


def is_longer(text, start, end, files):
    """Whether the path at text[start:end] is the end of the path of a file that exists."""
    before = re.search(r"[\w./-]*\Z", text[:start][-200:]).group() + text[start:end]
    return any(before.endswith("/" + file) or before == file for file in files)


def main():
    files = [line for line in sys.stdin.read().splitlines() if line != TABLE]
    rows = read_table()
    by_word = {}
    for old, kind, patterns in rows:
        if kind == "file" and old in files:
            print(f"{old}: this name is retired")
        by_word.setdefault(max(re.findall(r"\w+", old), key=len), []).append((old, kind, patterns))
    ends = {}
    for file in files:
        ends.setdefault(os.path.basename(file), []).append(file)
    for path in files:
        text = None if path == "NEWS" else read(path)
        if text is None:
            continue
        words = set(re.findall(r"\w+", text))
        code = None
        for old, kind, patterns in (r for word in words & by_word.keys() for r in by_word[word]):
            if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
                continue
            if kind == "word":
                if not path.endswith((".c", ".h")):
                    continue
                code = code if code is not None else NOT_CODE.sub(blank, text)
            searched = code if kind == "word" else text
            left = r"(?<![\w-])" if kind == "file" else r"(?<!\w)"
            pattern = BETWEEN.join(map(re.escape, old.split())) if kind == "sentence" \
                else re.escape(old)
            for match in re.finditer(left + pattern + r"(?!\w)", searched):
                same_end = ends.get(os.path.basename(old), [])
                if kind != "file" or not is_longer(text, *match.span(), same_end):
                    print(f"{path}:{line_of(text, match.start())}: {old} is retired")


if __name__ == "__main__":
    main()
