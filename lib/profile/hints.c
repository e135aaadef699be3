/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/hints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"

/* Parses "7", "0-39" or "0-39992:8". Sets all of *span but the weight. */
static int parse_span(char *text, struct nuioa_hint *span)
{
    char *stride = strchr(text, ':');
    char *last = strchr(text, '-');
    span->stride = 1;
    if (stride) {
        *stride++ = '\0';
        if (!last || nuioa_parse_u32(stride, UINT32_MAX, &span->stride) < 0 || !span->stride)
            return -EINVAL;
    }
    if (last)
        *last++ = '\0';
    if (nuioa_parse_u32(text, INT32_MAX, &span->first) < 0)
        return -EINVAL;
    span->last = span->first;
    if (last && nuioa_parse_u32(last, INT32_MAX, &span->last) < 0)
        return -EINVAL;
    return span->first <= span->last ? 0 : -EINVAL;
}

/* Parses "RANKS:WEIGHT" or "rest:WEIGHT", where the weight is behind the last colon; or, if the
 * ranks are `heavy`, RANKS. */
static int parse_item(struct nuioa_hints *hints, char *item, bool heavy)
{
    struct nuioa_hint hint = { .weight = 1 };
    if (!heavy) {
        char *colon = strrchr(item, ':');
        if (!colon || nuioa_parse_decimal(colon + 1, &hint.weight) < 0)
            return -EINVAL;
        *colon = '\0';
        if (!strcmp(item, "rest")) {
            hints->rest = hint.weight;
            return 0;
        }
    }
    if (parse_span(item, &hint) < 0)
        return -EINVAL;
    hints->items[hints->count++] = hint;
    return 0;
}

/* Splits the list at its commas, in place, and parses a copy of each item, which is changed. */
static int parse_items(struct nuioa_hints *hints, char *list, bool heavy, struct nuioa_error *err)
{
    for (char *item = list, *next; item; item = next) {
        char copy[64];
        next = strchr(item, ',');
        if (next)
            *next++ = '\0';
        if (nuioa_copy(copy, sizeof(copy), item) < 0 || parse_item(hints, copy, heavy) < 0)
            return nuioa_fail(
                err, -EINVAL, "'%.60s' is not %s", item,
                heavy ? "RANKS behind heavy=, such as 0,8 or 0-7 or 0-56:8"
                      : "RANKS:WEIGHT, such as 0:10, rest:0; a FILE begins with /, ./ or @");
    }
    return 0;
}

static unsigned count_items(const char *list)
{
    unsigned count = 1;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

int nuioa_hints_parse(struct nuioa_hints *hints, const char *list, struct nuioa_error *err)
{
    const bool heavy = !strncmp(list, "heavy=", 6);
    *hints = (struct nuioa_hints){ 0 };
    if (strnlen(list, NUIOA_VALUE_MAX + 1) > NUIOA_VALUE_MAX)
        return nuioa_fail(err, -EINVAL, "longer than %d bytes; put them into a file",
                          NUIOA_VALUE_MAX);
    char *copy = strdup(list);
    hints->items = calloc(count_items(list), sizeof(*hints->items));
    int rc = -ENOMEM;
    if (!copy || !hints->items)
        nuioa_fail(err, rc, "out of memory");
    else
        rc = parse_items(hints, copy + (heavy ? 6 : 0), heavy, err);
    free(copy);
    if (rc < 0)
        nuioa_hints_free(hints);
    return rc;
}

void nuioa_hints_free(struct nuioa_hints *hints)
{
    free(hints->items);
    *hints = (struct nuioa_hints){ 0 };
}

double nuioa_hints_weight(const struct nuioa_hints *hints, uint32_t rank)
{
    for (unsigned i = hints->count; i-- > 0;) {
        const struct nuioa_hint *h = &hints->items[i];
        if (rank >= h->first && rank <= h->last && (rank - h->first) % h->stride == 0)
            return h->weight;
    }
    return hints->rest;
}

bool nuioa_hints_beyond(const struct nuioa_hints *hints, uint32_t count, uint32_t *rank)
{
    for (unsigned i = 0; i < hints->count; i++)
        if (hints->items[i].first >= count) {
            *rank = hints->items[i].first;
            return true;
        }
    return false;
}

const char *nuioa_hints_file(const char *value)
{
    if (value[0] == '@')
        return value + 1;
    return value[0] == '/' || !strncmp(value, "./", 2) ? value : NULL;
}

int nuioa_ranks_parse(const char *list, uint32_t *ranks, unsigned max, struct nuioa_error *err)
{
    unsigned count = 0;
    while (list) {
        char item[64];
        struct nuioa_hint span;
        size_t length = strcspn(list, ",");
        snprintf(item, sizeof(item), "%.*s", (int)(length < 64 ? length : 63), list);
        if (length >= sizeof(item) || parse_span(item, &span) < 0)
            return nuioa_fail(err, -EINVAL, "'%.60s' is not RANKS, such as 0,4-7 or 0-56:8", list);
        for (uint64_t rank = span.first; rank <= span.last; rank += span.stride) {
            if (count == max)
                return nuioa_fail(err, -EINVAL, "'%.60s' names more than %u ranks", list, max);
            ranks[count++] = (uint32_t)rank;
        }
        list = list[length] ? list + length + 1 : NULL;
    }
    return (int)count;
}
