/*
 * Functions that fail on demand, in builds with the feature faults-for-tests. The linker's --wrap puts each FALLIBLE function in
 * the place of the one that it names; build.rs takes the names from these lines.
 */
#ifndef CRAWLPIKE_FAULTS_H
#define CRAWLPIKE_FAULTS_H

enum faults_kind { FAULTS_MEMORY = 1, FAULTS_FILE = 2, FAULTS_HOST = 4, FAULTS_PANIC = 8 };

/* Counts a call, and returns 1 if this is the one that has to fail. */
int faults_due(int kind, const char *name);

#define FALLIBLE(kind, type, name, failure, parameters, arguments)                                   \
    type __real_##name parameters;                                                                   \
    type __wrap_##name parameters;                                                                   \
    type __wrap_##name parameters {                                                                  \
        return faults_due(kind, #name) ? (failure) : __real_##name arguments;                        \
    }

#endif
