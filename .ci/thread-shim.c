// ThreadSanitizer knows POSIX threads and mutexes, but not those of C11 (threads.h), which librdkafka uses. A thread that it has not
// seen begin brings it down, and a lock that it has not seen makes races of what is none. Loaded before the tests (LD_PRELOAD), these
// do C11's work with POSIX's calls. In glibc both have the same types underneath (sysdeps/nptl/bits/thread-shared-types.h).

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a C11 mutex is a POSIX mutex");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "a C11 condition is a POSIX condition");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "a C11 thread is a POSIX thread");

static int result(int error) {
    switch (error) {
    case 0: return thrd_success;
    case ENOMEM: return thrd_nomem;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    default: return thrd_error;
    }
}

struct start {
    thrd_start_t run;
    void *argument;
};

static void *begin(void *given) {
    struct start start = *(struct start *)given;
    free(given);
    return (void *)(intptr_t)start.run(start.argument);
}

int thrd_create(thrd_t *thread, thrd_start_t run, void *argument) {
    struct start *start = malloc(sizeof *start);
    if (!start) return thrd_nomem;
    *start = (struct start){run, argument};
    int error = pthread_create(thread, NULL, begin, start);
    if (error) free(start);
    return error == EAGAIN ? thrd_nomem : result(error);
}

int thrd_join(thrd_t thread, int *code) {
    void *value = NULL;
    int error = pthread_join(thread, &value);
    if (!error && code) *code = (int)(intptr_t)value;
    return result(error);
}

int thrd_detach(thrd_t thread) { return result(pthread_detach(thread)); }

int mtx_init(mtx_t *mutex, int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    int error = pthread_mutex_init((pthread_mutex_t *)mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return result(error);
}

int mtx_lock(mtx_t *mutex) { return result(pthread_mutex_lock((pthread_mutex_t *)mutex)); }
int mtx_trylock(mtx_t *mutex) { return result(pthread_mutex_trylock((pthread_mutex_t *)mutex)); }
int mtx_unlock(mtx_t *mutex) { return result(pthread_mutex_unlock((pthread_mutex_t *)mutex)); }
void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy((pthread_mutex_t *)mutex); }

int cnd_init(cnd_t *condition) { return result(pthread_cond_init((pthread_cond_t *)condition, NULL)); }
int cnd_signal(cnd_t *condition) { return result(pthread_cond_signal((pthread_cond_t *)condition)); }
int cnd_broadcast(cnd_t *condition) { return result(pthread_cond_broadcast((pthread_cond_t *)condition)); }
void cnd_destroy(cnd_t *condition) { pthread_cond_destroy((pthread_cond_t *)condition); }

int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    return result(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
    return result(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}

// Swift's Mutex is taken and given back by code that is part of the program, and when it is contended by libswiftSynchronization,
// which was not built for ThreadSanitizer. These stand before its functions and say what they do; the sanitizer's runtime listens.
// Swift passes the mutex in its context register (clang's swiftcall, docs/ABI/CallingConventionSummary.rst of Swift).
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK_SLOW);

// POSIX has a function in the object that dlsym returns (dlsym(3)); a library without it must not go unnoticed.
static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    SWIFT void (*swift)(uint32_t, SELF void *) = next(LOCK_SLOW);
    swift(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
    SWIFT void (*swift)(SELF void *) = next(UNLOCK_SLOW);
    if (__tsan_release) __tsan_release(mutex);
    swift(mutex);
}
