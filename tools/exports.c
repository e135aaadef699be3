/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exports.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/library_choice.h"
#include "output/library_variables.h"
#include "output/user_variables.h"
#include "output/variable_block.h"
#include "util/arena.h"
#include "util/variable.h"

#define BLOCK_SIZE (16 << 10)

/* Returns true if it is known which GPUs the rank has, if any. */
static bool is_known(const struct nuioa_plan *plan, const struct nuioa_node *node, uint32_t local)
{
    return plan->assignments[local].gpus_known || !node->gpu_count;
}

/* Adds the settings of a block that the user has not set. */
static void take(struct nuioa_block *all, const char *block)
{
    char name[64];
    const char *value;
    while ((value = nuioa_block_next(&block, name, sizeof(name))))
        if (!nuioa_variable(environ, name))
            nuioa_block_put(all, "%s=%s", name, value);
}

/* Returns true if export=auto may set this block. */
static bool may_set(const struct nuioa_node *node, const struct nuioa_options *options,
                    enum tool_exports_check check, const char *block)
{
    if (check == TOOL_EXPORTS_HERE)
        return *block && nuioa_library_is_free(environ, node, block, options->deadline_ms);
    return check == TOOL_EXPORTS_THERE && !nuioa_library_is_chosen(environ, block);
}

char *tool_exports_of(const struct nuioa_plan *plan, const struct nuioa_node *node,
                      const struct nuioa_options *options, uint32_t local,
                      enum tool_exports_check check)
{
    char *text = calloc(1, BLOCK_SIZE), block[BLOCK_SIZE];
    if (!text || !is_known(plan, node, local))
        return text;
    struct nuioa_block all = nuioa_block_begin(text, BLOCK_SIZE);
    if (nuioa_library_variables(plan, node, options, local, block, BLOCK_SIZE) >= 0)
        take(&all, block);
    if (nuioa_library_auto(plan, node, options, local, block, BLOCK_SIZE) >= 0 &&
        may_set(node, options, check, block))
        take(&all, block);
    return text;
}

void tool_exports_print_one(const char *block, const char *ranks, FILE *out)
{
    char name[64];
    const char *value;
    if (!block || !*block)
        return;
    fprintf(out, "exports%s:", ranks);
    while ((value = nuioa_block_next(&block, name, sizeof(name))))
        fprintf(out, " %s=%s", name, value);
    fputc('\n', out);
}

/* Ranks with the same variables. */
struct group {
    char *block;
    enum nuioa_auto_why why;
    hwloc_bitmap_t ranks;
};

static bool is_same(const struct group *group, const char *block, enum nuioa_auto_why why)
{
    const char *a = group->block, *b = block;
    while (*a && !strcmp(a, b)) {
        a += strlen(a) + 1;
        b += strlen(b) + 1;
    }
    return !*a && !*b && group->why == why;
}

static void print_group(const struct group *group, bool explain)
{
    const char *why = nuioa_auto_why_text(group->why);
    char *list = NULL, *words = NULL;
    bool one = hwloc_bitmap_weight(group->ranks) == 1;
    if (hwloc_bitmap_list_asprintf(&list, group->ranks) < 0 ||
        asprintf(&words, " of rank%s %s", one ? "" : "s", list) < 0)
        words = NULL;
    if (words && *group->block)
        tool_exports_print_one(group->block, words, stdout);
    else if (words && explain)
        printf("no exports%s: %s\n", words,
               *why ? why : "the environment chooses NICs, or lacks MPICH_GPU_SUPPORT_ENABLED=1");
    free(words);
    free(list);
}

void tool_exports_print(const struct nuioa_plan *plan, const struct nuioa_node *node,
                        const struct nuioa_options *options, bool explain)
{
    struct nuioa_arena arena = { 0 };
    struct group *groups = nuioa_arena_take(&arena, plan->task_count, sizeof(*groups));
    uint32_t count = 0;
    explain = explain && options->export_set & NUIOA_EXPORT_AUTO;
    for (uint32_t i = 0; groups && i < plan->task_count; i++) {
        char *block = tool_exports_of(plan, node, options, i, TOOL_EXPORTS_THERE);
        enum nuioa_auto_why why =
            is_known(plan, node, i) ? nuioa_library_auto_why(plan, node, i) : NUIOA_AUTO_GPUS;
        uint32_t k = 0;
        if (!block)
            continue;
        while (k < count && !is_same(&groups[k], block, why))
            k++;
        if (k == count)
            groups[count++] = (struct group){ block, why, nuioa_arena_bitmap(&arena, NULL) };
        else
            free(block);
        if (groups[k].ranks)
            hwloc_bitmap_set(groups[k].ranks, plan->assignments[i].rank);
    }
    for (uint32_t k = 0; k < count; k++) {
        if (groups[k].ranks)
            print_group(&groups[k], explain);
        free(groups[k].block);
    }
    nuioa_arena_free(&arena);
}
