/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/option.h"
#include "unit.h"

static struct nuioa_options options;
static struct nuioa_error err;

static int start(void **state)
{
    (void)state;
    memset(&err, 0, sizeof(err));
    memset(&options, 0x5a, sizeof(options));
    nuioa_options_init(&options);
    return 0;
}

static int set_at(enum nuioa_option_source door, const char *name, const char *value)
{
    return nuioa_options_set(&options, door, name, value, &err);
}

static void accept(const char *name, const char *value)
{
    if (set_at(NUIOA_FROM_COMMAND, name, value))
        fail_msg("--nuioa-%s=%s: %s", name, value, err.text);
}

/* Checks that the value is refused with exactly this line, and that nothing changes. */
static void refuse(enum nuioa_option_source door, int code, const char *name, const char *value,
                   const char *line)
{
    struct nuioa_options before = options;
    assert_int_equal(set_at(door, name, value), code);
    assert_string_equal(err.text, line);
    assert_memory_equal(&before, &options, sizeof(options));
}

TEST_WITHIN(test_defaults, start, NULL)
{
    assert_int_equal(options.mode, NUIOA_OFF);
    assert_false(options.force || options.report || options.explain || options.help);
    assert_int_equal(options.policy, NUIOA_POLICY_BANDWIDTH);
    assert_int_equal(options.cores, NUIOA_CORES_AUTO);
    assert_int_equal(options.gpus, NUIOA_GPU_AUTO);
    assert_int_equal(options.mem, NUIOA_MEM_OFF);
    assert_int_equal(options.leader, NUIOA_LEADER_NEAR);
    assert_int_equal(options.rails, 0);
    assert_false(options.rails_connected);
    assert_int_equal(options.threads, NUIOA_SWITCH_AUTO);
    assert_int_equal(options.deadline_ms, 2000);
    assert_string_equal(options.hints, "");
    assert_string_equal(options.trace, "");
    assert_string_equal(options.nic, "auto");
    assert_string_equal(options.nic_role, "");
    assert_string_equal(options.topology, "");
    assert_float_equal(options.remote_cost, 0.30, 0);
    assert_float_equal(options.hop_cost, 0.05, 0);
    assert_float_equal(options.load_cost, 1, 0);
    assert_false(options.export_given);
}

static void check_mode(const char *value, enum nuioa_mode mode, bool force, bool report,
                       bool explain)
{
    accept("nuioa", value);
    assert_int_equal(options.mode, mode);
    assert_int_equal(options.force, force);
    assert_int_equal(options.report, report);
    assert_int_equal(options.explain, explain);
}

TEST_WITHIN(test_switch, start, NULL)
{
    check_mode(NULL, NUIOA_ON, false, false, false);
    check_mode("export", NUIOA_EXPORT, false, false, false);
    check_mode("report", NUIOA_ON, false, true, false);
    check_mode("explain", NUIOA_ON, false, false, true);
    check_mode("force", NUIOA_ON, true, false, false);
    check_mode("on,force,report,explain", NUIOA_ON, true, true, true);
    check_mode("off,report", NUIOA_OFF, false, true, false);
    check_mode("report,export", NUIOA_EXPORT, false, true, false);
    check_mode("off", NUIOA_OFF, false, false,
               false); /* the flags that were set earlier are gone */
    accept("nuioa", "help");
    assert_true(options.help);
    assert_int_equal(options.mode, NUIOA_OFF);
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "nuioa", "on,export",
           "--nuioa: 'on,export': export and on exclude each other");
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "nuioa", "export,force",
           "--nuioa: 'export,force': force and export exclude each other");
    const char *const others[] = { "on,off", "off,force", "explain,off", "off,export", "help,off" };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        char line[64];
        snprintf(line, sizeof(line), "--nuioa: '%s': off can be combined with report only",
                 others[i]);
        refuse(NUIOA_FROM_COMMAND, -EINVAL, "nuioa", others[i], line);
    }
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "nuioa", "onn",
           "--nuioa: 'onn' is not one of off, export, on, force, report, explain, help");
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "nuioa", "on,",
           "--nuioa: '' is not one of off, export, on, force, report, explain, help");
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "nuioa", "off|export",
           "--nuioa: 'off|export' is not one of off, export, on, force, report, explain, help");
}

