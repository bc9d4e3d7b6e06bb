internal import Glibc

/// The clock that people read (CLOCK_REALTIME). It can jump, so never measure or wait with it.
public enum WallClock {
    /// Milliseconds since 1970-01-01 UTC.
    public static func millisecondsSince1970() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
