/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks where NICs are, their connections with the network, and distances of NUMA nodes. */

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "nics/rails.h"
#include "tools/doctor/checks.h"
#include "topology/nic_guess.h"
#include "util/sysfs.h"
#include "util/text.h"
#include "util/word.h"

#define PCI "sys/bus/pci/devices/%s/"
#define PORT "sys/class/infiniband/%s/ports/%u/"

bool doctor_is_port(const struct nuioa_nic *nic)
{
    return !nic->is_virtual && nic->kind != NUIOA_NIC_OTHER;
}

bool doctor_is_fast(enum nuioa_nic_kind kind)
{
    return kind != NUIOA_NIC_OTHER && kind != NUIOA_NIC_ETHERNET;
}

static bool is_up(const struct nuioa_nic *nic)
{
    return doctor_is_port(nic) && nic->state == NUIOA_NIC_ACTIVE;
}

/* Returns true if the NIC, one of d->node, carries messages of jobs: nic=auto takes it or, if
 * nic=auto takes none because all are slow, it is one of the fastest that are up. */
static bool is_in_fabric(const struct doctor *d, const struct nuioa_nic *nic)
{
    uint32_t best_mbps = 0;
    for (uint32_t i = 0; i < d->node.nic_count; i++) {
        const struct nuioa_nic *other = &d->node.nics[i];
        if (other->usable)
            return nic->usable;
        if (is_up(other) && other->rate_mbps > best_mbps)
            best_mbps = other->rate_mbps;
    }
    return is_up(nic) && nic->rate_mbps == best_mbps;
}

const char *doctor_nic_name(const struct nuioa_nic *nic, char *text, size_t size)
{
    if (nic->port > 1)
        return nuioa_nic_label(nic, text, size);
    nuioa_copy(text, size, nic->name);
    return text;
}

/* --- NICs that are not here ------------------------------------------------------------------- */

bool doctor_is_fabric_card(const struct doctor *d, const char *pci)
{
    long class = 0;
    nuioa_sysfs_number(d->top, &class, PCI "class", pci);
    return class >> 8 == 0x0207 || class >> 8 == 0x0208; /* InfiniBand; fabric, as Omni-Path */
}

/* Reports a card of a fabric that has no port: that of a virtual function, or one that is handed
 * to a virtual machine, is not this node's. */
static void check_card(struct doctor *d, const char *pci)
{
    char path[64], target[256];
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        if (!strcmp(d->node.nics[i].pci, pci))
            return;
    snprintf(path, sizeof(path), "sys/bus/pci/devices/%.20s/driver", pci);
    nuioa_sysfs_link(d->top, target, sizeof(target), path);
    const char *slash = strrchr(target, '/'), *driver = slash ? slash + 1 : target;
    if (nuioa_sysfs_exists(d->top, PCI "physfn", pci) || !strncmp(driver, "vfio", 4))
        return;
    doctor_report(d, "nic-missing", pci, "The InfiniBand or Omni-Path card %s has no %s%s.", pci,
                  *driver ? "port; its driver is " : "driver", driver);
}

/* Returns true if the word is no kind and no glob, which may stand for NICs of other nodes. */
static bool is_name(const char *word)
{
    for (unsigned i = 0; i < NUIOA_NIC_KINDS; i++)
        if (!strcmp(word, nuioa_nic_kind_name((enum nuioa_nic_kind)i)))
            return false;
    return !strpbrk(word, "*?[");
}

/* A word of nic= that begins with ^ excludes NICs. */
static bool is_named(const struct doctor *d, const struct nuioa_nic *nic)
{
    char list[sizeof(d->options.nic)], *rest = strcpy(list, d->options.nic), *word;
    while ((word = nuioa_next_word(&rest, ",")))
        if (*word != '^' && is_name(word) && nuioa_nic_matches(nic, word))
            return true;
    return false;
}

/* Reports names in nic= of which there is no NIC, and a nic= that takes none at all. */
static void check_pattern(struct doctor *d)
{
    char list[sizeof(d->options.nic)], *rest = strcpy(list, d->options.nic), *word;
    bool any = false, named = false, kinds = false;
    while ((word = nuioa_next_word(&rest, ","))) {
        if (*word == '^')
            continue;
        bool found = !strcmp(word, "auto"), name = is_name(word);
        for (uint32_t i = 0; i < d->node.nic_count; i++)
            found = found || nuioa_nic_matches(&d->node.nics[i], word);
        any = any || found;
        named = named || name;
        kinds = kinds || !name;
        if (!found && name)
            doctor_report(d, "nic-unmatched", word, "nic=%s, but this node has no %s.",
                          d->options.nic, word);
    }
    if (kinds && !named && !any)
        doctor_report(d, "nic-unmatched", "", "nic=%s, but this node has no such NIC.",
                      d->options.nic);
}

