# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# For tests of `nuioa probe --nic`: a machine of several NUMA nodes, and a benchmark with a secret
# matrix. Source it after tool.sh, with $work, $tool and $machines set.

secret=$(dirname "${BASH_SOURCE[0]}")

# make_secret: builds both; false if this machine cannot, and $work/cc says why
make_secret() {
    local cc
    cc=$(command -v cc || command -v gcc) || return
    "$cc" -O1 -shared -fPIC -o "$work/stand_in.so" "$secret/numa_stand_in.c" 2>"$work/cc" &&
        "$cc" -O1 -o "$work/secret_bw" "$secret/secret_bw.c" -lnuma -lm 2>"$work/cc"
}

export SECRET_BW=$work
# What nuioa and its children are told of the machine. A sanitizer wants to be the first library.
stand_in=(HWLOC_THISSYSTEM=1 LD_PRELOAD="$work/stand_in.so" ASAN_OPTIONS=verify_asan_link_order=0)
plain=(--tool "$work/secret_bw {nic} {host}" --number 'rate: ([0-9.]+)')

# on MACHINE CPUS: the following measurements are of that one, with so many CPUs on a NUMA node
on() {
    export HWLOC_XMLFILE=$machines/$1.xml SECRET_CPUS=$2
    rm -f "$work/noise" "$work/count"
}

# measure OPTION...: sets status, out, err
measure() {
    env "${stand_in[@]}" timeout 300 "$tool" probe --nic "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    out=$(<"$work/out") err=$(<"$work/err")
}

# cells KEY...: of the last answer, a line for each row
cells() {
    python3 - "$work/out" "$@" <<'END'
import json, sys
for row in json.load(open(sys.argv[1]))["cells"]:
    print(*(row[key] if not isinstance(row[key], float) else round(row[key], 3)
            for key in sys.argv[2:]))
END
}
