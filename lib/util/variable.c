/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/variable.h"

#include <stddef.h>
#include <string.h>

const char *nuioa_variable(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}
