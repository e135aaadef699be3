/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/library_variables.h"

#include <stdbool.h>
#include <string.h>

#include "output/variable_block.h"
#include "util/number.h"
#include "util/text.h"

/* The NICs that are named to a library. */
struct choice {
    const uint32_t *nics; /* [count]: indexes into node->nics, the best one first */
    uint32_t count;
};

/* The number of NICs over which UCX sends one message by itself (UCX, src/ucp/core/ucp_context.c,
 * MAX_RNDV_RAILS). */
#define UCX_RAILS 2

/* Which name of a NIC a library wants. */
enum name { LABEL, DEVICE, NETDEV };

static const char *name_of(const struct nuioa_nic *nic, enum name name, char *label, size_t size)
{
    if (name == LABEL)
        return nuioa_nic_label(nic, label, size);
    return name == DEVICE ? nic->name : nic->netdev;
}

/* Returns true for a NIC that UCX, HCOLL and NVSHMEM use through verbs. */
static bool is_verbs(const struct nuioa_nic *nic)
{
    return (nic->kind == NUIOA_NIC_INFINIBAND || nic->kind == NUIOA_NIC_ROCE) && nic->port > 0;
}

/* Writes the names of the NICs, such as "mlx5_0:1,mlx5_1:1": with `verbs` of those with a verbs
 * device, else of those without. Returns false if there are none, or if they do not fit. */
static bool list_names(const struct nuioa_node *node, const struct choice *choice, bool verbs,
                       enum name name, char *list, size_t size)
{
    struct nuioa_text t = nuioa_text_in(list, size);
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct nuioa_nic *nic = &node->nics[choice->nics[i]];
        char label[48];
        if (verbs == (nic->port > 0))
            nuioa_text_add(&t, "%s%s", t.used ? "," : "", name_of(nic, name, label, sizeof(label)));
    }
    return nuioa_text_is_whole(&t);
}

static bool is_doubted(const struct nuioa_node *node, const struct choice *choice)
{
    for (uint32_t i = 0; i < choice->count; i++)
        if (node->nics[choice->nics[i]].doubts)
            return true;
    return false;
}

/* UCX has the same names of devices as nuioa, and takes a list. `rails` is how many NICs the rank
 * has. EFA is left out: UCX before 1.18 has no transport for it, and without any other device it
 * would refuse to start. */
static void put_ucx(struct nuioa_block *b, const struct nuioa_node *node,
                    const struct choice *choice, uint32_t rails)
{
    char list[NUIOA_BLOCK_ENTRY_MAX];
    const struct nuioa_nic *first = choice->count ? &node->nics[choice->nics[0]] : NULL;
    if (!first || first->kind == NUIOA_NIC_EFA ||
        !list_names(node, choice, first->port > 0, LABEL, list, sizeof(list)))
        return;
    nuioa_block_put(b, "UCX_NET_DEVICES=%s", list);
    if (rails > UCX_RAILS)
        nuioa_block_put(b, "UCX_MAX_RNDV_RAILS=%u", rails);
}

/* Returns the unit number at the end of a name such as "hfi1_0", or NULL. */
static const char *unit_of(const char *name)
{
    const char *underscore = strrchr(name, '_');
    return underscore ? underscore + 1 : NULL;
}

/* Returns true if FI_VERBS_DEVICE_NAME can name the device: libfabric takes every device whose name
 * begins so, in upper or lower case (2.6, prov/verbs/src/verbs_info.c, vrb_init_info), and
 * "mlx5_1" is also "mlx5_10". */
static bool is_no_prefix(const struct nuioa_node *node, const char *device)
{
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (node->nics[i].port > 0 && strcmp(node->nics[i].name, device) &&
            !strncasecmp(node->nics[i].name, device, strlen(device)))
            return false;
    return true;
}

