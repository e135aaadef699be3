#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# "make install" puts each file into its place, with --prefix=/usr: the tree that NUIOA_STAGE names.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
stage=${NUIOA_STAGE:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plugin=$stage/usr/lib/slurm/nuioa.so
client=$stage/usr/lib/libnuioa-client.so

exported() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u; }

# What only the command calls, by function: link graph and latencies, the writers of profiles and
# of the site's distances, XML, the report of a node. The command must have each of them, so that a
# new name is seen here.
command_only=(nuioa_link_graph_infer nuioa_latency_read nuioa_profile_write
    nuioa_profile_write_matrix nuioa_distance_write_site nuioa_ranks_parse
    nuioa_report_xml nuioa_report_node nuioa_report_cpu_bind
    hwloc_topology_export_xmlbuffer)

# names FILE: every symbol that a file has or uses
names() { nm "$1" | sed 's/.* //; s/@.*//' | sort -u; }

holds_what_a_launch_calls() {
    local wanted
    wanted=$(printf '%s\n' "${command_only[@]}" | sort)
    is "it has nothing that only the command calls" \
        "$(comm -12 <(echo "$wanted") <(names "$plugin"))" ""
    is "nothing of its own is undefined" \
        "$(nm -D --undefined-only "$plugin" |
            grep -vE '@| (slurm|spank|hwloc)_| (_ITM_.*|__gmon_start__)$')" ""
    is "it starts no program, resolves no name and never gives up" \
        "$(nm -D --undefined-only "$plugin" | awk '{ print $2 }' | sed 's/@.*//' | grep -xE \
            -e 'f?exec[lv]p?e?(at)?|system|popen|posix_spawnp?|wordexp' \
            -e 'abort|quick_exit' \
            -e 'getaddrinfo|gethostby.*|getpw.*|getgr.*')" ""
    # Every program that loads it has this memory.
    is "no variable of it is larger than a page" "$(nm -S "$plugin" |
        awk '$3 ~ /[bBdD]/ && length($2) == 16 && $2 > "0000000000001000" { print $4 }')" ""
    if [ -e "$stage/usr/bin/nuioa" ]; then
        is "the command has what it alone calls" \
            "$(comm -23 <(echo "$wanted") <(names "$stage/usr/bin/nuioa"))" ""
    fi
}

if [ -e "$plugin" ]; then
    is "the plugin exports what Slurm looks up, and no more" "$(exported "$plugin")" "$(
        printf '%s\n' plugin_{name,type,version} spank_plugin_version \
            slurm_spank_{init,init_post_opt,local_user_init,user_init,task_post_fork} \
            slurm_spank_{task_init,task_exit,exit} | sort)"
    needed=$(ldd "$plugin")
    like "it needs other libraries" "$needed" 'libc\.'
    unlike "it needs nothing of ours at run time" "$needed" libnuioa
    unlike "it needs no libmunge to be loaded" "$(readelf -d "$plugin")" munge
    like "its code stays for threads that Slurm has closed it under" \
        "$(readelf -d "$plugin")" NODELETE
    ok "no libtool file lies beside it" test ! -e "${plugin%.so}.la"
    if [ -n "$(nm "$plugin" 2>/dev/null)" ]; then
        holds_what_a_launch_calls
    else
        skip "it holds what a launch calls" "it is stripped"
    fi
else
    skip "the plugin exports what Slurm looks up, and no more" "not built: no slurm/spank.h"
fi

