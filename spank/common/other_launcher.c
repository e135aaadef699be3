/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/other_launcher.h"

#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option/option_environment.h"
#include "spank/common/log.h"
#include "spank/common/slurm_compat.h"
#include "spank/common/step.h"
#include "util/sysfs.h"
#include "util/word.h"

#define SCRIPT_MAX (64 << 10)
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

/* sbatch and salloc --nuioa set SLURM_NUIOA. */
static bool is_asked(char *const *environment)
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

/* `script` is a shell script, or the words of a command; NULL: nothing is said. */
static void advise(char *script)
{
    char *line, *word;
    if (!script || strstr(script, "nuioa exec"))
        return;
    while ((line = nuioa_next_word(&script, "\n"))) {
        line += strspn(line, " \t");
        while (*line != '#' && (word = nuioa_next_word(&line, BLANKS)))
            if (advise_on(word))
                return;
    }
}

void other_launcher_in_salloc(void)
{
    char shell[] = "mpirun";
    char *command = is_asked(environ) ? slurm_compat_salloc_command() : NULL;
    advise(command && !*command ? shell : command);
    free(command);
}

void other_launcher_in_batch(spank_t spank)
{
    uint32_t id;
    const char *path = step_program(spank);
    if (spank_get_item(spank, S_JOB_STEPID, &id) != ESPANK_SUCCESS || id != SLURM_BATCH_SCRIPT ||
        !is_asked(step_environment(spank)) || !path)
        return;
    char *script = nuioa_sysfs_lines(AT_FDCWD, SCRIPT_MAX, "%s", path);
    advise(script);
    free(script);
}
