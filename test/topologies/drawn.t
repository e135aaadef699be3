#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# drawn.t [N]: N drawn requests on drawn machines, 10,000 by default; drawn.py says what is judged.

. "$(dirname "$0")/lib.sh"

if [ -e "${NUIOA_BUILD:-}/lib/.libs/libnuioa-core.a" ]; then
    "$here/drawn.py" --tap --requests "${1:-10000}" "$NUIOA_BUILD"
    exit
fi
skip "drawn requests" "no engine is built (env NUIOA_BUILD)"
done_testing
