#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# configure with a Slurm in a prefix of its own: here headers only, of a version that does not
# exist, one of which makes the compiler warn, and beside them what shows where that Slurm has its
# plugins.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
top=$here/..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
slurm=$work/slurm

if ! echo '#include <slurm/spank.h>' | gcc -E - >/dev/null 2>&1; then
    skip "configure --with-slurm" "no slurm/spank.h to copy"
    done_testing
    exit 0
fi
headers=$(dirname "$(echo '#include <slurm/spank.h>' | gcc -E - |
    sed -n 's/^# 1 "\(.*spank\.h\)".*/\1/p')")
mkdir -p "$slurm/include"
cp -r "$headers" "$slurm/include/slurm"
sed -i 's/^#define SLURM_VERSION_NUMBER .*/#define SLURM_VERSION_NUMBER 0x630103/' \
    "$slurm/include/slurm/slurm_version.h"
echo 'int old_style();' >>"$slurm/include/slurm/spank.h"

# configure NAME [OPTION...]: in $work/NAME, its output is $out; what does not concern Slurm is
# found once
configure() {
    local dir=$work/$1
    shift
    mkdir "$dir"
    [ ! -e "$work/cache" ] || sed -i '/slurm/d' "$work/cache"
    status=0
    out=$(cd "$dir" && "$top/configure" --cache-file="$work/cache" --prefix="$work/prefix" \
        --enable-werror --disable-hardening --without-openmpi-cc --without-mpich-cc CFLAGS=-O0 \
        "$@" 2>&1) || status=$?
}
plugindir() { sed -n 's/^plugindir = //p' "$work/$1/spank/Makefile"; }

# plugins DIR: Slurm's are there
plugins() { rm -rf "$slurm"/lib*; mkdir -p "$slurm/$1"; touch "$slurm/$1/libslurmfull.so"; }

plugins lib64/slurm
configure lib64 --with-slurm="$slurm"
is "a prefix of Slurm's own" "$status" 0
is "the plugin goes where that Slurm has its own" "$(plugindir lib64)" "$slurm/lib64/slurm"
like "the summary: which Slurm, where the plugin goes" "$out" \
    "Slurm plugin +yes +Slurm 99\.01\.3 in $slurm/include, to $slurm/lib64/slurm/nuioa\.so"
like "the summary: which hwloc" "$out" "hwloc $(pkg-config --modversion hwloc) in /"
if pkg-config --exists pmix; then
    like "the summary: which PMIx" "$out" \
        "PMIx keys +yes +PMIx $(pkg-config --modversion pmix) in /"
else
    skip "the summary: which PMIx" "no PMIx"
fi
ok "warnings about Slurm's header are no errors" make -C "$work/lib64/spank" dispatch.lo
like "it is that Slurm's header which is used" "$(cat "$work/lib64/spank/.deps/dispatch.Plo")" \
    "$slurm/include/slurm/spank\.h"

# The doctor of that build looks there too.
root=$work/root
mkdir -p "$root$slurm/etc" "$root$slurm/lib64/slurm" "$root/proc" "$root/sys"
touch "$root$slurm/lib64/slurm/"{libslurmfull,nuioa}.so
echo ClusterName=c >"$root$slurm/etc/slurm.conf"
echo optional nuioa.so >"$root$slurm/etc/plugstack.conf"
make_tool() { make -C "$work/lib64/lib" libnuioa-core.la && make -C "$work/lib64/tools" nuioa; }
if pkg-config --exists jansson; then
    ok "the command nuioa of that build" make_tool
    found=$(SLURM_CONF='' "$work/lib64/tools/nuioa" doctor --root "$root" --json)
    like "it finds that Slurm's configuration" "$found" "\"slurm_conf\": *\"$slurm/etc/slurm.conf\""
    unlike "it finds the plugin in that Slurm's directory" "$found" 'plugin-'
    rm "$root$slurm/lib64/slurm/nuioa.so"
    like "it misses the plugin there" \
        "$(SLURM_CONF='' "$work/lib64/tools/nuioa" doctor --root "$root" --json)" \
        plugin-missing
else
    skip "the command nuioa of that build" "no jansson"
fi

plugins lib/slurm
configure lib --with-slurm="$slurm"
is "plugins in lib" "$(plugindir lib)" "$slurm/lib/slurm"
plugins lib/x86_64-linux-gnu/slurm-wlm
configure debian --with-slurm="$slurm"
is "plugins as Debian has them" "$(plugindir debian)" "$slurm/lib/x86_64-linux-gnu/slurm-wlm"
configure said --with-slurm="$slurm" --with-plugindir=/elsewhere
is "--with-plugindir decides" "$(plugindir said)" /elsewhere
rm -r "${slurm:?}/lib"
configure headers --with-slurm="$slurm"
# shellcheck disable=SC2016
is "headers only: LIBDIR/slurm" "$status $(plugindir headers)" '0 ${libdir}/slurm'
configure none --with-slurm="$work/none"
is "no headers: an error, though the compiler may find others" "$status" 1
like "no headers: where they were looked for" "$out" \
    "slurm/spank\.h not found in $work/none/include"
done_testing
