#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two NUMA nodes, PCIe switches with GPUs and NICs behind them, and one NIC behind no switch: a rank
# has the NICs behind the switch of its own GPUs, in whichever way Slurm gives it these.
#
# Which GPUs a rank has is known to this test from the kernel: with ConstrainDevices they are the
# ones that the rank may open. Without, they are the ones that CUDA_VISIBLE_DEVICES names, which
# counts GPUs of one model in PCI order. Where they are is known from sysfs.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    use_slurm
    needs "GPUs" pmix
    (set -e; build_disturb "$payload"; build_keys "$payload") || exit
    # The host takes processor time from the guest, which counts it as used.
    "$here/boot" gpus --cgroup --timeout 900 --payload "$payload" \
        --plugstack "deadline_ms=10000" "$@" -- "$0" "${NUIOA_GUEST_PART:-}"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh
# shellcheck source=gpus.sh
. /nuioa/gpus.sh
part=$1
nuioa=--nuioa
[ "$plugin" = yes ] || nuioa=""

# --- what sysfs says ------------------------------------------------------------------------------

locate_devices

# class GPU NIC: sets class, how far they are apart in the words of nvidia-smi.
class() {
    if [ "${switch_of[$1]}" = "${switch_of[$2]}" ]; then class=PIX
    elif [ "${bridge_of[$1]}" = "${bridge_of[$2]}" ]; then class=PHB
    elif [ "${numa_of[$1]}" = "${numa_of[$2]}" ]; then class=NODE
    else class=SYS
    fi
}

# classes: a row for each GPU, a column for each NIC.
classes=""
for gpu in $all_gpus; do
    for nic in $all_nics; do
        class "$gpu" "$nic"
        classes+="$class "
    done
done

# --- what the ranks have --------------------------------------------------------------------------

constrain=yes

