#if PUSHFAN_FAILPOINTS
    import Glibc
#endif

/// A way to break the worker on purpose, so that the fault suite can show that it would notice.
///
/// Only a build with the package trait `Failpoints` can be broken, with `PUSHFAN_TEST_SABOTAGE=NAME`; in every other build `isOn` is
/// the constant false.
enum Sabotage: String {
    /// A record counts as finished when it is read, not when its result is there.
    case commitEarly = "commit_early"
    /// Results are written outside the transaction that commits their offsets.
    case publishOutside = "publish_outside"
    /// Forgets, at an assignment, what was finished above the low-water mark.
    case forgetBitmap = "forget_bitmap"
    /// An attempt that is followed by another does not appear in the result.
    case retryUnrecorded = "retry_unrecorded"
    /// Partitions that are taken away are given up at once, whatever is in flight.
    case dropOnRevoke = "drop_on_revoke"
    /// Requests of one ordering key do not wait for each other.
    case ignoreKeys = "ignore_keys"

    /// True if the worker is broken in this way.
    @inline(__always)
    static func isOn(_ sabotage: Sabotage) -> Bool {
        #if PUSHFAN_FAILPOINTS
            return chosen == sabotage
        #else
            return false
        #endif
    }

    #if PUSHFAN_FAILPOINTS
        private static let chosen = getenv("PUSHFAN_TEST_SABOTAGE").flatMap { Sabotage(rawValue: String(cString: $0)) }
    #endif
}
