/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/beside.h"

#include <ctype.h>
#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>

#include "util/sysfs.h"

/* More text than this is not read: some 30,000 sockets. */
#define LIST_MAX ((size_t)4 << 20)

/* The path of a socket in one line of the list. */
struct path {
    const char *text;
    size_t length; /* up to the '_' before the numbers */
    uint32_t job, step;
};

static const char *number_at(const char *text, uint32_t *number)
{
    uint64_t value = 0;
    const char *c = text;
    for (; isdigit((unsigned char)*c) && value <= UINT32_MAX; c++)
        value = value * 10 + (uint64_t)(*c - '0');
    *number = (uint32_t)value;
    return c == text || value > UINT32_MAX ? NULL : c;
}

/* Reads a line that ends with a path such as "/var/spool/slurmd/node1_12.0", or with the number of
 * a component behind it. Returns false for any other line. */
static bool read_path(const char *line, size_t length, struct path *path)
{
    const char *end = line + length, *blank = memrchr(line, ' ', length);
    const char *text = blank ? blank + 1 : line;
    const char *low = memrchr(text, '_', (size_t)(end - text)), *c;
    if (text == end || *text != '/' || !low)
        return false;
    *path = (struct path){ text, (size_t)(low - text), 0, 0 };
    return (c = number_at(low + 1, &path->job)) && *c == '.' &&
           (c = number_at(c + 1, &path->step)) && (c == end || *c == '.');
}

static bool is_own(const struct path *path, uint32_t job, uint32_t step)
{
    return path->job == job && path->step == step;
}

/* Calls visit() for each path until it returns true, and returns whether it did. */
static bool walk(const char *sockets, bool (*visit)(const struct path *path, void *arg), void *arg)
{
    for (const char *line = sockets; *line;) {
        size_t length = strcspn(line, "\n");
        struct path path;
        if (read_path(line, length, &path) && visit(&path, arg))
            return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

struct search {
    uint32_t job, step;
    struct path own;
};

static bool find_own(const struct path *path, void *arg)
{
    struct search *s = arg;
    s->own = *path;
    return is_own(path, s->job, s->step);
}

static bool is_other(const struct path *path, void *arg)
{
    const struct search *s = arg;
    return !is_own(path, s->job, s->step) && path->step <= SLURM_MAX_NORMAL_STEP_ID &&
           path->length == s->own.length && !memcmp(path->text, s->own.text, path->length);
}

bool beside_find(const char *sockets, uint32_t job, uint32_t step)
{
    struct search search = { .job = job, .step = step };
    return walk(sockets, find_own, &search) && walk(sockets, is_other, &search);
}

bool beside_is_any(uint32_t job, uint32_t step)
{
    char *sockets = nuioa_sysfs_lines(AT_FDCWD, LIST_MAX, "/proc/net/unix");
    bool any = sockets && beside_find(sockets, job, step);
    free(sockets);
    return any;
}
