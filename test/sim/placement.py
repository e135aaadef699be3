# SPDX-License-Identifier: BSD-3-Clause
"""Placement of communicating ranks on a loaded machine, and of two rails. No MPI in it."""
from page import change, percent, table

TITLE = "Placement, without MPI"

# Thesis table 2.3: processor, memory, its stores alone, with RDMA, RDMA beside them (MB/s).
TABLE_23 = [(2, 4, 2171, 1232, 883), (4, 2, 2177, 1611, 971),
            (2, 2, 2740, 2040, 1002), (4, 4, 2730, 1616, 859)]
RDMA_ALONE = 1049
UNCERTAIN = ["link_mb_s", "bank_mb_s", "dma_write_remote_mb_s", "dma_write_mb_s"]


def table_23(sim, report):
    rows = sim.flows("hagrid", "table23")
    alone = float(rows[0][1])
    lines = [("RDMA into memory 6, alone", "", "", RDMA_ALONE, f"{alone:.0f}",
              change(alone, RDMA_ALONE))]
    for published, row in zip(TABLE_23, rows[1:]):
        cpu, memory, single, loaded, rdma = published
        got = [float(word) for word in row[2:]]
        name = f"processor {cpu} stores into memory {memory}"
        lines.append((name + ", alone", single, f"{got[0]:.0f}", "", "", change(got[0], single)))
        lines.append((name + ", with RDMA", loaded, f"{got[1]:.0f}", rdma, f"{got[2]:.0f}",
                      change(got[1], loaded) + " / " + change(got[2], rdma)))
        report.check(got[1] < got[0], f"table 2.3: RDMA slows stores {cpu} -> {memory}")
        report.check(abs(got[1] / loaded - 1) < 0.25,
                     f"table 2.3: stores {cpu} -> {memory} under RDMA within 25 %")
    report.text("""
### Thesis table 2.3: memory load on the links (Hagrid)

Stores of one processor and RDMA coming in from the network into memory 6, which passes NUMA nodes
2 and 4. The lone rates are parameters; those side by side are predictions. MB/s.
""")
    report.text(table(["", "stores: published", "predicted", "RDMA: published", "predicted",
                       "error"], lines))
    report.text("""
Reproduced: every store stream loses, and by how much to within 20 %. Not reproduced: what
the RDMA stream itself loses (4 to 18 % published, nothing here): the model shares a crossbar
evenly, and RDMA asks for less than its even share. So the gains of placement under load below are,
for RDMA that shares links, on the low side.
""")


def palliative(sim, report):
    rows = sim.flows("hagrid", "palliative")
    data = {(row[0], int(row[1])): [float(word) for word in row[2:]] for row in rows}
    report.text("""
### Palliative placement: 1 to 8 communicating ranks (Hagrid)

Thesis 3.3.1 proposes it and has no figures. Each communicating rank receives a stream from a
machine of its own; the other cores of the 16 do nothing, or store into their own NUMA node's memory
("local"), or into that of others as interleaved pages make them ("remote"). *Sorted*: by hops
from the NIC, two ranks a NUMA node; *any*: mean of 20 random placements; *far*: the reverse of
sorted. Total received, MB/s; and what the computing cores store, sorted against any.
""")
    lines = []
    for (load, count), (near, mean, far, cpu, cpu_any, _) in data.items():
        lines.append((load, count, f"{near:.0f}", f"{mean:.0f}", f"{far:.0f}", change(near, mean),
                      change(near, far), change(cpu, cpu_any) if cpu_any else ""))
        report.check(near > far, f"palliative: sorted beats far, {load}, {count} ranks")
        report.check(near >= mean * 0.99,
                     f"palliative: sorted is no worse than any, {load}, {count}")
    report.text(table(["load", "ranks", "sorted", "any", "far", "to any", "to far", "stores"],
                      lines))
    report.plot("placement", "communicating ranks", "received, MB/s",
                {f"{name}, {load}": [(count, data[load, count][index]) for count in range(1, 9)]
                 for load in ("local", "remote")
                 for index, name in enumerate(("sorted", "any", "far"))})
    gains = []
    for key in UNCERTAIN:
        for factor in (0.8, 1.2):
            got = {(row[0], int(row[1])): [float(word) for word in row[2:]]
                   for row in sim.flows("hagrid", "palliative", f"{key}={factor}")}
            worst = min(got, key=lambda at: got[at][0] / got[at][2])
            best = max(got, key=lambda at: got[at][0] / got[at][2])
            gains.append((f"{key} x {factor}", change(got["remote", 2][0], got["remote", 2][2]),
                          change(got[worst][0], got[worst][2]), change(got[best][0], got[best][2])))
            report.check(got[worst][0] >= got[worst][2] * 0.99,
                         f"palliative: sorted never loses to far with {key} x {factor}")
    report.text("""
What uncertain parameters change in the gain of sorted over far (two ranks under remote load; the
smallest and the largest gain of all rows):
""")
    report.text(table(["", "2 ranks, remote", "smallest", "largest"], gains))


def rails(sim, report):
    dalton = sim.flows("dalton", "rails")
    near, far = float(dalton[0][3]), float(dalton[1][3])
    report.text("""
### Two rails

Dalton (PDCS 2007 figure 3, thesis figure 1.4): Myri-10G and Elan4 both at NUMA node 0, a message
over both. MB/s; the rails' single rates are parameters, their sum is a prediction.
""")
    report.text(table(["", "published", "predicted", "error"],
                      [("near", "1900 to 2000", f"{near:.0f}", change(near, 1950)),
                       ("far", "below 1200", f"{far:.0f}", change(far, 1200)),
                       ("lost when far", "up to 40 %", percent(1 - far / near), "")]))
    report.check(0.3 < 1 - far / near < 0.5, "two rails far lose 40 % within 10 points (Dalton)")
    report.text("""
Two equal cards on NUMA nodes 0 and 1 of the CASS 2011 node, and the modern nodes: a stream into
each NUMA node by the nearest card, by the furthest, and by all at once (MB/s).
""")
    lines = []
    for name in ("two-rails", "epyc", "frontier"):
        for row in sim.flows(name, "rails"):
            single = [float(word) for word in row[1:-1]]
            lines.append((name, row[0], f"{max(single):.0f}", f"{min(single):.0f}", row[-1],
                          change(max(single), min(single))))
        report.check(max(single) >= min(single), f"{name}: the near rail is no slower")
    report.text(table(["machine", "NUMA node", "nearest", "furthest", "all", "near to far"], lines))


def section(sim, report, short=False):
    report.text(f"""
## {TITLE}
""")
    table_23(sim, report)
    if not short:
        palliative(sim, report)
    else:
        rows = sim.flows("hagrid", "palliative")
        report.check(all(float(row[2]) > float(row[4]) for row in rows),
                     "palliative: sorted beats far for 1 to 8 ranks under each load")
        report.check(any(float(row[2]) > 1.5 * float(row[3]) for row in rows if row[0] == "remote"),
                     "palliative: sorted beats random by half under remote load somewhere")
    rails(sim, report)
