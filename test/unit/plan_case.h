#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include "plan/plan.h"

/* A request on a machine built by hand (machine.h), with Slurm's masks, and the plan made of it.
 * Any failure ends the test. */

#define SCENE_TASKS_MAX 64

struct scene {
    struct nuioa_node node;
    struct nuioa_options options;
    struct nuioa_task tasks[SCENE_TASKS_MAX];
    hwloc_bitmap_t masks[SCENE_TASKS_MAX];
    struct nuioa_request request;
    struct nuioa_plan plan;
    struct nuioa_error err;
};

/* An empty one; its node is to be built before anything else. To be freed. */
struct scene *scene_new(void);
void scene_free(struct scene *scene);

/* `tasks` ranks in block distribution over whole cores, mode on. */
void scene_on(struct scene *scene, unsigned tasks, unsigned cpus_per_task);

/* As typed for srun: "policy", "cpu". */
void scene_option(struct scene *scene, const char *name, const char *value);

/* Hints: weights[task_count]. */
void scene_weigh(struct scene *scene, const double *weights);

/* Makes the plan, anew if there is one, and checks what holds for every plan: J never above
 * Slurm's, the accounts add up to it. */
void scene_make(struct scene *scene);

/* The first NUMA node of each rank in local order: "5,5,3,3". Static. Likewise their NICs. */
const char *scene_numas(const struct scene *scene);
const char *scene_nics(const struct scene *scene);

#endif
