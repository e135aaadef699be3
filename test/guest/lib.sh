# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# Functions that the tests share; sourced inside the guest.

machine="" plugin="" contain="" # in the settings, which boot writes
# shellcheck source=/dev/null
. /nuioa/settings
# shellcheck source=machines.sh
. /nuioa/machines.sh
# shellcheck source=../tap.sh
. /nuioa/tap.sh
set -o pipefail
define_machine "$machine"

as_user() {
    setpriv --reuid=user --regid=user --init-groups env HOME=/home/user USER=user "$@"
}

# launch SRUN-OPTION...: one whereami a rank, $megabytes (1) each, as the user. Sets
#   ranks    the lines of whereami, in rank order
#   said     srun's stderr
#   status   srun's
# Without the plugin its flags are left out, so that a check judges Slurm's own placement.
launch() {
    local option options=()
    for option; do [[ $plugin = no && $option = --nuioa* ]] || options+=("$option"); done
    status=0
    ranks=$(as_user timeout 90 srun "${options[@]}" whereami --env "${megabytes:-1}" \
        2>/tmp/said | sort -t= -k2n) || status=$?
    said=$(cat /tmp/said)
    [ "$status" = 0 ] && [ -n "$ranks" ] && return
    # Said here, so that no check that expects a failure is satisfied with this one.
    tap_count=$((tap_count + 1)) tap_failed=$((tap_failed + 1))
    printf 'not ok %d - srun %s: status %d\n' "$tap_count" "$*" "$status"
    note "$said"
}

# ask PROGRAM SRUN-OPTION...: each rank is whereami, then that program. Sets, besides what launch
# does, told: the program's lines.
ask() {
    local program=$1 option options=() all
    shift
    for option; do [[ $plugin = no && $option = --nuioa* ]] || options+=("$option"); done
    status=0
    all=$(as_user timeout 200 srun "${options[@]}" sh -c "whereami --env 1; exec $program" \
        2>/tmp/said) || status=$?
    said=$(cat /tmp/said)
    ranks=$(grep '^rank=' <<<"$all" | sort -t= -k2n)
    told=$(grep '^[0-9]' <<<"$all" | sort -n)
    [ "$status" = 0 ] && [ -n "$told" ] && return
    tap_count=$((tap_count + 1)) tap_failed=$((tap_failed + 1))
    printf 'not ok %d - srun %s: status %d\n' "$tap_count" "$*" "$status"
    note "$said"
}

# told NAME: what the program said under that name, of every rank; "-" where it said nothing.
told() {
    awk -v name="$1=" -v count="$(wc -l <<<"$ranks")" '
        index($2, name) == 1 { value[$1] = substr($2, length(name) + 1) }
        END {
            for (i = 0; i < count; i++)
                printf "%s%s", i ? " " : "", value[i] == "" ? "-" : value[i]
        }' <<<"$told"
}

# values NAME: that field of every rank, "-" where there is none.
values() {
    awk -v name="$1=" '{
        value = "-"
        for (i = 1; i <= NF; i++) if (index($i, name) == 1) value = substr($i, length(name) + 1)
        printf "%s%s", separator, value
        separator = " "
    }' <<<"$ranks"
}

# distinct NAME: how many different values of that field there are.
distinct() { values "$1" | tr ' ' '\n' | sort -u | wc -l; }

# rings SET...: for each rank, which of the sets of NUMA nodes ("3 6 7") it runs on, from 0 on.
rings() {
    local numa set index out=""
    for numa in $(values numa); do
        index=0
        for set; do
            [[ " $set " = *" $numa "* ]] && break
            index=$((index + 1))
        done
        out+=" $index"
    done
    echo "${out# }"
}

# How many ranks have every touched page on their own NUMA node, by first touch.
at_home() {
    local pages=$((${megabytes:-1} * 256))
    awk -v pages="$pages" '{
        for (i = 1; i <= NF; i++) { split($i, f, "="); field[f[1]] = f[2] }
        if (field["pages"] == field["numa"] ":" pages &&
            field["policy"] == "default") count++
    } END { print count + 0 }' <<<"$ranks"
}

# How many times the launch said that, if line breaks are blanks.
says() { grep -cF -- "$1" <<<"${said//$'\n'/ }"; }

# expand LIST: "0-2,5" is "0 1 2 5".
expand() {
    local part
    for part in ${1//,/ }; do seq "${part%-*}" "${part#*-}"; done | paste -sd' '
}

# The least number of CPUs that a rank has, how many are in use, and how often one is in two ranks.
division() {
    local list cpu least=999 count
    declare -A seen=()
    local twice=0
    for list in $(values cpus); do
        count=0
        for cpu in $(expand "$list"); do
            count=$((count + 1)) twice=$((twice + ${seen[$cpu]:-0})) seen[$cpu]=1
        done
        [ "$count" -lt "$least" ] && least=$count
    done
    echo "least $least, all ${#seen[@]}, twice $twice"
}

# How many ranks have all their pages on NUMA nodes of their own CPUs.
near_own() {
    awk '{
        for (i = 1; i <= NF; i++) { split($i, f, "="); field[f[1]] = f[2] }
        good = 1
        for (i = split(field["pages"], page, ","); i > 0; i--) {
            split(page[i], at, ":")
            good = good && index("," field["numa"] ",", "," at[1] ",")
        }
        count += good
    } END { print count + 0 }' <<<"$ranks"
}

