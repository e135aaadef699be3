/* SPDX-License-Identifier: BSD-3-Clause */

/* From latencies to links: the published example, noise, other shapes, hostile input. */

#include <math.h>
#include <unistd.h>

#include "rounds.h"
#include "tools/probe/link_graph.h"
#include "unit.h"

enum { N_MAX = 16, TRIALS = 1000 };

static unsigned trial_count(unsigned wanted)
{
    return RUNNING_ON_VALGRIND ? 10 : wanted;
}

/* Moreaud, master thesis 2007, table 3.1. */
static const double hagrid[8][8] = {
    { 0, 37, 35, 67, 67, 133, 102, 100 }, { 37, 0, 67, 35, 134, 66, 97, 97 },
    { 35, 69, 0, 36, 35, 101, 69, 67 },   { 69, 34, 35, 0, 102, 33, 66, 68 },
    { 67, 101, 35, 67, 0, 69, 38, 37 },   { 100, 65, 66, 34, 71, 0, 35, 37 },
    { 102, 115, 69, 83, 37, 35, 0, 35 },  { 115, 99, 83, 67, 37, 37, 35, 0 },
};
static const struct nuioa_link hagrid_links[] = {
    { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 2, 4 }, { 3, 5 },
    { 4, 6 }, { 4, 7 }, { 5, 6 }, { 5, 7 }, { 6, 7 },
};

/* --- machines --------------------------------------------------------------------------------- */

struct machine {
    const char *name;
    uint32_t n;
    bool alike; /* between groups all pairs are, so that no link between them can be told */
    bool linked[N_MAX][N_MAX];
    double over_ns[N_MAX][N_MAX];
};

static void link_pair(struct machine *m, uint32_t a, uint32_t b)
{
    m->linked[a][b] = m->linked[b][a] = true;
}

/* The latencies that a perfect machine would measure: `link_ns` a link, shortest routes; where
 * `uplink_ns` is not 0, that for links between groups of four. */
static void route(struct machine *m, double link_ns, double uplink_ns)
{
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < m->n; j++) {
            double one = uplink_ns > 0 && i / 4 != j / 4 ? uplink_ns : link_ns;
            m->over_ns[i][j] = i == j ? 0 : m->linked[i][j] ? one : 1e9;
        }
    for (uint32_t k = 0; k < m->n; k++)
        for (uint32_t i = 0; i < m->n; i++)
            for (uint32_t j = 0; j < m->n; j++)
                m->over_ns[i][j] = fmin(m->over_ns[i][j], m->over_ns[i][k] + m->over_ns[k][j]);
}

static void build_hagrid(struct machine *m)
{
    m->n = 8;
    for (size_t k = 0; k < sizeof(hagrid_links) / sizeof(*hagrid_links); k++)
        link_pair(m, hagrid_links[k].a, hagrid_links[k].b);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t j = 0; j < 8; j++)
            m->over_ns[i][j] = hagrid[i][j];
}

static void build_full(struct machine *m, uint32_t n)
{
    m->n = n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            link_pair(m, i, j);
    route(m, 34, 0);
}

/* width * height, each with its neighbours; a ring if height is 0, a torus if `around`. */
static void build_mesh(struct machine *m, uint32_t width, uint32_t height, bool around)
{
    m->n = width * (height ? height : 1);
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t x = i % width, y = i / width;
        if (x + 1 < width || around)
            link_pair(m, i, y * width + (x + 1) % width);
        if (height && (y + 1 < height || around))
            link_pair(m, i, (y + 1) % height * width + x);
    }
    route(m, 34, 0);
}

/* Two packages of four, as two-socket servers with four NUMA nodes a socket: inside a package each
 * is linked with each; across, each with its like, or each with each. */
static void build_packages(struct machine *m, double uplink_ns, bool each)
{
    m->n = 8;
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t j = 0; j < i; j++)
            if (i / 4 == j / 4 || i == j + 4 || each)
                link_pair(m, i, j);
    route(m, 34, uplink_ns);
    m->alike = each;
    for (uint32_t i = 0; i < 4 && each; i++)
        for (uint32_t j = 4; j < 8; j++)
            m->linked[i][j] = m->linked[j][i] = false;
}

