/* SPDX-License-Identifier: BSD-3-Clause */

/* The reasons of plans (reason.h), each with its sentence. Define NUIOA_REASON(name, text) before
 * each time that this is included; it has no guard, and undefines that macro. Private to reason.h
 * and reason.c. */

/* Nothing stands in the way, or nothing is decided yet. */
NUIOA_REASON(NUIOA_REASON_NONE, "")
NUIOA_REASON(NUIOA_REASON_OFF,
             "off: Slurm's binding is unchanged, and ranks get no NIC information")
NUIOA_REASON(NUIOA_REASON_EXPORT, "export only: nothing is moved")
NUIOA_REASON(NUIOA_REASON_CPU_BIND,
             "an explicit --cpu-bind is left alone: use --nuioa=force to override it")
NUIOA_REASON(NUIOA_REASON_CPU_BIND_OUTER,
             "SLURM_CPU_BIND of the outer step binds these ranks: unset SLURM_CPU_BIND before srun")
NUIOA_REASON(
    NUIOA_REASON_MEM_BIND,
    "an explicit --mem-bind gives each rank its NUMA nodes: ranks stay. Use --nuioa=force to "
    "override it")
NUIOA_REASON(
    NUIOA_REASON_MEM_BIND_OUTER,
    "SLURM_MEM_BIND of the outer step gives each rank its NUMA nodes: unset SLURM_MEM_BIND "
    "before srun")
NUIOA_REASON(
    NUIOA_REASON_GPUS,
    "the step has GPUs: ranks stay, NICs are chosen by GPU. Use --nuioa=force to move ranks")
NUIOA_REASON(
    NUIOA_REASON_GPUS_KEEP,
    "the step has GPUs: ranks stay, NICs are chosen by GPU. Use --nuioa-gpus=follow to move "
    "ranks")
NUIOA_REASON(NUIOA_REASON_GPUS_UNKNOWN,
             "which rank has which GPU is unknown: ranks stay. Use --nuioa=force to move them")
NUIOA_REASON(NUIOA_REASON_GPUS_SHARED,
             "ranks see the same GPUs, so which rank has which is unknown: ranks stay. Use "
             "--gpus-per-task=1 (from Slurm 23.11 on with --gres-flags=allow-task-sharing), or "
             "--nuioa=force")
NUIOA_REASON(NUIOA_REASON_GPUS_NO_NUMA,
             "the NUMA node of a GPU is unknown: ranks stay. Use --nuioa=force to move them")
NUIOA_REASON(NUIOA_REASON_NO_NIC,
             "no usable NIC on this node: see nuioa topo, or choose one with --nuioa-nic=NAME")
NUIOA_REASON(
    NUIOA_REASON_NIC_DOWN,
    "no usable NIC is up: ranks stay where Slurm put them. See nuioa topo, or choose another "
    "with --nuioa-nic=NAME")
NUIOA_REASON(NUIOA_REASON_NO_NUMA, "the NUMA node of the NIC is unknown: see nuioa topo")
NUIOA_REASON(
    NUIOA_REASON_NUMA_CUT,
    "NUMA nodes cut through cores or packages: ranks stay. Correct them in the hypervisor or "
    "the BIOS")
/* Masks that Slurm made are exchanged. */
NUIOA_REASON(NUIOA_REASON_NO_BETTER, "no better exchange of Slurm's masks was found")
NUIOA_REASON(
    NUIOA_REASON_NO_BETTER_NO_FREE,
    "no better exchange of Slurm's masks was found, and the step has no free cores nearer the "
    "NIC. Request whole nodes: salloc --exclusive -c N, then srun --cpu-bind=cores")
NUIOA_REASON(NUIOA_REASON_RAILS, "heavy ranks share the NICs")
NUIOA_REASON(NUIOA_REASON_TRAFFIC, "placed by traffic to the NIC and neighbours")
NUIOA_REASON(NUIOA_REASON_TRAFFIC_RAILS, "placed by traffic to the NICs, shared, and to neighbours")
NUIOA_REASON(NUIOA_REASON_NEIGHBOURS,
             "placed by traffic to neighbours: no NIC with a known place is up")
