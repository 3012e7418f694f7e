/*
 * The plan of faults, in a file that the processes of a server and its test share, and the functions of the C library that work on
 * files. The standard library calls these, and rustix with its feature use-libc.
 */
#define _GNU_SOURCE
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* crawlpike_tests::faults has the same. */
struct faults_plan {
    _Atomic uint64_t kinds;
    _Atomic uint64_t at;
    _Atomic uint64_t calls;
    char failed[64];
};

static struct faults_plan *plan;

/* A server may clear its environment later. Its other processes inherit what is mapped. */
__attribute__((constructor)) static void faults_start(void) {
    const char *path = getenv("CRAWLPIKE_FAULTS");
    int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    void *mapped;

    if (file == -1) {
        return;
    }
    mapped = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) {
        plan = mapped;
    }
}

int faults_due(int kind, const char *name) {
    if (plan == NULL || (atomic_load(&plan->kinds) & (uint64_t) kind) == 0) {
        return 0;
    }
    if (atomic_fetch_add(&plan->calls, 1) + 1 != atomic_load(&plan->at)) {
        return 0;
    }
    strncpy(plan->failed, name, sizeof(plan->failed) - 1);
    errno = kind == FAULTS_MEMORY ? ENOMEM : EIO;
    return 1;
}

#define CALLS(type, name, failure, parameters, arguments) \
    FALLIBLE(FAULTS_HOST, type, name, failure, parameters, arguments)
#define FILES(type, name, failure, parameters, arguments) \
    FALLIBLE(FAULTS_FILE, type, name, failure, parameters, arguments)

FILES(int, open, -1, (const char *path, int flags, mode_t mode), (path, flags, mode))
FILES(int, open64, -1, (const char *path, int flags, mode_t mode), (path, flags, mode))
FILES(int, openat, -1, (int folder, const char *path, int flags, mode_t mode), (folder, path, flags, mode))
FILES(int, openat64, -1, (int folder, const char *path, int flags, mode_t mode), (folder, path, flags, mode))
FILES(ssize_t, pread64, -1, (int file, void *bytes, size_t size, int64_t at), (file, bytes, size, at))
FILES(int64_t, lseek64, -1, (int file, int64_t offset, int from), (file, offset, from))
FILES(int, fsync, -1, (int file), (file))
FILES(int, fdatasync, -1, (int file), (file))
FILES(int, ftruncate64, -1, (int file, int64_t size), (file, size))
FILES(int, fstat64, -1, (int file, void *found), (file, found))

/* By an eventfd, one thread wakes another. The kernel has no failure for that, and a runtime relies on it. */
static int wakes(int file) {
    struct stat64 found;

    return __real_fstat64(file, &found) == 0 && (found.st_mode & S_IFMT) == 0;
}

#define STREAMS(type, name, failure, parameters, arguments) \
    FALLIBLE(wakes(file) ? 0 : FAULTS_FILE, type, name, failure, parameters, arguments)

STREAMS(ssize_t, read, -1, (int file, void *bytes, size_t size), (file, bytes, size))
STREAMS(ssize_t, write, -1, (int file, const void *bytes, size_t size), (file, bytes, size))

FILES(int, stat64, -1, (const char *path, void *found), (path, found))
FILES(int, lstat64, -1, (const char *path, void *found), (path, found))
FILES(int, fstatat64, -1, (int folder, const char *path, void *found, int flags), (folder, path, found, flags))
FILES(int, statx, -1, (int folder, const char *path, int flags, unsigned mask, void *found), (folder, path, flags, mask, found))
FILES(int, fchmod, -1, (int file, mode_t mode), (file, mode))
FILES(int, fchown, -1, (int file, uid_t user, gid_t group), (file, user, group))
FILES(int, flock, -1, (int file, int operation), (file, operation))
FILES(ssize_t, getxattr, -1, (const char *path, const char *name, void *value, size_t size), (path, name, value, size))
FILES(int, mkdir, -1, (const char *path, mode_t mode), (path, mode))
FILES(int, rename, -1, (const char *from, const char *to), (from, to))
FILES(int, unlink, -1, (const char *path), (path))
FILES(char *, realpath, NULL, (const char *path, char *found), (path, found))
FILES(ssize_t, readlink, -1, (const char *path, char *found, size_t size), (path, found, size))
FILES(ssize_t, readlinkat, -1, (int folder, const char *path, char *found, size_t size), (folder, path, found, size))
FILES(DIR *, opendir, NULL, (const char *path), (path))
FILES(void *, readdir64, NULL, (DIR *folder), (folder))

CALLS(int, pthread_create, EAGAIN, (pthread_t *thread, const pthread_attr_t *with, void *(*run)(void *), void *data), (thread, with, run, data))
