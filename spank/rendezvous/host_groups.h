#ifndef SPANK_RENDEZVOUS_HOST_GROUPS_H
#define SPANK_RENDEZVOUS_HOST_GROUPS_H

#include <stdint.h>

/* Things that are true of several nodes, each said once: "node[1-3]: text". */

/* Different texts; more are counted. */
#define CROWD_TEXTS_MAX 24

struct crowd_text {
    char text[256];
    uint32_t count; /* of nodes */
    void *hosts;
};

struct crowd {
    uint32_t count, lost;
    struct crowd_text texts[CROWD_TEXTS_MAX];
};

/* In the order of nodes. */
void crowd_add(struct crowd *crowd, const char *host, const char *text);
void crowd_free(struct crowd *crowd);

/* "node[1-3]", at most `size` bytes, cut with "..". Returns names. */
const char *crowd_names(const struct crowd_text *text, char *names, uint32_t size);

#endif
