/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/compare.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/compare/result.h"
#include "tools/compare/run.h"
#include "tools/compare/verdict.h"
#include "tools/tool.h"
#include "util/number.h"

static const char usage[] =
    "usage: nuioa compare [OPTION]... -- srun [OPTION]... PROGRAM [ARGUMENT]...\n"
    "\n"
    "Says whether nuioa makes a program faster: runs it in pairs, once without and once with\n"
    "nuioa, in an order that is drawn for each pair, in the job in which it is called:\n"
    "salloc -N2 --exclusive nuioa compare -- srun -n8 ./app\n"
    "Each run does all that the program does: output files and checkpoints are written again.\n"
    "\n"
    "  -n, --pairs N        make N pairs, 6 to 24; default: 6, and then 12 and 24 if these can\n"
    "                       decide it\n"
    "  --set VAR=VALUE      compare a variable instead, without nuioa on either side; may be\n"
    "                       repeated\n"
    "  --time REGEX         the time is the number in the program's output that this extended\n"
    "                       regular expression finds last, in its first parentheses if it has\n"
    "                       any; default: the time from the start of srun to its end\n"
    "  --before CMD         a command for sh before each run, such as 'rm -f restart.*'\n"
    "  --keep DIR           where the output of each run is kept, a directory that is not there\n"
    "                       yet; default: nuioa-compare.XXXXXX, which is made\n"
    "  --json               print JSON, for programs\n"
    "\n"
    "Exit status: 0 whatever the verdict, 1 if a run failed or was interrupted.\n";

/* Each side also has SLURM_NUIOA, and the first run what finds wrong names. */
enum { SET_MAX = RUN_VARIABLES_MAX - 3, NAMES_MAX = 2048 };

struct compare {
    const char *pairs_text, *time_text, *keep;
    bool help, json;
    uint32_t pairs; /* 0: not typed */
    regex_t time;
    char directory[64];
    char names[NAMES_MAX], preload[PATH_MAX]; /* variables of the first run */
    struct run_plan plan;
    struct run_side without, with;
    struct result result;
};

/* --- the command line ------------------------------------------------------------------------- */

static int add_variable(struct compare *c, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return tool_usage("compare", "--set: '%.80s' is not VARIABLE=VALUE", text);
    if (!strncmp(text, "SLURM_NUIOA", strlen("SLURM_NUIOA")))
        return tool_usage("compare",
                          "--set: %.*s is set for each side here; without --set nuioa itself is "
                          "compared",
                          (int)(equals - text), text);
    if (c->with.variable_count == SET_MAX)
        return tool_usage("compare", "--set: at most %d variables", SET_MAX);
    c->with.variables[c->with.variable_count++] = text;
    return 0;
}

static int set_option(struct tool_args *args, void *context)
{
    if (strcmp(args->name, "set"))
        return tool_usage("compare", "--%s: no such option", args->name);
    const char *value = tool_args_value(args);
    return value ? add_variable(context, value) : TOOL_USAGE;
}

/* Cuts the command line at "--", and makes "-n 8" of it "--pairs 8". */
static int split(struct compare *c, int argc, char **argv)
{
    static char pairs[] = "--pairs";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-n"))
            argv[i] = pairs;
        if (!strcmp(argv[i], "--")) {
            c->plan.program = argv + i + 1;
            return i;
        }
    }
    return argc;
}

/* Whether the program's own command line says what is compared here. */
static int check_program(const struct compare *c)
{
    if (!c->plan.program || !c->plan.program[0])
        return tool_usage("compare", "the program is missing: nuioa compare -- srun ./app");
    const char *name = strrchr(c->plan.program[0], '/');
    if (strcmp(name ? name + 1 : c->plan.program[0], "srun"))
        return tool_usage("compare", "'%.80s' is not srun, which is what starts ranks with nuioa",
                          c->plan.program[0]);
    for (char **word = c->plan.program + 1; *word; word++)
        if (!strncmp(*word, "--nuioa", strlen("--nuioa")) && (!(*word)[7] || (*word)[7] == '='))
            return tool_usage("compare", "leave out '%.80s': each side gets its own --nuioa",
                              *word);
    return 0;
}

