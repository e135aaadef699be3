# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For the tests of this directory: finds the tool, compares it with the oracle.
# Sets: here (this directory), top (of the source), tool ("" if there is none), work (temporary).

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=../tap.sh
. "$top/test/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The tool: env NUIOA, the staged installation, the build tree, the source tree.
find_tool() {
    local stage=${NUIOA_STAGE:-} build=${NUIOA_BUILD:-} candidate
    for candidate in "${NUIOA:-}" "${stage:+$stage/usr/bin/nuioa}" "${build:+$build/tools/nuioa}" \
        "$top/tools/nuioa"; do
        if [ -n "$candidate" ] && [ -f "$candidate" ] && [ -x "$candidate" ]; then
            printf '%s\n' "$candidate"
            return
        fi
    done
}
tool=$(find_tool)
if [ -n "${NUIOA_STAGE:-}" ]; then
    export LD_LIBRARY_PATH="$NUIOA_STAGE/usr/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
no_tool="nuioa is not built (env NUIOA, NUIOA_STAGE or NUIOA_BUILD)"

# topo_agrees MACHINE: what the tool says equals what the oracle derives; prints the fields that
# differ.
topo_agrees() {
    timeout 60 "$tool" topo --topology "$1" --json >"$work/topo.json" || return 1
    "$here/expect.py" check "$work/topo.json" "$1"
}

# check_machine NAME MACHINE: both comparisons that every machine gets.
check_machine() {
    if [ -z "$tool" ]; then
        skip "$1: topo says what the raw files say" "$no_tool"
        skip "$1: heavier ranks are nearer a NIC" "$no_tool"
        return
    fi
    ok "$1: topo says what the raw files say" topo_agrees "$2"
    local why
    if why=$("$here/palliative.py" --applies "$2"); then
        ok "$1: heavier ranks are nearer a NIC" timeout 120 "$here/palliative.py" "$tool" "$2"
    else
        skip "$1: heavier ranks are nearer a NIC" "$why"
    fi
}
