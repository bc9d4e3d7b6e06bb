import PushModel

/// The offsets of a topic that a backward reading has not read yet, and the pieces in which it reads them.
///
/// A piece begins in each partition at the first record that is not older than a time. What stands before is older, in whatever order the
/// times of a partition are, so that after the piece every record since that time was read.
package struct BackwardPieces {
    /// Some of the unread offsets: the last of each partition.
    package struct Piece: Equatable {
        /// The offsets of each partition.
        package let offsets: [Range<Int64>]
        /// Every unread record written at this time or later is among them, in milliseconds since 1970.
        package let since: Int64
        /// It is all that is unread.
        package let isLast: Bool

        /// The number of offsets.
        package var count: Int64 { offsets.reduce(0) { $0.addingSaturated($1.upperBound - $1.lowerBound) } }
    }

    /// The distance to which the first piece reaches back, in milliseconds.
    private static let firstSpan: Int64 = 300_000
    /// A piece may reach back so many times as far as the one before.
    private static let growth: Int64 = 4
    private static let longestSpan: Int64 = 1 << 50

    /// The offsets of each partition that were not read.
    package private(set) var unread: [Range<Int64>]
    /// Every record written at this time or later was read.
    package private(set) var reached = Int64.max
    /// Nothing is left to read.
    package private(set) var isDone = false
    /// The end of the times of the unread records. Few records are newer.
    private var end: Int64
    private var span = firstSpan
    private let oldest: Int64?

    /// Nothing is read yet.
    ///
    /// - Parameters:
    ///   - offsets: The offsets of each partition.
    ///   - oldest: The time at which they begin, or nil for the topic's beginning.
    ///   - newest: The time at which they end, more or less.
    package init(_ offsets: [Range<Int64>], since oldest: Int64?, until newest: Int64) {
        unread = offsets
        self.oldest = oldest
        end = max(0, newest)
    }

    /// Chooses the next piece, the newest of the unread offsets. Returns nil when there are none.
    ///
    /// - Parameters:
    ///   - limit: The most records that it has, but for those of one millisecond, and those at the end of the times.
    ///   - starts: Finds the first record of each partition that is not older than a time, or the partition's end.
    /// - Returns: The piece, which `finish` takes out once it was read.
    /// - Throws: What `starts` throws.
    package func next<Failure>(
        atMost limit: Int64, startingAt starts: (Int64) throws(Failure) -> [Int64]
    ) throws(Failure) -> Piece? {
        guard !isDone else { return nil }
        let rest = Piece(offsets: unread, since: oldest ?? .min, isLast: true)
        guard rest.count > limit else { return rest }
        let first = max(0, oldest ?? 0)
        let base = reached == .max ? piece(since: end, from: try starts(end)).count : 0
        let most = base.addingSaturated(limit)
        var (high, span) = (end, span)
        while true {
            let low = max(first, high - span)
            let found = low > first ? piece(since: low, from: try starts(low)) : rest
            if found.count > most { return try narrow(found, from: low, to: high, counts: base...most, startingAt: starts) }
            if found.count > base || found.isLast { return found }
            (high, span) = (low, min(span * Self.growth, Self.longestSpan))
        }
    }

    /// Takes a piece out that was read.
    package mutating func finish(_ piece: Piece) {
        unread = zip(unread, piece.offsets).map { $0.lowerBound..<max($0.lowerBound, $1.lowerBound) }
        reached = piece.since
        isDone = piece.isLast
        guard !isDone else { return }
        span = min(max(1, end - piece.since) * Self.growth, Self.longestSpan)
        end = piece.since
    }

    /// A later part of a piece that is too large, found by halving the time between `low`, where the piece begins, and `high`, since when
    /// there is the least of `counts`.
    private func narrow<Failure>(
        _ large: Piece, from low: Int64, to high: Int64, counts: ClosedRange<Int64>,
        startingAt starts: (Int64) throws(Failure) -> [Int64]
    ) throws(Failure) -> Piece {
        var (low, high, large) = (low, high, large)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            let half = piece(since: middle, from: try starts(middle))
            if half.count > counts.upperBound {
                (low, large) = (middle, half)
            } else if half.count <= counts.lowerBound {
                high = middle
            } else {
                return half
            }
        }
        return large
    }

    private func piece(since time: Int64, from starts: [Int64]) -> Piece {
        let offsets = zip(unread, starts).map { min(max($1, $0.lowerBound), $0.upperBound)..<$0.upperBound }
        return Piece(offsets: offsets, since: time, isLast: false)
    }
}
