/* SPDX-License-Identifier: BSD-3-Clause */

/* The file by which a step tells others which NICs it uses. If the first byte is odd, the magic
 * number and the identification of the boot are made right, so that the numbers behind them are
 * read; the other bytes are the file. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "steps/step_load.h"
#include "util/sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nuioa_step_load load;
    if (!size)
        return 0;
    struct input input = { data, size };
    bool right = input_byte(&input) & 1;
    char *file = (char *)input_copy(&input);
    if (right && input.size >= 48) {
        char boot_id[40] = "";
        nuioa_sysfs_text(AT_FDCWD, boot_id, sizeof(boot_id), "/proc/sys/kernel/random/boot_id");
        memcpy(file, "nuioaSTL", 8);
        memset(file + 8, 0, sizeof(boot_id));
        memcpy(file + 8, boot_id, strlen(boot_id));
    }
    if (!nuioa_step_load_decode(file, input.size, &load)) {
        INPUT_CHECK(load.nic_count <= NUIOA_STEP_LOAD_NICS);
        for (uint32_t i = 0; i < load.nic_count; i++) {
            INPUT_CHECK(strlen(load.nics[i].nic) < sizeof(load.nics[i].nic));
            INPUT_CHECK(load.nics[i].ranks >= 0 && load.nics[i].ranks <= 1e6);
        }
    }
    free(file);
    return 0;
}
