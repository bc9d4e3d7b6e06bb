import Basics

/// The moments at which a loop gives freed memory back to the system: seldom, and when it rests.
///
/// A burst leaves free memory between what is still in use, which the C library keeps. Giving it back takes milliseconds, and whoever
/// works on wants it again. So that is done in a second in which little was taken, once enough was since the last time.
struct MemoryRest {
    /// A loop rests in a second in which it takes no more than 1 MiB.
    static let mostAtRest = 1 << 20
    /// Work that may have left something, 16 MiB.
    static let leastServed = 16 << 20
    /// The shortest time between two, half a minute in nanoseconds.
    static let interval: Int64 = 30_000_000_000

    private var next = MonotonicTime.past
    private var servedThen = 0
    private var servedBefore = 0

    /// Takes the sum of a second, and says if memory is given back now.
    ///
    /// - Parameters:
    ///   - served: What all requests so far took, bytes.
    ///   - now: The present moment.
    /// - Returns: Whether it is.
    mutating func isDue(served: Int, now: MonotonicTime) -> Bool {
        let isAtRest = served - servedBefore <= Self.mostAtRest
        servedBefore = served
        guard isAtRest, now >= next, served - servedThen >= Self.leastServed else { return false }
        (next, servedThen) = (now + Self.interval, served)
        return true
    }
}
