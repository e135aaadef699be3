/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topology/fingerprint.h"
#include "topology/node_load.h"
#include "topology/node_serialize.h"
#include "util/descriptors.h"
#include "util/hash.h"
#include "util/new_file.h"
#include "util/secure_file.h"
#include "util/subprocess.h"
#include "util/sysfs.h"

enum { BYTES_MAX = 16 << 20 };

/* The key says for which node a description is valid. The serialized node follows it in the
 * file. */
struct key {
    char magic[8];
    char boot_id[40];
    char host[64];
    uint64_t fingerprint;
    uint64_t distances;
};

/* --- key -------------------------------------------------------------------------------------- */

/* Returns a hash of the name and of those attributes of a distance file that change when it is
 * edited or replaced; 0 if there is none. */
static uint64_t distances_key(const char *distances)
{
    struct stat st;
    if (!distances)
        return 0;
    uint64_t sum = nuioa_hash_text(NUIOA_HASH_START, distances);
    if (stat(distances, &st))
        return sum;
    const uint64_t facts[] = { st.st_dev, st.st_ino, (uint64_t)st.st_size,
                               (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec };
    return nuioa_hash(sum, facts, sizeof(facts));
}

/* Sets all bytes of the key, padding too, so that keys can be compared with memcmp. */
static void make_key(struct key *key, const char *distances)
{
    char boot_id[sizeof(key->boot_id)];
    memset(key, 0, sizeof(*key));
    memcpy(key->magic, "nuioaCAC", sizeof(key->magic));
    nuioa_sysfs_text(AT_FDCWD, boot_id, sizeof(boot_id), "/proc/sys/kernel/random/boot_id");
    nuioa_copy(key->boot_id, sizeof(key->boot_id), boot_id);
    gethostname(key->host, sizeof(key->host) - 1);
    key->fingerprint = nuioa_fingerprint("");
    key->distances = distances_key(distances);
}

void nuioa_cache_path(char *path)
{
    char host[65] = "";
    gethostname(host, sizeof(host) - 1);
    if (!host[0] || strchr(host, '/'))
        nuioa_copy(host, sizeof(host), "localhost");
    snprintf(path, NUIOA_CACHE_PATH_SIZE, "%s/%s.cache", NUIOA_CACHE_DIR, host);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Creates the default directory, if the file belongs there. What fails is found when it is
 * opened. */
static void make_directory(const char *path)
{
    static const char own[] = NUIOA_CACHE_DIR "/";
    const size_t length = sizeof(own) - 1;
    if (!strncmp(path, own, length) && !strchr(path + length, '/') && !mkdir(NUIOA_CACHE_DIR, 0755))
        chmod(NUIOA_CACHE_DIR, 0755); /* the umask must not matter */
}

/* A link is replaced, not what it leads to. */
static int replace(const char *path, const struct key *key, const void *bytes, size_t length,
                   struct nuioa_error *err)
{
    struct nuioa_new_file file;
    const char *name;
    int directory = nuioa_secure_parent(path, &name, err);
    if (directory < 0)
        return directory;
    int rc = nuioa_new_file_open_at(&file, directory, name, path, err);
    if (rc)
        return rc;
    fwrite(key, sizeof(*key), 1, file.stream);
    fwrite(bytes, 1, length, file.stream);
    if (fchmod(fileno(file.stream), 0644)) /* whatever the umask is */
        rc = nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    int closed = nuioa_new_file_close(&file, !rc, path, rc ? NULL : err);
    return rc ? rc : closed;
}

int nuioa_cache_write(const char *path, const struct nuioa_node *node, const char *distances,
                      struct nuioa_error *err)
{
    struct key key;
    void *bytes;
    size_t length;
    int rc = nuioa_node_serialize(node, &bytes, &length);
    if (rc)
        return nuioa_fail(err, rc, "%s: the node's description cannot be packed", path);
    make_key(&key, distances);
    make_directory(path);
    rc = replace(path, &key, bytes, length, err);
    free(bytes);
    return rc;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_all(int fd, const char *path, char **bytes, size_t *length, struct nuioa_error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    if (st.st_size < (off_t)sizeof(struct key) || st.st_size > BYTES_MAX)
        return nuioa_fail(err, -EINVAL, "%s: not a nuioa cache: run nuioa cache", path);
    *bytes = malloc((size_t)st.st_size);
    if (!*bytes)
        return nuioa_fail(err, -ENOMEM, "%s: out of memory", path);
    *length = (size_t)st.st_size;
    if (nuioa_read_all(fd, *bytes, *length) == *length)
        return 0;
    free(*bytes);
    return nuioa_fail(err, -EINVAL, "%s: cannot be read whole", path);
}

static int check_key(const char *path, const struct key *key, const char *distances, bool former,
                     struct nuioa_error *err)
{
    struct key want;
    make_key(&want, distances);
    if (memcmp(key->magic, want.magic, sizeof(key->magic)))
        return nuioa_fail(err, -EINVAL, "%s: not a nuioa cache: run nuioa cache", path);
    if (memcmp(key->host, want.host, sizeof(key->host)))
        return nuioa_fail(err, -ESTALE, "%s: made on another host, %.*s, and this is %s", path,
                          (int)sizeof(key->host), key->host, want.host);
    if (memcmp(key->boot_id, want.boot_id, sizeof(key->boot_id)))
        return nuioa_fail(err, -ESTALE, "%s: made before the last boot", path);
    if (former)
        return 0;
    if (key->fingerprint != want.fingerprint)
        return nuioa_fail(err, -ESTALE, "%s: made with other devices, CPUs, or variables HWLOC_*",
                          path);
    if (key->distances != want.distances)
        return nuioa_fail(err, -ESTALE, "%s: made with another distance file", path);
    return 0;
}

static int read_cache(const char *path, const char *distances, bool former, struct nuioa_node *node,
                      struct nuioa_error *err)
{
    struct key key;
    struct nuioa_error why;
    char *bytes = NULL;
    size_t length = 0;
    memset(node, 0, sizeof(*node));
    int fd = nuioa_secure_open(path, err);
    if (fd < 0)
        return fd;
    int rc = read_all(fd, path, &bytes, &length, err);
    close(fd);
    if (rc)
        return rc;
    /* -Wanalyzer-null-argument: read_all succeeds with a whole key. */
    memcpy(&key, bytes, sizeof(key));
    rc = check_key(path, &key, distances, former, err);
    if (!rc) {
        rc = nuioa_node_deserialize(node, bytes + sizeof(key), length - sizeof(key), &why);
        if (rc)
            nuioa_fail(err, rc, "%s: %s", path, why.text);
    }
    free(bytes);
    return rc;
}

int nuioa_cache_read(const char *path, const char *distances, struct nuioa_node *node,
                     struct nuioa_error *err)
{
    return read_cache(path, distances, false, node, err);
}

int nuioa_cache_read_former(const char *path, struct nuioa_node *node, struct nuioa_error *err)
{
    return read_cache(path, NULL, true, node, err);
}

/* --- discovery in a child --------------------------------------------------------------------- */

/* Runs in the child. It sends a status, then the serialized node or the text of the error. */
static void discover(int fd, void *arg)
{
    const struct nuioa_source *source = arg;
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    void *bytes = NULL;
    size_t length = 0;
    /* hwloc prints long warnings about faulty firmware to stderr, here to the output of a job. */
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    int32_t rc = nuioa_node_load(&node, source, &err);
    if (!rc && (rc = nuioa_node_serialize(&node, &bytes, &length)))
        nuioa_fail(&err, rc, "%s", strerror(-rc));
    /* A failure does not matter: then the parent has gone. */
    nuioa_subprocess_write(fd, &rc, sizeof(rc));
    nuioa_subprocess_write(fd, rc ? err.text : bytes, rc ? strlen(err.text) : length);
    free(bytes);
    nuioa_node_free(&node);
}

static int accept_discovery(const char *bytes, size_t length, struct nuioa_node *node,
                            struct nuioa_error *err)
{
    int32_t rc;
    if (length < sizeof(rc))
        return nuioa_fail(err, -ECHILD, "the process that discovers this node's hardware died");
    memcpy(&rc, bytes, sizeof(rc));
    bytes += sizeof(rc);
    length -= sizeof(rc);
    if (rc)
        return nuioa_fail(err, rc < 0 ? rc : -EINVAL, "%.*s", (int)length, bytes);
    return nuioa_node_deserialize(node, bytes, length, err);
}

int nuioa_cache_discover(const struct nuioa_source *source, unsigned deadline_ms,
                         struct nuioa_node *node, struct nuioa_error *err)
{
    void *bytes;
    size_t length = 0;
    memset(node, 0, sizeof(*node));
    struct nuioa_source copy = *source;
    int rc = nuioa_subprocess_run(discover, &copy, deadline_ms, BYTES_MAX, &bytes, &length);
    if (rc == -ETIMEDOUT)
        return nuioa_fail(
            err, rc,
            "discovering this node's hardware took more than %u ms: run `nuioa cache` once after "
            "boot",
            deadline_ms);
    if (rc)
        return nuioa_fail(err, rc, "discovering this node's hardware: %s", strerror(-rc));
    rc = accept_discovery(bytes, length, node, err);
    free(bytes);
    return rc;
}

/* --- what a launch calls ---------------------------------------------------------------------- */

/* Returns 0 also if there is no such file: the code that reads it has the better message. */
static int check_secure(const char *path, struct nuioa_error *err)
{
    int fd = nuioa_secure_open(path, err);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || fd == -ENOENT ? 0 : fd;
}

static void refuse(struct nuioa_node *node, const char *what, const struct nuioa_error *why)
{
    struct nuioa_error text;
    nuioa_fail(&text, 0, "%s not used: %s", what, why->text);
    nuioa_node_refuse(node, text.text);
}

static int get_own(const char *path, const struct nuioa_source *source, unsigned deadline_ms,
                   struct nuioa_node *node, struct nuioa_error *err)
{
    struct nuioa_error unread, unwritten;
    int read_rc = nuioa_cache_read(path, source->distances, node, &unread);
    if (!read_rc) {
        nuioa_node_refresh(node);
        return 0;
    }
    int rc = nuioa_cache_discover(source, deadline_ms, node, err);
    if (rc)
        return rc;
    int write_rc = nuioa_cache_write(path, node, source->distances, &unwritten);
    /* These come after the write: the next launch must not repeat them. */
    bool refused = read_rc != -ENOENT && read_rc != -ESTALE;
    if (refused)
        refuse(node, "cache", &unread);
    if (write_rc && (!refused || strcmp(unread.text, unwritten.text)))
        nuioa_warn(&node->warnings, "cache not kept: %s", unwritten.text);
    return 0;
}

int nuioa_cache_get(const char *path, const struct nuioa_source *source, unsigned deadline_ms,
                    struct nuioa_node *node, struct nuioa_error *err)
{
    char standard[NUIOA_CACHE_PATH_SIZE];
    struct nuioa_error insecure = { "" };
    struct nuioa_source trusted = { NULL, NULL };
    memset(node, 0, sizeof(*node));
    if (source)
        trusted = *source;
    if (trusted.distances && check_secure(trusted.distances, &insecure))
        trusted.distances = NULL;
    nuioa_cache_path(standard);
    int rc = trusted.topology ? check_secure(trusted.topology, err) : 0;
    if (!rc)
        rc = trusted.topology ? nuioa_cache_discover(&trusted, deadline_ms, node, err)
                              : get_own(path ? path : standard, &trusted, deadline_ms, node, err);
    if (!rc && insecure.text[0])
        refuse(node, "distances", &insecure);
    return rc;
}