static int check_values(struct compare *c)
{
    if (c->pairs_text && (nuioa_parse_u32(c->pairs_text, VERDICT_PAIRS_MAX, &c->pairs) ||
                          c->pairs < VERDICT_PAIRS_MIN))
        return tool_usage("compare", "--pairs: '%.40s' is not a number from %d to %d",
                          c->pairs_text, VERDICT_PAIRS_MIN, VERDICT_PAIRS_MAX);
    if (c->time_text) {
        char text[128];
        int rc = regcomp(&c->time, c->time_text, REG_EXTENDED);
        if (rc) {
            regerror(rc, &c->time, text, sizeof(text));
            return tool_usage("compare", "--time: '%.80s': %s", c->time_text, text);
        }
        c->plan.time = &c->time;
    }
    return check_program(c);
}

static int read_arguments(struct compare *c, int argc, char **argv)
{
    const struct tool_option options[] = {
        { "pairs", &c->pairs_text, NULL },
        { "time", &c->time_text, NULL },
        { "before", &c->plan.before, NULL },
        { "keep", &c->keep, NULL },
        { "json", NULL, &c->json },
        { "help", NULL, &c->help },
        { NULL, NULL, NULL },
    };
    int rc = tool_args_read(split(c, argc, argv), argv, options, set_option, c);
    if (rc || c->help)
        return rc;
    return check_values(c);
}

/* --- the runs --------------------------------------------------------------------------------- */

static int make_directory(struct compare *c)
{
    if (c->keep) {
        c->plan.directory = c->keep;
        return mkdir(c->keep, 0777) ? tool_fail("--keep: %s: %s", c->keep, strerror(errno)) : 0;
    }
    strcpy(c->directory, "nuioa-compare.XXXXXX");
    c->plan.directory = c->directory;
    return mkdtemp(c->directory) ? 0 : tool_fail("%s: %s", c->directory, strerror(errno));
}

/* Finds the library that is preloaded into ranks, in the directory that this command was built for,
 * or beside it if the whole installation was moved. Returns 0, or -1 if it is not there. */
static int find_shim(char *path, size_t size)
{
    static const char file[] = "libnuioa-preload.so";
    snprintf(path, size, NUIOA_PKGLIBDIR "/%s", file);
    if (!access(path, R_OK))
        return 0;
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length <= 0 || (size_t)length >= size)
        return -1;
    path[length] = '\0';
    char *end = strrchr(path, '/');
    int n = end ? snprintf(end, size - (size_t)(end - path), "/../lib/nuioa/%s", file) : -1;
    return n > 0 && (size_t)n < size - (size_t)(end - path) ? access(path, R_OK) : -1;
}

/* Says how far it is, on stderr. */
static void say_pair(const struct compare *c, unsigned of)
{
    const struct result *r = &c->result;
    char without[32], with[32];
    fprintf(stderr, "nuioa compare: pair %u of %u: without %s s, with %s s\n", r->pairs, of,
            result_seconds(r->without[r->pairs - 1], without),
            result_seconds(r->with[r->pairs - 1], with));
}

/* Adds to the first run what asks the MPI library for the variables of --set: names alone. A user's
 * LD_PRELOAD stays; one that is compared is left alone. */
static void add_question(struct compare *c, struct run_side *side)
{
    const char *theirs = getenv("LD_PRELOAD");
    size_t used = (size_t)snprintf(c->names, sizeof(c->names), "NUIOA_COMPARE_SET=");
    for (unsigned i = 0; i < c->result.variables; i++) {
        const char *text = c->result.variable[i];
        int length = (int)strcspn(text, "=");
        if (!strncmp(text, "LD_PRELOAD=", strlen("LD_PRELOAD=")) ||
            used + (size_t)length + 2 > sizeof(c->names))
            return;
        used += (size_t)sprintf(c->names + used, "%s%.*s", i ? "," : "", length, text);
    }
    snprintf(c->preload, sizeof(c->preload), "LD_PRELOAD=%s%s", theirs ? theirs : "",
             theirs && *theirs ? ":" : "");
    used = strlen(c->preload);
    if (!c->result.variables || find_shim(c->preload + used, sizeof(c->preload) - used))
        return;
    side->variables[side->variable_count++] = c->names;
    side->variables[side->variable_count++] = c->preload;
}

