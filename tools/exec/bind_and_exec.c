/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/bind_and_exec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/environment.h"
#include "output/exported.h"
#include "output/library_choice.h"
#include "output/user_variables.h"
#include "plan/bind.h"
#include "tools/exports.h"
#include "tools/tool.h"
#include "ranks/rank_id.h"
#include "util/variable.h"
#include "util/word.h"

#define BLOCK_SIZE (64 << 10)

enum { NOT_STARTED = 126, NOT_FOUND = 127 }; /* exit status, as that of env(1) */

int exec_bind(const struct exec_plan *e)
{
    const struct nuioa_assignment *own = &e->plan.assignments[e->input->place.local];
    char list[128];
    if (e->stays || !own->moved)
        return 0;
    hwloc_bitmap_t got = hwloc_bitmap_alloc();
    int rc = got ? nuioa_bind_cpus(0, own->cpus) : -1;
    if (!rc)
        rc = nuioa_bind_read(0, got);
    if (!rc && !hwloc_bitmap_isequal(got, own->cpus))
        rc = -1;
    if (rc) {
        nuioa_bind_cpus(0, e->input->cpus.own);
        hwloc_bitmap_list_snprintf(list, sizeof(list), own->cpus);
        rc = tool_fail("local rank %u may not run on all of CPUs %s: its CPUs stay",
                       e->input->place.local, list);
    }
    hwloc_bitmap_free(got);
    return rc;
}

void exec_unset_outer(void)
{
    nuioa_exported_forget();
    for (int i = 0; *nuioa_environment_names[i]; i++)
        unsetenv(nuioa_environment_names[i]);
}

/* The variables of nuioa replace what is set. */
static void set_ours(const char *block)
{
    char name[64];
    const char *value;
    while ((value = nuioa_block_next(&block, name, sizeof(name))))
        setenv(name, value, 1);
}

/* Those that other programs read do not. They are noted. */
static void set_others(const char *block, struct nuioa_exported *exported)
{
    char name[64];
    const char *value;
    while ((value = nuioa_block_next(&block, name, sizeof(name))))
        if (!nuioa_variable(environ, name) && !nuioa_is_set_otherwise(environ, name) &&
            nuioa_exported_add(exported, name, value))
            setenv(name, value, 1);
}

/* Says of whom the variables are, for libnuioa-client. */
static void set_rank_id(const struct exec_plan *e)
{
    char id[NUIOA_RANK_ID_SIZE];
    nuioa_rank_id(environ, id);
    if (e->input->options.export_set & NUIOA_EXPORT_ENV)
        setenv("NUIOA_EXEC", id, 1);
}

char *exec_exports(const struct exec_plan *e, const char *program, bool shown)
{
    enum tool_exports_check check = TOOL_EXPORTS_HERE;
    if (!exec_plan_filters(e))
        return calloc(1, 1);
    if (e->node.emulated)
        check = shown ? TOOL_EXPORTS_THERE : TOOL_EXPORTS_WORDS;
    else if (nuioa_library_is_wrapper(environ, program))
        check = TOOL_EXPORTS_WORDS;
    return tool_exports_of(&e->plan, &e->node, &e->input->options, e->input->place.local, check);
}

/* Takes the plugin's answer back, and what it has set for other libraries, but not what places
 * threads, because the process stays where it is. Notes that in *kept. */
static void forget_nics(struct nuioa_exported *kept)
{
    static const char *const ours[] = { "NUIOA_NIC", "NUIOA_NICS", "NUIOA_GPUS", "NUIOA_LEVEL",
                                        "NUIOA_GPU_NICS" };
    static const char *const threads[] = { "OMP_PLACES", "OMP_PROC_BIND",
                                           "MPIR_CVAR_PROGRESS_THREAD_AFFINITY",
                                           "I_MPI_ASYNC_PROGRESS_PIN" };
    char names[2048], *rest = nuioa_exported_outer(environ, names, sizeof(names)), *name;
    for (unsigned i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        unsetenv(ours[i]);
    while ((name = nuioa_next_word(&rest, " "))) {
        bool keeps = false;
        for (unsigned i = 0; i < sizeof(threads) / sizeof(*threads); i++)
            keeps = keeps || !strcmp(name, threads[i]);
        if (!keeps || !nuioa_exported_add(kept, name, nuioa_variable(environ, name)))
            unsetenv(name);
    }
}

/* Sets all variables, or with e->retold those that depend on the NICs only. *exported has those of
 * other programs that were set before, and gets these, too. */
static void set_variables(const struct exec_plan *e, const char *program,
                          struct nuioa_exported *exported)
{
    const struct nuioa_options *o = &e->input->options;
    uint32_t local = e->input->place.local;
    char *block = malloc(BLOCK_SIZE);
    if (!block)
        return;
    bool threads = !e->retold && !nuioa_threads_are_placed(environ);
    int rc = e->retold ? nuioa_environment_nics(&e->plan.assignments[local], &e->node, o, block,
                                                BLOCK_SIZE)
                       : nuioa_environment(&e->plan, &e->node, o, local, block, BLOCK_SIZE);
    if (rc >= 0)
        set_ours(block);
    set_rank_id(e);
    char *exports = exec_exports(e, program, false);
    if (exports)
        set_others(exports, exported);
    free(exports);
    if (threads && nuioa_environment_threads(&e->plan, local, nuioa_omp_threads(environ), block,
                                             BLOCK_SIZE) >= 0)
        set_others(block, exported);
    if (*exported->names) { /* says for an inner step what has been set */
        setenv("NUIOA_EXPORTED", exported->names, 1);
        setenv(NUIOA_VARIABLE_EXPORTED, exported->values, 1);
    }
    free(block);
}

void exec_apply(struct exec_plan *e, const char *program)
{
    struct nuioa_exported exported = { "", "" };
    struct nuioa_mempolicy memory;
    if (e->retold)
        forget_nics(&exported);
    set_variables(e, program, &exported);
    if (e->retold)
        return;
    int rc = nuioa_mempolicy_of(&e->plan.assignments[e->input->place.local], &memory);
    if (!rc)
        rc = nuioa_bind_memory(&memory);
    if (rc)
        nuioa_warn(&e->warnings, "the memory of local rank %u stays as it was: %s",
                   e->input->place.local, strerror(-rc));
}

int exec_become(char **program)
{
    fflush(NULL);
    execvp(program[0], program);
    int why = errno;
    tool_fail("%s: %s", program[0], strerror(why));
    return why == ENOENT ? NOT_FOUND : NOT_STARTED;
}
