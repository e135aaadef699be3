/* SPDX-License-Identifier: BSD-3-Clause */

/* The table says what can be found, why it matters, and what to do. The tables in nuioa-doctor(1)
 * have the same order. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/doctor/doctor.h"
#include "util/word.h"

/* clang-format off */
static const struct doctor_kind kinds[] = {
    /* --- the plugin --- */
    { "plugin-absent", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Without the line, srun rejects --nuioa on login nodes, and compute nodes place no ranks.",
      "Include the sample plugstack.conf.d/nuioa.conf, on login and compute nodes." },
    { "plugin-missing", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm skips plugins it cannot load. If the line says \"required\", no job starts.",
      "Install nuioa on this node, or correct the line." },
    { "plugin-unloadable", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm skips it. With \"required\", no job starts. A missing symbol kills jobs that call it.",
      "Rebuild nuioa with the headers of this version of Slurm." },
    { "plugin-twice", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Every option is registered twice, and every rank is placed twice.",
      "Remove one of the lines. An include with * also reads copies such as nuioa.conf.bak." },
    { "plugin-required", DOCTOR_ADVICE, DOCTOR_SHARED,
      "A node that cannot load the plugin then refuses all jobs.",
      "Write \"optional\"." },
    { "plugin-argument", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "The argument is ignored, and its default is used.",
      "Correct the line in plugstack.conf. nuioa-spank(8) lists the arguments." },
    { "plugin-retired", DOCTOR_ADVICE, DOCTOR_SHARED,
      "The argument does nothing any more.",
      "Remove it from plugstack.conf." },
    { "plugstack-unread", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm reads these files as the user of srun. Launches fail, or lines are ignored.",
      "Correct the line, or let all users read the file (chmod a+rX)." },
    { "plugin-emulates", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "The plugin describes another machine than this one, and binds nothing.",
      "Remove topology= from plugstack.conf. It is for tests." },
    { "hwloc-emulates", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Programs that inherit it see that machine. All other findings are about this node.",
      "Unset the variable. It is for tests." },
    { "slurm-unread", DOCTOR_UNKNOWN, DOCTOR_SHARED,
      "The plugin's line and Slurm's settings were not checked.",
      "Set SLURM_CONF to the path of slurm.conf." },

    /* --- Slurm --- */
    { "task-plugin", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Ranks may run on all CPUs of the node, also on those of other jobs. nuioa moves none.",
      "Add task/affinity to TaskPlugin in slurm.conf. Restart slurmctld and slurmd." },
    { "cores-unconstrained", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Processes of other jobs can run on the cores of a rank.",
      "Add task/cgroup to TaskPlugin, and set ConstrainCores=yes in cgroup.conf. Try one node "
      "first: without working cgroups every launch fails." },
    { "cpu-bind-default", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Ranks then share CPUs, and nuioa moves them only if the user types --nuioa.",
      "In slurm.conf, use task/affinity, TaskPluginParam=Cores and CpuBind=core." },

    /* --- what the plugin needs --- */
    { "munge-missing", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm signs its messages with this library, and nuioa its job report.",
      "Install libmunge (Debian: libmunge2)." },
    { "munge-unreachable", DOCTOR_PROBLEM, DOCTOR_NODE,
      "munged signs Slurm's messages and nuioa's job report.",
      "Start munged, and read its log. If its socket is elsewhere, set munge_socket=." },
    { "pmix-plugin", DOCTOR_ADVICE, DOCTOR_SHARED,
      "srun has no --mpi=pmix. MPI learns leaders and NICs only from the environment.",
      "Install Slurm's PMIx plugin if MPI programs use PMIx." },
    { "pmix-library", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "Slurm's PMIx plugin opens this library at each launch: srun --mpi=pmix fails.",
      "Install that library (Debian: libpmix-dev)." },
    { "pmix-unable", DOCTOR_ADVICE, DOCTOR_SHARED,
      "nuioa cannot publish PMIx keys. Ranks still have the variables NUIOA_*.",
      "Build Slurm with PMIx 4.2 or 5.0." },
    { "pmix-log", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "This PMIx kills slurmstepd if a rank calls PMIx_Log for stderr, with or without nuioa.",
      "Build Slurm with PMIx 5.0." },
    { "pmix-topology", DOCTOR_ADVICE, DOCTOR_SHARED,
      "Each rank discovers the hardware itself when MPI starts. This is slow on large nodes.",
      "Set PMIxShareServerTopology=true in mpi.conf." },
    { "cache-missing", DOCTOR_ADVICE, DOCTOR_NODE,
      "The next launch discovers the hardware itself. On large nodes this can take seconds.",
      "Run the command above as root. Enable nuioa-cache.service to do so at each boot." },
    { "cache-stale", DOCTOR_ADVICE, DOCTOR_NODE,
      "The next launch does not use it, and discovers the hardware itself.",
      "Run the command above as root. At boot, run it after the services of the fabric." },
    { "cache-refused", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Root reads only files that nobody else can write, and discovers the hardware each time.",
      "Check that cache= in plugstack.conf names the right file. Then remove the file, and run "
      "the command above as root." },
    { "cache-directory", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Others can replace the cache, so each launch ignores it and discovers the hardware.",
      "If only nuioa uses the directory, make it root's (chown root, chmod go-w). Otherwise set "
      "cache= in plugstack.conf to a file elsewhere. Then run the command above as root." },
    { "distances-refused", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "nuioa uses the firmware's distances instead of those of the site.",
      "Correct the file, and keep it where only root can write, such as /etc." },
    { "distances-foreign", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "The file describes other kinds of nodes. nuioa uses the firmware's distances here.",
      "Run \"nuioa probe --out NEW\" on an idle node of this kind, and append its section." },
    { "discovery-failed", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Launches cannot discover the hardware either, and place no ranks. NICs were not checked.",
      "Run \"nuioa topo\", then \"lstopo\". If both fail, check hwloc and the kernel." },

    /* --- NICs --- */
    { "nic-missing", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Ranks cannot use the network of this card.",
      "Check the card in lspci and dmesg: load its driver, or reseat it. If it was removed on "
      "purpose, run \"nuioa cache\" as root." },
    { "nic-unmatched", DOCTOR_PROBLEM, DOCTOR_SHARED,
      "nuioa uses only NICs that nic= names. If the node has none of them, no rank is placed.",
      "Check in lspci and dmesg whether a NIC is missing. If not, correct nic= in "
      "plugstack.conf, or use --ignore nic-unmatched on nodes without such a NIC." },
    { "nic-none", DOCTOR_UNKNOWN, DOCTOR_NODE,
      "nuioa places nothing on a node without a NIC.",
      "If this node should have one, check it in lspci and dmesg." },
    { "nic-unlocated", DOCTOR_ADVICE, DOCTOR_NODE,
      "nuioa places no rank close to this NIC, and does not choose it for its place.",
      "Update the BIOS. In a virtual machine, attach the NIC to a NUMA node in the hypervisor. "
      "Until then set HWLOC_PCI_LOCALITY for slurmd and \"nuioa cache\"." },
    { "nic-disagreement", DOCTOR_PROBLEM, DOCTOR_NODE,
      "One of the two is wrong. nuioa and hwloc use the host bridge, other programs numa_node.",
      "Measure it: \"nuioa probe --nic\". If the bridge is wrong, set HWLOC_PCI_LOCALITY for "
      "slurmd and \"nuioa cache\". If not, write the right number to numa_node." },
    { "nic-role", DOCTOR_ADVICE, DOCTOR_NODE,
      "nuioa guesses. It sets no variables of MPI libraries for NICs until the site gives roles.",
      "Add the nic-role= above to the plugin's line, or the role compute if MPI uses the NIC." },
    { "rails-unknown", DOCTOR_ADVICE, DOCTOR_SHARED,
      "It does not say whether the ports are one network. So nuioa sets no variables of UCX.",
      "If each port reaches all others, add rails=connected to the plugin's line. If not, use "
      "--ignore rails-unknown." },
    { "port-down", DOCTOR_PROBLEM, DOCTOR_NODE,
      "Its traffic uses another port, or a slower network.",
      "Check the cable, the switch port and the subnet manager. If it is unused, use --ignore." },
    { "port-idle", DOCTOR_ADVICE, DOCTOR_NODE,
      "Cards with two ports often have one cable. If this port had one, it is lost.",
      "Check the cable. If the port is unused on purpose, use --ignore port-idle." },
    { "port-slow", DOCTOR_PROBLEM, DOCTOR_NODE,
      "One slow link slows down every job that uses this node, collectives first.",
      "Check the switch port, then replace the cable or the transceiver." },

    /* --- NUMA nodes --- */
    { "numa-cut", DOCTOR_PROBLEM, DOCTOR_NODE,
      "The kernel's NUMA nodes contradict its cores and packages, so nuioa places nothing.",
      "In the hypervisor, give each NUMA node whole sockets, or whole cores of one. On other "
      "machines check the BIOS. \"nuioa topo\" lists the CPUs of each." },
    { "slit-flat", DOCTOR_ADVICE, DOCTOR_NODE,
      "Ranks that find no free core on the NIC's NUMA node are placed without distances.",
      "Run \"nuioa probe --out FILE\" as root on an idle node. Then set distances=FILE." },
    { "slit-refused", DOCTOR_ADVICE, DOCTOR_NODE,
      "nuioa then derives distances from the packages that NUMA nodes share.",
      "Run \"nuioa probe --out FILE\" as root on an idle node. Then set distances=FILE." },
    { "nic-contradicted", DOCTOR_ADVICE, DOCTOR_NODE,
      "One of them is wrong. nuioa takes the order from the firmware, the cost from the rates.",
      "Measure again on an idle node: \"nuioa probe --nic --out FILE\". If the result is the "
      "same, update the BIOS, or set HWLOC_PCI_LOCALITY for slurmd and \"nuioa cache\"." },

    { NULL, DOCTOR_UNKNOWN, DOCTOR_SHARED, NULL, NULL },
};

