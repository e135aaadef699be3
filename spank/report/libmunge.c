/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/libmunge.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define LIBRARY "libmunge.so.2"

static bool load(struct libmunge *munge)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {
        { "munge_ctx_create", &munge->ctx_create },
        { "munge_ctx_destroy", &munge->ctx_destroy },
        { "munge_ctx_strerror", &munge->ctx_strerror },
        { "munge_ctx_get", &munge->ctx_get },
        { "munge_ctx_set", &munge->ctx_set },
        { "munge_encode", &munge->encode },
        { "munge_decode", &munge->decode },
        { "munge_strerror", &munge->strerror },
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool found = library;
    for (unsigned i = 0; found && i < sizeof(functions) / sizeof(*functions); i++) {
        void *function = dlsym(library, functions[i].name);
        memcpy(functions[i].to, &function, sizeof(function));
        found = function;
    }
    return found;
}

const struct libmunge *libmunge_open(struct nuioa_error *err)
{
    static struct libmunge munge;
    static bool loaded;
    loaded = loaded || load(&munge);
    if (loaded)
        return &munge;
    const char *why = dlerror();
    nuioa_fail(err, -EIO, "MUNGE: %.120s; install it (Debian: libmunge2)",
               why ? why : LIBRARY " cannot be used");
    return NULL;
}