/* With off nothing is told, and nothing loaded, whatever else was said; a report does not change
 * that. */
TEST_WITHIN(test_off, start, NULL)
{
    assert_true(nuioa_options_idle(&options));
    accept("export", "ucx,env");
    accept("nuioa", "report,off");
    nuioa_options_finish(&options);
    assert_false(nuioa_options_idle(&options));
    assert_int_equal(options.export_set, 0);
    assert_int_equal(options.leader, NUIOA_LEADER_OFF);
    accept("nuioa", "export");
    assert_false(nuioa_options_idle(&options));
}

/* A site's default is not what a user asked for, and the last source wins. */
TEST_WITHIN(test_asked, start, NULL)
{
    assert_false(options.asked);
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "default", "on"), 0);
    assert_false(options.asked);
    assert_int_equal(set_at(NUIOA_FROM_ENVIRONMENT, "NUIOA", ""), 0);
    assert_false(options.asked);
    accept("policy", "latency");
    assert_false(options.asked);
    assert_int_equal(set_at(NUIOA_FROM_ENVIRONMENT, "NUIOA", "on"), 0);
    assert_true(options.asked);
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "default", "on"), 0);
    assert_false(options.asked);
    accept("nuioa", "report");
    assert_true(options.asked);
}

TEST_WITHIN(test_words, start, NULL)
{
    accept("policy", "latency");
    assert_int_equal(options.policy, NUIOA_POLICY_LATENCY);
    accept("cores", "share");
    assert_int_equal(options.cores, NUIOA_CORES_SHARE);
    accept("cores", "pack");
    assert_int_equal(options.cores, NUIOA_CORES_PACK);
    accept("gpus", "follow");
    assert_int_equal(options.gpus, NUIOA_GPU_FOLLOW);
    accept("gpus", "keep");
    assert_int_equal(options.gpus, NUIOA_GPU_KEEP);
    accept("gpus", "local-rank");
    assert_int_equal(options.gpus, NUIOA_GPU_LOCAL_RANK);
    accept("gpus", "local-rank:block");
    assert_int_equal(options.gpus, NUIOA_GPU_LOCAL_RANK_BLOCK);
    accept("mem", "local");
    assert_int_equal(options.mem, NUIOA_MEM_LOCAL);
    accept("mem", "off");
    assert_int_equal(options.mem, NUIOA_MEM_OFF);
    accept("leader", "rank0");
    assert_int_equal(options.leader, NUIOA_LEADER_RANK0);
    accept("threads", "on");
    assert_int_equal(options.threads, NUIOA_SWITCH_ON);
    accept("threads", "off");
    assert_int_equal(options.threads, NUIOA_SWITCH_OFF);
    accept("trace", "/tmp/p");
    assert_string_equal(options.trace, "/tmp/p");
    accept("trace", "off");
    assert_string_equal(options.trace, "");
}

TEST_WITHIN(test_doors, start, NULL)
{
    const char *rest = ": 'fast' is not one of bandwidth, latency";
    const struct {
        enum nuioa_option_source door;
        const char *where;
    } doors[] = {
        { NUIOA_FROM_PLUGSTACK, "plugstack.conf: policy" },
        { NUIOA_FROM_ENVIRONMENT, "SLURM_NUIOA_POLICY" },
        { NUIOA_FROM_COMMAND, "--nuioa-policy" },
        { NUIOA_FROM_TOOL, "--policy" },
    };
    for (size_t i = 0; i < sizeof(doors) / sizeof(*doors); i++) {
        char line[128];
        strcpy(line, doors[i].where);
        refuse(doors[i].door, -EINVAL, "policy", "fast", strcat(line, rest));
    }
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "default", "export"), 0);
    assert_int_equal(options.mode, NUIOA_EXPORT);
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "nuioa", "on"), -ENOENT);
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "default", "on"), -ENOENT);
    /* in the environment of srun, variables are often set but empty */
    assert_int_equal(set_at(NUIOA_FROM_ENVIRONMENT, "nuioa", ""), 0);
    assert_int_equal(options.mode, NUIOA_EXPORT);
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "policy", "",
           "--nuioa-policy: '' is not one of bandwidth, latency");
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "policy", NULL,
           "--nuioa-policy: a value is missing (bandwidth|latency)");
    refuse(NUIOA_FROM_PLUGSTACK, -EINVAL, "default", "on,help",
           "plugstack.conf: default: 'on,help': help is for srun --nuioa=help only");
    assert_int_equal(options.mode, NUIOA_EXPORT);
}

