/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_WRAP_H
#define TEST_HOOKS_WRAP_H

#include "fault.h"

/* WRAP defines a replacement that fails with `error` in errno and the result `failed` when
 * fault_hits() says so. */
#define WRAP(kind, error, failed, type, name, parameters, arguments) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
        return fault_hits(kind, error) ? (failed) : __real_##name arguments; \
    }

/* The same for functions that return memory, which the ledger notes. */
#define WRAP_MEMORY(type, name, parameters, arguments) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
        type memory = fault_hits(FAULT_MEMORY, ENOMEM) ? NULL : __real_##name arguments; \
        ledger_add(memory, __builtin_return_address(0)); \
        return memory; \
    }

#endif
