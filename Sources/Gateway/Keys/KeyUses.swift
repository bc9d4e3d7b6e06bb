import Basics
import Delivery
import Keys

/// The keys in use, and the rate of each: so many calls per second, and after a rest twice as many at once. A batch counts as many calls
/// as it has requests.
///
/// Pure: it reads no clock. It remembers no more keys than the file has, and each question takes constant time. One owner, not
/// thread-safe.
struct KeyUses: Sendable {
    private struct Use {
        let rate: Int?
        /// Nil without a rate.
        var bucket: TokenBucket?

        init(rate: Int?, now: MonotonicTime) {
            self.rate = rate
            bucket = rate.map { TokenBucket(rate: Int64($0) * 1000, burst: 2_000_000_000, now: now) }
            bucket?.fill()
        }
    }

    private var uses: [String: Use] = [:]
    /// That of the keys it was asked about.
    private var generation = 0

    /// A decision about the requests of a batch.
    enum BatchVerdict: Sendable, Equatable {
        /// All count.
        case allowed
        /// None counts, and another try makes sense after so many milliseconds.
        case limited(Int64)
        /// The key's rate never allows so many at once, but only this number.
        case beyond(Int)
    }

    /// How many keys it remembers.
    var count: Int { uses.count }

    /// Lets a call of a key start, or says how long it has to wait.
    ///
    /// - Parameters:
    ///   - key: Whose call it is. Another rate than before begins with a whole burst.
    ///   - now: The present.
    /// - Returns: Milliseconds, rounded up; 0 where the call may start, and counts.
    mutating func take(_ key: APIKey, now: MonotonicTime) -> Int64 {
        var use = uses[key.id].flatMap { $0.rate == key.terms.rate ? $0 : nil } ?? Use(rate: key.terms.rate, now: now)
        defer { uses[key.id] = use }
        if let next = use.bucket?.nextCall(now: now) { return (next.nanoseconds(since: now) + 999_999) / 1_000_000 }
        use.bucket?.take()
        return 0
    }

    /// Lets all requests of a batch start, or none.
    ///
    /// - Parameters:
    ///   - count: How many they are, at least 1. The batch's call has counted as one, and stays so.
    ///   - id: The id of the key whose batch it is.
    ///   - now: The present.
    /// - Returns: What becomes of it.
    mutating func take(_ count: Int, of id: String, now: MonotonicTime) -> BatchVerdict {
        guard var bucket = uses[id]?.bucket else { return .allowed }
        defer { uses[id]?.bucket = bucket }
        guard count <= bucket.burstCount else { return .beyond(bucket.burstCount) }
        if bucket.take(count - 1, now: now) { return .allowed }
        // The next try is a call, too.
        guard let next = bucket.nextCalls(count, now: now) else { return .limited(1) }
        return .limited((next.nanoseconds(since: now) + 999_999) / 1_000_000)
    }

    /// Forgets the keys that were taken out of the file or revoked, once for each reading of it.
    ///
    /// - Parameter known: The keys that count now.
    /// - Returns: The ids that were forgotten.
    mutating func forgetAll(but known: KnownKeys) -> [String] {
        guard known.generation > generation else { return [] }
        generation = known.generation
        let gone = uses.keys.filter { known.file[$0]?.revokedAt != nil || known.file[$0] == nil }
        for id in gone { uses[id] = nil }
        return gone
    }
}
