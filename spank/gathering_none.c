#include "gathering.h"

#include <stdlib.h>

#include "say.h"
#include "wire.h"

/* A build without MUNGE. */

void gathering_offer(struct context *c)
{
    unsetenv(WIRE_VARIABLE);
    if (c->options.mode != NUIOA_OFF && c->options.gather == NUIOA_SWITCH_ON && !c->spoken)
        say("gather=on: this nuioa was built without MUNGE");
}

bool gathering_brings_hints(const struct context *c)
{
    (void)c;
    return false;
}

void gathering_start(struct context *c, spank_t spank)
{
    (void)c, (void)spank;
}

void gathering_call(struct context *c, spank_t spank)
{
    (void)c, (void)spank;
}

void gathering_hints(struct context *c)
{
    (void)c;
}

void gathering_tell(struct context *c, const struct placement *placement)
{
    (void)c, (void)placement;
}

void gathering_await(struct context *c)
{
    (void)c;
}

const uint32_t *gathering_leaders(const struct context *c, uint32_t *count)
{
    (void)c;
    *count = 0;
    return NULL;
}

bool gathering_is_reported(const struct context *c)
{
    (void)c;
    return false;
}

void gathering_end(struct context *c)
{
    (void)c;
}
