#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What "make install" puts where, with --prefix=/usr: the tree that NUIOA_STAGE names.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
stage=${NUIOA_STAGE:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plugin=$stage/usr/lib/slurm/nuioa.so
library=$stage/usr/lib/libnuioa.so
tool=$stage/usr/bin/nuioa

exported() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u; }

if [ -e "$plugin" ]; then
    is "the plugin exports only what Slurm looks up" \
        "$(exported "$plugin" | grep -vE '^(slurm_spank_.*|spank_options)$' | paste -s -d ' ')" \
        "plugin_name plugin_type plugin_version spank_plugin_version"
    is "it needs nothing of ours at run time" "$(ldd "$plugin" | grep -c libnuioa)" 0
    unlike "it needs no libmunge to be loaded" "$(readelf -d "$plugin")" munge
    like "its code stays for threads that Slurm has closed it under" "$(readelf -d "$plugin")" NODELETE
    ok "no libtool file lies beside it" test ! -e "${plugin%.so}.la"
else
    skip "the plugin exports only what Slurm looks up" "not built: no slurm/spank.h"
fi

is "the library exports only nuioa_*" "$(exported "$library" | grep -v '^nuioa_' | grep -v '^NUIOA_')" ""
like "it exports something" "$(exported "$library" | paste -s -d ' ')" nuioa_plan_make

# All that is built, by libtool or by an MPI's compiler wrapper: of what a compiler puts into the
# code, something is there at least once. Functions with arrays on the stack are in all of it.
for file in "$plugin" "$library" "$tool" "$stage"/usr/lib/libnuioa-client.so "$stage"/usr/lib/nuioa/*.so \
    "$stage"/usr/bin/nuioa-bench-*; do
    [ -e "$file" ] || continue
    name=${file##*/}
    symbols=$(nm -D --undefined-only "$file")
    is "$name: the compiler guards the stack" "$(grep -c ' __stack_chk_fail' <<<"$symbols")" 1
    like "$name: calls of the C library are checked" "$(grep -cE ' __[a-z]+_chk(@|$)' <<<"$symbols")" '^[1-9]'
    like "$name binds its symbols at once" "$(readelf -d "$file")" BIND_NOW
    like "$name: relocations are read-only" "$(readelf -lW "$file")" GNU_RELRO
    unlike "$name: the stack is not executable" "$(readelf -lW "$file" | grep GNU_STACK)" E
    unlike "$name carries no path of the build" "$(readelf -d "$file")" 'R(UN)?PATH'
done

# The flags of whoever builds, a distribution say, come last in each command of mpi/, which has no
# libtool.
commands=
if [ -e "${NUIOA_BUILD:-}/mpi/Makefile" ]; then
    source=$(sed -n 's/^srcdir = //p' "$NUIOA_BUILD/mpi/Makefile")
    commands=$(make -n -C "$NUIOA_BUILD/mpi" -W "$source/calls.h" -W "$source/fortran.h" -W "$source/bench.h" \
        CPPFLAGS=-DTHEIRS CFLAGS=-gtheirs LDFLAGS=-Ltheirs | grep -e '-D_GNU_SOURCE' | grep -v libtool)
fi
if [ -n "$commands" ]; then
    is "mpi/: each command takes the builder's flags" "$(grep -vE -- '-DTHEIRS .*-gtheirs .*-Ltheirs' <<<"$commands")" ""
else
    skip "mpi/: each command takes the builder's flags" "NUIOA_BUILD is not set, or it has no MPI"
fi

# Headers and library as a stranger uses them.
cat >"$work/stranger.c" <<'END'
#include <nuioa/plan/plan.h>
#include <nuioa/output/report.h>
int main(void) { struct nuioa_error err; return nuioa_fail(&err, -1, "x") == -1 ? 0 : 1; }
END
pc() { PKG_CONFIG_PATH=$stage/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage pkg-config "$@" nuioa; }
stranger() {
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror -pedantic -I "$stage/usr/include" -I "$stage/usr/include/nuioa" \
        -o "$work/stranger" "$work/stranger.c" -L "$stage/usr/lib" -lnuioa &&
        LD_LIBRARY_PATH=$stage/usr/lib "$work/stranger"
}
ok "a program builds with the installed headers and library" stranger
for header in "$stage"/usr/include/nuioa/*/*.h; do
    ok "${header#"$stage"/usr/include/} stands alone" gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only \
        -I "$stage/usr/include/nuioa" -x c "$header"
done
is "nuioa.pc knows the version" "$(pc --modversion)" "$(sed -n 's/^AC_INIT(\[nuioa\], \[\([^]]*\)\].*/\1/p' \
    "$here/../configure.ac")"
like "nuioa.pc knows the library" "$(pc --libs)" -lnuioa

for page in "$stage"/usr/share/man/man*/nuioa*; do
    name=$(basename "$page")
    if command -v man >/dev/null; then
        is "$name is clean" "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=100 \
            man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" ""
    else
        skip "$name is clean" "no man(1)"
    fi
    unlike "$name: every @VARIABLE@ is substituted" "$(cat "$page")" '@[A-Za-z_]+@'
done

sample=$stage/usr/share/doc/nuioa/examples/plugstack.conf.d/nuioa.conf
if [ -e "$sample" ]; then
    like "the plugstack sample is optional, never required" \
        "$(grep -vE '^ *(#|$)' "$sample")" '^optional nuioa\.so'
else
    fail "the plugstack sample is installed"
fi
done_testing
