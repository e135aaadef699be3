/* SPDX-License-Identifier: BSD-3-Clause */

/* Options as text. Each line has a letter for where it comes from (p plugstack.conf, e environment,
 * c command line of srun, t nuioa(1)), and NAME=VALUE or NAME. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "options.h"

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
        nuioa_options_help(stdout);
    nuioa_options_init(&options);
    while (input.size) {
        char *line = input_line(&input);
        set_line(&options, line);
        free(line);
    }
    nuioa_options_finish(&options);
    options_check(&options);
    return 0;
}