# The recorders export what MPI programs call, and one name for the shim; the shim before them has
# all of that.
preloaded=$stage/usr/lib/nuioa
for file in "$preloaded"/libnuioa-trace-*.so; do
    [ -e "$file" ] || continue
    name=${file##*/}
    like "$name exports calls of MPI" "$(exported "$file")" MPI_Init
    is "$name exports calls of MPI, and no more" "$(exported "$file" | grep -vE '^(MPI|mpi)_')" \
        nuioa_trace_find
    [ -e "$preloaded/libnuioa-preload.so" ] || continue
    is "$name exports what libnuioa-preload.so hands on" \
        "$(comm -23 <(exported "$file" | grep -v ^nuioa_) \
            <(exported "$preloaded/libnuioa-preload.so"))" ""
done
if [ -e "$preloaded/libnuioa-preload.so" ]; then
    like "libnuioa-preload.so exports calls of MPI" \
        "$(exported "$preloaded/libnuioa-preload.so")" MPI_Init
    is "libnuioa-preload.so exports calls of MPI, and no more" \
        "$(exported "$preloaded/libnuioa-preload.so" | grep -vE '^(MPI|mpi)_')" ""
fi

for file in "$preloaded"/*.so "$client"; do
    [ -e "$file" ] || continue
    is "$(basename "$file") has all that it calls" \
        "$(ldd -r "$file" 2>&1 | grep 'undefined symbol')" ""
done

# libnuioa-client is for others, the engine is not: nothing of it is installed.
map=$here/../pmix/client/libnuioa-client.map
is "libnuioa-client exports what its list names" "$(exported "$client")" \
    "$(sed -n 's/^ *\(nuioa_[a-z_]*\);$/\1/p' "$map" | sort -u)"
is "its header is the only one that is installed" \
    "$(find "$stage/usr/include" -type f -printf '%P\n')" nuioa-client.h
is "its functions are declared there" "$(for name in $(exported "$client"); do
    grep -q "\<$name(" "$stage/usr/include/nuioa-client.h" || echo "$name"; done)" ""
is "no other library is installed for programs" \
    "$(find "$stage/usr/lib" -maxdepth 1 -name '*.so' -printf '%P\n')" libnuioa-client.so
is "no other library is installed for pkg-config" \
    "$(find "$stage/usr/lib/pkgconfig" -type f -printf '%P\n')" nuioa-client.pc

# All that is built, by libtool or by an MPI's compiler wrapper: of what a compiler puts into the
# code, something is there at least once. Functions with arrays on the stack are in all of it.
# objects: all that the installed tree has in ELF, so that nothing new is left out
objects() {
    find "$stage" -type f | LC_ALL=C sort | while IFS= read -r file; do
        [ "$(head -c 4 "$file" | tail -c 3)" != ELF ] || printf '%s\n' "$file"
    done
}
like "objects are installed" "$(objects | grep -c .)" '^[1-9]'
for file in $(objects); do
    name=${file##*/}
    symbols=$(nm -D --undefined-only "$file")
    is "$name: the compiler guards the stack" "$(grep -c ' __stack_chk_fail' <<<"$symbols")" 1
    like "$name: calls of the C library are checked" \
        "$(grep -cE ' __[a-z]+_chk(@|$)' <<<"$symbols")" '^[1-9]'
    like "$name binds its symbols at once" "$(readelf -d "$file")" BIND_NOW
    like "$name: relocations are read-only" "$(readelf -lW "$file")" GNU_RELRO
    unlike "$name: the stack is not executable" "$(readelf -lW "$file" | grep GNU_STACK)" E
    is "$name says that it needs none" "$(readelf -lW "$file" | grep -c GNU_STACK)" 1
    is "$name: no memory is writable and executable" \
        "$(readelf -lW "$file" | grep -cE '^ +LOAD .* RWE ')" 0
    unlike "$name: the code is not relocated" "$(readelf -d "$file")" TEXTREL
    like "$name runs at any address" "$(readelf -hW "$file")" 'Type: +DYN'
    unlike "$name carries no path of the build" "$(readelf -d "$file")" 'R(UN)?PATH'
done

# The flags of whoever builds, a distribution say, come last in each command of mpi/, which has no
# libtool.
commands=
if [ -e "${NUIOA_BUILD:-}/mpi/Makefile" ]; then
    source=$(sed -n 's/^srcdir = //p' "$NUIOA_BUILD/mpi/Makefile")
    commands=$(make -n -C "$NUIOA_BUILD/mpi" -W "$source/calls.h" -W "$source/trace/entry.h" \
        CPPFLAGS=-DTHEIRS CFLAGS=-gtheirs LDFLAGS=-Ltheirs |
        grep -e '-D_GNU_SOURCE' | grep -v libtool)
fi
if [ -n "$commands" ]; then
    is "mpi/: each command takes the builder's flags" \
        "$(grep -vE -- '-DTHEIRS .*-gtheirs .*-Ltheirs' <<<"$commands")" ""
else
    skip "mpi/: each command takes the builder's flags" "NUIOA_BUILD is not set, or it has no MPI"
fi

# Header and library as the program of somebody else uses them.
cat >"$work/client.c" <<'END'
#include <nuioa-client.h>
int main(void)
{
    struct nuioa_client *client = nuioa_client_open();
    nuioa_client_close(client);
    return client ? 0 : 1;
}
END
pc() {
    PKG_CONFIG_PATH=$stage/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage \
        pkg-config "$@" nuioa-client
}
builds() {
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror -pedantic -I "$stage/usr/include" -o "$work/client" \
        "$work/client.c" -L "$stage/usr/lib" $(pc --libs) &&
        LD_LIBRARY_PATH=$stage/usr/lib "$work/client"
}
ok "a program builds with the installed header and library" builds
ok "the header stands alone" gcc -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only \
    -x c "$stage/usr/include/nuioa-client.h"
