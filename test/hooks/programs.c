/* SPDX-License-Identifier: BSD-3-Clause */
#include "programs.h"

#include <dirent.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"
#include "stand_in.h"
#include "state.h"

extern spank_f slurm_spank_init, slurm_spank_init_post_opt, slurm_spank_local_user_init,
    slurm_spank_user_init, slurm_spank_task_post_fork, slurm_spank_task_init, slurm_spank_task_exit,
    slurm_spank_exit;

static struct program *program;
static struct state before;
static char *arguments[WORDS_MAX + 3];
static int argument_count;

/* --- common ----------------------------------------------------------------------------------- */

static void fail(const char *text)
{
    size_t used = strlen(program->left);
    snprintf(program->left + used, sizeof(program->left) - used, "%s; ", text);
}

static void call(spank_f *hook, const char *name)
{
    if (hook(NULL, argument_count, arguments) != ESPANK_SUCCESS)
        fail(name);
}

/* "DIR" in a value stands for the directory of the test. malloc'd, caller frees. */
static char *fill_in(const char *setting)
{
    const char *at = strstr(setting, "DIR/");
    char *text;
    if (asprintf(&text, "%.*s%s%s", at ? (int)(at - setting) : 0, setting,
                 at ? stand_in_directory : "", at ? at + 3 : setting) < 0)
        abort();
    return text;
}

static void add_argument(const char *format, const char *name)
{
    if (asprintf(&arguments[argument_count++], format, stand_in_directory, name) < 0)
        abort();
}

static void read_arguments(const struct role *role)
{
    const struct variant *v = role->variant;
    char cache[32];
    snprintf(cache, sizeof(cache), "%sn%u.cache", v->gpus ? "gpu-" : "", stand_in.node);
    for (unsigned i = 0; i < WORDS_MAX && v->plugstack[i]; i++)
        arguments[argument_count++] = fill_in(v->plugstack[i]);
    if (role->program == PROGRAM_SLURMD)
        add_argument("cache=%s/%s", "slurmd.cache");
    else
        add_argument("cache=%s/%s", v->no_cache ? "none.cache" : cache);
}

static void begin(const struct role *role, spank_context_t context)
{
    program = &role->launch->programs[role->program];
    program->begun = true;
    stand_in.context = context;
    stand_in.variant = role->variant;
    read_arguments(role);
    state_read(&before);
    fault_begin(&role->plan, &program->counts);
}

static void end(void)
{
    size_t used = strlen(program->left);
    fault_end();
    state_compare(&before, program->left + used, sizeof(program->left) - used);
    used = strlen(program->left);
    ledger_read(program->left + used, sizeof(program->left) - used);
    program->ended = true;
    exit(0);
}

static void become_user(void)
{
    if (getuid() || !stand_in.uid)
        return;
    if (setgroups(0, NULL) < 0 || setresgid(stand_in.uid, stand_in.uid, stand_in.uid) < 0 ||
        setresuid(stand_in.uid, stand_in.uid, stand_in.uid) < 0)
        abort();
}

static void type_flags(const struct variant *v)
{
    for (unsigned i = 0; i < WORDS_MAX && v->flags[i]; i++) {
        fault_pause();
        char *flag = fill_in(v->flags[i]);
        fault_resume();
        stand_in_type(flag);
        fault_pause();
        free(flag);
        fault_resume();
    }
}

/* --- environments between programs ------------------------------------------------------------ */

/* Keeps the process's variables as lines. */
static void keep_environment(struct launch *launch)
{
    size_t used = 0;
    for (char **v = environ; v && *v; v++)
        used += (size_t)snprintf(launch->environment + used, sizeof(launch->environment) - used,
                                 "%s\n", *v);
}

/* Sets a variable of this process from "NAME=value", which it takes and frees. putenv() would keep
 * the memory, which leaks when the plugin sets or removes the variable. */
static void put_variable(char *setting)
{
    char *value = strchr(setting, '=');
    *value++ = '\0';
    if (setenv(setting, value, 1) < 0)
        abort();
    free(setting);
}

static char *next_line(char **text)
{
    return strsep(text, "\n");
}

static void take_environment(const struct launch *launch, bool step)
{
    char *text = strdup(launch->environment), *at = text;
    for (char *line; text && (line = next_line(&at)) && *line;)
        if (step)
            stand_in_put(line);
        else
            put_variable(strdup(line));
    free(text);
}

static void begin_environment(const struct role *role)
{
    const struct variant *v = role->variant;
    clearenv();
    setenv("PATH", "/usr/bin:/bin", 1);
    for (unsigned i = 0; i < WORDS_MAX && v->environment[i]; i++)
        put_variable(fill_in(v->environment[i]));
}

/* --- slurmd, salloc, srun --------------------------------------------------------------------- */

