/* SPDX-License-Identifier: BSD-3-Clause */

/* Options as text. Each line has a letter for where it comes from (p plugstack.conf, e environment,
 * c command line of srun, t nuioa(1)), and NAME=VALUE or NAME. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "plan/option.h"

static void check_options(const struct nuioa_options *o)
{
    INPUT_CHECK(o->mode <= NUIOA_ON && o->policy <= NUIOA_POLICY_CPU);
    INPUT_CHECK(o->cores <= NUIOA_CORES_PACK && o->mem <= NUIOA_MEM_OFF);
    INPUT_CHECK(o->leader <= NUIOA_LEADER_OFF && o->auth <= NUIOA_AUTH_MUNGE);
    INPUT_CHECK(o->gather <= NUIOA_SWITCH_OFF);
    INPUT_CHECK(o->timeout_ms - 1 < 60000 && o->timeout_max_ms - 1 < 60000);
    INPUT_CHECK(o->deadline_ms - 1 < 60000);
    INPUT_CHECK(o->remote_cost >= 0 && o->remote_cost <= 100);
    INPUT_CHECK(o->hop_cost >= 0 && o->hop_cost <= 100);
    INPUT_CHECK(o->load_cost >= 0 && o->load_cost <= 100);
    INPUT_CHECK(memchr(o->hints, '\0', sizeof(o->hints)) && memchr(o->nic, '\0', sizeof(o->nic)));
    INPUT_CHECK(memchr(o->trace, '\0', sizeof(o->trace)) != NULL);
}

static void set_line(struct nuioa_options *options, char *line)
{
    static const char sources[] = "pect";
    const char *letter = *line ? strchr(sources, *line) : NULL;
    if (!letter)
        return;
    enum nuioa_option_source source = (enum nuioa_option_source)(letter - sources);
    struct nuioa_error err;
    char text[64], *value = strchr(++line, '=');
    if (value)
        *value++ = '\0';
    const struct nuioa_option *option = nuioa_option_find(source, line);
    int rc = nuioa_options_set(options, source, line, value, &err);
    if (option) {
        nuioa_option_spelling(option, source, text, sizeof(text));
        nuioa_option_variable(option, text, sizeof(text));
        INPUT_CHECK(!rc || !(source == NUIOA_FROM_ENVIRONMENT && value && !*value));
    } else {
        INPUT_CHECK(rc != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nuioa_options options;
    struct input input = { data, size };
    if (!size)
        free(nuioa_options_help());
    nuioa_options_init(&options);
    while (input.size) {
        char *line = input_line(&input);
        set_line(&options, line);
        free(line);
    }
    nuioa_options_finish(&options);
    check_options(&options);
    return 0;
}
