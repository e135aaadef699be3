# SPDX-License-Identifier: BSD-3-Clause
"""Machines as the simulation sees them: machines/NAME.machine. platform.cpp says what they mean."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))


class Machine:
    def __init__(self, name):
        self.key = name
        self.file = os.path.join(HERE, "machines", name + ".machine")
        self.links, self.rates, self.nics, self.value, self.sources = [], [], [], {}, []
        with open(self.file, encoding="utf-8") as lines:
            for line in lines:
                text, _, source = line.strip().partition("#")
                key, *words = text.split()
                self.sources.append((key, " ".join(words), source.strip()))
                if key == "name":
                    self.name = " ".join(words)
                elif key == "link":
                    self.links.append(tuple(int(word) for word in words[:2]))
                    self.rates.append(float(words[2]) if len(words) > 2 else None)
                elif key == "nic":
                    self.nics.append(int(words[0]))
                else:
                    self.value[key] = float(words[0])

    def __getitem__(self, key):
        return self.value[key]

    @property
    def numa(self):
        return int(self["numa"])

    def hops(self, a, b):
        """Links between two NUMA nodes, by the shortest way."""
        reached, count = {a}, 0
        while b not in reached:
            reached |= {y for x, y in self.links if x in reached}
            reached |= {x for x, y in self.links if y in reached}
            count += 1
        return count

    def link_rates(self):
        """(NUMA node, NUMA node, MB/s each way)"""
        return [(a, b, rate or self["link_mb_s"]) for (a, b), rate in zip(self.links, self.rates)]
