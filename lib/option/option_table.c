/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/option_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "option/option.h"
#include "profile/hints.h"
#include "topology/nic.h"
#include "topology/nic_role.h"
#include "topology/policy.h"
#include "util/number.h"
#include "util/word.h"

#define MS_MAX 60000 /* in milliseconds */
#define COST_MAX 100
#define RAILS_MAX 64

/* Longer than every word in the table, in bytes with the final NUL. */
#define WORD_SIZE 32

/* Copies the item of a comma list that begins at *list to item[WORD_SIZE], and advances *list to
 * the next item. Returns false after the last one. An item that does not fit is cut; it then
 * matches no word. */
static bool next_item(const char **list, char *item)
{
    if (!*list)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(item, WORD_SIZE, "%.*s", (int)(length < WORD_SIZE ? length : WORD_SIZE - 1), *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

static int unknown_word(const struct nuioa_option *option, const char *word,
                        struct nuioa_error *err)
{
    char words[160];
    size_t length = 0;
    for (const char *c = option->values; *c && length + 3 < sizeof(words); c++) {
        words[length++] = *c == '|' ? ',' : *c;
        if (*c == '|')
            words[length++] = ' ';
    }
    words[length] = '\0';
    return nuioa_fail(err, -EINVAL, "'%.40s' is not one of %s", word, words);
}

static void *field_of(const struct nuioa_option *option, struct nuioa_options *options)
{
    return (char *)options + option->field;
}

/* --- setters: each reads a value and stores it; on error it changes nothing ------------------ */

static int set_word(const struct nuioa_option *option, struct nuioa_options *options,
                    const char *value, struct nuioa_error *err)
{
    int index = nuioa_word_index(option->values, value);
    if (index < 0)
        return unknown_word(option, value, err);
    unsigned word = (unsigned)index;
    _Static_assert(sizeof(enum nuioa_policy) == sizeof(word), "enums are stored as unsigned");
    memcpy(field_of(option, options), &word, sizeof(word));
    return 0;
}

static int set_ms(const struct nuioa_option *option, struct nuioa_options *options,
                  const char *value, struct nuioa_error *err)
{
    uint32_t ms;
    if (nuioa_parse_u32(value, MS_MAX, &ms) || ms == 0)
        return nuioa_fail(err, -EINVAL, "'%.40s' is not a number of milliseconds from 1 to %d",
                          value, MS_MAX);
    memcpy(field_of(option, options), &ms, sizeof(ms));
    return 0;
}

static int set_cost(const struct nuioa_option *option, struct nuioa_options *options,
                    const char *value, struct nuioa_error *err)
{
    double cost;
    if (nuioa_parse_decimal(value, &cost) || cost > COST_MAX)
        return nuioa_fail(err, -EINVAL, "'%.40s' is not a number from 0 to %d", value, COST_MAX);
    memcpy(field_of(option, options), &cost, sizeof(cost));
    return 0;
}

/* The default ("none", "off") removes a value that another option source gave. */
static int set_text(const struct nuioa_option *option, struct nuioa_options *options,
                    const char *value, struct nuioa_error *err)
{
    if (!strcmp(value, option->initial))
        value = "";
    if (strlen(value) >= option->size)
        return nuioa_fail(err, -EINVAL, "longer than %zu characters", option->size - 1);
    nuioa_copy(field_of(option, options), option->size, value);
    return 0;
}

static int set_path(const struct nuioa_option *option, struct nuioa_options *options,
                    const char *value, struct nuioa_error *err)
{
    if (!*value)
        return nuioa_fail(err, -EINVAL, "a file name is missing");
    return set_text(option, options, value, err);
}

static int set_hints(const struct nuioa_option *option, struct nuioa_options *options,
                     const char *value, struct nuioa_error *err)
{
    if (strcmp(value, option->initial)) {
        const char *file = nuioa_hints_file(value);
        if (file && !*file)
            return nuioa_fail(err, -EINVAL, "a file name is missing after '@'");
        if (strlen(value) >= option->size)
            return nuioa_fail(err, -EINVAL, "longer than %zu bytes; give the path of a profile",
                              option->size - 1);
        if (!file) {
            struct nuioa_hints hints;
            int rc = nuioa_hints_parse(&hints, value, err);
            if (rc)
                return rc;
            nuioa_hints_free(&hints);
        }
    }
    return set_text(option, options, value, err);
}

static int set_nic(const struct nuioa_option *option, struct nuioa_options *options,
                   const char *value, struct nuioa_error *err)
{
    int rc = nuioa_nic_check(value, err);
    if (rc)
        return rc;
    if (strlen(value) >= option->size)
        return nuioa_fail(err, -EINVAL, "longer than %zu characters", option->size - 1);
    nuioa_copy(options->nic, sizeof(options->nic), value);
    return 0;
}

/* A later list is added to an earlier one, in which the site may have named other NICs. */
static int set_nic_role(const struct nuioa_option *option, struct nuioa_options *options,
                        const char *value, struct nuioa_error *err)
{
    size_t used = strlen(options->nic_role);
    if (!strcmp(value, option->initial)) {
        options->nic_role[0] = '\0';
        return 0;
    }
    int rc = nuioa_nic_roles_check(value, err);
    if (rc)
        return rc;
    if (used + 1 + strlen(value) >= option->size)
        return nuioa_fail(err, -EINVAL, "longer than %zu characters%s", option->size - 1,
                          used ? ", together with an earlier source" : "");
    snprintf(options->nic_role + used, option->size - used, "%s%s", used ? "," : "", value);
    return 0;
}

/* A number or auto says how many; "connected" is a fact about the network, so that a number from a
 * later source does not take it back. */
static int set_rails(const struct nuioa_option *option, struct nuioa_options *options,
                     const char *value, struct nuioa_error *err)
{
    unsigned counts = 0, rails = options->rails;
    bool connected = options->rails_connected;
    char item[WORD_SIZE];
    for (const char *list = value; next_item(&list, item);) {
        uint32_t number = 0;
        if (!strcmp(item, "connected")) {
            connected = true;
            continue;
        }
        if (strcmp(item, "auto") && (nuioa_parse_u32(item, RAILS_MAX, &number) || !number))
            return nuioa_fail(err, -EINVAL,
                              "'%.40s' is not auto, a number of NICs from 1 to %d, or connected",
                              item, RAILS_MAX);
        rails = number;
        counts++;
    }
    if (counts > 1)
        return nuioa_fail(err, -EINVAL, "'%.40s' gives more than one number of NICs", value);
    memcpy(field_of(option, options), &rails, sizeof(rails));
    options->rails_connected = connected;
    return 0;
}

/* The last word is "none". The other words are bits, in the order of enum NUIOA_EXPORT_*. */
static int set_export(const struct nuioa_option *option, struct nuioa_options *options,
                      const char *value, struct nuioa_error *err)
{
    int none = nuioa_word_index(option->values, "none");
    unsigned set = 0, items = 0;
    bool has_none = false;
    char item[WORD_SIZE];
    for (const char *list = value; next_item(&list, item); items++) {
        int word = nuioa_word_index(option->values, item);
        if (word < 0)
            return unknown_word(option, item, err);
        if (word == none)
            has_none = true;
        else
            set |= 1u << word;
    }
    if (has_none && items > 1)
        return nuioa_fail(err, -EINVAL, "'%.60s': none cannot be combined", value);
    options->export_set = set;
    options->export_given = true;
    return 0;
}

/* The words off, export and on choose the mode; the words after them are independent flags. */
static int set_switch(const struct nuioa_option *option, struct nuioa_options *options,
                      const char *value, struct nuioa_error *err)
{
    enum { FORCE = NUIOA_ON + 1, REPORT, EXPLAIN, HELP };
    unsigned given = 0;
    char item[WORD_SIZE];
    for (const char *list = value; next_item(&list, item);) {
        int word = nuioa_word_index(option->values, item);
        if (word < 0)
            return unknown_word(option, item, err);
        given |= 1u << word;
    }
    unsigned modes = given & (1u << NUIOA_OFF | 1u << NUIOA_EXPORT | 1u << NUIOA_ON);
    if ((given & 1u << NUIOA_OFF) && (given & ~(1u << NUIOA_OFF | 1u << REPORT)))
        return nuioa_fail(err, -EINVAL, "'%.60s': off can be combined with report only", value);
    if (modes & (modes - 1))
        return nuioa_fail(err, -EINVAL, "'%.60s': export and on exclude each other", value);
    if ((given & 1u << FORCE) && (modes & ~(1u << NUIOA_ON)))
        return nuioa_fail(err, -EINVAL, "'%.60s': force and export exclude each other", value);

    bool implied = given & (1u << FORCE | 1u << REPORT | 1u << EXPLAIN);
    if (modes & 1u << NUIOA_EXPORT)
        options->mode = NUIOA_EXPORT;
    else if (modes & 1u << NUIOA_ON || (implied && !modes))
        options->mode = NUIOA_ON;
    else
        options->mode = NUIOA_OFF;
    options->force = given & 1u << FORCE;
    options->report = given & 1u << REPORT;
    options->explain = given & 1u << EXPLAIN;
    options->help = given & 1u << HELP;
    return 0;
}

/* --- the table ------------------------------------------------------------------------------- */

#define FIELD(name) offsetof(struct nuioa_options, name), sizeof(((struct nuioa_options *)0)->name)

/* clang-format off */
const struct nuioa_option nuioa_option_table[] = {
    { "nuioa", "off|export|on|force|report|explain|help", "off",
      "off: nothing; export: ranks are told NIC and leader; on, plain --nuioa: ranks are placed; "
      "force: even against --cpu-bind and GPUs; report, explain: say what was done, why; "
      "report,off: change nothing, report; comma list",
      false, set_switch, FIELD(mode) },
    { "hints", "none|LIST|FILE", "none",
      "which ranks communicate most: 0:10,1-7:1,rest:0 or heavy=0,8; a FILE with these, or "
      "a profile, begins with /, ./ or @",
      false, set_hints, FIELD(hints) },
    { "policy", "bandwidth|latency", "bandwidth",
      "what the job is bound by: received bytes, or messages",
      false, set_word, FIELD(policy) },
    { "cores", "auto|keep|share|pack", "auto",
      "keep: ranks exchange whole masks; share: ranks with one mask divide it; pack: fill from the "
      "NICs outwards; auto: share, and use free cores, if you typed --nuioa, else keep",
      false, set_word, FIELD(cores) },
    { "gpus", "auto|follow|keep|local-rank|local-rank:block", "auto",
      "follow: CPUs follow GPUs, ranks move to the NUMA nodes of theirs; keep: with GPUs ranks "
      "stay; auto: follow if you typed --nuioa, else keep; local-rank: as auto, and where ranks "
      "see the same G GPUs, local rank i uses the one with the number i mod G; local-rank:block: "
      "of R ranks, i * G / R",
      false, set_word, FIELD(gpus) },
    { "nic", "auto|PATTERN", "auto",
      "NICs to use: names, globs, kinds such as infiniband, comma list, ^ to exclude; auto: the "
      "best fabric that is up, by GPUs and rate",
      false, set_nic, FIELD(nic) },
    { "nic_role", "none|PATTERN:ROLE,...", "none",
      "what NICs are for: compute, storage or management; those that are not for compute are used "
      "by nobody but by name (nic=NAME); * and ? in patterns; the last one that matches counts",
      false, set_nic_role, FIELD(nic_role) },
    { "rails", "auto|1-64|connected", "auto",
      "how many NICs a rank uses, the nearest ones; auto: those equally near, shared out among the "
      "ranks; connected: every NIC reaches every other; comma list",
      false, set_rails, FIELD(rails) },
    { "mem", "off|local|nic|interleave", "off",
      "off: no memory policy; local: preferred on the rank's NUMA node (not for ranks that span "
      "NUMA nodes, unless OMP_NUM_THREADS=1); nic: on its NIC's, for a rank alone spread over "
      "those of all its NICs; interleave: spread over those of all NICs in use",
      false, set_word, FIELD(mem) },
    { "leader", "near|rank0|off", "near",
      "who leads the node in collectives: the rank nearest the NIC, the lowest rank, nobody",
      false, set_word, FIELD(leader) },
    { "threads", "auto|on|off", "auto",
      "on: with -c, bind OpenMP threads to cores (OMP_PLACES), the first one nearest the NIC, and "
      "the MPI library's progress thread; auto: only say which core that is (NUIOA_COMM_CPUS)",
      false, set_word, FIELD(threads) },
    { "export", "auto|env|pmix|locality|ucx|ofi|nccl|psm|mpich|nvshmem|none", "auto",
      "how ranks are told, comma list; auto: env, pmix, locality, and if you typed --nuioa the "
      "NICs of UCX and Cray's MPICH, where that is sure to be right; what you have set stays",
      false, set_export, FIELD(export_set) },
    { "trace", "off|FILE", "off", "record a profile of the communication, for hints=FILE next time",
      false, set_path, FIELD(trace) },
    { "distances", "FILE", "", "NUMA distances measured by nuioa probe", true, set_path,
      FIELD(distances) },
    { "cache", "FILE", "", "where the node's description is kept; /run/nuioa/HOST.cache", true,
      set_path, FIELD(cache) },
    { "topology", "FILE", "", "describe the node from this hwloc XML; nothing is bound then", true,
      set_path, FIELD(topology) },
    { "munge_socket", "FILE", "", "socket of munged",
      true, set_path, FIELD(munge_socket) },
    { "deadline_ms", "1-60000", "2000",
      "how long discovery of a node may take at a launch, and how much processor time a plan", true,
      set_ms, FIELD(deadline_ms) },
    { "remote_cost", "0-100", "0.30", "price of leaving the NIC's NUMA node",
      true, set_cost, FIELD(remote_cost) },
    { "hop_cost", "0-100", "0.05", "price of each distance level beyond the first",
      true, set_cost, FIELD(hop_cost) },
    { "load_cost", "0-100", "1", "price of traffic above an even share of the NICs",
      true, set_cost, FIELD(load_cost) },
    { .name = "" },
};
/* clang-format on */

_Static_assert(sizeof(nuioa_option_table) / sizeof(*nuioa_option_table) <= NUIOA_OPTIONS_MAX + 1,
               "raise NUIOA_OPTIONS_MAX");
