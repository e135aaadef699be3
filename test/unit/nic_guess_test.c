/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_case.h"
#include "topology/nic_guess.h"
#include "topology/nic_role.h"
#include "unit.h"

#define IB NUIOA_NIC_INFINIBAND
#define ROCE NUIOA_NIC_ROCE
#define ETH NUIOA_NIC_ETHERNET
#define BF NUIOA_HINT_BLUEFIELD

/* A NIC. Letters in `near` are its paths to the GPUs: p one switch, h one host bridge, n one NUMA
 * node, s another one. */
struct port {
    enum nuioa_nic_kind kind;
    uint32_t gbps;
    const char *near;
    uint32_t hints;
};

/* Letters of NICs: a is the first, and so on. */
static const struct {
    const char *what;
    struct port ports[6];
    const char *usable, *storage, *management;
    bool guessed; /* nic=auto leaves others without the guess, or has doubted ones */
} cases[] = {
    { "four HDR beside GPUs, a faster front end",
      { { IB, 400, "ssss", 0 },
        { IB, 200, "psss", 0 },
        { IB, 200, "spss", 0 },
        { IB, 200, "ssps", 0 },
        { IB, 200, "sssp", 0 } },
      "bcde",
      "a",
      "",
      true },
    { "... of RoCE, as Ethernet",
      { { ETH, 400, "ssss", 0 },
        { IB, 200, "psss", 0 },
        { IB, 200, "spss", 0 },
        { IB, 200, "ssps", 0 },
        { IB, 200, "sssp", 0 } },
      "bcde",
      "",
      "a",
      true },
    { "two beside two GPUs each, and a faster front end",
      { { IB, 400, "ssss", 0 }, { IB, 200, "ppss", 0 }, { IB, 200, "sspp", 0 } },
      "bc",
      "a",
      "",
      true },
    { "too slow in sum: the fastest, as ever",
      { { IB, 400, "ssss", 0 }, { IB, 100, "ppss", 0 }, { IB, 100, "sspp", 0 } },
      "a",
      "",
      "",
      false },
    { "a slow port beside the GPUs is no fabric for them",
      { { ROCE, 25, "hhss", 0 }, { ROCE, 25, "sshh", 0 }, { IB, 200, "nnss", 0 } },
      "c",
      "",
      "",
      false },
    { "storage of one kind and rate with the others: a rail, but doubted",
      { { ROCE, 400, "nnss", 0 },
        { ROCE, 400, "psss", 0 },
        { ROCE, 400, "spss", 0 },
        { ROCE, 400, "ssps", 0 },
        { ROCE, 400, "sssp", 0 } },
      "abcde",
      "a",
      "",
      false }, /* each GPU has a nearer one */
    { "storage that is slower",
      { { IB, 100, "nnss", 0 },
        { IB, 400, "psss", 0 },
        { IB, 400, "spss", 0 },
        { IB, 400, "ssps", 0 },
        { IB, 400, "sssp", 0 } },
      "bcde",
      "a",
      "",
      false },
    { "BlueFields, nothing near: by what they are",
      { { ROCE, 400, "nnss", BF },
        { ROCE, 400, "nnss", 0 },
        { ROCE, 400, "nnss", 0 },
        { ROCE, 400, "ssnn", BF },
        { ROCE, 400, "ssnn", 0 },
        { ROCE, 400, "ssnn", 0 } },
      "abcdef",
      "",
      "ad",
      true },
    { "faster BlueFields",
      { { IB, 400, "nnss", BF },
        { ROCE, 200, "nnss", 0 },
        { ROCE, 200, "nnss", 0 },
        { ROCE, 200, "ssnn", 0 },
        { ROCE, 200, "ssnn", 0 } },
      "bcde",
      "",
      "a",
      true },
    { "a BlueField, and fewer others than GPUs: it may be for both",
      { { IB, 200, "nnnn", BF },
        { IB, 200, "nnnn", 0 },
        { IB, 200, "nnnn", 0 },
        { IB, 200, "nnnn", 0 } },
      "abcd",
      "",
      "",
      false },
    { "BlueFields are all there is: they are the NICs of the GPUs",
      { { ROCE, 400, "psss", BF },
        { ROCE, 400, "spss", BF },
        { ROCE, 400, "ssps", BF },
        { ROCE, 400, "sssp", BF } },
      "abcd",
      "",
      "",
      false },
    { "an unlike rate, nothing near",
      { { IB, 400, "nnnn", 0 },
        { IB, 200, "nnnn", 0 },
        { IB, 200, "nnnn", 0 },
        { IB, 200, "nnnn", 0 },
        { IB, 200, "nnnn", 0 } },
      "bcde",
      "a",
      "",
      true },
    { "two rates, and neither is that of as many as GPUs",
      { { IB, 400, "nnnn", 0 }, { IB, 200, "nnnn", 0 }, { IB, 200, "nnnn", 0 } },
      "a",
      "",
      "",
      false },
    { "some GPU has no NIC beside it: nobody is doubted",
      { { IB, 200, "nnss", 0 }, { IB, 200, "psss", 0 }, { IB, 200, "spss", 0 } },
      "abc",
      "",
      "",
      false },
};

