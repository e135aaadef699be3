#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# libnuioa-client has the ABI that was released: abidiff compares it with libnuioa-client.abi, and
# sees a function that goes and an enum value that moves. Needs abigail-tools; TAP on stdout.
#
#   client.t            compares $NUIOA_STAGE's library
#   client.t --keep     writes libnuioa-client.abi anew, for a release that adds to it
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
. "$here/../tap.sh"
kept=$here/libnuioa-client.abi
stage=${NUIOA_STAGE:?where nuioa is installed}/usr
library=$stage/lib/libnuioa-client.so.1

# Only what the header tells is compared: the struct behind the handle may change.
if [ "${1-}" = --keep ]; then
    exec abidw --headers-dir "$stage/include" --drop-private-types --exported-interfaces-only \
        --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --type-id-style hash \
        --out-file "$kept" "$library"
fi
if [ "$(uname -m)" != x86_64 ]; then
    skip_all "the ABI that was released" "it is kept for x86_64 only"
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# difference LIBRARY HEADERS: what abidiff says
difference() {
    abidiff --headers-dir2 "$2" --drop-private-types "$kept" "$1" 2>&1
}

# changed SED-EXPRESSION: $work/libnuioa-client.so of sources that are changed so
changed() {
    rm -rf "$work/src" && mkdir -p "$work/src/lib" "$work/headers" &&
        cp -r "$top/pmix" "$work/src" && cp -r "$top"/lib/{util,ranks} "$work/src/lib" &&
        sed -i "$1" "$work"/src/pmix/client/{nuioa-client.h,libnuioa-client.map} &&
        cp "$work/src/pmix/client/nuioa-client.h" "$work/headers" &&
        (cd "$work/src" && gcc -g -O1 -std=gnu11 -fPIC -shared -D_GNU_SOURCE= -I. -Ilib \
            -Wl,--version-script=pmix/client/libnuioa-client.map \
            -Wl,-soname,libnuioa-client.so.1 -o "$work/libnuioa-client.so" \
            lib/util/{hash,number,variable}.c lib/ranks/rank_id.c pmix/client/*.c -lm)
}

is "the installed library has the ABI that was released" \
    "$(difference "$library" "$stage/include")" ""
like "its soname" "$(readelf -d "$library")" 'SONAME.*\[libnuioa-client\.so\.1\]'

if ok "unchanged sources compile here" changed ''; then
    is "... and have that ABI" "$(difference "$work/libnuioa-client.so" "$work/headers")" ""
fi
if ok "without a function" changed '/^ *nuioa_client_near;/d'; then
    like "... which is seen" "$(difference "$work/libnuioa-client.so" "$work/headers")" \
        'Removed function.*nuioa_client_near'
fi
if ok "with an enum value that moved" changed 's/NUIOA_CLIENT_PMIX = 2/NUIOA_CLIENT_PMIX = 3/'; then
    like "... which is seen" "$(difference "$work/libnuioa-client.so" "$work/headers")" \
        "NUIOA_CLIENT_PMIX' from value '2' to '3'"
fi
done_testing
