#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# export=auto on a node with four GPUs and RDMA devices behind its PCIe switches: UCX itself says
# which devices a rank opens. A rank that is known to have a GPU opens that GPU's NICs and no other
# ones; where something is unknown, or somebody else chooses NICs, all that it opens without.
#
# The RDMA devices are rxe, as in rails.t.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    needs "what UCX opens" ucx_info
    cp "$(command -v ucx_info)" "$payload/usr/local/bin"
    "$here/boot" gpus --cgroup --timeout 900 --payload "$payload" \
        --plugstack "deadline_ms=10000" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh
# shellcheck source=gpus.sh
. /nuioa/gpus.sh
ok "there are RDMA devices" make_roce
chmod 666 /dev/infiniband/uverbs*
nuioa cache
cp /bin/sh /home/user/rank # not by a shell's name, which is told nothing

# opened SRUN-OPTION...: for each rank the devices that UCX opens, those that it was told, and those
# of its NUIOA_NICS.
opened() {
    # shellcheck disable=SC2016 # the rank's
    as_user timeout 120 srun -N1 "$@" "${program:-/home/user/rank}" -c '
        echo "$SLURM_PROCID $(ucx_info -p -u t | grep -oE "rxe[0-9]:1" | sort -u | paste -sd,)" \
            "${UCX_NET_DEVICES:--} ${NUIOA_NICS:--} ${NUIOA_EXPORTED:--}"' 2>/tmp/said |
        sort -n | cut -d' ' -f2-
}
all=rxe0:1,rxe1:1,rxe2:1,rxe3:1,rxe4:1
auto=(--nuioa "--nuioa-nic=roce,rxe*" --nuioa-rails=connected)

# as_without NAME SRUN-OPTION...: each rank opens all devices, and was told none.
as_without() {
    local name=$1 got
    shift
    got=$(opened "$@")
    is "$name: UCX opens what it opens without" \
        "$(awk '{ print $1, $2, $4 }' <<<"$got" | sort -u)" "$all - -"
    [ -n "$got" ] || note "$(cat /tmp/said)"
}

as_without "export=none" -n4 -c1 "${auto[@]}" --nuioa-export=none

# --- a GPU for each rank --------------------------------------------------------------------------

# Sets own: how many ranks open exactly the NICs of their GPU, which they were told.
count_own() {
    lines=$(opened "$@")
    own=$(awk -v all="$all" 'NF == 4 && $1 == $2 && $2 == $3 && $1 != all &&
        $4 == "UCX_NET_DEVICES" { n++ } END { print n + 0 }' <<<"$lines")
}
known=(-n4 -c1 --gpus-per-task=1)
count_own "${known[@]}" "${auto[@]}"
is "each rank opens the NICs of its GPU, and no other" "$own" 4
note "$lines"
is "... and these are four" "$(cut -d' ' -f1 <<<"$lines" | tr , '\n' | sort -u | wc -l)" 4
as_without "GPUs that all ranks see" -n4 -c1 --gpus=4 "${auto[@]}"

# --- no GPU ---------------------------------------------------------------------------------------

# The kernel denies the step all GPUs. Two of three ports, as many as UCX takes by itself.
three=(--nuioa --nuioa-nic=rxe1,rxe2,rxe3 --nuioa-rails=connected)
lines=$(opened -n4 -c1 "${three[@]}")
is "a step without GPUs: each rank opens the two NICs that it was told, its own first" \
    "$(awk '{ split($2, told, ",") } $1 ~ /^rxe[123]:1,rxe[123]:1$/ && $4 == "UCX_NET_DEVICES" &&
        told[1] == $3 && length($2) == length($1) && index($1, told[1]) && index($1, told[2]) {
            n++ } END { print n + 0 }' <<<"$lines")" 4
note "$lines"
as_without "... fewer ranks than ports" -n2 -c1 "${three[@]}"

# --- what is not certain, and who else chooses ----------------------------------------------------

as_without "nobody says that the NICs are connected" "${known[@]}" "${auto[@]:0:2}"
as_without "only the site wants nuioa" "${known[@]}" --nuioa-rails=connected
as_without "a rank alone on its node" -n1 -c1 --gpus-per-task=1 "${auto[@]}"
echo UCX_NET_DEVICES=rxe0:1 >/home/user/ucx.conf
is "ucx.conf chooses" "$(cd /home/user && opened "${known[@]}" "${auto[@]}" | cut -d' ' -f2,4 |
    sort -u)" "- -"
echo UCX_LOG_LEVEL=error >/home/user/ucx.conf
count_own "${known[@]}" "${auto[@]}"
is "... and one that does not say NICs counts for nothing" "$own" 4
rm /home/user/ucx.conf
program="sh" as_without "a shell may choose later" "${known[@]}" "${auto[@]}"
export UCX_LOG_LEVEL=error
as_without "the user has a variable of UCX" "${known[@]}" "${auto[@]}"
unset UCX_LOG_LEVEL
chmod 600 /dev/infiniband/uverbs*
is "devices that the rank cannot open" \
    "$(opened "${known[@]}" "${auto[@]}" | awk '{ print $(NF - 2), $NF }' | sort -u)" "- -"
chmod 666 /dev/infiniband/uverbs*

# --- what a rank starts ---------------------------------------------------------------------------

# inner SRUN-OPTION...: what the two ranks of a step open and were told, which rank 0 of four starts
inner() {
    # shellcheck disable=SC2016 # the rank's
    as_user timeout 120 srun -N1 "${known[@]}" "${auto[@]}" $how /home/user/rank -c '
        [ "$SLURM_PROCID" = 0 ] || exit 0
        unset SLURM_CPU_BIND SLURM_GPUS_PER_TASK SLURM_TRES_PER_TASK SLURM_CPUS_PER_TASK
        exec srun --overlap -N1 -n2 -c1 "$@" /home/user/rank -c "
            echo \$(ucx_info -p -u t | grep -oE \"rxe[0-9]:1\" | sort -u | paste -sd,) \
                \${UCX_NET_DEVICES:--} \${NUIOA_EXPORTED:--}"' rank "$@" 2>/tmp/said | sort
}
for how in --nuioa-export=none ""; do
    is "a step in a step, of a rank ${how:-that was told}: as without" "$(inner)" \
        "$all - -"$'\n'"$all - -"
    is "... which requests nuioa itself" "$(inner "${auto[@]}" | cut -d' ' -f2- | sort -u)" "- -"
    note "$(cat /tmp/said)"
done
# shellcheck disable=SC2016 # the rank's
is "mpirun in a step" "$(as_user timeout 120 srun -N1 -n1 -c4 --gpus=4 "${auto[@]}" \
    /home/user/rank -c '
    mpirun.openmpi --oversubscribe -n 2 sh -c "echo \${UCX_NET_DEVICES:--}"' 2>/tmp/said |
    sort -u)" "-"

# --- the GPU of the local rank --------------------------------------------------------------------

pretend_vendor 0x10de # NVIDIA, whose programs count GPUs in PCI order
nuioa cache
count_own -n4 -c1 --gpus=4 --nuioa-gpus=local-rank "${auto[@]}"
is "GPUs that all ranks see, and each takes the one of its local rank" "$own" 4
note "$lines"

done_testing
