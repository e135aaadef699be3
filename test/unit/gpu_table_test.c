/* SPDX-License-Identifier: BSD-3-Clause */

/* Tests the table of the NICs of each GPU, while somebody else writes into it. */

#include <pthread.h>

#include "nics/nic_table.h"
#include "rounds.h"
#include "spank/stepd/gpu_table.h"
#include "spank/stepd/task_gpus.h"
#include "spank/task/gpu_nics_lookup.h"
#include "unit.h"

#define NICS 15
#define ROUNDS 20000

/* A count with which the next NIC of any row is behind the table, and still in the memory. */
#define FORGED ((uint32_t)(sizeof(((struct task_memory *)NULL)->table) / (sizeof(uint32_t))))

static uint32_t nics[NICS];
static struct nuioa_assignment assignments[TASK_GPUS_MAX];

/* Each GPU uses all NICs. */
int nuioa_nic_table_make(const struct nuioa_request *request, struct nuioa_nic_table *table)
{
    (void)request;
    for (uint32_t i = 0; i < TASK_GPUS_MAX; i++)
        assignments[i] = (struct nuioa_assignment){ .nics = nics, .nic_count = NICS };
    *table = (struct nuioa_nic_table){ .gpu_count = TASK_GPUS_MAX, .gpus = assignments };
    return 0;
}

bool task_gpus_open(const struct step_run *c, uint32_t local)
{
    (void)c;
    return local == 0;
}

static bool stop;

/* A task whose user writes into the memory: each row seems to have more NICs. */
static void *forge(void *arg)
{
    struct task_memory *task_memory = arg;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        for (unsigned i = 0; i < TASK_GPUS_MAX; i++)
            __atomic_store_n(&task_memory->table[i].count, FORGED, __ATOMIC_RELAXED);
    return NULL;
}

TEST(test_a_task_writes_too)
{
    static struct step_facts facts;
    static struct step_run context = { .facts = &facts };
    struct nuioa_request request = { 0 };
    pthread_t forger;
    for (uint32_t i = 0; i < NICS; i++)
        nics[i] = i + 1;
    facts.step.task_count = 1;
    facts.node.gpu_count = TASK_GPUS_MAX;
    struct task_memory *task_memory = context.task_memory = task_memory_new(1);
    assert_non_null(task_memory);
    assert_int_equal(pthread_create(&forger, NULL, forge, task_memory), 0);
    for (int i = 0; i < (int)rounds(ROUNDS); i++)
        gpu_table_write(&context, &request);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(forger, NULL);
    for (size_t at = 0; at < sizeof(task_memory->tasks[0].text); at++)
        assert_int_equal(task_memory->tasks[0].text[at], 0);
    gpu_table_write(&context, &request);
    for (unsigned i = 0; i < TASK_GPUS_MAX; i++) {
        assert_int_equal(task_memory->table[i].count, NICS);
        assert_memory_equal(task_memory->table[i].nics, nics, sizeof(nics));
    }
    task_memory_free(task_memory, 1);
}

/* The user can write the table, so a task that looks up its NICs trusts no number there: each would
 * be an index of the node's NICs. */
TEST(test_a_forged_table)
{
    static struct step_facts facts;
    static struct step_run context = { .facts = &facts };
    struct nuioa_nic node_nics[2] = { { .name = "a" }, { .name = "b" } };
    const struct task_gpu_set gpus = { .state = TASK_GPUS_KNOWN, .bits = { 1 } };
    const uint32_t forged[] = { 2, 1000, UINT32_MAX };
    struct nuioa_assignment own;
    facts.node = (struct nuioa_node){ .gpu_count = 1, .nic_count = 2, .nics = node_nics };
    struct task_memory *task_memory = context.task_memory = task_memory_new(1);
    assert_non_null(task_memory);
    task_memory->table_ready = 1;
    task_memory->table[0] = (struct task_gpu_nics){ .count = 1, .nics = { 1 } };
    assert_true(gpu_nics_look_up(&context, &gpus, NULL, &own));
    assert_int_equal(own.nic_count, 1);
    assert_int_equal(own.nic, 1);
    free(own.nics);
    free(own.gpus);
    for (unsigned i = 0; i < sizeof(forged) / sizeof(*forged); i++) {
        task_memory->table[0].nics[0] = forged[i];
        assert_false(gpu_nics_look_up(&context, &gpus, NULL, &own));
    }
    /* More NICs than a row has: the rest are zeros, and a NIC counts once. */
    task_memory->table[0] = (struct task_gpu_nics){ .count = UINT32_MAX, .nics = { 1, 7, 1, 9 } };
    assert_true(gpu_nics_look_up(&context, &gpus, NULL, &own));
    assert_int_equal(own.nic_count, 2);
    free(own.nics);
    free(own.gpus);
    task_memory_free(task_memory, 1);
}
