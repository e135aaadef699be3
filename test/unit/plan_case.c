/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "plan_case.h"
#include "plan/plan.h"
#include "unit.h"

static struct plan_case *cases; /* of this test */

void plan_case_free(struct plan_case *s)
{
    struct plan_case **at = &cases;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    nuioa_plan_free(&s->plan);
    for (unsigned i = 0; i < PLAN_CASE_TASKS_MAX; i++)
        hwloc_bitmap_free(s->masks[i]);
    hwloc_bitmap_free(s->step);
    nuioa_node_free(&s->node);
    free(s);
}

static void free_all(void *unused)
{
    (void)unused;
    while (cases)
        plan_case_free(cases);
}

struct plan_case *plan_case_new(void)
{
    struct plan_case *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    if (!cases)
        unit_later(free_all, NULL);
    s->next = cases;
    cases = s;
    return s;
}

void plan_case_on(struct plan_case *s, unsigned tasks, unsigned cpus_per_task)
{
    nuioa_options_init(&s->options);
    s->options.mode = NUIOA_ON;
    for (unsigned i = 0; i < tasks; i++)
        s->masks[i] = s->masks[i] ? s->masks[i] : hwloc_bitmap_alloc();
    if (nuioa_default_binding(&s->node, s->node.allowed_cpus, tasks, cpus_per_task, s->masks,
                              &s->err))
        fail_msg("%s", s->err.text);
    for (unsigned i = 0; i < tasks; i++)
        s->tasks[i] = (struct nuioa_task){ .rank = i, .cpus = s->masks[i], .gpus_known = true };
    s->request = (struct nuioa_request){
        .node = &s->node,
        .options = &s->options,
        .task_count = tasks,
        .tasks = s->tasks,
    };
}

void plan_case_bind(struct plan_case *s, const char *masks)
{
    char copy[512], *rest = copy;
    assert_true(strlen(masks) < sizeof(copy));
    strcpy(copy, masks);
    for (unsigned i = 0; i < s->request.task_count; i++)
        assert_int_equal(hwloc_bitmap_list_sscanf(s->masks[i], strsep(&rest, ";")), 0);
    assert_null(rest);
}

void plan_case_step(struct plan_case *s, const char *cpus)
{
    s->step = s->step ? s->step : hwloc_bitmap_alloc();
    assert_int_equal(hwloc_bitmap_list_sscanf(s->step, cpus), 0);
    s->request.allowed_cpus = s->step;
}

void plan_case_unbind(struct plan_case *s)
{
    for (unsigned i = 0; i < s->request.task_count; i++)
        hwloc_bitmap_copy(s->masks[i], s->node.allowed_cpus);
}

void plan_case_option(struct plan_case *s, const char *name, const char *value)
{
    if (nuioa_options_set(&s->options, NUIOA_FROM_COMMAND, name, value, &s->err))
        fail_msg("%s=%s: %s", name, value, s->err.text);
}

void plan_case_gpus(struct plan_case *s, const char *gpus)
{
    s->request.sees_gpu = true;
    for (unsigned i = 0; i < s->request.task_count; i++) {
        struct nuioa_task *task = &s->tasks[i];
        task->gpus = s->gpus[i];
        task->gpu_count = 0;
        task->gpus_known = *gpus != '?';
        while (*gpus && *gpus != ';') {
            char *end;
            unsigned long gpu = strtoul(gpus, &end, 10);
            if (end != gpus)
                s->gpus[i][task->gpu_count++] = (uint32_t)gpu;
            gpus = end == gpus || *end == ',' ? end + 1 : end;
        }
        task->seen = task->gpus;
        task->seen_count = task->gpus_known ? 0 : task->gpu_count;
        task->gpu_count -= task->seen_count;
        task->gpus_shared = task->seen_count > 0;
        gpus += *gpus == ';';
    }
}

void plan_case_weigh(struct plan_case *s, const double *weights)
{
    s->request.hinted = true;
    for (unsigned i = 0; i < s->request.task_count; i++)
        s->tasks[i].weight = weights[i];
}

void plan_case_weigh_by(struct plan_case *s, double (*weight)(unsigned))
{
    s->request.hinted = true;
    for (unsigned i = 0; i < s->request.task_count; i++)
        s->tasks[i].weight = weight(i);
}

double plan_case_descending(unsigned local)
{
    return 64 - (double)local;
}

double plan_case_equal(unsigned local)
{
    (void)local;
    return 5;
}

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-9 * (1 + fabs(a)))
        fail_msg("%.12g is not %.12g", a, b);
}

void plan_case_make(struct plan_case *s)
{
    nuioa_plan_free(&s->plan);
    nuioa_options_finish(&s->options);
    if (nuioa_plan_make(&s->request, &s->plan, &s->err) < 0)
        fail_msg("%s", s->err.text);
    const struct nuioa_plan *p = &s->plan;
    assert_true(p->after.j <= p->before.j * (1 + 1e-12));
    assert_near(p->before.nic + p->before.neighbours + p->before.load.cost, p->before.j);
    assert_near(p->after.nic + p->after.neighbours + p->after.load.cost, p->after.j);
    if (p->bound_known)
        assert_true(p->bound <= p->after.j * (1 + 1e-9));
}

const char *plan_case_numas(const struct plan_case *s)
{
    static char text[512];
    size_t used = 0;
    for (unsigned i = 0; i < s->plan.task_count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", i ? "," : "",
                                 hwloc_bitmap_first(s->plan.assignments[i].numas));
    return text;
}

const char *plan_case_cpus(const struct plan_case *s)
{
    static char text[2048];
    size_t used = 0;
    for (unsigned i = 0; i < s->plan.task_count; i++) {
        char list[256];
        hwloc_bitmap_list_snprintf(list, sizeof(list), s->plan.assignments[i].cpus);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ";" : "", list);
    }
    return text;
}

const char *plan_case_nics(const struct plan_case *s)
{
    static char text[512];
    size_t used = 0;
    for (unsigned i = 0; i < s->plan.task_count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", i ? "," : "",
                                 s->plan.assignments[i].nic);
    return text;
}

const char *plan_case_all_nics(const struct plan_case *s)
{
    static char text[1024];
    size_t used = 0;
    *text = '\0';
    for (unsigned i = 0; i < s->plan.task_count; i++) {
        const struct nuioa_assignment *a = &s->plan.assignments[i];
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", i ? ";" : "");
        for (unsigned k = 0; k < a->nic_count; k++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", k ? "," : "",
                                     a->nics[k]);
    }
    return text;
}

const char *plan_case_variable(const char *block, const char *name)
{
    size_t length = strlen(name);
    for (; *block; block += strlen(block) + 1)
        if (!strncmp(block, name, length) && block[length] == '=')
            return block + length + 1;
    return NULL;
}
