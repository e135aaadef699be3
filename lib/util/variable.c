/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/variable.h"

#include <stddef.h>
#include <string.h>

#include "util/number.h"

const char *nuioa_variable(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

uint32_t nuioa_variable_number(char *const *environment, const char *name, uint32_t max,
                               uint32_t otherwise)
{
    const char *text = nuioa_variable(environment, name);
    uint32_t number;
    return text && !nuioa_parse_u32(text, max, &number) ? number : otherwise;
}
