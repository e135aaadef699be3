/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/tool.h"
#include "util/subprocess.h"

static const char usage[] =
    "usage: nuioa COMMAND [OPTION]...\n"
    "\n"
    "  topo     print what this node is: NUMA nodes, NICs, distances, the source of each fact\n"
    "  plan     print where the ranks of one node would run, with which NIC, and who would lead\n"
    "  exec     start a program where its rank belongs, without the plugin, with any launcher\n"
    "  traffic  run a command, and print what the NICs of its node carried meanwhile\n"
    "  probe    measure how far NUMA nodes are from each other, and find the links between them\n"
    "  compare  run a program without and with nuioa, and say whether it is faster\n"
    "  profile  summarise what the ranks of a job communicate, and convert it to other formats\n"
    "  doctor   find what on this node keeps ranks from their NIC, and say what to do\n"
    "  cache    keep the description of this node in a file, so that launches are faster\n"
    "\n"
    "nuioa help COMMAND shows a manual, nuioa COMMAND --help prints the options.\n"
    "Exit status: 0 done, 1 the question could not be answered, 2 wrong usage; exec, traffic: the\n"
    "program's.\n";

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "topo", tool_topo },   { "plan", tool_plan },       { "exec", tool_exec },
    { "probe", tool_probe }, { "profile", tool_profile }, { "doctor", tool_doctor },
    { "cache", tool_cache }, { "compare", tool_compare }, { "traffic", tool_traffic },
};

/* Writes the names of all commands, and returns `text`. */
static const char *list_names(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", commands[i].name);
    return text;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (!strcmp(name, commands[i].name))
            return &commands[i];
    return NULL;
}

/* Becomes man(1), which writes to `fd` where the manual `page` is. */
static void ask_for_page(int fd, void *page)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 2) >= 0 && dup2(fd, 1) >= 0)
        execlp("man", "man", "-w", "1", (const char *)page, NULL);
}

static bool has_page(char *page)
{
    void *path = NULL;
    size_t length = 0;
    bool is_there =
        !nuioa_subprocess_run(ask_for_page, page, 2000, 1 << 16, &path, &length) && length;
    free(path);
    return is_there;
}

/* On a terminal becomes man(1) with the manual of the command. Elsewhere, as in a script or a pipe,
 * and where there is no manual, prints the options. */
static int show_help(const struct command *command)
{
    char page[32], name[16], help[] = "--help";
    snprintf(page, sizeof(page), "nuioa-%s", command->name);
    if (isatty(STDOUT_FILENO) && has_page(page))
        execlp("man", "man", "1", page, NULL);
    snprintf(name, sizeof(name), "%s", command->name);
    return command->run(2, (char *[]){ name, help, NULL });
}

static int run(int argc, char **argv)
{
    char names[128];
    const char *word = argc > 1 ? argv[1] : "";
    const struct command *command = find(word);
    if (command)
        return command->run(argc - 1, argv + 1);
    if (is_one_of(word, "help", "--help", "-h")) {
        command = argc > 2 ? find(argv[2]) : NULL;
        if (command)
            return show_help(command);
        if (argc > 2)
            return tool_usage(NULL, "'%.40s' is not one of %s", argv[2],
                              list_names(names, sizeof(names)));
        fputs(usage, stdout);
        return TOOL_DONE;
    }
    if (is_one_of(word, "version", "--version", "-v")) {
        puts("nuioa " VERSION);
        return TOOL_DONE;
    }
    if (!*word)
        return tool_usage(NULL, "a command is missing: %s", list_names(names, sizeof(names)));
    return tool_usage(NULL, "'%.40s' is not one of %s", word, list_names(names, sizeof(names)));
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);
    /* A result that could not be written, on a full disk for example, is an error. */
    if (fflush(stdout) || ferror(stdout))
        return tool_fail("standard output: %s", strerror(errno));
    return status == TOOL_HELPED ? TOOL_DONE : status;
}
