/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout/host_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"

enum { DIGITS_MAX = 9 };

/* The text that is read, the rest of it, and the list so far are kept here. */
struct reader {
    const char *text, *at;
    struct nuioa_host_list *list;
    uint32_t room;
    struct nuioa_error *err;
};

static int refuse(const struct reader *r)
{
    return nuioa_fail(r->err, -EINVAL, "'%.80s' is not a list of nodes such as n[1-3,08-11],m7",
                      r->text);
}

static int too_many(const struct reader *r)
{
    return nuioa_fail(r->err, -E2BIG, "'%.80s': more than %d nodes", r->text, NUIOA_HOSTS_MAX);
}

#define DIGITS "0123456789"
#define OF_NAME DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-"

/* Reads the digits at r->at and steps behind them. */
static int read_number(struct reader *r, uint32_t *number, size_t *width)
{
    char digits[DIGITS_MAX + 1] = "";
    *width = strspn(r->at, DIGITS);
    if (*width > DIGITS_MAX)
        return -EINVAL;
    memcpy(digits, r->at, *width);
    r->at += *width;
    return nuioa_parse_u32(digits, UINT32_MAX, number);
}

/* Adds the name `prefix`[length], followed by `number` with at least `width` digits unless that is
 * 0. */
static int add(struct reader *r, const char *prefix, size_t length, size_t width, uint32_t number)
{
    struct nuioa_host_list *list = r->list;
    if (list->count == NUIOA_HOSTS_MAX)
        return too_many(r);
    if (list->count == r->room) {
        uint32_t room = r->room ? 2 * r->room : 16;
        char(*names)[NUIOA_HOST_BYTES] = realloc(list->names, room * sizeof(*names));
        if (!names)
            return nuioa_fail(r->err, -ENOMEM, "out of memory");
        list->names = names;
        r->room = room;
    }
    char *name = list->names[list->count];
    if (length + (width ? DIGITS_MAX : 0) >= NUIOA_HOST_BYTES)
        return refuse(r);
    memcpy(name, prefix, length);
    name[length] = '\0';
    if (width)
        snprintf(name + length, NUIOA_HOST_BYTES - length, "%0*u", (int)width, number);
    list->count++;
    return 0;
}

/* Reads "3" or "08-11" within brackets. */
static int read_range(struct reader *r, const char *prefix, size_t length)
{
    uint32_t first, last;
    size_t width, end_width;
    if (read_number(r, &first, &width))
        return refuse(r);
    last = first;
    if (*r->at == '-' && (r->at++, read_number(r, &last, &end_width) || last < first))
        return refuse(r);
    if (last - first >= NUIOA_HOSTS_MAX)
        return too_many(r);
    int rc = 0;
    for (uint32_t number = first; number <= last && !rc; number++)
        rc = add(r, prefix, length, width, number);
    return rc;
}

/* Reads one name, or one prefix with its ranges. */
static int read_item(struct reader *r)
{
    const char *prefix = r->at;
    size_t length = strspn(prefix, OF_NAME);
    r->at += length;
    if (!length || *prefix == '-')
        return refuse(r);
    if (*r->at != '[')
        return *r->at && *r->at != ',' ? refuse(r) : add(r, prefix, length, 0, 0);
    do {
        int rc = (r->at++, read_range(r, prefix, length));
        if (rc)
            return rc;
    } while (*r->at == ',');
    return *r->at++ == ']' && (!*r->at || *r->at == ',') ? 0 : refuse(r);
}

int nuioa_host_list_parse(const char *text, struct nuioa_host_list *list, struct nuioa_error *err)
{
    struct reader r = { .text = text, .at = text, .list = list, .err = err };
    *list = (struct nuioa_host_list){ 0 };
    int rc = read_item(&r);
    while (!rc && *r.at == ',') {
        r.at++;
        rc = read_item(&r);
    }
    if (rc)
        nuioa_host_list_free(list);
    return rc;
}

static int compare_names(const void *a, const void *b, void *list)
{
    const struct nuioa_host_list *l = list;
    return strcmp(l->names[*(const uint32_t *)a], l->names[*(const uint32_t *)b]);
}

int nuioa_host_list_number(const struct nuioa_host_list *list, uint32_t *node_of)
{
    uint32_t *sorted = malloc(((size_t)list->count + 1) * sizeof(*sorted)), number = 0;
    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < list->count; i++)
        sorted[i] = i;
    qsort_r(sorted, list->count, sizeof(*sorted), compare_names, (void *)list);
    for (uint32_t i = 0; i < list->count; i++) {
        number += i && strcmp(list->names[sorted[i - 1]], list->names[sorted[i]]) != 0;
        node_of[sorted[i]] = number;
    }
    free(sorted);
    return 0;
}

void nuioa_host_list_free(struct nuioa_host_list *list)
{
    free(list->names);
    *list = (struct nuioa_host_list){ 0 };
}

/* Reads "3" or "3(x2)". */
static int read_tasks(struct reader *r, uint32_t *tasks, uint32_t *times)
{
    size_t width;
    *times = 1;
    if (read_number(r, tasks, &width))
        return -EINVAL;
    if (!strncmp(r->at, "(x", 2)) {
        r->at += 2;
        if (read_number(r, times, &width) || *r->at++ != ')')
            return -EINVAL;
    }
    return *r->at && *r->at != ',' ? -EINVAL : 0;
}

int nuioa_task_counts_parse(const char *text, uint32_t node_count, uint32_t *tasks,
                            struct nuioa_error *err)
{
    struct reader r = { .text = text, .at = text };
    uint32_t count = 0, number, times;
    bool single = !strchr(text, ',') && !strchr(text, '(');
    do {
        if (read_tasks(&r, &number, &times))
            return nuioa_fail(err, -EINVAL,
                              "'%.80s' is not a list of numbers of tasks such as 3(x2),1", text);
        if (single)
            times = node_count;
        if (times > node_count - count)
            return nuioa_fail(err, -EINVAL, "'%.80s' has tasks for more than %u nodes", text,
                              node_count);
        while (times--)
            tasks[count++] = number;
    } while (*r.at++ == ',');
    if (count < node_count)
        return nuioa_fail(err, -EINVAL, "'%.80s' has tasks for %u nodes, but there are %u", text,
                          count, node_count);
    return 0;
}
