/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/counters_judge.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "topology/nic.h"

/* Below this the traffic of the launch itself may decide who has carried most. */
#define LEAST_BYTES 1000000
#define IDLE_PART 0.2

uint64_t counters_total(const struct counters *c)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->head.nic_count; i++)
        sum += c->nics[i].received + c->nics[i].sent;
    return sum;
}

double counters_busy(const struct counters *c, const struct wire_counter *nic)
{
    uint64_t most = nic->received > nic->sent ? nic->received : nic->sent;
    if (!nic->unknown && !most)
        return 0;
    if (nic->unknown || !nic->rate_mbps || !c->head.time_ms)
        return -1;
    return (double)most / (nic->rate_mbps * 125.0 * c->head.time_ms);
}

static double packet_us(const struct wire_counter *nic)
{
    return nic->kind == NUIOA_NIC_ETHERNET || nic->kind == NUIOA_NIC_OTHER ? 3 : 0.3;
}

/* The busiest NIC sets the end of a transfer, so its loss counts; packets may all wait for each
 * other, so theirs are added up. */
double counters_saving(const struct counters *c)
{
    double bandwidth = 0, latency = 0;
    if (c->head.others || !c->head.time_ms || c->head.farthest < 0 || !c->head.nic_count)
        return -1;
    for (uint32_t i = 0; i < c->head.nic_count; i++) {
        const struct wire_counter *nic = &c->nics[i];
        double busy = counters_busy(c, nic);
        if (nic->unknown || nic->received_packets == UINT64_MAX ||
            (busy < 0 && c->head.farthest > 0))
            return -1;
        bandwidth = fmax(bandwidth, busy * c->head.farthest);
        latency += (double)nic->received_packets * packet_us(nic);
    }
    return bandwidth + latency / (c->head.time_ms * 1e3);
}

const struct wire_counter *counters_idle(const struct counters *c)
{
    const struct wire_counter *idle = NULL;
    double total = (double)counters_total(c);
    if (c->head.others || total < LEAST_BYTES)
        return NULL;
    for (uint32_t i = 0; i < c->head.nic_count; i++) {
        const struct wire_counter *nic = &c->nics[i];
        if (nic->unknown) /* it may have carried the rest */
            return NULL;
        double share = (double)(nic->received + nic->sent) / total;
        if (nic->planned > 0 && share < nic->planned * IDLE_PART &&
            (!idle || nic->planned > idle->planned))
            idle = nic;
    }
    return idle;
}
