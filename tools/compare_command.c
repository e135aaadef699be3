/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/commands.h"

#include <stdlib.h>
#include <string.h>

#include "tools/python.h"
#include "tools/tool.h"

static const char usage[] =
    "usage: nuioa compare [OPTION]... [--] srun [OPTION]... PROGRAM [ARGUMENT]...\n"
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

/* The words for compare.py, which reads them by these places; "" is what was not typed. Behind the
 * settings are "--" and the program's words. */
enum { PAIRS = 1, TIME, BEFORE, KEEP, JSON, SETTINGS };

/* Checks each VARIABLE=VALUE; and the program's own command line, which must not say what is
 * compared here. */
static int check(const char *const *settings, char *const *program)
{
    for (; *settings; settings++) {
        int length = (int)strcspn(*settings, "=");
        if (!length || !(*settings)[length])
            return tool_usage("compare", "--set: '%.80s' is not VARIABLE=VALUE", *settings);
        if (!strncmp(*settings, "SLURM_NUIOA", strlen("SLURM_NUIOA")))
            return tool_usage("compare",
                              "--set: %.*s is set for each side here; without --set nuioa itself "
                              "is compared",
                              length < 80 ? length : 80, *settings);
    }
    if (!*program || !**program)
        return tool_usage("compare", "the program is missing: nuioa compare -- srun ./app");
    const char *slash = strrchr(*program, '/');
    if (strcmp(slash ? slash + 1 : *program, "srun") != 0)
        return tool_usage("compare", "'%.80s' is not srun: start the ranks with srun", *program);
    for (; *program; program++)
        if (strcspn(*program, "=") == 7 && !strncmp(*program, "--nuioa", 7))
            return tool_usage("compare", "leave out '%.80s': each side gets its own --nuioa",
                              *program);
    if (!getenv("SLURM_JOB_ID"))
        return tool_fail("not in a job, and each srun would be its own job: use salloc --exclusive "
                         "nuioa compare -- srun ...");
    return 0;
}

/* Reads the command line, and writes it as compare.py reads it to `words`, which has room for it
 * and is all NULL. */
static int read_options(int argc, char **argv, const char **words)
{
    bool json = false;
    uint32_t pairs;
    const char **end = words + SETTINGS;
    char **program;
    struct tool_option options[] = {
        { "pairs", .text = &words[PAIRS], .number = &pairs, .min = 6, .max = 24 },
        { "set", .each = &end },
        { "time", .text = &words[TIME], .what = "a regular expression" },
        { "before", .text = &words[BEFORE], .what = "a command" },
        { "keep", .text = &words[KEEP], .what = "a directory name" },
        { "json", .flag = &json },
        { "help", .usage = usage },
        { .name = NULL },
    };
    for (int i = 0; i < SETTINGS; i++)
        words[i] = "";
    int rc = tool_args_read_program(argc, argv, options, &program);
    if (!rc)
        rc = check(words + SETTINGS, program);
    if (rc)
        return rc;
    words[JSON] = json ? "json" : "";
    *end++ = "--";
    while (*program)
        *end++ = *program++;
    return 0;
}

int tool_compare(int argc, char **argv)
{
    const char **words = calloc((size_t)argc + SETTINGS + 2, sizeof(*words));
    int rc = words ? read_options(argc, argv, words) : tool_fail("out of memory"), count = 0;
    while (!rc && words[count])
        count++;
    if (!rc)
        rc = tool_python_exec("compare.py", count, (char **)words);
    free(words);
    return rc;
}