/* Former kinds. */
static const char retired[] =
    "backlog|coalescing|core-distribution|governor|irq-far|mpi-device|mpi-ethernet|nps|"
    "numa-balancing|numa-hidden|pcie-narrow|pcie-reduced|port-below-card|snc|socket-buffers|"
    "task-affinity|tcp-buffers";
/* clang-format on */

const struct doctor_kind *doctor_kind_find(const char *id)
{
    const struct doctor_kind *kind = kinds;
    while (kind->id && strcmp(kind->id, id))
        kind++;
    return kind->id ? kind : NULL;
}

bool doctor_kind_is_retired(const char *id)
{
    return nuioa_word_index(retired, id) >= 0;
}

void doctor_report(struct doctor *d, const char *id, const char *subject, const char *fmt, ...)
{
    va_list args;
    char both[128];
    const struct doctor_kind *kind = doctor_kind_find(id);
    if (kind && d->this_node && kind->scope != DOCTOR_NODE)
        return;
    snprintf(both, sizeof(both), "%s:%s", id, subject);
    if (doctor_list_has(d->ignore, "", id) || doctor_list_has(d->ignore, "", both)) {
        d->ignored++;
        return;
    }
    if (!kind || d->count == DOCTOR_FINDINGS_MAX)
        return;
    struct doctor_finding *finding = &d->findings[d->count++];
    finding->kind = kind;
    nuioa_copy(finding->subject, sizeof(finding->subject), subject);
    nuioa_make_printable(finding->subject);
    va_start(args, fmt);
    vsnprintf(finding->what, sizeof(finding->what), fmt, args);
    va_end(args);
    nuioa_make_printable(finding->what);
}
