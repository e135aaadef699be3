# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# The GPUs of the guest, as the kernel's sysfs has them; sourced by init and by the tests of GPUs. A
# GPU is named by its PCI address.

# gpus_by_file: all GPUs, in the order of the numbers in their device files' names.
gpus_by_file() {
    local file
    for file in /sys/class/drm/renderD*; do basename "$(readlink -f "$file/device")"; done | xargs
}

# gpus_by_pci: all GPUs, in the order of their addresses.
gpus_by_pci() { gpus_by_file | tr ' ' '\n' | LC_ALL=C sort | xargs; }

# write_gres: tells Slurm of the GPUs. Users may open their files, as udev would allow.
write_gres() {
    local file numa
    for file in /dev/dri/renderD*; do
        chmod 666 "$file"
        numa=$(cat "/sys/class/drm/${file##*/}/device/numa_node")
        echo "Name=gpu File=$file Cores=$(cat "/sys/devices/system/node/node$numa/cpulist")"
    done >/etc/slurm/gres.conf
}

# number_gpus PCI...: gives the GPUs their device files anew, the first one the lowest number.
number_gpus() {
    local pci
    for pci; do echo "$pci" >/sys/bus/pci/drivers/virtio-pci/unbind; done
    for pci; do echo "$pci" >/sys/bus/pci/drivers/virtio-pci/bind; done
    write_gres
}

# pretend_vendor ID: from now on who reads the PCI vendor of a GPU in sysfs reads this one.
pretend_vendor() {
    local gpu
    echo "$1" >/run/vendor
    for gpu in $(gpus_by_pci); do
        mount --bind /run/vendor "/sys/bus/pci/devices/$gpu/vendor"
    done
}

# mode CONSTRAIN VENDOR: yes or no, nvidia or amd. Sets constrain, vendor.
mode() {
    constrain=$1 vendor=$2
    sed -i "s/^ConstrainDevices=.*/ConstrainDevices=$1/" /etc/slurm/cgroup.conf
    [ -e /tmp/gres.conf ] || cp /etc/slurm/gres.conf /tmp/
    sed "s/\$/ Flags=$2_gpu_env/" /tmp/gres.conf >/etc/slurm/gres.conf
    if [ "$2" = nvidia ]; then pretend_vendor 0x10de; else pretend_vendor 0x1002; fi
    [ "$plugin" = no ] || nuioa cache
    restart_slurmd
}

# --- in the guest: where devices are, and what ranks have -----------------------------------------

# see NAME DIRECTORY: notes where that GPU (by its PCI address) or NIC is.
declare -A path_of switch_of bridge_of numa_of behind
see() {
    path_of[$1]=$(readlink -f "$2")
    # A device is below a downstream port of the switch, and that is below the upstream port.
    switch_of[$1]=${path_of[$1]%/*/*}
    bridge_of[$1]=$(cut -d/ -f4 <<<"${path_of[$1]}")
    numa_of[$1]=$(cat "$2/numa_node")
}

# locate_devices: sets all_nics and all_gpus, what see() notes of them, and behind[GPU], the NICs
# behind its switch.
locate_devices() {
    local nic gpu
    all_nics=""
    for nic in /sys/class/net/eth*; do
        see "${nic##*/}" "$nic/device/.."
        all_nics+="${all_nics:+ }${nic##*/}"
    done
    all_gpus=$(gpus_by_pci)
    for gpu in $all_gpus; do
        see "$gpu" "/sys/bus/pci/devices/$gpu"
        for nic in $all_nics; do
            [ "${switch_of[$gpu]}" != "${switch_of[$nic]}" ] ||
                behind[$gpu]+="${behind[$gpu]:+,}$nic"
        done
    done
}

# a_line NAME: that field of every rank, in a line each.
a_line() { values "$1" | xargs -n1; }

# fit GPUS NICS: each GPU has a NIC behind its switch, and each NIC is behind the switch of a GPU.
fit() {
    local gpu nic allowed="" found
    for gpu in ${1//,/ }; do
        found=no
        for nic in ${behind[$gpu]//,/ }; do [[ ,$2, != *,$nic,* ]] || found=yes; done
        [ $found = yes ] || return 1
        allowed+=",${behind[$gpu]},"
    done
    for nic in ${2//,/ }; do [[ $allowed = *,$nic,* ]] || return 1; done
}

# nearest_by_pmix: for each rank the devices that have the distance 10 in PMIX_DEVICE_DISTANCES,
# which are the ones that Open MPI 5 would choose from (test/cluster/42-openmpi-nic.t).
nearest_by_pmix() {
    local word
    for word in $(told pmix.dev.dist); do
        tr ',' '\n' <<<"$word" | sed -n 's/=.*:10-10$//p' | paste -sd,
    done | xargs
}
