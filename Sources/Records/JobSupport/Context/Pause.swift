import Glibc

/// Blocks the calling thread (nanosleep(2)).
package enum Pause {
    /// Waits for a time below a second, or until a signal comes.
    package static func sleep(_ time: Duration) {
        let nanoseconds = time.components.attoseconds / 1_000_000_000
        guard time > .zero else { return }
        var rest = timespec(tv_sec: 0, tv_nsec: Int(time >= .seconds(1) ? 999_999_999 : nanoseconds))
        nanosleep(&rest, nil)
    }
}
