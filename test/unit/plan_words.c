/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_words.h"

#include "unit.h"
#include "util/word.h"

static void machine(struct plan_case *s, const char *name, const char *value)
{
    static const uint32_t row[] = { 10, 20, 40, 20, 10, 20, 40, 20, 10 };
    unsigned numas, cores;
    if (!strcmp(name, "hagrid"))
        machine_hagrid(&s->node, (unsigned)atoi(value));
    else if (!strcmp(name, "quad"))
        machine_quad(&s->node);
    else if (!strcmp(name, "row"))
        machine_build(&s->node, &(struct shape){ 3, 2, 1, 1, row });
    else if (sscanf(value, "%ux%u", &numas, &cores) == 2)
        machine_plain(&s->node, numas, cores);
}

static void nic(struct plan_case *s, const char *name, const char *value)
{
    char next[16];
    (void)name;
    snprintf(next, sizeof(next), "mlx5_%u", s->node.nic_count);
    machine_nic(&s->node, next, (unsigned)atoi(value));
}

static void gpu(struct plan_case *s, const char *name, const char *value)
{
    (void)name;
    machine_gpu(&s->node, (unsigned)atoi(value));
}

/* Makes something wrong with the NICs, the GPUs or the NUMA nodes of the node. */
static void fault(struct plan_case *s, const char *name, const char *value)
{
    struct nuioa_nic *first = &s->node.nics[0];
    (void)value;
    if (!strcmp(name, "down")) {
        first->state = NUIOA_NIC_DOWN;
    } else if (!strcmp(name, "slow")) {
        first->rate_mbps = 80000;
    } else if (!strcmp(name, "nowhere")) {
        free(first->level);
        first->level = NULL;
        hwloc_bitmap_zero(first->numas);
    } else if (!strcmp(name, "gpu_nowhere")) {
        hwloc_bitmap_zero(s->node.gpus[1].numas);
    } else {
        s->node.cut = true;
    }
}

static void cpus(struct plan_case *s, const char *name, const char *value)
{
    if (!strcmp(name, "step"))
        plan_case_step(s, value);
    else
        assert_int_equal(hwloc_bitmap_list_sscanf(s->node.allowed_cpus, value), 0);
}

static void ranks(struct plan_case *s, const char *name, const char *value)
{
    unsigned tasks, each;
    if (!strcmp(name, "first")) {
        s->request.task_count = (unsigned)atoi(value);
    } else {
        assert_int_equal(sscanf(value, "%ux%u", &tasks, &each), 2);
        plan_case_on(s, tasks, each);
    }
}

static void masks(struct plan_case *s, const char *name, const char *value)
{
    unsigned tasks = 1;
    for (const char *c = value; *c; c++)
        tasks += *c == ';';
    if (!strcmp(name, "bound")) {
        plan_case_on(s, tasks, 0);
        s->options.asked = true;
    }
    if (*value)
        plan_case_bind(s, value);
    else
        plan_case_unbind(s);
}

static void asked(struct plan_case *s, const char *name, const char *value)
{
    (void)value;
    s->options.asked = !strcmp(name, "asked");
}

static void weights(struct plan_case *s, const char *name, const char *value)
{
    double weight[PLAN_CASE_TASKS_MAX] = { 0 };
    if (!strcmp(name, "falling"))
        plan_case_weigh_by(s, plan_case_descending);
    else if (!strcmp(name, "equal"))
        plan_case_weigh_by(s, plan_case_equal);
    else {
        for (unsigned i = 0; *value; i++, value += strspn(value, ","))
            weight[i] = strtod(value, (char **)&value);
        plan_case_weigh(s, weight);
    }
}

/* A profile: "0-1:9,2-3:9"; with all_pairs, all ranks send each other as much. */
static void pairs(struct plan_case *s, const char *name, const char *value)
{
    static struct nuioa_pair list[64]; /* of one case at a time */
    uint32_t count = 0, n = s->request.task_count;
    (void)name;
    for (int used; sscanf(value, "%u-%u:%lf%n", &list[count].first, &list[count].second,
                          &list[count].bytes, &used) == 3;
         count++)
        value += used + (value[used] == ',');
    for (uint32_t i = 0; !count && i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            list[i * n + k - (i + 1) * (i + 2) / 2] = (struct nuioa_pair){ i, k, 1 };
    s->request.hinted = true;
    s->request.pairs = list;
    s->request.pair_count = count ? count : n * (n - 1) / 2;
}

static void gpus_of_ranks(struct plan_case *s, const char *name, const char *value)
{
    (void)name;
    plan_case_gpus(s, value);
}

/* A member of the request: a switch, or a number. */
static void member(struct plan_case *s, const char *name, const char *value)
{
    struct nuioa_request *r = &s->request;
    const struct {
        const char *name;
        bool *on;
        uint32_t *number;
    } members[] = {
        { "bound_by_user", &r->bound_by_user, NULL },
        { "bound_by_outer", &r->bound_by_outer, NULL },
        { "memory_by_user", &r->memory_by_user, NULL },
        { "memory_by_rank", &r->memory_by_rank, NULL },
        { "memory_by_outer", &r->memory_by_outer, NULL },
        { "sees_gpu", &r->sees_gpu, NULL },
        { "overlaps", &r->overlaps, NULL },
        { "unconfined", &r->unconfined, NULL },
        { "cpus_typed", NULL, &r->cpus_typed },
        { "cpus_per_task", NULL, &r->cpus_per_task },
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (!strcmp(members[i].name, name)) {
            if (members[i].on)
                *members[i].on = true;
            else
                *members[i].number = (uint32_t)atoi(value);
            return;
        }
    fail_msg("no word: %s", name);
}

static const struct {
    const char *names; /* separated by '|' */
    void (*apply)(struct plan_case *s, const char *name, const char *value);
} words[] = {
    { "hagrid|quad|row|plain", machine },
    { "nic", nic },
    { "gpu", gpu },
    { "down|slow|nowhere|gpu_nowhere|cut", fault },
    { "cpus|step", cpus },
    { "ranks|first", ranks },
    { "bound|masks|unbound", masks },
    { "asked|not_asked", asked },
    { "falling|equal|weights", weights },
    { "pairs|all_pairs", pairs },
    { "gpus", gpus_of_ranks },
};

static void apply(struct plan_case *s, char *name, const char *value)
{
    if (!strncmp(name, "--", 2)) {
        plan_case_option(s, name + 2, value);
        return;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (nuioa_word_index(words[i].names, name) >= 0) {
            words[i].apply(s, name, value);
            return;
        }
    member(s, name, value);
}

static void set(struct plan_case *s, const char *format, va_list args)
{
    char text[512], *rest = text, *word;
    assert_in_range(vsnprintf(text, sizeof(text), format, args), 1, sizeof(text) - 1);
    while ((word = nuioa_next_word(&rest, " "))) {
        char *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        apply(s, word, value ? value : "");
    }
}

void plan_case_set(struct plan_case *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(s, format, args);
    va_end(args);
}

struct plan_case *plan_case_of(const char *format, ...)
{
    struct plan_case *s = plan_case_new();
    va_list args;
    va_start(args, format);
    set(s, format, args);
    va_end(args);
    return s;
}
