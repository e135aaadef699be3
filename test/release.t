#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two clones make the same release archive, byte for byte: in other directories, with another
# umask, in another time zone, a while apart. Usage: release.t; TAP on stdout. Takes two minutes.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/test/tap.sh"

if [ ! -e "$top/.git" ]; then
    skip_all "two clones make the same archive" "not a clone"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# archive_of DIRECTORY: makes a clone there and its archive, whose path is printed
archive_of() {
    git clone -q "$top" "$1" && cd "$1" && ./bootstrap && mkdir build && cd build &&
        ../configure --with-plugindir=/usr/lib/slurm && make checksums || return
    ls "$1"/build/nuioa-*.tar.xz >&3
}

first=$(archive_of "$work/a" 3>&1 >"$work/log" 2>&1)
second=$(umask 077; export TZ=Asia/Tokyo LC_ALL=C; archive_of "$work/another/place" 3>&1 \
    >"$work/log2" 2>&1)
if [ -s "$first" ] && [ -s "$second" ]; then
    pass "two clones make an archive"
    ok "the archives are the same, byte for byte" cmp "$first" "$second"
    is "SHA256SUMS has the archive" \
        "$(cd "${first%/*}" && sha256sum --strict -c SHA256SUMS 2>&1)" "${first##*/}: OK"
else
    fail "two clones make an archive" "$(tail -n 5 "$work/log" "$work/log2")"
fi
done_testing
