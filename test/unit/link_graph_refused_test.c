/* SPDX-License-Identifier: BSD-3-Clause */

/* From latencies to links: what is refused, and the scale of the distances. */

#include "tools/probe/link_graph.h"
#include "unit.h"

static const struct {
    const char *text, *reason;
    double local_ns, noise_ns;
} refused[] = {
    { "0 -1\n20 0", "the diagonal is not the least of its row", 0, 0 },
    { "0 0\n0 0", "the diagonal is not the least of its row", 0, 0 },
    { "80 79\n110 80", "the diagonal is not the least of its row", 0, 0 },
    { "100 101\n101 100", "not more than noise", 0, 0 }, /* 1 % of local access */
    { "0 10\n11 0", "not more than noise", 0, 5 },
    { "0 34 51\n34 0 34\n51 34 0", "no clear gap between one link", 0, 0 },
    { "0 10\n100 0", "noise: what one link takes", 0, 0 },
    /* 0-2 is no link, but nearer than the links make it */
    { "0 30 60 62\n30 0 30 60\n60 30 0 30\n62 60 30 0", "contradiction: 0 and 3 are 62.0 ns", 0,
      0 },
    /* so small that the cut between one link and two is one link */
    { "0 1e-323 1e-323\n1e-323 0 1.5e-323\n1e-323 1.5e-323 0",
      "remote memory is not farther than local memory", 0, 0 },
    { "0 1e-300 1e6 1e6\n1e-300 0 1e6 1e6\n1e6 1e6 0 1e-300\n1e6 1e6 1e-300 0",
      "links of 1e-300 ns are too short beside the next ones of 1e+06 ns", 0, 0 },
};

TEST(test_refused)
{
    for (size_t t = 0; t < sizeof(refused) / sizeof(*refused); t++) {
        char text[128];
        struct nuioa_latency latency;
        struct nuioa_link_graph graph;
        struct nuioa_error err = { "" };
        strcpy(text, refused[t].text);
        assert_int_equal(nuioa_latency_parse(&latency, "x", text, strlen(text), &err), 0);
        latency.noise_ns = refused[t].noise_ns;
        assert_int_equal(nuioa_link_graph_infer(&graph, &latency, &err), 0);
        assert_false(graph.accepted);
        if (!strstr(graph.reason, refused[t].reason))
            fail_msg("'%s' says '%s'", refused[t].text, graph.reason);
        nuioa_arena_free(&graph.arena);
        nuioa_latency_free(&latency);
    }
}

static void distances(const char *matrix, double local_ns, const uint32_t *wanted)
{
    char text[256];
    uint32_t made[16];
    struct nuioa_latency latency;
    struct nuioa_link_graph graph;
    struct nuioa_error err;
    strcpy(text, matrix);
    assert_int_equal(nuioa_latency_parse(&latency, "x", text, strlen(text), &err), 0);
    assert_int_equal(nuioa_link_graph_infer(&graph, &latency, &err), 0);
    assert_string_equal(graph.reason, "");
    if (local_ns > 0)
        latency.local_ns = local_ns;
    nuioa_link_graph_distances(&graph, &latency, made);
    assert_memory_equal(made, wanted, latency.count * latency.count * sizeof(*made));
    nuioa_arena_free(&graph.arena);
    nuioa_latency_free(&latency);
}

TEST(test_distances)
{
    static const uint32_t alone[] = { 10 }, links[] = { 10, 14, 17, 14, 10, 14, 17, 14, 10 };
    static const uint32_t times[] = { 10, 15, 20, 15, 10, 15, 20, 15, 10 };
    distances("0", 100, alone);
    distances("91", 0, alone);
    distances("0 33 67\n34 0 35\n68 33 0", 95, links); /* noise makes no classes */
    distances("80 120 160\n121,80,120\n160;\t119 80 # the same, in full", 0, times);
}