/* Adds the variables that name one NIC. */
static void put_single(struct nuioa_block *b, const struct nuioa_node *node,
                       const struct nuioa_nic *nic, unsigned wanted)
{
    const char *unit = nic->kind == NUIOA_NIC_OMNIPATH ? unit_of(nic->name) : NULL;
    if (wanted & NUIOA_EXPORT_OFI && nic->kind == NUIOA_NIC_ETHERNET && nic->netdev[0])
        nuioa_block_put(b, "FI_TCP_IFACE=%s", nic->netdev);
    if (wanted & NUIOA_EXPORT_OFI && nic->kind == NUIOA_NIC_INFINIBAND && nic->port > 0 &&
        is_no_prefix(node, nic->name))
        nuioa_block_put(b, "FI_VERBS_DEVICE_NAME=%s", nic->name);
    if (wanted & NUIOA_EXPORT_OFI && unit)
        nuioa_block_put(b, "FI_OPX_HFI_SELECT=%s", unit);
    if (wanted & NUIOA_EXPORT_PSM && unit)
        nuioa_block_put(b, "HFI_UNIT=%s", unit);
}

/* Returns true if PSM3_NIC can name the device: it is a glob, "any" is no name, and what is all
 * hexadecimal digits is a number (libfabric 2.6, prov/psm3/psm3/psm.c, psmi_parse_nic_var). */
static bool is_psm3_name(const char *device)
{
    return strcasecmp(device, "any") && !device[strcspn(device, "*?[]()@+!|\\")] &&
           device[strspn(device, "0123456789abcdefABCDEF")];
}

/* Returns true if FI_CXI_DEVICE_NAME can name the device: libfabric takes every device whose name
 * is a part of the value (1.22 to 2.6, prov/cxi/src/cxip_if.c, cxip_query_if_list), and "cxi1" is a
 * part of "cxi10". */
static bool is_cxi_alone(const struct nuioa_node *node, const char *device)
{
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (*node->nics[i].cxi && strcmp(node->nics[i].cxi, device) != 0 &&
            strstr(device, node->nics[i].cxi))
            return false;
    return *device != '\0';
}

/* Adds the variables that choose the only NIC of a rank's GPU. Without them each library takes a
 * NIC that is near, as other ranks may, too. NVSHMEM takes a NIC of its list by the local rank
 * (NVSHMEM 3.4.5, src/host/transport/transport.cpp, nvshmemi_setup_connections), so the list has
 * one; a rank has one GPU there. */
static void put_for_gpu(struct nuioa_block *b, const struct nuioa_node *node,
                        const struct nuioa_assignment *assignment, unsigned wanted)
{
    const struct nuioa_nic *nic = &node->nics[assignment->nics[0]];
    char label[48];
    if (!assignment->gpu_count)
        return;
    if (wanted & NUIOA_EXPORT_OFI && is_cxi_alone(node, nic->cxi))
        nuioa_block_put(b, "FI_CXI_DEVICE_NAME=%s", nic->cxi);
    if (!is_verbs(nic))
        return;
    if (wanted & NUIOA_EXPORT_PSM && nic->kind == NUIOA_NIC_ROCE && is_psm3_name(nic->name))
        nuioa_block_put(b, "PSM3_NIC=%s", nic->name);
    if (wanted & NUIOA_EXPORT_NVSHMEM && assignment->gpu_count == 1 &&
        node->gpus[assignment->gpus[0]].vendor == NUIOA_GPU_NVIDIA) {
        nuioa_block_put(b, "NVSHMEM_ENABLE_NIC_PE_MAPPING=1");
        nuioa_block_put(b, "NVSHMEM_HCA_LIST=%s", nuioa_nic_label(nic, label, sizeof(label)));
    }
}

/* Adds the variables of the rank's own NICs. A variable that leaves out a NIC is set only if every
 * NIC of the node reaches the others' network: else two ranks may have NICs that do not reach each
 * other. */
