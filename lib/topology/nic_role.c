/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_role.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Longer than any name of a NIC with a port, in bytes with the NUL. */
enum { PATTERN_SIZE = 64 };

#define FORM "expected PATTERN:ROLE, such as mlx5_8:storage, with commas between"

static enum nuioa_nic_role find_role(const char *word, size_t length)
{
    for (unsigned i = NUIOA_ROLE_COMPUTE; i < NUIOA_ROLES; i++) {
        const char *name = nuioa_nic_role_name((enum nuioa_nic_role)i);
        if (strlen(name) == length && !strncmp(name, word, length))
            return (enum nuioa_nic_role)i;
    }
    return NUIOA_ROLE_UNKNOWN;
}

/* Reads the next item of the list into pattern[PATTERN_SIZE] and *role. Returns 1, 0 at the end of
 * the list, or -EINVAL with *err. */
static int next_item(const char **rest, char *pattern, enum nuioa_nic_role *role,
                     struct nuioa_error *err)
{
    if (!*rest)
        return 0;
    const char *item = *rest;
    size_t length = strcspn(item, ",");
    int shown = length < 60 ? (int)length : 60;
    const char *colon = memrchr(item, ':', length); /* names have colons, too */
    size_t size = colon ? (size_t)(colon - item) : 0;
    if (!size || size >= PATTERN_SIZE)
        return nuioa_fail(err, -EINVAL, "'%.*s' names no NIC and role; " FORM, shown, item);
    /* Root matches what users type: only wildcards that need no parser. */
    for (const char *c = item; c < colon; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._:-*?", *c))
            return nuioa_fail(err, -EINVAL,
                              "'%c' in '%.*s' is in no device name; * and ? are the wildcards", *c,
                              shown, item);
    *role = find_role(colon + 1, length - size - 1);
    if (*role == NUIOA_ROLE_UNKNOWN)
        return nuioa_fail(err, -EINVAL,
                          "'%.*s' does not end in one of compute, storage, management; " FORM,
                          shown, item);
    memcpy(pattern, item, size);
    pattern[size] = '\0';
    *rest = item[length] ? item + length + 1 : NULL;
    return 1;
}

int nuioa_nic_roles_check(const char *list, struct nuioa_error *err)
{
    char pattern[PATTERN_SIZE];
    enum nuioa_nic_role role;
    const char *rest = list;
    int more;
    while ((more = next_item(&rest, pattern, &role, err)) > 0)
        ;
    return more;
}

void nuioa_nic_roles_set(struct nuioa_node *node, const char *list)
{
    char pattern[PATTERN_SIZE];
    enum nuioa_nic_role role;
    bool right = *list && !nuioa_nic_roles_check(list, NULL);
    for (uint32_t i = 0; i < node->nic_count; i++) {
        struct nuioa_nic *nic = &node->nics[i];
        nic->role = NUIOA_ROLE_UNKNOWN;
        nic->role_source = NUIOA_ROLE_BY_NOBODY;
        for (const char *rest = right ? list : NULL; next_item(&rest, pattern, &role, NULL) > 0;)
            if (nuioa_nic_matches(nic, pattern)) {
                nic->role = role;
                nic->role_source = NUIOA_ROLE_BY_SITE;
            }
    }
    nuioa_nic_judge(node);
}
