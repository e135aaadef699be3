/* SPDX-License-Identifier: BSD-3-Clause */

/* Steady streams on one machine, without MPI: what memory load does to the network and the reverse.
 *
 *   flows table23      thesis table 2.3 on Hagrid
 *   flows palliative   communicating ranks near, far or anywhere, on a machine that computes
 *   flows rails        one or two NICs into each NUMA node
 *
 * Prints lines of words separated by tabs, for test/sim/run. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <simgrid/s4u.hpp>

#include "machine.hpp"

namespace sg4 = simgrid::s4u;
using Flow = std::pair<std::string, std::string>;

static std::string at(const char *kind, int a)
{
    return kind + std::to_string(a);
}

static std::string dma(int node, int bank, int nic)
{
    return "n" + std::to_string(node) + at("d", bank) + at("_", nic);
}

/* The rates of streams that run side by side, in MB/s, once all have started. */
static std::vector<double> rates(const std::vector<Flow> &flows)
{
    constexpr double warm = 0.005, window = 0.05;
    std::vector<sg4::CommPtr> comms;
    for (auto &flow : flows)
        comms.push_back(sg4::Comm::sendto_async(sg4::Host::by_name(flow.first),
                                                sg4::Host::by_name(flow.second), 4000000000ULL));
    sg4::this_actor::sleep_for(warm);
    std::vector<double> result;
    for (auto &comm : comms)
        result.push_back(comm->get_remaining());
    sg4::this_actor::sleep_for(window);
    for (size_t i = 0; i < comms.size(); i++) {
        result[i] = (result[i] - comms[i]->get_remaining()) / window / 1e6;
        comms[i]->cancel();
    }
    return result;
}

static void table23(const Machine &m)
{
    const Flow rdma{ dma(1, 0, 0), dma(0, 6, 0) };
    struct {
        int processor, memory;
    } const rows[] = { { 2, 4 }, { 4, 2 }, { 2, 2 }, { 4, 4 } };
    std::printf("rdma\t%.0f\n", rates({ rdma })[0]);
    for (auto &row : rows) {
        Flow store{ "n0" + at("c", row.processor * m.cores), "n0" + at("s", row.memory) };
        auto both = rates({ store, rdma });
        std::printf("%d\t%d\t%.0f\t%.0f\t%.0f\n", row.processor, row.memory, rates({ store })[0],
                    both[0], both[1]);
    }
}

/* NUMA nodes for `count` communicating ranks, one a core, taken from `order`. */
static std::vector<int> fill(const Machine &m, const std::vector<int> &order, int count)
{
    std::vector<int> result;
    for (int node : order)
        for (int c = 0; c < m.cores && static_cast<int>(result.size()) < count; c++)
            result.push_back(node);
    return result;
}

enum Load { IDLE, LOCAL, REMOTE };

struct Sum {
    double network = 0, memory = 0;
};

/* Ranks on `nodes` receive one stream each, each from a machine of its own; all other cores store
 * into their own NUMA node's memory, or into that of others as interleaved pages make them. */
static Sum placed(const Machine &m, const std::vector<int> &nodes, Load load)
{
    std::vector<Flow> flows;
    std::vector<int> used(m.numa, 0);
    for (size_t i = 0; i < nodes.size(); i++) {
        flows.emplace_back(dma(static_cast<int>(i) + 1, m.nics[0], 0), dma(0, nodes[i], 0));
        used[nodes[i]]++;
    }
    for (int k = 0; k < m.numa && load != IDLE; k++)
        for (int c = used[k]; c < m.cores; c++) {
            int to = load == LOCAL ? k : (k + (c % 2 ? 3 : 1)) % m.numa;
            flows.emplace_back("n0" + at("c", k * m.cores + c), "n0" + at("s", to));
        }
    Sum sum;
    auto got = rates(flows);
    for (size_t i = 0; i < got.size(); i++)
        (i < nodes.size() ? sum.network : sum.memory) += got[i];
    return sum;
}

static void palliative(const Machine &m)
{
    static const char *const loads[] = { "idle", "local", "remote" };
    constexpr int draws = 20;
    std::vector<int> sorted;
    for (int k = 0; k < m.numa; k++)
        sorted.push_back(k);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](int a, int b) { return m.hops(m.nics[0], a) < m.hops(m.nics[0], b); });
    std::vector<int> reverse(sorted.rbegin(), sorted.rend());
    for (Load load : { IDLE, LOCAL, REMOTE })
        for (int count = 1; count <= 8; count++) {
            Sum near = placed(m, fill(m, sorted, count), load);
            Sum far = placed(m, fill(m, reverse, count), load), any;
            std::mt19937 random(1);
            for (int draw = 0; draw < draws; draw++) {
                std::vector<int> cores = fill(m, sorted, m.numa * m.cores);
                for (size_t i = cores.size() - 1; i > 0; i--)
                    std::swap(cores[i], cores[random() % (i + 1)]);
                cores.resize(count);
                Sum one = placed(m, cores, load);
                any.network += one.network / draws;
                any.memory += one.memory / draws;
            }
            std::printf("%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", loads[load], count,
                        near.network, any.network, far.network, near.memory, any.memory,
                        far.memory);
        }
}

static void rails(const Machine &m)
{
    int nics = static_cast<int>(m.nics.size());
    for (int k = 0; k < m.numa; k++) {
        std::vector<Flow> all;
        std::printf("%d", k);
        for (int i = 0; i < nics; i++) {
            all.emplace_back(dma(i + 1, m.nics[i], i), dma(0, k, i));
            std::printf("\t%.0f", rates({ all.back() })[0]);
        }
        double sum = 0;
        for (double rate : rates(all))
            sum += rate;
        std::printf("\t%.0f\n", sum);
    }
}

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    const char *file = std::getenv("NUIOA_SIM_MACHINE");
    if (argc != 3 || !file) {
        std::fprintf(stderr, "usage: NUIOA_SIM_MACHINE=FILE flows PLATFORM.so WHAT\n");
        return 2;
    }
    /* Plain sharing of what there is: no TCP in it. */
    for (auto *setting : { "network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
                           "network/bandwidth-factor:1", "network/weight-S:0" })
        engine.set_config(setting);
    engine.load_platform(argv[1]);
    Machine machine = read_machine(file);
    std::string what = argv[2];
    sg4::Actor::create("flows", sg4::Host::by_name("n0c0"), [&] {
        if (what == "table23")
            table23(machine);
        else if (what == "palliative")
            palliative(machine);
        else
            rails(machine);
    });
    engine.run();
    return 0;
}
