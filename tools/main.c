/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/cache.h"
#include "tools/doctor.h"
#include "tools/plan.h"
#include "tools/probe.h"
#include "tools/profile.h"
#include "tools/tool.h"
#include "tools/topo.h"

static const char usage[] =
    "usage: nuioa COMMAND [OPTION]...\n"
    "\n"
    "  topo     what this node is: NUMA nodes, NICs, distances, and where each fact came from\n"
    "  plan     where the ranks of a job would run, which NIC each would use, who would lead\n"
    "  probe    how far the NUMA nodes really are from each other, measured; the links between "
    "them\n"
    "  profile  what the ranks of a job communicate; formats of other programs, shares off the "
    "node\n"
    "  doctor   what on this node keeps ranks from their network, why, and what to do\n"
    "  cache    keep the description of this node, so that launches need not find it out\n"
    "\n"
    "nuioa COMMAND --help says more; so does nuioa(1).\n"
    "Exit status: 0 done, 1 the question could not be answered, 2 wrong usage.\n";

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "topo", tool_topo },       { "plan", tool_plan },     { "probe", tool_probe },
    { "profile", tool_profile }, { "doctor", tool_doctor }, { "cache", tool_cache },
};

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        fputs(usage, stdout);
        return TOOL_DONE;
    }
    if (!strcmp(word, "--version")) {
        puts("nuioa " VERSION);
        return TOOL_DONE;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (!strcmp(word, commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    if (!*word)
        return tool_usage(NULL, "a command is missing");
    return tool_usage(NULL, "'%.40s' is not a command", word);
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);
    /* A result that could not be written, on a full disk for example, is an error. */
    if (fflush(stdout) || ferror(stdout))
        return tool_fail("standard output: %s", strerror(errno));
    return status;
}
