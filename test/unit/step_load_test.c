/* SPDX-License-Identifier: BSD-3-Clause */

/* The files by which the steps of a node tell each other which NICs they use. */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "leak_check.h"
#include "machine.h"
#include "topology/cache.h"
#include "steps/step_load.h"

static char path[64];
static struct nuioa_step_directory directory; /* of the steps that write */
static struct nuioa_step_directory reader;    /* of another step, which reads */

static int begin(void **state)
{
    struct nuioa_error err;
    (void)state;
    snprintf(path, sizeof(path), "/tmp/nuioa-steps-XXXXXX");
    if (!mkdtemp(path))
        return -1;
    return nuioa_step_directory_open(&directory, path, true, &err) ||
           nuioa_step_directory_open(&reader, path, true, &err);
}

static int end(void **state)
{
    char command[128];
    (void)state;
    nuioa_step_directory_close(&directory);
    nuioa_step_directory_close(&reader);
    snprintf(command, sizeof(command), "rm -r %s", path);
    return system(command);
}

/* A step of this process. */
static struct nuioa_step_load step_of(uint32_t job, const char *nic, double ranks)
{
    struct nuioa_step_load load = {
        .job = job, .uid = getuid(), .pid = (uint32_t)getpid(), .nic_count = 1
    };
    snprintf(load.nics[0].nic, sizeof(load.nics[0].nic), "%s", nic);
    load.nics[0].ranks = ranks;
    return load;
}

static void write_step(const struct nuioa_step_load *load)
{
    struct nuioa_error err = { "" };
    if (nuioa_step_load_write(&directory, load, &err))
        fail_msg("%s", err.text);
}

/* Reads all steps, and returns their jobs as "3 7". */
static const char *jobs(struct nuioa_error *err)
{
    static char text[256];
    struct nuioa_step_load *loads;
    uint32_t count;
    struct leak_check before = leak_check_begin();
    assert_int_equal(nuioa_step_loads_read(&reader, &loads, &count, err), 0);
    *text = '\0';
    for (uint32_t i = 0; i < count; i++)
        sprintf(text + strlen(text), "%s%u", i ? " " : "", loads[i].job);
    free(loads);
    leak_check_end(&before);
    return text;
}

