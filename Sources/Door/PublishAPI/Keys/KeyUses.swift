import Basics
import Delivery
import Keys

/// The keys in use, and the rate of each: so many calls per second, and after a rest twice as many at once. A batch counts as many calls
/// as it has requests.
///
/// Pure: it reads no clock. It remembers no more keys than the file has, and each question takes constant time. One owner, not
/// thread-safe.
package struct KeyUses: Sendable {
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
    package enum BatchVerdict: Sendable, Equatable {
        case allowed
        /// None counts, and another try makes sense after so many milliseconds.
        case limited(Int64)
        /// The key's rate never allows so many at once, but only this number.
        case beyond(Int)
    }

    /// The number of keys that it remembers.
    package var count: Int { uses.count }

    /// Lets a call of a key start, and count, or returns the milliseconds for which it has to wait. Another rate than before
    /// begins with a whole burst.
    mutating func take(_ key: APIKey, now: MonotonicTime) -> Int64 {
        var use = uses[key.id].flatMap { $0.rate == key.terms.rate ? $0 : nil } ?? Use(rate: key.terms.rate, now: now)
        defer { uses[key.id] = use }
        if let next = use.bucket?.nextCall(now: now) { return (next.nanoseconds(since: now) + 999_999) / 1_000_000 }
        use.bucket?.take()
        return 0
    }

    /// The most calls that a key's rate allows at once.
    package func burst(of id: String) -> Int { uses[id]?.bucket?.burstCount ?? .max }

    /// Lets all requests of a batch start, at least one, or none. The batch's call has counted as one, and stays so.
    mutating func take(_ count: Int, of id: String, now: MonotonicTime) -> BatchVerdict {
        guard var bucket = uses[id]?.bucket else { return .allowed }
        defer { uses[id]?.bucket = bucket }
        guard count <= bucket.burstCount else { return .beyond(bucket.burstCount) }
        if bucket.take(count - 1, now: now) { return .allowed }
        // The next try is a call, too.
        guard let next = bucket.nextCalls(count, now: now) else { return .limited(1) }
        return .limited((next.nanoseconds(since: now) + 999_999) / 1_000_000)
    }

    /// Forgets the keys that were taken out of the file or revoked, once for each reading of it, and returns their ids.
    mutating func forgetAll(but known: KnownKeys) -> [String] {
        guard known.generation > generation else { return [] }
        generation = known.generation
        let gone = uses.keys.filter { known.file[$0]?.revokedAt != nil || known.file[$0] == nil }
        for id in gone { uses[id] = nil }
        return gone
    }
}
