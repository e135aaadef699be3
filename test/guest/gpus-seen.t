#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A GPU that a rank may see is not one that it has: in four modes (ConstrainDevices or not, and the
# variables of NVIDIA or of AMD) ranks see all GPUs of the step, share one, have one in
# another order, or are alone; and nuioa exec inherits one list for all. No NIC is called near that
# is near to no GPU, and variables that choose NICs are set only where each GPU of a rank is known.
#
# What a rank has is known to this test from the kernel (with ConstrainDevices, the files that it
# may open), from NVIDIA's numbers, which are in PCI order, and from AMD's if they name all.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    use_slurm
    needs "GPUs that several ranks see" pmix
    (set -e; build_keys "$payload") || exit
    "$here/boot" gpus --cgroup --timeout 1500 --payload "$payload" \
        --plugstack "deadline_ms=10000 rails=auto,connected" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh
# shellcheck source=gpus.sh
. /nuioa/gpus.sh
locate_devices
the_plugin_does

# own_gpus: for each rank the GPUs that it sees, "A,B" in the order of addresses; "?": unknown.
own_gpus() {
    local word i by_pci
    read -ra by_pci <<<"$all_gpus"
    if [ "$constrain" = yes ]; then
        for word in $(values gpus); do tr ',' '\n' <<<"$word" | LC_ALL=C sort | paste -sd,; done
    elif [ "$vendor" = nvidia ]; then
        for word in $(values CUDA_VISIBLE_DEVICES); do
            for i in ${word//,/ }; do echo "${by_pci[i]}"; done | LC_ALL=C sort | paste -sd,
        done
    else
        for word in $(values ROCR_VISIBLE_DEVICES); do
            if [ "$word" = 0,1,2,3 ]; then tr ' ' ',' <<<"$all_gpus"; else echo "?"; fi
        done
    fi
}

# judge NIC...: sets verdict, "4 near, 4 known, 4 filtered": how many ranks are told one of these
# NICs first; are told the GPUs that they see, and NICs behind the switches of these; have variables
# that choose NICs, of which those that are not known, or choose others than NUIOA_NICS, are wrong.
judge() {
    local own said nic nics ucx near=0 known=0 filtered=0 wrong=""
    while read -r own said nic nics ucx; do
        [[ " $* " != *" $nic "* ]] || near=$((near + 1))
        [ "$ucx" = - ] || filtered=$((filtered + 1))
        if [ "$said" = "$own" ] && fit "$own" "$nics"; then
            known=$((known + 1))
            [ "$ucx" = - ] || [ "$ucx" = "$nics" ] || wrong=", a wrong filter"
        else
            [ "$said" = - ] || wrong+=", wrong GPUs"
            [[ $nics != *,* ]] || wrong+=", several NICs"
            [ "$ucx" = - ] || wrong+=", a filter on what is unknown"
        fi
    done < <(paste -d' ' <(own_gpus) <(a_line NUIOA_GPUS) <(a_line NUIOA_NIC) \
        <(a_line NUIOA_NICS) <(a_line UCX_NET_DEVICES))
    verdict="$near near, $known known, $filtered filtered$wrong"
}

# check NAME WANTED: compares the verdict; if it differs it also shows what was judged.
check() {
    is "$mode: $1" "$verdict" "$2"
    [ "$verdict" = "$2" ] || note "$(
        paste -d' ' <(a_line rank) <(a_line cpus) <(own_gpus) <(a_line NUIOA_GPUS) \
            <(a_line NUIOA_NICS) <(a_line UCX_NET_DEVICES))"
}

# far_by_pmix: how many ranks are told by PMIx that a NIC is nearest which is not one of these:
# beside a GPU, and on the rank's own NUMA node.
far_by_pmix() {
    local numa nics nic far=0
    while read -r numa nics; do
        for nic in ${nics//,/ }; do
            [[ " $behind_some " = *" $nic "* && ${numa_of[$nic]} = "$numa" ]] || far=$((far + 1))
        done
    done < <(paste -d' ' <(a_line numa) <(nearest_by_pmix | xargs -n1))
    echo "$far"
}
behind_some=$(tr , '\n' <<<"${behind[*]// /,}" | tr ' ' '\n' | sort -u | xargs)
first=$(cut -d' ' -f1-2 <<<"$behind_some")

export_all="--nuioa-export=env,ucx,pmix,locality"
# Plain --nuioa makes a plan that waits for the ranks; with export each rank finds its NICs itself.
for each in "yes nvidia" "yes amd" "no nvidia" "no amd"; do
    # shellcheck disable=SC2086
    mode $each
    mode="ConstrainDevices=$constrain, $vendor"
    unknown=no
    [ "$each" != "no amd" ] || unknown=yes
    one_known="4 near, 4 known, 4 filtered"
    [ $unknown = no ] || one_known="4 near, 0 known, 0 filtered"

    ask keys -n4 -c1 --gpus=4 --mpi=pmix --nuioa=on,report "$export_all"
    # shellcheck disable=SC2086
    judge $behind_some
    check "all ranks see all GPUs, of which nobody has one" "4 near, 0 known, 0 filtered"
    is "$mode: PMIx calls no NIC nearest that is not, and names some" \
        "$(far_by_pmix) $(nearest_by_pmix | grep -c eth)" "0 1"
    is "$mode: the report says what was set, and why ranks stay" \
        "$(says "4 of 4 ranks get no variable that chooses NICs"), $(
            says "ranks see the same GPUs")" "1, 1"
    for how in on export; do
        options=("--nuioa=$how" --nuioa-export=env,ucx)
        launch -n4 -c1 --gpus=4 "${options[@]}"
        # shellcheck disable=SC2086
        judge $behind_some
        check "$how: the same without PMIx" "4 near, 0 known, 0 filtered"
        launch -n4 -c1 --gpus=2 "${options[@]}"
        # shellcheck disable=SC2046,SC2086
        judge $([ $unknown = yes ] && echo $behind_some || echo $first)
        check "$how: no NIC of the other socket, where all see the two GPUs of one" \
            "4 near, 0 known, 0 filtered"
        launch -n4 -c1 --ntasks-per-gpu=2 "${options[@]}"
        # shellcheck disable=SC2086
        judge $behind_some
        check "$how: two ranks for a GPU have it" "$one_known"
        launch -n4 -c1 --gpus=4 --gpu-bind=map_gpu:1,1,0,0 "${options[@]}"
        # shellcheck disable=SC2086
        judge $behind_some
        check "$how: the same in another order" "$one_known"
        launch -n1 -c1 --gpus=4 "${options[@]}"
        # shellcheck disable=SC2086
        judge $behind_some
        check "$how: a rank alone has all that it sees" "1 near, 1 known, 1 filtered"
    done

    cat >/tmp/batch <<'X'
#!/bin/sh
for i in 0 1 2 3; do
    nuioa exec --local-rank $i --local-size 4 --rails auto,connected --export env,ucx -- \
        env SLURM_PROCID=$i whereami --env 1
done
X
    rm -f /tmp/batch.out
    (cd /tmp && as_user sbatch -W -n4 --gpus=4 -o /home/user/batch.out /tmp/batch) >/dev/null
    ranks=$(grep ^rank= /home/user/batch.out)
    # shellcheck disable=SC2086
    judge $behind_some
    check "nuioa exec: a list that sbatch has left is nobody's" "4 near, 0 known, 0 filtered"
done
done_testing
