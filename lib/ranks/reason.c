/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/reason.h"

static const char *const texts[NUIOA_REASON_COUNT] = {
    [NUIOA_REASON_NONE] = "",
    [NUIOA_REASON_OFF] = "off: nothing is moved, and ranks are told nothing",
    [NUIOA_REASON_EXPORT] = "export only: nothing is moved",
    [NUIOA_REASON_CPU_BIND] = "an explicit --cpu-bind is left alone (--nuioa=force overrides it)",
    [NUIOA_REASON_CPU_BIND_OUTER] =
        "SLURM_CPU_BIND of the outer step binds these ranks: unset SLURM_CPU_BIND before srun",
    [NUIOA_REASON_MEM_BIND] = "an explicit --mem-bind gives each rank its NUMA nodes: ranks stay "
                              "(--nuioa=force overrides it)",
    [NUIOA_REASON_MEM_BIND_OUTER] =
        "SLURM_MEM_BIND of the outer step gives each rank its NUMA nodes: unset SLURM_MEM_BIND "
        "before srun",
    [NUIOA_REASON_GPUS] = "the step has GPUs: ranks stay, NICs follow (--nuioa=force overrides it)",
    [NUIOA_REASON_GPUS_KEEP] =
        "the step has GPUs: ranks stay, NICs follow (--nuioa-gpus=follow moves ranks to theirs)",
    [NUIOA_REASON_GPUS_UNKNOWN] =
        "which rank has which GPU is unknown: ranks stay (--nuioa=force overrides it)",
    [NUIOA_REASON_GPUS_SHARED] =
        "ranks see the same GPUs, so that it is unknown which rank has which: ranks stay "
        "(--gpus-per-task=1 gives each its own, with --gres-flags=allow-task-sharing from Slurm "
        "23.11 on; --nuioa=force overrides it)",
    [NUIOA_REASON_GPUS_NO_NUMA] =
        "the NUMA node of a GPU is unknown: ranks stay (--nuioa=force overrides it)",
    [NUIOA_REASON_NO_NIC] =
        "no usable NIC on this node: nuioa topo says why, --nuioa-nic=NAME takes one",
    [NUIOA_REASON_NIC_DOWN] =
        "no usable NIC is up: ranks stay where Slurm put them (nuioa topo says why, "
        "--nuioa-nic=NAME takes another)",
    [NUIOA_REASON_NO_NUMA] = "the NUMA node of the NIC is unknown: nuioa topo says more",
    [NUIOA_REASON_NUMA_CUT] = "NUMA nodes cut through cores or packages: ranks stay (correct the "
                              "NUMA nodes in the hypervisor, or in the BIOS)",
    [NUIOA_REASON_NO_BETTER] = "no better exchange of Slurm's masks was found",
    [NUIOA_REASON_NO_BETTER_NO_FREE] =
        "no better exchange of Slurm's masks was found, and the step has no free cores nearer the "
        "NIC (a job of whole nodes has: salloc --exclusive, with -c typed there and not for srun)",
    [NUIOA_REASON_RAILS] = "heavy ranks share the NICs",
    [NUIOA_REASON_TRAFFIC] = "placed by traffic to the NIC and neighbours",
    [NUIOA_REASON_TRAFFIC_RAILS] = "placed by traffic to the NICs, shared, and to neighbours",
    [NUIOA_REASON_NEIGHBOURS] = "placed by traffic to neighbours: no NIC with a known place is up",
    [NUIOA_REASON_HEAVIER] = "heavier ranks are nearer the NIC",
    [NUIOA_REASON_HEAVIER_RAILS] = "heavier ranks are nearer the NICs, and share them",
    [NUIOA_REASON_BLOCK_MOVED] =
        "no hints: the ranks of the lowest rank's NUMA node moved nearer the NIC",
    [NUIOA_REASON_BLOCK_NEAREST] =
        "no hints: the lowest rank is already as near the NIC as it can be",
    [NUIOA_REASON_BLOCK_HINT] =
        "no hints, and the ranks on the lowest rank's NUMA node cannot move nearer the NIC "
        "together (--nuioa-hints=heavy=RANK moves RANK alone)",
    [NUIOA_REASON_BLOCK_NO_ROOM] =
        "no hints, and nothing nearer the NIC has room for the ranks on the lowest rank's NUMA "
        "node",
    [NUIOA_REASON_EVEN] = "all CPUs of this node are equally near the NIC: no move helps",
    [NUIOA_REASON_BLOCK_NO_FREE] =
        "no hints, and the step has no free cores nearer the NIC for the lowest rank's block (a "
        "job of whole nodes has: salloc --exclusive, with -c typed there and not for srun)",
    [NUIOA_REASON_BLOCK_SPREAD] =
        "no hints, and ranks span NUMA nodes (--nuioa-hints says which ranks are heavy)",
    [NUIOA_REASON_BLOCK_SPREAD_EQUAL] =
        "no hints, and ranks span NUMA nodes: no exchange of Slurm's "
        "masks would bring one nearer the NIC",
    [NUIOA_REASON_BLOCK_SEPARATES] = "no hints, and moving a block would take neighbours apart "
                                     "(--nuioa-hints says which ranks are heavy)",
    [NUIOA_REASON_FREE_NOT_ASKED] = "free cores of the step are nearer the NIC, but nobody asked "
                                    "for them (srun --nuioa does)",
    [NUIOA_REASON_FREE_BOUND] =
        "free cores of the step are nearer the NIC, but force only exchanges "
        "the masks of --cpu-bind (srun without --cpu-bind)",
    [NUIOA_REASON_FREE_GPUS] =
        "free cores of the step are nearer the NIC, but with GPUs ranks only "
        "exchange masks (--nuioa-gpus=follow moves ranks to theirs)",
    [NUIOA_REASON_FREE_UNCONFINED] =
        "free cores are nearer the NIC, but Slurm confines no rank to the step (slurm.conf: "
        "TaskPlugin=task/affinity, or task/cgroup with ConstrainCores)",
    [NUIOA_REASON_FREE_OVERLAP] = "free cores of the step are nearer the NIC, but other steps may "
                                  "use them (srun without --overlap)",
    [NUIOA_REASON_FREE_KEEP] = "free cores of the step are nearer the NIC, but cores=keep leaves "
                               "them free (--nuioa-cores=auto)",
    [NUIOA_REASON_ALONE_MOVED] = "the only rank on the node moved nearer the NIC",
    [NUIOA_REASON_ALONE_NEAREST] = "the only rank is as near the NIC as the step's CPUs allow",
    [NUIOA_REASON_ALONE_NO_FREE] =
        "the only rank stays: the step has no free cores nearer the NIC (a job of whole nodes has: "
        "salloc --exclusive, with -c typed there, then srun --cpu-bind=cores)",
    [NUIOA_REASON_ALONE_COSTS] =
        "the only rank stays: nearer a NIC it would use fewer NICs, or slower ones "
        "(without hints, it moves)",
    [NUIOA_REASON_ALONE_ALL] =
        "the only rank stays: it has all CPUs of the step (a job of whole nodes has others: salloc "
        "--exclusive, with -c typed there, then srun --cpu-bind=cores)",
    [NUIOA_REASON_ALONE_NOT_ASKED] = "the only rank has all CPUs of the step, and keeps them",
    [NUIOA_REASON_ALONE_WIDE] = "the only rank keeps all CPUs of the step; to bind it beside the "
                                "NIC: srun --cpu-bind=cores, or sbatch -c N",
    [NUIOA_REASON_ALONE_TYPED] = "the only rank has --cpus-per-task CPUs, those nearest the NIC",
    [NUIOA_REASON_ALONE_OVERLAP] = "the only rank keeps all CPUs of the step, which may overlap "
                                   "with others (srun without --overlap)",
    [NUIOA_REASON_SHARE] =
        "the ranks divide the CPUs that they shared, the lowest ranks nearest the NIC",
    [NUIOA_REASON_SHARE_HEAVIER] =
        "the ranks divide the CPUs that they shared, heavier ranks nearer the NIC",
    [NUIOA_REASON_SHARE_TRAFFIC] = "the ranks divide the CPUs that they shared, by traffic to the "
                                   "NIC and neighbours",
    [NUIOA_REASON_SHARE_NEAREST] =
        "ranks that share CPUs keep them all: none would be nearer the NIC with a part of them",
    [NUIOA_REASON_SHARE_FAR] =
        "ranks that share CPUs keep them: the step has none nearer the NIC (a job of whole nodes "
        "has: salloc --exclusive, with -c typed there and not for srun)",
    [NUIOA_REASON_SHARE_COSTS] = "ranks that share CPUs keep them all: dividing them would take "
                                 "neighbours apart or load NICs unevenly (--nuioa-hints=none "
                                 "divides them)",
    [NUIOA_REASON_SHARE_CROWDED] = "ranks that share CPUs keep them all: they are more than "
                                   "their cores (fewer tasks, or a step with more: srun "
                                   "without --exact, or a larger job)",
    [NUIOA_REASON_SHARE_TYPED] = "ranks that share CPUs keep them all: their parts would be below "
                                 "--cpus-per-task (a smaller -c, or fewer tasks)",
    [NUIOA_REASON_SHARE_UNEQUAL] = "ranks that share CPUs keep them all: their masks overlap, but "
                                   "are not equal (srun without --cpu-bind)",
    [NUIOA_REASON_SHARE_OVERLAP] = "all ranks share the same CPUs, maybe with other steps: none is "
                                   "moved (srun without --overlap)",
    [NUIOA_REASON_SHARE_UNCONFINED] = "Slurm confines no rank to the step: none is moved "
                                      "(slurm.conf: TaskPlugin=task/affinity, or task/cgroup with "
                                      "ConstrainCores)",
    [NUIOA_REASON_SHARE_NOT_ASKED] = "all ranks share the same CPUs: none is moved, or given fewer "
                                     "(--nuioa-cores=share divides them)",
    [NUIOA_REASON_FOLLOW] = "CPUs follow GPUs: ranks are as near theirs as Slurm's masks allow",
    [NUIOA_REASON_FOLLOW_FREE] = "CPUs follow GPUs: ranks are as near theirs as Slurm's masks and "
                                 "free cores of the step allow",
    [NUIOA_REASON_FOLLOW_NEAREST] = "CPUs follow GPUs: ranks are as near theirs as can be already",
    [NUIOA_REASON_FOLLOW_FAR] =
        "CPUs follow GPUs: some ranks are not beside theirs, but no better place was found",
    [NUIOA_REASON_FOLLOW_NO_FREE] =
        "CPUs follow GPUs: free cores of the step are nearer some GPUs, but ranks may not use them "
        "(srun --nuioa, without --overlap, --cpu-bind and --nuioa-cores=keep)",
    [NUIOA_REASON_FOLLOW_SHARE] =
        "CPUs follow GPUs: the ranks divide the CPUs that they shared, each beside its GPUs",
    [NUIOA_REASON_FOLLOW_SHARE_FAR] = "CPUs follow GPUs: the ranks divide the CPUs that they "
                                      "shared, but not all are beside their GPUs",
    [NUIOA_REASON_FOLLOW_SHARE_TAKES] =
        "CPUs follow GPUs: ranks that share CPUs keep them all: divided, some would have none "
        "beside their GPUs (srun --cpu-bind=cores with a small -c N binds each to its own)",
    [NUIOA_REASON_FOLLOW_ALONE] = "CPUs follow GPUs: the only rank moved nearer its GPUs",
    [NUIOA_REASON_FOLLOW_COSTS] =
        "ranks stay: nearer their GPUs they would be farther from the NIC or from neighbours, or "
        "load NICs unevenly (without hints, CPUs follow GPUs)",
    [NUIOA_REASON_PACK] = "cores=pack: cores filled from the NIC outwards",
    [NUIOA_REASON_PACK_NEAREST] =
        "cores=pack: the ranks fill the cores from the NIC outwards already",
    [NUIOA_REASON_PACK_COSTS] = "cores=pack would cost more than Slurm's placement",
    [NUIOA_REASON_GPUS_LATE] =
        "not all tasks told their GPUs in time: ranks stay where Slurm put them",
    [NUIOA_REASON_GPUS_NO_THREAD] = "Slurm chooses GPUs by the CPUs of each rank, and there is no "
                                    "thread to wait for it: ranks stay",
    [NUIOA_REASON_EXEC_PLACED] = "the plugin has placed this rank",
    [NUIOA_REASON_EXEC_BOUND] =
        "the launcher has bound this rank: its CPUs stay (mpirun --bind-to none, or srun "
        "--cpu-bind=none, leaves them to nuioa)",
    [NUIOA_REASON_EXEC_MEMORY] =
        "the memory policy of this rank (numactl, --mem-bind) names NUMA nodes: its CPUs stay "
        "(--nuioa=force overrides it)",
    [NUIOA_REASON_EXEC_DIVIDED] = "the launcher gives each rank CPUs of its own: they stay",
    [NUIOA_REASON_EXEC_QUOTA] =
        "the container has a quota of time, and shares its CPUs with others: they stay (a cpuset "
        "of its own, or --nuioa=force)",
    [NUIOA_REASON_EXEC_GPUS] =
        "each rank is taken to use the GPU of its local rank, as the launcher documents: ranks "
        "stay, NICs follow (--gpus=local-rank moves ranks to their GPUs)",
    [NUIOA_REASON_EXEC_NOT_SET] = "its CPUs could not be set: they stay",
    [NUIOA_REASON_EXEC_NIC_DOWN] = "no usable NIC is up: ranks have the CPUs that are nearest when "
                                   "it is (nuioa topo shows the ports)",
    [NUIOA_REASON_BIND_FAILED] = "binding failed: ranks stay where Slurm put them",
};