ok "... in C90, too" gcc -std=c90 -Wall -Wextra -pedantic-errors -fsyntax-only \
    -x c "$stage/usr/include/nuioa-client.h"
is "each value of its enums is a number, for other languages" \
    "$(sed -n '/^enum.*{/,/^}/p' "$stage/usr/include/nuioa-client.h" |
        grep NUIOA_ | grep -vE ' = [0-9]')" ""
is "examples for MPI developers are documentation" \
    "$(cd "$stage/usr/share/doc/nuioa/examples" && echo *.c *.f90 *.md *.py)" \
    "bcast.c han_leaders.c leader.f90 README.md nic.py"
is "nuioa-client.pc knows the version" "$(pc --modversion)" \
    "$(sed -n 's/^AC_INIT(\[nuioa\], \[\([^]]*\)\].*/\1/p' "$here/../configure.ac")"
like "nuioa-client.pc knows the library" "$(pc --libs)" -lnuioa-client

# What others are told of this version and of what is in it. A build with less has less in it.
top=$here/..
version=$(pc --modversion)
is "the packages have the version" "$(sed -n '1s/^nuioa (\(.*\)).*/\1/p' "$top/debian/changelog"
    sed -n 's/^Version: *//p' "$top/packaging/nuioa.spec"
    sed -n 's/^ *version("\(.*\)")/\1/p; s|.*/nuioa-\(.*\)\.tar\.xz"$|\1|p' \
        "$top/packaging/spack/package.py")" "$(printf '%s\n' "$version"{,,,})"
if [ -e "$plugin" ] && [ -e "$preloaded/libnuioa-trace-mpich.so" ] &&
    [ -e "$preloaded/libnuioa-trace-openmpi.so" ] && [ -e "$stage/usr/bin/nuioa" ]; then
    "$top/packaging/spdx" "$stage" >"$work/spdx" 2>&1
    is "packaging/nuioa.spdx has what is linked and opened" \
        "$(diff "$top/packaging/nuioa.spdx" "$work/spdx")" ""
else
    skip "packaging/nuioa.spdx has what is linked and opened" "this build has not all parts"
fi

if [ -e "$stage/usr/bin/nuioa" ]; then
    is "the parts of the command that are in Python are installed" \
        "$(cd "$stage/usr/libexec/nuioa" && printf '%s\n' *.py)" \
        "$(grep -ohE '_(exec|run)\("[a-z-]+\.py"' -r "$here/../tools" --include='*.c' |
            grep -oE '[a-z-]+\.py' | LC_ALL=C sort -u)"
    mkdir "$work/lacks"
    echo 'raise ImportError' >"$work/lacks/matplotlib.py"
    like "... and found, also where the whole installation was moved" \
        "$(PYTHONPATH=$work/lacks "$stage/usr/bin/nuioa" probe --heatmap "$work/x.svg" \
            --matrix "$here/probe/hagrid.txt" 2>&1)" '^nuioa: --heatmap: drawing requires matplot'
else
    skip "the parts of the command that are in Python" "no command"
fi

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

# zsh's completion asks bash's, which it finds from where it is itself.
ok "zsh's completion has bash's where it looks" test -e \
    "$stage/usr/share/zsh/site-functions/../../bash-completion/completions/nuioa" \
    -a -e "$stage/usr/share/zsh/site-functions/_nuioa"

# What a Makefile.am forgets is missing only where nobody has a clone.
if [ -e "$top/.git" ] && [ -n "${NUIOA_BUILD:-}" ]; then
    ok "the files of the archive are copied" make -s -C "$NUIOA_BUILD" distdir distdir=archive
    is "the archive has all files that git has" "$(comm -13 \
        <(cd "$NUIOA_BUILD/archive" && find . ! -type d -printf '%P\n' | LC_ALL=C sort) \
        <(git -C "$top" ls-files | LC_ALL=C sort))" .gitignore
    ok "the archive has the machines to test with" \
        test -e "$NUIOA_BUILD/archive/test/topologies/gpus/p5.xml"
    rm -rf "$NUIOA_BUILD/archive"
else
    skip "the archive has all files that git has" "no clone, or NUIOA_BUILD is not set"
fi

sample=$stage/usr/share/doc/nuioa/examples/plugstack.conf.d/nuioa.conf
if [ -e "$sample" ]; then
    like "the plugstack sample is optional, never required" \
        "$(grep -vE '^ *(#|$)' "$sample")" '^optional nuioa\.so'
else
    fail "the plugstack sample is installed"
fi
done_testing
