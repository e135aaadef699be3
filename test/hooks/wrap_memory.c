/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wrap.h"

/* Memory. */

WRAP_MEMORY(void *, malloc, (size_t size), (size))
WRAP_MEMORY(void *, calloc, (size_t count, size_t size), (count, size))
WRAP_MEMORY(char *, strdup, (const char *text), (text))
WRAP_MEMORY(char *, strndup, (const char *text, size_t length), (text, length))

/* The memory is the caller's own if `to` is not NULL. */
char *__real_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to)
{
    char *found = fault_hits(FAULT_MEMORY, ENOMEM) ? NULL : __real_realpath(path, to);
    if (!to)
        ledger_add(found, __builtin_return_address(0));
    return found;
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    ledger_remove(memory);
    __real_free(memory);
}

static void *moved(void *old, void *memory, const void *at)
{
    if (memory) {
        ledger_remove(old);
        ledger_add(memory, at);
    }
    return memory;
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    void *memory = fault_hits(FAULT_MEMORY, ENOMEM) ? NULL : __real_realloc(old, size);
    return moved(old, memory, __builtin_return_address(0));
}

void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    void *memory = fault_hits(FAULT_MEMORY, ENOMEM) ? NULL : __real_reallocarray(old, count, size);
    return moved(old, memory, __builtin_return_address(0));
}

/* With _FORTIFY_SOURCE the compiler calls __asprintf_chk. */
static int print(char **text, const char *format, va_list args, const void *at)
{
    int length = fault_hits(FAULT_MEMORY, ENOMEM) ? -1 : vasprintf(text, format, args);
    if (length >= 0)
        ledger_add(*text, at);
    return length;
}

int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = print(text, format, args, __builtin_return_address(0));
    va_end(args);
    return length;
}

int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
    va_list args;
    (void)flag;
    va_start(args, format);
    int length = print(text, format, args, __builtin_return_address(0));
    va_end(args);
    return length;
}

/* The last write of a stream can fail, for instance because its memory could not grow. The stream
 * is closed in any case. */
int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
int __wrap_fclose(FILE *stream)
{
    bool fails = fault_hits(FAULT_MEMORY, ENOMEM);
    int rc = __real_fclose(stream);
    errno = fails ? ENOMEM : errno;
    return fails ? EOF : rc;
}

/* A stream's memory grows while it is written, and belongs to the caller once it is closed. */
WRAP(FAULT_MEMORY, ENOMEM, NULL, FILE *, open_memstream, (char **text, size_t *size), (text, size))
WRAP(FAULT_MEMORY, ENOMEM, MAP_FAILED, void *, mmap,
     (void *at, size_t size, int access, int flags, int fd, off_t offset),
     (at, size, access, flags, fd, offset))
