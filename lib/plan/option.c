/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/option.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/hints.h"
#include "topology/nic.h"
#include "topology/policy.h"
#include "util/number.h"

#define MS_MAX 60000
#define COST_MAX 100

#define NAME_MAX_LENGTH 32

/* Copies the item that begins at *list, up to `separator`, and moves on. False past the last one.
 * Items too long for any word are cut, so they match none. */
static bool next_item(const char **list, char separator, char *item, size_t size)
{
    if (!*list)
        return false;
    const char *end = strchr(*list, separator);
    size_t length = end ? (size_t)(end - *list) : strlen(*list);
    snprintf(item, size, "%.*s", (int)(length < size ? length : size - 1), *list);
    *list = end ? end + 1 : NULL;
    return true;
}

/* Position of `word` in "a|b|c", or -1. */
static int find_word(const char *words, const char *word)
{
    char item[NAME_MAX_LENGTH];
    for (int i = 0; next_item(&words, '|', item, sizeof(item)); i++)
        if (!strcmp(item, word))
            return i;
    return -1;
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

/* --- setters: read a value, store it, or fail and change nothing ----------------------------- */

static int set_word(const struct nuioa_option *option, struct nuioa_options *options,
                    const char *value, struct nuioa_error *err)
{
    int index = find_word(option->values, value);
    if (index < 0)
        return unknown_word(option, value, err);
    unsigned word = (unsigned)index;
    _Static_assert(sizeof(enum nuioa_policy) == sizeof(word), "enums are stored as unsigned");
    memcpy(field_of(option, options), &word, sizeof(word));
    return 0;
}

static int set_bool(const struct nuioa_option *option, struct nuioa_options *options,
                    const char *value, struct nuioa_error *err)
{
    if (find_word(option->values, value) < 0)
        return unknown_word(option, value, err);
    bool on = strcmp(value, "off") != 0;
    memcpy(field_of(option, options), &on, sizeof(on));
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

/* "none" and "off" are how one takes back a value that another option source gave. */
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

/* The last of the words is "none", the others are bits in the order of enum NUIOA_EXPORT_*. */
static int set_export(const struct nuioa_option *option, struct nuioa_options *options,
                      const char *value, struct nuioa_error *err)
{
    int none = find_word(option->values, "none");
    unsigned set = 0, items = 0;
    bool said_none = false;
    char item[NAME_MAX_LENGTH];
    for (const char *list = value; next_item(&list, ',', item, sizeof(item)); items++) {
        int word = find_word(option->values, item);
        if (word < 0)
            return unknown_word(option, item, err);
        if (word == none)
            said_none = true;
        else
            set |= 1u << word;
    }
    if (said_none && items > 1)
        return nuioa_fail(err, -EINVAL, "'none' stands alone");
    options->export_set = set;
    options->export_given = true;
    return 0;
}

/* off, export, on name the mode; the words after them are extras. */
static int set_switch(const struct nuioa_option *option, struct nuioa_options *options,
                      const char *value, struct nuioa_error *err)
{
    enum { FORCE = NUIOA_ON + 1, REPORT, EXPLAIN, HELP };
    unsigned said = 0;
    char item[NAME_MAX_LENGTH];
    for (const char *list = value; next_item(&list, ',', item, sizeof(item));) {
        int word = find_word(option->values, item);
        if (word < 0)
            return unknown_word(option, item, err);
        said |= 1u << word;
    }
    unsigned modes = said & (1u << NUIOA_OFF | 1u << NUIOA_EXPORT | 1u << NUIOA_ON);
    if (modes & (modes - 1))
        return nuioa_fail(err, -EINVAL, "off, export and on exclude each other");
    if ((said & 1u << FORCE) && (modes & ~(1u << NUIOA_ON)))
        return nuioa_fail(err, -EINVAL, "force implies on; it cannot go with off or export");

    bool implied = said & (1u << FORCE | 1u << REPORT | 1u << EXPLAIN);
    if (modes & 1u << NUIOA_EXPORT)
        options->mode = NUIOA_EXPORT;
    else if (modes & 1u << NUIOA_ON || (implied && !modes))
        options->mode = NUIOA_ON;
    else
        options->mode = NUIOA_OFF;
    options->force = said & 1u << FORCE;
    options->report = said & 1u << REPORT;
    options->explain = said & 1u << EXPLAIN;
    options->help = said & 1u << HELP;
    return 0;
}

/* --- the table ------------------------------------------------------------------------------- */

#define FIELD(name) offsetof(struct nuioa_options, name), sizeof(((struct nuioa_options *)0)->name)

/* clang-format off */
const struct nuioa_option nuioa_option_table[] = {
    { "nuioa", "off|export|on|force|report|explain|help", "off",
      "export: nothing moves, ranks are told NIC and leader; on: place ranks too, as plain "
      "--nuioa; force: even against --cpu-bind and GPUs; report, explain: say what was done and "
      "why; comma list",
      false, set_switch, FIELD(mode) },
    { "hints", "none|LIST|FILE", "none",
      "which ranks communicate most: 0:10,1-7:1,rest:0 or heavy=0,8; a FILE (a profile) begins "
      "with /, ./ or @",
      false, set_hints, FIELD(hints) },
    { "policy", "bandwidth|latency|cpu", "bandwidth",
      "what the job is bound by: received bytes, messages, or compute (nothing moves)",
      false, set_word, FIELD(policy) },
    { "cores", "auto|keep|pack", "auto",
      "keep: ranks exchange whole masks; pack: fill from the NICs outwards; auto: keep, but one "
      "rank alone on a node may move nearer",
      false, set_word, FIELD(cores) },
    { "nic", "auto|PATTERN", "auto",
      "NICs to use: names, globs, kinds such as infiniband, comma list, ^ to exclude; auto: the "
      "fastest fabric that is up",
      false, set_nic, FIELD(nic) },
    { "mem", "local|nic|interleave|off", "local",
      "memory preferred on the rank's NUMA node, on the NIC's, spread over the step's, or as it "
      "was",
      false, set_word, FIELD(mem) },
    { "leader", "near|rank0|off", "near",
      "who leads the node in collectives: the rank nearest the NIC, the lowest rank, nobody",
      false, set_word, FIELD(leader) },
    { "threads", "auto|off", "auto",
      "OMP_PLACES with the core nearest the NIC first, and progress-thread variables",
      false, set_bool, FIELD(threads) },
    { "export", "env|pmix|locality|ucx|ofi|nccl|psm|mpich|none", "env,pmix,locality",
      "how ranks are told, comma list; env,pmix with --nuioa=export; a variable the user set stays",
      false, set_export, FIELD(export_set) },
    { "coll", "off|on", "off", "preload collectives that use the leaders", false, set_bool,
      FIELD(coll) },
    { "trace", "off|FILE", "off", "record a profile of the communication, for hints=FILE next time",
      false, set_text, FIELD(trace) },
    { "gather", "auto|on|off", "auto",
      "nodes report to srun: auto for hints files, reports, coll, and up to 256 nodes",
      false, set_word,
      FIELD(gather) },
    { "timeout_ms", "1-60000", "500", "how long the gathering may take", false, set_ms,
      FIELD(timeout_ms) },
    { "distances", "FILE", "", "NUMA distances measured by nuioa probe", true, set_path,
      FIELD(distances) },
    { "cache", "FILE", "", "where the node's description is kept; /run/nuioa/HOST.cache", true,
      set_path, FIELD(cache) },
    { "topology", "FILE", "", "describe the node from this hwloc XML; nothing is bound then", true,
      set_path, FIELD(topology) },
    { "auth", "key|munge", "key",
      "what nodes prove themselves to srun by: the step's key, as for Slurm's stdio, or MUNGE too",
      true,
      set_word, FIELD(auth) },
    { "munge_socket", "FILE", "", "socket of munged", true, set_path, FIELD(munge_socket) },
    { "timeout_max_ms", "1-60000", "5000", "longest timeout_ms a user may ask for", true, set_ms,
      FIELD(timeout_max_ms) },
    { "deadline_ms", "1-60000", "2000",
      "how long discovery of a node may take at a launch, and how much processor time a plan", true,
      set_ms, FIELD(deadline_ms) },
    { "remote_cost", "0-100", "0.30", "price of leaving the NIC's NUMA node", true, set_cost,
      FIELD(remote_cost) },
    { "hop_cost", "0-100", "0.05", "price of each distance level beyond the first", true, set_cost,
      FIELD(hop_cost) },
    { NULL, NULL, NULL, NULL, false, NULL, 0, 0 },
};
/* clang-format on */

void nuioa_options_init(struct nuioa_options *options)
{
    char *const texts[] = { options->hints,       options->nic,   options->trace,
                            options->distances,   options->cache, options->topology,
                            options->munge_socket };
    memset(options, 0, offsetof(struct nuioa_options, hints));
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        *texts[i] = '\0';
    for (const struct nuioa_option *option = nuioa_option_table; option->name; option++)
        if (*option->initial)
            option->set(option, options, option->initial, NULL);
    options->export_given = false;
}

void nuioa_options_finish(struct nuioa_options *options)
{
    if (options->export_given)
        return;
    options->export_set = NUIOA_EXPORT_ENV | NUIOA_EXPORT_PMIX;
    if (options->mode != NUIOA_EXPORT)
        options->export_set |= NUIOA_EXPORT_LOCALITY;
}

/* --- names ----------------------------------------------------------------------------------- */

static bool is_switch(const struct nuioa_option *option)
{
    return option == nuioa_option_table;
}

static const char *name_at(const struct nuioa_option *option, enum nuioa_option_source source)
{
    return is_switch(option) && source == NUIOA_FROM_PLUGSTACK ? "default" : option->name;
}

/* Variables are in capitals, the table is not. */
static int folded(enum nuioa_option_source source, char c)
{
    return source == NUIOA_FROM_ENVIRONMENT ? tolower((unsigned char)c) : c;
}

static bool same_name(enum nuioa_option_source source, const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != folded(source, *b) && !(*a == '_' && *b == '-'))
            return false;
    return *a == *b;
}

const struct nuioa_option *nuioa_option_find(enum nuioa_option_source source, const char *name)
{
    for (const struct nuioa_option *option = nuioa_option_table; option->name; option++)
        if (same_name(source, name_at(option, source), name))
            return option;
    return NULL;
}

const char *nuioa_option_variable(const struct nuioa_option *option, char *text, size_t size)
{
    snprintf(text, size, is_switch(option) ? "SLURM_NUIOA" : "SLURM_NUIOA_%s", option->name);
    for (char *c = text; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return text;
}

const char *nuioa_option_spelling(const struct nuioa_option *option,
                                  enum nuioa_option_source source, char *text, size_t size)
{
    if (source == NUIOA_FROM_ENVIRONMENT)
        return nuioa_option_variable(option, text, size);
    if (source == NUIOA_FROM_PLUGSTACK) {
        snprintf(text, size, "%s", name_at(option, source));
        return text;
    }
    bool prefixed = source == NUIOA_FROM_COMMAND && !is_switch(option);
    snprintf(text, size, prefixed ? "--nuioa-%s" : "--%s", option->name);
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = '-';
    return text;
}

/* Edits (insert, delete, replace) from one name to the other. */
static unsigned edits(enum nuioa_option_source source, const char *a, const char *b)
{
    unsigned row[NAME_MAX_LENGTH + 1];
    size_t length = strlen(b);
    if (length > NAME_MAX_LENGTH || strlen(a) > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (unsigned i = 1; a[i - 1]; i++) {
        unsigned corner = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= length; j++) {
            unsigned best = corner + (folded(source, a[i - 1]) != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[length];
}

static int unknown_name(enum nuioa_option_source source, const char *name, struct nuioa_error *err)
{
    static const char *const where[] = { "plugstack.conf: ", "SLURM_NUIOA_", "--nuioa-", "--" };
    const struct nuioa_option *nearest = NULL;
    unsigned least = 3;
    for (const struct nuioa_option *option = nuioa_option_table; option->name; option++) {
        unsigned distance = edits(source, name, name_at(option, source));
        if (distance < least) {
            least = distance;
            nearest = option;
        }
    }
    char near[64] = "";
    if (nearest)
        nuioa_option_spelling(nearest, source, near, sizeof(near));
    return nuioa_fail(err, -ENOENT, "%s%.40s: no such option%s%s%s", where[source], name,
                      nearest ? "; did you mean " : "", near, nearest ? "?" : "");
}

int nuioa_options_set(struct nuioa_options *options, enum nuioa_option_source source,
                      const char *name, const char *value, struct nuioa_error *err)
{
    const struct nuioa_option *option = nuioa_option_find(source, name);
    if (!option)
        return unknown_name(source, name, err);
    if (source == NUIOA_FROM_ENVIRONMENT && value && !*value)
        return 0;

    char spelling[64];
    nuioa_option_spelling(option, source, spelling, sizeof(spelling));
    const char *where = source == NUIOA_FROM_PLUGSTACK ? "plugstack.conf: " : "";
    if (option->admin && (source == NUIOA_FROM_ENVIRONMENT || source == NUIOA_FROM_COMMAND))
        return nuioa_fail(err, -EPERM, "%s: only plugstack.conf can set this", spelling);
    if (!value && is_switch(option))
        value = "on";
    if (!value)
        return nuioa_fail(err, -EINVAL, "%s%s: a value is missing (%s)", where, spelling,
                          option->values);

    struct nuioa_error detail = { "" };
    int rc = option->set(option, options, value, &detail);
    if (rc)
        return nuioa_fail(err, rc, "%s%s: %s", where, spelling, detail.text);
    return 0;
}

const char *nuioa_policy_name(enum nuioa_policy policy)
{
    static const char *const names[] = { "bandwidth", "latency", "cpu" };
    return names[policy];
}

/* --- help ------------------------------------------------------------------------------------ */

enum { COLUMNS = 4 };
static const int column_width[COLUMNS] = { 14, 26, 11, 45 };

/* How much of `text` goes on a line of `width`: up to a blank, '|' or ',', all of it if it fits. */
static int line_length(const char *text, int width)
{
    int length = (int)strlen(text);
    if (length <= width)
        return length;
    for (int cut = width; cut > 0; cut--)
        if (text[cut] == ' ' || text[cut - 1] == '|' || text[cut - 1] == ',')
            return cut;
    return width;
}

static void print_row(FILE *out, const char *const cells[COLUMNS])
{
    const char *rest[COLUMNS];
    memcpy(rest, cells, sizeof(rest));
    bool more;
    do {
        char line[128];
        int length = 0;
        more = false;
        for (int i = 0; i < COLUMNS; i++) {
            int n = line_length(rest[i], column_width[i]);
            length += snprintf(line + length, sizeof(line) - (size_t)length, " %-*.*s",
                               column_width[i], n, rest[i]);
            rest[i] += n;
            rest[i] += strspn(rest[i], " ");
            more = more || *rest[i];
        }
        while (length && line[length - 1] == ' ')
            length--;
        fprintf(out, "%.*s\n", length, line);
    } while (more);
}

static void print_table(FILE *out, bool admin)
{
    print_row(out, (const char *const[]){ "name", "values", "default", "meaning" });
    for (const struct nuioa_option *option = nuioa_option_table; option->name; option++)
        if (option->admin == admin)
            print_row(out, (const char *const[]){ option->name, option->values,
                                                  *option->initial ? option->initial : "-",
                                                  option->help });
}

char *nuioa_options_help(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "Options: srun --nuioa-NAME=VALUE (plain --nuioa means on), environment "
                 "SLURM_NUIOA_NAME=VALUE,\nplugstack.conf argument name=VALUE (the switch is "
                 "default=), nuioa plan --NAME VALUE.\n\n");
    print_table(out, false);
    fprintf(out, "\nOnly in plugstack.conf, or to nuioa plan:\n\n");
    print_table(out, true);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}
