/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks where NICs are, and their connections with the network. */

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/nic.h"
#include "topology/nic_guess.h"
#include "util/sysfs.h"

#define PCI "sys/bus/pci/devices/%s/"

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

bool doctor_in_fabric(const struct doctor *d, const struct nuioa_nic *nic)
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

/* --- locality --------------------------------------------------------------------------------- */

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
        if (nic->locality == NUIOA_LOCALITY_UNKNOWN && doctor_in_fabric(d, nic))
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

/* --- roles ------------------------------------------------------------------------------------ */

/* Whether ranks may use a NIC that is doubted, or a guess keeps them from one. */
static bool role_matters(const struct nuioa_node *node)
{
    bool *taken = calloc(node->nic_count + 1, sizeof(*taken));
    bool matters = false;
    for (uint32_t i = 0; taken && i < node->nic_count; i++) {
        taken[i] = node->nics[i].usable;
        matters |= taken[i] && nuioa_nic_is_doubted(&node->nics[i]);
    }
    if (taken && !matters)
        matters = nuioa_nic_is_guessed(node, "auto", NUIOA_POLICY_BANDWIDTH, taken);
    free(taken);
    return matters;
}

void doctor_check_roles(struct doctor *d)
{
    char list[256] = "", name[48];
    const struct nuioa_nic *first = NULL;
    size_t used = 0;
    for (uint32_t i = 0; i < d->node.nic_count; i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        if (!nuioa_nic_is_doubted(nic))
            continue;
        first = first ? first : nic;
        int n = snprintf(list + used, sizeof(list) - used, "%s%s:%s", used ? "," : "",
                         doctor_nic_name(nic, name, sizeof(name)), nuioa_nic_role_name(nic->role));
        if (n < 0 || (size_t)n >= sizeof(list) - used) {
            list[used] = '\0';
            break;
        }
        used += (size_t)n;
    }
    if (first && role_matters(&d->node))
        doctor_report(d, "nic-role", doctor_nic_name(first, name, sizeof(name)),
                      "%s is perhaps for %s: %s. nic-role=%s", name,
                      nuioa_nic_role_name(first->role), nuioa_nic_doubt_text(first), list);
}

/* --- NICs that are not here ------------------------------------------------------------------- */

bool doctor_is_fabric_card(const struct doctor *d, const char *pci)
{
    long class = 0;
    nuioa_sysfs_number(d->top, &class, PCI "class", pci);
    return class >> 8 == 0x0207 || class >> 8 == 0x0208; /* InfiniBand; fabric, as Omni-Path */
}

/* Writes the name of the device's driver, "" if it has none. */
static void driver_of(const struct doctor *d, const char *pci, char *driver, size_t size)
{
    char path[64], target[256];
    snprintf(path, sizeof(path), "sys/bus/pci/devices/%.20s/driver", pci);
    nuioa_sysfs_link(d->top, target, sizeof(target), path);
    const char *slash = strrchr(target, '/');
    nuioa_copy(driver, size, slash ? slash + 1 : target);
}

/* Reports a card of a fabric that has no port: that of a virtual function, or one that is handed
 * to a virtual machine, is not this node's. */
static void check_card(struct doctor *d, const char *pci)
{
    char driver[32];
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        if (!strcmp(d->node.nics[i].pci, pci))
            return;
    driver_of(d, pci, driver, sizeof(driver));
    if (nuioa_sysfs_exists(d->top, PCI "physfn", pci) || !strncmp(driver, "vfio", 4))
        return;
    doctor_report(d, "nic-missing", pci, "The InfiniBand or Omni-Path card %s has no %s%s.", pci,
                  *driver ? "port; its driver is " : "driver", driver);
}

/* Copies the next word of nic= that does not exclude NICs to `word`. Returns false at the end. */
static bool next_word(const char **list, char *word, size_t size)
{
    do {
        size_t length = strcspn(*list, ",");
        if (!length)
            return false;
        snprintf(word, size, "%.*s", (int)length, *list);
        *list += length + ((*list)[length] == ',');
    } while (*word == '^');
    return true;
}

/* Returns true if the word is no kind and no glob, which may stand for NICs of other nodes. */
static bool is_name(const char *word)
{
    for (unsigned i = 0; i < NUIOA_NIC_KINDS; i++)
        if (!strcmp(word, nuioa_nic_kind_name((enum nuioa_nic_kind)i)))
            return false;
    return !strpbrk(word, "*?[");
}

static bool is_named(const struct doctor *d, const struct nuioa_nic *nic)
{
    const char *list = d->options.nic;
    char word[64];
    while (next_word(&list, word, sizeof(word)))
        if (is_name(word) && nuioa_nic_matches(nic, word))
            return true;
    return false;
}

/* Reports names in nic= of which there is no NIC, and a nic= that takes none at all. */
static void check_pattern(struct doctor *d)
{
    const char *list = d->options.nic;
    char word[64];
    bool any = false, named = false, kinds = false;
    while (next_word(&list, word, sizeof(word))) {
        bool found = !strcmp(word, "auto");
        for (uint32_t i = 0; i < d->node.nic_count; i++)
            found = found || nuioa_nic_matches(&d->node.nics[i], word);
        any = any || found;
        named = named || is_name(word);
        kinds = kinds || !is_name(word);
        if (!found && is_name(word))
            doctor_report(d, "nic-unmatched", word, "nic=%s, and there is no %s here.",
                          d->options.nic, word);
    }
    if (kinds && !named && !any)
        doctor_report(d, "nic-unmatched", "", "nic=%s, and there is no such NIC here.",
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

/* --- the network side ------------------------------------------------------------------------- */

static long pci_number(const struct doctor *d, const struct nuioa_nic *nic, const char *what)
{
    long number = -1;
    if (*nic->pci)
        nuioa_sysfs_number(d->top, &number, PCI "%s", nic->pci, what);
    return number;
}

static bool same_model(const struct doctor *d, const struct nuioa_nic *a, const struct nuioa_nic *b)
{
    long vendor = pci_number(d, a, "vendor"), device = pci_number(d, a, "device");
    return a->kind == b->kind && vendor >= 0 && vendor == pci_number(d, b, "vendor") &&
           device == pci_number(d, b, "device");
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
    char state[32], physical[32];
    if (nic->port) {
        nuioa_sysfs_text(d->top, state, sizeof(state), "sys/class/infiniband/%s/ports/%u/state",
                         nic->name, nic->port);
        nuioa_sysfs_text(d->top, physical, sizeof(physical),
                         "sys/class/infiniband/%s/ports/%u/phys_state", nic->name, nic->port);
        snprintf(text, size, "%s%s%s", state, *physical ? ", " : "", physical);
    } else {
        nuioa_sysfs_text(d->top, state, sizeof(state), "sys/class/net/%s/operstate", nic->name);
        snprintf(text, size, "%s%s", state, is_wanted(d, nic) ? ", no carrier" : "");
    }
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
            (!other || idle || !doctor_in_fabric(d, other)))
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
    if (nuioa_sysfs_text(d->top, rate, size, "sys/class/infiniband/%s/ports/%u/rate", nic->name,
                         nic->port) < 0)
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
        unsigned width =
            nic->port && nic->kind == NUIOA_NIC_INFINIBAND ? lanes(d, nic, rate, sizeof(rate)) : 0;
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
