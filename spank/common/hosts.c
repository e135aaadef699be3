/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/hosts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "spank/report/wire.h"

/* The parsers read a list once and count the names of a range without writing them out. */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the number at *at and moves *at behind it. 0 or -EINVAL. */
static int read_number(const char **at, uint32_t max, uint32_t *number)
{
    char *end;
    unsigned long long value = strtoull(*at, &end, 10);
    if (!is_digit(**at) || value > max)
        return -EINVAL;
    *at = end;
    *number = (uint32_t)value;
    return 0;
}

struct search {
    const char *host;
    uint32_t names; /* that were read so far */
    int position;   /* of `host`; -1: not found yet */
};

/* Counts `names` more names. If `here`, the one at `offset` among them is the host. */
static int count_names(struct search *s, uint32_t names, bool here, uint32_t offset)
{
    if (names > WIRE_NODES_MAX - s->names)
        return -E2BIG;
    if (here && s->position < 0)
        s->position = (int)(s->names + offset);
    s->names += names;
    return 0;
}

/* Returns true if `digits` is a number from `first` to `last`, with leading zeros up to `width`
 * digits, as in "[08-11]". *offset gets its distance from `first`. */
static bool is_in_range(const char *digits, uint32_t first, uint32_t last, size_t width,
                        uint32_t *offset)
{
    const char *end = digits;
    uint32_t number;
    if (!is_digit(*digits) || read_number(&end, UINT32_MAX, &number) < 0 || *end)
        return false;
    size_t length = (size_t)(end - digits);
    *offset = number - first;
    return number >= first && number <= last &&
           (length == width || (length > width && *digits != '0'));
}

/* Reads "3" or "08-11" within brackets. `rest` is the host's name behind the prefix; NULL: the
 * prefix is not the host's. */
static int read_range(struct search *s, const char **at, const char *rest)
{
    const char *begin = *at;
    uint32_t first, last, offset = 0;
    if (read_number(at, UINT32_MAX, &first) < 0)
        return -EINVAL;
    size_t width = (size_t)(*at - begin);
    last = first;
    if (**at == '-' && (++*at, read_number(at, UINT32_MAX, &last) < 0 || last < first))
        return -EINVAL;
    if (last - first >= WIRE_NODES_MAX)
        return -E2BIG;
    bool here = rest && is_in_range(rest, first, last, width, &offset);
    return count_names(s, last - first + 1, here, offset);
}

/* Reads one name, or one prefix with its ranges. */
static int read_item(struct search *s, const char **at)
{
    size_t prefix = strcspn(*at, "[],"), host = strlen(s->host);
    bool same = !strncmp(*at, s->host, prefix);
    const char *begin = *at;
    *at += prefix;
    if (!prefix || **at == ']')
        return -EINVAL;
    if (**at != '[')
        return count_names(s, 1, prefix == host && !memcmp(begin, s->host, host), 0);
    do {
        int rc = (++*at, read_range(s, at, same ? s->host + prefix : NULL));
        if (rc < 0)
            return rc;
    } while (**at == ',');
    return *(*at)++ == ']' && (!**at || **at == ',') ? 0 : -EINVAL;
}

static int read_list(struct search *s, const char *list)
{
    int rc = strnlen(list, HOSTS_LIST_MAX + 1) > HOSTS_LIST_MAX ? -E2BIG : read_item(s, &list);
    while (!rc && *list == ',') {
        list++;
        rc = read_item(s, &list);
    }
    return rc;
}

int hosts_find(const char *list, const char *host)
{
    struct search s = { .host = host, .position = -1 };
    int rc = read_list(&s, list);
    if (rc < 0)
        return rc;
    return s.position < 0 ? -ENOENT : s.position;
}

/* Reads "3" or "1(x2)": tasks on each node, and the number of nodes with so many. */
static int read_tasks(const char **at, uint32_t *tasks, uint32_t *times)
{
    *times = 1;
    if (read_number(at, WIRE_TASKS_MAX, tasks) < 0)
        return -EINVAL;
    if (strncmp(*at, "(x", 2))
        return **at && **at != ',' ? -EINVAL : 0;
    *at += 2;
    if (read_number(at, WIRE_NODES_MAX, times) < 0 || *(*at)++ != ')')
        return -EINVAL;
    return **at && **at != ',' ? -EINVAL : 0;
}

int hosts_tasks(const char *list, uint32_t position, uint32_t *before, uint32_t *there)
{
    uint32_t sum = 0, first = 0, tasks, times; /* `first`: the position where the item begins */
    while (read_tasks(&list, &tasks, &times) == 0 && first + times <= WIRE_NODES_MAX) {
        if (position < first + times) {
            *before = sum + (position - first) * tasks;
            *there = tasks;
            return 0;
        }
        sum += tasks * times;
        first += times;
        if (*list++ != ',')
            break;
    }
    return -EINVAL;
}
