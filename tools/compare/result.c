/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/result.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

static const char *const words[] = { "cannot tell", "faster", "slower" };

const char *result_seconds(double seconds, char text[32])
{
    int decimals = seconds >= 100 ? 0 : seconds >= 10 ? 1 : seconds >= 1 ? 2 : 3;
    snprintf(text, 32, "%.*f", decimals, seconds);
    return text;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *numbers, unsigned count)
{
    double sorted[VERDICT_PAIRS_MAX];
    memcpy(sorted, numbers, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_numbers);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void print_medians(const struct result *r)
{
    char without[32], with[32];
    if (r->variables)
        printf("without %s%s: ", r->variable[0], r->variables > 1 ? ", ..." : "");
    else
        printf("without nuioa: ");
    printf("median %s s; with: median %s s; %u pairs\n",
           result_seconds(median(r->without, r->pairs), without),
           result_seconds(median(r->with, r->pairs), with), r->pairs);
}

static void print_cannot_tell(const struct result *r)
{
    const struct verdict *v = &r->verdict;
    double best = verdict_best(v, r->pairs, r->typed);
    printf("cannot tell: with as much noise as these runs have, a difference below %.1f %% is not "
           "seen",
           100 * v->detectable);
    if (best < 0.95 * v->detectable)
        printf("; -n %d sees %.1f %%", VERDICT_PAIRS_MAX, 100 * best);
    printf("\n");
}

int result_print(const struct result *r)
{
    const struct verdict *v = &r->verdict;
    if (r->pairs)
        print_medians(r);
    if (*r->report)
        printf("what it did: %s\n", r->report);
    if (!r->judged)
        return TOOL_DONE;
    printf("with / without: ratio %.3f, and with 95 %% confidence from %.3f to %.3f\n", v->ratio,
           v->low, v->high);
    if (v->word == VERDICT_CANNOT_TELL)
        print_cannot_tell(r);
    else
        printf("%s: the program takes %.1f %% %s time\n", words[v->word], 100 * fabs(v->ratio - 1),
               v->word == VERDICT_FASTER ? "less" : "more");
    return TOOL_DONE;
}

static json_t *times(const double *seconds, unsigned count)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(array, json_real(seconds[i]));
    return array;
}

int result_print_json(const struct result *r)
{
    const struct verdict *v = &r->verdict;
    json_t *object =
        json_pack("{s:i, s:i, s:o, s:o}", "nuioa", 1, "pairs", (int)r->pairs, "without_s",
                  times(r->without, r->pairs), "with_s", times(r->with, r->pairs));
    json_t *rest =
        r->judged ? json_pack("{s:f, s:[f, f], s:s, s:f}", "ratio", v->ratio, "interval", v->low,
                              v->high, "verdict", words[v->word], "detectable", v->detectable)
                  : json_pack("{s:n, s:n, s:n, s:n}", "ratio", "interval", "verdict", "detectable");
    char *text = NULL;
    if (object && rest && !json_object_update(object, rest))
        text = json_dumps(object, JSON_ENSURE_ASCII | JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(object);
    json_decref(rest);
    if (!text)
        return tool_fail("out of memory");
    puts(text);
    free(text);
    return TOOL_DONE;
}