NUIOA_REASON(NUIOA_REASON_HEAVIER, "heavier ranks are nearer the NIC")
NUIOA_REASON(NUIOA_REASON_HEAVIER_RAILS, "heavier ranks are nearer the NICs, and spread over them")
NUIOA_REASON(NUIOA_REASON_BLOCK_MOVED,
             "no hints: the ranks of the lowest rank's NUMA node moved nearer the NIC")
NUIOA_REASON(NUIOA_REASON_BLOCK_NEAREST,
             "no hints: the lowest rank is already as near the NIC as it can be")
NUIOA_REASON(NUIOA_REASON_BLOCK_SPREAD,
             "no hints, and ranks span NUMA nodes. Name heavy ranks with --nuioa-hints")
NUIOA_REASON(NUIOA_REASON_BLOCK_SPREAD_EQUAL,
             "no hints, and ranks span NUMA nodes: no exchange of Slurm's "
             "masks would bring one nearer the NIC")
NUIOA_REASON(NUIOA_REASON_BLOCK_SEPARATES,
             "no hints, and moving a NUMA node's ranks would take neighbours apart. Name heavy "
             "ranks with --nuioa-hints")
NUIOA_REASON(NUIOA_REASON_BLOCK_HINT,
             "no hints, and the ranks on the lowest rank's NUMA node cannot move nearer the NIC "
             "together. Use --nuioa-hints=heavy=RANK to move RANK alone")
NUIOA_REASON(NUIOA_REASON_BLOCK_NO_FREE,
             "no hints, and the step has no free cores nearer the NIC for the ranks of the lowest "
             "rank's NUMA node. "
             "Request whole nodes: salloc --exclusive, with -c for salloc, not srun")
NUIOA_REASON(
    NUIOA_REASON_BLOCK_NO_ROOM,
    "no hints, and nothing nearer the NIC has room for the ranks on the lowest rank's NUMA "
    "node")
NUIOA_REASON(NUIOA_REASON_EVEN, "all CPUs of this node are equally near the NIC: no move helps")
/* Free cores of the step would help, but may not be used. */
NUIOA_REASON(NUIOA_REASON_FREE_NOT_ASKED,
             "free cores of the step are nearer the NIC, but not requested: use srun --nuioa")
NUIOA_REASON(NUIOA_REASON_FREE_BOUND,
             "free cores of the step are nearer the NIC, but force only exchanges the masks of "
             "--cpu-bind. Omit --cpu-bind")
NUIOA_REASON(
    NUIOA_REASON_FREE_GPUS,
    "free cores of the step are nearer the NIC, but with GPUs ranks only exchange masks. Use "
    "--nuioa-gpus=follow")
NUIOA_REASON(
    NUIOA_REASON_FREE_UNCONFINED,
    "free cores are nearer the NIC, but Slurm does not confine tasks to the step's cores. Set "
    "TaskPlugin=task/affinity, or task/cgroup with ConstrainCores, in slurm.conf")
NUIOA_REASON(
    NUIOA_REASON_FREE_OVERLAP,
    "free cores of the step are nearer the NIC, but other steps may use them. Omit --overlap")
NUIOA_REASON(NUIOA_REASON_FREE_KEEP,
             "free cores of the step are nearer the NIC, but cores=keep leaves them free. Use "
             "--nuioa-cores=auto")
/* One rank is alone on its node. */
NUIOA_REASON(NUIOA_REASON_ALONE_MOVED, "the only rank on the node moved nearer the NIC")
NUIOA_REASON(NUIOA_REASON_ALONE_NEAREST,
             "the only rank is as near the NIC as the step's CPUs allow")
NUIOA_REASON(NUIOA_REASON_ALONE_NO_FREE,
             "the only rank stays: the step has no free cores nearer the NIC. Request whole nodes: "
             "salloc --exclusive -c N, then srun --cpu-bind=cores")
