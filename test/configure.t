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
    skip_all "configure --with-slurm" "no slurm/spank.h to copy"
fi
headers=$(dirname "$(echo '#include <slurm/spank.h>' | gcc -E - |
    sed -n 's/^# 1 "\(.*spank\.h\)".*/\1/p')")
mkdir -p "$slurm/include"
cp -r "$headers" "$slurm/include/slurm"
sed -i 's/^#define SLURM_VERSION_NUMBER .*/#define SLURM_VERSION_NUMBER 0x630103/' \
    "$slurm/include/slurm/slurm_version.h"
echo 'int old_style();' >>"$slurm/include/slurm/spank.h"

# configure NAME [OPTION...]: in $work/NAME, its output is $out; what does not concern Slurm is
# found once. Without --no-create in $create it also makes what make needs.
create=--no-create
configure() {
    local dir=$work/$1
    shift
    mkdir "$dir"
    [ ! -e "$work/cache" ] || sed -i '/slurm/d' "$work/cache"
    status=0
    out=$(cd "$dir" && "$top/configure" --cache-file="$work/cache" --prefix="$work/prefix" \
        --enable-werror --disable-hardening --without-openmpi-cc --without-mpich-cc CFLAGS=-O0 \
        ${create:+"$create"} "$@" 2>&1) || status=$?
}
plugindir() { sed -n "s/^plugindir='\(.*\)'/\1/p" "$work/$1/config.log"; }

# plugins DIR: Slurm's are there
plugins() { rm -rf "$slurm"/lib*; mkdir -p "$slurm/$1"; touch "$slurm/$1/libslurmfull.so"; }

export PKG_CONFIG_PATH=$slurm/lib/pkgconfig:${PKG_CONFIG_PATH:-}
plugins lib64/slurm
create="" configure lib64 --with-slurm="$slurm"
is "a prefix of Slurm's own" "$status" 0
is "the plugin goes where that Slurm has its own" "$(plugindir lib64)" "$slurm/lib64/slurm"
like "the summary: which Slurm, where the plugin goes" "$out" \
    "Slurm plugin +yes +Slurm 99\.01\.3 in $slurm/include, to $slurm/lib64/slurm/nuioa\.so"
like "the summary: how that is known" "$out" "/nuioa\.so \(libslurmfull\.so is there\)"
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
like "and the summary says so" "$out" 'to /elsewhere/nuioa\.so \(--with-plugindir\)'

# What else tells where that Slurm looks for plugins. Its libslurm stands between other texts.
rm -r "${slurm:?}/lib"
configure headers --with-slurm="$slurm"
is "headers only: configure stops" "$status" 1
like "and says what to type, and where the answer is" "$out" \
    'error: nothing here tells where Slurm looks .*--with-plugindir=DIR.*scontrol show config'
configure headers-said --with-slurm="$slurm" --with-plugindir=/elsewhere
is "headers only, with --with-plugindir" "$status $(plugindir headers-said)" "0 /elsewhere"

# tells NAME DIR HOW: configure NAME finds DIR, and says how
tells() {
    configure "$1" --with-slurm="$slurm"
    is "$1: the directory" "$status $(plugindir "$1")" "0 $2"
    like "$1: how it is known" "$out" "to $2/nuioa\.so \($3\)"
}
mkdir -p "$slurm/lib/pkgconfig" "$slurm/bin" "$work/bin"
printf 'libdir=%s/lib32\nincludedir=%s/include\nName: slurm\nDescription:\nVersion: 99\n' \
    "$slurm" "$slurm" >"$slurm/lib/pkgconfig/slurm.pc"
tells pkg-config "$slurm/lib32/slurm" "slurm\.pc says so"
printf '/etc/slurm\0%s/lib/slurm/x\0%s/lib/own/slurm-wlm\0/var/lib/slurm\0' "$slurm" "$slurm" \
    >"$slurm/lib/libslurm.so"
tells libslurm "$slurm/lib/own/slurm-wlm" "$slurm/lib/libslurm\.so says so"
printf '#!/bin/sh\necho "slurm-plugins: %s/share/plugins/libslurmfull.so"\n' "$slurm" \
    >"$work/bin/dpkg-query"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/rpm"
