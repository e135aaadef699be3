/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/number.h"
#include "util/word.h"

/* The word and how many numbers follow it. */
static const struct {
    const char *word;
    unsigned numbers;
} kinds[PROBE_MESSAGES] = {
    [PROBE_HELLO] = { "hello", 3 },     [PROBE_NUMA] = { "numa", 1 },
    [PROBE_NIC] = { "nic", 2 },         [PROBE_READY] = { "ready", 0 },
    [PROBE_SERVE] = { "serve", 1 },     [PROBE_LISTENS] = { "listens", 1 },
    [PROBE_CANNOT] = { "cannot", 0 },   [PROBE_STOP] = { "stop", 0 },
    [PROBE_STOPPED] = { "stopped", 0 }, [PROBE_TURN] = { "turn", 0 },
    [PROBE_BYE] = { "bye", 0 },
};

int probe_message_parse(char *line, struct probe_message *message)
{
    char *rest = line, *word = nuioa_next_word(&rest, " ");
    int kind = 0;
    while (kind < PROBE_MESSAGES && (!word || strcmp(word, kinds[kind].word)))
        kind++;
    if (kind == PROBE_MESSAGES)
        return -EINVAL;
    *message = (struct probe_message){ .kind = (enum probe_message_kind)kind };
    for (unsigned i = 0; i < kinds[kind].numbers; i++) {
        word = nuioa_next_word(&rest, " ");
        if (!word || nuioa_parse_u32(word, UINT32_MAX, &message->numbers[i]))
            return -EINVAL;
    }
    rest += rest ? strspn(rest, " ") : 0;
    struct nuioa_error text; /* it is printed later, so what cannot be printed is replaced */
    nuioa_fail(&text, 0, "%s", rest ? rest : "");
    nuioa_copy(message->text, sizeof(message->text), text.text);
    return 0;
}

size_t probe_message_print(const struct probe_message *message, char *line)
{
    char numbers[40] = "";
    for (unsigned i = 0; i < kinds[message->kind].numbers; i++)
        snprintf(numbers + strlen(numbers), sizeof(numbers) - strlen(numbers), " %u",
                 message->numbers[i]);
    int length = snprintf(line, PROBE_MESSAGE_BYTES, "%s%s%s%s\n", kinds[message->kind].word,
                          numbers, *message->text ? " " : "", message->text);
    return (size_t)length;
}