NUIOA_REASON(NUIOA_REASON_ALONE_COSTS,
             "the only rank stays: nearer a NIC it would use a slower one. Omit hints to move it")
NUIOA_REASON(
    NUIOA_REASON_ALONE_ALL,
    "the only rank stays: it has all CPUs of the step. Request whole nodes: salloc --exclusive "
    "-c N, then srun --cpu-bind=cores")
NUIOA_REASON(
    NUIOA_REASON_ALONE_WIDE,
    "the only rank keeps all CPUs of the step. To bind it beside the NIC, use sbatch -c N, or "
    "salloc -c N")
NUIOA_REASON(NUIOA_REASON_ALONE_NOT_ASKED, "the only rank has all CPUs of the step, and keeps them")
NUIOA_REASON(NUIOA_REASON_ALONE_TYPED,
             "the only rank has --cpus-per-task CPUs, those nearest the NIC")
NUIOA_REASON(
    NUIOA_REASON_ALONE_OVERLAP,
    "the only rank keeps all CPUs of the step, which may overlap with others. Omit --overlap")
/* Ranks share a mask. */
NUIOA_REASON(NUIOA_REASON_SHARE,
             "the ranks divide the CPUs that they shared, the lowest ranks nearest the NIC")
NUIOA_REASON(NUIOA_REASON_SHARE_HEAVIER,
             "the ranks divide the CPUs that they shared, heavier ranks nearer the NIC")
NUIOA_REASON(NUIOA_REASON_SHARE_TRAFFIC,
             "the ranks divide the CPUs that they shared, by traffic to the "
             "NIC and neighbours")
NUIOA_REASON(
    NUIOA_REASON_SHARE_NEAREST,
    "ranks that share CPUs keep them all: none would be nearer the NIC with a part of them")
NUIOA_REASON(
    NUIOA_REASON_SHARE_FAR,
    "ranks that share CPUs keep them: the step has none nearer the NIC. Request whole nodes: "
    "salloc --exclusive, with -c for salloc, not srun")
NUIOA_REASON(
    NUIOA_REASON_SHARE_COSTS,
    "ranks that share CPUs keep them all: dividing them would take neighbours apart or load "
    "NICs unevenly. Use --nuioa-hints=none to divide them")
NUIOA_REASON(
    NUIOA_REASON_SHARE_CROWDED,
    "ranks that share CPUs keep them all: there are more ranks than cores. Use fewer tasks, "
    "omit --exact, or request a larger job")
NUIOA_REASON(
    NUIOA_REASON_SHARE_TYPED,
    "ranks that share CPUs keep them all: their parts would be below --cpus-per-task. Use a "
    "smaller -c, or fewer tasks")
NUIOA_REASON(NUIOA_REASON_SHARE_UNEQUAL,
             "ranks that share CPUs keep them all: their masks overlap, but are not equal. Omit "
             "--cpu-bind")
NUIOA_REASON(NUIOA_REASON_SHARE_OVERLAP,
             "all ranks share the same CPUs, maybe with other steps: none is moved. Omit --overlap")
NUIOA_REASON(NUIOA_REASON_SHARE_UNCONFINED,
             "Slurm does not confine tasks to the step's cores: none is moved. Set "
             "TaskPlugin=task/affinity, or task/cgroup with ConstrainCores, in slurm.conf")
NUIOA_REASON(
    NUIOA_REASON_SHARE_NOT_ASKED,
    "all ranks share the same CPUs: none is moved, or given fewer. Use --nuioa-cores=share to "
    "divide them")
/* CPUs follow GPUs. */
NUIOA_REASON(NUIOA_REASON_FOLLOW,
             "CPUs follow GPUs: ranks are as near their GPUs as Slurm's masks allow")
NUIOA_REASON(
    NUIOA_REASON_FOLLOW_FREE,
    "CPUs follow GPUs: ranks are as near their GPUs as Slurm's masks and free cores of the "
    "step allow")
NUIOA_REASON(NUIOA_REASON_FOLLOW_NEAREST,
             "CPUs follow GPUs: ranks are already as near their GPUs as possible")
