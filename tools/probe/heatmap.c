/* SPDX-License-Identifier: BSD-3-Clause */

/* Draws the matrix: a square for each pair, darker if the pair is farther apart, with a frame if
 * there is a link. And what was measured of NICs: a row for each of them and quantity, darker if
 * more is lost, with a frame beside the NIC. */

#include <math.h>
#include <string.h>

#include "tools/probe/cells.h"
#include "tools/probe/heatmap.h"
#include "tools/probe/probe.h"
#include "util/new_file.h"

enum { CELL = 46, LEFT = 96, TOP = 74, RIGHT = 24, BOTTOM = 58 };
enum { WIDE = 64, NIC_LEFT = 236 }; /* of the rows of NICs: a cell, and what is left of them */

/* Near is light yellow, far is dark red, and orange is between them. Text must be readable on all.
 * */
static void colour(double share, char *text, size_t size, bool *dark)
{
    static const double stop[3][3] = { { 255, 250, 220 }, { 250, 150, 60 }, { 120, 10, 40 } };
    unsigned from = share < 0.5 ? 0 : 1;
    double part = 2 * share - from;
    unsigned rgb[3];
    for (unsigned c = 0; c < 3; c++)
        rgb[c] = (unsigned)(stop[from][c] + part * (stop[from + 1][c] - stop[from][c]) + 0.5);
    snprintf(text, size, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    *dark = share > 0.6;
}

/* Draws a cell with its number. `share` says how dark it is, 0 to 1. */
static void draw_square(FILE *out, unsigned x, unsigned y, unsigned width, double share,
                        bool is_framed, double number)
{
    char fill[16];
    bool dark;
    colour(share, fill, sizeof(fill), &dark);
    fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"%s\"/>", x, y, width,
            CELL, fill);
    if (is_framed)
        fprintf(out,
                "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"none\" "
                "stroke=\"#1f4e9c\" stroke-width=\"3\"/>",
                x + 2, y + 2, width - 4, CELL - 4);
    fprintf(out, "<text x=\"%u\" y=\"%u\" fill=\"%s\"%s>%.0f</text>\n", x + width / 2,
            y + CELL / 2 + 5, dark ? "#ffffff" : "#000000",
            is_framed ? " font-weight=\"bold\"" : "", number);
}

static void draw_head(FILE *out, unsigned width, unsigned height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "font-family=\"sans-serif\" font-size=\"14\" text-anchor=\"middle\">\n"
            "<rect width=\"%u\" height=\"%u\" fill=\"#ffffff\"/>\n"
            "<text x=\"%u\" y=\"22\" font-size=\"15\">%s</text>\n",
            width, height, width, height, width / 2, title);
}

/* --- between NUMA nodes ----------------------------------------------------------------------- */

static double farthest(const struct probe *p)
{
    double most = 1;
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->count; j++)
            if (nuioa_latency_at(&p->latency, i, j) > most)
                most = nuioa_latency_at(&p->latency, i, j);
    return most;
}

static void draw_cell(const struct probe *p, uint32_t i, uint32_t j, double most, FILE *out)
{
    double over = nuioa_latency_at(&p->latency, i, j);
    bool link = p->graph.accepted && nuioa_link_graph_has(&p->graph, i, j);
    draw_square(out, LEFT + CELL * j, TOP + CELL * i, CELL, over > 0 ? over / most : 0, link, over);
}

static void draw_axes(const struct probe *p, FILE *out)
{
    unsigned middle = LEFT + CELL * p->count / 2;
    fprintf(out, "<text x=\"%u\" y=\"%d\">memory of NUMA node</text>\n", middle, TOP - 32);
    fprintf(out,
            "<text x=\"0\" y=\"0\" transform=\"translate(%d,%u) rotate(-90)\">"
            "core of NUMA node</text>\n",
            LEFT - 44, TOP + CELL * p->count / 2);
    for (uint32_t i = 0; i < p->count; i++) {
        fprintf(out, "<text x=\"%u\" y=\"%d\" fill=\"#555555\">%u</text>",
                LEFT + CELL * i + CELL / 2, TOP - 10, p->numa[i]);
        fprintf(out, "<text x=\"%d\" y=\"%u\" fill=\"#555555\">%u</text>\n", LEFT - 18,
                TOP + CELL * i + CELL / 2 + 5, p->numa[i]);
    }
}