static void put_own(struct nuioa_block *b, const struct nuioa_node *node,
                    const struct nuioa_assignment *assignment, unsigned wanted)
{
    const struct choice own = { assignment->nics, assignment->nic_count };
    const struct nuioa_nic *first = &node->nics[own.nics[0]];
    char list[NUIOA_BLOCK_ENTRY_MAX], label[48];
    if (own.count == 1) {
        put_single(b, node, first, wanted);
        put_for_gpu(b, node, assignment, wanted);
    }
    if (wanted & NUIOA_EXPORT_OFI && first->kind == NUIOA_NIC_EFA && assignment->gpu_count &&
        list_names(node, &own, true, DEVICE, list, sizeof(list)))
        nuioa_block_put(b, "FI_EFA_IFACE=%s", list);
    if (wanted & NUIOA_EXPORT_UCX && is_verbs(first))
        nuioa_block_put(b, "HCOLL_MAIN_IB=%s", nuioa_nic_label(first, label, sizeof(label)));
}

/* Adds the variable of NCCL and RCCL, only if the user or the site chose NICs. NCCL finds the NIC
 * of a GPU among them by itself, also if it has fewer of them than GPUs. It needs equal values on
 * all ranks and fails if each rank has its own NIC (NVIDIA/nccl issue 1478). A value that begins
 * with '=' has exact names. A task that looks up its own NICs does not know which are usable. */
static void put_nccl(struct nuioa_block *b, const struct nuioa_plan *plan,
                     const struct nuioa_node *node)
{
    const struct choice all = { plan->usable.nics, plan->usable.count };
    char list[NUIOA_BLOCK_ENTRY_MAX];
    if (!all.nics)
        return;
    if (list_names(node, &all, true, LABEL, list, sizeof(list)))
        nuioa_block_put(b, "NCCL_IB_HCA==%s", list);
    else if (list_names(node, &all, false, NETDEV, list, sizeof(list)))
        nuioa_block_put(b, "NCCL_SOCKET_IFNAME==%s", list);
}

/* --- Cray's MPICH ----------------------------------------------------------------------------- */

/* Returns the number by which Cray's MPICH knows the only NIC of a rank, which is that of its
 * device where they are cxi0 to cxiN; or -1. */
static int cray_number(const struct nuioa_node *node, const struct nuioa_assignment *assignment)
{
    uint32_t count = 0, number;
    if (assignment->nic_count != 1 || !assignment->gpu_count ||
        node->nics[assignment->nics[0]].doubts)
        return -1;
    const char *cxi = node->nics[assignment->nics[0]].cxi;
    for (uint32_t i = 0; i < node->nic_count; i++)
        count += *node->nics[i].cxi != '\0';
    if (strncmp(cxi, "cxi", 3) || nuioa_parse_u32(cxi + 3, UINT32_MAX, &number) || number >= count)
        return -1;
    return (int)number;
}

/* Writes which local ranks have which NIC, "0:0,2;1:1,3". Returns false unless each rank has one
 * NIC, whose number is known, and GPUs. */
static bool list_mapping(const struct nuioa_plan *plan, const struct nuioa_node *node, char *list,
                         size_t size)
{
    struct nuioa_text t = nuioa_text_in(list, size);
    for (uint32_t i = 0; i < plan->task_count; i++)
        if (cray_number(node, &plan->assignments[i]) < 0)
            return false;
    for (int number = 0; number < (int)node->nic_count; number++) {
        bool begun = false;
        for (uint32_t i = 0; i < plan->task_count; i++) {
            if (cray_number(node, &plan->assignments[i]) != number)
                continue;
            if (!begun)
                nuioa_text_add(&t, "%s%d:", t.used ? ";" : "", number);
            nuioa_text_add(&t, "%s%u", begun ? "," : "", i);
            begun = true;
        }
    }
    return nuioa_text_is_whole(&t);
}

/* Adds the policy. NUMA means the NUMA node of the CPUs, so that with GPUs the NIC of each rank is
 * said, or nothing. */
