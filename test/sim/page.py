# SPDX-License-Identifier: BSD-3-Clause
"""The output of the simulation: Markdown, SVG plots by gnuplot, and TAP."""
import os
import re
import subprocess


def percent(ratio):
    return f"{100 * ratio:.0f} %"


def change(value, reference):
    return f"{100 * (value / reference - 1):+.0f} %"


def table(head, rows):
    """A Markdown table; all columns but the first are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


class Report:
    """Collects text and checks; plots are files beside the page."""

    def __init__(self, page=None):
        self.page = page
        self.parts, self.checks = [], []

    def text(self, text):
        self.parts.append(text.strip("\n") + "\n")

    def keep(self, title):
        """The section that the page has already."""
        if not self.page:
            return
        with open(self.page, encoding="utf-8") as page:
            sections = re.split(r"(?m)^(?=## )", page.read())
        self.parts += [part.strip("\n") + "\n" for part in sections
                       if part.startswith(f"## {title}\n")]

    def check(self, passed, name):
        self.checks.append((bool(passed), name))

    def plot(self, name, xlabel, ylabel, curves, logx=False):
        """curves: {title: [(x, y)...]}"""
        if not self.page:
            return
        stem = os.path.splitext(self.page)[0]
        file = f"{stem}-{name}.svg"
        script = [f"set terminal svg size 640,360 font 'sans,11'\nset output '{file}'",
                  f"set xlabel '{xlabel}'\nset ylabel '{ylabel}'\nset key outside right\nset grid",
                  "set yrange [0:*]"]
        if logx:
            script.append("set logscale x 2")
        script.append("plot " + ", ".join(f"'-' with linespoints title '{title}'"
                                          for title in curves))
        for points in curves.values():
            script += [f"{x} {y}" for x, y in points] + ["e"]
        subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)
        self.text(f"![{name}]({os.path.basename(file)})")

    def write(self):
        with open(self.page, "w", encoding="utf-8") as out:
            out.write("\n".join(self.parts))

    def tap(self):
        """Prints the checks as TAP; True if all passed."""
        for number, (passed, name) in enumerate(self.checks, 1):
            print(f"{'ok' if passed else 'not ok'} {number} - {name}")
        print(f"1..{len(self.checks)}")
        return all(passed for passed, _ in self.checks)
