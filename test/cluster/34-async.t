#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# srun --async (Slurm 26.05 and later) leaves when the step is accepted: nobody listens, and nodes
# do without and say nothing. It needs a step manager, so a cluster of its own.
. "$(dirname "$0")/testlib.sh"

in_root() { PATH=/opt/slurm/sbin:$PATH ${NUIOA_CLUSTER_ROOT:+chroot "$NUIOA_CLUSTER_ROOT"} "$@"; }
version=$(in_root slurmd -V | sed 's/.* //')
if [ "$(printf '%s\n' 26.05 "$version" | sort -V | head -n 1)" != 26.05 ]; then
    skip_all "srun --async" "Slurm $version does not have it"
fi
line=$(NUIOA_CLUSTER_DIR='' NUIOA_CLUSTER_SLURM_CONF='SlurmctldParameters=enable_stepmgr
PrologFlags=Contain' "$here/up" --no-plugin) || exit 1
eval "$line"
trap '"$here/down"' EXIT
setup

# async SRUN-ARG...: eight ranks of a step that nobody waits for; $ranks say what they were told
async() {
    rm -f "$CLUSTER_DIR"/home/*.async
    printf '#!/bin/sh\nsrun --async -n8 -o out.%%t.async -e err.%%N.async %s %s\nsleep 5\n' \
        "$*" "$home/rank" >"$CLUSTER_DIR/home/batch"
    chmod 0755 "$CLUSTER_DIR/home/batch"
    user sbatch -W -N4 --exclusive --stepmgr -D "$home" -o batch.async "$home/batch"
    told=$(cat "$CLUSTER_DIR"/home/out.*.async 2>/dev/null)
    said=$(cat "$CLUSTER_DIR"/home/{batch,err.*}.async 2>/dev/null | grep -i nuioa:)
}

plugin on "topology=$topology" default=on
async
is "all ranks run" "$(grep -c ' HOST=' <<<"$told")" 8
is "each node has its leader" \
    "$(grep -o 'NUIOA_LEADER=[0-9]*' <<<"$told" | sort | uniq -c | wc -l)" 4
is "not a word is said" "$said" ""
async --nuioa=report
is "with a report: all ranks run" "$(grep -c ' HOST=' <<<"$told")" 8
is "with a report: each node has its own" "$(grep -cE '^nuioa: node[1-4], 2 ranks' <<<"$said")" 4
note "$said"
plugin off
finish
