/* SPDX-License-Identifier: BSD-3-Clause */

/* The kinds of finding, why each matters and what to do. The table in nuioa(1) has the same order.
 * */

#include <string.h>

#include "tools/doctor/kinds.h"

/* clang-format off */
const struct doctor_kind doctor_kinds[] = {
    /* --- the plugin --- */
    { "plugin-absent", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "srun does not know --nuioa where the line is missing on the login node, and nothing is "
      "placed where it is missing on the compute node.",
      "Copy plugstack.conf.d/nuioa.conf of the samples and include it, on login and compute "
      "nodes." },
    { "plugin-missing", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm leaves a plugin out that it cannot open; with \"required\" no job starts.",
      "Install nuioa on this node, or correct the line." },
    { "plugin-unloadable", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm leaves it out, starts no job where the line says \"required\", or loses jobs when it "
      "calls what is missing.",
      "Build nuioa anew with this Slurm's headers; a plugin belongs to one version of Slurm." },
    { "plugin-twice", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Every option is registered twice, and every rank is placed twice.",
      "Remove one of the lines; includes with * may also find a copy such as nuioa.conf.bak." },
    { "plugin-required", DOCTOR_ADVICE, DOCTOR_SHARED,
      "A node on which the plugin cannot be loaded then refuses all jobs.",
      "Write \"optional\"." },
    { "plugin-argument", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "The argument is left out, and its built-in default holds.",
      "Correct the line in plugstack.conf; nuioa-spank(8) lists the arguments." },
    { "plugin-emulates", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "The plugin describes another machine than this one, and binds nothing.",
      "Remove topology= from plugstack.conf; it is for tests." },
    { "hwloc-emulates", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Programs that begin with this environment take that machine for theirs, and ranks inherit "
      "it. All else that is said here is about this node.",
      "Unset the variable; it is for tests." },
    { "slurm-unread", DOCTOR_UNKNOWN, DOCTOR_SHARED,
      "The plugin's line and Slurm's settings were not looked at.",
      "Set SLURM_CONF, if there is Slurm here." },

    /* --- Slurm --- */
    { "task-plugin", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "All ranks of a node then have the same CPUs, and nuioa moves no ranks whose CPUs are the "
      "same.",
      "TaskPlugin=task/affinity,task/cgroup in slurm.conf." },
    { "task-affinity", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Old versions of Slurm bind twice then, newer ones refuse the word.",
      "Remove TaskAffinity from cgroup.conf and have task/affinity in TaskPlugin." },
    { "cores-unconstrained", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Processes of other jobs may run on the cores beside the NIC that a rank was given.",
      "TaskPlugin=task/affinity,task/cgroup in slurm.conf and ConstrainCores=yes in cgroup.conf." },
    { "cpu-bind-default", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Ranks share wide sets of CPUs unless a job says otherwise, and nuioa moves no ranks whose "
      "CPUs are the same.",
      "Make cores the default: CpuBind=core, or TaskPluginParam=Cores." },
    { "core-distribution", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Without CR_CORE_DEFAULT_DIST_BLOCK a job that gets part of a node gets cores of all "
      "sockets, half of them far from any NIC.",
      "SelectTypeParameters=CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK, or the sample "
      "cli_filter.lua." },

    /* --- what the plugin needs --- */
    { "munge-missing", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm's messages, or with auth=munge those of nodes to srun, are signed with this library.",
      "Install libmunge (Debian: libmunge2), or have auth=key in plugstack.conf where Slurm's "
      "AuthType is another." },
    { "munge-unreachable", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Slurm's own messages are signed by it, and so are, with auth=munge, those of nodes to "
      "srun: no "
      "job-wide report, no table of leaders.",
      "Start munged, look at its log; munge_socket= in plugstack.conf if its socket is "
      "elsewhere." },
    { "pmix-plugin", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Under srun there is no --mpi=pmix, so MPI learns leaders and NICs from the environment "
      "only.",
      "Install Slurm's PMIx plugin, if MPI here is to use it." },
    { "pmix-library", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm's PMIx plugin opens that name at each launch: srun --mpi=pmix fails.",
      "Install it; Debian has the name in libpmix-dev." },
    { "pmix-unable", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Keys cannot be published without it, the environment remains.",
      "PMIx 4.2 to 6.1 are known to work." },
    { "pmix-log", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "With this version any rank that calls PMIx_Log for stderr kills its slurmstepd, and srun "
      "hangs: an error of PMIx, with and without nuioa.",
      "Build Slurm with PMIx 5.0, or with a release after 6.1.1rc2." },
    { "pmix-topology", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Each rank finds out about the node's hardware by itself when MPI starts; on large nodes "
      "that takes long.",
      "PMIxShareServerTopology=true in mpi.conf: ranks get the description that slurmstepd has." },
    { "cache-missing", DOCTOR_ADVICE, DOCTOR_NODE,
      "The next launch finds out about the hardware by itself, which takes up to seconds on large "
      "nodes.",
      "Run \"nuioa cache\" at boot, before slurmd: nuioa-cache.service does." },
    { "cache-stale", DOCTOR_ADVICE, DOCTOR_NODE,
      "It is not used, and the next launch finds out about the hardware by itself.",
      "Run \"nuioa cache\", after the fabric's services at boot." },
    { "cache-refused", DOCTOR_PROBLEM, DOCTOR_NODE,
      "The plugin reads as root only what nobody else could have written: each launch finds out "
      "about the hardware by itself, and warns.",
      "Remove it, and run \"nuioa cache\" as root." },
    { "cache-directory", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Others could put a cache of theirs there, so the plugin reads none: each launch finds out "
      "about the hardware by itself, and warns.",
      "chown root and chmod go-w what is named above, then run \"nuioa cache\" as root." },
    { "distances-refused", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "The distances that the site measured are not used, and the firmware's are.",
      "Correct what is named above. Root must own the file and its directories, and nobody else "
      "may write to them; \"nuioa probe --out\" writes the file anew." },
    { "distances-foreign", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "The file was made for other nodes than this one: the firmware's distances are used here.",
      "Run \"nuioa probe\" on a node of this kind and add its section to the file." },
    { "discovery-failed", DOCTOR_PROBLEM, DOCTOR_NODE,
      "The plugin finds out no more, and jobs start unplaced. NICs and NUMA nodes were not "
      "checked.",
      "\"nuioa topo\" says more; \"lstopo\" without nuioa shows whether it is hwloc." },

    /* --- NICs --- */
    { "nic-unlocated", DOCTOR_PROBLEM, DOCTOR_NODE,
      "No rank can be placed near it, and it is not chosen for its place.",
      "A newer BIOS, which says where each host bridge is (_PXM); until then HWLOC_PCI_LOCALITY." },
    { "nic-disagreement", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Ranks are placed by the host bridge, as hwloc says; programs that read numa_node go "
      "elsewhere. One of the two is wrong.",
      "Measure from both nodes (numactl --cpunodebind); HWLOC_PCI_LOCALITY or numa_node correct "
      "it." },
    { "nic-role", DOCTOR_ADVICE, DOCTOR_NODE,
      "A guess only orders NICs: while nobody says what they are for, no variable keeps MPI "
      "libraries to some of them.",
      "Add what is named above to the plugin's line in plugstack.conf, or the role compute for a "
      "NIC that MPI uses." },
    { "port-down", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Its traffic goes through another port, or over a slower network.",
      "Look at cable, switch port and subnet manager; take the NIC out of use if that is "
      "intended." },
    { "port-idle", DOCTOR_ADVICE, DOCTOR_NODE,
      "Cards with two ports often have one cable; if this one had one, it is lost.",
      "Look at the cable, or --ignore port-idle." },
    { "port-slow", DOCTOR_PROBLEM, DOCTOR_NODE,
      "One slow link slows down every job that uses this node, collectives first.",
      "Replace cable or transceiver; look at the switch port." },
    { "port-below-card", DOCTOR_ADVICE, DOCTOR_NODE,
      "The card could do more; the switch, the cable or a setting decides.",
      "Look at the other end (ethtool), if more was bought." },
    { "pcie-narrow", DOCTOR_PROBLEM, DOCTOR_NODE,
      "The card cannot bring its network's rate into memory.",
      "Reseat the card, or move it to a slot with all lanes; look at the slot in the BIOS." },
    { "pcie-reduced", DOCTOR_ADVICE, DOCTOR_NODE,
      "It suffices for the network's rate as it is now.",
      "Reseat the card, or move it to another slot, when there is an occasion." },

    /* --- NUMA nodes --- */
    { "numa-hidden", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Where memory and NICs are cannot be known: nothing can be placed.",
      "Switch off node interleaving in the BIOS, or numa=off on the kernel's command line." },
    { "slit-flat", DOCTOR_ADVICE, DOCTOR_NODE,
      "Beyond same and other, NUMA distances are unknown, and ranks that cannot be beside the NIC "
      "are placed without regard to them.",
      "\"nuioa probe --out FILE\" measures them; distances=FILE in plugstack.conf." },
    { "slit-refused", DOCTOR_ADVICE, DOCTOR_NODE,
      "Distances are taken from what shares a package.",
      "\"nuioa probe --out FILE\" measures them; distances=FILE in plugstack.conf." },
    { "nic-contradicted", DOCTOR_ADVICE, DOCTOR_NODE,
      "Who is near to the NIC follows from the firmware, and what that is worth from the "
      "measurement: one of them is wrong, and ranks are placed by both.",
      "Measure again on an idle node: \"nuioa probe --nic --out FILE\". If it stays, the firmware "
      "has the NIC in the wrong place: update it, or set HWLOC_PCI_LOCALITY for slurmd." },

    /* --- MPI --- */
    { "mpi-ethernet", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Messages go through the kernel's TCP although a faster network is there.",
      "Remove the setting." },
    { "mpi-device", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "MPI is told to use a device that is not here: it fails, or falls back to another network.",
      "Remove the setting, or correct the name." },

    { NULL, DOCTOR_UNKNOWN, DOCTOR_SHARED, NULL, NULL },
};
/* clang-format on */

/* Former kinds, advice on the host that keeps no rank from its NIC. */
static const char *const retired[] = { "backlog",    "coalescing",     "governor", "irq-far",
                                       "nps",        "numa-balancing", "snc",      "socket-buffers",
                                       "tcp-buffers" };

const struct doctor_kind *doctor_kind_find(const char *id)
{
    for (const struct doctor_kind *kind = doctor_kinds; kind->id; kind++)
        if (!strcmp(kind->id, id))
            return kind;
    return NULL;
}

bool doctor_kind_is_retired(const char *id)
{
    for (size_t i = 0; i < sizeof(retired) / sizeof(*retired); i++)
        if (!strcmp(retired[i], id))
            return true;
    return false;
}
