/* SPDX-License-Identifier: BSD-3-Clause */

/* libnuioa-preload.so is in LD_PRELOAD of every rank and of all programs that the rank starts, so
 * it links no MPI library. It exports the names of the MPI functions as jumps through a table. At
 * first, and if no trace is wanted, the jumps lead to the MPI library. MPI_Init shows which MPI
 * library this is. Then the jumps lead to the build of libnuioa-trace for it, which is in the same
 * directory as this file.
 *
 * The jumps are in assembly because they must not change the arguments: MPI_Comm is an int in one
 * MPI library and a pointer in the other. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "mpi/known.h"

/* The names of a function: in C, in Fortran for mpif.h and "use mpi", and for "use mpi_f08". */
#define OWN(c, fortran) \
    SYMBOL("MPI_" #c) SYMBOL("mpi_" #fortran "_") SYMBOL("mpi_" #fortran "_f08_")
#define ONE_FORM(c, fortran, parameters, arguments, event) OWN(c, fortran)
#define CALL(c, fortran, parameters, arguments, event) OWN(c, fortran) SYMBOL("MPI_" #c "_c")
#define TRACE_MPI_4 1

#define SYMBOL(name) name,
static const char *const names[] = {
#include "mpi/calls.h"
};
#undef SYMBOL
enum { NAME_COUNT = sizeof(names) / sizeof(*names) };

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void *nuioa_preload_table[NAME_COUNT];
HIDDEN void *nuioa_preload_resolve(unsigned index);

#if defined(__x86_64__)
/* If the function is not resolved yet, the six argument registers and rax are saved meanwhile. */
__asm__(".text\n"
        "nuioa_preload_first:\n"
        "  push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n push %rax\n"
        "  mov %r11d, %edi\n"
        "  call nuioa_preload_resolve\n"
        "  mov %rax, %r11\n"
        "  pop %rax\n pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n"
        "  jmp *%r11\n"
        "  .set nuioa_preload_index, 0\n");
#define SYMBOL(name) \
    __asm__(".globl " name "\n.type " name ", @function\n" name ":\n" \
            "  endbr64\n" \
            "  mov nuioa_preload_table+8*nuioa_preload_index(%rip), %r11\n" \
            "  test %r11, %r11\n  jz 1f\n  jmp *%r11\n" \
            "1: mov $nuioa_preload_index, %r11d\n  jmp nuioa_preload_first\n" \
            "  .set nuioa_preload_index, nuioa_preload_index+1\n" \
            ".size " name ", .-" name "\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        "nuioa_preload_first:\n"
        "  stp x29, x30, [sp, #-80]!\n  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n"
        "  stp x4, x5, [sp, #48]\n  stp x6, x7, [sp, #64]\n"
        "  mov w0, w16\n  bl nuioa_preload_resolve\n  mov x16, x0\n"
        "  ldp x0, x1, [sp, #16]\n  ldp x2, x3, [sp, #32]\n  ldp x4, x5, [sp, #48]\n"
        "  ldp x6, x7, [sp, #64]\n  ldp x29, x30, [sp], #80\n  br x16\n"
        "  .set nuioa_preload_index, 0\n");
#define SYMBOL(name) \
    __asm__(".globl " name "\n.type " name ", %function\n" name ":\n" \
            "  bti c\n" \
            "  adrp x17, nuioa_preload_table+8*nuioa_preload_index\n" \
            "  add x17, x17, :lo12:nuioa_preload_table+8*nuioa_preload_index\n" \
            "  ldr x16, [x17]\n  cbz x16, 1f\n  br x16\n" \
            "1: mov w16, #nuioa_preload_index\n  b nuioa_preload_first\n" \
            "  .set nuioa_preload_index, nuioa_preload_index+1\n" \
            ".size " name ", .-" name "\n");
#else
#error "no jumps for this processor"
#endif
#include "mpi/calls.h"

static bool starts_mpi(const char *name)
{
    return !strncasecmp(name, "MPI_Init", strlen("MPI_Init"));
}

static bool first_rank(void)
{
    const char *rank = getenv("SLURM_PROCID");
    return !rank || !strcmp(rank, "0");
}

static bool trace_is_wanted(void)
{
    const char *file = getenv("NUIOA_TRACE_FILE");
    return file && *file;
}

/* Says on the first rank, in one line on stderr, why no trace is recorded. */
static void print_loss(const char *what, const char *detail)
{
    if (first_rank())
        fprintf(stderr, "nuioa: trace: not recorded: %s%s\n", what, detail);
}

/* --- the MPI library ------------------------------------------------------------------------- */

/* How the name of the library of MPI 5's standard ABI begins, which is prescribed (MPI 5.0,
 * 21.2.1); Debian's files have the name of the MPI library behind it. */
static const char standard_abi[] = "libmpi_abi";

/* How the names of the files begin in which MPI libraries have C, the standard ABI and Fortran. */
static const char *const files[] = { "libmpi.so", "libmpi_", "libmpich.so", "libmpifort.so",
                                     "libmpichfort.so" };

struct search {
    unsigned skip; /* so many of these files come before the one that is wanted */
    const char *path;
};

static int is_mpi(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    const char *name = strrchr(info->dlpi_name, '/');
    (void)size;
    for (unsigned i = 0; name && i < sizeof(files) / sizeof(*files); i++)
        if (!strncmp(name + 1, files[i], strlen(files[i])) && !search->skip--) {
            search->path = info->dlpi_name;
            return 1;
        }
    return 0;
}

/* Finds the next function of this name: that of a tool, or the MPI library's. What the program
 * links comes after this file in the search order. An MPI library that an interpreter has loaded
 * for a module is not in the search order, so it is searched for among all loaded files. A module
 * in Fortran has loaded several. */
static void *find(const char *name)
{
    void *real = dlsym(RTLD_NEXT, name);
    struct search search = { 0, NULL };
    for (unsigned i = 0; !real && dl_iterate_phdr(is_mpi, &search); search.skip = ++i) {
        void *library = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
        real = library ? dlsym(library, name) : NULL;
    }
    return real;
}

/* Open MPI and MPICH say the same version with MPI 5's standard ABI as with their own, but its
 * handles and constants have other values, and our libraries are built with those of the own ABI.
 * The ABI is that of the library which has a function that takes a handle, under the name that no
 * tool replaces. */
static bool is_standard_abi(void)
{
    Dl_info info;
    void *call = find("PMPI_Comm_rank");
    if (!call || !dladdr(call, &info) || !info.dli_fname)
        return false;
    const char *name = strrchr(info.dli_fname, '/');
    name = name ? name + 1 : info.dli_fname;
    return !strncmp(name, standard_abi, strlen(standard_abi));
}

/* Returns "openmpi", "mpich", the name of the standard ABI's library, or NULL. MPI allows this
 * question before MPI_Init. */
static const char *which(void)
{
    char text[16384] = ""; /* MPICH needs 8192 at most, Open MPI 256 */
    int length = 0;
    int (*version)(char *, int *);
    if (is_standard_abi())
        return standard_abi;
    void *found = find("PMPI_Get_library_version");
    if (!found)
        return NULL;
    memcpy(&version, &found, sizeof(version));
    version(text, &length);
    if (!strncmp(text, "Open MPI v", 10))
        return "openmpi";
    return strncmp(text, "MPICH Version:", 14) ? NULL : "mpich";
}

/* --- tools in front -------------------------------------------------------------------------- */

/* Returns the file that defines a function and comes before this file in the search order, as a
 * tool does that is preloaded, or linked statically. Such a tool calls PMPI functions, which do not
 * come here. NULL: there is none. A program that uses the function's address has an undefined
 * symbol with a value, which leads here. */
static const char *in_front(const char *name)
{
    Dl_info first, ours;
    void *symbol = NULL, *call = dlsym(RTLD_DEFAULT, name);
    if (!call || !dladdr(&nuioa_preload_table, &ours) ||
        !dladdr1(call, &first, &symbol, RTLD_DL_SYMENT) || first.dli_fbase == ours.dli_fbase ||
        !symbol || ((const ElfW(Sym) *)symbol)->st_shndx == SHN_UNDEF)
        return NULL;
    return first.dli_fname;
}

static bool started; /* the program has called MPI_Init, or the like */

/* Says which file is in front, and what the trace loses by it. One that has MPI_Init, and calls it
 * here, calls the others here too. */
static void say_in_front(const char *loss)
{
    unsigned i = 0;
    while (i < NAME_COUNT && !in_front(names[i]))
        i++;
    if (i < NAME_COUNT && starts_mpi(names[i]) != started && first_rank())
        fprintf(stderr,
                "nuioa: trace: %s: %s takes %s before nuioa. Link this tool to the program, as a "
                "shared library\n",
                loss, in_front(names[i]), names[i]);
}

/* --- the library of ours --------------------------------------------------------------------- */

/* Makes the path of our library in the directory of this file. No variable of the user can change
 * it. */
static int library_path(const char *build, char *path, size_t size)
{
    Dl_info info;
    if (!dladdr(&nuioa_preload_table, &info) || !info.dli_fname)
        return -ENOENT;
    const char *end = strrchr(info.dli_fname, '/');
    int n = end ? snprintf(path, size, "%.*s/libnuioa-trace-%s.so", (int)(end - info.dli_fname),
                           info.dli_fname, build)
                : -1;
    return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

static void open_library(void)
{
    char path[4096];
    bool wanted = trace_is_wanted();
    const char *build = wanted || getenv("NUIOA_COMPARE_SET") ? which() : NULL;
    if (build && build != standard_abi && first_rank())
        known_say(build, find);
    if (!wanted)
        return;
    if (!build) {
        print_loss("neither Open MPI nor MPICH", "");
        return;
    }
    if (build == standard_abi) {
        print_loss("the program uses the standard ABI of MPI 5, ",
                   "libmpi_abi; compile it with mpicc, for the MPI library's own ABI");
        return;
    }
    void *handle = library_path(build, path, sizeof(path)) ? NULL : dlopen(path, RTLD_NOW);
    if (!handle) {
        print_loss("nothing for this MPI: ", build);
        return;
    }
    void *(**finder)(const char *) = dlsym(handle, "nuioa_trace_find");
    if (finder) {
        *finder = find;
        say_in_front("calls may be missing");
    }
    for (unsigned i = 0; i < NAME_COUNT; i++) {
        void *call = dlsym(handle, names[i]);
        Dl_info info;
        /* dlsym also finds names of other libraries that this one links. These are not used. */
        if (call && dladdr(call, &info) && info.dli_fname && !strcmp(info.dli_fname, path))
            __atomic_store_n(&nuioa_preload_table[i], call, __ATOMIC_RELEASE);
    }
}

static void __attribute__((noreturn)) no_such_call(const char *name)
{
    fprintf(stderr, "nuioa: preload: %s: no MPI library has it\n", name);
    abort();
}

void *nuioa_preload_resolve(unsigned index)
{
    if (starts_mpi(names[index]) && !__atomic_exchange_n(&started, true, __ATOMIC_ACQ_REL))
        open_library();
    void *call = __atomic_load_n(&nuioa_preload_table[index], __ATOMIC_ACQUIRE);
    if (!call) {
        call = find(names[index]);
        if (!call)
            no_such_call(names[index]);
        __atomic_store_n(&nuioa_preload_table[index], call, __ATOMIC_RELEASE);
    }
    return call;
}

/* --- programs that start containers ---------------------------------------------------------- */

/* A container does not have this file at its path, so the loader would print an error for each
 * program in it. Therefore these programs remove it from LD_PRELOAD. Shells and interpreters do
 * not, because the programs that they run may be MPI programs. */
static const char *const containers[] = { "singularity", "apptainer",    "starter", "starter-suid",
                                          "podman",      "docker",       "shifter", "enroot",
                                          "ch-run",      "charliecloud", "sarus",   "bwrap",
                                          NULL };

static void leave_preload(void)
{
    const char *list = getenv("LD_PRELOAD");
    char *rest = list ? strdup(list) : NULL;
    char *ours = rest ? strstr(rest, "libnuioa-preload.so") : NULL;
    if (ours) {
        char *end = ours + strlen("libnuioa-preload.so"), *begin = ours;
        while (begin > rest && begin[-1] != ':' && begin[-1] != ' ')
            begin--;
        if (begin > rest)
            begin--; /* the separator before it too */
        else if (*end)
            end++;
        memmove(begin, end, strlen(end) + 1);
        if (*rest)
            setenv("LD_PRELOAD", rest, 1);
        else
            unsetenv("LD_PRELOAD");
    }
    free(rest);
}

/* --- the end --------------------------------------------------------------------------------- */

static pid_t loaded_by; /* a forked child has another pid, and prints nothing */

/* Says at the end of a program of MPI that there is no profile, because the calls that start MPI
 * did not come here. */
static void __attribute__((destructor)) end(void)
{
    int (*initialized)(int *), flag = 0;
    if (started || !trace_is_wanted() || getpid() != loaded_by)
        return;
    void *found = find("PMPI_Initialized");
    memcpy(&initialized, &found, sizeof(found));
    if (found)
        initialized(&flag);
    if (flag)
        say_in_front("not recorded");
}

static void __attribute__((constructor)) begin(void)
{
    loaded_by = getpid();
    for (const char *const *name = containers; *name; name++) {
        if (strcmp(program_invocation_short_name, *name))
            continue;
        if (trace_is_wanted())
            print_loss("it cannot look into a container, started by ", *name);
        leave_preload();
        return;
    }
}
