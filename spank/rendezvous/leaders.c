/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/leaders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spank/rendezvous/wire.h"
#include "util/hash.h"

uint64_t leaders_digest(uint32_t job_id, uint32_t step_id, const uint32_t *leaders, uint32_t count)
{
    uint64_t digest = nuioa_hash_u32(NUIOA_HASH_START, job_id);
    digest = nuioa_hash_u32(nuioa_hash_u32(digest, step_id), count);
    for (uint32_t i = 0; i < count; i++)
        digest = nuioa_hash_u32(digest, leaders[i]);
    return digest;
}

size_t leaders_max(uint32_t count)
{
    return sizeof(struct wire_table) + count * sizeof(struct wire_run);
}

/* Returns the longest run at the beginning of leaders[left]. A run of one has stride 0. */
static struct wire_run run_at(const uint32_t *leaders, uint32_t left)
{
    struct wire_run run = { leaders[0], left > 1 ? leaders[1] - leaders[0] : 0, 1 };
    while (run.count < left && leaders[run.count] - leaders[run.count - 1] == run.stride)
        run.count++;
    return run;
}

void *leaders_serialize(uint32_t job_id, uint32_t step_id, const uint32_t *leaders, uint32_t count,
                        size_t *length)
{
    char *bytes = malloc(leaders_max(count));
    if (!bytes)
        return NULL;
    struct wire_table table = { job_id, step_id, count, 0,
                                leaders_digest(job_id, step_id, leaders, count) };
    char *at = bytes + sizeof(table);
    for (uint32_t done = 0; done < count; table.run_count++) {
        struct wire_run run = run_at(leaders + done, count - done);
        memcpy(at, &run, sizeof(run));
        at += sizeof(run);
        done += run.count;
    }
    *length = (size_t)(at - bytes);
    memcpy(bytes, &table, sizeof(table));
    return bytes;
}

static int expand(const char *runs, uint32_t run_count, uint32_t *leaders, uint32_t count)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < run_count; i++) {
        struct wire_run run;
        memcpy(&run, runs + i * sizeof(run), sizeof(run));
        if (!run.count || run.count > count - done)
            return -EINVAL;
        for (uint32_t k = 0; k < run.count; k++)
            leaders[done++] = run.first + k * run.stride;
    }
    return done == count ? 0 : -EINVAL;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int check_distinct(const uint32_t *leaders, uint32_t count)
{
    uint32_t *sorted = malloc(count * sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    memcpy(sorted, leaders, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare);
    int rc = 0;
    for (uint32_t i = 1; i < count && !rc; i++)
        rc = sorted[i] == sorted[i - 1] ? -EINVAL : 0;
    free(sorted);
    return rc;
}

int leaders_parse(const void *bytes, size_t length, uint32_t job_id, uint32_t step_id,
                  uint32_t *leaders, uint32_t count)
{
    struct wire_table table;
    if (length < sizeof(table))
        return -EINVAL;
    memcpy(&table, bytes, sizeof(table));
    if (table.job_id != job_id || table.step_id != step_id || table.node_count != count || !count ||
        table.run_count > count ||
        length != sizeof(table) + table.run_count * sizeof(struct wire_run))
        return -EINVAL;
    int rc = expand((const char *)bytes + sizeof(table), table.run_count, leaders, count);
    if (!rc && table.digest != leaders_digest(job_id, step_id, leaders, count))
        rc = -EINVAL;
    return rc ? rc : check_distinct(leaders, count);
}
