# SPDX-License-Identifier: BSD-3-Clause
"""The head of the page: what is simulated, and from what."""
from machine import Machine
from page import table

MACHINES = ["cass", "infini", "dalton", "hagrid", "two-rails", "xeon", "frontier", "epyc"]


def section(_sim, report, _short=False):
    report.text("""
# Performance, as simulated

Written by `test/sim/run`.

No machine of these was at hand: what follows is SimGrid's answer (Debian's package) for models of
them. A model's parameters come from point-to-point measurements (one stream, one copy, one
message), each with its source in the tables at the end; what it says of several streams at once and
of collectives is a *prediction*, and nothing was fitted to collective results. Where a figure was
published it stands beside the prediction, with the error, also where that is large. A figure
without a published one beside it is a prediction that nobody has checked on hardware.

The model (`test/sim/platform.cpp`): memory banks, links of either direction, NICs and copying cores
are capacities that all who use them share evenly; Opterons also charge a crossbar for what only
passes. There are no caches, no latency of loaded memory, no operating system, and the network
between nodes never blocks.
""")


def sources(report):
    report.text("""
## Parameters and where they come from
""")
    for name in MACHINES:
        machine = Machine(name)
        report.text(f"### {name}: {machine.name}\n")
        report.text(table(["key", "value", "source"],
                          [row for row in machine.sources if row[0] != "name"]))
