import Glibc

/// Processor time that was used, in nanoseconds.
struct ProcessorTime: Sendable, Equatable {
    var user: Int64 = 0
    var system: Int64 = 0

    var total: Int64 { user + system }

    /// What the calling thread has used so far; the split has the kernel's precision.
    static func ofThread() -> ProcessorTime { used(by: 1) }

    static func ofProcess() -> ProcessorTime { used(by: 0) }

    /// `who` is RUSAGE_THREAD, 1, or RUSAGE_SELF, 0 (getrusage(2)).
    private static func used(by who: Int32) -> ProcessorTime {
        var usage = rusage()
        guard getrusage(who, &usage) == 0 else { return ProcessorTime() }
        return ProcessorTime(user: nanoseconds(usage.ru_utime), system: nanoseconds(usage.ru_stime))
    }

    /// What the calling thread has used so far, user and system together, in nanoseconds.
    static func threadNanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func - (left: ProcessorTime, right: ProcessorTime) -> ProcessorTime {
        ProcessorTime(user: left.user - right.user, system: left.system - right.system)
    }

    private static func nanoseconds(_ time: timeval) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1000
    }
}
