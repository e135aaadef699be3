/* SPDX-License-Identifier: BSD-3-Clause */

/* Lines of what the other task of nuioa probe --nic --at-least says. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "tools/probe/message.h"

/* What was read and is said again is the same. */
static void check(const struct probe_message *message)
{
    char line[PROBE_MESSAGE_BYTES];
    struct probe_message again;
    INPUT_CHECK(message->kind < PROBE_MESSAGES);
    size_t length = probe_message_print(message, line);
    INPUT_CHECK(length < sizeof(line) && strlen(line) == length && line[length - 1] == '\n');
    INPUT_CHECK(!memchr(line, '\n', length - 1));
    line[length - 1] = '\0';
    INPUT_CHECK(!probe_message_parse(line, &again) && again.kind == message->kind);
    INPUT_CHECK(!memcmp(again.numbers, message->numbers, sizeof(again.numbers)));
    INPUT_CHECK(!strcmp(again.text, message->text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    while (input.size) {
        struct probe_message message;
        char *line = input_line(&input);
        if (line && !probe_message_parse(line, &message))
            check(&message);
        free(line);
    }
    return 0;
}
