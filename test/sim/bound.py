# SPDX-License-Identifier: BSD-3-Clause
"""The least time any Bcast can take on a machine, whatever its algorithm."""
from machine import Machine


def bounds(name, nodes, per_node, size):
    """[(what, least traffic in bytes, capacity in MB/s, least time in ms)], for any root.

    Every rank but the root gets every byte: it is written once into that rank's bank, and read once
    from somewhere. Nothing is sent to two at once. What each resource must carry at least:
    """
    machine = Machine(name)
    value = machine.value
    ranks = nodes * per_node
    def nics(which):
        return sum(min(value.get(f"{which}.{i}", value[which]), value["wire_mb_s"])
                   for i in range(len(machine.nics)))
    banks = machine.numa * value["bank_mb_s"]
    rows = []
    if nodes > 1:
        rows.append(("the NICs of a node, coming in", size, nics("dma_write_mb_s")))
        rows.append(("the NICs of the root's node, going out", size, nics("dma_read_mb_s")))
    rows.append(("one bank: its ranks' copies", per_node // machine.numa * size,
                 value["bank_mb_s"]))
    rows.append(("all banks: each copy written and read", 2 * (ranks - 1) * size, nodes * banks))
    if nodes > 1:
        # Cores copy what the NICs do not write; the NICs may bring more than one copy.
        rows.append(("NICs and cores of a node: its ranks' copies", per_node * size,
                     nics("dma_write_mb_s") + per_node * value["copy_mb_s"]))
    for node in range(machine.numa):
        if node in machine.nics or nodes == 1:
            continue
        links = sum(rate for a, b, rate in machine.link_rates() if node in (a, b))
        rows.append((f"links into NUMA node {node}: one copy", size, links))
    return [(what, traffic, rate, traffic / rate / 1e3) for what, traffic, rate in rows]


def bound_ms(name, nodes, per_node, size):
    return max(row[3] for row in bounds(name, nodes, per_node, size))