static void put(const char *name, const void *bytes, size_t length, mode_t mode)
{
    int fd = openat(directory.fd, name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static bool there(const char *name)
{
    return faccessat(directory.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_written_and_read(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load seven = step_of(7, "a", 2), three = step_of(3, "b:1", 4);
    struct nuioa_step_load *loads;
    uint32_t count;
    assert_string_equal(jobs(&err), "");
    write_step(&seven);
    write_step(&three);
    seven.nics[0].ranks = 0.5;
    write_step(&seven); /* replaces its file */
    assert_int_equal(nuioa_step_loads_read(&reader, &loads, &count, &err), 0);
    assert_string_equal(err.text, "");
    assert_int_equal(count, 2);
    assert_int_equal(loads[0].job, 3);
    assert_memory_equal(&loads[1], &seven, sizeof(seven));
    free(loads);
    nuioa_step_load_remove(&directory, &three);
    assert_string_equal(jobs(&err), "7");
    nuioa_step_load_remove(&directory, &seven);
    nuioa_step_load_remove(&directory, &seven); /* it has gone */
    assert_string_equal(jobs(&err), "");
}

/* The user of the step may read its file: what is behind the end of a label, in unused entries and
 * in the gaps of the struct is memory of root's. */
static void test_nothing_else_written(void **state)
{
    (void)state;
    struct nuioa_step_load load, named = step_of(7, "a", 2);
    char name[64], bytes[8192];
    memset(&load, 'x', sizeof(load));
    load.job = named.job, load.step = named.step, load.uid = named.uid, load.pid = named.pid;
    load.nic_count = 1, load.nics[0].ranks = 2;
    memcpy(load.nics[0].nic, "a", 2);
    write_step(&load);
    snprintf(name, sizeof(name), "7.0.%u", load.pid);
    int fd = openat(directory.fd, name, O_RDONLY);
    ssize_t length = read(fd, bytes, sizeof(bytes));
    close(fd);
    assert_true(length > (ssize_t)sizeof(load));
    /* Only the bytes of the gap and of the NICs: a number in front of them may have any byte. */
    size_t gap = (size_t)length - sizeof(load) + offsetof(struct nuioa_step_load, nic_count) + 4;
    assert_null(memchr(bytes + gap, 'x', (size_t)length - gap));
    nuioa_step_load_remove(&directory, &load);
}

/* In a process that has ended, and had a number that this one has too in another namespace. */
static void write_and_end(const struct nuioa_step_load *load)
{
    pid_t child = fork();
    if (child == 0) {
        struct nuioa_step_directory own;
        struct nuioa_error err;
        _exit(nuioa_step_directory_open(&own, path, true, &err) ||
              nuioa_step_load_write(&own, load, &err));
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* When a step has ended without removing its file, the next reader does. */
static void test_stale(void **state)
{
    (void)state;
    struct nuioa_error err;
    char name[64], temporary[64];
    struct nuioa_step_load gone = step_of(1, "a", 1), here = step_of(2, "a", 1);
    write_and_end(&gone);
    write_step(&here);
    snprintf(name, sizeof(name), "1.0.%u", gone.pid);
    assert_true(there(name));
    put(".9.0.1", "half", 4, 0600); /* it was killed while it wrote */
    snprintf(temporary, sizeof(temporary), ".2.0.%u", here.pid);
    put(temporary, "half", 4, 0600); /* somebody is writing it */
    assert_string_equal(jobs(&err), "2");
    assert_string_equal(err.text, "");
    assert_false(there(name));
    assert_false(there(".9.0.1"));
    assert_true(there(temporary));
}

/* In another process namespace a step has a number that here nobody has. */
static void test_other_namespace(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load load = step_of(7, "a", 1);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    load.pid = (uint32_t)child;
    write_step(&load);
    assert_string_equal(jobs(&err), "7");
}

/* The step runs as long as one process has the directory open, which need not be the one that wrote
 * the file (contain_spank). */
static void test_inherited(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load load = step_of(7, "a", 1);
    pid_t child = fork();
    if (child == 0)
        _exit(nuioa_step_load_write(&directory, &load, &err));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_string_equal(jobs(&err), "7");
    nuioa_step_directory_close(&directory);
    assert_string_equal(jobs(&err), "");
    assert_int_equal(nuioa_step_directory_open(&directory, path, true, &err), 0);
}

/* Two components of a heterogeneous step on one node have one number. */
static void test_components(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_directory other;
    struct nuioa_step_load first = step_of(7, "a", 1), second = step_of(7, "b", 1);
    second.pid++;
    assert_int_equal(nuioa_step_directory_open(&other, path, true, &err), 0);
    write_step(&first);
    assert_int_equal(nuioa_step_load_write(&other, &second, &err), 0);
    assert_string_equal(jobs(&err), "7 7");
    nuioa_step_load_remove(&directory, &first);
    assert_string_equal(jobs(&err), "7");
    nuioa_step_directory_close(&other);
    nuioa_step_directory_close(&directory);
    assert_string_equal(jobs(&err), "");
    assert_int_equal(nuioa_step_directory_open(&directory, path, true, &err), 0);
}

/* A user may not open the file with the locks, and is told of all steps. */
static void test_user(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load load = step_of(7, "a", 1);
    int lock = reader.lock;
    write_and_end(&load);
    reader.lock = -1;
    assert_string_equal(jobs(&err), "7");
    reader.lock = lock;
    assert_string_equal(jobs(&err), "");
}

/* Everything else is left alone, and one line names it. */
static void test_garbage(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load load = step_of(5, "a", 1);
    char name[64], bytes[8192] = { 0 };
    write_step(&load);
    snprintf(name, sizeof(name), "5.0.%d", (int)getpid());
    int fd = openat(directory.fd, name, O_RDONLY);
    ssize_t length = read(fd, bytes, sizeof(bytes));
    close(fd);
    assert_true(length > 0 && length < 4096);

    put("6.0.1", bytes, (size_t)length, 0600); /* another process' number */
    put("7.0.1", bytes, (size_t)length - 1, 0600);
    put("8.0.1", bytes, (size_t)length + 1, 0600);
    put("9.0.1", "", 0, 0600);
    put("10.0.1", "garbage", 7, 0600);
    put("11.0.1", bytes, (size_t)length, 0666); /* anybody could have written it */
    put("README", "no step", 7, 0600);
    put("12.0.4294967296", bytes, (size_t)length, 0600);
    assert_int_equal(symlinkat(name, directory.fd, "13.0.1"), 0);
    assert_int_equal(mkfifoat(directory.fd, "14.0.1", 0600), 0);
    assert_int_equal(mkdirat(directory.fd, "15.0.1", 0700), 0);
    assert_string_equal(jobs(&err), "5");
    assert_non_null(strstr(err.text, "11 files ignored, which no step has written: the first is "));
    assert_true(there("README") && there("14.0.1") && there("10.0.1"));
    unlinkat(directory.fd, "15.0.1", AT_REMOVEDIR);
}

static void test_numbers(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load load = step_of(5, "a", 1), decoded;
    char name[64], good[8192], bytes[8192];
    write_step(&load);
    snprintf(name, sizeof(name), "5.0.%d", (int)getpid());
    int fd = openat(directory.fd, name, O_RDONLY);
    size_t length = (size_t)read(fd, good, sizeof(good)), head = length - sizeof(load);
    close(fd);
    const double ranks[] = { -1, NAN, INFINITY, 1e7 };
    assert_int_equal(nuioa_step_load_decode(good, length, &decoded), 0);
    for (unsigned i = 0; i < sizeof(ranks) / sizeof(*ranks); i++) {
        memcpy(bytes, good, length);
        memcpy(bytes + head + offsetof(struct nuioa_step_load, nics[0].ranks), &ranks[i], 8);
        assert_int_equal(nuioa_step_load_decode(bytes, length, &decoded), -EINVAL);
    }
    memcpy(bytes, good, length);
    memset(bytes + head + offsetof(struct nuioa_step_load, nics[0].nic), 'x', 48);
    assert_int_equal(nuioa_step_load_decode(bytes, length, &decoded), -EINVAL);
    memcpy(bytes, good, length);
    bytes[head + offsetof(struct nuioa_step_load, nic_count)] = NUIOA_STEP_LOAD_NICS + 1;
    assert_int_equal(nuioa_step_load_decode(bytes, length, &decoded), -EINVAL);
    memcpy(bytes, good, length);
    bytes[8] ^= 1; /* another boot */
    assert_int_equal(nuioa_step_load_decode(bytes, length, &decoded), -ESTALE);
    bytes[0] ^= 1;
    assert_int_equal(nuioa_step_load_decode(bytes, length, &decoded), -EINVAL);
    assert_string_equal(jobs(&err), "5");
}

/* Two steps of one job, in the order of their numbers. */
static void test_steps_of_a_job(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load load = step_of(7, "a", 1), *loads;
    uint32_t count;
    for (load.step = 4; load.step-- > 0;)
        write_step(&load);
    assert_int_equal(nuioa_step_loads_read(&reader, &loads, &count, &err), 0);
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(loads[i].step, i);
    free(loads);
}

/* A killed process that had the number of this one may have left a file at its name. That file is
 * replaced and not written to. A directory there is an error. */
static void test_in_the_way(void **state)
{
    (void)state;
    struct nuioa_error err = { "" };
    struct nuioa_step_load load = step_of(7, "a", 1);
    char name[64], bytes[8];
    snprintf(name, sizeof(name), ".7.0.%u", load.pid);
    put(name, "half", 4, 0600);
    int left = openat(directory.fd, name, O_RDONLY | O_CLOEXEC);
    write_step(&load);
    assert_int_equal(read(left, bytes, sizeof(bytes)), 4);
    close(left);
    assert_false(there(name));
    assert_string_equal(jobs(&err), "7");
    nuioa_step_load_remove(&directory, &load);
    assert_int_equal(mkdirat(directory.fd, name + 1, 0700), 0);
    assert_int_equal(nuioa_step_load_write(&directory, &load, &err), -EISDIR);
    assert_non_null(strstr(err.text, "Is a directory"));
    assert_false(there(name));
}

/* More files than a reader reads. */
static void test_many(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load *loads, load = step_of(0, "a", 1);
    uint32_t count;
    for (load.job = 1; load.job <= NUIOA_STEP_LOADS_MAX + 50; load.job++)
        write_step(&load);
    assert_int_equal(nuioa_step_loads_read(&reader, &loads, &count, &err), 0);
    assert_int_equal(count, NUIOA_STEP_LOADS_MAX);
    free(loads);
}

static void test_directory(void **state)
{
    (void)state;
    struct nuioa_step_directory other;
    struct nuioa_error err;
    char name[128];
    struct leak_check before = leak_check_begin();
    snprintf(name, sizeof(name), "%s/none", path);
    assert_int_equal(nuioa_step_directory_open(&other, name, true, &err), -ENOENT);
    assert_int_equal(other.fd, -1);
    assert_int_equal(chmod(path, 01777), 0);
    assert_int_equal(nuioa_step_directory_open(&other, path, true, &err), -EPERM);
    assert_non_null(strstr(err.text, "others than root can write to it"));
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(name, sizeof(name), "%s-link", path);
    assert_int_equal(symlink(path, name), 0);
    assert_true(nuioa_step_directory_open(&other, name, true, &err) < 0);
    unlink(name);
    leak_check_end(&before);
}

/* Replaces the function of the C library, which needs memory. */
static bool no_memory;

DIR *fdopendir(int fd)
{
    static DIR *(*next)(int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fdopendir");
    errno = ENOMEM;
    return no_memory ? NULL : next(fd);
}

/* Replaces another one. */
static int stats = -1; /* calls before the one that fails, as on a remote file system */

int fstat(int fd, struct stat *st)
{
    if (stats < 0 || stats--)
        return fstatat(fd, "", st, AT_EMPTY_PATH);
    errno = ESTALE;
    return -1;
}

static void test_not_looked_at(void **state)
{
    (void)state;
    struct nuioa_step_directory other;
    struct nuioa_error err;
    int count = 0;
    struct leak_check before = leak_check_begin();
    for (bool failed = true; failed; count++) {
        stats = count;
        int rc = nuioa_step_directory_open(&other, path, true, &err);
        failed = stats < 0;
        stats = -1;
        assert_int_equal(rc, failed ? -ESTALE : 0);
        if (failed)
            assert_non_null(strstr(err.text, "Stale file handle"));
    }
    assert_true(count > 2); /* of the directories above, then of this one */
    nuioa_step_directory_close(&other);
    leak_check_end(&before);
}

static void test_not_listed(void **state)
{
    (void)state;
    struct nuioa_error err;
    struct nuioa_step_load *loads;
    uint32_t count = 1;
    struct leak_check before = leak_check_begin();
    no_memory = true;
    int rc = nuioa_step_loads_read(&directory, &loads, &count, &err);
    no_memory = false;
    leak_check_end(&before);
    assert_int_equal(rc, -ENOMEM);
    assert_int_equal(count, 0);
    assert_string_equal(err.text, "NIC load of other steps: Cannot allocate memory");
}

static void test_sum(void **state)
{
    (void)state;
    struct nuioa_node node;
    struct nuioa_step_load loads[3];
    double ranks[2];
    char label[48];
    machine_build(&node,
                  &(struct shape){ .numas = 2, .cores = 2, .threads = 1, .numas_per_package = 1 });
    machine_nic(&node, "a", 0);
    machine_nic(&node, "b", 1);
    loads[0] = step_of(1, nuioa_nic_label(&node.nics[0], label, sizeof(label)), 2);
    loads[1] = step_of(2, "gone", 9);
    loads[2] = step_of(3, nuioa_nic_label(&node.nics[1], label, sizeof(label)), 1);
    loads[2].nic_count = 2;
    loads[2].nics[1] = loads[0].nics[0];
    nuioa_step_loads_sum(loads, 3, &node, ranks);
    assert_float_equal(ranks[0], 4, 0);
    assert_float_equal(ranks[1], 1, 0);
    nuioa_step_loads_sum(loads, 0, &node, ranks);
    assert_float_equal(ranks[0] + ranks[1], 0, 0);
    nuioa_node_free(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_written_and_read, begin, end),
        cmocka_unit_test_setup_teardown(test_nothing_else_written, begin, end),
        cmocka_unit_test_setup_teardown(test_stale, begin, end),
        cmocka_unit_test_setup_teardown(test_other_namespace, begin, end),
        cmocka_unit_test_setup_teardown(test_inherited, begin, end),
        cmocka_unit_test_setup_teardown(test_components, begin, end),
        cmocka_unit_test_setup_teardown(test_user, begin, end),
        cmocka_unit_test_setup_teardown(test_garbage, begin, end),
        cmocka_unit_test_setup_teardown(test_numbers, begin, end),
        cmocka_unit_test_setup_teardown(test_steps_of_a_job, begin, end),
        cmocka_unit_test_setup_teardown(test_in_the_way, begin, end),
        cmocka_unit_test_setup_teardown(test_many, begin, end),
        cmocka_unit_test_setup_teardown(test_directory, begin, end),
        cmocka_unit_test_setup_teardown(test_sum, begin, end),
        cmocka_unit_test_setup_teardown(test_not_listed, begin, end),
        cmocka_unit_test_setup_teardown(test_not_looked_at, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
