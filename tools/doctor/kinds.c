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
      "Slurm skips plugins it cannot load; with \"required\" no job starts.",
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
    { "plugin-retired", DOCTOR_ADVICE, DOCTOR_SHARED, "The argument does nothing any more.",
      "Remove it from plugstack.conf." },
    { "plugstack-unread", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm reads these files as the user who calls srun. If it cannot open one, every launch "
      "fails; a line or directory that it cannot read is left out.",
      "Let all users read the files and enter their directories (chmod a+rX). Correct the line; "
      "remove carriage returns." },
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
      "Ranks then have all CPUs of the node, those of other jobs too, and nuioa moves none of "
      "them.",
      "Add task/affinity to TaskPlugin in slurm.conf. Restart slurmctld and slurmd." },
    { "cores-unconstrained", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Processes of other jobs can run on the cores beside the NIC that a rank has.",
      "Add task/cgroup to TaskPlugin in slurm.conf and set ConstrainCores=yes in cgroup.conf. "
      "Try one node first: without working cgroups every launch fails." },
    { "cpu-bind-default", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Ranks then share CPUs. With default=on, nuioa moves ranks that share CPUs only for "
      "users who type --nuioa.",
      "In slurm.conf, add task/affinity to TaskPlugin. Replace TaskPluginParam=None with Cores, "
      "and CpuBind=none with core." },

    /* --- what the plugin needs --- */
    { "munge-missing", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm's messages, and the reports of nodes to srun, are signed with this library.",
      "Install libmunge (Debian: libmunge2)." },
    { "munge-unreachable", DOCTOR_PROBLEM, DOCTOR_NODE,
      "munged signs Slurm's own messages, and the job-wide report.",
      "Start munged and read its log. If its socket is elsewhere, set munge_socket= in "
      "plugstack.conf." },
    { "pmix-plugin", DOCTOR_ADVICE, DOCTOR_SHARED,
      "srun then has no --mpi=pmix, and MPI learns leaders and NICs only from the environment.",
      "Install Slurm's PMIx plugin if MPI programs are to use it." },
    { "pmix-library", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm's PMIx plugin opens that name at each launch: srun --mpi=pmix fails.",
      "Install that library. On Debian the package is libpmix-dev." },
    { "pmix-unable", DOCTOR_ADVICE, DOCTOR_SHARED,
      "nuioa cannot publish keys. Ranks still have the variables NUIOA_*.",
      "Build Slurm with PMIx 4.2 or 5.0." },
    { "pmix-log", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "With this version any rank that calls PMIx_Log for stderr kills its slurmstepd, and "
      "srun hangs: an error of PMIx, with and without nuioa.",
      "Build Slurm with PMIx 5.0." },
    { "pmix-topology", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Each rank discovers the node's hardware by itself when MPI starts, which is slow on "
      "large nodes.",
      "Set PMIxShareServerTopology=true in mpi.conf: ranks then get the description of "
      "slurmstepd." },
    { "cache-missing", DOCTOR_ADVICE, DOCTOR_NODE,
      "The next launch discovers the hardware by itself, which takes up to seconds on large "
      "nodes.",
      "Run the command above as root. For each boot, enable nuioa-cache.service with it." },
    { "cache-stale", DOCTOR_ADVICE, DOCTOR_NODE,
      "The next launch does not use it and discovers the hardware by itself.",
      "Run the command above as root. At boot it belongs after the services of the fabric." },
    { "cache-refused", DOCTOR_PROBLEM, DOCTOR_NODE,
      "As root, the plugin reads only files that nobody else can write: each launch discovers "
      "the hardware by itself, and warns.",
      "Check that cache= in plugstack.conf names no other file. Then remove it and run the "
      "command above as root." },
    { "cache-directory", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Others can replace the cache there, so the plugin reads none: each launch discovers the "
      "hardware by itself, and warns.",
      "If only nuioa uses the directory, make it root's (chown root, chmod go-w). Otherwise "
      "set cache= in plugstack.conf to a file elsewhere. Then run the command above as root." },
    { "distances-refused", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "nuioa uses the firmware's distances, not those that the site measured.",
      "Correct what is named above. Keep the file where only root can write, such as /etc. "
      "\"nuioa probe --out FILE\" measures again." },
    { "distances-foreign", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "The file describes other kinds of nodes: nuioa uses the firmware's distances here.",
      "Run \"nuioa probe --out NEW\" on an idle node of this kind, and append the section in "
      "NEW to the file." },
    { "discovery-failed", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Launches fail to discover the hardware too, and start without placement. NICs and NUMA "
      "nodes were not checked.",
      "Run \"nuioa topo\", then \"lstopo\": if both fail, the fault is in hwloc or the kernel." },

    /* --- NICs --- */
    { "nic-missing", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Ranks have no network through this card, or only a slower one.",
      "Check it in lspci and dmesg: load its driver, or reseat the card. If it was removed on "
      "purpose, run \"nuioa cache\" as root." },
    { "nic-unmatched", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "nuioa uses only NICs that nic= names. If this node has none of them, it places nothing "
      "here.",
      "Check in lspci and dmesg whether a NIC is missing. If not, correct nic= in "
      "plugstack.conf, or use --ignore nic-unmatched on nodes without such a NIC." },
    { "nic-none", DOCTOR_UNKNOWN, DOCTOR_NODE,
      "nuioa places nothing on a node without a NIC.",
      "If this node should have one, check it in lspci and dmesg." },
    { "nic-unlocated", DOCTOR_ADVICE, DOCTOR_NODE,
      "nuioa places no rank near it, and does not choose it for its place.",
      "Update the BIOS; in a virtual machine, attach the NIC to a NUMA node in the hypervisor. "
      "Until then set HWLOC_PCI_LOCALITY for slurmd and \"nuioa cache\"." },
    { "nic-disagreement", DOCTOR_PROBLEM, DOCTOR_NODE,
      "One of the two is wrong. nuioa and hwloc use the host bridge, other programs numa_node.",
      "Measure it: \"nuioa probe --nic\". If the bridge is wrong, set HWLOC_PCI_LOCALITY for "
      "slurmd and \"nuioa cache\". Otherwise write the right number to numa_node." },
    { "nic-role", DOCTOR_ADVICE, DOCTOR_NODE,
      "This is a guess, and a guess only orders NICs: variables of MPI libraries do not name "
      "them until the site gives roles.",
      "If MPI uses the NIC, give it the role compute. Otherwise add the nic-role= above. Both "
      "belong on the plugin's line in plugstack.conf." },
    { "port-down", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Its traffic goes through another port, or over a slower network.",
      "Check the cable, the switch port and the subnet manager. If the port is unused on "
      "purpose, use --ignore with the name above." },
    { "port-idle", DOCTOR_ADVICE, DOCTOR_NODE,
      "Cards with two ports often have one cable. If this port had one, it is lost.",
      "Check the cable. If the port is unused on purpose, use --ignore port-idle." },
    { "port-slow", DOCTOR_PROBLEM, DOCTOR_NODE,
      "One slow link slows down every job that uses this node, collectives first.",
      "Check the switch port, then replace the cable or the transceiver." },

    /* --- NUMA nodes --- */
    { "numa-cut", DOCTOR_PROBLEM, DOCTOR_NODE,
      "The kernel's NUMA nodes contradict its cores and packages, so nuioa places nothing.",
      "In the hypervisor, give each NUMA node whole sockets, or whole cores of one; on other "
      "machines see the BIOS. \"nuioa topo\" lists the CPUs of each." },
    { "slit-flat", DOCTOR_ADVICE, DOCTOR_NODE,
      "NUMA distances beyond local and remote are unknown. Ranks with no free core beside the "
      "NIC are placed without them.",
      "Run \"nuioa probe --out FILE\" as root on an idle node, and set distances=FILE in "
      "plugstack.conf." },
    { "slit-refused", DOCTOR_ADVICE, DOCTOR_NODE,
      "nuioa then takes distances from the packages that NUMA nodes share.",
      "Run \"nuioa probe --out FILE\" as root on an idle node, and set distances=FILE in "
      "plugstack.conf." },
    { "nic-contradicted", DOCTOR_ADVICE, DOCTOR_NODE,
      "nuioa uses the firmware for which NUMA node is near, and the measurement for its worth: "
      "one of them is wrong.",
      "Measure again on an idle node: \"nuioa probe --nic --out FILE\". If the result is the "
      "same, update the firmware, or set HWLOC_PCI_LOCALITY for slurmd and \"nuioa cache\"." },

    { NULL, DOCTOR_UNKNOWN, DOCTOR_SHARED, NULL, NULL },
};
/* clang-format on */

/* Former kinds. */
static const char *const retired[] = {
    "backlog",         "coalescing",  "core-distribution", "governor",
    "irq-far",         "mpi-device",  "mpi-ethernet",      "nps",
    "numa-balancing",  "numa-hidden", "pcie-narrow",       "pcie-reduced",
    "port-below-card", "snc",         "socket-buffers",    "task-affinity",
    "tcp-buffers",
};

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
