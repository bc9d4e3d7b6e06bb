#if PUSHFAN_FAILPOINTS
    import Glibc
#endif

/// The switch that lets this worker stand for the next version, so that the fault suite can roll a fleet between two versions and
/// back.
///
/// Only a build with the package trait `Failpoints` can, with `PUSHFAN_TEST_FORMAT=2`: the records that it writes for workers name that
/// form, and it reads both. In every other build `isOn` is the constant false.
enum NextFormat {
    /// True if it does.
    @inline(__always)
    static var isOn: Bool {
        #if PUSHFAN_FAILPOINTS
            return chosen
        #else
            return false
        #endif
    }

    #if PUSHFAN_FAILPOINTS
        private static let chosen = getenv("PUSHFAN_TEST_FORMAT").map { String(cString: $0) == "2" } ?? false
    #endif
}
