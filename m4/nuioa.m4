dnl SPDX-License-Identifier: BSD-3-Clause
# NUIOA_CHECK_LIBRARY(VARIABLE, MODULE, HEADER, FUNCTION, LIBS, IF-FOUND, IF-NOT-FOUND)
# By pkg-config, and where the library brings no .pc file (libnuma before 2.0.13) by its header.
AC_DEFUN([NUIOA_CHECK_LIBRARY], [
    PKG_CHECK_MODULES([$1], [$2], [$6], [
        nuioa_save_LIBS=$LIBS
        LIBS="$5 $LIBS"
        AC_CHECK_HEADER([$3], [AC_CHECK_FUNC([$4], [$1_LIBS="$5"], [$1_LIBS=no])], [$1_LIBS=no])
        LIBS=$nuioa_save_LIBS
        AS_IF([test "x$$1_LIBS" = xno], [$7], [$6])
    ])
])

# NUIOA_TRY_HEADER(NAME, CFLAGS, INCLUDES, HOW-TO-DO-WITHOUT): stops if a program with them does not
# compile: what pkg-config or a wrapper says of a library is not proof enough.
AC_DEFUN([NUIOA_TRY_HEADER], [
    AC_MSG_CHECKING([whether the header of $1 compiles])
    nuioa_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[$3]], [])], [AC_MSG_RESULT([yes])], [
        AC_MSG_RESULT([no])
        AC_MSG_ERROR([the header of $1 is there and does not compile, see config.log$4])
    ])
    CPPFLAGS=$nuioa_save_CPPFLAGS
])

# NUIOA_OPTIONAL(MODULE, VARIABLE, DEBIAN-PACKAGE, PART, OLDEST, INCLUDES): sets have_MODULE, the
# conditional HAVE_VARIABLE, VARIABLE_CFLAGS and VARIABLE_LIBS. --with-MODULE makes its absence an
# error; a version older than OLDEST, or a header that does not compile, always is one.
AC_DEFUN([NUIOA_OPTIONAL], [
    AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [do without $1: switches off $4])],
        [], [with_$1=check])
    have_$1=no
    AS_IF([test "x$with_$1" != xno], [
        PKG_CHECK_MODULES([$2], [$1], [have_$1=yes], [have_$1=no])
        AS_IF([test "$have_$1" = no && test "x$with_$1" = xyes],
            [AC_MSG_ERROR([$1 not found (Debian package: $3)])])
        AS_IF([test "$have_$1" = yes], [
            AS_IF([$PKG_CONFIG --exists "$1 >= $5"], [],
                [AC_MSG_ERROR([$1 $($PKG_CONFIG --modversion $1) is too old: nuioa needs $5 or later (--without-$1 leaves out $4)])])
            NUIOA_TRY_HEADER([$1], [$$2_CFLAGS], [$6], [ (--without-$1 leaves out $4)])
        ])
    ])
    AM_CONDITIONAL([HAVE_$2], [test "$have_$1" = yes])
    AS_IF([test "$have_$1" = yes], [AC_DEFINE([HAVE_$2], [1], [$1 is there])])
])

# NUIOA_SLURM: --with-slurm and what it finds. Sets have_slurm and the conditional HAVE_SLURM,
# SLURM_CPPFLAGS, slurm_version, slurm_headers; of a PATH also SLURM_PREFIX.
AC_DEFUN([NUIOA_SLURM], [
    AC_ARG_WITH([slurm],
        [AS_HELP_STRING([--with-slurm=PATH],
            [where Slurm is installed, for include/slurm/spank.h and the directory of its plugins])],
        [], [with_slurm=check])
    SLURM_CPPFLAGS= SLURM_PREFIX= SLURM_PLUGINDIR= have_slurm=no
    # The compiler's own directory may have another Slurm's header: it must not do for the one that
    # is meant.
    AS_CASE([$with_slurm], [no|yes|check], [], [
        SLURM_PREFIX=$(cd "$with_slurm" 2>/dev/null && pwd)
        AS_IF([test ! -e "$SLURM_PREFIX/include/slurm/spank.h"],
            [AC_MSG_ERROR([slurm/spank.h not found in $with_slurm/include (Debian package: libslurm-dev)])])
    ])
    # -isystem: warnings about Slurm's headers are for others. The compiler's own directory keeps
    # its place.
    AS_CASE([$SLURM_PREFIX], [''|/usr], [], [SLURM_CPPFLAGS="-isystem $SLURM_PREFIX/include"])
    AS_IF([test "x$with_slurm" != xno], [
        nuioa_save_CPPFLAGS=$CPPFLAGS
        CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
        AC_CHECK_HEADER([slurm/spank.h], [
            have_slurm=yes
            NUIOA_SLURM_VERSION
            AS_IF([test "$nuioa_number" -lt 1443072], [AC_MSG_ERROR([dnl
Slurm $slurm_version in $slurm_headers is too old: nuioa needs 22.05 or later (--without-slurm builds no plugin)])])
        ])
        CPPFLAGS=$nuioa_save_CPPFLAGS
        AS_IF([test "$have_slurm" = no && test "x$with_slurm" != xcheck],
            [AC_MSG_ERROR([slurm/spank.h not found, or not usable (Debian package: libslurm-dev)])])
    ])
    AC_SUBST([SLURM_CPPFLAGS])
    AC_SUBST([SLURM_PREFIX])
    AM_CONDITIONAL([HAVE_SLURM], [test "$have_slurm" = yes])
])

