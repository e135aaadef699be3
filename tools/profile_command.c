/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/commands.h"
#include "tools/profile_print.h"
#include "tools/tool.h"
#include "util/clock.h"

static const char usage[] =
    "usage: nuioa profile [OPTION]... IN...\n"
    "\n"
    "nuioa profile prints a summary of what the ranks of a job communicate, or converts it to\n"
    "what --hints and other programs read. The numbers of several IN are added up; - is the\n"
    "standard input.\n"
    "\n"
    "  --from FORMAT               nuioa (our text), matrix (square, as TreeMatch's), openmpi\n"
    "                              (what its monitoring leaves: NAME.RANK.prof, or a directory of\n"
    "                              these); default: what each file looks like\n"
    "  --metric size|msg|avg       what ranks are compared by, and what the numbers of a matrix\n"
    "                              are: bytes (default), messages, bytes for each message\n"
    "  --nodes N                   count only what crosses nodes if there are N of them,\n"
    "                              and say what srun sends to each, and the time it takes\n"
    "  --distribution block|cyclic how ranks are laid out on these; default block\n"
    "  --out FILE                  write a profile; a matrix of the metric if FILE ends with .mat\n"
    "  --json                      print JSON, for programs\n";

struct job {
    const char *out;
    bool json;
    uint32_t format, metric; /* enum nuioa_profile_format, enum nuioa_metric */
    uint32_t node_count, cyclic;
    const char **words, **paths; /* [word_count]: what was typed, what is read */
    unsigned word_count;
    struct copy {
        FILE *file;    /* NULL: what was typed is read itself */
        char path[32]; /* of the copy */
    } * copies;        /* [word_count] */
};

static int read_arguments(struct job *job, int argc, char **argv)
{
    struct tool_option options[] = {
        { "from", .number = &job->format, .min = NUIOA_PROFILE_TEXT,
          .words = "nuioa, matrix, openmpi" },
        { "metric", .number = &job->metric, .words = "size, msg, avg" },
        { "nodes", .number = &job->node_count, .min = 1, .max = NUIOA_PROFILE_RANKS_MAX },
        { "distribution", .number = &job->cyclic, .words = "block, cyclic", .needs = "nodes" },
        { "out", .file = &job->out },
        { "json", .flag = &job->json },
        { "help", .usage = usage },
        { .name = NULL },
    };
    int rc = tool_args_read_words(argc, argv, options, job->words, &job->word_count);
    if (!rc && !job->word_count)
        rc = tool_usage("profile", "a profile is missing: nuioa profile FILE");
    return rc;
}

static int write_out(const struct job *job, const struct nuioa_profile *profile)
{
    struct nuioa_error err;
    size_t length = strlen(job->out);
    bool matrix = length > 4 && !strcmp(job->out + length - 4, ".mat");
    int rc = matrix ? nuioa_profile_write_matrix(job->out, profile, job->metric, &err)
                    : nuioa_profile_write(job->out, profile, &err);
    return rc ? tool_fail("%s", err.text) : TOOL_DONE;
}

/* The library reads no pipe, because a launch must not wait for one. So that the command can, a
 * pipe is copied to a file without a name first. Returns 0 or an exit status. */
static int copy_pipe(struct copy *copy, const char *word)
{
    struct stat st;
    bool is_stdin = !strcmp(word, "-");
    if (!is_stdin && (stat(word, &st) || !S_ISFIFO(st.st_mode)))
        return 0;
    char block[65536];
    size_t sum = 0, got;
    copy->file = tmpfile();
    /* -Wanalyzer-malloc-leak: tool_profile closes it. */
    FILE *in = !copy->file ? NULL : is_stdin ? stdin : fopen(word, "re");
    if (!in)
        return tool_fail("%s: %s", word, strerror(errno));
    while (sum <= NUIOA_PROFILE_BYTES_MAX && (got = fread(block, 1, sizeof(block), in)) > 0)
        sum += fwrite(block, 1, got, copy->file);
    bool failed = ferror(in) || fflush(copy->file) || ferror(copy->file);
    int error = errno;
    if (!is_stdin)
        fclose(in);
    snprintf(copy->path, sizeof(copy->path), "/proc/self/fd/%d", fileno(copy->file));
    return failed ? tool_fail("%s: %s", word, strerror(error)) : 0;
}

/* Reads all files. An error names what was typed, not the copy. Returns 0 or an exit status. */
static int load(const struct job *job, struct nuioa_profile *profile)
{
    struct nuioa_error err;
    int rc = 0;
    for (unsigned i = 0; i < job->word_count && !rc; i++) {
        rc = copy_pipe(&job->copies[i], job->words[i]);
        job->paths[i] = job->copies[i].file ? job->copies[i].path : job->words[i];
    }
    if (rc ||
        !nuioa_profile_load(job->paths, job->word_count, job->format, job->metric, profile, &err))
        return rc;
    for (unsigned i = 0; i < job->word_count; i++) {
        size_t length = strlen(job->copies[i].path);
        char next = err.text[length];
        if (length && !strncmp(err.text, job->copies[i].path, length) && next == ':')
            return tool_fail("%s%s", job->words[i], err.text + length);
    }
    return tool_fail("%s", err.text);
}

static int answer(const struct job *job)
{
    struct nuioa_profile profile;
    struct profile_summary summary;
    int64_t start_ns = nuioa_clock_ns();
    int rc = load(job, &profile);
    if (rc)
        return rc;
    double read_s = 1e-9 * (double)(nuioa_clock_ns() - start_ns);
    nuioa_profile_merge(&profile);
    if (job->node_count > profile.rank_count)
        rc = tool_fail("--nodes: %u nodes are more than the %u ranks", job->node_count,
                       profile.rank_count);
    if (!rc && job->out)
        rc = write_out(job, &profile);
    /* If a file was asked for, no summary is printed. */
    if (!rc && (!job->out || job->json)) {
        if (profile_summarise(&summary, &profile, job->metric, job->node_count, job->cyclic))
            rc = tool_fail("out of memory");
        summary.slices.read_s = read_s;
        if (!rc)
            rc = job->json ? profile_print_json(&summary) : profile_print_text(&summary);
        nuioa_arena_free(&summary.arena);
    }
    nuioa_profile_free(&profile);
    return rc;
}

int tool_profile(int argc, char **argv)
{
    struct nuioa_arena arena = { 0 };
    struct job job = { .words = nuioa_arena_take(&arena, (size_t)argc, sizeof(*job.words)),
                       .paths = nuioa_arena_take(&arena, (size_t)argc, sizeof(*job.paths)),
                       .copies = nuioa_arena_take(&arena, (size_t)argc, sizeof(*job.copies)) };
    int rc = arena.failed ? tool_fail("out of memory") : read_arguments(&job, argc, argv);
    if (!rc)
        rc = answer(&job);
    for (unsigned i = 0; i < job.word_count; i++)
        if (job.copies[i].file)
            fclose(job.copies[i].file);
    nuioa_arena_free(&arena);
    return rc;
}
