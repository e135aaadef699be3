/* SPDX-License-Identifier: BSD-3-Clause */

/* Tests reports, the reading of a profile, and the search for rails and cores, without memory. Each
 * allocation of a report fails once alone, and once with all that follow. Then the report is
 * missing or lacks lines, but the program goes on, and each line that is there is equal to the one
 * of the whole report. */

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include "output/report.h"
#include "output/report_node.h"
#include "plan_words.h"
#include "slots/core.h"
#include "nics/rails.h"
#include "profile/profile_read.h"
#include "profile/profile_slice.h"
#include "rounds.h"
#include "unit.h"

/* --- allocations that fail -------------------------------------------------------------------- */

/* `fails` is the number of the allocation that fails, counted from 0 when `counting` begins. With
 * `onwards` all later ones fail too. */
static struct {
    bool counting, onwards;
    unsigned count, fails;
} memory;

static bool refused(void)
{
    if (!memory.counting)
        return false;
    unsigned which = memory.count++;
    return which == memory.fails || (memory.onwards && which > memory.fails);
}

/* These functions replace those of the C library, in the program and in its libraries. The function
 * pointer is copied from the result of dlsym as POSIX describes, because C has no cast for it. */
void *malloc(size_t size)
{
    static void *(*next)(size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "malloc");
    return refused() ? NULL : next(size);
}

void *realloc(void *old, size_t size)
{
    static void *(*next)(void *, size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "realloc");
    return refused() ? NULL : next(old, size);
}

void *calloc(size_t count, size_t size)
{
    static void *(*next)(size_t, size_t);
    /* This is volatile because <dlfcn.h> declares that dlsym never calls this file (leaf). Else the
     * compiler leaves out "asking = true", and calloc and dlsym call each other without end. */
    static volatile bool asking;
    if (asking)
        return NULL; /* dlsym of glibc before 2.34 calls calloc, and goes on without */
    if (!next) {
        asking = true;
        *(void **)&next = dlsym(RTLD_NEXT, "calloc");
        asking = false;
    }
    return refused() ? NULL : next(count, size);
}

/* --- the reports ------------------------------------------------------------------------------ */

static struct plan_case *s;

static int start(void **state)
{
    (void)state;
    double weights[16];
    s = plan_case_of("hagrid=5 ranks=16x1");
    nuioa_warn(&s->node.warnings, "something to know");
    for (unsigned i = 0; i < 16; i++)
        weights[i] = i;
    plan_case_weigh(s, weights);
    plan_case_make(s);
    return 0;
}

static char *explained(void)
{
    return nuioa_report_text(&s->plan, &s->node, &s->options, true);
}
static char *table(void)
{
    return nuioa_report_text(&s->plan, &s->node, &s->options, false);
}
static char *of_node(void)
{
    return nuioa_report_node(&s->node);
}
static char *cpu_bind(void)
{
    return nuioa_report_cpu_bind(&s->plan);
}

/* Returns the next word, or "\n" at the end of a line, or NULL at the end of the text. */
static const char *next_word(const char *text, size_t *length)
{
    text += strspn(text, " ");
    *length = *text == '\n' ? 1 : strcspn(text, " \n");
    return *text ? text : NULL;
}

/* Returns true if `whole` has this line. Blanks are ignored, because the width of a column depends
 * on its cells. */
static bool has_line(const char *whole, const char *line)
{
    for (; *whole; whole = strchr(whole, '\n') + 1) {
        const char *a = whole, *b = line;
        size_t m = 0, n = 0;
        do {
            a = next_word(a + m, &m);
            b = next_word(b + n, &n);
        } while (a && b && m == n && !memcmp(a, b, m) && *a != '\n');
        if (a && b && *a == '\n' && *b == '\n')
            return true;
    }
    return false;
}

static void check_part(const char *part, const char *whole)
{
    for (; *part; part = strchr(part, '\n') + 1)
        if (!has_line(whole, part) && strncmp(part + strspn(part, " "), "(out of memory)", 15))
            fail_msg("'%.*s' is not in:\n%s", (int)strcspn(part, "\n"), part, whole);
}

static char *with_failure(char *(*report)(void), unsigned fails, bool onwards)
{
    memory.onwards = onwards;
    memory.fails = fails;
    memory.count = 0;
    memory.counting = true;
    char *text = report();
    memory.counting = false;
    return text;
}

static void fail_each(char *(*report)(void))
{
    if (RUNNING_ON_VALGRIND)
        skip(); /* Valgrind has its own allocators, which never fail */
    char *whole = with_failure(report, UINT_MAX, false);
    unsigned allocations = memory.count;
    assert_non_null(whole);
    assert_true(allocations > 1);
    for (unsigned fails = 0; fails < allocations; fails++)
        for (unsigned onwards = 0; onwards < 2; onwards++) {
            char *text = with_failure(report, fails, onwards);
            if (text)
                check_part(text, whole);
            free(text);
        }
    free(whole);
}

