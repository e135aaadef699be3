/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.hpp"

#include <cstdlib>
#include <map>
#include <simgrid/s4u.hpp>
#include <vector>

namespace sg4 = simgrid::s4u;

/* What it takes until another core sees a flag: as long as a message's latency would flatter MPI's
 * own messages against flags, one cache miss is about this. */
static constexpr double flag_seconds = 100e-9;

static std::pair<int, int> place()
{
    const std::string &name = sg4::this_actor::get_host()->get_name();
    return { std::atoi(name.c_str() + 1), std::atoi(name.c_str() + name.find('c') + 1) };
}

static int cores()
{
    static const int value = std::atoi(std::getenv("NUIOA_SIM_CORES"));
    return value;
}

int sim_node(void)
{
    return place().first;
}
int sim_numa(void)
{
    return place().second / cores();
}

static sg4::Host *bank_host(int bank)
{
    return sg4::Host::by_name("n" + std::to_string(sim_node()) + "m" + std::to_string(bank));
}

void sim_copy_from(int bank, size_t bytes)
{
    if (bytes > 0)
        sg4::Comm::sendto(bank_host(bank), sg4::this_actor::get_host(), bytes);
}

void sim_copy_to(int bank, size_t bytes)
{
    if (bytes > 0)
        sg4::Comm::sendto(sg4::this_actor::get_host(), bank_host(bank), bytes);
}

/* Who waits for which flag; a semaphore remembers that it was released. Actors run one at a
 * time. */
static std::map<const uint64_t *, std::vector<sg4::SemaphorePtr>> waiting;

void sim_post(uint64_t *flag, uint64_t value)
{
    *flag = value;
    auto found = waiting.find(flag);
    if (found == waiting.end())
        return;
    auto waiters = std::move(found->second);
    waiting.erase(found);
    for (auto &waiter : waiters)
        waiter->release();
}

void sim_wait(const uint64_t *flag, uint64_t value)
{
    while (*flag < value) {
        auto semaphore = sg4::Semaphore::create(0); /* others may run meanwhile */
        if (*flag >= value)
            break;
        waiting[flag].push_back(semaphore);
        semaphore->acquire();
        sg4::this_actor::sleep_for(flag_seconds);
    }
}

void *sim_common(long key, size_t bytes)
{
    static std::map<long, void *> areas;
    void *&area = areas[key];
    if (!area)
        area = std::calloc(1, bytes);
    return area;
}
