#include "util/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_class(const char *root, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", root, name);
    if (length < 0 || (size_t)length >= sizeof(path))
        return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void nuioa_sysfs_open(struct nuioa_sysfs *sysfs, const char *root)
{
    sysfs->verbs = open_class(root, "sys/class/infiniband");
    sysfs->net = open_class(root, "sys/class/net");
    sysfs->pci = open_class(root, "sys/bus/pci/devices");
}

void nuioa_sysfs_none(struct nuioa_sysfs *sysfs)
{
    *sysfs = (struct nuioa_sysfs){.verbs = -1, .net = -1, .pci = -1};
}

void nuioa_sysfs_close(struct nuioa_sysfs *sysfs)
{
    int *all[] = {&sysfs->verbs, &sysfs->net, &sysfs->pci};
    for (unsigned i = 0; i < 3; i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
}

static int make_path(char *path, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(path, size, format, args);
    return length > 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}

static int read_text(int dir, const char *path, char *text, size_t size)
{
    text[0] = '\0';
    if (dir < 0 && dir != AT_FDCWD)
        return -ENOENT;
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    ssize_t got;
    do
        got = read(fd, text, size - 1);
    while (got < 0 && errno == EINTR);
    int failed = got < 0 ? -errno : 0;
    close(fd);
    text[got < 0 ? 0 : got] = '\0';
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return failed ? failed : (int)length;
}

int nuioa_sysfs_text(int dir, char *text, size_t size, const char *path, ...)
{
    char full[256];
    va_list args;
    va_start(args, path);
    int rc = make_path(full, sizeof(full), path, args);
    va_end(args);
    text[0] = '\0';
    return rc ? rc : read_text(dir, full, text, size);
}

int nuioa_sysfs_number(int dir, long *value, const char *path, ...)
{
    char full[256], text[32], *end;
    va_list args;
    va_start(args, path);
    int rc = make_path(full, sizeof(full), path, args);
    va_end(args);
    if (rc || (rc = read_text(dir, full, text, sizeof(text))) < 0)
        return rc;
    errno = 0;
    long number = strtol(text, &end, 0);
    if (end == text || *end || errno)
        return -EINVAL;
    *value = number;
    return 0;
}

bool nuioa_sysfs_exists(int dir, const char *path, ...)
{
    char full[256];
    va_list args;
    va_start(args, path);
    int rc = make_path(full, sizeof(full), path, args);
    va_end(args);
    /* A dump may hold the link but not what it points to. */
    return !rc && dir >= 0 && !faccessat(dir, full, F_OK, AT_SYMLINK_NOFOLLOW);
}

int nuioa_sysfs_link(int dir, char *target, size_t size, const char *name)
{
    target[0] = '\0';
    if (dir < 0)
        return -ENOENT;
    ssize_t length = readlinkat(dir, name, target, size);
    if (length < 0)
        length = -errno;
    else if ((size_t)length >= size)
        length = -ENAMETOOLONG;
    target[length < 0 ? 0 : length] = '\0';
    return length < 0 ? (int)length : 0;
}

/* "56 Gb/sec (4X FDR)", "2.5 Gb/sec (1X SDR)": with a point in every locale. */
static uint32_t verbs_rate_mbps(const char *text)
{
    uint64_t mbps = 0, unit = 1000;
    const char *c = text;
    for (; isdigit((unsigned char)*c) && mbps < 1000000000; c++)
        mbps = mbps * 10 + (uint64_t)(*c - '0') * 1000;
    if (*c == '.')
        for (c++; isdigit((unsigned char)*c); c++)
            mbps += (uint64_t)(*c - '0') * (unit /= 10);
    return c != text && !strncmp(c, " Gb/sec", 7) && mbps <= UINT32_MAX ? (uint32_t)mbps : 0;
}

static bool read_verbs(int dir, struct nuioa_nic *nic)
{
    char text[64];
    if (nuioa_sysfs_text(dir, text, sizeof(text), "%s/ports/%u/state", nic->name, nic->port) < 0)
        return false;
    /* "4: ACTIVE"; armed and initialising ports carry nothing yet */
    if (isdigit((unsigned char)text[0]))
        nic->state = text[0] == '4' ? NUIOA_NIC_ACTIVE
                     : text[0] == '0' ? NUIOA_NIC_UNKNOWN : NUIOA_NIC_DOWN;
    nuioa_sysfs_text(dir, text, sizeof(text), "%s/ports/%u/rate", nic->name, nic->port);
    nic->rate_mbps = verbs_rate_mbps(text);
    return true;
}

static bool read_netdev(int dir, struct nuioa_nic *nic)
{
    char text[32];
    long number;
    if (nuioa_sysfs_text(dir, text, sizeof(text), "%s/operstate", nic->name) < 0)
        return false;
    if (!strcmp(text, "up"))
        nic->state = NUIOA_NIC_ACTIVE;
    else if (strcmp(text, "unknown"))
        nic->state = NUIOA_NIC_DOWN;
    else if (!nuioa_sysfs_number(dir, &number, "%s/carrier", nic->name))
        /* the driver does not maintain its state, the carrier says as much */
        nic->state = number ? NUIOA_NIC_ACTIVE : NUIOA_NIC_DOWN;
    /* -1, 65535 and 4294967295 have all meant unknown */
    if (!nuioa_sysfs_number(dir, &number, "%s/speed", nic->name) && number > 0 && number != 65535 &&
        number < INT32_MAX)
        nic->rate_mbps = (uint32_t)number;
    return true;
}

bool nuioa_sysfs_port(const struct nuioa_sysfs *sysfs, struct nuioa_nic *nic)
{
    nic->state = NUIOA_NIC_UNKNOWN;
    nic->rate_mbps = 0;
    return nic->port ? read_verbs(sysfs->verbs, nic) : read_netdev(sysfs->net, nic);
}
