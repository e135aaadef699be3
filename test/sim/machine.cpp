/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <queue>
#include <sstream>

[[noreturn]] static void fail(const std::string &text)
{
    std::cerr << "machine: " << text << "\n";
    std::exit(1);
}

Machine read_machine(const std::string &file)
{
    Machine m;
    std::ifstream in(file);
    if (!in)
        fail("cannot read " + file);
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string key;
        if (!(words >> key))
            continue;
        double number = 0, second = 0;
        if (key == "name") {
            std::getline(words >> std::ws, m.name);
            continue;
        }
        if (!(words >> number))
            fail(file + ": no number in: " + line);
        if (key == "numa")
            m.numa = static_cast<int>(number);
        else if (key == "cores")
            m.cores = static_cast<int>(number);
        else if (key == "nic")
            m.nics.push_back(static_cast<int>(number));
        else if (key == "link" && words >> second) {
            m.links.emplace_back(static_cast<int>(number), static_cast<int>(second));
            m.link_mb_s.push_back(words >> number ? number : 0);
        } else if (key == "link" || !m.value.emplace(key, number).second)
            fail(file + ": " + line);
    }
    if (m.numa < 1 || m.cores < 1 || m.nics.empty())
        fail(file + ": numa, cores and nic are needed");
    return m;
}

/* What the environment says of a key: "key=number", else -1. */
static double changed(const char *variable, const std::string &key)
{
    const char *text = std::getenv(variable);
    bool found = text && std::string(text).compare(0, key.size() + 1, key + "=") == 0;
    return found ? std::atof(text + key.size() + 1) : -1;
}

double Machine::get(const std::string &key) const
{
    auto found = value.find(key);
    if (found == value.end())
        fail(name + ": no value for " + key);
    double set = changed("NUIOA_SIM_SET", key);
    return set >= 0 ? set : found->second * std::abs(changed("NUIOA_SIM_SCALE", key));
}

double Machine::get(const std::string &key, size_t i) const
{
    auto own = key + "." + std::to_string(i);
    return get(value.count(own) ? own : key);
}

std::vector<int> Machine::path(int a, int b) const
{
    std::vector<int> from(numa, -1);
    std::queue<int> frontier;
    from[a] = a;
    frontier.push(a);
    while (!frontier.empty()) {
        int here = frontier.front();
        frontier.pop();
        for (auto &link : links)
            for (auto end : { link, std::make_pair(link.second, link.first) })
                if (end.first == here && from[end.second] < 0) {
                    from[end.second] = here;
                    frontier.push(end.second);
                }
    }
    if (from[b] < 0)
        fail(name + ": NUMA nodes that no link joins");
    std::vector<int> result;
    for (int here = b;; here = from[here]) {
        result.insert(result.begin(), here);
        if (here == a)
            return result;
    }
}

int Machine::nic_of(int node, bool far) const
{
    int best = 0;
    for (int i = 1; i < static_cast<int>(nics.size()); i++) {
        int difference = hops(node, nics[i]) - hops(node, nics[best]);
        if (far ? difference > 0 : difference < 0)
            best = i;
    }
    return best;
}
