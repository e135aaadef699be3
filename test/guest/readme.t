#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs each command line that README.md shows to users, word for word: on the 8-node Opteron with
# its NIC on NUMA node 5, and the line for GPUs on a machine that has some. ./app is whereami;
# torchrun, which is not in the guest, is a script that sets its variables. Also compares the tables
# of README.md and the report in nuioa(7) with what is printed, and compiles the lines for MPI
# developers.
if [ ! -e /nuioa/settings ]; then
    here=$(dirname "$(readlink -f "$0")")
    tree=$(mktemp -d)
    chmod 755 "$tree" # it becomes the guest's root
    trap 'rm -rf "$tree"' EXIT
    mkdir "$tree/nuioa"
    cp "$here/../../README.md" "$here/../demo.guest" "$tree/nuioa"
    sed -n '/^\$ srun .*hints/,/^cost /{s/\\-/-/g; p}' "$here/../../man/nuioa.7.in" \
        >"$tree/nuioa/report"

    # compile: what is in the block that includes the header is valid C
    compile() {
        . "$here/../tap.sh"
        {
            sed -n 's/^    \(#include <nuioa.*\)/\1/p' "$tree/nuioa/README.md"
            echo "void program(const uint32_t *ranks, size_t n);"
            echo "void program(const uint32_t *ranks, size_t n) {"
            sed -n '/^    #include <nuioa/,/^$/{/#include/d; p}' "$tree/nuioa/README.md"
            echo "(void)nic; (void)best; nuioa_client_close(advice); }"
        } >"$tree/program.c"
        ok "the lines for MPI developers" \
            gcc -Wall -Werror -fsyntax-only -I "$NUIOA_STAGE/usr/include" "$tree/program.c"
        rm "$tree/program.c"
        done_testing
    }

    # together <TAP of N parts: in one plan, which is missing if one of theirs is
    together() {
        awk -v parts="$1" '
            /^1\.\./ { planned += substr($0, 4); plans++; next }
            /^(not )?ok / { sub(/ok [0-9]+/, "ok " ++count) }
            { print }
            END { if (plans == parts) print "1.." planned }'
    }

    parts=3
    [ "${1-}" != --no-plugin ] || parts=2
    {
        [ $parts = 2 ] || compile
        # The host takes processor time from the guest, which counts it as used.
        "$here/boot" hagrid5 --cgroup --timeout 2400 --plugstack "deadline_ms=10000" \
            --payload "$tree" "$@" -- "$0"
        "$here/boot" gpus --cgroup --plugstack "deadline_ms=10000" --payload "$tree" "$@" -- "$0"
    } | together $parts
    exit "${PIPESTATUS[0]}"
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh
# shellcheck source=gpus.sh
. /nuioa/gpus.sh

mkdir /tmp/user /tmp/user/bin
cd /tmp/user || exit
printf '#!/bin/sh\nexec whereami --env 4\n' | tee app >bin/python
cat >bin/torchrun <<'END'
#!/bin/bash
# torchrun --nproc_per_node N --no_python COMMAND...
[ "$1 $3" = "--nproc_per_node --no_python" ] || exit 2
for ((i = 0; i < $2; i++)); do
    LOCAL_RANK=$i LOCAL_WORLD_SIZE=$2 RANK=$i WORLD_SIZE=$2 "${@:4}" &
done
wait
END
chmod +x app bin/*
chown -R user:user .
PATH=$PATH:$PWD/bin
export OMPI_MCA_hwloc_base_use_hwthreads_as_cpus=0 OMPI_MCA_plm_rsh_agent=/bin/false
megabytes=4

# try LINE [SALLOC-OPTION]...: runs it as a user does; sets what launch does, and out. Without the
# plugin its options and nuioa(1) are left out, so that a check judges Slurm's own placement.
try() {
    local line=$1
    shift
    [ "$plugin" = yes ] || line=$(sed -E 's/ nuioa exec --//; s/ --nuioa[^ ]*//g' <<<"$line")
    if [ $# -gt 0 ]; then set -- salloc "$@"; fi
    status=0
    out=$(as_user timeout 1500 "$@" sh -c "$line" 2>/tmp/said) || status=$?
    ranks=$(grep '^rank=' <<<"$out" | sort -t= -k2n)
    said=$(</tmp/said)
}

# table TEXT: that of distances, without and with nuioa, without the indentation of its lines.
table() { sed -n '/^ *rank  without/,/^ *mean/s/^    //p' <<<"$1"; }

# The first of two ranks has CPUs of NUMA node 5, the other has none.
first_is_beside() { values numa | grep -cE '^[^ ]*5[^ ]* [^5]*$'; }

page=$(</nuioa/README.md)
if [ "$machine" = gpus ]; then
    the_plugin_does
    locate_devices
    line=$(sed -n 's/^    \(srun .*gpus.*\)/\1/p' <<<"$page")
    try "$line"
    near=0
    while read -r gpu nic numa; do
        [ -z "$nic" ] || [ "${switch_of[$gpu]}" != "${switch_of[$nic]}" ] ||
            [ "${numa_of[$gpu]}" != "$numa" ] || near=$((near + 1))
    done < <(paste -d' ' <(a_line gpus) <(a_line NUIOA_NIC) <(a_line numa))
    is "$line: 4 ranks, each with the NIC behind the switch of its GPU, on their NUMA node" \
        "$status; $near; $(distinct gpus)" "0; 4; 4"
    done_testing
    exit
