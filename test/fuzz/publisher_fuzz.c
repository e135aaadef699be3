/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_common.h>

#include "input.h"
#include "plan/plan.h"
#include "pmix/server/publish.h"
#include "pmix/server/session.h"
#include "unit/machine.h"

/* slurmstepd, as root, is told by PMIx and by the environments the names of the step's namespace
 * and of its local ranks, and publishes a plan. The input is lines: the bytes of four numbers,
 * PMIx's version, the name that PMIx knows the step by, its local ranks, slurmstepd's two
 * variables, and the job's environment, a variable in each line.
 *
 * PMIx is this program: the plugin finds its functions by their names. */

enum { VARIABLES_MAX = 8, TASKS_MAX = 16, PLAN_TASKS = 2 };

static struct {
    char *numbers, *version, *nspace, *peers;
} pmix;

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value);
pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char *key, pmix_value_t *value);
int PMIx_Initialized(void);
const char *PMIx_Get_version(void);

int __wrap_setenv(const char *name, const char *value, int overwrite);

/* The linker replaces setenv(), which would take over the array of the input's variables. */
int __wrap_setenv(const char *name, const char *value, int overwrite)
{
    (void)name, (void)value, (void)overwrite;
    return fault_hits(FAULT_MEMORY, ENOMEM) ? -1 : 0;
}

static unsigned number_at(unsigned index)
{
    return index < strlen(pmix.numbers) ? (unsigned char)pmix.numbers[index] : 0;
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value)
{
    (void)info, (void)count, (void)key;
    if (strncmp(proc->nspace, pmix.nspace, PMIX_MAX_NSLEN))
        return PMIX_ERR_NOT_FOUND;
    *value = calloc(1, sizeof(**value));
    (*value)->type = number_at(0) & 1 ? PMIX_UINT32 : PMIX_STRING;
    if ((*value)->type == PMIX_STRING)
        (*value)->data.string = number_at(0) & 2 ? NULL : strdup(pmix.peers);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char *key, pmix_value_t *value)
{
    (void)proc, (void)key, (void)value;
    return PMIX_SUCCESS;
}

int PMIx_Initialized(void)
{
    return number_at(0) & 4 ? 0 : 1;
}

const char *PMIx_Get_version(void)
{
    return number_at(0) & 8 ? NULL : pmix.version;
}

/* A plan for two ranks with two threads each, all that a rank is told, and a machine for it. It is
 * made once, and stays. */
static const struct nuioa_publication *make_publication(void)
{
    static struct nuioa_node node;
    static struct nuioa_options options;
    static struct nuioa_plan plan;
    static struct nuioa_task tasks[PLAN_TASKS];
    static const struct nuioa_publication publication = { &plan, &node, &options, NULL, 0 };
    struct nuioa_error err;
    if (node.pu_count)
        return &publication;
    machine_quad(&node);
    for (unsigned i = 0; i < PLAN_TASKS; i++) {
        static const uint32_t gpus[PLAN_TASKS] = { 0, 1 };
        machine_nic(&node, i ? "mlx5_1" : "mlx5_0", i);
        machine_gpu(&node, i);
        hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
        INPUT_CHECK(!hwloc_bitmap_set_range(cpus, 4 * i, 4 * (int)i + 3));
        tasks[i] = (struct nuioa_task){ i, 1.0 + i, cpus, &gpus[i], 1, true };
    }
    nuioa_options_init(&options);
    options.mode = NUIOA_ON;
    nuioa_options_finish(&options);
    const struct nuioa_request request = {
        .node = &node,
        .options = &options,
        .task_count = PLAN_TASKS,
        .tasks = tasks,
        .hinted = true,
        .threads = 2,
    };
    INPUT_CHECK(!nuioa_plan_make(&request, &plan, &err));
    INPUT_CHECK(plan.assignments[0].place_count);
    return &publication;
}

static void publish(struct nuioa_publisher *publisher)
{
    struct nuioa_error err;
    fault_pause();
    const struct nuioa_publication *publication = make_publication();
    fault_resume();
    nuioa_publish_tasks(publisher, publication, &err);
    nuioa_publish_node(publisher, publication, &err);
}

static void use(char **environment)
{
    struct nuioa_namespaces namespaces;
    struct nuioa_publisher *publisher;
    struct nuioa_error err;
    uint32_t tasks = number_at(1) % TASKS_MAX;
    nuioa_namespaces_guess(&namespaces, number_at(0) & 16 ? NULL : environment, 7, number_at(2));
    INPUT_CHECK(namespaces.count && namespaces.count <= NUIOA_NAMESPACE_CANDIDATES);
    nuioa_publish_prepare(number_at(3) << 4, environment, &err);
    unsigned patience_ms = number_at(0) & 32 ? 10000 : 0;
    int rc = nuioa_publish_open(&namespaces, tasks, patience_ms, &publisher, &err);
    INPUT_CHECK((rc == 1) == (publisher != NULL));
    if (rc != 1)
        return;
    for (uint32_t i = 0; i < tasks; i++)
        INPUT_CHECK(nuioa_publish_ranks(publisher)[i] <= PMIX_RANK_VALID);
    session_has(publisher, PMIX_LOCAL_PEERS, PMIX_STRING);
    if (tasks == PLAN_TASKS)
        publish(publisher);
    nuioa_publish_close(publisher);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    char *own[3] = { NULL }, *environment[VARIABLES_MAX + 1], **before = environ;
    unsigned count = 0;
    pmix.numbers = input_line(&in);
    pmix.version = input_line(&in);
    pmix.nspace = input_line(&in);
    pmix.peers = input_line(&in);
    own[0] = input_line(&in);
    own[1] = input_line(&in);
    while (in.size && count < VARIABLES_MAX)
        environment[count++] = input_line(&in);
    environment[count] = NULL;
    environ = own;
    use(environment);
    environ = before;
    for (unsigned i = 0; i < count; i++)
        free(environment[i]);
    free(own[0]);
    free(own[1]);
    free(pmix.numbers);
    free(pmix.version);
    free(pmix.nspace);
    free(pmix.peers);
    return 0;
}
