#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The first screen of README.md: each command line of it, word for word, on the 8-node Opteron with
# its NIC on NUMA node 5, in a job of the whole node and outside of one, and the report that it
# shows. ./app is whereami. exec.t tries mpirun.
if [ ! -e /nuioa/settings ]; then
    here=$(dirname "$(readlink -f "$0")")
    tree=$(mktemp -d)
    trap 'rm -rf "$tree"' EXIT
    mkdir "$tree/nuioa"
    sed -n '/^Three recipes/,/^With hints/s/^    //p' "$here/../../README.md" >"$tree/nuioa/recipes"
    sed -n '/^    \$ srun -n16 .*--nuioa-hints/,/^    cost /s/^    //p' "$here/../../README.md" \
        >"$tree/nuioa/report"
    "$here/boot" hagrid5 --cgroup --payload "$tree" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh

cd /tmp || exit
printf '#!/bin/sh\nexec whereami --env 4\n' >app
chmod +x app
megabytes=4

# try LINE [SALLOC-OPTION]...: runs it as a user does; sets what launch does. Without the plugin its
# flags are left out, so that a check judges Slurm's own placement.
try() {
    local line=$1
    shift
    [ "$plugin" = yes ] || line=$(tr ' ' '\n' <<<"$line" | grep -v '^--nuioa' | paste -sd' ')
    if [ $# -gt 0 ]; then set -- salloc "$@"; fi
    status=0
    ranks=$(as_user timeout 90 "$@" sh -c "$line" 2>/tmp/said | grep '^rank=' | sort -t= -k2n) ||
        status=$?
    said=$(</tmp/said)
}

# The first of two ranks has CPUs of NUMA node 5, the other has none.
first_is_beside() { values numa | grep -cE '^[^ ]*5[^ ]* [^5]*$'; }

mapfile -t recipes </nuioa/recipes
is "README.md has the lines that are tried here" "$(cat /nuioa/recipes)" "srun -n2 --nuioa ./app
salloc --exclusive srun -n2 --nuioa ./app
srun -n2 --cpu-bind=none nuioa exec -- ./app
mpirun -n 2 --bind-to none nuioa exec -- ./app
srun -n1 --nuioa --cpu-bind=cores ./app
srun -n1 --nuioa --nuioa-mem=nic ./app"
the_plugin_does

try "${recipes[0]}" --exclusive
is "in a job: ${recipes[0]}: the ranks divide the cores, the first is beside the NIC" \
    "$status; $(division); $(first_is_beside); $(near_own)" "0; least 8, all 16, twice 0; 1; 2"
try "${recipes[1]}"
is "outside: ${recipes[1]}: the same" \
    "$status; $(division); $(first_is_beside); $(near_own)" "0; least 8, all 16, twice 0; 1; 2"
try "srun -n2 --nuioa ./app"
is "outside: srun -n2 --nuioa ./app: an exchange brings the first nearer" \
    "$status; $(division); $(values numa)" "0; least 1, all 2, twice 0; 1 0"
try "srun -n2 -m block:block --nuioa=report ./app"
is "outside, both on one NUMA node: they stay, and the report says why and what to type" \
    "$status; $(values numa); $(says "the step has no free cores nearer the NIC") \
$(says "salloc --exclusive")" "0; 0 0; 1 1"
try "${recipes[4]}" --exclusive
is "in a job: ${recipes[4]}: a core beside the NIC, and first touch is there" \
    "$status; $(values cpus); $(values policy); $(values pages)" "0; 10; default; 5:1024"
try "${recipes[5]}" --exclusive
is "in a job: ${recipes[5]}: its memory is beside the NIC" \
    "$status; $(values cpus); $(values policy); $(values pages)" "0; 0-15; preferred:5; 5:1024"

try "srun -n16 --nuioa=report --nuioa-hints=$(descending 16) ./app" --exclusive
is "in a job, with hints: the report is that of the page" \
    "$(grep -vE '^salloc: ' <<<"$said")" "$(tail -n +2 /nuioa/report)"

if [ "$plugin" = yes ]; then
    echo >/etc/slurm/plugstack.conf
    try "${recipes[2]}" --exclusive
    is "in a job, no plugin: ${recipes[2]}: the ranks divide the cores" \
        "$status; $(division); $(first_is_beside)" "0; least 8, all 16, twice 0; 1"
    try "${recipes[2]}"
    is "outside, no plugin: ${recipes[2]}: a core each" "$status; $(division)" \
        "0; least 1, all 2, twice 0"
fi
done_testing
