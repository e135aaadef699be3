#include "launcher.h"

#include <unistd.h>

/* Only what is typed wrong matters here. The rest is said by each srun inside, which reads it again. */
void allocator_init_post_opt(struct context *context, int argc, char **argv)
{
    struct complaints complaints;
    struct doors doors = { argc, argv, environ, &context->flags };
    launcher_read(context, &doors, &complaints);
    flags_export(&context->flags);
}
