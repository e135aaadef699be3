/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>
#include <unistd.h>

#include "dump.h"
#include "machine.h"
#include "output/exported.h"
#include "output/library_choice.h"
#include "unit.h"

/* Who else chooses NICs for a library, whether its devices open, and what an inner step takes
 * back. */

#define ENV(list) ((char *const *)(list))
#define UCX "UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1\0UCX_MAX_RNDV_RAILS=4\0"
#define MPICH "MPICH_OFI_NIC_POLICY=GPU\0"

TEST(test_environment)
{
    static const struct {
        const char *setting; /* beside the one that MPICH needs */
        bool ucx, mpich;
    } cases[] = {
        { "HOME=/home/user", false, false },
        { "UCX_TLS=all", true, false },
        { "UCX_NET_DEVICES=mlx5_1:1", true, false },
        { "UCX_LOG_LEVEL=error", true, false },
        { "XUCX_TLS=all", false, false },
        { "OMPI_MCA_pml_ucx_devices=any", true, false },
        { "OMPI_MCA_opal_common_ucx_devices=any", true, false },
        { "OMPI_MCA_mca_base_env_list=A=1;UCX_TLS=rc", true, false },
        { "OMPI_MCA_mca_base_env_list=A=1", false, false },
        { "OMPI_MCA_mca_base_param_files=/opt/file", true, false },
        { "OMPI_MCA_mca_param_files=/opt/file", true, false },
        { "OMPI_MCA_mca_base_param_file_prefix=debug", true, false },
        { "OMPI_MCA_pml=ucx", false, false },
        { "MPICH_OFI_NIC_POLICY=NUMA", false, true },
        { "MPICH_OFI_NIC_MAPPING=0:0", false, true },
        { "MPICH_OFI_NUM_NICS=1", false, true },
        { "MPICH_VERSION_DISPLAY=1", false, false },
        { "SLURM_CONTAINER=/bundle", true, true },
        { "_SLURM_SPANK_OPTION_pyxis_container_image=ubuntu", true, true },
        { "A=pyxis_container", false, false },
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char setting[64];
        snprintf(setting, sizeof(setting), "%s", cases[i].setting);
        const char *environment[] = { "MPICH_GPU_SUPPORT_ENABLED=1", setting, NULL };
        assert_int_equal(nuioa_library_is_chosen(ENV(environment), UCX), cases[i].ucx);
        assert_int_equal(nuioa_library_is_chosen(ENV(environment), MPICH), cases[i].mpich);
    }
    const char *without[] = { "A=1", NULL }, *off[] = { "MPICH_GPU_SUPPORT_ENABLED=0", NULL };
    assert_true(nuioa_library_is_chosen(ENV(without), MPICH));
    assert_true(nuioa_library_is_chosen(ENV(off), MPICH));
    assert_false(nuioa_library_is_chosen(NULL, UCX));
    assert_false(nuioa_library_is_chosen(ENV(off), ""));
}

TEST(test_files)
{
    static const struct {
        const char *path, *text;
        bool chosen;
    } cases[] = {
        { "etc/ucx/ucx.conf", "UCX_NET_DEVICES=mlx5_0:1\n", true },
        { "etc/ucx/ucx.conf", "# UCX_NET_DEVICES=mlx5_0:1\nUCX_TLS=all\n", false },
        { "etc/ucx/ucx.conf", "[ARM]\n  UCX_MAX_RNDV_RAILS = 1\r\n", true },
        { "etc/ucx/ucx.conf", "", false },
        { "home/user/ucx.conf", "UCX_NET_DEVICES=mlx5_0:1", true },
        { "home/other/ucx.conf", "UCX_NET_DEVICES=mlx5_0:1", false },
        { "home/user/.openmpi/mca-params.conf", "mca_base_env_list=UCX_NET_DEVICES=a\n", true },
        { "home/user/.openmpi/mca-params.conf", "pml = ucx\n", false },
        { "etc/openmpi/openmpi-mca-params.conf", "pml_ucx_devices = mlx5_0\n", true },
        { "etc/openmpi/openmpi-mca-params-override.conf", "pml_ucx_devices = a\n", true },
        { "etc/openmpi-mca-params-override.conf", "pml_ucx_devices = a\n", true },
        { "opt/etc/openmpi-mca-params-override.conf", "pml_ucx_devices = a\n", true },
        { "opt/ompi/etc/openmpi-mca-params-override.conf", "pml_ucx_devices = a\n", true },
        { "opt/etc/openmpi-mca-params.conf", "opal_common_ucx_devices = any\n", true },
        { "opt/ucx/etc/ucx/ucx.conf", "UCX_NET_DEVICES=mlx5_0:1\n", true },
        { "opt/ompi/etc/openmpi-mca-params.conf", "pml_ucx_devices = mlx5_0\n", true },
    };
    const char *environment[] = { "HOME=/home/user", "OPAL_PREFIX=/opt",
                                  "LD_LIBRARY_PATH=/none:/opt/ucx/lib", "PATH=/bin:/opt/ompi/bin",
                                  NULL };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        dump_make();
        dump_file("opt/ucx/lib/libucp.so.0", "");
        dump_file("opt/ompi/bin/mpirun", "");
        dump_file(cases[i].path, cases[i].text);
        assert_int_equal(nuioa_library_has_file(ENV(environment), dump_path, 60000),
                         cases[i].chosen);
    }
}

