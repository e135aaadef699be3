# SPDX-License-Identifier: BSD-3-Clause
#
# Spack 1.0 or later. Put this file as packages/nuioa/package.py into a repository of packages, and
# the archive, which has no public address, into the directory in which spack is called:
#
#   spack install --no-checksum nuioa ^slurm@24-11
#
# SHA256SUMS beside the archive has its checksum: a file cannot have that of the archive it is in.
# Slurm takes a plugin of its own major and minor version only: let packages.yaml name the one
# that is installed, as external. Nothing is enabled: plugstack.conf needs a line with the path of
# the plugin, lib/slurm/nuioa.so below what "spack location -i nuioa" prints.

import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import depends_on, license, variant, version


class Nuioa(AutotoolsPackage):
    """Places processes of MPI programs near the NICs of their node: a SPANK plugin for Slurm
    (srun --nuioa), a library that tells MPI libraries which NIC is theirs, and a command that
    plans, measures, and starts processes without the plugin."""

    url = f"file://{os.getcwd()}/nuioa-1.0.0.tar.xz"
    manual_download = True

    license("BSD-3-Clause")

    version("1.0.0")

    variant("slurm", default=True, description="Build the plugin for Slurm")
    variant("jansson", default=True, description="Build the command nuioa")
    variant("pmix", default=True, description="Publish the plan as PMIx keys")
    variant("munge", default=True, description="Send the reports of nodes to srun under MUNGE")
    variant("openmpi", default=False, description="Record communication of Open MPI programs")
    variant("mpich", default=False, description="Record communication of MPICH programs")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2.4:")
    depends_on("numactl")
    # The plugin's symbols are those of the program that loads it.
    depends_on("slurm@22-05:", type="build", when="+slurm")
    depends_on("jansson@2.13:", when="+jansson")
    depends_on("pmix@4.2:", when="+pmix")
    depends_on("munge@0.5.13:", when="+munge")
    depends_on("openmpi", when="+openmpi")
    depends_on("mpich", when="+mpich")

    def configure_args(self):
        args = ["--without-cmocka"]
        for library in ("jansson", "pmix", "munge"):
            args += self.with_or_without(library)
        args += self.with_or_without("slurm", activation_value="prefix")
        if self.spec.satisfies("+slurm"):
            args.append(f"--with-plugindir={self.prefix.lib.slurm}")
        for mpi in ("openmpi", "mpich"):
            if self.spec.satisfies(f"+{mpi}"):
                args.append(f"--with-{mpi}-cc={self.spec[mpi].prefix.bin.mpicc}")
            else:
                args.append(f"--without-{mpi}-cc")
        return args
