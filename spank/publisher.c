#include "publisher.h"

#include "doors.h"
#include "number.h"

void publisher_prepare(const struct context *c, spank_t spank)
{
    struct nuioa_error err;
    char **environment = step_environment(spank);
    const char *all = doors_variable(environment, "SLURM_STEP_NUM_TASKS");
    uint32_t ranks = c->step.task_count, component;
    if (!(c->options.export_set & NUIOA_EXPORT_PMIX))
        return;
    if (spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &component) == ESPANK_SUCCESS)
        ranks = component;
    if (all && !nuioa_parse_u32(all, UINT32_MAX, &component) && component > ranks)
        ranks = component; /* of all components of a heterogeneous step */
    if (nuioa_publish_prepare(ranks, environment, &err) < 0)
        slurm_info("nuioa: %s", err.text);
}

void publisher_learn_ranks(struct context *c, spank_t spank, struct nuioa_namespaces *names)
{
    struct nuioa_error err;
    uint32_t job_id, step_id;
    names->count = 0;
    if (!(c->options.export_set & (NUIOA_EXPORT_PMIX | NUIOA_EXPORT_LOCALITY)) ||
        spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS)
        return;
    nuioa_namespaces_guess(names, step_environment(spank), job_id, step_id);
    int rc = nuioa_publish_ranks(names, c->step.task_count, c->step.ranks, &err);
    if (rc < 0)
        nuioa_warn(&c->faults, "PMIx keys are not published: %s", err.text);
    if (rc <= 0)
        names->count = 0;
}

void publisher_publish(struct context *c, const struct nuioa_namespaces *names,
                       const struct nuioa_plan *plan, const uint32_t *leaders,
                       uint32_t leader_count)
{
    struct nuioa_publication publication = { plan, &c->node, &c->options, names, leaders,
                                             leader_count };
    struct nuioa_published published;
    struct nuioa_error err;
    if (!names->count)
        return;
    if (nuioa_publish(&publication, &published, &err) < 0)
        nuioa_warn(&c->faults, "PMIx keys: %s", err.text);
    else
        slurm_debug("nuioa: %u PMIx keys in %s, %uus", published.key_count, published.nspace,
                    published.time_us);
}
