/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks MUNGE if Slurm uses it. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/ask.h"
#include "tools/doctor/conf.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/munge.h"

#ifdef HAVE_MUNGE

#include "spank/report/libmunge.h"

static void encode_and_decode(int fd, void *arg)
{
    const char *socket = arg;
    char *credential = NULL;
    struct nuioa_error err;
    doctor_become_nobody();
    const struct libmunge *munge = libmunge_open(&err);
    if (!munge) {
        doctor_answer(fd, 'n', err.text);
        return;
    }
    munge_ctx_t context = munge->ctx_create();
    munge_err_t code = EMUNGE_NO_MEMORY;
    if (context)
        code = munge->ctx_set(context, MUNGE_OPT_SOCKET, socket);
    if (code == EMUNGE_SUCCESS)
        code = munge->ctx_set(context, MUNGE_OPT_UID_RESTRICTION, getuid());
    if (code == EMUNGE_SUCCESS)
        code = munge->encode(&credential, context, NULL, 0);
    if (code == EMUNGE_SUCCESS)
        code = munge->decode(credential, context, NULL, NULL, NULL, NULL);
    const char *text = context ? munge->ctx_strerror(context) : NULL;
    doctor_answer(fd, code == EMUNGE_SUCCESS ? 'y' : 'n', text ? text : munge->strerror(code));
}

/* Connects to munged, because libmunge takes two seconds to fail. Returns 0 or -errno. */
static int connect_munged(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (nuioa_copy(address.sun_path, sizeof(address.sun_path), path))
        return -ENAMETOOLONG;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int rc = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
    close(fd);
    return rc == -EAGAIN ? 0 : rc; /* its queue is full; the child finds out whether it answers */
}

static void socket_of(const struct libmunge *munge, const char *said, char *path, size_t size)
{
    char *built_in = NULL;
    munge_ctx_t context = munge->ctx_create();
    if (context)
        munge->ctx_get(context, MUNGE_OPT_SOCKET, &built_in);
    nuioa_copy(path, size, *said ? said : built_in ? built_in : "");
    munge->ctx_destroy(context);
}

static bool slurm_uses_it(const struct doctor *d)
{
    const char *type = doctor_conf_value(&d->slurm, "AuthType"); /* Slurm's default is MUNGE */
    return !type || doctor_list_has(type, "auth/", "munge");
}

/* Copies the socket that plugstack.conf or AuthInfo of slurm.conf names; "" if neither does. */
static void said_socket(const struct doctor *d, char *path, size_t size)
{
    const char *info = slurm_uses_it(d) ? doctor_conf_value(&d->slurm, "AuthInfo") : NULL;
    const char *socket = info ? strstr(info, "socket=") : NULL;
    nuioa_copy(path, size,
               *d->options.munge_socket ? d->options.munge_socket
               : socket                 ? socket + strlen("socket=")
                                        : "");
    path[strcspn(path, ",")] = '\0';
}

void doctor_check_munge(struct doctor *d)
{
    char said[256], path[128], site[128];
    struct nuioa_error err;
    if (!doctor_is_live(d) || !*d->slurm.path || !slurm_uses_it(d))
        return;
    const struct libmunge *munge = libmunge_open(&err);
    if (!munge) {
        doctor_report(d, "munge-missing", "", "%s.", err.text);
        return;
    }
    said_socket(d, site, sizeof(site));
    socket_of(munge, site, path, sizeof(path));
    int rc = connect_munged(path);
    if (rc) {
        doctor_report(d, "munge-unreachable", "", "munged's socket %s: %s.", path, strerror(-rc));
        return;
    }
    char got = doctor_ask(encode_and_decode, path, said, sizeof(said));
    if (!got)
        doctor_report(d, "munge-unreachable", "", "munged does not answer at %s within %d ms.",
                      path, DOCTOR_ASK_MS);
    else if (got == 'n')
        doctor_report(d, "munge-unreachable", "", "munged at %s: %s.", path, said);
}

#else

void doctor_check_munge(struct doctor *d)
{
    (void)d;
}

#endif
