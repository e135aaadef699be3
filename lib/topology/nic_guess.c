/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_guess.h"

#include "topology/pci_path.h"

bool nuioa_nic_same_rate(uint32_t a_mbps, uint32_t b_mbps)
{
    uint64_t low = a_mbps < b_mbps ? a_mbps : b_mbps, high = a_mbps < b_mbps ? b_mbps : a_mbps;
    return high * 10 <= low * 11;
}

bool nuioa_nic_is_beside(const struct nuioa_node *node, const bool *fit, uint32_t gpu, uint32_t nic)
{
    enum nuioa_path path = nuioa_path_at(node, gpu, nic);
    if (path == NUIOA_PATH_UNKNOWN || path > NUIOA_PATH_PHB || !fit[nic])
        return false;
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (fit[i] && nuioa_path_shorter(nuioa_path_at(node, gpu, i), path))
            return false;
    return true;
}

bool nuioa_nic_bypasses_kernel(const struct nuioa_nic *nic)
{
    return nic->kind != NUIOA_NIC_OTHER && nic->kind != NUIOA_NIC_ETHERNET;
}

/* Returns true if a GPU may have NIC `a` instead of `b`: it is at least half as fast, if both rates
 * are known, and no plain Ethernet instead of another network. */
static bool is_like(const struct nuioa_nic *a, const struct nuioa_nic *b)
{
    return (nuioa_nic_bypasses_kernel(a) || !nuioa_nic_bypasses_kernel(b)) &&
           (!a->rate_mbps || a->rate_mbps >= b->rate_mbps / 2);
}

/* Returns true if the GPU has a NIC beside it that is not doubted, and that it may have instead of
 * `nic`. */
static bool is_served(const struct nuioa_node *node, const bool *fit, uint32_t gpu, uint32_t nic)
{
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (i != nic && !node->nics[i].doubts && is_like(&node->nics[i], &node->nics[nic]) &&
            nuioa_nic_is_beside(node, fit, gpu, i))
            return true;
    return false;
}

/* Returns true if at least as many fit NICs as GPUs bypass the kernel and are no BlueFields. */
static bool are_others_enough(const struct nuioa_node *node, const bool *fit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->nic_count; i++)
        count += fit[i] && nuioa_nic_bypasses_kernel(&node->nics[i]) && !node->nics[i].hints;
    return count >= node->gpu_count;
}

/* Returns true if at least as many NICs as GPUs have one rate, and this NIC another. */
static bool has_unlike_rate(const struct nuioa_node *node, const bool *fit, uint32_t nic)
{
    uint32_t own = node->nics[nic].rate_mbps;
    for (uint32_t k = 0; own && k < node->nic_count; k++) {
        uint32_t rate = node->nics[k].rate_mbps, count = 0;
        if (!fit[k] || !rate || nuioa_nic_same_rate(rate, own))
            continue;
        for (uint32_t i = 0; i < node->nic_count; i++)
            count += fit[i] && nuioa_nic_bypasses_kernel(&node->nics[i]) &&
                     nuioa_nic_same_rate(node->nics[i].rate_mbps, rate);
        if (count >= node->gpu_count)
            return true;
    }
    return false;
}

/* Returns the doubts by the place and the rate of a NIC. */
static uint32_t doubts_by_place(const struct nuioa_node *node, const bool *fit, uint32_t nic)
{
    bool all_served = true;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        if (nuioa_nic_is_beside(node, fit, g, nic))
            return 0;
        all_served = all_served && is_served(node, fit, g, nic);
    }
    return (all_served ? NUIOA_HINT_FAR : 0u) |
           (has_unlike_rate(node, fit, nic) ? NUIOA_HINT_RATE : 0u);
}

/* Takes back the doubt of a NIC that some GPU needs. */
static void keep_needed(struct nuioa_node *node, const bool *fit, uint32_t nic)
{
    for (uint32_t g = 0; g < node->gpu_count; g++)
        if (nuioa_nic_is_beside(node, fit, g, nic) && !is_served(node, fit, g, nic))
            node->nics[nic].doubts = 0;
}

static bool is_said(const struct nuioa_nic *nic)
{
    return nic->role_source == NUIOA_ROLE_BY_SITE;
}

/* Sets the role and who says it by the doubts. */
static void set_role(struct nuioa_nic *nic)
{
    if (is_said(nic))
        return;
    bool manages = nic->doubts & NUIOA_HINT_BLUEFIELD || !nuioa_nic_bypasses_kernel(nic);
    nic->role = !nic->doubts ? NUIOA_ROLE_UNKNOWN
                : manages    ? NUIOA_ROLE_MANAGEMENT
                             : NUIOA_ROLE_STORAGE;
    nic->role_source = nic->doubts ? NUIOA_ROLE_BY_GUESS : NUIOA_ROLE_BY_NOBODY;
}

void nuioa_nics_guess(struct nuioa_node *node, const bool *fit)
{
    struct nuioa_nic *nics = node->nics;
    uint32_t count = node->nic_count;
    bool some_left = false;
    /* BlueFields may be the NICs that MPI is to use, unless there are enough others. */
    const bool counts = node->gpu_count && are_others_enough(node, fit);
    for (uint32_t i = 0; i < count; i++)
        nics[i].doubts = counts && fit[i] && !is_said(&nics[i]) ? nics[i].hints : 0;
    for (uint32_t i = 0; i < count; i++)
        if (nics[i].doubts)
            keep_needed(node, fit, i);
    for (uint32_t i = 0; node->gpu_count && i < count; i++)
        if (fit[i] && !is_said(&nics[i]))
            nics[i].doubts |= doubts_by_place(node, fit, i);
    for (uint32_t i = 0; i < count; i++)
        some_left = some_left || (fit[i] && !nics[i].doubts);
    for (uint32_t i = 0; i < count; i++) {
        nics[i].doubts = some_left ? nics[i].doubts : 0;
        set_role(&nics[i]);
    }
}

const char *nuioa_nic_doubt_text(const struct nuioa_nic *nic)
{
    static const struct {
        uint32_t doubt;
        const char *text;
    } texts[] = {
        { NUIOA_HINT_BLUEFIELD, "it is a BlueField, and there are other NICs for all GPUs" },
        { NUIOA_HINT_FAR, "it is beside no GPU, and each GPU has another NIC beside it" },
        { NUIOA_HINT_RATE, "its rate differs from that of the NICs for the GPUs" },
    };
    for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (nic->doubts & texts[i].doubt)
            return texts[i].text;
    return "";
}