static void put_mpich(struct nuioa_block *b, const struct nuioa_plan *plan,
                      const struct nuioa_node *node, const struct nuioa_nic *first)
{
    char list[NUIOA_BLOCK_ENTRY_MAX];
    bool any_gpu = false;
    for (uint32_t i = 0; i < plan->task_count; i++)
        any_gpu = any_gpu || plan->assignments[i].gpu_count;
    if (first->kind != NUIOA_NIC_SLINGSHOT)
        return;
    if (!any_gpu) {
        nuioa_block_put(b, "MPICH_OFI_NIC_POLICY=NUMA");
    } else if (!plan->usable.guessed && list_mapping(plan, node, list, sizeof(list))) {
        nuioa_block_put(b, "MPICH_OFI_NIC_POLICY=USER");
        nuioa_block_put(b, "MPICH_OFI_NIC_MAPPING=%s", list);
    }
}

/* --- by words --------------------------------------------------------------------------------- */

int nuioa_library_variables(const struct nuioa_plan *plan, const struct nuioa_node *node,
                            const struct nuioa_options *options, uint32_t local, char *env,
                            size_t size)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    const struct choice own = { assignment->nics, assignment->nic_count },
                        all = { plan->usable.nics, plan->usable.count },
                        *choice = plan->usable.connected ? &own : &all;
    bool guessed = plan->usable.guessed || (plan->usable.doubted && !assignment->gpu_count) ||
                   is_doubted(node, choice);
    unsigned wanted = options->export_set;
    struct nuioa_block b = nuioa_block_begin(env, size);
    if (wanted & NUIOA_EXPORT_UCX && own.count && !guessed)
        put_ucx(&b, node, choice, own.count);
    if (plan->usable.connected && own.count && !guessed)
        put_own(&b, node, assignment, wanted);
    if (wanted & NUIOA_EXPORT_MPICH && own.count)
        put_mpich(&b, plan, node, &node->nics[own.nics[0]]);
    if (wanted & NUIOA_EXPORT_NCCL && strcmp(options->nic, "auto") != 0 && !plan->usable.guessed)
        put_nccl(&b, plan, node);
    return nuioa_block_end(&b);
}

/* --- by itself -------------------------------------------------------------------------------- */

/* Returns the level from a NIC to the farthest of the rank's NUMA nodes; 0 if it is unknown. */
static uint32_t level_from(const struct nuioa_node *node, const struct nuioa_nic *nic,
                           hwloc_const_bitmap_t numas)
{
    uint32_t level = 0;
    for (uint32_t i = 0; nic->level && i < node->numa_count; i++)
        if (hwloc_bitmap_isset(numas, node->numas[i].os_index) && nic->level[i] > level)
            level = nic->level[i];
    return level;
}

static bool is_listed(const struct choice *list, uint32_t nic)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->nics[i] == nic)
            return true;
    return false;
}

/* Returns the next nearest NIC of a rank, of those not in `list`. Equally near ones are taken in a
 * circle from its own on, so that the ranks share them. */
static uint32_t next_nearest(const struct nuioa_plan *plan, const struct nuioa_node *node,
                             const struct nuioa_assignment *assignment, const struct choice *list)
{
    const struct nuioa_usable *usable = &plan->usable;
    uint32_t at = 0, best = assignment->nics[0], least = UINT32_MAX;
    while (at < usable->count && usable->nics[at] != assignment->nics[0])
        at++;
    for (uint32_t k = 1; k < usable->count; k++) {
        uint32_t nic = usable->nics[(at + k) % usable->count];
        uint32_t level = level_from(node, &node->nics[nic], assignment->numas);
        if (!is_listed(list, nic) && level < least) {
            least = level;
            best = nic;
        }
    }
    return best;
}

/* Sets *choice to the NICs of a rank. Where it has fewer than UCX uses by itself, and no GPU,
 * others follow in room[UCX_RAILS]. */
static void choose(const struct nuioa_plan *plan, const struct nuioa_node *node,
                   const struct nuioa_assignment *assignment, uint32_t *room, struct choice *choice)
{
    *choice = (struct choice){ assignment->nics, assignment->nic_count };
    if (assignment->gpu_count || choice->count >= UCX_RAILS)
        return;
    memcpy(room, assignment->nics, choice->count * sizeof(*room));
    choice->nics = room;
    for (; choice->count < UCX_RAILS; choice->count++)
        room[choice->count] = next_nearest(plan, node, assignment, choice);
}