TEST_WITHIN(test_unknown, start, NULL)
{
    refuse(NUIOA_FROM_COMMAND, -ENOENT, "plicy", "x",
           "--nuioa-plicy: no such option; did you mean --nuioa-policy?");
    refuse(NUIOA_FROM_PLUGSTACK, -ENOENT, "defalt", "x",
           "plugstack.conf: defalt: no such option; did you mean default?");
    /* as the user wrote it */
    refuse(NUIOA_FROM_ENVIRONMENT, -ENOENT, "POLCY", "x",
           "SLURM_NUIOA_POLCY: no such option; did you mean SLURM_NUIOA_POLICY?");
    assert_int_equal(set_at(NUIOA_FROM_ENVIRONMENT, "POLICY", "latency"), 0);
    refuse(NUIOA_FROM_PLUGSTACK, -ENOENT, "POLICY", "x", "plugstack.conf: POLICY: no such option");
    refuse(NUIOA_FROM_TOOL, -ENOENT, "frobnicate", "x", "--frobnicate: no such option");
}

TEST_WITHIN(test_admin, start, NULL)
{
    refuse(NUIOA_FROM_COMMAND, -EPERM, "topology", "/x",
           "--nuioa-topology: only plugstack.conf can set this");
    refuse(NUIOA_FROM_ENVIRONMENT, -EPERM, "remote_cost", "1",
           "SLURM_NUIOA_REMOTE_COST: only plugstack.conf can set this");
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "topology", "/x"), 0);
    assert_string_equal(options.topology, "/x");
    assert_int_equal(set_at(NUIOA_FROM_TOOL, "remote-cost", "0.4"), 0);
    assert_float_equal(options.remote_cost, 0.4, 0);
    assert_int_equal(set_at(NUIOA_FROM_TOOL, "hop_cost", "1e-2"), 0);
    assert_float_equal(options.hop_cost, 0.01, 0);
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "load_cost", "0"), 0);
    assert_float_equal(options.load_cost, 0, 0);
    refuse(NUIOA_FROM_TOOL, -EINVAL, "load_cost", "1x",
           "--load-cost: '1x' is not a number from 0 to 100");
    refuse(NUIOA_FROM_COMMAND, -EPERM, "load_cost", "1",
           "--nuioa-load-cost: only plugstack.conf can set this");
    refuse(NUIOA_FROM_TOOL, -EINVAL, "hop_cost", "-1",
           "--hop-cost: '-1' is not a number from 0 to 100");
    refuse(NUIOA_FROM_TOOL, -EINVAL, "hop_cost", "100.1",
           "--hop-cost: '100.1' is not a number from 0 to 100");
    refuse(NUIOA_FROM_TOOL, -EINVAL, "hop_cost", "nan",
           "--hop-cost: 'nan' is not a number from 0 to 100");
    refuse(NUIOA_FROM_PLUGSTACK, -EINVAL, "topology", "",
           "plugstack.conf: topology: a file name is missing");
    char socket[200];
    memset(socket, 'x', sizeof(socket) - 1);
    socket[sizeof(socket) - 1] = '\0';
    refuse(NUIOA_FROM_PLUGSTACK, -EINVAL, "munge_socket", socket,
           "plugstack.conf: munge_socket: longer than 107 characters");
}

TEST_WITHIN(test_numbers, start, NULL)
{
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "deadline_ms", "60000"), 0);
    assert_int_equal(options.deadline_ms, 60000);
    static const char *const bad[] = { "0", "60001", "-5", "5s", "" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "deadline_ms", bad[i]), -EINVAL);
    assert_int_equal(options.deadline_ms, 60000);
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "deadline_ms", "60000"), -EPERM);
    assert_int_equal(set_at(NUIOA_FROM_ENVIRONMENT, "deadline_ms", "60000"), -EPERM);
}