# Sets nuioa_number, which has a byte for each part of the version, slurm_version, "22.05.8", and
# slurm_headers, the directory that the compiler finds slurm/spank.h in. Slurm before 21.08 has its
# number in slurm.h, later ones in a header that slurm.h includes.
AC_DEFUN([NUIOA_SLURM_VERSION], [
    AC_COMPUTE_INT([nuioa_number], [SLURM_VERSION_NUMBER], [#include <slurm/slurm.h>], [nuioa_number=0])
    slurm_version=$(printf '%d.%02d.%d' $((nuioa_number >> 16)) $((nuioa_number >> 8 & 255)) $((nuioa_number & 255)))
    AC_LANG_CONFTEST([AC_LANG_SOURCE([[#include <slurm/spank.h>]])])
    slurm_headers=$($CC -E $CPPFLAGS conftest.$ac_ext 2>/dev/null |
        $SED -n 's|^# 1 "\(.*\)/slurm/spank\.h".*|\1|p')
])

# NUIOA_PLUGINDIR: --with-plugindir, and else the directory in which Slurm looks for plugins
# (PluginDir), which cannot be guessed: a plugin elsewhere is not found, and nobody is told. Sets
# plugindir, plugindir_source, which says how it is known, and SLURM_PLUGINDIR, which is where that
# Slurm has its own plugins, empty if nothing tells.
AC_DEFUN([NUIOA_PLUGINDIR], [
    AC_ARG_WITH([plugindir],
        [AS_HELP_STRING([--with-plugindir=DIR],
            [where to install the plugin @<:@the PluginDir of Slurm@:>@])],
        [], [with_plugindir=])
    AS_CASE([$with_plugindir], [yes|no], [AC_MSG_ERROR([--with-plugindir needs a directory])])
    SLURM_PLUGINDIR= plugindir= plugindir_source=
    AS_IF([test "$have_slurm" = yes], [
        AC_MSG_CHECKING([where Slurm looks for plugins])
        nuioa_prefix=${SLURM_PREFIX:-${slurm_headers%/include}}
        NUIOA_FIND_PLUGINDIR
        SLURM_PLUGINDIR=$plugindir
        AS_IF([test -n "$with_plugindir"],
            [plugindir=$with_plugindir plugindir_source=--with-plugindir])
        AC_MSG_RESULT([${plugindir:-unknown}${plugindir_source:+ ($plugindir_source)}])
        AS_IF([test -z "$plugindir"],
            [AC_MSG_ERROR([nothing here tells where Slurm looks for plugins: say it by --with-plugindir=DIR; on a host of the cluster "scontrol show config | grep PluginDir" prints it (--without-slurm builds no plugin)])])
    ], [plugindir=${with_plugindir:-'${libdir}/slurm'}])
    AC_SUBST([plugindir])
    AC_SUBST([SLURM_PLUGINDIR])
])

# NUIOA_TRY_PLUGINDIR(DIRECTORY, SOURCE): takes an absolute path, if nothing else has been found.
AC_DEFUN([NUIOA_TRY_PLUGINDIR], [
    AS_IF([test -z "$plugindir"], [
        plugindir=$1
        AS_CASE([$plugindir], [/*], [plugindir_source="$2"], [plugindir=])
    ])
])

# Asks, of the Slurm in nuioa_prefix and of no other: scontrol, which answers where the cluster runs;
# its library for plugins, which is beside them in every version; the lists of the packages; its
# libslurm, which says where it was built to look; pkg-config.
AC_DEFUN([NUIOA_FIND_PLUGINDIR], [
    AS_IF([test -z "$with_plugindir" && test -x "$nuioa_prefix/bin/scontrol"], [
        NUIOA_TRY_PLUGINDIR([$(timeout 10 "$nuioa_prefix/bin/scontrol" show config 2>/dev/null |
            $SED -n 's/^PluginDir *= *\([[^:]]*\).*/\1/p')], [scontrol says so])
    ])
    for directory in "$nuioa_prefix"/lib64/slurm "$nuioa_prefix"/lib/slurm \
        "$nuioa_prefix"/lib/*/slurm-wlm "$nuioa_prefix"/lib/*/slurm; do
        AS_IF([test -e "$directory/libslurmfull.so"],
            [NUIOA_TRY_PLUGINDIR([$directory], [libslurmfull.so is there])])
    done
    nuioa_list=$({ dpkg-query -S '*/libslurmfull.so'; rpm -ql slurm; } 2>/dev/null |
        $SED -n "s|^\(.*: \)\{0,1\}\($nuioa_prefix/.*\)/libslurmfull\.so\$|\2|p" | $SED 1q)
    NUIOA_TRY_PLUGINDIR([$nuioa_list], [a package has libslurmfull.so there])
    for library in "$nuioa_prefix"/lib64/libslurm.so "$nuioa_prefix"/lib/libslurm.so \
        "$nuioa_prefix"/lib/*/libslurm.so; do
        AS_IF([test -e "$library"], [
            NUIOA_TRY_PLUGINDIR([$(tr '\000' '\n' <"$library" | LC_ALL=C $SED -n \
                "\|^$nuioa_prefix/lib.*/slurm\(-wlm\)\{0,1\}\$|p" | $SED 1q)], [$library says so])
        ])
    done
    AS_IF([test "$($PKG_CONFIG --variable=includedir slurm 2>/dev/null)" = "$nuioa_prefix/include"], [
        NUIOA_TRY_PLUGINDIR([$($PKG_CONFIG --variable=libdir slurm)/slurm], [slurm.pc says so])
    ])
])

# NUIOA_ORIGIN(MODULE): shell text for the summary, which version it is and where.
AC_DEFUN([NUIOA_ORIGIN], [$($PKG_CONFIG --modversion $1) in $($PKG_CONFIG --variable=prefix $1)])

# NUIOA_MPI(NAME, VARIABLE, COMMAND, DEBIAN-PACKAGE, MACRO): the compiler wrapper of an MPI library,
# which must be the one whose mpi.h defines MACRO. Sets have_NAME, MPICC_VARIABLE and HAVE_VARIABLE.
# VARIABLE_CC named a wrapper once. MPICH's own mpicc reads MPICH_CC as the compiler behind it, and
# would call itself for ever. A wrapper that nobody has named compiles for this machine, so a cross
# build does not look for one.
AC_DEFUN([NUIOA_MPI], [
    AC_ARG_WITH([$1-cc],
        [AS_HELP_STRING([--with-$1-cc=COMMAND], [compiler wrapper of $1 @<:@$3@:>@, for the trace])],
        [], [with_$1_cc=check])
    have_$1=no
    AS_CASE([$$2_CC], [mpi*|*/mpi*],
        [AC_MSG_ERROR([the variable $2_CC does not name the compiler wrapper of $1: say --with-$1-cc=$$2_CC, and unset $2_CC])])
    AS_CASE([$with_$1_cc],
        [no], [MPICC_$2=],
        [check|yes], [AS_IF([test "$cross_compiling" = yes], [MPICC_$2=], [AC_CHECK_PROG([MPICC_$2], [$3], [$3])])],
        [MPICC_$2=$with_$1_cc])
    AS_IF([test -n "$MPICC_$2"], [
        AC_MSG_CHECKING([whether $MPICC_$2 is of $1])
        nuioa_save_CC=$CC
        CC=$MPICC_$2
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef $5
#error another MPI
#endif]], [])], [have_$1=yes])
        CC=$nuioa_save_CC
        AC_MSG_RESULT([$have_$1])
    ])
    AS_IF([test "$have_$1" = no && test "x$with_$1_cc" != xcheck && test "x$with_$1_cc" != xno],
        [AC_MSG_ERROR([--with-$1-cc: $MPICC_$2 does not compile for $1 (Debian package: $4)])])
    AC_SUBST([MPICC_$2])
    AM_CONDITIONAL([HAVE_$2], [test "$have_$1" = yes])
])

# NUIOA_SUMMARY(YES-OR-NO, IF-YES, IF-NO): shell text for the summary.
AC_DEFUN([NUIOA_SUMMARY], [$(if test "x$1" != xno; then echo "yes   $2"; else echo "no    $3"; fi)])

# NUIOA_TRY_CFLAG(VARIABLE, FLAG): appends the flag if the compiler takes it without a warning.
AC_DEFUN([NUIOA_TRY_CFLAG], [
    AC_MSG_CHECKING([whether $CC accepts $2])
    nuioa_save_CFLAGS=$CFLAGS
    CFLAGS="$SPEED_CFLAGS $CFLAGS -Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[char a[8]; strcpy(a, "a"); return a[0];]])],
        [AC_MSG_RESULT([yes]); $1="$$1 $2"; nuioa_took=yes], [AC_MSG_RESULT([no]); nuioa_took=no])
    CFLAGS=$nuioa_save_CFLAGS
])

# NUIOA_TRY_LDFLAG(VARIABLE, FLAG): the same for the linker. Quote the commas of FLAG twice.
AC_DEFUN([NUIOA_TRY_LDFLAG], [
    AC_MSG_CHECKING([whether the linker accepts $2])
    nuioa_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,--fatal-warnings $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes]); $1="$$1 $2"; nuioa_took=yes], [AC_MSG_RESULT([no]); nuioa_took=no])
    LDFLAGS=$nuioa_save_LDFLAGS
])

# NUIOA_MPI_FLAGS(VARIABLE): sets VARIABLE_CFLAGS and VARIABLE_LDFLAGS for the MPI's wrapper: the
# hardening flags, and none of them if the compiler behind it, which may be another, does not take
# all.
AC_DEFUN([NUIOA_MPI_FLAGS], [
    $1_CFLAGS=$HARDENING_CFLAGS
    $1_LDFLAGS=$HARDENING_LDFLAGS
    AS_IF([test -n "$MPICC_$1" && test -n "$HARDENING_CFLAGS"], [
        AC_MSG_CHECKING([whether $MPICC_$1 accepts the hardening flags])
        nuioa_save_CC=$CC nuioa_save_CFLAGS=$CFLAGS nuioa_save_LDFLAGS=$LDFLAGS
        CC=$MPICC_$1
        CFLAGS="-Werror $SPEED_CFLAGS $HARDENING_CFLAGS $CFLAGS"
        LDFLAGS="$HARDENING_LDFLAGS $LDFLAGS"
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [])], [AC_MSG_RESULT([yes])],
            [AC_MSG_RESULT([no]); $1_CFLAGS= $1_LDFLAGS=])
        CC=$nuioa_save_CC CFLAGS=$nuioa_save_CFLAGS LDFLAGS=$nuioa_save_LDFLAGS
    ])
    AC_SUBST([$1_CFLAGS])
    AC_SUBST([$1_LDFLAGS])
])