void doctor_check_missing(struct doctor *d)
{
    DIR *cards = nuioa_sysfs_list(d->top, "sys/bus/pci/devices");
    bool any = false;
    for (struct dirent *entry; cards && (entry = readdir(cards));)
        if (isxdigit((unsigned char)*entry->d_name) && doctor_is_fabric_card(d, entry->d_name))
            check_card(d, entry->d_name);
    if (cards)
        closedir(cards);
    check_pattern(d);
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        any = any || *d->node.nics[i].pci || doctor_is_port(&d->node.nics[i]);
    if (!any)
        doctor_report(d, "nic-none", "", "No NIC is here.");
}

/* --- where they are, and what they are for ---------------------------------------------------- */

void doctor_check_locality(struct doctor *d)
{
    if (d->node.cut)
        doctor_report(d, "numa-cut", "", "NUMA nodes cut through cores or packages.");
    for (uint32_t i = 0; i < d->node.nic_count && d->node.numa_count > 1 && !d->node.cut; i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        char name[48], numas[128];
        long own = -1;
        if (!doctor_is_port(nic) || !*nic->pci)
            continue;
        doctor_nic_name(nic, name, sizeof(name));
        if (nic->locality == NUIOA_LOCALITY_UNKNOWN && is_in_fabric(d, nic))
            doctor_report(d, "nic-unlocated", name,
                          "Neither the host bridge nor numa_node of %s (%s) says where it is.",
                          name, nic->pci);
        if (nic->locality != NUIOA_LOCALITY_HWLOC ||
            nuioa_sysfs_number(d->top, &own, PCI "numa_node", nic->pci) || own < 0 ||
            hwloc_bitmap_isset(nic->numas, (unsigned)own))
            continue;
        hwloc_bitmap_list_snprintf(numas, sizeof(numas), nic->numas);
        doctor_report(d, "nic-disagreement", name,
                      "numa_node of %s (%s) says %ld, its host bridge says %s.", name, nic->pci,
                      own, numas);
    }
}

/* Finds the NICs that ranks may use. Returns false if that fails. */
static bool find_usable(struct doctor *d, struct nuioa_usable *usable)
{
    struct nuioa_warnings unused = { 0 };
    struct nuioa_rails rails;
    struct nuioa_error err;
    if (nuioa_rails_init(&rails, &d->node, &d->options, &unused, &err))
        return false;
    int rc = nuioa_usable_find(usable, &rails, &d->arena);
    nuioa_rails_free(&rails);
    return !rc;
}

/* It matters if ranks may use a NIC that is doubted, or a guess keeps them from one. */
void doctor_check_roles(struct doctor *d)
{
    char list[256], name[48];
    const struct nuioa_nic *first = NULL;
    struct nuioa_usable usable;
    struct nuioa_text t = nuioa_text_in(list, sizeof(list));
    for (uint32_t i = 0; i < d->node.nic_count; i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        if (!nic->doubts)
            continue;
        first = first ? first : nic;
        nuioa_text_add(&t, "%s%s:%s", t.used ? "," : "", doctor_nic_name(nic, name, sizeof(name)),
                       nuioa_nic_role_name(nic->role));
    }
    if (first && find_usable(d, &usable) && (usable.guessed || usable.doubted))
        doctor_report(d, "nic-role", doctor_nic_name(first, name, sizeof(name)),
                      "%s is perhaps for %s: %s. nic-role=%s", name,
                      nuioa_nic_role_name(first->role), nuioa_nic_doubt_text(first), list);
}

/* With two ports and no GPU UCX uses both by itself. Where roles are missing, nic-role says it. */
void doctor_check_exports(struct doctor *d)
{
    struct nuioa_usable usable;
    char name[48];
    if (d->exports && find_usable(d, &usable) && (usable.count > 2 || d->node.gpu_count) &&
        nuioa_usable_lacks(&usable, &d->node) == NUIOA_ADVICE_CONNECTED)
        doctor_report(d, "rails-unknown", "",
                      "%u ports (%s and others) have InfiniBand's default subnet prefix.",
                      usable.count,
                      doctor_nic_name(&d->node.nics[usable.nics[0]], name, sizeof(name)));
}

