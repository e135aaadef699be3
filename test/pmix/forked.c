/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A program for tests. Each rank forks children that ask libnuioa-client, as Python's
 * multiprocessing does: a child has no thread of PMIx. It prints "RANK CASE=SOURCE", where
 * SOURCE is an enum nuioa_client_source, the same in all threads that asked, DIFFERS, or "hangs".
 * Usage: forked */

enum { THREADS = 4, FORKS = 50, LIMIT_S = 30, DIFFERS = 8, NOT_LOADED = 9 };

struct client {
    void *(*open)(void);
    void (*close)(void *);
    int (*source)(const void *);
    const char *(*nic)(const void *);
};

static struct client client;
static pmix_proc_t self;
static atomic_bool finished;

/* Loads the library, if it is not loaded. */
static void load(void)
{
    void *library = dlopen("libnuioa-client.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        *(void **)&client.open = dlsym(library, "nuioa_client_open");
        *(void **)&client.close = dlsym(library, "nuioa_client_close");
        *(void **)&client.source = dlsym(library, "nuioa_client_source");
        *(void **)&client.nic = dlsym(library, "nuioa_client_nic");
    }
    if (!client.open || !client.close || !client.source || !client.nic) {
        fprintf(stderr, "forked: %s\n", dlerror());
        _exit(NOT_LOADED);
    }
}

/* Returns the source, or DIFFERS if it says another NIC than the plugin. */
static int ask(void)
{
    void *handle = client.open();
    int source = client.source(handle);
    const char *nic = client.nic(handle), *said = getenv("NUIOA_NIC");
    if (strcmp(nic ? nic : "", said ? said : ""))
        source = DIFFERS;
    client.close(handle);
    return source;
}

static void *ask_in_thread(void *source)
{
    *(int *)source = ask();
    return NULL;
}

/* Asks in this thread and in others at the same time, and then once more. Returns the source,
 * or DIFFERS if the answers do. */
static int ask_together(unsigned threads)
{
    pthread_t others[THREADS];
    int sources[THREADS];
    for (unsigned i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, ask_in_thread, &sources[i]);
    int source = ask();
    for (unsigned i = 1; i < threads; i++) {
        pthread_join(others[i], NULL);
        if (sources[i] != source)
            source = DIFFERS;
    }
    return ask() == source ? source : DIFFERS;
}

/* Returns the child, which ends with what ask_together returns. */
static pid_t fork_one(unsigned threads)
{
    fflush(stdout);
    pid_t child = fork();
    if (child)
        return child;
    alarm(LIMIT_S); /* ends one that hangs */
    load();
    _exit(ask_together(threads));
}

static const char *result_of(pid_t child)
{
    static char text[16];
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return "no child";
    if (!WIFEXITED(status))
        return "hangs";
    snprintf(text, sizeof(text), "%d", WEXITSTATUS(status));
    return text;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void fork_and_ask(const char *name, unsigned threads)
{
    int64_t begun = now_ms();
    const char *result = result_of(fork_one(threads));
    printf("%u %s=%s\n%u %s_ms=%d\n", self.rank, name, result, self.rank, name,
           (int)(now_ms() - begun));
}

/* --- while other threads are inside of PMIx --------------------------------------------------- */

static void *get_for_ever(void *unused)
{
    pmix_proc_t all = self;
    pmix_info_t optional;
    bool yes = true;
    all.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    while (!finished) {
        pmix_value_t *value = NULL;
        if (PMIx_Get(&all, "nuioa.version", &optional, 1, &value) == PMIX_SUCCESS)
            PMIX_VALUE_RELEASE(value);
    }
    return unused;
}

static void *open_for_ever(void *unused)
{
    while (!finished)
        ask();
    return unused;
}

/* Prints the result of each fork, and how often it was seen. */
static void fork_many(void)
{
    pthread_t get, open;
    pid_t children[FORKS];
    unsigned alike = 0;
    char first[16] = "";
    pthread_create(&get, NULL, get_for_ever, NULL);
    pthread_create(&open, NULL, open_for_ever, NULL);
    for (unsigned i = 0; i < FORKS; i++) {
        children[i] = fork_one(i % 2 ? 1 : THREADS);
        usleep(1000);
    }
    finished = true;
    pthread_join(get, NULL);
    pthread_join(open, NULL);
    for (unsigned i = 0; i < FORKS; i++) {
        const char *result = result_of(children[i]);
        if (!i)
            snprintf(first, sizeof(first), "%s", result);
        alike += !strcmp(first, result);
    }
    printf("%u many=%ux%s\n", self.rank, alike, first);
}

int main(void)
{
    pmix_status_t status = PMIx_Init(&self, NULL, 0);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "forked: PMIx_Init: %d\n", status);
        return 1;
    }
    fork_and_ask("loaded_after", 1);
    fork_and_ask("loaded_after_4", THREADS);
    load();
    printf("%u rank=%d\n", self.rank, ask());
    fork_and_ask("loaded_before", 1);
    fork_and_ask("loaded_before_4", THREADS);
    fork_many();
    printf("%u rank_then=%d\n", self.rank, ask());
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return 0;
}