/* The first run is thrown away: it fills caches of files, and shows whether all works. */
static int warm_up(struct compare *c)
{
    struct nuioa_error err;
    struct run_side side = c->with;
    static const char said[] = "nuioa: compare: ";
    char line[256];
    double seconds;
    add_question(c, &side);
    int rc = run_once(&c->plan, &side, "warm-up", &seconds, &err);
    if (rc)
        return rc == -EINTR ? rc : tool_fail("%s", err.text);
    if (run_said(&c->plan, "warm-up", said, line, sizeof(line)))
        return tool_fail("--set: %s: nothing is compared", line + strlen(said));
    if (!c->result.variables &&
        !run_said(&c->plan, "warm-up", "nuioa: ", c->result.report, sizeof(c->result.report)))
        return tool_fail("the run with nuioa printed no report (%s/warm-up.err): is the plugin "
                         "there? Try srun --nuioa=report hostname",
                         c->plan.directory);
    fprintf(stderr, "nuioa compare: the first run is not counted; what runs print is in %s\n",
            c->plan.directory);
    return 0;
}

static int run_pair(struct compare *c)
{
    struct result *r = &c->result;
    struct nuioa_error err;
    unsigned char chance = 0;
    double *seconds[] = { &r->without[r->pairs], &r->with[r->pairs] };
    const struct run_side *sides[] = { &c->without, &c->with };
    if (getrandom(&chance, 1, GRND_NONBLOCK) != 1)
        chance = (unsigned char)r->pairs;
    for (unsigned i = 0; i < 2; i++) {
        unsigned side = (i + chance) % 2;
        char name[32];
        snprintf(name, sizeof(name), "%02u-%s", r->pairs + 1, sides[side]->name);
        int rc = run_once(&c->plan, sides[side], name, seconds[side], &err);
        if (rc)
            return rc == -EINTR ? rc : tool_fail("%s", err.text);
    }
    r->pairs++;
    return 0;
}

/* Makes pairs until they have decided, or cannot. Returns 0, -EINTR or an exit status. */
static int run_pairs(struct compare *c)
{
    struct result *r = &c->result;
    unsigned wanted = c->pairs ? c->pairs : VERDICT_PAIRS_MIN;
    while (r->pairs < wanted) {
        int rc = run_pair(c);
        if (rc)
            return rc;
        say_pair(c, wanted);
        if (r->pairs < wanted)
            continue;
        verdict_judge(r->without, r->with, r->pairs, c->pairs, &r->verdict);
        r->judged = true;
        if (!c->pairs)
            wanted = verdict_next_look(&r->verdict, r->pairs);
        r->judged = r->pairs == wanted;
    }
    return 0;
}

static void prepare(struct compare *c)
{
    struct run_side *with = &c->with, *without = &c->without;
    without->name = "without";
    with->name = "with";
    without->variables[without->variable_count++] = "SLURM_NUIOA=report,off";
    c->result.variables = with->variable_count;
    for (unsigned i = 0; i < with->variable_count; i++)
        c->result.variable[i] = with->variables[i];
    with->variables[with->variable_count++] =
        c->result.variables ? "SLURM_NUIOA=report,off" : "SLURM_NUIOA=report,on";
    c->result.typed = c->pairs;
    c->result.directory = c->plan.directory;
}

static int compare(struct compare *c)
{
    if (!getenv("SLURM_JOB_ID"))
        return tool_fail("there is no job here, and each srun would be a job of its own: "
                         "salloc --exclusive nuioa compare -- srun ...");
    int rc = make_directory(c);
    if (rc)
        return rc;
    prepare(c);
    run_begin();
    rc = warm_up(c);
    if (!rc)
        rc = run_pairs(c);
    if (rc && rc != -EINTR)
        return rc;
    bool interrupted = rc == -EINTR;
    rc = c->json ? result_print_json(&c->result) : result_print(&c->result);
    return interrupted ? tool_fail("interrupted after %u pairs", c->result.pairs) : rc;
}

int tool_compare(int argc, char **argv)
{
    struct compare c = { 0 };
    int rc = read_arguments(&c, argc, argv);
    if (c.help && !rc)
        fputs(usage, stdout);
    else if (!rc)
        rc = compare(&c);
    if (c.plan.time)
        regfree(&c.time);
    return rc;
}