chmod +x "$work"/bin/*
path=$PATH PATH=$work/bin:$PATH
tells dpkg "$slurm/share/plugins" "a package has libslurmfull\.so there"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\necho %s/share/rpm/libslurmfull.so\n' "$slurm" >"$work/bin/rpm"
tells rpm "$slurm/share/rpm" "a package has libslurmfull\.so there"
PATH=$path
plugins lib/slurm
printf '#!/bin/sh\n[ "$*" != "show config" ] || printf "PluginDir%%15s = /site/plugins:/more\n"\n' \
    >"$slurm/bin/scontrol"
chmod +x "$slurm/bin/scontrol"
tells scontrol /site/plugins "scontrol says so"
printf '#!/bin/sh\nexit 1\n' >"$slurm/bin/scontrol"
tells unanswered "$slurm/lib/slurm" "libslurmfull\.so is there"

# The sample for HealthCheckProgram asks that Slurm's scontrol to drain the node, and says when it
# is not drained.
script() { # FILE LINE...
    printf '%s\n' '#!/bin/sh' "${@:2}" >"$1"
    chmod +x "$1"
}
mkdir -p "$work/prefix/bin"
script "$work/prefix/bin/nuioa" 'echo "nuioa: 1 problem"' 'exit 1'
script "$slurm/bin/logger" "echo \"\$*\" >>$work/logged"
script "$slurm/bin/scontrol" "echo \"\$*\" >$work/asked" 'echo "no such node"' 'exit 1'
ok "the sample nuioa-healthcheck" make -C "$work/lib64/etc" nuioa-healthcheck
sed -i 's/^drain=no/drain=yes/' "$work/lib64/etc/nuioa-healthcheck"
sh "$work/lib64/etc/nuioa-healthcheck"
is "it drains by that Slurm's scontrol" "$(cat "$work/asked")" \
    "update NodeName=$(hostname -s) State=DRAIN Reason=nuioa: 1 problem"
like "it logs what is found, and that the node is not drained" "$(xargs <"$work/logged")" \
    'nuioa: 1 problem .*scontrol did not drain this node: no such node'

configure none --with-slurm="$work/none"
is "no headers: an error, though the compiler may find others" "$status" 1
like "no headers: where they were looked for" "$out" \
    "slurm/spank\.h not found in $work/none/include"

# What is too old, or does not compile, is said by configure and not by make.
sed -i 's/^#define SLURM_VERSION_NUMBER .*/#define SLURM_VERSION_NUMBER 0x140b07/' \
    "$slurm/include/slurm/slurm_version.h"
configure old-slurm --with-slurm="$slurm"
is "an old Slurm: configure stops" "$status" 1
like "an old Slurm: which, and what to do" "$out" \
    "error: Slurm 20\.11\.7 in $slurm/include is too old: nuioa needs 22\.05 or later \(--without"
mkdir -p "$slurm/lib/pkgconfig"
printf 'Name: pmix\nDescription:\nVersion: 4.0.0\n' >"$slurm/lib/pkgconfig/pmix.pc"
configure old-pmix --without-slurm
is "an old PMIx: configure stops" "$status" 1
like "an old PMIx: which, and what to do" "$out" \
    'error: pmix 4\.0\.0 is too old: nuioa needs 4\.2 or later \(--without-pmix leaves out'
mkdir "$work/munge"
echo 'struct munge {' >"$work/munge/munge.h"
printf 'Name: munge\nDescription:\nVersion: 0.5.15\nCflags: -I%s\n' "$work/munge" \
    >"$slurm/lib/pkgconfig/munge.pc"
configure broken --without-slurm --without-pmix
is "a header that does not compile: configure stops" "$status" 1
like "a header that does not compile: which, and what to do" "$out" \
    'error: the header of munge is there and does not compile.*--without-munge leaves out'

# MPICH's mpicc reads MPICH_CC as the compiler behind it; nuioa's own use of the name is over.
printf '#!/bin/sh\nexec ${MPICH_CC:-gcc} -DMPICH_VERSION=1 -I%s/mpi "$@"\n' "$work" \
    >"$work/bin/mpicc.mpich"
chmod +x "$work/bin/mpicc.mpich"
mkdir "$work/mpi"
touch "$work/mpi/mpi.h"
behind() { # NAME [VARIABLE=VALUE]...
    PATH=$work/bin:$PATH configure "$1" --without-slurm --without-pmix --without-munge \
        --with-mpich-cc=mpicc.mpich "${@:2}"
}
create="" MPICH_CC='gcc -DBEHIND' behind behind
is "MPICH_CC is for MPICH's mpicc" "$status" 0
is "and make calls the wrapper, not what is behind it" \
    "$(MPICH_CC='gcc -DBEHIND' make -s -C "$work/behind/mpi" -f Makefile -f - print <<<'print:
	@echo "$(MPICC_MPICH) $$MPICH_CC"')" "mpicc.mpich gcc -DBEHIND"
MPICH_CC=mpicc.mpich behind former
is "MPICH_CC with a wrapper: configure stops" "$status" 1
like "and says which option names it" "$out" \
    'error: the variable MPICH_CC does not name .*: say --with-mpich-cc=mpicc\.mpich, and unset'

# The wrapper of this machine's MPI would compile for this machine.
printf '#!/bin/sh\nexec gcc "$@"\n' >"$work/bin/mpicc.openmpi"
chmod +x "$work/bin/mpicc.openmpi"
PATH=$work/bin:$PATH
rm "$work/cache"
configure cross --without-slurm --without-pmix --without-munge --with-openmpi-cc=check \
    --build=x86_64-pc-linux-gnu --host=aarch64-unknown-linux-gnu CC=gcc
is "a cross build" "$status" 0
unlike "a cross build looks for no wrapper of this machine's MPI" "$out" 'mpicc\.openmpi is of'
done_testing
