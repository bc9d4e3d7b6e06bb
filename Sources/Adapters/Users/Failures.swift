import Basics

/// The number of times that an address or a name failed to sign in, and the time of the last one.
struct Failures: Sendable {
    /// The time for which a failure counts. A later one begins at 1 again.
    static let memory: Duration = .seconds(3600)
    private(set) var count = 0
    private(set) var last = MonotonicTime.past

    /// The number that counts at a time: all of them within 1 h of the last one, none later.
    func count(at now: MonotonicTime) -> Int { now < last.advanced(by: Self.memory) ? count : 0 }

    /// Counts one more.
    mutating func add(at now: MonotonicTime) {
        count = min(count(at: now), 1000) + 1
        last = now
    }

    /// The time that the next try has to wait, in milliseconds, rounded up: 0 for some failures, then 1 s, 2 s, 4 s and so on,
    /// from the last failure on, and `longest` seconds at most.
    func wait(after free: Int, longest: Int = 300, at now: MonotonicTime) -> Int64 {
        let paid = count(at: now) - free
        guard paid > 0 else { return 0 }
        let seconds = min(longest, 1 << min(paid - 1, 10))
        let left = last.advanced(by: .seconds(seconds)).nanoseconds(since: now)
        return left > 0 ? (left - 1) / 1_000_000 + 1 : 0
    }
}

/// The failures of those who failed most, in memory that does not grow.
///
/// Each key has one of 4,096 sets of 8 places. In a full set a new key takes the place with the fewest failures, and takes over their
/// number (space saving: Metwally, Agrawal, El Abbadi, 2005). So a key that comes back has no fewer than before as long as the failures
/// of its set count, and no key gets rid of many by a crowd of others that failed once. One check takes 50 ms, so an hour has some
/// 72,000 of them for 32,768 places.
struct FailureTable: Sendable {
    private static let setCount = 4096
    private static let setSize = 8

    private struct Place {
        var key: UInt64 = 0
        var failures = Failures()
    }

    private var places = [Place](repeating: Place(), count: setCount * setSize)

    /// The failures of a key, which is a hash that no client can foresee. None where it has no place.
    subscript(key: UInt64) -> Failures {
        for index in set(of: key) where places[index].key == key { return places[index].failures }
        return Failures()
    }

    /// Counts a failure.
    mutating func add(_ key: UInt64, at now: MonotonicTime) {
        var chosen = set(of: key).lowerBound
        for index in set(of: key) {
            if places[index].key == key {
                chosen = index
                break
            }
            if rank(of: index, at: now) < rank(of: chosen, at: now) { chosen = index }
        }
        places[chosen].key = key
        places[chosen].failures.add(at: now)
    }

    private func set(of key: UInt64) -> Range<Int> {
        let start = Int(key % UInt64(Self.setCount)) * Self.setSize
        return start..<(start + Self.setSize)
    }

    private func rank(of index: Int, at now: MonotonicTime) -> (Int, MonotonicTime) {
        (places[index].failures.count(at: now), places[index].failures.last)
    }
}
