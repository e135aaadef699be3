/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "option/option_environment.h"
#include "profile/profile.h"
#include "spank/stepd/user_child.h"
#include "util/variable.h"

/* The child may live longer than the launch waits: what it has in the pipe counts when a slow
 * launch comes to its plan. */
#define LIFE_MS 60000

/* A child that has answered is dead so long after its SIGKILL, on a busy machine too. */
#define DEATH_MS 500

struct flows {
    struct user_child child;
    int started;     /* 0, or why there is no child: a negative errno */
    uint32_t *ranks; /* [step.task_count]: those that the child reads for */
};

struct job {
    const struct step_run *context;
    const char *path;
};

/* One second of the processor is more than FLOWS_MS and kills what never ends. */
static void read_flows(int fd, void *arg)
{
    const struct job *job = arg;
    const struct step *step = &job->context->facts->step;
    struct rlimit cpu = { 1, 1 };
    size_t length;
    if (setrlimit(RLIMIT_CPU, &cpu) < 0)
        return;
    void *answer = flows_answer_make(job->path, job->context->facts->options.policy, step->ranks,
                                     step->task_count, &length);
    if (answer)
        nuioa_subprocess_write(fd, answer, length);
    free(answer);
}

void flows_begin(struct step_run *c, spank_t spank)
{
    struct nuioa_user user;
    const char *path = nuioa_variable(step_environment(spank), NUIOA_VARIABLE_HINTS_PATH);
    if (!c->active || !path || *path != '/' || !nuioa_hints_file(c->facts->options.hints))
        return;
    int rc = user_child_user(spank, &user);
    if (rc == -EPERM) /* root */
        return;
    struct flows *f = c->flows = calloc(1, sizeof(*f));
    if (!f)
        return;
    f->child = (struct user_child)USER_CHILD_NONE;
    struct job job = { c, path };
    size_t size = c->facts->step.task_count * sizeof(*f->ranks);
    f->ranks = malloc(size + 1);
    if (f->ranks)
        memcpy(f->ranks, c->facts->step.ranks, size);
    else
        rc = -ENOMEM;
    struct user_errand errand = { &user, read_flows, &job, -1 };
    f->started = rc ? rc : user_child_start(&f->child, &errand, LIFE_MS);
}

static void tell(struct step_run *c, int rc)
{
    struct nuioa_error err;
    bool list = c->facts->hints.count || c->facts->hints.rest > 0;
    nuioa_fail(&err, rc, "%s: this node cannot read %.100s: %s%s", list ? "hints" : "no hints",
               nuioa_hints_file(c->facts->options.hints), flows_answer_reason(rc),
               list ? "; it uses srun's list of weights" : "");
    if (c->facts->step.node_id == 0)
        nuioa_warn(&c->faults, "%s", err.text);
    else
        slurm_info("nuioa: %s", err.text);
}

static void drop_part(struct step_run *c)
{
    free(c->profile.weights);
    free(c->profile.pairs);
    c->profile = (struct profile_part){ 0 };
}

static int take(struct step_run *c, struct flows *f)
{
    void *answer = NULL;
    size_t length, size = c->facts->step.task_count * sizeof(*f->ranks);
    int rc = user_child_read(&f->child, FLOWS_MS, flows_answer_max(c->facts->step.task_count),
                             &answer, &length);
    if (!rc && !length)
        rc = -ECHILD;
    if (!rc)
        rc = flows_answer_read(answer, length, c->facts->step.task_count, &c->profile);
    free(answer);
    /* PMIx may have told others since. */
    if (!rc && memcmp(f->ranks, c->facts->step.ranks, size) != 0) {
        drop_part(c);
        rc = -ESTALE;
    }
    return rc;
}

void flows_take(struct step_run *c)
{
    struct flows *f = c->flows;
    if (!f)
        return;
    int rc = f->started ? f->started : take(c, f);
    if (getpid() == c->facts->pid)
        user_child_end(&f->child);
    else
        user_child_kill(&f->child, rc == -ETIMEDOUT ? 0 : DEATH_MS);
    if (rc)
        tell(c, rc);
}

void flows_end(struct step_run *c)
{
    struct flows *f = c->flows;
    drop_part(c);
    if (!f)
        return;
    user_child_end(&f->child);
    free(f->ranks);
    free(f);
    c->flows = NULL;
}
