/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report_table.h"

#include <math.h>

#include "plan/plan.h"
#include "util/number.h"

/* The bar of the heaviest rank. */
static const char full_bar[] = "####################";

/* --- numbers --- */

const char *nuioa_report_number(double value, char *text, size_t size)
{
    if (value >= 1e5) {
        value = round(value);
    } else if (value > 0) {
        double scale = pow(10, 5 - floor(log10(value)));
        if (isfinite(scale))
            value = round(value * scale) / scale;
    }
    return nuioa_print_decimal(value, text, size);
}

const char *nuioa_report_rate(uint32_t mbps, char *text, size_t size)
{
    if (!mbps)
        snprintf(text, size, "-");
    else if (mbps < 1000)
        snprintf(text, size, "%u Mb/s", mbps);
    else
        snprintf(text, size, mbps % 1000 ? "%.1f Gb/s" : "%.0f Gb/s", mbps / 1000.0);
    return text;
}

const char *nuioa_report_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* --- the table --- */

void nuioa_report_add_heads(struct nuioa_text_table *table)
{
    nuioa_text_table_add_words(table,
                               "node|rank||CPUs|NUMA|memory|NIC|level|GPU|to GPU|path|weight|");
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

void nuioa_report_add_line(struct nuioa_text_table *table, const char *host,
                           const struct nuioa_report_line *line, double heaviest)
{
    char weight[32], level[12] = "";
    double share = heaviest > 0 && line->count == 1 ? line->weight / heaviest : 0;
    int bar = share > 0 && share <= 1 ? (int)(share * (sizeof(full_bar) - 1) + 0.5) : 0;
    if (line->gpu_level != UINT32_MAX)
        snprintf(level, sizeof(level), "%u", line->gpu_level);
    nuioa_text_table_add(table, "%s", host ? host : "");
    nuioa_text_table_add(table, "%s", or_dash(line->ranks));
    nuioa_text_table_add(table, "%s", line->leads ? "*" : "");
    nuioa_text_table_add(table, "%s", or_dash(line->cpus));
    nuioa_text_table_add(table, "%s", or_dash(line->numas));
    nuioa_text_table_add(table, "%s", host ? line->memory : "");
    nuioa_text_table_add(table, "%s", or_dash(line->nic));
    nuioa_text_table_add(table, line->level == UINT32_MAX ? "-" : "%u", line->level);
    nuioa_text_table_add(table, "%s", line->gpus);
    nuioa_text_table_add(table, "%s", level);
    nuioa_text_table_add(table, "%s", line->path);
    nuioa_text_table_add(
        table, "%s",
        line->weight < 0 ? "" : nuioa_report_number(line->weight, weight, sizeof(weight)));
    nuioa_text_table_add(table, "%.*s", bar, full_bar);
}

double nuioa_report_heaviest(const struct nuioa_report_line *lines, uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        if (lines[i].count == 1 && lines[i].weight > most)
            most = lines[i].weight;
    return most;
}

/* --- the lines before and after it --- */

void nuioa_report_head(const struct nuioa_report_totals *t, FILE *out)
{
    char nodes[80] = "", head[300];
    if (!t->ranks) {
        fputs("nuioa: no node has a plan\n", out);
        return;
    }
    if (!t->host)
        snprintf(nodes, sizeof(nodes), "%u node%s, ", t->nodes, nuioa_report_plural(t->nodes));
    else if (*t->host)
        snprintf(nodes, sizeof(nodes), "%s, ", t->host);
    snprintf(head, sizeof(head), "nuioa: %s%llu rank%s, %llu moved%s, policy %s%s", nodes,
             (unsigned long long)t->ranks, nuioa_report_plural(t->ranks),
             (unsigned long long)t->moved, t->planned ? " (planned, not bound)" : "",
             nuioa_policy_name(t->policy), t->leads ? ", leader *" : "");
    nuioa_text_table_wrap(out, 0, head);
}

void nuioa_report_cost(const struct nuioa_report_totals *t, FILE *out)
{
    char before[32], after[32], bound[32];
    if (t->before <= 0 || t->after < 0)
        return;
    fprintf(out, "cost %s -> %s", nuioa_report_number(t->before, before, sizeof(before)),
            nuioa_report_number(t->after, after, sizeof(after)));
    if (t->after < t->before)
        fprintf(out, " (%.1f %% less)", 100 * (t->before - t->after) / t->before);
    if (t->bound >= 0)
        fprintf(out, ", " NUIOA_BOUND " %s%s", nuioa_report_number(t->bound, bound, sizeof(bound)),
                t->bound < t->after * (1 - 1e-6) ? ", and perhaps none is as low" : "");
    fputc('\n', out);
}