static void build_hypercube(struct machine *m)
{
    m->n = 16;
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t bit = 1; bit < 16; bit *= 2)
            link_pair(m, i, i ^ bit);
    route(m, 34, 0);
}

enum { MACHINES = 16 };

static void build(struct machine *m, unsigned which)
{
    static const char *const names[MACHINES] = {
        "Hagrid, table 3.1",
        "two nodes",
        "four, fully connected",
        "eight, fully connected",
        "sixteen, fully connected",
        "ring of four",
        "ring of eight",
        "ring of sixteen",
        "ladder of eight",
        "mesh of 3 x 3",
        "mesh of 4 x 4",
        "torus of 4 x 4",
        "hypercube of sixteen",
        "2 x 4, each with its like",
        "2 x 4, uplinks of three quanta",
        "2 x 4, each with each over an uplink",
    };
    memset(m, 0, sizeof(*m));
    m->name = names[which];
    switch (which) {
    case 0: build_hagrid(m); break;
    case 1: build_full(m, 2); break;
    case 2: build_full(m, 4); break;
    case 3: build_full(m, 8); break;
    case 4: build_full(m, 16); break;
    case 5: build_mesh(m, 4, 0, true); break;
    case 6: build_mesh(m, 8, 0, true); break;
    case 7: build_mesh(m, 16, 0, true); break;
    case 8: build_mesh(m, 4, 2, false); break;
    case 9: build_mesh(m, 3, 3, false); break;
    case 10: build_mesh(m, 4, 4, false); break;
    case 11: build_mesh(m, 4, 4, true); break;
    case 12: build_hypercube(m); break;
    case 13: build_packages(m, 0, false); break;
    case 14: build_packages(m, 102, false); break;
    case 15: build_packages(m, 102, true); break;
    }
}

/* --- noise ------------------------------------------------------------------------------------ */

static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(uint64_t *seed)
{
    double radius = sqrt(-2 * log(uniform(seed)));
    return radius * cos(6.283185307179586 * uniform(seed));
}

static void infer(struct nuioa_link_graph *graph, const struct machine *m, double sigma_ns,
                  uint64_t *seed)
{
    struct nuioa_latency latency;
    struct nuioa_error err;
    assert_int_equal(nuioa_latency_init(&latency, m->n), 0);
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < m->n; j++)
            latency.over_ns[i * m->n + j] =
                i == j ? 0 : m->over_ns[i][j] + (sigma_ns > 0 ? sigma_ns * gauss(seed) : 0);
    assert_int_equal(nuioa_link_graph_infer(graph, &latency, &err), 0);
    nuioa_latency_free(&latency);
}

static bool is_right(const struct nuioa_link_graph *graph, const struct machine *m)
{
    uint32_t links = 0;
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < m->n; j++)
            if ((graph->alike_ns[i * m->n + j] > 0) != (m->alike && i / 4 != j / 4))
                return false;
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < i; j++)
            links += m->linked[i][j];
    for (uint32_t k = 0; k < graph->link_count; k++)
        if (!m->linked[graph->links[k].a][graph->links[k].b])
            return false;
    return links == graph->link_count;
}

static void trials(double sigma_ns, unsigned right_least)
{
    for (unsigned which = 0; which < MACHINES; which++) {
        struct machine m;
        unsigned right = 0, wrong = 0;
        uint64_t seed = 88172645463325252u + which;
        build(&m, which);
        for (unsigned t = 0; t < trial_count(TRIALS); t++) {
            struct nuioa_link_graph graph;
            infer(&graph, &m, sigma_ns, &seed);
            right += graph.accepted && is_right(&graph, &m);
            wrong += graph.accepted && !is_right(&graph, &m);
            nuioa_arena_free(&graph.arena);
        }
        print_message("# %g ns of noise, %s: right %.1f %%, refused %.1f %%, wrong %.1f %%\n",
                      sigma_ns, m.name, right / 10., (TRIALS - right - wrong) / 10., wrong / 10.);
        if (!RUNNING_ON_VALGRIND)
            assert_in_range(right, right_least, TRIALS);
        assert_in_range(wrong, 0, TRIALS / 100);
    }
}

TEST(test_noise_4)
{
    trials(4, 990);
}
TEST(test_noise_6)
{
    trials(6, 950);
}

