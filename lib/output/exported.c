/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/exported.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/variable.h"
#include "util/word.h"

#define NAMES "NUIOA_EXPORTED"

/* Adds a word to a text in size bytes. Returns false, and adds nothing, if it does not fit. */
static bool append(char *text, size_t size, char separator, const char *name, const char *value)
{
    size_t used = strlen(text);
    int n = snprintf(text + used, size - used, "%.*s%s%s%s", used ? 1 : 0, &separator, name,
                     value ? "=" : "", value ? value : "");
    if (n >= 0 && (size_t)n < size - used)
        return true;
    text[used] = '\0';
    return false;
}

bool nuioa_exported_add(struct nuioa_exported *exported, const char *name, const char *value)
{
    size_t used = strlen(exported->names);
    if (strchr(value, ' ') || !append(exported->names, sizeof(exported->names), ',', name, NULL))
        return false;
    if (append(exported->values, sizeof(exported->values), ' ', name, value))
        return true;
    exported->names[used] = '\0';
    return false;
}

/* As many as nuioa sets, and more. */
#define OUTER_MAX 32

/* The environment is the user's, and root reads it: each name is sought in all of it, so that there
 * must be few. */
char *nuioa_exported_outer(char *const *environment, char *names, size_t size)
{
    const char *values = nuioa_variable(environment, NUIOA_VARIABLE_EXPORTED);
    bool ours = values && strlen(values) < sizeof(((struct nuioa_exported *)0)->values);
    char *copy = ours ? strdup(values) : NULL, *rest = copy, *word;
    names[0] = '\0';
    for (unsigned i = 0; copy && i < OUTER_MAX && (word = nuioa_next_word(&rest, " ")); i++) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = '\0';
        const char *now = nuioa_variable(environment, word);
        if (now && !strcmp(now, value))
            append(names, size, ' ', word, NULL);
    }
    free(copy);
    if (values)
        append(names, size, ' ', NUIOA_VARIABLE_EXPORTED, NULL);
    if (nuioa_variable(environment, NAMES))
        append(names, size, ' ', NAMES, NULL);
    return names;
}

void nuioa_exported_forget(void)
{
    char names[2048], *rest = nuioa_exported_outer(environ, names, sizeof(names)), *name;
    while ((name = nuioa_next_word(&rest, " ")))
        unsetenv(name);
}