static enum nuioa_auto_why judge(const struct nuioa_plan *plan, const struct nuioa_node *node,
                                 const struct nuioa_assignment *assignment, uint32_t *room,
                                 struct choice *choice)
{
    const struct nuioa_usable *usable = &plan->usable;
    bool slingshot =
        assignment->nic_count && node->nics[assignment->nics[0]].kind == NUIOA_NIC_SLINGSHOT;
    if (usable->count < 2 || !assignment->nic_count)
        return NUIOA_AUTO_ONE_PORT;
    if (!slingshot && !is_verbs(&node->nics[assignment->nics[0]]))
        return NUIOA_AUTO_KIND;
    if (plan->task_count < 2)
        return NUIOA_AUTO_ALONE;
    if (!assignment->gpu_count && (assignment->seen_count || !usable->nics))
        return NUIOA_AUTO_GPUS;
    if (usable->guessed || (usable->doubted && !assignment->gpu_count))
        return NUIOA_AUTO_DOUBTED;
    if (!usable->connected)
        return NUIOA_AUTO_UNCONNECTED;
    if (!assignment->gpu_count && (slingshot || plan->task_count < usable->count))
        return slingshot ? NUIOA_AUTO_KIND : NUIOA_AUTO_FEW;
    if (!assignment->gpu_count && usable->count <= UCX_RAILS)
        return NUIOA_AUTO_ALL;
    choose(plan, node, assignment, room, choice);
    if (is_doubted(node, choice))
        return NUIOA_AUTO_DOUBTED;
    return !slingshot && choice->count >= usable->count ? NUIOA_AUTO_ALL : NUIOA_AUTO_SET;
}

enum nuioa_auto_why nuioa_library_auto_why(const struct nuioa_plan *plan,
                                           const struct nuioa_node *node, uint32_t local)
{
    uint32_t room[UCX_RAILS];
    struct choice choice;
    return judge(plan, node, &plan->assignments[local], room, &choice);
}

const char *nuioa_auto_why_text(enum nuioa_auto_why why)
{
    static const char *const texts[NUIOA_AUTO_WHYS] = {
        [NUIOA_AUTO_SET] = "",
        [NUIOA_AUTO_ALONE] = "a rank alone on its node may start others",
        [NUIOA_AUTO_ONE_PORT] = "ranks use one port, or none",
        [NUIOA_AUTO_KIND] = "only InfiniBand, RoCE, and Slingshot with GPUs, are chosen",
        [NUIOA_AUTO_GPUS] = "it is unknown which GPUs the rank has",
        [NUIOA_AUTO_DOUBTED] = "a NIC may be for storage or management. Set nic_role",
        [NUIOA_AUTO_UNCONNECTED] =
            "it is unknown whether the NICs reach each other. If they do, set rails=connected",
        [NUIOA_AUTO_FEW] = "the rank has no GPU, and there are fewer ranks than ports",
        [NUIOA_AUTO_ALL] = "UCX uses these NICs by itself",
    };
    return texts[why];
}

int nuioa_library_auto(const struct nuioa_plan *plan, const struct nuioa_node *node,
                       const struct nuioa_options *options, uint32_t local, char *env, size_t size)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    uint32_t room[UCX_RAILS];
    struct choice choice;
    struct nuioa_block b = nuioa_block_begin(env, size);
    unsigned set = options->export_set;
    if (!(set & NUIOA_EXPORT_AUTO) ||
        judge(plan, node, assignment, room, &choice) != NUIOA_AUTO_SET)
        return nuioa_block_end(&b);
    if (is_verbs(&node->nics[choice.nics[0]]) && !(set & NUIOA_EXPORT_UCX))
        put_ucx(&b, node, &choice, choice.count);
    else if (!is_verbs(&node->nics[choice.nics[0]]) && !(set & NUIOA_EXPORT_MPICH))
        nuioa_block_put(&b, "MPICH_OFI_NIC_POLICY=GPU");
    return nuioa_block_end(&b);
}
