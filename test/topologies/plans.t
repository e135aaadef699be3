#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The plans for each of our topologies are those that a person once found right: plans.golden.
# After a deliberate change: test/topologies/plans.py TOOL test/topologies > plans.golden, and read
# the diff.

. "$(dirname "$0")/lib.sh"

if [ -z "$tool" ]; then
    skip_all "plans are the golden ones" "$no_tool"
fi
"$here/plans.py" "$tool" "$here" >"$work/plans" 2>"$work/errors" ||
    fail "plans.py runs" "$(cat "$work/errors")"
for path in "$here"/*.xml "$here"/gpus/*.xml; do
    name=$(basename "$path" .xml)
    is "$name: plans" "$(grep "^$name " "$work/plans")" "$(grep "^$name " "$here/plans.golden")"
done
is "no plan is of a machine that is gone" "$(cut -d' ' -f1 "$here/plans.golden" | sort -u)" \
    "$(cd "$here" && for f in *.xml gpus/*.xml; do basename "$f" .xml; done | sort)"
done_testing
