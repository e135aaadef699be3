/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/slurm_compat.h"

#include "util/text.h"

#include <ctype.h>
#include <slurm/slurm_version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE_TEXT 128

/* This function of libslurm is in no header, and not in every release. Slurm binds symbols lazily,
 * so a missing one that is not weak would kill the process at the call. */
extern uint16_t *slurm_get_srun_port_range(void) __attribute__((weak));

bool slurm_compat_port_range(uint16_t *first, uint16_t *last)
{
    const uint16_t *range = slurm_get_srun_port_range ? slurm_get_srun_port_range() : NULL;
    *first = range ? range[0] : 0;
    *last = range ? range[1] : 0;
    return range != NULL;
}

/* The first variable is for the batch step; Slurm makes that of each srun inside from the second,
 * which is no environment variable. Slurm makes '_' of what is neither a letter nor a digit. */
void slurm_compat_unset_flag(spank_t spank, const char *name)
{
    char variable[VARIABLE_TEXT];
    snprintf(variable, sizeof(variable), "_SLURM_SPANK_OPTION_nuioa_%s", name);
    for (char *c = variable; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    unsetenv(variable);
    spank_job_control_unsetenv(spank, variable);
}

/* The arguments of this process. A loop reads them to the end, which frees all. */
struct arguments {
    FILE *in;
    char *text;
    size_t room;
};

static struct arguments open_arguments(void)
{
    return (struct arguments){ .in = fopen("/proc/self/cmdline", "re") };
}

/* Returns the next one, valid until the next call; or NULL at the end. */
static const char *next_argument(struct arguments *a)
{
    if (a->in && getdelim(&a->text, &a->room, '\0', a->in) > 0)
        return a->text;
    if (a->in)
        fclose(a->in);
    free(a->text);
    return NULL;
}

/* Returns the value in `text` if that is --NAME, with or without one (""), or an abbreviation that
 * getopt takes for it: fewer than `least` letters begin other flags, too. Slurm takes '_' for '-'.
 * NULL: it is not. */
static const char *value_of(const char *text, const char *name, size_t least)
{
    size_t length = strncmp(text, "--", 2) ? 0 : strcspn(text + 2, "=");
    if (length < least || length > strlen(name))
        return NULL;
    for (size_t i = 0; i < length; i++)
        if (text[2 + i] != name[i] && !(text[2 + i] == '_' && name[i] == '-'))
            return NULL;
    return text[2 + length] ? text + 3 + length : "";
}

bool slurm_compat_is_typed(const char *name, const char *value)
{
    struct arguments all = open_arguments();
    bool found = false;
    for (const char *text; (text = next_argument(&all));) {
        const char *typed = value_of(text, name, strlen(name));
        found |= typed && !strcmp(typed, value ? value : "");
    }
    return found;
}

/* Fewer than five letters are --over, --cpu- or --mem-. getopt stopped at the command. With several
 * components (":") it has counted from the last one only, and all arguments are read. */
bool slurm_compat_has_flag(const char *name)
{
    struct arguments all = open_arguments();
    bool found = false, found_late = false, several = false;
    const char *text;
    for (int i = 0; (text = next_argument(&all)); i++) {
        several |= !strcmp(text, ":");
        *(i < optind ? &found : &found_late) |= value_of(text, name, 5) != NULL;
    }
    return found || (several && found_late);
}

char *slurm_compat_salloc_command(void)
{
    struct arguments all = open_arguments();
    const char *text;
    char *command = NULL;
    size_t size = 0;
    FILE *out = NULL;
    for (int i = 0; (text = next_argument(&all)); i++) {
        const char *slash = strrchr(text, '/');
        if (!i && !strcmp(slash ? slash + 1 : text, "salloc"))
            out = open_memstream(&command, &size);
        else if (out && i >= optind)
            fprintf(out, "%s ", text);
    }
    return out ? nuioa_text_close(out, &command) : NULL;
}

/* An empty value is the next argument. Each of several components (":") has its own flags, and
 * getopt has counted from the last one only: there is no answer then. */
char *slurm_compat_chdir(void)
{
    struct arguments all = open_arguments();
    const char *text;
    char *value = NULL;
    bool next = false, several = false;
    for (int i = 0; (text = next_argument(&all)); i++) {
        several |= !strcmp(text, ":");
        const char *found = i >= optind              ? NULL
                            : next                   ? text
                            : strncmp(text, "-D", 2) ? value_of(text, "chdir", 3)
                                                     : text + 2;
        next = !next && found && !*found;
        if (!found || next)
            continue;
        free(value);
        value = strdup(found);
    }
    if (!several)
        return value;
    free(value);
    return NULL;
}

bool slurm_compat_chooses_gpus_late(void)
{
    return SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0);
}
