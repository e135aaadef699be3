/* SPDX-License-Identifier: BSD-3-Clause */

/* The platform that SimGrid loads: NUIOA_SIM_NODES nodes of the machine in NUIOA_SIM_MACHINE,
 * joined by a network without contention of its own.
 *
 * Hosts of node N: nNcC, core C, where a rank runs; nNmK, the memory of NUMA node K, where copies
 * end; nNsK, the same for ordinary stores, which read each line before they write it; nNdK_I, the
 * same for DMA by NIC I. The messages of a core go by the NIC nearest to it.
 *
 * What a byte uses on its way:
 *   a bank        once when read, once when written, twice when stored to (write allocate), and
 *                 transit_cost times in each NUMA node that it only passes: on Opterons one
 *                 crossbar
 *                 carries all that
 *   a link        once, each direction on its own
 *   a core        when it copies; a message inside a node is copied once, by its receiver
 *                 (intra_copies 1), or by both (2)
 *   a NIC         dma_read going out, dma_write coming in, its wire; no single message exceeds
 *                 flow
 *   a NUMA node   dma_write_remote, for all that its NICs write into other NUMA nodes; remote_both,
 *                 for that and what they read there (no limit but in variants)
 *
 * Every flow has the same weight: SimGrid would give flows of low latency more, which is how TCP
 * behaves and nothing here does. So each route has a latency of one second, which is what SimGrid
 * weighs by, and a callback turns that into the real one. */
#include <cstdlib>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>

#include "machine.hpp"

namespace sg4 = simgrid::s4u;
using NetPoint = simgrid::kernel::routing::NetPoint;
using Route = std::vector<sg4::LinkInRoute>;
using Hop = sg4::LinkInRoute;

static std::unordered_map<const sg4::Link *, double> latency_of;

static int setting(const char *name, int otherwise)
{
    const char *value = std::getenv(name);
    return value ? std::atoi(value) : otherwise;
}

static double latency_factor(double, const sg4::Host *, const sg4::Host *,
                             const std::vector<sg4::Link *> &links,
                             const std::unordered_set<sg4::NetZone *> &)
{
    double seconds = 0;
    for (auto *link : links) {
        auto found = latency_of.find(link);
        if (found != latency_of.end())
            seconds += found->second;
    }
    return seconds;
}

/* One node: its links and banks while its routes are made. */
class Node
{
    const Machine &m;
    sg4::NetZone *zone;
    std::string prefix;
    int cores;
    bool far;
    std::vector<sg4::Link *> bank, engine, dma_read, dma_write, remote, both, up, down, flow;
    std::map<std::pair<int, int>, sg4::Link *> link;
    sg4::Link *one, *copy_remote, *inside;
    NetPoint *gate;

    sg4::Link *make(const std::string &name, double mb_s, double ns = 0, bool shared = true)
    {
        auto *made = zone->create_link(prefix + name, mb_s * 1e6);
        made->set_latency(0);
        if (!shared)
            made->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
        made->seal();
        if (ns > 0)
            latency_of[made] = ns * 1e-9;
        return made;
    }

    /* From NUMA node a to b, without what either end uses. */
    void pass(Route &route, int a, int b, bool ends_are_transit = false)
    {
        auto nodes = m.path(a, b);
        int transit = static_cast<int>(m.get("transit_cost"));
        for (size_t i = 0; i < nodes.size(); i++) {
            bool inner = i > 0 && i + 1 < nodes.size();
            if (inner || (ends_are_transit && a != b && nodes[i] == a))
                route.insert(route.end(), transit, Hop(bank[nodes[i]]));
            if (i + 1 < nodes.size())
                route.emplace_back(link.at({ nodes[i], nodes[i + 1] }));
        }
    }

    static void append(Route &route, std::initializer_list<sg4::Link *> links)
    {
        for (auto *each : links)
            route.emplace_back(each);
    }

    void add(NetPoint *a, NetPoint *b, const Route &route)
    {
        zone->add_route(a, b, nullptr, nullptr, route, false);
    }

