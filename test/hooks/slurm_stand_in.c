/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "option/option.h"
#include "stand_in.h"

struct stand_in stand_in = { .task = -1 };
char stand_in_directory[64];

/* --- the environment of the step -------------------------------------------------------------- */

static char **find(const char *name, size_t length)
{
    char **at = stand_in.environment;
    while (*at && (strncmp(*at, name, length) || (*at)[length] != '='))
        at++;
    return at;
}

void stand_in_set(const char *name, const char *value)
{
    char **at = find(name, strlen(name)), *was = *at;
    if (at - stand_in.environment >= VARIABLES_MAX - 1)
        abort();
    fault_pause();
    if (asprintf(at, "%s=%s", name, value) < 0)
        abort();
    free(was);
    fault_resume();
}

void stand_in_put(const char *setting)
{
    char name[128] = "";
    size_t length = strcspn(setting, "=");
    memcpy(name, setting, length < sizeof(name) ? length : sizeof(name) - 1);
    stand_in_set(name, setting + length + 1);
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
    (void)spank;
    if (fault_hits(FAULT_SLURM, 0))
        return ESPANK_NOSPACE;
    if (!overwrite && *find(name, strlen(name)))
        return ESPANK_ENV_EXISTS;
    stand_in_set(name, value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
    (void)spank;
    if (fault_hits(FAULT_SLURM, 0))
        return ESPANK_ERROR;
    char **at = find(name, strlen(name));
    if (!*at)
        return ESPANK_ENV_NOEXIST;
    fault_pause();
    free(*at);
    fault_resume();
    for (; *at; at++)
        at[0] = at[1];
    return ESPANK_SUCCESS;
}

/* --- items ------------------------------------------------------------------------------------ */

static const char *cores(const struct variant *v)
{
    static char all[32];
    snprintf(all, sizeof(all), "0-%u", v->tasks ? v->tasks - 1 : 1);
    return v->cores ? v->cores : all;
}

/* An array of the process: the plugin does not keep it. */
static void get_argv(int *argc, char ***argv)
{
    static char *words[2];
    const char *program = stand_in.variant->program;
    words[0] = (char *)(program ? program : "/bin/app");
    *argc = 1;
    *argv = words;
}

static spank_err_t get_number(spank_item_t item, uint32_t *to)
{
    const struct variant *v = stand_in.variant;
    unsigned tasks = variant_tasks(v), first = v->heterogeneous ? 0 : stand_in.node * tasks;
    bool alone = v->heterogeneous;
    switch (item) {
    case S_JOB_UID:
    case S_JOB_GID: *to = stand_in.uid; break;
    case S_JOB_ID: *to = JOB + (alone ? stand_in.node : 0); break;
    case S_JOB_STEPID: *to = v->batch ? 0xfffffffbu : STEP; break;
    case S_JOB_NNODES: *to = alone ? 1 : v->nodes; break;
    case S_JOB_NODEID: *to = alone ? 0 : stand_in.node; break;
    case S_JOB_LOCAL_TASK_COUNT: *to = tasks; break;
    case S_JOB_TOTAL_TASK_COUNT: *to = alone ? tasks : tasks * v->nodes; break;
    case S_STEP_CPUS_PER_TASK: *to = variant_width(v); break;
    case S_TASK_ID:
    case S_TASK_PID:
        if (stand_in.task < 0)
            return ESPANK_NOT_TASK;
        *to = (uint32_t)(item == S_TASK_ID ? stand_in.task : stand_in.pid);
        break;
    case S_TASK_GLOBAL_ID: *to = first + (unsigned)stand_in.task; break;
    default: return ESPANK_BAD_ARG;
    }
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    va_list args;
    spank_err_t rc = ESPANK_SUCCESS;
    (void)spank;
    if (fault_hits(FAULT_SLURM, 0))
        return ESPANK_ERROR;
    va_start(args, item);
    void *first = va_arg(args, void *);
    if (item == S_JOB_ARGV) {
        get_argv(first, va_arg(args, char ***));
    } else if (item == S_JOB_ENV) {
        *(char ***)first = stand_in.environment;
    } else if (item == S_JOB_SUPPLEMENTARY_GIDS) {
        static gid_t groups[] = { 4711, 4712 };
        *(gid_t **)first = groups;
        *va_arg(args, int *) = 2;
    } else if (item == S_STEP_ALLOC_CORES) {
        *(const char **)first = cores(stand_in.variant);
    } else if (item == S_JOB_LOCAL_TO_GLOBAL_ID) {
        va_end(args);
        va_start(args, item);
        uint32_t local = va_arg(args, uint32_t);
        unsigned before = stand_in.variant->heterogeneous ? 0 : stand_in.node;
        *va_arg(args, uint32_t *) = before * variant_tasks(stand_in.variant) + local;
    } else {
        rc = get_number(item, first);
    }
    va_end(args);
    return rc;
}

spank_context_t spank_context(void)
{
    return stand_in.context;
}

/* --- flags ------------------------------------------------------------------------------------ */

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
    (void)spank;
    if (fault_hits(FAULT_SLURM, 0))
        return ESPANK_NOSPACE;
    stand_in.option_callback = option->cb;
    return ESPANK_SUCCESS;
}