/* A file that cannot be opened may choose, unless it is not there. */
TEST(test_unreadable)
{
    const char *environment[] = { "HOME=/home/user", NULL };
    char path[512];
    dump_make();
    dump_file("home/user", "a file");
    assert_false(nuioa_library_has_file(ENV(environment), dump_path, 60000));
    dump_file("etc/ucx/file", "");
    snprintf(path, sizeof(path), "%s/etc/ucx/ucx.conf", dump_path);
    assert_int_equal(symlink("ucx.conf", path), 0); /* to itself */
    assert_true(nuioa_library_has_file(ENV(environment), dump_path, 60000));
}

/* A pipe that nobody writes to must not hold a launch; what it would say is unknown. */
TEST(test_pipe)
{
    const char *environment[] = { "HOME=/home/user", NULL };
    char path[512];
    dump_make();
    dump_file("home/user/file", "");
    snprintf(path, sizeof(path), "%s/home/user/ucx.conf", dump_path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(nuioa_library_has_file(ENV(environment), dump_path, 60000));
}

TEST(test_devices)
{
    struct nuioa_node node;
    machine_quad(&node);
    dump_make();
    assert_true(nuioa_library_opens(&node, dump_path, ""));
    assert_false(nuioa_library_opens(&node, dump_path, UCX));
    dump_file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_1\n");
    dump_file("sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_0\n");
    dump_file("sys/class/infiniband_verbs/abi_version", "6\n");
    dump_file("dev/infiniband/uverbs0", "");
    assert_false(nuioa_library_opens(&node, dump_path, UCX));
    assert_true(nuioa_library_opens(&node, dump_path, "UCX_NET_DEVICES=mlx5_1:1\0"));
    assert_false(nuioa_library_opens(&node, dump_path, "UCX_NET_DEVICES=mlx5_0:1\0"));
    assert_false(nuioa_library_opens(&node, dump_path, "UCX_NET_DEVICES=mlx5_10:1\0"));
    dump_file("dev/infiniband/uverbs1", "");
    assert_true(nuioa_library_opens(&node, dump_path, UCX));

    assert_true(nuioa_library_opens(&node, dump_path, MPICH)); /* there is no Slingshot */
    node.nics[0].kind = NUIOA_NIC_SLINGSHOT;
    assert_false(nuioa_library_opens(&node, dump_path, MPICH));
    snprintf(node.nics[0].cxi, sizeof(node.nics[0].cxi), "cxi0");
    assert_false(nuioa_library_opens(&node, dump_path, MPICH));
    dump_file("dev/cxi0", "");
    assert_true(nuioa_library_opens(&node, dump_path, MPICH));
    nuioa_node_free(&node);
}

TEST(test_container)
{
    assert_true(nuioa_library_is_wrapper(NULL, "apptainer"));
    assert_true(nuioa_library_is_wrapper(NULL, "/usr/bin/singularity"));
    assert_false(nuioa_library_is_wrapper(NULL, "/opt/apptainer/app"));
    assert_false(nuioa_library_is_wrapper(NULL, "./app"));
    assert_false(nuioa_library_is_wrapper(NULL, NULL));
}

static void check_wrapper(const char *name, const char *text, bool wrapper)
{
    char path[512], search[600];
    snprintf(path, sizeof(path), "%s/bin/%s", dump_path, name);
    snprintf(search, sizeof(search), "PATH=/none::%s/other:%s/bin", dump_path, dump_path);
    const char *environment[] = { search, NULL };
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(nuioa_library_is_wrapper(ENV(environment), path), wrapper);
    assert_int_equal(nuioa_library_is_wrapper(ENV(environment), name), wrapper);
}

/* A shell or a script may say UCX_TLS=tcp, which nuioa's devices would contradict. */
TEST(test_wrapper)
{
    char path[512];
    dump_make();
    const char *const none[] = { NULL };
    dump_file("bin/none", "");
    dump_file("other/script", "not executable");
    check_wrapper("script", "#!/bin/sh\nUCX_TLS=tcp ./app\n", true);
    check_wrapper("python", "#! /usr/bin/python3\n", true);
    check_wrapper("app", "\177ELF", false);
    check_wrapper("short", "#", false);
    check_wrapper("bash", "\177ELF", true);
    check_wrapper("env", "\177ELF", true);
    check_wrapper("apptainer", "\177ELF", true);
    check_wrapper("bashful", "\177ELF", false);
    assert_true(nuioa_library_is_wrapper(ENV(none), "/no/such/sh"));
    assert_false(nuioa_library_is_wrapper(ENV(none), "/no/such/app"));
    assert_false(nuioa_library_is_wrapper(ENV(none), "script"));
    assert_false(nuioa_library_is_wrapper(ENV(none), NULL));
    snprintf(path, sizeof(path), "%s/bin/pipe", dump_path);
    assert_int_equal(mkfifo(path, 0700), 0);
    assert_false(nuioa_library_is_wrapper(ENV(none), path)); /* and nobody waits */
}

/* Variables stay that the user has changed since, or has set himself. */
TEST(test_exported)
{
    struct nuioa_exported exported = { "", "" };
    char names[256], values[sizeof(exported.values) + 32], few[24];
    assert_true(nuioa_exported_add(&exported, "UCX_NET_DEVICES", "mlx5_0:1"));
    assert_true(nuioa_exported_add(&exported, "UCX_MAX_RNDV_RAILS", "4"));
    assert_true(nuioa_exported_add(&exported, "NCCL_IB_HCA", "=mlx5_0:1"));
    assert_false(nuioa_exported_add(&exported, "A", "two words"));
    assert_string_equal(exported.names, "UCX_NET_DEVICES,UCX_MAX_RNDV_RAILS,NCCL_IB_HCA");
    snprintf(values, sizeof(values), "SLURM_NUIOA_EXPORTED=%s", exported.values);
    const char *rank[] = { values,
                           "NUIOA_EXPORTED=A",
                           "UCX_NET_DEVICES=mlx5_0:1",
                           "UCX_MAX_RNDV_RAILS=2",
                           "UCX_TLS=all",
                           "NCCL_IB_HCA==mlx5_0:1",
                           NULL };
    assert_string_equal(nuioa_exported_outer(ENV(rank), names, sizeof(names)),
                        "UCX_NET_DEVICES NCCL_IB_HCA SLURM_NUIOA_EXPORTED NUIOA_EXPORTED");
    const char *lost[] = { "UCX_NET_DEVICES=mlx5_0:1", "NUIOA_EXPORTED=UCX_NET_DEVICES", NULL };
    assert_string_equal(nuioa_exported_outer(ENV(lost), names, sizeof(names)), "NUIOA_EXPORTED");
    assert_string_equal(nuioa_exported_outer(NULL, names, sizeof(names)), "");
    const char *odd[] = { "SLURM_NUIOA_EXPORTED=  A =B A=1=2 ", "A=1=2", "=B=1", NULL };
    assert_string_equal(nuioa_exported_outer(ENV(odd), names, sizeof(names)),
                        "A SLURM_NUIOA_EXPORTED");
    assert_string_equal(nuioa_exported_outer(ENV(rank), few, sizeof(few)), "UCX_NET_DEVICES");

    char *large = calloc(1, sizeof(exported.values));
    assert_non_null(large);
    memset(large, 'x', sizeof(exported.values) - 20);
    assert_false(nuioa_exported_add(&exported, "B", large)); /* and nothing of it is kept */
    assert_string_equal(exported.names, "UCX_NET_DEVICES,UCX_MAX_RNDV_RAILS,NCCL_IB_HCA");
    assert_null(strstr(exported.values, "xx"));
    free(large);
}

/* Root reads what the user has put there: only what nuioa can have written is looked at. */
TEST(test_foreign_exported)
{
    enum { SIZE = sizeof(((struct nuioa_exported *)0)->values) };
    char names[2048], *list = calloc(1, 2 * SIZE);
    assert_non_null(list);
    const char *environment[] = { list, "A=1", "B=1", NULL };
    strcpy(list, "SLURM_NUIOA_EXPORTED=");
    for (unsigned i = 0; i < 31; i++)
        strcat(list, "X=1 ");
    strcat(list, "A=1 B=1");
    assert_string_equal(nuioa_exported_outer(ENV(environment), names, sizeof(names)),
                        "A SLURM_NUIOA_EXPORTED");
    strcpy(list, "SLURM_NUIOA_EXPORTED=A=1 X=");
    size_t used = strlen(list), most = strlen("SLURM_NUIOA_EXPORTED=") + SIZE - 1;
    memset(list + used, 'x', most - used);
    assert_string_equal(nuioa_exported_outer(ENV(environment), names, sizeof(names)),
                        "A SLURM_NUIOA_EXPORTED");
    list[most] = 'x';
    assert_string_equal(nuioa_exported_outer(ENV(environment), names, sizeof(names)),
                        "SLURM_NUIOA_EXPORTED");
    free(list);
}