# own_gpus: for each rank the PCI addresses of its GPUs, "A,B", in that order.
own_gpus() {
    local word i by_pci
    read -ra by_pci <<<"$all_gpus"
    if [ "$constrain" = yes ]; then
        for word in $(values gpus); do tr ',' '\n' <<<"$word" | LC_ALL=C sort | paste -sd,; done
    else
        for word in $(values CUDA_VISIBLE_DEVICES); do
            [ "$word" != - ] || word=0,1,2,3
            for i in ${word//,/ }; do echo "${by_pci[i]}"; done | LC_ALL=C sort | paste -sd,
        done
    fi
}

# judge: compares what the ranks are told with what they have. Sets
#   verdict   "4 told, 4 known, 4 right, 0 shared": how many have a NIC; have NUIOA_GPUS; have in it
#             the GPUs that are theirs, and in NUIOA_NICS one or more NICs behind the switch of each
#             GPU and no other, the first being NUIOA_NIC; and how many NICs are used by several
#             ranks while another one behind the same switch is used by none
#   apart     how many are not on the NUMA node of their GPUs, if that is one
judge() {
    local own said nic nics numa gpu one other told=0 known=0 right=0 shared=0
    declare -A users=()
    apart=0
    while read -r own said nic nics numa; do
        [ "$nic" = - ] || told=$((told + 1))
        [ "$nics" != - ] || nics=${nic/#-/}
        for one in ${nics//,/ }; do users[$one]=$((${users[$one]:-0} + 1)); done
        [ "$said" != - ] || continue
        known=$((known + 1))
        [ "$own,$nic" != "$said,${nics%%,*}" ] || ! fit "$own" "$nics" || right=$((right + 1))
        other=""
        for gpu in ${own//,/ }; do
            [[ " $other " = *" ${numa_of[$gpu]} "* ]] || other+=" ${numa_of[$gpu]}"
        done
        [[ $other = " "*" "* ]] || [ "$other" = " $numa" ] || apart=$((apart + 1))
    done < <(paste -d' ' <(own_gpus) <(a_line NUIOA_GPUS) <(a_line NUIOA_NIC) \
        <(a_line NUIOA_NICS) <(a_line numa))
    for one in "${!users[@]}"; do
        [ "${users[$one]}" -gt 1 ] || continue
        for other in $all_nics; do
            [ "${switch_of[$one]}" != "${switch_of[$other]}" ] || [ -n "${users[$other]:-}" ] ||
                shared=$((shared + 1))
        done
    done
    all_known=$((all_known + known)) all_right=$((all_right + right))
    verdict="$told told, $known known, $right right, $shared shared"
}
all_known=0 all_right=0

# check NAME GOT WANTED: as is; if they differ it also shows what was judged.
check() {
    is "$@"
    [ "$2" = "$3" ] || note "$(
        paste -d' ' <(a_line rank) <(a_line cpus) <(own_gpus) <(a_line CUDA_VISIBLE_DEVICES) \
            <(a_line NUIOA_GPUS) <(a_line NUIOA_NICS) | awk '{
            print "rank", $1, "on", $2, "has", $3, "by", $4 "; told", $5, $6 }')"
}

# to_gpu: the level of each rank from its GPUs in the report of the last launch.
to_gpu() {
    awk '/ to GPU /{ at = index($0, "to GPU"); next }
        at && $1 == "node0" { print substr($0, at, 6) + 0 } at && $1 != "node0" { at = 0 }' \
        <<<"$said" | xargs
}

# count_known RANKS [WAY]: sets known, of how many nuioa must know the GPUs. With closest two ranks
# see the same two, and nobody knows which rank has which; and where ranks may open all GPUs and no
# variable chooses, it may also say that it does not know.
count_known() {
    known=$1
    [[ ${2:-} != *closest ]] || known=0
    [[ ${2:-} != *none ]] || known=$(cut -d' ' -f3 <<<"$verdict")
}

# Under contain_spank nothing waits for ranks: where only they can tell their GPUs, each looks up
# its own NICs, but nobody moves, and PMIx is not told.
is_late() { [ "$contain,$constrain" = yes,no ]; }

# each_way NAME: each way in which Slurm gives GPUs to ranks, some of them only at night.
ways=("-n4 -c1 --gpus-per-task=1"
    "-n4 -c1 --gpus=4 --gpu-bind=map_gpu:2,0,3,1"
    "-n2 -c1 --gpus=4 --gpu-bind=mask_gpu:0x9,0x6"
    "-n4 -c2 --gpus=4 --gpu-bind=closest")
[ -z "$part" ] || ways+=("-n4 -c1 --gpus=4 --gpu-bind=map_gpu:3,2,1,0"
    "-n4 -c1 --gpus=4 --gpu-bind=single:2"
    "-n2 -c1 --gpus=4 --gpu-bind=per_task:2"
    "-n2 -c1 --gpus=4 --gpu-bind=none")
each_way() {
    local way count got wanted near=", its CPUs near them"
    ! is_late || near=""
    for way in "${ways[@]}"; do
        count=${way#-n} count=${count%% *}
        # shellcheck disable=SC2086
        launch $way --nuioa
        judge
        count_known "$count" "$way"
        got="$verdict, $apart apart"
        wanted="$count told, $known known, $known right, 0 shared, 0 apart"
        ! is_late || got=${verdict%,*} wanted=${wanted%,*,*}
        check "$1, $way: each rank's NICs are behind its own GPUs' switches$near" "$got" "$wanted"
    done
}

# in_pmix NAME: the keys are what the environment has.
in_pmix() {
    ask keys -n4 -c1 --gpus=4 --gpu-bind=map_gpu:2,0,3,1 --mpi=pmix --nuioa
    judge
    count_known 4
    if is_late; then
        check "$1: PMIx has no NICs that are not known, the environment has the right ones" \
            "$(told nuioa.gpus); $(told nuioa.nics); $verdict" "- - - -; - - - -; $right"
        return
    fi
    check "$1: PMIx has what the environment has, which is right" \
        "$(told nuioa.gpus); $(told nuioa.nics); $verdict" \
        "$(values NUIOA_GPUS); $(values NUIOA_NICS); 4 told, $known known, $known right, 0 shared"
    is "$1: by PMIx's distances, too, the nearest NICs are a rank's own" "$(nearest_by_pmix)" \
        "$(values NUIOA_NICS)"
}

right="4 told, 4 known, 4 right, 0 shared" # of four ranks

# --- Slurm and the kernel alone -------------------------------------------------------------------

is "the GPUs are on NUMA nodes 0 0 1 1, two behind one switch" \
    "$(for gpu in $all_gpus; do echo "${numa_of[$gpu]}:${behind[$gpu]}"; done | xargs)" \
    "0:eth1 0:eth2 1:eth3,eth4 1:eth3,eth4"
is "eth0 is on NUMA node 0, behind no switch, before all others" \
    "${numa_of[eth0]} $(printf '%s\n' "${path_of[@]}" | LC_ALL=C sort | head -n 1)" \
    "0 ${path_of[eth0]}"
is "device files are numbered in PCI order" "$(gpus_by_file)" "$all_gpus"
# Rank 0 has the first GPU, and so on. For --gpus-per-task Slurm chooses by CPUs since 23.11.
one_each="-n4 -c1 --gpus=4 --gpu-bind=map_gpu:0,1,2,3"
# shellcheck disable=SC2086
launch $one_each
is "Slurm alone: a rank may open one GPU, its variable always says 0" \
    "$(own_gpus | xargs); $(values CUDA_VISIBLE_DEVICES)" "$all_gpus; 0 0 0 0"
slurms=$(values cpus)
is "Slurm alone: half of the ranks are on the other NUMA node than their GPU" "$slurms" "0 4 1 5"
job=$(hold 8 --gpus=4)
launch --jobid="$job" -n4 --gpus-per-task=1
release "$job"
is "Slurm alone binds nobody where the step is wider than its ranks" "$(values cpus)" \
    "$(repeat 4 0-7)"
the_plugin_does

is "nuioa topo has the GPUs, the NICs and the paths between them that sysfs has" \
    "$(nuioa topo --json | jq -r '[.gpus[].pci, .nics[].netdev, .paths[][]] | join(" ")')" \
    "$all_gpus $all_nics ${classes% }"

# --- CPUs -----------------------------------------------------------------------------------------

# CPUs follow GPUs: the ranks exchange those that Slurm gave them.
# shellcheck disable=SC2086
launch $one_each --nuioa
judge
check "bound ranks exchange Slurm's CPUs" \
    "$apart apart, $verdict, $(a_line cpus | sort -n | xargs)" "0 apart, $right, 0 1 4 5"
# shellcheck disable=SC2086
launch $one_each --nuioa --nuioa-gpus=keep
judge
check "gpus=keep: they have Slurm's CPUs" "$(values cpus), $verdict" "$slurms, $right"
# shellcheck disable=SC2086
launch $one_each --cpu-bind=map_cpu:5,0,4,1 --nuioa
judge
check "an explicit --cpu-bind is untouched" "$(values cpus), $verdict" "5 0 4 1, $right"

# Where the step has CPUs of both sockets or not: free cores, and what else may be requested.
far="CPUs are far from GPUs: the step has no cores beside them"
# shellcheck disable=SC2086
launch $one_each --nuioa=report --nuioa-gpus=keep
judge
check "gpus=keep: the report has the level from each GPU, and says what to request" \
    "$apart apart, $(to_gpu), $(says "$far")" "2 apart, 0 1 1 0, 1"
launch -n2 -c2 --gpus-per-task=1 --gres-flags=enforce-binding --nuioa=report
judge
check "... which helps" "$apart apart, $(to_gpu), $(says "$far")" "0 apart, 0 0, 0"

# All cores of the socket of the last GPUs are taken.
jobs="$(hold 1 --gpus=2) $(hold 4)"
launch -n1 -c2 --gpus=1 --nuioa=report
judge
check "a shared node: CPUs of one socket, the GPU of the other" \
    "$apart apart, $(values cpus), $(to_gpu), $(says "$far")" "1 apart, 1-2, 1, 1"
said=$(as_user timeout 90 srun -n1 -c2 --gpus=1 ${nuioa:+nuioa exec --nuioa=report --} true 2>&1)
is "... nuioa exec says it, too" "$(to_gpu), $(says "$far")" "1, 1"
for job in $jobs; do release "$job"; done

job=$(hold 8 --gpus=4)
launch --jobid="$job" -n4 --cpu-bind=cores -m block:block --gpus-per-task=1 --nuioa=report
judge
check "bound ranks go to free cores beside their GPUs" \
    "$apart apart, $verdict, $(a_line cpus | sort -n | xargs), $(to_gpu)" \
    "0 apart, $right, 0 1 4 5, 0 0 0 0"
launch --jobid="$job" -n4 --cpu-bind=cores -m block:block --gpus-per-task=1 --nuioa=report \
    --nuioa-cores=keep
is "... not with cores=keep, and the report says it" \
    "$(values cpus), $(to_gpu), $(says "ranks may not use them")" "0 1 2 3, 0 0 1 1, 1"
launch --jobid="$job" -n3 --cpu-bind=cores --gpus=4 --gpu-bind=map_gpu:2,3,3 --nuioa=report
judge
check "... three ranks with GPUs of one socket, too" "$apart apart, $(to_gpu)" "0 apart, 0 0 0"
launch --jobid="$job" -n3 --gpus=4 --gpu-bind=map_gpu:2,3,3 --nuioa=report
is "such ranks do not divide the CPUs" "$(values cpus), $(to_gpu), $(says "keep them all")" \
    "$(repeat 3 0-7), 1 1 1, 1"
launch --jobid="$job" -n4 --gpus-per-task=1 --nuioa
judge
check "such ranks divide the CPUs, and each part is near its rank's GPU" \
    "$apart apart, $verdict, $(division)" "0 apart, $right, least 2, all 8, twice 0"
launch --jobid="$job" -n4 --gpus-per-task=1 --gpu-bind=map_gpu:3,1,2,0 --nuioa
judge
check "the same with shuffled GPUs" \
    "$apart apart, $verdict, $(division)" "0 apart, $right, least 2, all 8, twice 0"
launch --jobid="$job" -n4 --gpus-per-task=1 --cpu-bind=none --nuioa
judge
check "--cpu-bind=none is untouched" "$(values cpus), $verdict" "$(repeat 4 0-7), $right"
release "$job"

# --- jobs at the same time ------------------------------------------------------------------------

# one_job NUMBER: a job of one GPU that stays until the file end is there
one_job() {
    # shellcheck disable=SC2016,SC2086
    as_user timeout 400 srun -n1 -c1 --gpus=1 $nuioa sh -c '
        whereami --env 1 >part.$1 && mv part.$1 job.$1
        until [ -e end ]; do sleep 0.2; done' sh "$1" &
}
for number in 1 2 3 4; do
    one_job $number
    for ((try = 0; try < 1000; try++)); do [ -s job.$number ] && break; sleep 0.2; done
done
touch end
wait
ranks=$(cat job.[1-4])
judge
check "four jobs of one GPU each at the same time have four NICs" \
    "$verdict, $(a_line NUIOA_NIC | sort -u | wc -l)" "$right, 4"

# --- a task that dies or stops --------------------------------------------------------------------

cp /etc/slurm/plugstack.conf /tmp/plugstack.conf
# disturb before|after WORD: rank 2 dies or stops (see test/cluster/disturb.c) at that moment.
disturb() {
    local line="optional /usr/lib/slurm/disturb.so $2 2" before="" after=""
    if [ "$1" = before ]; then before=$line; else after=$line; fi
    printf '%s\n' "$before" "$(cat /tmp/plugstack.conf)" "$after" >/etc/slurm/plugstack.conf
}

# start: four ranks, and waits until three of them have said where they are. All say it in /tmp/all.
start() {
    local try
    # shellcheck disable=SC2086
    as_user timeout 400 srun $one_each $nuioa whereami --env 1 >/tmp/all 2>/dev/null &
    for ((try = 0; try < 1000; try++)); do
        [ "$(grep -c ^rank= /tmp/all)" = 3 ] && break
        sleep 0.2
    done
    ranks=$(sort -t= -k2n /tmp/all)
    judge
}

# go_on: rank 2, which had stopped, and waits until the job has ended.
go_on() {
    local pid
    for pid in $(pgrep slurmstepd); do
        ! grep -q '^State:.*stopped' "/proc/$pid/status" || kill -CONT "$pid"
    done
    wait
    ranks=$(sort -t= -k2n /tmp/all)
    judge
}

three="0 1 3: 3 told, 3 known, 3 right, 0 shared"
for when in ${part:+before} after; do
    disturb "$when" kill
    start
    check "rank 2 dies $when nuioa's task_init: the others run and are right" \
        "$(values rank): $verdict" "$three"
    wait
    disturb "$when" stop
    start
    check "rank 2 stops $when nuioa's task_init: the others run and are right" \
        "$(values rank): $verdict" "$three"
    go_on
    check "... and so is rank 2 when it goes on" "$(values rank): $verdict" "0 1 2 3: $right"
done
cp /tmp/plugstack.conf /etc/slurm/plugstack.conf

# --- each way, device files numbered against PCI order --------------------------------------------

# shellcheck disable=SC2046
number_gpus $(tr ' ' '\n' <<<"$all_gpus" | tac)
if [ -n "$part" ]; then
    restart_slurmd
    each_way "files against PCI order"
    in_pmix "files against PCI order"
fi

# --- without ConstrainDevices ---------------------------------------------------------------------

sed -i s/^ConstrainDevices=yes/ConstrainDevices=no/ /etc/slurm/cgroup.conf
constrain=no
restart_slurmd
# shellcheck disable=SC2086
launch $one_each --nuioa
judge
check "no ConstrainDevices: GPUs without a variable of their own are unknown, and nobody moves" \
    "$verdict, $(values cpus)" "4 told, 0 known, 0 right, 0 shared, $slurms"
pretend_vendor 0x10de # NVIDIA
[ "$plugin" = no ] || nuioa cache
each_way "no ConstrainDevices"
in_pmix "no ConstrainDevices"

# exec_each NUMBER...: processes that nuioa exec starts, by the number of the GPU that each one has
# and knows alone. Prints how many have the NICs of their GPU, and no other, in NUIOA_NICS and for
# UCX, and how many NICs all have together.
exec_each() {
    local rank=0 right=0 all="" number said by_pci gpu nics ucx
    read -ra by_pci <<<"$all_gpus"
    for number; do
        # shellcheck disable=SC2016
        said=$(as_user env CUDA_VISIBLE_DEVICES="$number" nuioa exec --local-rank $rank \
            --local-size $# --rails auto,connected --export env,ucx -- \
            sh -c 'echo "$NUIOA_GPUS $NUIOA_NICS $UCX_NET_DEVICES"')
        rank=$((rank + 1))
        read -r gpu nics ucx <<<"$said"
        [ "$gpu $nics" != "${by_pci[number]} $ucx" ] || ! fit "$gpu" "$nics" || right=$((right + 1))
        all+=" ${nics//,/ }"
    done
    echo "$right right, $(tr ' ' '\n' <<<"${all# }" | sort -u | wc -l) NICs"
}
is "nuioa exec: four processes have a NIC each, behind the switch of their GPU" \
    "$(exec_each 0 1 2 3)" "4 right, 4 NICs"
is "... with shuffled GPUs" "$(exec_each 3 1 2 0)" "4 right, 4 NICs"
is "... one process alone" "$(exec_each 3)" "1 right, 1 NICs"
disturb before stop
start
check "no ConstrainDevices, rank 2 stops before nuioa's task_init: the others run and are right" \
    "$(values rank): $verdict" "$three"
go_on

ok "$all_right of $all_known ranks whose GPUs are known are right" \
    test "$all_right" = "$all_known" -a "$all_known" -gt 0

done_testing