/* However much noise: hardly a wrong graph. */
TEST(test_more_noise)
{
    for (unsigned which = 0; which < MACHINES; which++)
        for (unsigned sigma_ns = 8; sigma_ns <= 64; sigma_ns *= 2) {
            struct machine m;
            unsigned wrong = 0;
            uint64_t seed = 362436069 + which;
            build(&m, which);
            for (unsigned t = 0; t < trial_count(TRIALS / 4) && m.n > 4; t++) {
                struct nuioa_link_graph graph;
                infer(&graph, &m, sigma_ns, &seed);
                wrong += graph.accepted && !is_right(&graph, &m);
                nuioa_arena_free(&graph.arena);
            }
            if (wrong)
                print_message("# %u ns of noise, %s: wrong %.1f %%\n", sigma_ns, m.name,
                              wrong / 2.5);
            assert_in_range(wrong, 0, TRIALS / 4 / 10);
        }
}

/* --- the published answer --------------------------------------------------------------------- */

TEST(test_published)
{
    struct machine m;
    struct nuioa_link_graph graph;
    build(&m, 0);
    infer(&graph, &m, 0, NULL);
    assert_true(graph.accepted);
    assert_string_equal(graph.reason, "");
    assert_false(graph.grouped);
    assert_int_equal(2 * graph.link_count, 22); /* the minimal entries of the table */
    assert_memory_equal(graph.links, hagrid_links, sizeof(hagrid_links));
    assert_true(fabs(graph.quantum_ns - 34) <= 1);
    assert_int_equal(graph.routed[0 * 8 + 5], 4);
    assert_int_equal(graph.routed[5 * 8 + 0], 3);
    assert_int_equal(graph.hops[0 * 8 + 5], 3);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(nuioa_link_graph_degree(&graph, i), i < 2 ? 2 : 3);
    nuioa_arena_free(&graph.arena);
}

TEST(test_exact)
{
    for (unsigned which = 0; which < MACHINES; which++) {
        struct machine m;
        struct nuioa_link_graph graph;
        build(&m, which);
        infer(&graph, &m, 0, NULL);
        if (!graph.accepted || !is_right(&graph, &m))
            fail_msg("%s: %s", m.name, graph.reason);
        assert_int_equal(graph.grouped, which >= 14);
        for (uint32_t i = 0; which && i < m.n * m.n; i++)
            assert_int_equal(graph.routed[i], graph.hops[i]);
        nuioa_arena_free(&graph.arena);
    }
}

/* Where leaving a NUMA node takes `rest` times what a link does: the links, or nothing. */
TEST(test_long_leave)
{
    static const double rests[] = { 0, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6 };
    for (unsigned which = 1; which < 14; which++)
        for (unsigned r = 0; r < sizeof(rests) / sizeof(*rests); r++) {
            struct nuioa_link_graph graph;
            struct machine m;
            build(&m, which);
            for (uint32_t i = 0; i < m.n * m.n; i++)
                if (i / m.n != i % m.n)
                    m.over_ns[i / m.n][i % m.n] += rests[r] * 34;
            infer(&graph, &m, 0, NULL);
            if (graph.accepted && !is_right(&graph, &m))
                fail_msg("%s, %g: %u links", m.name, rests[r], graph.link_count);
            assert_true(graph.accepted || (which > 4 && r > 0)); /* all as far, or multiples */
            nuioa_arena_free(&graph.arena);
        }
}

/* Two packages of four, as measured with noise: between them one pair seems to be farther than half
 * a link beyond the others, which makes it no different. */
TEST(test_alike)
{
    struct machine m;
    struct nuioa_link_graph graph;
    struct nuioa_latency latency;
    uint32_t matrix[64];
    build(&m, 15);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 4; j < 8; j++) {
            double off = i == 1 && j == 6 ? 22 : (int)(i + 3 * j) % 7 - 3;
            m.over_ns[i][j] = 102 + off + (int)(i + j) % 3 * 10 - 10;
            m.over_ns[j][i] = 102 + off - (int)(i + j) % 3 * 10 + 10;
        }
    infer(&graph, &m, 0, NULL);
    assert_string_equal(graph.reason, "");
    assert_int_equal(graph.link_count, 12);
    assert_true(is_right(&graph, &m));
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(graph.group[i], i / 4 * 4);
    assert_int_equal(nuioa_latency_init(&latency, 8), 0);
    memset(latency.over_ns, 0, 64 * sizeof(*latency.over_ns));
    latency.local_ns = 100;
    nuioa_link_graph_distances(&graph, &latency, matrix);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 4; j < 8; j++)
            assert_int_equal(matrix[8 * i + j], matrix[4]); /* noise makes no levels */
    nuioa_latency_free(&latency);
    nuioa_arena_free(&graph.arena);
}