TEST_WITHIN(test_export, start, NULL)
{
    const unsigned keys = NUIOA_EXPORT_ENV | NUIOA_EXPORT_PMIX;
    /* A site that places everybody's ranks exports nothing to other libraries. */
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "default", "on"), 0);
    nuioa_options_finish(&options);
    assert_int_equal(options.export_set, keys | NUIOA_EXPORT_LOCALITY);
    accept("nuioa", "on");
    nuioa_options_finish(&options);
    assert_int_equal(options.export_set, NUIOA_EXPORT_AUTO | keys | NUIOA_EXPORT_LOCALITY);
    accept("nuioa", "export");
    nuioa_options_finish(&options);
    assert_int_equal(options.export_set, NUIOA_EXPORT_AUTO | keys);
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "export", "auto,nccl"), 0);
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "default", "on"), 0);
    nuioa_options_finish(&options);
    assert_int_equal(options.export_set,
                     NUIOA_EXPORT_AUTO | NUIOA_EXPORT_NCCL | keys | NUIOA_EXPORT_LOCALITY);
    accept("export", "mpich,env,ucx,nvshmem");
    nuioa_options_finish(&options);
    assert_int_equal(options.export_set, NUIOA_EXPORT_ENV | NUIOA_EXPORT_UCX | NUIOA_EXPORT_MPICH |
                                             NUIOA_EXPORT_NVSHMEM);
    accept("export", "none");
    nuioa_options_finish(&options);
    assert_int_equal(options.export_set, 0);
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "export", "none,env",
           "--nuioa-export: 'none,env': none cannot be combined");
    refuse(NUIOA_FROM_COMMAND, -EINVAL, "export", "env,tcp",
           "--nuioa-export: 'tcp' is not one of auto, env, pmix, locality, ucx, ofi, nccl, psm, "
           "mpich, nvshmem, none");
}

TEST_WITHIN(test_hints, start, NULL)
{
    accept("hints", "0:10,1-7:1,rest:0");
    assert_string_equal(options.hints, "0:10,1-7:1,rest:0");
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "hints", "0:x"), -EINVAL);
    assert_int_equal(strncmp(err.text, "--nuioa-hints: ", 15), 0);
    assert_string_equal(options.hints, "0:10,1-7:1,rest:0");
    accept("hints", "@profile"); /* the file is read only when the plan is made */
    assert_string_equal(options.hints, "@profile");
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "hints", "@"), -EINVAL);
    accept("hints", "none");
    assert_string_equal(options.hints, "");
    char list[NUIOA_VALUE_MAX + 2];
    memset(list, '1', sizeof(list) - 1);
    list[sizeof(list) - 1] = '\0';
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "hints", list), -EINVAL);
    list[0] = '/'; /* a path of that length is refused too */
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "hints", list), -EINVAL);
    list[NUIOA_VALUE_MAX] = '\0';
    accept("hints", list);
}

TEST_WITHIN(test_nic, start, NULL)
{
    accept("nic", "mlx5_*,^mlx5_3");
    assert_string_equal(options.nic, "mlx5_*,^mlx5_3");
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "nic", ""), -EINVAL);
    char list[400];
    memset(list, 'a', sizeof(list) - 1);
    list[sizeof(list) - 1] = '\0';
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "nic", list), -EINVAL);
    assert_string_equal(options.nic, "mlx5_*,^mlx5_3");
}

/* Lists of the site and of the user are joined: the last item that matches counts. */
TEST_WITHIN(test_nic_role, start, NULL)
{
    assert_string_equal(options.nic_role, "");
    assert_int_equal(set_at(NUIOA_FROM_PLUGSTACK, "nic-role", "mlx5_8:storage"), 0);
    accept("nic_role", "mlx5_bf*:management,mlx5_8:compute");
    assert_string_equal(options.nic_role, "mlx5_8:storage,mlx5_bf*:management,mlx5_8:compute");
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "nic_role", "mlx5_8"), -EINVAL);
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "nic_role", "mlx5_[8]:storage"), -EINVAL);
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "nic_role", ""), -EINVAL);
    char list[600] = "a:storage";
    while (strlen(list) < sizeof(list) - 11)
        strcat(list, ",a:storage");
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "nic_role", list), -EINVAL);
    assert_string_equal(options.nic_role, "mlx5_8:storage,mlx5_bf*:management,mlx5_8:compute");
    accept("nic_role", "none");
    assert_string_equal(options.nic_role, "");
}

