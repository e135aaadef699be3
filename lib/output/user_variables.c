/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/user_variables.h"

#include <stdlib.h>
#include <string.h>

#include "util/variable.h"

uint32_t nuioa_omp_threads(char *const *environment)
{
    const char *text = nuioa_variable(environment, "OMP_NUM_THREADS");
    char *end;
    unsigned long count = text ? strtoul(text, &end, 10) : 0;
    return text && end > text && (!*end || *end == ',') && count < UINT32_MAX ? (uint32_t)count : 0;
}

bool nuioa_threads_are_placed(char *const *environment)
{
    static const char names[][20] = { "OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY",
                                      "KMP_AFFINITY" };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (nuioa_variable(environment, names[i]))
            return true;
    return false;
}

bool nuioa_is_set_otherwise(char *const *environment, const char *name)
{
    static const char pairs[][2][36] = {
        { "MPIR_CVAR_PROGRESS_THREAD_AFFINITY", "MPICH_PROGRESS_THREAD_AFFINITY" },
        { "I_MPI_ASYNC_PROGRESS_PIN", "I_MPI_ASYNC_PROGRESS_THREADS" },
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (!strcmp(name, pairs[i][0]) && nuioa_variable(environment, pairs[i][1]))
            return true;
    return false;
}

const char *nuioa_block_next(const char **block, char *name, size_t size)
{
    while (**block) {
        const char *setting = *block;
        size_t length = strcspn(setting, "=");
        *block += strlen(setting) + 1;
        if (!setting[length] || length >= size)
            continue;
        memcpy(name, setting, length);
        name[length] = '\0';
        return setting + length + 1;
    }
    return NULL;
}
