/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/hints_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "option/option_environment.h"
#include "profile/hints_from_profile.h"
#include "profile/profile_read.h"
#include "spank/common/log.h"

/* Writes the absolute name of `path` to `name`: the directory of this process and the path, whose
 * links stay, because the nodes may have others. Returns false if it is too long, or the directory
 * has gone. */
static bool make_absolute(const char *path, char name[PATH_MAX])
{
    size_t used = 0;
    if (*path != '/') {
        if (!getcwd(name, PATH_MAX))
            return false;
        used = strlen(name);
        while (!strncmp(path, "./", 2))
            path += 2;
    }
    int length = snprintf(name + used, PATH_MAX - used, "%s%s", used ? "/" : "", path);
    return length >= 0 && (size_t)length < PATH_MAX - used;
}

static void warn_of_profile(const struct nuioa_profile *profile, const char *path)
{
    struct nuioa_warnings warnings = { 0 };
    nuioa_profile_warn(profile, &warnings);
    for (unsigned i = 0; i < warnings.count; i++)
        log_line("%s: %s", path, warnings.text[i]);
}

/* Names the file to the nodes, or says why not. Nodes do not read root's files, nor a directory.
 * Returns true if weights that the list has no room for need no other word. */
static bool send_name(const struct srun_context *context, const char *option, const char *path)
{
    char name[PATH_MAX];
    struct stat info;
    if (!stat(path, &info) && S_ISDIR(info.st_mode)) {
        if (!context->warned)
            log_line("%s: %s: pairs of ranks in a directory are not used. Run nuioa profile %s "
                     "--out FILE, and give FILE",
                     option, path, path);
        return true;
    }
    return geteuid() != 0 && make_absolute(path, name) &&
           !setenv(NUIOA_VARIABLE_HINTS_PATH, name, 1);
}

/* Reads a profile. Returns 0 with its list, which is empty if it does not fit in `size` bytes and
 * the nodes read the file; or a negative value, with *err. */
static int read_profile(struct srun_context *context, const char *option, const char *path,
                        char *list, size_t size, struct nuioa_error *err)
{
    struct hints_ranks *known = &context->hints_ranks;
    struct nuioa_profile profile;
    struct nuioa_error why;
    int rc = nuioa_profile_read(path, &profile, err);
    if (rc < 0)
        return rc;
    if (!context->warned)
        warn_of_profile(&profile, path);
    rc = nuioa_hints_from_profile(&profile, context->options.policy, list, size, &why);
    if (rc < 0)
        nuioa_fail(err, rc, "%s: %s", path, why.text);
    if (!known->ranks) {
        known->ranks = profile.rank_count;
        known->at_least = profile.open_ended;
        snprintf(known->name, sizeof(known->name), "%s: %s", option, path);
    }
    bool more = (!rc && profile.flow_count) || rc == -E2BIG;
    nuioa_profile_free(&profile);
    if (more && send_name(context, option, path) && rc) {
        *list = '\0';
        rc = 0;
    }
    return rc;
}

/* Keeps the list to compare its ranks with those of the step. The site's list is for steps of any
 * size. */
static void keep_list(struct srun_context *context, enum nuioa_option_source source,
                      const char *option, const char *path, const char *list)
{
    struct hints_ranks *known = &context->hints_ranks;
    if (source == NUIOA_FROM_PLUGSTACK || !*list || known->ranks || known->list.count)
        return;
    if (!nuioa_hints_parse(&known->list, list, NULL))
        snprintf(known->name, sizeof(known->name), "%s%s%s", option, path ? ": " : "",
                 path ? path : "");
}

/* Reads the file and sets the variables. Returns 0, or negative with *err. */
static int send_file(struct srun_context *context, enum nuioa_option_source source,
                     const char *option, const char *path, struct nuioa_error *err)
{
    char list[NUIOA_VALUE_MAX + 1] = "";
    int rc = nuioa_profile_list(path, list, sizeof(list), err);
    if (rc > 0)
        keep_list(context, source, option, path, list);
    if (!rc)
        rc = read_profile(context, option, path, list, sizeof(list), err);
    setenv(NUIOA_VARIABLE_HINTS_LIST, rc < 0 ? "" : list, 1);
    return rc < 0 ? rc : 0;
}

int hints_file_send(struct srun_context *context, const struct option_sources *sources,
                    struct nuioa_error *err)
{
    char spelling[64];
    struct nuioa_error why;
    const char *path = nuioa_hints_file(context->options.hints);
    enum nuioa_option_source source = option_sources_of(sources, "hints");
    nuioa_option_spelling(nuioa_option_find(source, "hints"), source, spelling, sizeof(spelling));
    unsetenv(NUIOA_VARIABLE_HINTS_LIST); /* they may be from an outer srun */
    unsetenv(NUIOA_VARIABLE_HINTS_PATH);
    if (!path) {
        keep_list(context, source, spelling, NULL, context->options.hints);
        return 0;
    }
    int rc = send_file(context, source, spelling, path, &why);
    if (rc < 0) {
        nuioa_fail(err, rc, "%s: %s", spelling, why.text);
        if (source == NUIOA_FROM_COMMAND && rc != -ENOMEM)
            return rc;
        if (!context->warned)
            log_line("%s", err->text);
    }
    return 0;
}

int hints_file_export(struct flags *flags, struct nuioa_error *err)
{
    const struct nuioa_option *option = nuioa_option_find(NUIOA_FROM_COMMAND, "hints");
    char **typed = &flags->typed[option - nuioa_option_table], name[PATH_MAX], spelling[64];
    const char *path = *typed ? nuioa_hints_file(*typed) : NULL;
    char list[NUIOA_VALUE_MAX + 1];
    struct nuioa_profile profile = { 0 };
    struct nuioa_error why;
    if (!path)
        return 0;
    nuioa_option_spelling(option, NUIOA_FROM_COMMAND, spelling, sizeof(spelling));
    int rc = nuioa_profile_list(path, list, sizeof(list), &why);
    if (!rc)
        rc = nuioa_profile_read(path, &profile, &why);
    nuioa_profile_free(&profile);
    if (rc < 0 && rc != -ENOMEM)
        return nuioa_fail(err, rc, "%s: %s", spelling, why.text);
    char *copy = make_absolute(path, name) ? strdup(name) : NULL;
    if (copy) {
        free(*typed);
        *typed = copy;
    }
    return 0;
}
