# SPDX-License-Identifier: BSD-3-Clause
"""Draws what `nuioa probe --json` or `nuioa probe --nic --json` has measured; nuioa starts it.

    probe-heatmap.py FILE [--check] <JSON >PICTURE

FILE only says the format, by its end. With --check nothing is read or drawn: the exit status says
whether it could be.
"""

import signal
signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback

import json
import logging
import os
import site
import sys

# Python was started without these; matplotlib may be there.
sys.path[:0] = [path for path in os.environ.get("PYTHONPATH", "").split(":") if path]
sys.path.append(site.getusersitepackages())


def fail(text):
    sys.exit("nuioa: --heatmap: %s" % text)


try:
    import matplotlib.cm
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
except ImportError:
    fail("drawing requires matplotlib for python3: install it, or use --json")

QUANTITIES = (("write_mb_s", "writes, MB/s"), ("read_mb_s", "reads, MB/s"),
              ("latency_ns", "latency, ns"))


def draw(rows, row_names, columns, title, below=""):
    """Draws a square for each (number, darkness from 0 to 1, whether it has a frame), or None."""
    figure = Figure(figsize=(0.7 * len(columns) + 1, 0.5 * len(rows) + 1))
    axes = figure.subplots()
    for y, x in ((y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell):
        number, shade, framed = rows[y][x]
        colour = matplotlib.cm.YlOrRd(float(shade))
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, gid="cell-%d-%d" % (y, x)))
        if framed:
            axes.add_patch(Rectangle((x + 0.04, y + 0.04), 0.92, 0.92, fill=False, linewidth=2,
                                     edgecolor="#1f4e9c", gid="frame-%d-%d" % (y, x)))
        axes.text(x + 0.5, y + 0.5, "%.0f" % number, ha="center", va="center",
                  weight="bold" if framed else "normal",
                  color="black" if sum(colour[:3]) > 1.5 else "white")
    axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0), xlabel=below,
             xticks=[x + 0.5 for x in range(len(columns))], xticklabels=columns,
             yticks=[y + 0.5 for y in range(len(rows))], yticklabels=row_names)
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    axes.set_title(title, pad=12, fontsize=11)
    return figure


def between_numas(d):
    """Darker is farther; a frame is a link."""
    over, numas = d["latency_ns"], d["numa"]
    most = max(1, max(map(max, over)))
    links = {frozenset(link) for link in d["links"] or ()}
    rows = [[(ns, max(0, ns / most), frozenset((i, j)) in links) for j, ns in zip(numas, row)]
            for i, row in zip(numas, over)]
    below = "not to be trusted" if not d["accepted"] else \
        "%d links (framed) of %.1f ns" % (len(links), d["quantum_ns"]) if len(numas) > 1 else ""
    return draw(rows, ["core of %d" % i for i in numas], ["memory\nof %d" % i for i in numas],
                "ns more than a load from local memory", below)


def of_nics(d):
    """Darker is worse: half of the best rate, or twice the best latency, is as dark as it gets. A
    frame is beside the NIC."""
    cells = [cell for cell in d["cells"] if cell["numa"] is not None]
    numas = sorted({cell["numa"] for cell in cells})
    rows, names = [], []
    for nic in sorted({cell["nic"] for cell in cells}, key=[c["nic"] for c in cells].index):
        for key, name in QUANTITIES:
            of = {c["numa"]: c for c in cells if c["nic"] == nic and c[key] is not None}
            values = [cell[key] for cell in of.values()]
            if not values:
                continue
            best = min(values) if key == "latency_ns" else max(values)
            scale = best if key == "latency_ns" else best / 2
            names.append("%s\n%s" % (nic, name))
            rows.append([(of[n][key], min(1, abs(of[n][key] - best) / scale), of[n]["level"] == 0)
                         if n in of else None for n in numas])
    return draw(rows, names, ["NUMA\nnode %d" % n for n in numas],
                "what NICs reach from each NUMA node (beside the NIC: framed)")


def main(path, check=None):
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    kind = os.path.splitext(path)[1][1:].lower()
    known = Figure().canvas.get_supported_filetypes()
    if kind not in known:
        fail("%s: the name must end in one of .%s" % (ascii(path), " .".join(sorted(known))))
    if check:
        return
    d = json.load(sys.stdin)
    # In SVG texts stay texts, of a font that browsers have; and each time it is the same picture.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "nuioa",
                                "font.sans-serif": ["DejaVu Sans", "sans-serif"]})
    figure = of_nics(d) if "cells" in d else between_numas(d)
    figure.savefig(sys.stdout.buffer, format=kind, bbox_inches="tight",
                   metadata={"Date": None} if kind == "svg" else None)


if __name__ == "__main__":
    main(*sys.argv[1:])