static enum nuioa_path path_of(char letter)
{
    return letter == 'p'   ? NUIOA_PATH_PIX
           : letter == 'h' ? NUIOA_PATH_PHB
           : letter == 'n' ? NUIOA_PATH_NODE
                           : NUIOA_PATH_SYS;
}

/* Two NUMA nodes with two GPUs each. */
static struct nuioa_node *build(struct nuioa_node *node, const struct port *ports)
{
    machine_plain(node, 2, 4);
    for (unsigned i = 0; i < 6 && ports[i].near; i++) {
        char name[2] = { (char)('a' + i), '\0' };
        struct nuioa_nic *nic = machine_nic(node, name, strpbrk(ports[i].near + 2, "pn") != NULL);
        nic->kind = ports[i].kind;
        nic->port = ports[i].kind != ETH;
        nic->rate_mbps = ports[i].gbps * 1000;
        nic->hints = ports[i].hints;
        if (nic->kind != IB)
            nic->fabric[0] = '\0';
    }
    for (unsigned g = 0; g < 4; g++)
        machine_gpu(node, g / 2);
    for (unsigned i = 0; i < node->nic_count; i++)
        for (unsigned g = 0; g < 4; g++)
            machine_path(node, g, i, path_of(ports[i].near[g]));
    return node;
}

TEST(test_guesses)
{
    for (size_t t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        bool taken[6];
        char usable[8] = "", storage[8] = "", management[8] = "";
        struct nuioa_node *node = build(machine_new(), cases[t].ports);
        nuioa_nic_judge(node);
        for (uint32_t i = 0; i < node->nic_count; i++) {
            const struct nuioa_nic *nic = &node->nics[i];
            strcat(usable, nic->usable ? nic->name : "");
            strcat(storage, nic->role == NUIOA_ROLE_STORAGE ? nic->name : "");
            strcat(management, nic->role == NUIOA_ROLE_MANAGEMENT ? nic->name : "");
            assert_true((nic->role_source == NUIOA_ROLE_BY_GUESS) == !!nic->doubts);
            assert_true(!*nuioa_nic_doubt_text(nic) == !nic->doubts);
        }
        nuioa_nic_select(node, "auto", NUIOA_POLICY_BANDWIDTH, taken, NULL, NULL);
        bool guessed = nuioa_nic_is_guessed(node, "auto", NUIOA_POLICY_BANDWIDTH, taken);
        if (strcmp(usable, cases[t].usable) != 0 || strcmp(storage, cases[t].storage) != 0 ||
            strcmp(management, cases[t].management) != 0 || guessed != cases[t].guessed)
            print_error("%s: usable %s, storage %s, management %s, guessed %d\n", cases[t].what,
                        usable, storage, management, guessed);
        assert_string_equal(usable, cases[t].usable);
        assert_string_equal(storage, cases[t].storage);
        assert_string_equal(management, cases[t].management);
        assert_int_equal(guessed, cases[t].guessed);
    }
}