static void draw_foot(const struct probe *p, FILE *out)
{
    unsigned middle = LEFT + CELL * p->count / 2, y = TOP + CELL * p->count + 26;
    if (!p->graph.accepted)
        fprintf(out, "<text x=\"%u\" y=\"%u\">not to be trusted</text>\n", middle, y);
    else if (p->count > 1)
        fprintf(out, "<text x=\"%u\" y=\"%u\">%u links (framed) of %.1f ns</text>\n", middle, y,
                p->graph.link_count, p->graph.quantum_ns);
}

int probe_heatmap(const struct probe *p, const char *path, struct nuioa_error *err)
{
    struct nuioa_new_file file;
    int rc = nuioa_new_file_open(&file, path, err);
    if (rc)
        return rc;
    FILE *out = file.stream;
    unsigned width = LEFT + CELL * p->count + RIGHT, height = TOP + CELL * p->count + BOTTOM;
    width = width < 340 ? 340 : width;
    draw_head(out, width, height, "ns more than a load from local memory");
    draw_axes(p, out);
    double most = farthest(p);
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->count; j++)
            draw_cell(p, i, j, most, out);
    draw_foot(p, out);
    fputs("</svg>\n", out);
    return nuioa_new_file_close(&file, true, path, err);
}

/* --- of NICs ---------------------------------------------------------------------------------- */

/* Returns the best median of a NIC's quantity over all NUMA nodes; 0 if there is none. */
static double best_of(const struct probe_nics *nics, uint32_t nic, enum probe_quantity q)
{
    double best = 0;
    for (uint32_t i = 0; i < nics->plan.node->numa_count; i++) {
        const struct probe_cell *cell = probe_cell_at(nics, nic, q, i);
        if (cell && (!(best > 0) || (q == PROBE_LATENCY) == (cell->median < best)))
            best = cell->median;
    }
    return best;
}

/* Draws a row. Half of the rate, or twice the latency, is as dark as it gets: noise is light. */
static void draw_row(const struct probe_nics *nics, uint32_t nic, enum probe_quantity q, unsigned y,
                     FILE *out)
{
    static const char *const units[] = { "writes, MB/s", "reads, MB/s", "latency, ns" };
    const struct nuioa_nic *it = &nics->plan.node->nics[nic];
    double best = best_of(nics, nic, q);
    char label[48];
    fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s %s</text>\n", NIC_LEFT - 12,
            y + CELL / 2 + 5, nuioa_nic_label(it, label, sizeof(label)), units[q]);
    for (uint32_t i = 0; i < nics->plan.node->numa_count; i++) {
        const struct probe_cell *cell = probe_cell_at(nics, nic, q, i);
        if (cell)
            draw_square(
                out, NIC_LEFT + WIDE * i, y, WIDE,
                fmin(1, 2 * fabs(cell->median - best) / best / (q == PROBE_LATENCY ? 2 : 1)),
                it->level && it->level[i] == 0, cell->median);
    }
}

static unsigned draw_rows(const struct probe_nics *nics, FILE *out)
{
    unsigned rows = 0;
    for (uint32_t nic = 0; nic < nics->plan.node->nic_count; nic++)
        for (int q = 0; q < PROBE_QUANTITIES; q++)
            if (nics->plan.taken[nic] && best_of(nics, nic, (enum probe_quantity)q) > 0) {
                if (out)
                    draw_row(nics, nic, (enum probe_quantity)q, TOP + CELL * rows, out);
                rows++;
            }
    return rows;
}

int probe_nics_heatmap(const struct probe_nics *nics, const char *path, struct nuioa_error *err)
{
    struct nuioa_new_file file;
    int rc = nuioa_new_file_open(&file, path, err);
    if (rc)
        return rc;
    FILE *out = file.stream;
    uint32_t count = nics->plan.node->numa_count;
    unsigned width = NIC_LEFT + WIDE * count + RIGHT;
    draw_head(out, width < 480 ? 480 : width, TOP + CELL * draw_rows(nics, NULL) + RIGHT,
              "what NICs reach from each NUMA node (beside the NIC: framed)");
    fprintf(out, "<text x=\"%u\" y=\"%d\">NUMA node</text>\n", NIC_LEFT + WIDE * count / 2,
            TOP - 32);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "<text x=\"%u\" y=\"%d\" fill=\"#555555\">%u</text>\n",
                NIC_LEFT + WIDE * i + WIDE / 2, TOP - 10, nics->plan.node->numas[i].os_index);
    draw_rows(nics, out);
    fputs("</svg>\n", out);
    return nuioa_new_file_close(&file, true, path, err);
}