static const char *const advice_texts[NUIOA_ADVICE_COUNT] = {
    [NUIOA_ADVICE_MEMORY] =
        "ranks span NUMA nodes: memory is where a thread first touches it (with "
        "one thread a rank: srun --cpu-bind=cores, then that is near the NIC)",
    [NUIOA_ADVICE_THREADS] = "OpenMP threads run where the kernel puts them (--nuioa-threads=on "
                             "binds each to a core, the first one nearest the NIC)",
    [NUIOA_ADVICE_THREADS_NEED_C] = "threads=on binds no thread: nobody said how many CPUs a rank "
                                    "has for threads (-c N of srun, sbatch or salloc, N above 1)",
    [NUIOA_ADVICE_GPUS] = "all ranks see the same GPUs, one for each rank (if each takes the one "
                          "of its local rank, as most programs do: --nuioa-gpus=local-rank)",
    [NUIOA_ADVICE_GPUS_ORDER] =
        "gpus=local-rank says nothing here: which GPU has which number is unknown (GPUs of several "
        "models are in PCI order with CUDA_DEVICE_ORDER=PCI_BUS_ID)",
    [NUIOA_ADVICE_NO_OWN_NIC] = "the rank has CPUs beside every NIC, so it is told none "
                                "(srun --cpu-bind=cores, or --nuioa-rails=N to use N)",
    [NUIOA_ADVICE_GPUS_FAR] =
        "CPUs are far from GPUs: cores beside these are not in the step (a job with "
        "--gres-flags=enforce-binding, or of whole nodes: --exclusive, has them)",
    [NUIOA_ADVICE_CONNECTED] =
        "UCX is told no NIC: InfiniBand's default prefix does not say whether the NICs reach each "
        "other (if they do: rails=connected in nuioa's line in plugstack.conf)",
    [NUIOA_ADVICE_ROLES] =
        "UCX is told no NIC: some may be for storage or management, as nuioa topo shows (say what "
        "each is for: nic_role=NAME:ROLE,... in nuioa's line in plugstack.conf)",
};

const char *nuioa_advice_text(enum nuioa_advice advice)
{
    return advice_texts[advice];
}

const char *nuioa_reason_text(enum nuioa_reason reason)
{
    return texts[reason];
}