# The NIC of each rank, by its network device.
nics() { values NUIOA_NIC | sed 's/:[0-9]*//g'; }

# descending N: hints that make rank 0 the heaviest, rank N-1 the lightest.
descending() {
    local rank out=""
    for ((rank = 0; rank < $1; rank++)); do out+=",$rank:$(($1 - rank))"; done
    echo "${out#,}"
}

# repeat COUNT WORD ...: "repeat 2 0 3 1" is "0 0 1 1 1".
repeat() {
    local out="" i
    while [ $# -gt 0 ]; do
        for ((i = 0; i < $1; i++)); do out+=" $2"; done
        shift 2
    done
    echo "${out# }"
}

# slit NODE: its row of distances, as the kernel has it.
slit() { cat "/sys/devices/system/node/node$1/distance"; }

nic_numa() {
    local nic
    for nic in /sys/class/net/eth*; do
        printf '%s:%s ' "${nic##*/}" "$(cat "$nic"/device/../numa_node)"
    done
}

# topo NODE: the NICs, and the distances from that NUMA node, as nuioa(1) prints them.
topo() {
    as_user nuioa topo --json | jq -rc --argjson from "$1" \
        '[.nics[] | select(.usable) | "\(.netdev):\(.numa[0])"], .distance.matrix[$from]' |
        paste -sd" " | tr -d "\""
}

# hold CPUS [SALLOC-OPTION]...: takes that many free ones, the lowest, and prints the job to release
# later.
hold() {
    as_user salloc --no-shell -n "$@" -m block:block true 2>&1 |
        sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p'
}

release() {
    local try
    scancel "$1"
    for ((try = 0; try < 100; try++)); do
        [ -z "$(squeue -h -j "$1" 2>/dev/null)" ] && return
        sleep 0.2
    done
}

# Starts slurmd again, so that it reads its configuration anew.
restart_slurmd() {
    local slurmd try
    slurmd=$(pgrep -x slurmd)
    kill "$slurmd"
    for ((try = 0; try < 100; try++)); do [ -e "/proc/$slurmd" ] || break; sleep 0.2; done
    slurmd
    for ((try = 0; try < 100; try++)); do
        [ "$(sinfo -h -n node0 -o %T)" = idle ] && break
        sleep 0.2
    done
}

# Makes rxe0 on eth0 and so on. The kernel says nothing of where they are: here each gets the place
# of its NIC in sysfs, as a real card has it.
make_roce() {
    local nic number place
    modprobe -a rdma_rxe ib_uverbs || return
    for nic in /sys/class/net/eth*; do
        rdma link add "rxe${nic##*eth}" type rxe netdev "${nic##*/}" || return
    done
    mount -t tmpfs tmpfs /sys/class/infiniband
    for nic in /sys/class/net/eth*; do
        number=${nic##*eth}
        place=$(readlink -f "$nic/device/..")/power # a directory that nobody needs
        mount --bind "/sys/devices/virtual/infiniband/rxe$number" "$place"
        ln -s "../../${place#/sys/}" "/sys/class/infiniband/rxe$number"
    done
}

# After this every check is about the plugin. Without it, a check that still passes shows nothing.
the_plugin_does() {
    [ "$plugin" = no ] || return 0
    pass() {
        tap_failed=$((tap_failed + 1)) tap_count=$((tap_count + 1))
        printf 'not ok %d - passes even without the plugin: %s\n' "$tap_count" "$1"
    }
    fail() {
        tap_count=$((tap_count + 1))
        printf 'ok %d - fails without the plugin: %s\n' "$tap_count" "$1"; shift
        [ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/#   /'
    }
}

# What a launch could leave on the node: processes, files, cgroups, mounts. The cache is meant to
# stay; shells, and mounts below /sys/devices and on /sys/class/infiniband, are the test's own.
present() {
    local process
    for process in /proc/[0-9]*; do
        [ ! -s "$process/cmdline" ] || grep -vx bash "$process/comm"
    done 2>/dev/null
    find /run/nuioa /dev/shm -mindepth 1 ! -name '*.cache' 2>/dev/null
    find /sys/fs/cgroup -type d -name 'job_*' 2>/dev/null
    cut -d' ' -f2 /proc/mounts | grep -Ev '^/sys/(devices/|class/infiniband$)'
}

# Ends a test. Slurm itself may take some seconds to end the last step.
done_testing() {
    local try left=""
    [ "$plugin" = no ] || for ((try = 0; try < 300; try++)); do
        left=$(comm -13 <(sort <<<"$at_first") <(present | sort))
        [ -n "$left" ] || break
        sleep 0.2
    done
    [ "$plugin" = no ] || is "nothing is left on the node" "$left" ""
    printf '1..%d\n' "$tap_count"
    [ "$tap_failed" -eq 0 ]
}
at_first=$(present)