/* --- hostile input ---------------------------------------------------------------------------- */

/* Any bytes: read and inferred, or one line that names the file. */
TEST(test_fuzz)
{
    static const char *const seeds[] = { "0 37 67\n37 0 34\n67 35 0\n", "80,120\n121;80 #\n",
                                         "0 -1\n1e3 0\n", "0 1e6\n1e-300 0\n" };
    static const char bytes[] = "0123456789.-+eE#,; \t\n\r\nxn\0\xff";
    uint64_t random = 2463534242u;
    unsigned accepted = 0;
    for (unsigned t = 0; t < rounds(20000); t++) {
        char text[64];
        const char *from = seeds[t % 4];
        size_t length = strlen(from);
        memcpy(text, from, length + 1);
        for (unsigned k = 0; k < t / 4 % 5; k++)
            text[(size_t)(uniform(&random) * (double)length)] =
                bytes[(size_t)(uniform(&random) * (sizeof(bytes) - 1))];
        struct nuioa_latency latency;
        struct nuioa_link_graph graph;
        struct nuioa_error err = { "" };
        if (nuioa_latency_parse(&latency, "x", text, length, &err)) {
            assert_int_equal(strncmp(err.text, "x:", 2), 0);
            continue;
        }
        assert_int_equal(nuioa_link_graph_infer(&graph, &latency, &err), 0);
        assert_int_equal(graph.accepted, !*graph.reason);
        accepted += graph.accepted;
        nuioa_arena_free(&graph.arena);
        nuioa_latency_free(&latency);
    }
    assert_in_range(accepted, 200, 19000);
}

static double any_number(uint64_t *random)
{
    static const double some[] = {
        NAN, INFINITY, -INFINITY, 0, -1, 1e-300, 5e-324, 1e6, 1e300, 68
    };
    double x = uniform(random);
    if (x < 0.2)
        return some[(size_t)(x * 50)];
    return x < 0.6 ? 34 * ceil(uniform(random) * 4) : exp(20 * uniform(random) - 8);
}

/* Any numbers, alike in both directions or not: an end, and no graph of what cannot be. */
TEST(test_any_numbers)
{
    uint64_t random = 1442695040888963407u;
    unsigned accepted = 0;
    alarm(300); /* ends a loop that does not */
    for (unsigned t = 0; t < rounds(100000); t++) {
        struct nuioa_latency latency;
        struct nuioa_link_graph graph;
        uint32_t n = 1 + t % 8;
        double odd = t / 8 % 3 ? 0.02 : 1; /* how many numbers are drawn, the others being links */
        assert_int_equal(nuioa_latency_init(&latency, n), 0);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                if (i != j) {
                    double other = latency.over_ns[j * n + i], drawn = any_number(&random);
                    drawn = uniform(&random) < odd ? drawn : 34;
                    latency.over_ns[i * n + j] = i > j && t % 2 ? other : drawn;
                }
        assert_int_equal(nuioa_link_graph_infer(&graph, &latency, NULL), 0);
        assert_int_equal(graph.accepted, !*graph.reason);
        assert_true(graph.link_count <= n * (n - 1) / 2);
        for (uint32_t i = 0; graph.accepted && i < n * n; i++) {
            assert_true(i / n == i % n || (isfinite(latency.over_ns[i]) && latency.over_ns[i] > 0));
            assert_true(graph.hops[i] < n); /* all are connected */
        }
        accepted += graph.accepted;
        nuioa_arena_free(&graph.arena);
        nuioa_latency_free(&latency);
    }
    alarm(0);
    assert_in_range(accepted, rounds(10000), rounds(90000));
}