fi

mapfile -t lines < <(grep -E '^ +(srun|salloc|mpirun|torchrun|apt|rpm|\./|test/)' <<<"$page" |
    sed 's/ *#.*//; s/^ *//')
# test/bare runs the lines of "Install", except that of RPM (test/packages-rpm), and those of "Try
# it"; the guest with GPUs runs the line for GPUs.
is "README.md has the lines that are tried" "$(printf '%s\n' "${lines[@]}")" \
    "salloc --exclusive srun -n4 --cpu-bind=cores --nuioa ./app
salloc --exclusive srun -n4 --cpu-bind=cores --nuioa=report,off ./app
srun -N1 -n1 nuioa topo
apt build-dep ./ && dpkg-buildpackage -us -uc -b && apt install ../*.deb
rpmbuild -ta nuioa-1.0.0.tar.xz
./bootstrap && ./configure --prefix=/usr --sysconfdir=/etc && make && make install
./bootstrap && ./configure --prefix=\$HOME/nuioa --without-slurm && make install
salloc --exclusive srun -n2 --nuioa ./app
srun -n16 --nuioa --nuioa-hints=heavy=0,8 ./app
srun -n4 --gpus-per-task=1 --nuioa ./app
mpirun -n 2 --bind-to none nuioa exec -- ./app
torchrun --nproc_per_node 4 --no_python nuioa exec -- python train.py
srun -n8 nuioa traffic -- ./app
salloc --exclusive nuioa compare -- srun -n8 ./app
test/demo
test/run"
the_plugin_does

is "the first table is that of test/demo" "$(bash /nuioa/demo.guest 2>&1 | tail -n 6)" \
    "$(table "$page" | sed 's/^/    /')"
try "${lines[0]}"
is "${lines[0]}: the NUMA nodes of the table" "$status; $(values numa)" \
    "0; $(table "$page" | sed -n 's/.* NUMA node \([0-9]*\), [0-9]* away$/\1/p' | paste -sd' ')"
try "${lines[1]}"
is "${lines[1]}: the table of the page" \
    "$status; $(sed -n '/^  node /,/^  node0  *3/p' <<<"$said")" \
    "0; $(sed -n '/^      node /,/^      node0  *3/s/^    //p' <<<"$page")"
try "${lines[2]}"
is "${lines[2]}: where the NIC is" \
    "$status; $(grep -cE '^ *eth0 .* 5 +hwloc +yes' <<<"$out")" "0; 1"
try "${lines[7]}"
is "${lines[7]}: the ranks divide the cores, the first is beside the NIC" \
    "$status; $(division); $(first_is_beside); $(near_own)" "0; least 8, all 16, twice 0; 1; 2"
try "${lines[8]}"
is "${lines[8]}: these two ranks are beside the NIC, on cores of their own" \
    "$status; $(values numa | cut -d' ' -f1,9); $(distinct cpus)" "0; 5 5; 16"
try "${lines[10]}"
is "${lines[10]}: the ranks divide the cores, the first is beside the NIC" \
    "$status; $(division); $(first_is_beside); $(near_own)" "0; least 8, all 16, twice 0; 1; 2"
try "${lines[11]}"
is "${lines[11]}: the ranks divide the cores, and have the NIC" \
    "$status; $(division); $(nics)" "0; least 4, all 16, twice 0; $(repeat 4 eth0)"
try "${lines[12]}"
is "${lines[12]}: the traffic, and how much closer ranks can save" \
    "$status; $(says "NIC traffic of all programs"); $(grep -cE '^ *eth0 ' <<<"$said"); \
$(says "can save at most")" "0; 1; 1; 1"
try "${lines[13]}"
like "${lines[13]}: an answer" "$status; $out$said" '^0; .*(faster|slower|cannot tell)'

try "srun --nuioa=report hostname"
is "For administrators: srun --nuioa=report hostname: a table" \
    "$status; $out; $(says "policy bandwidth"); $(grep -cE '^ *node0 +0 ' <<<"$said")" \
    "0; node0; 1; 1"
try "srun --nuioa=help"
like "srun --nuioa=help: the options" "$status; $out$said" '^0; .* hints .* policy .* cores '
try "nuioa doctor"
is "nuioa doctor: findings or none" "$((status < 2)); $(says "usage")" "1; 0"

try "srun -n2 -m block:block --nuioa=report ./app"
is "outside of a job, both on one NUMA node: they stay, and the report says what to type" \
    "$status; $(values numa); $(says "salloc --exclusive")" "0; 0 0; 1"
try "srun -n1 --nuioa --nuioa-mem=nic ./app" --exclusive
is "nuioa(7): srun -n1 --nuioa --nuioa-mem=nic ./app: its memory is beside the NIC" \
    "$status; $(values cpus); $(values policy); $(values pages)" "0; 0-15; preferred:5; 5:1024"
try "$(head -n 1 /nuioa/report | cut -c3-)"
is "nuioa(7): the report is what is printed" "$(sed -n '/^nuioa: node0, /,/^cost /p' <<<"$said")" \
    "$(tail -n +2 /nuioa/report)"
done_testing
