/* SPDX-License-Identifier: BSD-3-Clause */

/* The input is all option sources of one process of Slurm. Each line begins with a letter: p is
 * followed by an argument of plugstack.conf, e by a string of the environment (NAME=VALUE or
 * anything else), and c by NAME=VALUE of a flag as Slurm hands it to the plugin. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "options.h"
#include "output/exported.h"
#include "spank/common/option_sources.h"

#define LINES_MAX 64
#define NAMES_MAX 64

struct texts {
    char *lines[LINES_MAX]; /* [count]: the other members point into these texts */
    char *arguments[LINES_MAX];
    char *environment[LINES_MAX + 1]; /* ended by NULL */
    struct flags flags;
    int count, argument_count, variable_count;
};

/* Slurm knows no flags but those that the plugin has registered. */
static void add_flag(struct texts *texts, char *text)
{
    char *equals = strchr(text, '=');
    if (equals)
        *equals = '\0';
    const struct nuioa_option *option = nuioa_option_find(NUIOA_FROM_COMMAND, text);
    if (option && equals && !option->admin)
        texts->flags.typed[option - nuioa_option_table] = equals + 1;
}

static void add_line(struct texts *texts, char *line)
{
    texts->lines[texts->count++] = line;
    switch (*line) {
    case 'p': texts->arguments[texts->argument_count++] = line + 1; break;
    case 'e': texts->environment[texts->variable_count++] = line + 1; break;
    case 'c': add_flag(texts, line + 1); break;
    default: break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nuioa_options options, site;
    static struct option_warnings warnings;
    static struct nuioa_exported exported;
    struct input input = { data, size };
    struct texts texts = { .argument_count = 0 };
    while (input.size && texts.count < LINES_MAX)
        add_line(&texts, input_line(&input));
    struct option_sources sources = { texts.argument_count, texts.arguments, NULL,
                                      &(struct flags){ .lost = false } };
    option_sources_read(&sources, &site, &warnings);
    sources.environment = texts.environment;
    sources.flags = &texts.flags;
    option_sources_read(&sources, &options, &warnings);
    char *names = malloc(NAMES_MAX);
    INPUT_CHECK(names != NULL);
    nuioa_exported_outer(texts.environment, names, NAMES_MAX);
    INPUT_CHECK(strlen(names) < NAMES_MAX);
    exported = (struct nuioa_exported){ "", "" };
    for (int i = 0; i < texts.variable_count; i++)
        nuioa_exported_add(&exported, names, texts.environment[i]);
    free(names);
    options_check(&options);
    /* The environment and flags, which users write, cannot change what an administrator sets. */
    INPUT_CHECK(options.deadline_ms == site.deadline_ms);
    INPUT_CHECK(!strcmp(options.distances, site.distances));
    INPUT_CHECK(!strcmp(options.cache, site.cache));
    INPUT_CHECK(!strcmp(options.topology, site.topology));
    INPUT_CHECK(!strcmp(options.munge_socket, site.munge_socket));
    INPUT_CHECK(option_sources_of(&sources, "hints") <= NUIOA_FROM_COMMAND);
    for (int i = 0; i < texts.count; i++)
        free(texts.lines[i]);
    return 0;
}