NUIOA_REASON(
    NUIOA_REASON_FOLLOW_FAR,
    "CPUs follow GPUs: some ranks are not beside their GPUs, but no better place was found")
NUIOA_REASON(NUIOA_REASON_FOLLOW_NO_FREE,
             "CPUs follow GPUs: free cores of the step are nearer some GPUs, but ranks may not use "
             "them. Use srun --nuioa without --overlap, --cpu-bind and --nuioa-cores=keep")
NUIOA_REASON(NUIOA_REASON_FOLLOW_SHARE,
             "CPUs follow GPUs: the ranks divide the CPUs that they shared, each beside its GPUs")
NUIOA_REASON(NUIOA_REASON_FOLLOW_SHARE_FAR, "CPUs follow GPUs: the ranks divide the CPUs that they "
                                            "shared, but not all are beside their GPUs")
NUIOA_REASON(NUIOA_REASON_FOLLOW_SHARE_TAKES,
             "CPUs follow GPUs: ranks that share CPUs keep them all: divided, some would have none "
             "beside their GPUs. Use srun --cpu-bind=cores with a small -c N")
NUIOA_REASON(NUIOA_REASON_FOLLOW_ALONE, "CPUs follow GPUs: the only rank moved nearer its GPUs")
NUIOA_REASON(
    NUIOA_REASON_FOLLOW_COSTS,
    "ranks stay: nearer their GPUs they would be farther from the NIC or from neighbours, or "
    "load NICs unevenly. Omit hints to let CPUs follow GPUs")
/* cores=pack */
NUIOA_REASON(NUIOA_REASON_PACK, "cores=pack: cores filled from the NIC outwards")
NUIOA_REASON(NUIOA_REASON_PACK_NEAREST,
             "cores=pack: the ranks fill the cores from the NIC outwards already")
NUIOA_REASON(NUIOA_REASON_PACK_COSTS, "cores=pack would cost more than Slurm's placement")
/* Only the caller knows these (request.stay): slurmstepd, and then nuioa exec. */
NUIOA_REASON(NUIOA_REASON_GPUS_LATE,
             "not all tasks reported their GPUs in time: ranks stay where Slurm put them")
NUIOA_REASON(NUIOA_REASON_GPUS_NO_THREAD,
             "Slurm chooses GPUs by the CPUs of each rank, and there is no "
             "thread to wait for it: ranks stay")
NUIOA_REASON(NUIOA_REASON_EXEC_PLACED, "the plugin has placed this rank")
NUIOA_REASON(NUIOA_REASON_EXEC_BOUND,
             "the launcher has bound this rank: its CPUs stay. Use mpirun --bind-to none, or srun "
             "--cpu-bind=none")
NUIOA_REASON(
    NUIOA_REASON_EXEC_MEMORY,
    "the memory policy of this rank (numactl, --mem-bind) names NUMA nodes: its CPUs stay. Use "
    "--nuioa=force to override it")
NUIOA_REASON(NUIOA_REASON_EXEC_DIVIDED, "the launcher gives each rank CPUs of its own: they stay")
NUIOA_REASON(NUIOA_REASON_EXEC_QUOTA,
             "the container has a CPU quota, and shares its CPUs with others: they stay. Give it a "
             "cpuset, or use --nuioa=force")
NUIOA_REASON(
    NUIOA_REASON_EXEC_GPUS,
    "each rank is assumed to use the GPU of its local rank, as the launcher documents: ranks "
    "stay, NICs are chosen by GPU. Use --gpus=local-rank to move ranks")
NUIOA_REASON(NUIOA_REASON_EXEC_NOT_SET, "its CPUs could not be set: they stay")
NUIOA_REASON(NUIOA_REASON_EXEC_NIC_DOWN,
             "no usable NIC is up: ranks are placed as if it were. See nuioa topo")
/* The kernel has refused to bind a rank. */
NUIOA_REASON(NUIOA_REASON_BIND_FAILED, "binding failed: ranks stay where Slurm put them")

#undef NUIOA_REASON
