/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/credential.h"

#include <errno.h>

/* The functions of credential.h in a build without MUNGE: all fail, and say so. */

static int refuse(struct nuioa_error *err)
{
    return nuioa_fail(
        err, -EOPNOTSUPP,
        "MUNGE: this nuioa was built without it; build it with munge.h (Debian: libmunge-dev)");
}

int credential_ready(const char *socket, struct nuioa_error *err)
{
    (void)socket;
    return refuse(err);
}

int credential_make(const char *socket, const void *bytes, size_t length, char **credential,
                    struct nuioa_error *err)
{
    (void)socket, (void)bytes, (void)length;
    *credential = NULL;
    return refuse(err);
}

int credential_decode(const char *socket, const char *credential, uid_t *uid, void **bytes,
                      size_t *length, struct nuioa_error *err)
{
    (void)socket, (void)credential;
    *uid = (uid_t)-1;
    *bytes = NULL;
    *length = 0;
    return refuse(err);
}