/* Nothing here hands flags from salloc to srun but the environment. */
spank_err_t spank_job_control_unsetenv(spank_t spank, const char *name)
{
    (void)spank, (void)name;
    return fault_hits(FAULT_SLURM, 0) ? ESPANK_BAD_ARG : ESPANK_SUCCESS;
}

void stand_in_type(const char *flag)
{
    const char *value = strchr(flag, '=');
    size_t length = value ? (size_t)(value - flag) : strlen(flag);
    for (int i = 0; *nuioa_option_table[i].name && stand_in.option_callback; i++) {
        char text[64];
        const char *name =
            nuioa_option_spelling(&nuioa_option_table[i], NUIOA_FROM_COMMAND, text, sizeof(text)) +
            2;
        if (strlen(name) == length && !strncmp(name, flag, length))
            stand_in.option_callback(i, value ? value + 1 : NULL, stand_in.context == S_CTX_REMOTE);
    }
}

/* --- messages --------------------------------------------------------------------------------- */

/* Returns true if slurmstepd's signals can come to this thread, which is not Slurm's. */
static bool takes_signals(void)
{
    sigset_t blocked;
    if (stand_in.context != S_CTX_REMOTE || gettid() == getpid())
        return false;
    return pthread_sigmask(SIG_BLOCK, NULL, &blocked) || !sigismember(&blocked, SIGTERM) ||
           !sigismember(&blocked, SIGCHLD);
}

/* Messages to the user begin with "user: ", others with "log: ". */
static void say(const char *whom, const char *format, va_list args)
{
    char line[1024];
    fault_pause();
    if (takes_signals()) {
        whom = "user";
        format = "a thread of the plugin takes signals";
    }
    int length = snprintf(line, sizeof(line), "%s: ", whom);
    length += vsnprintf(line + length, sizeof(line) - 1 - (size_t)length, format, args);
    if ((size_t)length > sizeof(line) - 2)
        length = sizeof(line) - 2;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        abort();
    fault_resume();
}

#define SAY(name, whom) \
    void name(const char *format, ...) \
    { \
        va_list args; \
        va_start(args, format); \
        say(whom, format, args); \
        va_end(args); \
    }
SAY(slurm_spank_log, "user")
SAY(slurm_error, "log")
SAY(slurm_info, "log")
SAY(slurm_verbose, "log")
SAY(slurm_debug, "log")

uint16_t *slurm_get_srun_port_range(void);
uint16_t *slurm_get_srun_port_range(void)
{
    static uint16_t few[2] = { 60001, 60004 };
    return stand_in.variant->few_ports ? few : NULL;
}

/* --- places ----------------------------------------------------------------------------------- */

const char *stand_in_host(void)
{
    static char name[16];
    snprintf(name, sizeof(name), "n%u.cluster", stand_in.node);
    return name;
}

const char *stand_in_path(const char *path, char *other, size_t size)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (!*stand_in_directory)
        return path;
    if (!strncmp(path, "/sys/", 5) || !strcmp(path, "/"))
        snprintf(other, size, "%s%s", stand_in_directory, path);
    else if (!strncmp(path, "/proc/", 6) && !strcmp(name, "cgroup"))
        snprintf(other, size, "%s/proc/cgroup%d", stand_in_directory,
                 stand_in.variant->outside   ? 3
                 : stand_in.variant->cgroup2 ? 2
                                             : 1);
    else if (!strcmp(name, "libnuioa-preload.so"))
        snprintf(other, size, "%s/%s", stand_in_directory,
                 stand_in.variant->no_shim ? "none" : "shim");
    else
        return path;
    return other;
}