/* --- the network ------------------------------------------------------------------------------ */

static bool same_model(const struct doctor *d, const struct nuioa_nic *a, const struct nuioa_nic *b)
{
    static const char *const files[] = { PCI "vendor", PCI "device" };
    for (unsigned i = 0; i < 2; i++) {
        long one, other;
        if (!*a->pci || !*b->pci || nuioa_sysfs_number(d->top, &one, files[i], a->pci) ||
            nuioa_sysfs_number(d->top, &other, files[i], b->pci) || one != other)
            return false;
    }
    return a->kind == b->kind;
}

/* Returns a port that is up, of the same card, else of the same model; or NULL. */
static const struct nuioa_nic *sibling(const struct doctor *d, const struct nuioa_nic *nic)
{
    const struct nuioa_nic *found = NULL;
    for (uint32_t i = 0; i < d->node.nic_count; i++) {
        const struct nuioa_nic *other = &d->node.nics[i];
        if (!is_up(other))
            continue;
        if (other->card == nic->card)
            return other;
        if (!found && same_model(d, other, nic))
            found = other;
    }
    return found;
}

/* Returns true if somebody has set the interface up (IFF_UP), with or without a carrier. */
static bool is_wanted(const struct doctor *d, const struct nuioa_nic *nic)
{
    long flags = 0;
    const char *netdev = *nic->netdev ? nic->netdev : nic->name;
    return !nuioa_sysfs_number(d->top, &flags, "sys/class/net/%s/flags", netdev) && (flags & 1);
}

/* Returns true if no port of a card is up, a bond's neither. */
static bool are_all_down(const struct doctor *d)
{
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        if (*d->node.nics[i].pci && d->node.nics[i].state != NUIOA_NIC_DOWN)
            return false;
    return d->role == DOCTOR_COMPUTE;
}

/* Writes the state of the port, as "1: DOWN, 2: Polling" or "down". */
static void describe_state(const struct doctor *d, const struct nuioa_nic *nic, char *text,
                           size_t size)
{
    char more[32] = "no carrier";
    if (nic->port) {
        nuioa_sysfs_text(d->top, text, size, PORT "state", nic->name, nic->port);
        nuioa_sysfs_text(d->top, more, sizeof(more), PORT "phys_state", nic->name, nic->port);
    } else {
        nuioa_sysfs_text(d->top, text, size, "sys/class/net/%s/operstate", nic->name);
        if (!is_wanted(d, nic))
            *more = '\0';
    }
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", *more ? ", " : "", more);
}

void doctor_check_ports(struct doctor *d)
{
    bool all = are_all_down(d);
    for (uint32_t i = 0; i < d->node.nic_count; i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        char name[48], its[48] = "", state[80];
        if (!doctor_is_port(nic) || nic->state != NUIOA_NIC_DOWN)
            continue;
        const struct nuioa_nic *other = sibling(d, nic);
        bool idle = other && other->card == nic->card;
        /* servers have Ethernet ports that nobody uses; a card like the fabric's is another
         * matter, and so is a node without network */
        if (!doctor_is_fast(nic->kind) && !is_wanted(d, nic) && !is_named(d, nic) && !all &&
            (!other || idle || !is_in_fabric(d, other)))
            continue;
        doctor_nic_name(nic, name, sizeof(name));
        describe_state(d, nic, state, sizeof(state));
        if (other)
            doctor_nic_name(other, its, sizeof(its));
        doctor_report(d, idle ? "port-idle" : "port-down", name, "%s is down (%s)%s%s%s.", name,
                      state, other ? (idle ? "; the card's other port " : "; ") : "", its,
                      other ? (idle ? " is up" : ", of the same model, is up") : "");
    }
}

/* Returns the lanes, as 4 for "100 Gb/sec (4X EDR)"; 0 if they are not known. */
static unsigned lanes(const struct doctor *d, const struct nuioa_nic *nic, char *rate, size_t size)
{
    if (!nic->port || nic->kind != NUIOA_NIC_INFINIBAND ||
        nuioa_sysfs_text(d->top, rate, size, PORT "rate", nic->name, nic->port) < 0)
        return 0;
    const char *bracket = strchr(rate, '(');
    char *end;
    unsigned long width = bracket ? strtoul(bracket + 1, &end, 10) : 0;
    return width && *end == 'X' && width < 64 ? (unsigned)width : 0;
}

