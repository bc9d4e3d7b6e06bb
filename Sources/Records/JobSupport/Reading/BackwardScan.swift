import Delivery
package import Kafka
import PushModel
package import ResultQuery

/// Reads results piece by piece backwards in time, because people mostly search for new results.
///
/// A piece is small enough to be read in a second or two. A piece that is not read to its end says nothing, since each is read forwards in
/// time.
package struct BackwardScan {
    /// The result of reading on.
    package enum Step {
        /// A piece was read.
        case read
        /// Time ran out within a piece, which counts as unread.
        case cut
        /// Everything was read before.
        case end
    }

    /// The most records of the first piece, which is always read to its end, and of those after it.
    private static let limits: (first: Int64, next: Int64) = (50_000, 200_000)
    /// The most by which records of one partition may be out of the order of their times, because clocks of workers differ.
    package static let disorder: Int64 = 60_000

    private let scan: TopicScan
    private let filter: ResultFilter
    private let newest: Int64
    private var known: (survey: TopicReader, pieces: BackwardPieces)?
    /// The records that were read.
    package private(set) var readCount = 0

    /// Every result written at this moment or later was read.
    package var reached: Int64 { known?.pieces.reached ?? .max }
    /// Nothing is unread that the filter's times let through.
    package var isDone: Bool { known?.pieces.isDone ?? false }
    /// The offsets of the topic, of which some may hold no record.
    package var totalCount: Int64 { known?.survey.bounds.reduce(0) { $0.addingSaturated($1.upperBound - $1.lowerBound) } ?? 0 }

    /// Nothing is read yet.
    package init(_ scan: TopicScan, _ filter: ResultFilter, now: Int64) {
        self.scan = scan
        self.filter = filter
        newest = min(now, filter.until ?? now)
    }

    /// The point at which reading can stop, because the records behind were written too late to match.
    package static func stop(_ filter: ResultFilter) -> TopicReader.Stop { latest(filter).map { .time($0) } ?? .end }

    private static func latest(_ filter: ResultFilter) -> Int64? {
        guard let (moment, overflow) = filter.until?.addingReportingOverflow(disorder), !overflow else { return nil }
        return moment
    }

    /// Reads the next piece, unless `deadline` passes before its end.
    package mutating func readNext(
        until deadline: Deadline = Deadline(after: nil), _ body: (borrowing ConsumedRecord) -> Void
    ) throws(JobFailure) -> Step {
        var (survey, pieces) = if let known { known } else { try open() }
        let isFirst = pieces.reached == .max
        let limit = isFirst ? Self.limits.first : Self.limits.next
        known = (survey, pieces)
        guard
            let piece = try pieces.next(
                atMost: limit,
                startingAt: { time throws(JobFailure) in
                    try scan.offsets(since: time, in: survey)
                })
        else { return .end }
        let reader = try reader(of: piece, after: survey)
        defer { reader.close() }
        var isCut = false
        var count = 0
        try scan.readOn(reader) { record in
            body(record)
            count += 1
            // Looking at the clock costs as much as passing over a record.
            if count & 0x3FF == 0 { isCut = !isFirst && deadline.hasPassed }
            return !isCut
        }
        readCount += count
        guard !isCut || reader.hasReachedEnd else { return .cut }
        pieces.finish(piece)
        known = (survey, pieces)
        return .read
    }

    private func open() throws(JobFailure) -> (TopicReader, BackwardPieces) {
        let survey = try scan.survey()
        var lows = survey.bounds.map(\.lowerBound)
        var ends = survey.bounds.map(\.upperBound)
        if let since = filter.since { lows = try scan.offsets(since: since, in: survey) }
        if let latest = Self.latest(filter) { ends = try scan.offsets(since: latest, in: survey) }
        let offsets = zip(lows, ends).map { $0..<max($0, $1) }
        return (survey, BackwardPieces(offsets, since: filter.since, until: newest))
    }

    /// A reader of a piece. A small topic is read by the reader that has found its ends.
    private func reader(of piece: BackwardPieces.Piece, after survey: TopicReader) throws(JobFailure) -> TopicReader {
        let starts = Self.named(piece.offsets.map(\.lowerBound))
        let ends = piece.offsets.map(\.upperBound)
        guard piece.isLast, ends == survey.bounds.map(\.upperBound) else {
            return try scan.open(.offsets(starts), .offsets(Self.named(ends)))
        }
        do throws(KafkaError) { try survey.begin(at: starts) } catch { throw scan.failure(error) }
        return survey
    }

    private static func named(_ offsets: [Int64]) -> [Int32: Int64] {
        Dictionary(uniqueKeysWithValues: offsets.enumerated().map { (Int32(clamping: $0), $1) })
    }
}
