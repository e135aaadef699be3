/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_VALUE_H
#define NUIOA_PMIX_VALUE_H

#include <pmix_common.h>
#include <stdint.h>

/* Private: PMIx values made and taken apart by hand. PMIx's macros for this call functions of
 * libpmix from version 5 on, and which libpmix a process has is only known when it runs. The
 * layouts used here (pmix_proc_t, pmix_info_t, pmix_value_t, pmix_data_array_t,
 * pmix_device_distance_t) and the numbers of the types are the same in PMIx 4.2, 5.0, 6.0 and 6.1;
 * what PMIx_Get returns is allocated by malloc. */

/* The functions of whichever libpmix is there; NULL: it does not have it. */
struct pmix_calls {
    pmix_status_t (*get)(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                         size_t info_count, pmix_value_t **value);
    pmix_status_t (*store)(const pmix_proc_t *proc, const char *key, pmix_value_t *value);
    int (*initialized)(void);
    const char *(*version)(void);
};

/* Finds them with dlsym(handle, ...). */
void pmix_calls_find(struct pmix_calls *calls, void *handle);

/* "OpenPMIx 4.2.2 ..." -> 402; 0 if it does not say. */
unsigned pmix_calls_version(const struct pmix_calls *calls);

void pmix_proc_set(pmix_proc_t *proc, const char *nspace, uint32_t rank);

/* Asks with PMIX_OPTIONAL, which never leaves the process for another node. 0 and *value (caller:
 * pmix_value_release), or -ENOENT. A value of another type than `type` counts as absent. */
int pmix_value_get(const struct pmix_calls *calls, const pmix_proc_t *proc, const char *key,
                   pmix_data_type_t type, pmix_value_t **value);

/* For the types that this project exchanges: numbers, strings, arrays of ranks and of distances. */
void pmix_value_release(pmix_value_t *value);

#endif