/* Returns the fastest NIC of the same model that is up. */
static const struct nuioa_nic *fastest_like(const struct doctor *d, const struct nuioa_nic *nic)
{
    const struct nuioa_nic *best = nic;
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        if (is_up(&d->node.nics[i]) && d->node.nics[i].rate_mbps > best->rate_mbps &&
            same_model(d, &d->node.nics[i], nic))
            best = &d->node.nics[i];
    return best;
}

void doctor_check_rates(struct doctor *d)
{
    for (uint32_t i = 0; i < d->node.nic_count; i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        char name[48], its[48], rate[64];
        if (!is_up(nic))
            continue;
        doctor_nic_name(nic, name, sizeof(name));
        unsigned width = lanes(d, nic, rate, sizeof(rate));
        const struct nuioa_nic *best = fastest_like(d, nic);
        if (width && width < 4)
            doctor_report(d, "port-slow", name, "%s has %u of 4 lanes: %s.", name, width, rate);
        /* drivers round rates: those within a tenth are equal */
        else if (nic->rate_mbps && best->rate_mbps / 11 > nic->rate_mbps / 10)
            doctor_report(d, "port-slow", name, "%s runs at %u Mb/s, %s, of the same model, at %u.",
                          name, nic->rate_mbps, doctor_nic_name(best, its, sizeof(its)),
                          best->rate_mbps);
    }
}

/* --- distances of NUMA nodes ------------------------------------------------------------------ */

void doctor_check_discovery(struct doctor *d)
{
    if (!d->node_known)
        doctor_report(d, "discovery-failed", "", "%s.", d->node_error.text);
}

static bool is_flat(const struct nuioa_distance *distance)
{
    for (unsigned i = 0; i < distance->count; i++)
        for (unsigned j = 0; j < distance->count; j++)
            if (i != j && nuioa_distance_at(distance, i, j) != nuioa_distance_at(distance, 0, 1))
                return false;
    return true;
}

/* Two NUMA nodes have one distance only, and without a NIC none matters. */
void doctor_check_slit(struct doctor *d)
{
    const struct nuioa_distance *distance = &d->node.distance;
    bool any = false, refused = false;
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        any = any || d->node.nics[i].usable;
    for (unsigned i = 0; i < d->node.warnings.count; i++)
        refused = refused || strstr(d->node.warnings.text[i], "(SLIT) is incomplete");
    if (any && refused)
        doctor_report(d, "slit-refused", "",
                      "The firmware's distance table (SLIT) says that remote memory is nearer than "
                      "local.");
    else if (any && nuioa_node_numas_with_cpus(&d->node) > 2 &&
             (distance->source == NUIOA_DISTANCE_STRUCTURE ||
              (distance->source == NUIOA_DISTANCE_SLIT && is_flat(distance))))
        doctor_report(d, "slit-flat", "",
                      "The firmware's distance table (SLIT) has one value for all pairs of %u NUMA "
                      "nodes, or is missing.",
                      d->node.numa_count);
}

/* Finds the fastest NUMA node, *best, and returns the slowest of those that are said to be nearer;
 * *best if none of them is slower beyond noise. */
static uint32_t slowest_nearer(const struct nuioa_nic *nic, uint32_t count, uint32_t *best)
{
    double most = 1;
    *best = 0;
    for (uint32_t k = 1; k < count; k++)
        if (nic->measured[k].write_mb_s > nic->measured[*best].write_mb_s)
            *best = k;
    uint32_t worst = *best;
    for (uint32_t k = 0; k < count; k++) {
        double price = nuioa_measured_price(nic->measured, count, k, NUIOA_POLICY_BANDWIDTH);
        if (nic->level[k] < nic->level[*best] && price > most) {
            most = price;
            worst = k;
        }
    }
    return worst;
}

void doctor_check_measured(struct doctor *d)
{
    const struct nuioa_node *node = &d->node;
    for (uint32_t i = 0; i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        char label[48];
        uint32_t best;
        if (!nic->measured || !nic->level)
            continue;
        uint32_t worst = slowest_nearer(nic, node->numa_count, &best);
        if (worst != best)
            doctor_report(
                d, "nic-contradicted", nuioa_nic_label(nic, label, sizeof(label)),
                "%s is listed as nearer to NUMA node %u than to %u, but writes %.0f MB/s to the "
                "first and %.0f MB/s to the second.",
                label, node->numas[worst].os_index, node->numas[best].os_index,
                nic->measured[worst].write_mb_s, nic->measured[best].write_mb_s);
    }
}
