# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The GPUs of the guest, as the kernel's sysfs has them; sourced by init and by gpus.t. A GPU is
# named by its PCI address.

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
