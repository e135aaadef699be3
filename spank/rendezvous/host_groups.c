#include "spank/rendezvous/host_groups.h"

#include <string.h>
#include <sys/types.h>

#include "util/error.h"

/* libslurm's; see hosts.c for why slurm.h is not included. */
extern void *slurm_hostlist_create(const char *list);
extern int slurm_hostlist_push_host(void *hostlist, const char *host);
extern ssize_t slurm_hostlist_ranged_string(void *hostlist, size_t size, char *text);
extern void slurm_hostlist_destroy(void *hostlist);

void crowd_add(struct crowd *crowd, const char *host, const char *text)
{
    uint32_t i = 0;
    while (i < crowd->count && strcmp(crowd->texts[i].text, text))
        i++;
    if (i == CROWD_TEXTS_MAX) {
        crowd->lost++;
        return;
    }
    struct crowd_text *t = &crowd->texts[i];
    if (i == crowd->count) {
        nuioa_copy(t->text, sizeof(t->text), text);
        t->hosts = slurm_hostlist_create(NULL);
        t->count = 0;
        crowd->count++;
    }
    t->count++;
    if (t->hosts)
        slurm_hostlist_push_host(t->hosts, host);
}

const char *crowd_names(const struct crowd_text *text, char *names, uint32_t size)
{
    memset(names, 0, size);
    if (!text->hosts)
        nuioa_copy(names, size, "?");
    else if (slurm_hostlist_ranged_string(text->hosts, size, names) < 0) {
        size_t end = strnlen(names, size - 3);
        memcpy(names + end, "..", 3);
    }
    return names;
}

void crowd_free(struct crowd *crowd)
{
    for (uint32_t i = 0; i < crowd->count; i++)
        if (crowd->texts[i].hosts)
            slurm_hostlist_destroy(crowd->texts[i].hosts);
    *crowd = (struct crowd){ 0 };
}
