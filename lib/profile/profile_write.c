/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/new_file.h"
#include "util/number.h"

static void put(FILE *out, double value)
{
    char text[32];
    fprintf(out, " %s", nuioa_print_decimal(value, text, sizeof(text)));
}

/* Makes a copy of the flows, sorted, and opens the file. After an error there is neither. */
static int begin(const struct nuioa_profile *profile, const char *path,
                 struct nuioa_profile *sorted, struct nuioa_new_file *file, struct nuioa_error *err)
{
    *sorted = (struct nuioa_profile){ .flow_count = profile->flow_count };
    sorted->flows = malloc(((size_t)profile->flow_count + 1) * sizeof(*sorted->flows));
    if (!sorted->flows)
        return nuioa_fail(err, -ENOMEM, "%s: out of memory", path);
    if (profile->flow_count)
        memcpy(sorted->flows, profile->flows, profile->flow_count * sizeof(*sorted->flows));
    nuioa_profile_merge(sorted);
    int rc = nuioa_new_file_open(file, path, err);
    if (rc)
        nuioa_profile_free(sorted);
    return rc;
}

static bool is_idle(const struct nuioa_traffic *t)
{
    return t->sent_bytes + t->recv_bytes + t->sent_msgs + t->recv_msgs <= 0;
}

int nuioa_profile_write(const char *path, const struct nuioa_profile *profile,
                        struct nuioa_error *err)
{
    struct nuioa_profile sorted;
    struct nuioa_new_file file;
    int rc = begin(profile, path, &sorted, &file, err);
    if (rc)
        return rc;
    FILE *out = file.stream;
    fprintf(out, "nuioa-profile 1\nranks %u%s\n", profile->rank_count,
            profile->partial ? " partial" : "");
    for (uint32_t i = 0; i < profile->rank_count; i++) {
        const struct nuioa_traffic *t = &profile->ranks[i];
        if (is_idle(t))
            continue;
        fprintf(out, "rank %u", i);
        const double numbers[] = { t->sent_bytes, t->recv_bytes, t->sent_msgs, t->recv_msgs,
                                   t->large_recv_bytes };
        for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
            put(out, numbers[n]);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < sorted.flow_count; i++) {
        const struct nuioa_flow *f = &sorted.flows[i];
        fprintf(out, "%s %u %u", f->collective ? "coll" : "pair", f->source, f->target);
        put(out, f->bytes);
        put(out, f->msgs);
        put(out, f->large_bytes);
        fputc('\n', out);
    }
    nuioa_profile_free(&sorted);
    return nuioa_new_file_close(&file, true, path, err);
}

static double value_of(const struct nuioa_flow *f, enum nuioa_metric metric)
{
    if (metric == NUIOA_METRIC_AVG)
        return f->msgs > 0 ? f->bytes / f->msgs : 0;
    return metric == NUIOA_METRIC_MSG ? f->msgs : f->bytes;
}

int nuioa_profile_write_matrix(const char *path, const struct nuioa_profile *profile,
                               enum nuioa_metric metric, struct nuioa_error *err)
{
    struct nuioa_profile sorted;
    struct nuioa_new_file file;
    if (profile->rank_count > NUIOA_PROFILE_MATRIX_MAX)
        return nuioa_fail(err, -EINVAL, "%s: %u ranks are too many for a matrix (%d)", path,
                          profile->rank_count, NUIOA_PROFILE_MATRIX_MAX);
    int rc = begin(profile, path, &sorted, &file, err);
    if (rc)
        return rc;
    FILE *out = file.stream;
    uint32_t next = 0;
    for (uint32_t i = 0; i < profile->rank_count && !ferror(out); i++) {
        for (uint32_t j = 0; j < profile->rank_count; j++) {
            struct nuioa_flow cell = { .source = i, .target = j };
            while (next < sorted.flow_count && sorted.flows[next].source == i &&
                   sorted.flows[next].target == j) {
                cell.bytes += sorted.flows[next].bytes;
                cell.msgs += sorted.flows[next++].msgs;
            }
            put(out, value_of(&cell, metric));
        }
        fputc('\n', out);
    }
    nuioa_profile_free(&sorted);
    return nuioa_new_file_close(&file, true, path, err);
}