/* Each doubt is told with its reason. */
TEST(test_texts)
{
    static const struct {
        unsigned at;
        const char *text;
    } doubts[] = {
        { 7, "it is a BlueField, and there are other NICs for all GPUs" },
        { 6, "it is beside no GPU, and each GPU has another NIC beside it" },
        { 11, "its rate differs from that of the NICs for the GPUs" },
    };
    for (size_t i = 0; i < sizeof(doubts) / sizeof(*doubts); i++) {
        struct nuioa_node *node = build(machine_new(), cases[doubts[i].at].ports);
        nuioa_nic_judge(node);
        assert_string_equal(nuioa_nic_doubt_text(&node->nics[0]), doubts[i].text);
    }
}

/* A port that is down, or a virtual function, is neither chosen nor beside a GPU; the others
 * stay the NICs of all GPUs. */
TEST(test_down)
{
    struct nuioa_node *node = build(machine_new(), cases[0].ports);
    node->nics[1].state = NUIOA_NIC_DOWN;
    node->nics[2].is_virtual = true;
    node->nics[2].rate_mbps = 0;
    node->nics[0].rate_mbps = 200000 * 2;
    nuioa_nic_judge(node);
    assert_false(node->nics[0].usable || node->nics[1].usable || node->nics[2].usable);
    assert_true(node->nics[3].usable && node->nics[4].usable);
    assert_int_equal(node->nics[0].role, NUIOA_ROLE_UNKNOWN); /* two GPUs may need it */
    assert_string_equal(node->nics[0].why, "farther from the GPUs than d:1");
}

/* The site's word takes the place of the guess. */
TEST(test_said)
{
    struct nuioa_node *node = build(machine_new(), cases[0].ports);
    nuioa_nic_roles_set(node, "a:compute");
    assert_int_equal(node->nics[0].role, NUIOA_ROLE_COMPUTE);
    assert_int_equal(node->nics[0].doubts, 0);
    assert_true(node->nics[1].usable); /* the GPUs decide all the same */
    nuioa_nic_roles_set(node, "a:storage");
    bool taken[6];
    nuioa_nic_select(node, "auto", NUIOA_POLICY_BANDWIDTH, taken, NULL, NULL);
    assert_false(nuioa_nic_is_guessed(node, "auto", NUIOA_POLICY_BANDWIDTH, taken));
}

/* Without GPUs nothing is guessed. */
TEST(test_without_gpus)
{
    struct nuioa_node *node = build(machine_new(), cases[8].ports);
    uint32_t gpus = node->gpu_count;
    node->gpu_count = 0;
    nuioa_nic_judge(node);
    assert_int_equal(node->nics[0].role, NUIOA_ROLE_UNKNOWN);
    node->gpu_count = gpus; /* to be freed */
}

/* A rank without GPUs on NUMA node 0 has a doubted NIC beside it and others as near: it gets one of
 * these, and the doubted one is nobody's second. With the nearest all doubted it gets that. */
TEST(test_ranks)
{
    struct plan_case *s = plan_case_new();
    build(&s->node, cases[5].ports);
    nuioa_nic_judge(&s->node);
    plan_case_on(s, 4, 2);
    plan_case_make(s);
    assert_true(s->plan.usable.doubted && !s->plan.usable.guessed);
    assert_string_equal(plan_case_all_nics(s), "1;2;3;4");
    plan_case_option(s, "nic", "a");
    plan_case_make(s);
    assert_string_equal(plan_case_nics(s), "0,0,0,0");
}
