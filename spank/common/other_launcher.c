/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/other_launcher.h"

#include <string.h>

#include "option/option_environment.h"
#include "spank/common/log.h"
#include "util/word.h"

#define BLANKS " \t\r;&|()[]{}<>=,\"'`$"

/* The names of a launcher, without what follows a dot (mpiexec.hydra), and what to type. */
static const struct {
    char name[12], options[44];
} launchers[] = {
    { "mpirun", "--bind-to none nuioa exec -- ./app" },
    { "mpiexec", "--bind-to none nuioa exec -- ./app" },
    { "orterun", "--bind-to none nuioa exec -- ./app" },
    { "prterun", "--bind-to none nuioa exec -- ./app" },
    { "torchrun", "--no_python nuioa exec -- python train.py" },
};

bool other_launcher_is_asked(char *const *environment)
{
    struct nuioa_options options;
    nuioa_options_init(&options);
    nuioa_options_from_environment(&options, environment, NULL);
    return options.asked && options.mode != NUIOA_OFF;
}

static bool advise_on(const char *word)
{
    const char *slash = strrchr(word, '/');
    const char *name = slash ? slash + 1 : word;
    size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
        if (strlen(launchers[i].name) != length || strncmp(launchers[i].name, name, length))
            continue;
        log_line("ranks that %.40s starts are not placed: use srun, or %.40s %s", name, name,
                 launchers[i].options);
        return true;
    }
    return false;
}

void other_launcher_advise(char *script)
{
    char *line, *word;
    if (strstr(script, "nuioa exec"))
        return;
    while ((line = nuioa_next_word(&script, "\n"))) {
        line += strspn(line, " \t");
        while (*line != '#' && (word = nuioa_next_word(&line, BLANKS)))
            if (advise_on(word))
                return;
    }
}
