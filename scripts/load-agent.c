/* Does what a JVM does with an agent, as far as that goes without a JVM: loads the library and calls its start with a JVM that has no
   JVMTI. scripts/ship-test.sh links it with musl, because no JVM for musl is at hand, and with glibc. The agent says why it cannot
   record, and the program which agent that was. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static int look(struct dl_phdr_info *library, size_t size, void *data) {
    (void)size;
    (void)data;
    const char *name = strstr(library->dlpi_name, "/ravel-agent-");
    if (name && strrchr(name, '-')) printf("loaded: %s\n", strrchr(name, '-'));
    return 0;
}

static int get_env(void *vm, void **env, int version) {
    (void)vm;
    (void)version;
    *env = 0;
    return -3;
}

int main(int count, char **words) {
    void *functions[8] = {0, 0, 0, 0, 0, 0, (void *)get_env, 0};
    void *vm = functions;
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : 0;
    if (!library) {
        fprintf(stderr, "load-agent: %s\n", count > 1 ? dlerror() : "usage: load-agent LIBRARY");
        return 1;
    }
    int (*start)(void *, char *, void *) = (int (*)(void *, char *, void *))dlsym(library, "Agent_OnLoad");
    void *native = dlsym(library, "Java_java_lang_Ravel_address");
    if (!start || !native) {
        fprintf(stderr, "load-agent: %s lacks a function\n", words[1]);
        return 1;
    }
    char options[] = "out=none.ravel";
    int code = start(&vm, options, 0);
    /* A native method goes through to the agent, which has no recording: the answer is 0. */
    long long address = ((long long (*)(void *, void *, int))native)(0, 0, 0);
    dl_iterate_phdr(look, 0);
    printf("load-agent: started with %d, address %lld\n", code, address);
    return 0;
}