/* A number is kept by "connected", and the other way round: the site says the one, the user the
 * other. */
TEST_WITHIN(test_rails, start, NULL)
{
    static const char *const wrong[] = { "", "0", "65", "-1", "2x", "all", "2,3", "auto,2", "2," };
    accept("rails", "4");
    assert_int_equal(options.rails, 4);
    assert_false(options.rails_connected);
    accept("rails", "connected");
    assert_int_equal(options.rails, 4);
    assert_true(options.rails_connected);
    accept("rails", "auto");
    assert_int_equal(options.rails, 0);
    assert_true(options.rails_connected);
    accept("rails", "connected,64");
    assert_int_equal(options.rails, 64);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(set_at(NUIOA_FROM_COMMAND, "rails", wrong[i]), -EINVAL);
    assert_int_equal(options.rails, 64);
    set_at(NUIOA_FROM_COMMAND, "rails", "many");
    assert_string_equal(err.text, "--nuioa-rails: 'many' is not auto, a number of NICs from 1 to "
                                  "64, or connected");
}

TEST_WITHIN(test_hostile, start, NULL)
{
    char name[5000];
    memset(name, 'p', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, name, "x"), -ENOENT);
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "policy", name), -EINVAL);
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "nuioa", name), -EINVAL);
    assert_int_equal(set_at(NUIOA_FROM_COMMAND, "policy", "\033[31m%n"), -EINVAL);
    assert_string_equal(err.text, "--nuioa-policy: '?[31m%n' is not one of bandwidth, latency");
}

TEST_WITHIN(test_names, start, NULL)
{
    char text[64];
    const struct nuioa_option *option = nuioa_option_find(NUIOA_FROM_COMMAND, "deadline-ms");
    assert_non_null(option);
    assert_string_equal(nuioa_option_spelling(option, NUIOA_FROM_ENVIRONMENT, text, sizeof(text)),
                        "SLURM_NUIOA_DEADLINE_MS");
    assert_string_equal(nuioa_option_spelling(option, NUIOA_FROM_COMMAND, text, sizeof(text)),
                        "--nuioa-deadline-ms");
    nuioa_option_spelling(nuioa_option_table, NUIOA_FROM_ENVIRONMENT, text, sizeof(text));
    assert_string_equal(text, "SLURM_NUIOA");
    assert_null(nuioa_option_find(NUIOA_FROM_COMMAND, "deadline"));
}

/* The help was wrong about these options once. */
TEST(test_help_is_so)
{
    static const struct {
        const char *name, *said, *not_said;
    } rows[] = {
        { "mem", "off: no memory policy", "as it was" },
        { "mem", "not for ranks that span NUMA nodes, unless OMP_NUM_THREADS=1",
          "memory preferred" },
        { "mem", "nic: on its NIC's, for a rank alone spread over those of all its NICs",
          "on its NIC's, spread" },
        { "mem", "interleave: spread over those of all NICs in use", "the step's" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct nuioa_option *option = nuioa_option_find(NUIOA_FROM_COMMAND, rows[i].name);
        assert_non_null(option);
        if (!strstr(option->help, rows[i].said) || strstr(option->help, rows[i].not_said))
            fail_msg("%s: %s", rows[i].name, option->help);
    }
}

TEST_WITHIN(test_help, start, NULL)
{
    char *help = NULL, *save = NULL;
    size_t size;
    FILE *out = open_memstream(&help, &size);
    nuioa_options_help(out);
    fclose(out);
    for (const struct nuioa_option *o = nuioa_option_table; *o->name; o++)
        assert_non_null(strstr(help, o->name));
    for (char *line = strtok_r(help, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        assert_true(strlen(line) <= 100);
    free(help);
}
