/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_NICS_RAILS_H
#define NUIOA_NICS_RAILS_H

#include "option/option.h"
#include "ranks/assignment.h"
#include "ranks/reason.h"
#include "topology/node.h"
#include "util/arena.h"

/* Rails: the NICs that a plan may use. Private to the library.
 *
 * Traffic between nodes stays on one fabric, so all rails are of one fabric: the best of those
 * that the `nic` option selects (nuioa_nic_narrow in topology/nic.h).
 *
 * Their rates may be unlike if `nic` names them. One rail outruns another for some CPUs if it is
 * faster even with what its distance costs: if rate over nuioa_rail_price is higher. Then it counts
 * as near as the other one, so that the load, by rate, decides which of them a rank uses. */
struct nuioa_rails {
    const struct nuioa_node *node; /* the caller's, and so are the options */
    const struct nuioa_options *options;
    struct nuioa_arena arena; /* of all arrays */
    unsigned count;           /* a rail is an index below this one */
    uint32_t *nic;            /* [count]: index into node->nics */
    bool guessed;             /* a guess of what NICs are for has decided */
    bool unlike;              /* their rates differ by more than a tenth */
    bool down;                /* `count` is 0, and would not be if all ports were up */
    bool located;             /* the NUMA nodes of the rails are known; else there are no levels */
    unsigned numa_count;      /* that of the node */
    /* The next two arrays go by rail and NUMA node (index into node->numas). The entry numa_count
     * has the highest value of the rail, for CPUs whose NUMA node is unknown. */
    uint8_t *level;     /* [count * (numa_count + 1)] */
    double *price;      /* the same: nuioa_rail_price; NULL: nothing was measured */
    uint32_t cpu_count; /* one more than the largest OS index of a CPU */
    uint32_t *numa_of;  /* [cpu_count]: by OS index of a CPU; numa_count: unknown */
    uint32_t card_count;
    uint32_t *card; /* [count]: below card_count; equal for the ports of one card */
    bool rated;     /* the rates of all rails are known */
    double *rate;   /* [card_count]: of the card's fastest port in Mbit/s; 1 unless `rated` */
};

/* Finds the rails of a node, and adds warnings about NICs that are left out to `warnings`. `node`
 * and `options` must outlive *rails. Returns 0, and the caller frees *rails with
 * nuioa_rails_free; without any NIC `count` is 0. Or returns with *err -ENOMEM, or -EINVAL if
 * options->nic is malformed, and *rails is empty. */
int nuioa_rails_init(struct nuioa_rails *rails, const struct nuioa_node *node,
                     const struct nuioa_options *options, struct nuioa_warnings *warnings,
                     struct nuioa_error *err);

/* Sets *usable to these NICs, and what is known of them. It is overwritten. usable->nics belongs to
 * `arena`. Returns 0 or -ENOMEM. */
int nuioa_usable_find(struct nuioa_usable *usable, const struct nuioa_rails *rails,
                      struct nuioa_arena *arena);

/* Returns which word of the site is missing, so that export=auto names no NIC of a rank:
 * NUIOA_ADVICE_ROLES, if a guess chose these NICs or some are doubted; NUIOA_ADVICE_CONNECTED, if
 * their InfiniBand subnets have the default prefix; or NUIOA_ADVICE_COUNT: none, because they are
 * known to be connected, or fewer than two, or of another kind. nuioa_advice_text() has the
 * sentence. */
enum nuioa_advice nuioa_usable_lacks(const struct nuioa_usable *usable,
                                     const struct nuioa_node *node);

/* Frees what *rails owns and makes it empty, which it may be already. */
void nuioa_rails_free(struct nuioa_rails *rails);

/* Returns the rail of a NIC, an index into node->nics, or -1 if it is none. */
int nuioa_rail_of(const struct nuioa_rails *rails, int32_t nic);

/* Returns the level (ranks/assignment.h) from one rail to the farthest NUMA node of `cpus` (OS
 * indexes), because data may be on each of them. A CPU without a NUMA node counts as the farthest.
 * Returns NUIOA_NO_LEVEL if the rails are not located. */
uint32_t nuioa_rail_level(const struct nuioa_rails *rails, unsigned rail,
                          hwloc_const_bitmap_t cpus);

/* Returns the level of `cpus` (OS indexes) from the rail for which nuioa_rail_level is lowest, of
 * those that no other outruns; NUIOA_NO_LEVEL if there is no rail or the rails are not located. */
uint32_t nuioa_rails_nearest(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus);

/* Returns the cost of one unit of traffic to a NIC at `level` (ranks/assignment.h), a number
 * without unit: 1 on the NIC's NUMA nodes (and if the level is NUIOA_NO_LEVEL),
 * options->remote_cost more on the next level, and options->hop_cost more for each further level.
 * The defaults come from measurements: 0.30 from S. Moreaud and B. Goglin, "Impact of NUMA Effects
 * on High-Speed Networking with Multi-Opteron Machines" (PDCS 2007, table 2) and B. Goglin and S.
 * Moreaud, "Dodging Non-Uniform I/O Access in Hierarchical Collective Operations for Multicore
 * Clusters" (CASS 2011, section 4.2); 0.05 because further levels cost little on an idle machine
 * and more on a loaded one (S. Moreaud, master thesis, 2007, sections 2.5.2 and 2.5.3). */
double nuioa_nic_cost(const struct nuioa_options *options, uint32_t level);

/* Returns the price of reaching NUMA node k from a NIC, 1 or more: how many times less the card
 * writes to it (or longer a message takes, with policy latency) than with its best NUMA node. A
 * difference of less than 4 standard errors is none: noise makes that once in 16,000 pairs. One of
 * single values is none. `measured` has `count` entries. Returns 0 if that was not measured. */
double nuioa_measured_price(const struct nuioa_nic_measured *measured, uint32_t count, uint32_t k,
                            enum nuioa_policy policy);

/* Returns the cost of one unit of traffic between `cpus` (OS indexes) and a rail: what was measured
 * of the rail and the NUMA nodes of `cpus`, and nuioa_nic_cost where nothing was; of several NUMA
 * nodes the highest. */
double nuioa_rail_price(const struct nuioa_rails *rails, unsigned rail, hwloc_const_bitmap_t cpus);

/* Returns the least nuioa_rail_price of the rails at the level of nuioa_rails_nearest; that of
 * NUIOA_NO_LEVEL if there is no rail or the rails are not located. */
double nuioa_rails_price(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus);

/* Returns 0 if all of `cpus` (OS indexes) are among those that some rail is attached to (for
 * example one L3 of a NUMA node), and which no other outruns, else 1. If two sets of CPUs have the
 * same level, the set with 0 is nearer. */
uint32_t nuioa_rails_tie(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus);

/* Returns a number that is lower for a rail that is nearer to `cpus` (OS indexes), by level and
 * then as in nuioa_rails_tie, or that outruns a nearer one. It is below 1000, and means nothing but
 * in comparisons. */
uint32_t nuioa_rail_distance(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus,
                             unsigned rail);

/* Returns true if no rail is near `cpus` (OS indexes), because they span the NUMA nodes of all:
 * each rail is beside some of them, none is beside all, and the rails have several places. False if
 * their rates are unlike. */
bool nuioa_rails_spanned(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus);

#endif
