/* SPDX-License-Identifier: BSD-3-Clause */

/* Draws the matrix: a square for each pair, darker if the pair is farther apart, with a frame if
 * there is a link. */

#include <string.h>

#include "tools/probe/heatmap.h"
#include "tools/probe/probe.h"
#include "util/new_file.h"

enum { CELL = 46, LEFT = 96, TOP = 74, RIGHT = 24, BOTTOM = 58 };

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
    char fill[16];
    bool dark;
    double over = nuioa_latency_at(&p->latency, i, j);
    unsigned x = LEFT + CELL * j, y = TOP + CELL * i;
    bool link = p->graph.accepted && nuioa_link_graph_has(&p->graph, i, j);
    colour(over > 0 ? over / most : 0, fill, sizeof(fill), &dark);
    fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", x, y, CELL,
            CELL, fill);
    if (link)
        fprintf(out,
                "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" fill=\"none\" "
                "stroke=\"#1f4e9c\" stroke-width=\"3\"/>",
                x + 2, y + 2, CELL - 4, CELL - 4);
    fprintf(out, "<text x=\"%u\" y=\"%u\" fill=\"%s\"%s>%.0f</text>\n", x + CELL / 2,
            y + CELL / 2 + 5, dark ? "#ffffff" : "#000000", link ? " font-weight=\"bold\"" : "",
            over);
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
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "font-family=\"sans-serif\" font-size=\"14\" text-anchor=\"middle\">\n"
            "<rect width=\"%u\" height=\"%u\" fill=\"#ffffff\"/>\n"
            "<text x=\"%u\" y=\"22\" font-size=\"15\">ns more than a load from local memory"
            "</text>\n",
            width, height, width, height, width / 2);
    draw_axes(p, out);
    double most = farthest(p);
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->count; j++)
            draw_cell(p, i, j, most, out);
    draw_foot(p, out);
    fputs("</svg>\n", out);
    return nuioa_new_file_close(&file, true, path, err);
}
