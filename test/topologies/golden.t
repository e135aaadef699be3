#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Topologies of our own: they are what the generator makes, hwloc reads them, the oracle knows the
# facts that were found by hand, the tool says what the oracle says and what the hand found.

. "$(dirname "$0")/lib.sh"

# loads FILE: hwloc reads it and has nothing to complain about.
loads() {
    local said
    said=$(HWLOC_XML_VERBOSE=1 HWLOC_DEBUG_CHECK=1 lstopo-no-graphics -i "$1" --of console \
        2>&1 >/dev/null) || return 1
    [ -z "$said" ] || { printf '%s\n' "$said"; return 1; }
}

# facts_hold NAME COMMAND...: what the command prints agrees with golden.tsv.
facts_hold() {
    local name=$1; shift
    timeout 60 "$@" >"$work/answer.json" || return 1
    "$here/golden.py" "$here/golden.tsv" "$name" "$work/answer.json"
}

# facts NAME MACHINE: of the oracle and of the tool.
facts() {
    ok "$1: the oracle knows the facts" facts_hold "$1" "$here/expect.py" show "$2"
    if [ -n "$tool" ]; then
        ok "$1: the tool knows the facts" facts_hold "$1" "$tool" topo --topology "$2" --json
    else
        skip "$1: the tool knows the facts" "$no_tool"
    fi
}

ok "bootstrap has made the machines" test -e "$here/quad.xml"
ok "the generator of the dump runs" "$here/make-dump.py" "$work/rates"
is "facts are about machines that exist" "" "$(grep -v '^#' "$here/golden.tsv" | cut -f1 | sort -u |
    while read -r name; do
        [ -f "$here/$name.xml" ] || [ -d "$work/$name" ] || printf '%s\n' "$name"
    done)"

for path in "$here"/*.xml; do
    name=$(basename "$path" .xml)
    if command -v lstopo-no-graphics >/dev/null; then
        ok "$name: hwloc reads it" loads "$path"
    else
        skip "$name: hwloc reads it" "no lstopo-no-graphics"
    fi
    if grep -q "^$name	" "$here/golden.tsv"; then
        facts "$name" "$path"
    fi
    check_machine "$name" "$path"
done
facts rates "$work/rates"
check_machine rates "$work/rates"
done_testing
