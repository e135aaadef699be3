/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FILE_H
#define TEST_FILE_H

#include <stddef.h>

/* Files that tests read and write. What fails here ends the test. */

/* The path of a file of the sources, named as from test/unit: "../../doc/report.md". The text is
 * static. */
const char *file_of_sources(const char *name);

/* The text of a file, up to its first 0 byte. It is freed when the test has ended. */
char *file_text(const char *path);

/* Makes a file in /tmp with these bytes, and returns its path. It is removed when the test has
 * ended, and the path is valid until then. */
const char *file_new(const void *bytes, size_t length);

/* Makes a directory in /tmp, and returns its path. It is removed with all that is in it when the
 * test has ended, and the path is valid until then. */
const char *file_directory(void);

/* Writes the file anew. */
void file_write(const char *path, const char *text);

#endif
