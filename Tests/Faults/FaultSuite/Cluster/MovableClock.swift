import Foundation

/// A wall clock that can be moved under processes that run: a small library, put before the system's, adds what a file says.
///
/// libfaketime does the same for most programs, but Swift programs do not see their arguments under it.
struct MovableClock {
    /// What a process needs in its environment to have this clock.
    let variables: [String: String]
    private let file: String

    /// Compiles the library in `folder`.
    ///
    /// - Throws: `SuiteError.unavailable` when there is no C compiler.
    init(folder: String, environment: [String: String]) throws {
        file = "\(folder)/clock"
        let source = "\(folder)/clock.c"
        let library = "\(folder)/clock.so"
        try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
        let command = ["/usr/bin/env", "clang", "-O2", "-shared", "-fPIC", "-o", library, source]
        do {
            try ChildProcess.run("clang", command, environment: environment, log: "\(folder)/clock.log", within: .seconds(60))
        } catch {
            throw SuiteError.unavailable("there is no C compiler to build a movable clock with: \(error)")
        }
        variables = ["LD_PRELOAD": library, "FAULTS_CLOCK": file]
        try set(.zero)
    }

    /// Moves the clock to so far from the true time.
    func set(_ offset: Duration) throws {
        let seconds = offset.components.seconds
        let bytes = withUnsafeBytes(of: Int64(seconds).littleEndian) { Data($0) }
        guard FileManager.default.fileExists(atPath: file) else {
            try bytes.write(to: URL(fileURLWithPath: file))
            return
        }
        // In place, because the processes have the file mapped.
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <pthread.h>
        #include <stdint.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <sys/time.h>
        #include <threads.h>
        #include <time.h>

        static const volatile int64_t *offset;
        static int (*real)(clockid_t, struct timespec *);

        __attribute__((constructor)) static void begin(void) {
            int file = open(getenv("FAULTS_CLOCK"), O_RDONLY | O_CLOEXEC);
            void *page = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
            if (page != MAP_FAILED) offset = page;
        }

        int clock_gettime(clockid_t clock, struct timespec *time) {
            if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
            int result = real(clock, time);
            if (offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *offset;
            return result;
        }

        int gettimeofday(struct timeval *time, void *zone) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            time->tv_sec = now.tv_sec;
            time->tv_usec = now.tv_nsec / 1000;
            return 0;
        }

        time_t time(time_t *result) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (result) *result = now.tv_sec;
            return now.tv_sec;
        }

        int timespec_get(struct timespec *time, int base) {
            if (base == TIME_UTC) clock_gettime(CLOCK_REALTIME, time);
            return base == TIME_UTC ? base : 0;
        }

        /* Waits until a moment of this clock end when it says so: the kernel has another. */
        static struct timespec kernel_time(const struct timespec *moment) {
            struct timespec time = *moment;
            if (offset) time.tv_sec -= *offset;
            return time;
        }

        int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end) {
            static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
            if (!wait) wait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_timedwait");
            struct timespec time = kernel_time(end);
            return wait(condition, mutex, &time);
        }

        int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *end) {
            static int (*wait)(cnd_t *, mtx_t *, const struct timespec *);
            if (!wait) wait = (int (*)(cnd_t *, mtx_t *, const struct timespec *))dlsym(RTLD_NEXT, "cnd_timedwait");
            struct timespec time = kernel_time(end);
            return wait(condition, mutex, &time);
        }
        """
}