void program_slurmd(const struct role *role)
{
    begin(role, S_CTX_SLURMD);
    call(slurm_spank_init, "init");
    call(slurm_spank_exit, "exit");
    end();
}

void program_allocator(const struct role *role)
{
    begin_environment(role);
    become_user();
    begin(role, S_CTX_ALLOCATOR);
    call(slurm_spank_init, "init");
    type_flags(role->variant);
    call(slurm_spank_init_post_opt, "init_post_opt");
    call(slurm_spank_exit, "exit");
    fault_end();
    keep_environment(role->launch);
    end();
}

/* The commands and hooks of srun until the tasks are launched. */
static void srun_begin(const struct role *role)
{
    const struct variant *v = role->variant;
    unsigned components = v->heterogeneous ? v->nodes : 1;
    call(slurm_spank_init, "init");
    if (!v->allocator)
        type_flags(v);
    for (unsigned i = 0; i < components; i++)
        call(slurm_spank_init_post_opt, "init_post_opt");
    for (unsigned i = 0; i < components; i++) {
        stand_in.node = v->heterogeneous ? i : 0;
        call(slurm_spank_local_user_init, "local_user_init");
    }
}

/* Returns when the signal, SIGKILL or SIGSTOP, has had its effect. */
static void signal_children(int number)
{
    char path[64];
    int pid;
    siginfo_t info;
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", gettid());
    fault_pause();
    FILE *children = fopen(path, "re");
    while (children && fscanf(children, "%d", &pid) == 1)
        if (!kill(pid, number))
            waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT);
    if (children)
        fclose(children);
    fault_resume();
}

void program_srun(const struct role *role)
{
    char byte = 0;
    begin_environment(role);
    if (role->variant->allocator)
        take_environment(role->launch, false);
    become_user();
    begin(role, S_CTX_LOCAL);
    if (!role->variant->bare_srun)
        srun_begin(role);
    if (role->variant->silent_srun)
        signal_children(SIGSTOP);
    fault_pause();
    keep_environment(role->launch);
    if (write(role->ready, &byte, 1) != 1 || read(role->end, &byte, 1) != 0)
        abort();
    fault_resume();
    if (!role->variant->bare_srun)
        call(slurm_spank_exit, "exit");
    end();
}

/* --- slurmstepd ------------------------------------------------------------------------------- */

static spank_f *contained_hook;
static const char *contained_name;

static int in_container(void *arg)
{
    (void)arg;
    call(contained_hook, contained_name);
    syscall(SYS_exit_group, 0);
    return 0;
}

