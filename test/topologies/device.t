#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# test/device, which is for a machine with GPUs, on the output of nvidia-smi: dgx1/topo is what the
# vendor's guide to the DGX-1 prints, dgx1/gpus has the addresses of the machine in case 05, which
# was made like it. A matrix that says something else is seen.

. "$(dirname "$0")/lib.sh"
if [ -z "$tool" ]; then
    skip_all "test/device" "$no_tool"
fi
export NUIOA=$tool
tar -xJf "$here/../cases/machines/05.tar.xz" -C "$work"

# device DIR: $said, and its last lines in short: how many checks, how many failed
device() {
    said=$(timeout 120 "$top/test/device" --recorded "$1" "$work/root" 2>&1)
    verdict="$? $(grep -c '^ok' <<<"$said") $(grep '^not ok' <<<"$said" | cut -d- -f2-)"
}
device "$here/dgx1"
is "what nvidia-smi and nuioa say of a DGX-1 is the same" "$verdict" "0 13 "
like "... of each GPU and each NIC" "$said" 'nvidia-smi topo -m: 32 ways between GPUs and NICs'
mkdir "$work/newer" "$work/wrong"
cp "$here/dgx1/gpus" "$work/newer"
cp "$here/dgx1/gpus" "$work/wrong"
{
    sed 's/mlx5_/NIC/g; s/^NIC/NIC/' "$here/dgx1/topo"
    printf '\nNIC Legend:\n\n'
    printf '  NIC%d: mlx5_%d\n' 0 0 1 1 2 2 3 3
} >"$work/newer/topo"
device "$work/newer"
is "... in the words of newer drivers" "$verdict" "0 13 "
sed '/^GPU3/s/PIX/PXB/' "$here/dgx1/topo" >"$work/wrong/topo"
device "$work/wrong"
is "another way is seen" "$verdict" \
    "1 12  nvidia-smi topo -m: 32 ways between GPUs and NICs"
like "... and said" "$said" '# +GPU3, mlx5_1: nvidia-smi PXB, nuioa PIX'
sed 's/87:00/87:01/' "$here/dgx1/gpus" >"$work/wrong/gpus"
device "$work/wrong"
like "another GPU is seen" "$verdict" '^1 .*the 8 GPUs of nvidia-smi, in its order'
like "no such recording" "$(device "$work/none"; echo "$verdict")" '^1 2 .*GPUs of nvidia-smi'
usage=$("$top/test/device" --recorded 2>&1)
like "usage" "$?|$usage" '^2|.*--recorded DIR ROOT'
done_testing
