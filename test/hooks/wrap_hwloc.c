/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <hwloc.h>
#include <hwloc/export.h>

#include "wrap.h"

/* hwloc. Its bitmaps grow when a bit is set. */

WRAP_MEMORY(hwloc_bitmap_t, hwloc_bitmap_alloc, (void), ())
WRAP_MEMORY(hwloc_bitmap_t, hwloc_bitmap_dup, (hwloc_const_bitmap_t set), (set))

void __real_hwloc_bitmap_free(hwloc_bitmap_t set);
void __wrap_hwloc_bitmap_free(hwloc_bitmap_t set);
void __wrap_hwloc_bitmap_free(hwloc_bitmap_t set)
{
    ledger_remove(set);
    __real_hwloc_bitmap_free(set);
}

int __real_hwloc_bitmap_list_asprintf(char **text, hwloc_const_bitmap_t set);
int __wrap_hwloc_bitmap_list_asprintf(char **text, hwloc_const_bitmap_t set);
int __wrap_hwloc_bitmap_list_asprintf(char **text, hwloc_const_bitmap_t set)
{
    int length =
        fault_hits(FAULT_MEMORY, ENOMEM) ? -1 : __real_hwloc_bitmap_list_asprintf(text, set);
    if (length >= 0)
        ledger_add(*text, __builtin_return_address(0));
    return length;
}

#define WRAP_HWLOC(name, parameters, arguments) \
    WRAP(FAULT_HWLOC, ENOMEM, -1, int, name, parameters, arguments)

WRAP_HWLOC(hwloc_bitmap_copy, (hwloc_bitmap_t to, hwloc_const_bitmap_t from), (to, from))
WRAP_HWLOC(hwloc_bitmap_set, (hwloc_bitmap_t set, unsigned bit), (set, bit))
WRAP_HWLOC(hwloc_bitmap_or,
           (hwloc_bitmap_t to, hwloc_const_bitmap_t first, hwloc_const_bitmap_t second),
           (to, first, second))
WRAP_HWLOC(hwloc_bitmap_and,
           (hwloc_bitmap_t to, hwloc_const_bitmap_t first, hwloc_const_bitmap_t second),
           (to, first, second))
WRAP_HWLOC(hwloc_bitmap_andnot,
           (hwloc_bitmap_t to, hwloc_const_bitmap_t first, hwloc_const_bitmap_t second),
           (to, first, second))
WRAP_HWLOC(hwloc_bitmap_only, (hwloc_bitmap_t set, unsigned bit), (set, bit))
WRAP_HWLOC(hwloc_bitmap_list_sscanf, (hwloc_bitmap_t set, const char *text), (set, text))
WRAP_HWLOC(hwloc_bitmap_from_ulongs,
           (hwloc_bitmap_t set, unsigned count, const unsigned long *longs), (set, count, longs))
WRAP_HWLOC(hwloc_bitmap_set_ith_ulong, (hwloc_bitmap_t set, unsigned i, unsigned long bits),
           (set, i, bits))
WRAP_HWLOC(hwloc_topology_init, (hwloc_topology_t * topology), (topology))
WRAP_HWLOC(hwloc_topology_load, (hwloc_topology_t topology), (topology))
WRAP_HWLOC(hwloc_topology_set_flags, (hwloc_topology_t topology, unsigned long flags),
           (topology, flags))
WRAP_HWLOC(hwloc_topology_set_xml, (hwloc_topology_t topology, const char *path), (topology, path))
WRAP_HWLOC(hwloc_topology_set_io_types_filter,
           (hwloc_topology_t topology, enum hwloc_type_filter_e filter), (topology, filter))
WRAP_HWLOC(hwloc_topology_set_type_filter,
           (hwloc_topology_t topology, hwloc_obj_type_t type, enum hwloc_type_filter_e filter),
           (topology, type, filter))
