/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_VALUE_H
#define NUIOA_PMIX_VALUE_H

#include <pmix_common.h>
#include <stdint.h>

/* This header is private to pmix. It declares functions that make and free PMIx values without
 * PMIx's own macros: from version 5 on these macros call functions of libpmix, and which libpmix a
 * process has is known only when it runs. The layouts used here (pmix_proc_t, pmix_info_t,
 * pmix_value_t, pmix_data_array_t, pmix_device_distance_t) and the numbers of the types are the
 * same in PMIx 4.2, 5.0, 6.0 and 6.1. The values that PMIx_Get returns are allocated by malloc. */

/* The functions of the libpmix in this process. A function that it does not have is NULL. */
struct pmix_calls {
    pmix_status_t (*get)(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                         size_t info_count, pmix_value_t **value);
    pmix_status_t (*store)(const pmix_proc_t *proc, const char *key, pmix_value_t *value);
    int (*initialized)(void);
    const char *(*version)(void);
};

/* Sets all functions of *calls to what dlsym(handle, ...) finds; NULL if it finds none. `handle` is
 * a handle of dlopen() or RTLD_DEFAULT; it must stay open while the functions are used. */
void pmix_calls_find(struct pmix_calls *calls, void *handle);

/* Returns the version as 100 * major + minor: 402 for "OpenPMIx 4.2.2 ...". Returns 0 if libpmix
 * does not tell its version. */
unsigned pmix_calls_version(const struct pmix_calls *calls);

/* Makes *proc the process `rank` of the namespace `nspace`, which is copied. A longer name than
 * PMIX_MAX_NSLEN is cut. PMIX_RANK_WILDCARD is all processes. */
void pmix_proc_set(pmix_proc_t *proc, const char *nspace, uint32_t rank);

/* Asks PMIx for a key of the process *proc with PMIX_OPTIONAL: such a request never goes to another
 * node. calls->get must not be NULL. Returns the value, which the caller frees with
 * pmix_value_release; or NULL if there is no such key, its value has another type than `type`, or
 * PMIx reports an error. */
pmix_value_t *pmix_value_get(const struct pmix_calls *calls, const pmix_proc_t *proc,
                             const char *key, pmix_data_type_t type);

/* Frees a value that pmix_value_get returned: a number, a string, or an array of ranks or of
 * distances. NULL is allowed. */
void pmix_value_release(pmix_value_t *value);

#endif
