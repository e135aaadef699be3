/* SPDX-License-Identifier: BSD-3-Clause */
#include "input.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[PATH_MAX];

uint8_t input_byte(struct input *input)
{
    if (!input->size)
        return 0;
    input->size--;
    return *input->data++;
}

unsigned input_below(struct input *input, unsigned limit)
{
    unsigned value = input_byte(input);
    if (limit > 256)
        value = value << 8 | input_byte(input);
    return value % limit;
}

static char *take_text(struct input *input, size_t length)
{
    char *text = malloc(length + 1);
    INPUT_CHECK(text != NULL);
    if (length)
        memcpy(text, input->data, length);
    text[length] = '\0';
    input->data += length;
    input->size -= length;
    return text;
}

char *input_line(struct input *input)
{
    const uint8_t *end = input->size ? memchr(input->data, '\n', input->size) : NULL;
    char *text = take_text(input, end ? (size_t)(end - input->data) : input->size);
    input_byte(input);
    return text;
}

char *input_text(struct input *input)
{
    return take_text(input, input->size);
}

uint8_t *input_copy(const struct input *input)
{
    uint8_t *copy = malloc(input->size ? input->size : 1);
    INPUT_CHECK(copy != NULL);
    if (input->size)
        memcpy(copy, input->data, input->size);
    return copy;
}

void input_fill(struct input *input, void *to, size_t size)
{
    size_t there = size < input->size ? size : input->size;
    memset(to, 0, size);
    if (there)
        memcpy(to, input->data, there);
    input->data += there;
    input->size -= there;
}

void *input_block(struct input *input, size_t *length)
{
    struct input part = { input->data, *length < input->size ? *length : input->size };
    uint8_t *copy = input_copy(&part);
    *length = part.size;
    input->data += part.size;
    input->size -= part.size;
    return copy;
}

static void remove_directory(void)
{
    char command[PATH_MAX + 32];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    if (system(command))
        fprintf(stderr, "%s: not removed\n", directory);
}

const char *input_directory(void)
{
    const char *parent = getenv("TMPDIR");
    if (directory[0])
        return directory;
    snprintf(directory, sizeof(directory), "%s/nuioa-fuzz-XXXXXX", parent ? parent : "/tmp");
    INPUT_CHECK(mkdtemp(directory) != NULL);
    atexit(remove_directory);
    return directory;
}

static char *path_of(const char *name)
{
    enum { PATHS = 8 };
    static char paths[PATHS][PATH_MAX + 64];
    static unsigned next;
    char *path = paths[next++ % PATHS];
    snprintf(path, sizeof(paths[0]), "%s/%s", input_directory(), name);
    return path;
}

static void make_directories(char *path)
{
    for (char *slash = path + strlen(directory) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static int create(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

const char *input_file(const char *name, const void *bytes, size_t size)
{
    char *path = path_of(name);
    int fd = create(path);
    if (fd < 0) {
        make_directories(path);
        fd = create(path);
    }
    INPUT_CHECK(fd >= 0);
    INPUT_CHECK(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    return path;
}

void input_no_file(const char *name)
{
    unlink(path_of(name));
}

bool input_holds(int holds, const char *text, const char *file, int line)
{
    if (holds || faults_hit())
        return holds;
    fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, text);
    abort();
}

void input_check(int holds, const char *text, const char *file, int line)
{
    if (!input_holds(holds, text, file, line))
        faults_end_input();
}