TEST_WITHIN(test_explain, start, NULL)
{
    fail_each(explained);
}
TEST_WITHIN(test_table, start, NULL)
{
    fail_each(table);
}
TEST_WITHIN(test_node, start, NULL)
{
    fail_each(of_node);
}

/* Begins a call whose allocation number `fails` fails. Returns false if the call before had fewer,
 * so that all have failed in turn. */
static bool with_memory(unsigned fails)
{
    if (fails && memory.count < fails)
        return false;
    memory.onwards = false;
    memory.fails = fails;
    memory.count = 0;
    return memory.counting = true;
}

/* A profile is read whole, or its error is said: with a line too long for the first buffer, ranks,
 * and more pairs than the first array has room for. */
TEST(test_profile)
{
    enum { PAIRS = 3000 };
    char path[] = "/tmp/nuioa-profile-XXXXXX";
    struct nuioa_profile profile;
    if (RUNNING_ON_VALGRIND)
        skip();
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("nuioa-profile 1\nranks 8\nrank 0 1 1 1 1 1\n", file);
    for (unsigned i = 0; i < PAIRS; i++)
        fprintf(file, "pair %u %u 5 1 0%*s\n", i % 8, i % 7, i == PAIRS / 2 ? 4000 : 1, "");
    fclose(file);
    for (unsigned fails = 0; with_memory(fails); fails++) {
        struct nuioa_error err = { "" };
        int rc = nuioa_profile_read(path, &profile, &err);
        memory.counting = false;
        assert_int_equal(profile.flow_count, rc ? 0 : PAIRS);
        assert_int_equal(!*err.text, !rc);
        nuioa_profile_free(&profile);
    }
    assert_int_equal(nuioa_profile_read(path, &profile, NULL), 0);
    for (unsigned fails = 0; with_memory(fails); fails++) {
        const uint32_t ranks[] = { 1, 2 };
        double weight[2];
        struct nuioa_pair *pairs;
        uint32_t count;
        int rc = nuioa_profile_slice(&profile, NUIOA_POLICY_BANDWIDTH, ranks, 2, weight, &pairs,
                                     &count, NULL);
        memory.counting = false;
        assert_true(rc == (count ? 0 : -ENOMEM));
        assert_int_equal(!pairs, !count);
        free(pairs);
    }
    nuioa_profile_free(&profile);
    unlink(path);
}

/* The rails of a node are found, or it is said why not; policy=latency takes memory of its own. */
TEST_WITHIN(test_rails, start, NULL)
{
    struct nuioa_options latency = s->options;
    latency.policy = NUIOA_POLICY_LATENCY;
    if (RUNNING_ON_VALGRIND)
        skip();
    for (unsigned fails = 0; with_memory(fails); fails++) {
        struct nuioa_error err = { "" };
        struct nuioa_warnings warnings = { 0 };
        struct nuioa_rails rails;
        int rc = nuioa_rails_init(&rails, &s->node, &latency, &warnings, &err);
        memory.counting = false;
        assert_true(rc == (rails.count ? 0 : -ENOMEM));
        assert_int_equal(!*err.text, !rc);
        nuioa_rails_free(&rails);
    }
}

/* All cores of a node are listed, or none. */
TEST_WITHIN(test_cores, start, NULL)
{
    struct nuioa_basis basis = { 0 };
    struct nuioa_warnings warnings = { 0 };
    if (RUNNING_ON_VALGRIND)
        skip();
    assert_int_equal(nuioa_rails_init(&basis.rails, &s->node, &s->options, &warnings, NULL), 0);
    for (unsigned fails = 0; with_memory(fails); fails++) {
        struct nuioa_core_list cores;
        struct nuioa_arena arena = { 0 };
        basis.arena = &arena;
        int rc = nuioa_core_list_make(&cores, &basis, s->node.allowed_cpus);
        memory.counting = false;
        assert_int_equal(cores.count, rc < 0 ? 0 : s->node.core_count);
        nuioa_arena_free(&arena);
    }
    nuioa_rails_free(&basis.rails);
}

/* A text for a launcher is whole, or there is none. */
TEST_WITHIN(test_launchers, start, NULL)
{
    if (RUNNING_ON_VALGRIND)
        skip();
    char *whole = with_failure(cpu_bind, UINT_MAX, false);
    unsigned allocations = memory.count;
    for (unsigned fails = 0; fails < allocations; fails++) {
        char *text = with_failure(cpu_bind, fails, false);
        if (text)
            assert_string_equal(text, whole);
        free(text);
    }
    free(whole);
}
