#ifndef GATHER_SCENE_H
#define GATHER_SCENE_H

#include "harness.h"

/* A step of four nodes that somebody disturbs, what he says, and what is to come of it; TAP. */

#define NODES 4

struct scene {
    const char *name;
    struct stage stage;
    struct actor actors[NODES];
    struct ending ending;
    unsigned fds, children; /* ours, before */
    struct hmac_key step, session; /* the session that node 1 has if the test plays it */
};

/* How nodes prove themselves from here on; munged: its socket. */
void scene_auth(bool sealed, const char *munged);

/* Whether srun is asked for a report from here on; at first it is. */
void scene_report(bool wanted);

/* A result. */
__attribute__((format(printf, 2, 3))) void ok(bool good, const char *fmt, ...);
/* The plan; what main() returns. */
int scene_results(void);

void scene_begin(struct scene *s, const char *name);
/* The same; `change` says what is special about srun. */
void scene_begin_with(struct scene *s, const char *name, void (*change)(struct stage *));

/* The nodes of the step. The part of node 1 the test may play itself; then there are the others. */
void scene_start_others(struct scene *s);
void scene_join_others(struct scene *s);

void scene_nothing_leaks(struct scene *s);
/* All four nodes from the first word to the last. */
void scene_run(struct scene *s);
/* Ends the scene: they have their table, srun has reported, and has nothing to complain of. */
void scene_ends_well(struct scene *s);
/* Both. */
void scene_is_well(struct scene *s);

/* What is said to srun. */
struct message {
    uint32_t type;
    void *bytes; /* malloc'd; scene_say does not free it */
    size_t length;
    const struct hmac_key *key; /* NULL: the step's */
    enum wire_use from;         /* 0: the node */
    void (*spoil)(struct wire_frame *frame, char *body); /* once it has its tag; NULL: nothing */
};

/* What node 1 says but for what `change` (NULL: nothing) does; if hellos are sealed, by `uid`. */
struct message scene_hello(struct scene *s, uid_t uid, void (*change)(struct wire_hello *));
/* The same as a site with the other auth= has it said. */
struct message scene_other_hello(struct scene *s);
void scene_say(const struct scene *s, int fd, const struct message *m);

/* Says hello as node 1, but for what `change` (NULL: nothing) does, and is known. */
int scene_known_node(struct scene *s, void (*change)(struct wire_hello *));
void scene_tell_record(const struct scene *s, int fd, uint32_t node, uint32_t patience_ms);

/* True if srun ends the connection within `ms`. */
bool scene_is_sent_away(int fd, int ms);
/* Says it, sees that srun refuses it, and frees it. */
void scene_is_refused(struct scene *s, struct message m, const char *what);

void hang_up(int fd);

#endif