# Sets NUIOA_CFLAGS and NUIOA_LDFLAGS (everything), PIE_CFLAGS and PIE_LDFLAGS (programs), and of
# these, for what is preloaded, HARDENING_CFLAGS and HARDENING_LDFLAGS: a sanitizer cannot come in
# by a preload. The user's CFLAGS and LDFLAGS come after them on every command line.
#
# Without CFLAGS of the user's, SPEED_CFLAGS is -O2, and SIZE_CFLAGS is -Os, for what every launch
# loads and runs once; it comes after NUIOA_CFLAGS. GC_LDFLAGS lets the linker leave out each
# function that nobody refers to. With LTO_LDFLAGS it optimises the plugin as a whole, which takes a
# tenth of what launches load; everything else is linked from the same objects without (-fno-lto).
AC_DEFUN([NUIOA_FLAGS], [
    SPEED_CFLAGS=
    SIZE_CFLAGS=
    GC_LDFLAGS=
    LTO_LDFLAGS=
    AS_IF([test "x$nuioa_cflags" = xnone], [
        SPEED_CFLAGS=-O2
        AS_IF([test "x$enable_sanitizers" = xno], [SIZE_CFLAGS=-Os])
    ])
    NUIOA_CFLAGS="-std=c11 $SPEED_CFLAGS"
    NUIOA_LDFLAGS=
    HARDENING_CFLAGS=
    HARDENING_LDFLAGS=
    PIE_CFLAGS=
    PIE_LDFLAGS=
    nuioa_hardening=no
    m4_foreach_w([flag], [-Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wvla
        -Wpointer-arith -Wwrite-strings], [NUIOA_TRY_CFLAG([NUIOA_CFLAGS], flag)
])
    AS_IF([test "x$enable_sanitizers" = xyes], [
        NUIOA_CFLAGS="$NUIOA_CFLAGS -g -fno-omit-frame-pointer -fsanitize=address,undefined"
        NUIOA_CFLAGS="$NUIOA_CFLAGS -fno-sanitize-recover=undefined"
        NUIOA_LDFLAGS="-fsanitize=address,undefined"
        AS_IF([test "x$enable_fuzzing" != xno], [
            NUIOA_TRY_CFLAG([NUIOA_CFLAGS], [-fsanitize=fuzzer-no-link])
            AS_IF([test "$nuioa_took" = no],
                [AC_MSG_ERROR([--enable-fuzzing needs clang and its libFuzzer: test/deps fuzz, and CC=clang])])
        ])
        AS_IF([test "x$enable_fuzzing" = xcoverage], [
            NUIOA_CFLAGS="$NUIOA_CFLAGS -fprofile-instr-generate -fcoverage-mapping"
            NUIOA_LDFLAGS="$NUIOA_LDFLAGS -fprofile-instr-generate"
        ])
    ], [test "x$enable_hardening" = xyes], [
        nuioa_hardening=yes
        # A C library that does not know level 3 warns, and one without optimisation at any level.
        NUIOA_TRY_CFLAG([HARDENING_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3])
        AS_IF([test "$nuioa_took" = no],
            [NUIOA_TRY_CFLAG([HARDENING_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2])])
        m4_foreach_w([flag], [-fstack-protector-strong -fstack-clash-protection -fcf-protection],
            [NUIOA_TRY_CFLAG([HARDENING_CFLAGS], flag)
])
        NUIOA_TRY_LDFLAG([HARDENING_LDFLAGS], [[-Wl,-z,relro]])
        NUIOA_TRY_LDFLAG([HARDENING_LDFLAGS], [[-Wl,-z,now]])
        NUIOA_TRY_LDFLAG([HARDENING_LDFLAGS], [[-Wl,-z,noexecstack]])
        NUIOA_CFLAGS="$NUIOA_CFLAGS$HARDENING_CFLAGS"
        NUIOA_LDFLAGS=$HARDENING_LDFLAGS
        NUIOA_TRY_CFLAG([PIE_CFLAGS], [-fPIE])
        NUIOA_TRY_LDFLAG([PIE_LDFLAGS], [-pie])
    ])
    AS_IF([test "x$enable_sanitizers" = xno], [
        NUIOA_TRY_CFLAG([NUIOA_CFLAGS], [-ffunction-sections -fdata-sections])
        NUIOA_TRY_LDFLAG([GC_LDFLAGS], [[-Wl,--gc-sections]])
    ])
    AS_IF([test -n "$SIZE_CFLAGS"], [
        NUIOA_TRY_LDFLAG([LTO_LDFLAGS], [-flto=auto])
        AS_IF([test "$nuioa_took" = yes],
            [NUIOA_TRY_CFLAG([SIZE_CFLAGS], [-flto=auto -ffat-lto-objects])])
        AS_IF([test "$nuioa_took" = yes], [NUIOA_LDFLAGS="$NUIOA_LDFLAGS -fno-lto"], [LTO_LDFLAGS=])
    ])
    WERROR_CFLAGS=
    AS_IF([test "x$enable_werror" = xyes],
        [WERROR_CFLAGS=-Werror NUIOA_CFLAGS="$NUIOA_CFLAGS -Werror"])
    AC_SUBST([WERROR_CFLAGS])
    AC_SUBST([NUIOA_CFLAGS])
    AC_SUBST([NUIOA_LDFLAGS])
    AC_SUBST([SPEED_CFLAGS])
    AC_SUBST([SIZE_CFLAGS])
    AC_SUBST([GC_LDFLAGS])
    AC_SUBST([LTO_LDFLAGS])
    AC_SUBST([HARDENING_CFLAGS])
    AC_SUBST([HARDENING_LDFLAGS])
    AC_SUBST([PIE_CFLAGS])
    AC_SUBST([PIE_LDFLAGS])
])