    void resources()
    {
        for (size_t i = 0; i < m.links.size(); i++) {
            auto [a, b] = m.links[i];
            double mb_s = m.link_mb_s[i] > 0 ? m.link_mb_s[i] : m.get("link_mb_s");
            for (auto end : { std::make_pair(a, b), std::make_pair(b, a) })
                link[end] = make("l" + std::to_string(end.first) + "_" + std::to_string(end.second),
                                 mb_s, m.get("link_ns"));
        }
        for (int k = 0; k < m.numa; k++)
            bank.push_back(make("b" + std::to_string(k), m.get("bank_mb_s")));
        for (int k = 0; k < m.numa; k++)
            remote.push_back(make("x" + std::to_string(k), m.get("dma_write_remote_mb_s")));
        for (int k = 0; k < m.numa; k++)
            both.push_back(make("y" + std::to_string(k), m.get("remote_both_mb_s")));
        for (int c = 0; c < m.numa * cores; c++)
            engine.push_back(make("e" + std::to_string(c), m.get("copy_mb_s")));
        for (size_t i = 0; i < m.nics.size(); i++) {
            auto s = std::to_string(i);
            dma_read.push_back(make("r" + s, m.get("dma_read_mb_s", i)));
            dma_write.push_back(make("w" + s, m.get("dma_write_mb_s", i)));
            flow.push_back(make("f" + s, m.get("flow_mb_s", i), 0, false));
            up.push_back(make("u" + s, m.get("wire_mb_s", i), m.get("network_ns") / 2));
            down.push_back(make("d" + s, m.get("wire_mb_s", i), m.get("network_ns") / 2));
        }
        copy_remote = make("cr", m.get("copy_remote_mb_s"), 0, false);
        inside = make("in", 1e9, m.get("message_ns"), false);
        one = zone->create_link(prefix + "one", 1e15);
        one->set_latency(1)->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)->seal();
    }

    void copies(const std::vector<sg4::Host *> &core, const std::vector<sg4::Host *> &memory)
    {
        for (int c = 0; c < m.numa * cores; c++) {
            int here = c / cores;
            auto *point = core[c]->get_netpoint();
            for (int d = 0; d < m.numa * cores; d++) {
                int there = d / cores;
                Route route{ Hop(bank[here]) };
                pass(route, here, there);
                append(route, { bank[there], engine[d], inside, one });
                if (here != there)
                    route.emplace_back(copy_remote);
                if (c != d && m.get("intra_copies") > 1)
                    route.emplace_back(engine[c]);
                add(point, core[d]->get_netpoint(), route);
            }
            for (int k = 0; k < m.numa; k++) {
                Route in{ Hop(bank[here]) }, out{ Hop(bank[k]) };
                pass(in, here, k);
                pass(out, k, here);
                append(in, { bank[k], engine[c], one });
                append(out, { bank[here], engine[c], one });
                if (here != k) {
                    in.emplace_back(copy_remote);
                    out.emplace_back(copy_remote);
                }
                add(point, memory[k]->get_netpoint(), in);
                add(memory[k]->get_netpoint(), point, out);
            }
        }
    }

    void stores(const std::vector<sg4::Host *> &core, const std::vector<sg4::Host *> &store)
    {
        for (int c = 0; c < m.numa * cores; c++)
            for (int k = 0; k < m.numa; k++) {
                Route route;
                pass(route, c / cores, k, true);
                append(route, { bank[k], bank[k], one });
                add(core[c]->get_netpoint(), store[k]->get_netpoint(), route);
            }
    }

    void network(sg4::Host *host, int node, int nic)
    {
        int at = m.nics[nic];
        int transit = node == at ? 0 : static_cast<int>(m.get("transit_cost"));
        Route out{ Hop(bank[node]) }, in;
        append(in, { down[nic], dma_write[nic], flow[nic] });
        pass(out, node, at);
        out.insert(out.end(), transit, Hop(bank[at]));
        append(out, { dma_read[nic], flow[nic], up[nic], one });
        if (node != at) {
            append(in, { remote[at], both[at] });
            out.emplace_back(both[at]);
        }
        in.insert(in.end(), transit, Hop(bank[at]));
        pass(in, at, node);
        in.emplace_back(bank[node]);
        add(host->get_netpoint(), gate, out);
        add(gate, host->get_netpoint(), in);
    }

    sg4::Host *host(const char *kind, const std::string &index)
    {
        auto *made = zone->create_host(prefix + kind + index, 1e9);
        made->seal();
        return made;
    }

  public:
    Node(const Machine &machine, sg4::NetZone *root, int index)
        : m(machine), zone(sg4::create_full_zone("n" + std::to_string(index))),
          prefix("n" + std::to_string(index)), cores(setting("NUIOA_SIM_CORES", machine.cores)),
          far(setting("NUIOA_SIM_FAR", 0))
    {
        zone->set_parent(root);
        gate = zone->create_router(prefix + "gate");
        resources();
        std::vector<sg4::Host *> core, memory, store;
        for (int c = 0; c < m.numa * cores; c++)
            core.push_back(host("c", std::to_string(c)));
        for (int k = 0; k < m.numa; k++) {
            memory.push_back(host("m", std::to_string(k)));
            store.push_back(host("s", std::to_string(k)));
        }
        copies(core, memory);
        stores(core, store);
        for (int c = 0; c < m.numa * cores; c++)
            network(core[c], c / cores, m.nic_of(c / cores, far));
        for (int k = 0; k < m.numa; k++)
            for (size_t i = 0; i < m.nics.size(); i++)
                network(host("d", std::to_string(k) + "_" + std::to_string(i)), k,
                        static_cast<int>(i));
        zone->seal();
    }

    void join(sg4::NetZone *root, sg4::Link *wire)
    {
        root->add_route(zone->get_netpoint(), nullptr, gate, nullptr, { Hop(wire) }, false);
        root->add_route(nullptr, zone->get_netpoint(), nullptr, gate, { Hop(wire) }, false);
    }
};

extern "C" void load_platform(const sg4::Engine &engine);
void load_platform(const sg4::Engine &)
{
    const char *file = std::getenv("NUIOA_SIM_MACHINE");
    Machine machine = read_machine(file ? file : "(NUIOA_SIM_MACHINE is not set)");
    auto *root = sg4::create_star_zone("cluster");
    auto *wire = root->create_link("wire", 1e15);
    wire->set_latency(0)->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)->seal();
    int nodes = setting("NUIOA_SIM_NODES", 8);
    for (int n = 0; n < nodes; n++)
        Node(machine, root, n).join(root, wire);
    root->get_network_model()->set_lat_factor_cb(latency_factor);
    root->seal();
}
