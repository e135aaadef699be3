/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/option.h"
#include "unit.h"

static struct nuioa_options options;

static int start(void **state)
{
    (void)state;
    nuioa_options_init(&options);
    return 0;
}

/* Checks the line `words`, of which those of `stray` do nothing and policy=latency counts. */
static void check_line(const char *const *words, const char *stray)
{
    struct nuioa_warnings warnings = { 0 };
    char text[128];
    int argc = 0;
    while (words[argc])
        argc++;
    nuioa_options_set_line(&options, argc, (char *const *)words, &warnings, NULL);
    snprintf(text, sizeof(text),
             "plugstack.conf: '%s' does nothing: write NAME=VALUE without blanks", stray);
    assert_int_equal(warnings.count, 1);
    assert_string_equal(warnings.text[0], text);
    assert_int_equal(options.mode, NUIOA_OFF);
    assert_int_equal(options.policy, NUIOA_POLICY_LATENCY);
}

/* Slurm splits the line in plugstack.conf at blanks. */
TEST_WITHIN(test_line, start, NULL)
{
    char on[] = "default=on", threads[] = "threads=on", policy[] = "policy=latency\r", end[] = "\r";
    struct nuioa_warnings warnings = { 0 };
    struct nuioa_error err;
    check_line((const char *[]){ "default", "=", "on", "policy=latency", NULL }, "default = on");
    check_line((const char *[]){ "default=", "on", "policy=latency", NULL }, "default= on");
    check_line((const char *[]){ "policy=latency", "default", "=on", NULL }, "default =on");
    check_line((const char *[]){ "policy=latency", "default", "\r", NULL }, "default");
    nuioa_options_set_line(&options, 2, (char *[]){ on, end }, &warnings, NULL);
    nuioa_options_set_line(&options, 2, (char *[]){ threads, policy }, &warnings, NULL);
    assert_int_equal(options.mode, NUIOA_ON);
    assert_int_equal(options.policy, NUIOA_POLICY_LATENCY);
    assert_int_equal(warnings.count, 0);
    nuioa_options_set_line(&options, 2, (char *[]){ policy, threads }, &warnings, NULL);
    assert_int_equal(warnings.count, 1); /* only the last word has the end of the line */
    assert_int_equal(nuioa_options_set(&options, NUIOA_FROM_PLUGSTACK, "default", NULL, &err),
                     -EINVAL);
    assert_string_equal(err.text, "plugstack.conf: default: a value is missing "
                                  "(off|export|on|force|report|explain|help)");
}
