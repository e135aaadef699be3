/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A node of a cluster as the simulation sees it: machines/NAME.machine, one "key value # source" a
 * line. NUMA nodes are joined by links; NICs hang off NUMA nodes. Rates are in MB/s (10^6). */
#include <map>
#include <string>
#include <utility>
#include <vector>

struct Machine {
    std::string name;
    int numa = 0;
    int cores = 0; /* for each NUMA node */
    std::vector<std::pair<int, int>> links;
    std::vector<double> link_mb_s; /* of each link, or 0: what "link_mb_s" says */
    std::vector<int> nics;         /* NUMA node of each */
    std::map<std::string, double> value;

    /* The value of a key. In the environment NUIOA_SIM_SCALE="key=factor" scales one of them and
     * NUIOA_SIM_SET="key=value" replaces one. Ends the program with a message if there is none. */
    double get(const std::string &key) const;
    /* The same for NIC i: "key.i" if the file has that. */
    double get(const std::string &key, size_t i) const;
    /* NUMA nodes from a to b, both included, by the fewest links. */
    std::vector<int> path(int a, int b) const;
    int hops(int a, int b) const { return static_cast<int>(path(a, b).size()) - 1; }
    /* The NIC that a NUMA node uses: the nearest one, among equals the first; `far`: the
     * furthest. */
    int nic_of(int node, bool far = false) const;
};

/* Reads the file. Ends the program with a message if it is wrong. */
Machine read_machine(const std::string &file);
