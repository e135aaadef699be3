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

const char *nuioa_report_nics(const struct nuioa_assignment *assignment,
                              const struct nuioa_node *node, char *text, size_t size)
{
    char label[48];
    *text = '\0';
    if (assignment->nic_count <= 2 && nuioa_nics_text(assignment, node, text, size))
        return text;
    *text = '\0';
    if (assignment->nic_count)
        snprintf(text, size, "%s +%u",
                 nuioa_nic_label(&node->nics[assignment->nics[0]], label, sizeof(label)),
                 assignment->nic_count - 1);
    return text;
}

void nuioa_report_add_heads(struct nuioa_text_table *table)
{
    nuioa_text_table_add_words(table,
                               "node|rank||CPUs|NUMA|memory|NIC|level|GPU|to GPU|path|weight|");
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

void nuioa_report_add_row(struct nuioa_text_table *table, const char *host,
                          const struct nuioa_report_row *row, double heaviest)
{
    char weight[32], level[12] = "";
    double share = heaviest > 0 && row->count == 1 ? row->weight / heaviest : 0;
    int bar = share > 0 && share <= 1 ? (int)(share * (sizeof(full_bar) - 1) + 0.5) : 0;
    if (row->gpu_level != UINT32_MAX)
        snprintf(level, sizeof(level), "%u", row->gpu_level);
    nuioa_text_table_add(table, "%s", host ? host : "");
    nuioa_text_table_add(table, "%s", or_dash(row->ranks));
    nuioa_text_table_add(table, "%s", row->leads ? "*" : "");
    nuioa_text_table_add(table, "%s", or_dash(row->cpus));
    nuioa_text_table_add(table, "%s", or_dash(row->numas));
    nuioa_text_table_add(table, "%s", host ? row->memory : "");
    nuioa_text_table_add(table, "%s", or_dash(row->nic));
    nuioa_text_table_add(table, row->level == UINT32_MAX ? "-" : "%u", row->level);
    nuioa_text_table_add(table, "%s", row->gpus);
    nuioa_text_table_add(table, "%s", level);
    nuioa_text_table_add(table, "%s", row->path);
    nuioa_text_table_add(
        table, "%s",
        row->weight < 0 ? "" : nuioa_report_number(row->weight, weight, sizeof(weight)));
    nuioa_text_table_add(table, "%.*s", bar, full_bar);
}
