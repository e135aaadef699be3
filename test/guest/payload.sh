# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# On the host, sourced by a test: $here is this directory; $payload becomes a part of the guest's
# root, and goes with the test.
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
payload=$(mktemp -d)
chmod 755 "$payload"
mkdir -p "$payload/usr/lib" "$payload/usr/local/bin"
trap 'rm -rf "$payload"' EXIT

# needs WHAT COMMAND...: ends the test, which is about WHAT, without one of these; pmix is a library
needs() {
    local command
    for command in "${@:2}"; do
        { command -v "$command" || pkg-config --exists "$command"; } >/dev/null && continue
        . "$here/../tap.sh"
        skip "$1" "no $command"
        done_testing
        exit
    done
}

# use_slurm: the Slurm that the guest is to run also says where PMIx is. Sets slurm, "": Debian's.
use_slurm() {
    slurm=${NUIOA_GUEST_SLURM:-}
    [ -z "$slurm" ] || export PKG_CONFIG_LIBDIR=$slurm/opt/slurm/lib/pkgconfig \
        PKG_CONFIG_SYSROOT_DIR=$slurm
}

# compile DIR ARG...: gcc, with that Slurm; the payload DIR becomes the guest's root.
compile() {
    local flags=(-std=gnu11 -O2 -Wall -Wextra -Werror)
    mkdir -p "$1/usr/lib/slurm" "$1/usr/local/bin"
    [ -z "$slurm" ] || flags+=("-I$slurm/opt/slurm/include" -Wl,-rpath,/opt/slurm/lib)
    gcc "${flags[@]}" "${@:2}"
}

# build_disturb DIR, build_keys DIR: test/cluster/disturb.c, and test/pmix/keys.c with its library,
# so that it also runs without the plugin.
build_disturb() {
    compile "$1" -shared -fPIC -o "$1/usr/lib/slurm/disturb.so" "$here/../cluster/disturb.c"
}
build_keys() {
    local top=$here/../.. lib=$NUIOA_STAGE/usr/lib/libnuioa-client.so.1
    cp -L "$lib" "$1/usr/lib/"
    # shellcheck disable=SC2046
    compile "$1" -I"$top" -o "$1/usr/local/bin/keys" "$top/test/pmix/keys.c" "$lib" \
        $(pkg-config --cflags --libs pmix)
}