/* With contain_spank Slurm calls some hooks in a process that shares slurmstepd's memory. */
static void call_contained(const struct variant *v, spank_f *hook, const char *name)
{
    enum { STACK = 1 << 20 };
    int status;
    if (!v->contained) {
        call(hook, name);
        return;
    }
    fault_pause();
    char *stack =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    fault_resume();
    contained_hook = hook;
    contained_name = name;
    pid_t pid = clone(in_container, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        fail("the process of contain_spank died");
    munmap(stack, STACK);
}

static void set_number(const char *name, unsigned value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    stand_in_set(name, text);
}

/* The variables that Slurm gives to a step. */
static void set_step(const struct variant *v)
{
    char text[64];
    set_number("SLURM_JOB_ID", JOB);
    set_number("SLURM_STEP_NUM_NODES", v->nodes);
    set_number("SLURM_STEP_NUM_TASKS", v->nodes * variant_tasks(v));
    stand_in_set("SLURM_SRUN_COMM_HOST", "127.0.0.1");
    stand_in_set("SLURM_SRUN_COMM_PORT", "40000");
    snprintf(text, sizeof(text), "n[0-%u]", v->nodes - 1);
    stand_in_set("SLURM_STEP_NODELIST", text);
    snprintf(text, sizeof(text), "%u(x%u)", variant_tasks(v), v->nodes);
    stand_in_set("SLURM_STEP_TASKS_PER_NODE", text);
    for (unsigned i = 0; i < WORDS_MAX && v->step[i]; i++)
        stand_in_put(v->step[i]);
}

/* Whether a variable may be of interest to a test. */
static void keep_task(const struct role *role, unsigned local)
{
    struct task *task = &role->launch->tasks[stand_in.node][local];
    size_t used = 0;
    cpu_set_t now;
    CPU_ZERO(&now);
    sched_getaffinity(0, sizeof(now), &now);
    place_cpus_text(&now, task->cpus, sizeof(task->cpus));
    for (char **v = stand_in.environment; *v && used < sizeof(task->environment); v++)
        used += (size_t)snprintf(task->environment + used, sizeof(task->environment) - used, "%s\n",
                                 *v);
    task->ended = true;
}

static void run_task(const struct role *role, unsigned local, int go)
{
    char byte;
    static struct state at_start;
    struct program *tasks = &role->launch->programs[PROGRAM_TASKS];
    fault_pause();
    dup2(role->task_stderr, STDERR_FILENO);
    tasks->begun = true;
    stand_in.task = (int)local;
    stand_in.pid = getpid();
    if (read(go, &byte, 1) != 0)
        abort();
    become_user();
    state_read(&at_start);
    fault_resume();
    fault_begin(&role->task_plan, &tasks->counts);
    program = tasks;
    call(slurm_spank_task_init, "task_init");
    fault_end();
    memcpy(at_start.fds, before.fds, sizeof(at_start.fds));
    at_start.fds[go] = 1;
    char left[256] = "";
    state_compare_task(&at_start, left, sizeof(left));
    if (*left)
        fail(left);
    keep_task(role, local);
    _exit(0);
}

static void bind_as_slurm(const struct role *role, unsigned local, pid_t pid)
{
    unsigned width = variant_width(role->variant);
    struct task *task = &role->launch->tasks[stand_in.node][local];
    cpu_set_t set;
    CPU_ZERO(&set);
    for (unsigned i = 0; i < width; i++)
        CPU_SET(place_cpu(local * width + i), &set);
    sched_setaffinity(pid, sizeof(set), &set);
    place_cpus_text(&set, task->before, sizeof(task->before));
}

/* Returns true if another thread of this process does not sleep. */
static bool others_run(void)
{
    char path[64], text[512];
    bool run = false;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads && !run && (entry = readdir(threads));) {
        snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", entry->d_name);
        FILE *file =
            *entry->d_name == '.' || atoi(entry->d_name) == gettid() ? NULL : fopen(path, "re");
        const char *state = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
        run = state && state[1] && state[2] != 'S';
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return run;
}

/* A child has the locks of the address sanitizer (GCC 12) as they are in that moment: one that
 * another thread holds is never released there. glibc's own are. */
static void let_threads_rest(void)
{
#ifdef __SANITIZE_ADDRESS__
    for (int i = 0, quiet = 0; i < 2000 && quiet < 2; i++) {
        quiet = others_run() ? 0 : quiet + 1;
        usleep(500);
    }
#else
    (void)others_run;
#endif
}

static void run_tasks(const struct role *role)
{
    unsigned count = variant_tasks(role->variant);
    pid_t pids[TASKS_MAX], last;
    int go[2], status;
    fault_pause();
    let_threads_rest();
    if (pipe(go) < 0)
        abort();
    for (unsigned i = 0; i < count; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            close(go[1]);
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* its parent has a limit */
            fault_resume();
            run_task(role, i, go[0]);
        }
    }
    close(go[0]);
    for (unsigned i = 0; i < count; i++) {
        bind_as_slurm(role, i, pids[i]);
        stand_in.task = (int)i;
        stand_in.pid = pids[i];
        fault_resume();
        call_contained(role->variant, slurm_spank_task_post_fork, "task_post_fork");
        fault_pause();
    }
    stand_in.task = -1;
    close(go[1]);
    for (unsigned i = 0; i < count; i++) {
        if (waitpid(pids[i], &status, 0) != pids[i] || status)
            fail("a task died");
        stand_in.task = (int)i;
        stand_in.pid = pids[i];
        fault_resume();
        call_contained(role->variant, slurm_spank_task_exit, "task_exit");
        fault_pause();
    }
    stand_in.task = -1;
    /* Then Slurm waits a second or more for each child that is left. */
    while ((last = waitpid(-1, &status, WNOHANG)) > 0)
        ;
    if (last == 0 && !role->plan.number && !role->task_plan.number)
        fail("when all tasks have ended, a child lives");
    fault_resume();
}

void program_stepd(const struct role *role)
{
    const struct variant *v = role->variant;
    clearenv();
    setenv("PMIX_SERVER_TMPDIR", "/var/spool/slurmd/pmix.1000.3/", 1);
    stand_in.node = (unsigned)(role->program - PROGRAM_STEPD);
    stand_in.variant = v;
    take_environment(role->launch, true);
    set_step(v);
    begin(role, S_CTX_REMOTE);
    call(slurm_spank_init, "init");
    if (!v->allocator)
        type_flags(v);
    call(slurm_spank_init_post_opt, "init_post_opt");
    if (v->sender_signal)
        signal_children(v->sender_signal);
    stand_in.pmix_runs = true;
    if (!getuid() && seteuid(stand_in.uid) < 0)
        abort();
    call_contained(v, slurm_spank_user_init, "user_init");
    if (!getuid() && seteuid(0) < 0)
        abort();
    if (!v->no_tasks)
        run_tasks(role);
    call(slurm_spank_exit, "exit");
    end();
}
