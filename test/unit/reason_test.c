/* SPDX-License-Identifier: BSD-3-Clause */

/* Makes a plan for each situation in which ranks move or stay, and compares its sentence with the
 * table in doc/report.md. It prints the rows that the table lacks. */

#include "file.h"
#include "plan_words.h"
#include "reason_case.h"
#include "unit.h"

/* Returns true if only the caller knows the reason: no request leads to it. */
static bool is_callers(unsigned reason)
{
    return reason == NUIOA_REASON_NONE || reason >= NUIOA_REASON_GPUS_LATE;
}

static void print_row(FILE *out, unsigned reason)
{
    fprintf(out, "| %s | %s | `%s` |\n", reason_cases[reason].when, nuioa_reason_text(reason),
            reason_cases[reason].name);
}

/* Every situation leads to its sentence, and no rank has moved where the sentence says so. */
TEST(test_sentences)
{
    for (unsigned reason = 0; reason < NUIOA_REASON_COUNT; reason++) {
        if (is_callers(reason))
            continue;
        assert_non_null(reason_cases[reason].name);
        struct plan_case *s = plan_case_of("%s", reason_cases[reason].words);
        plan_case_make(s);
        if (s->plan.why != reason)
            fail_msg("%s: '%s', wanted '%s'", reason_cases[reason].name, s->plan.reason,
                     nuioa_reason_text(reason));
        assert_string_equal(s->plan.reason, nuioa_reason_text(reason));
    }
}

/* The caller's reason is the plan's, the page has it, and no rank moves. */
TEST(test_callers)
{
    const char *page = file_text(file_of_sources("../../doc/report.md"));
    for (unsigned reason = NUIOA_REASON_GPUS_LATE; reason < NUIOA_REASON_COUNT; reason++) {
        struct plan_case *s = plan_case_of("hagrid=5 ranks=8x1 falling");
        s->request.stay = reason;
        plan_case_make(s);
        assert_int_equal(s->plan.why, reason);
        assert_string_equal(s->plan.reason, nuioa_reason_text(reason));
        assert_false(s->plan.moved);
        if (!strstr(page, s->plan.reason))
            fail_msg("doc/report.md lacks: %s", s->plan.reason);
    }
}

TEST(test_page)
{
    const char *page = file_text(file_of_sources("../../doc/report.md"));
    char row[1024];
    unsigned wanted = 0, found = 0, rows = 0;
    for (unsigned reason = 0; reason < NUIOA_REASON_COUNT; reason++) {
        if (is_callers(reason))
            continue;
        FILE *out = fmemopen(row, sizeof(row), "w");
        print_row(out, reason);
        fclose(out);
        wanted++;
        if (strstr(page, row))
            found++;
        else
            print_error("doc/report.md lacks: %s", row);
    }
    for (const char *line = page; (line = strstr(line, "` |\n")); line++)
        rows++;
    assert_int_equal(found, wanted);
    assert_int_equal(rows, wanted);
}

/* A sentence, with what is added to it, fits into a plan and into what nodes send. */
TEST(test_length)
{
    for (unsigned reason = 0; reason < NUIOA_REASON_COUNT; reason++)
        assert_true(strlen(nuioa_reason_text(reason)) <
                    sizeof(((struct nuioa_plan *)NULL)->reason));
}
