import Delivery
import Kafka
import ResultQuery

/// Reads results piece by piece backwards in time, because people mostly search for new results: first the last minutes, then
/// further back.
///
/// The pieces join without a gap: each ends at the very offsets where the one before began.
struct BackwardScan {
    /// Topics with fewer records than this are read as a whole.
    private static let smallCount: Int64 = 50_000
    /// The distances to which the pieces reach back, in milliseconds, before all the rest is read.
    private static let reaches: [Int64] = [300_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000]
    /// The most by which records of one partition may be out of the order of their times, because clocks of workers differ.
    private static let disorder: Int64 = 60_000

    private let scan: TopicScan
    private let oldest: Int64?
    /// The beginnings of the pieces to come, or nil for the whole topic.
    private var pieces: [Int64?] = []
    private var stop: TopicReader.Stop
    private var isFirst = true
    /// Everything was read.
    var isDone: Bool { pieces.isEmpty }
    /// Every result written at this moment or later was read.
    private(set) var reached = Int64.max

    /// Nothing is read yet.
    init(_ scan: TopicScan, _ filter: ResultFilter, now: Int64) {
        self.scan = scan
        oldest = filter.since
        let newest = min(now, filter.until ?? now)
        let recent = Self.reaches.map { max(0, newest - $0) }.filter { $0 > filter.since ?? .min }
        pieces = recent.map(Optional.some) + [filter.since]
        stop = Self.stop(filter)
    }

    /// The point at which reading can stop, because the records behind were written too late to match.
    static func stop(_ filter: ResultFilter) -> TopicReader.Stop {
        guard let (moment, overflow) = filter.until?.addingReportingOverflow(disorder), !overflow else { return .end }
        return .time(moment)
    }

    /// Reads the next piece. Returns false when everything was read before.
    mutating func readNext(_ body: (borrowing ConsumedRecord) -> Void) throws(JobFailure) -> Bool {
        guard !pieces.isEmpty else { return false }
        if isFirst {
            isFirst = false
            let whole = try scan.open(Self.start(oldest), stop)
            defer { whole.close() }
            if whole.remainingCount <= Self.smallCount {
                pieces = []
                reached = oldest ?? .min
                try scan.read(whole, body)
                return true
            }
        }
        let piece = pieces.removeFirst()
        let reader = try scan.open(Self.start(piece), stop)
        defer { reader.close() }
        stop = .offsets(reader.startOffsets)
        try scan.read(reader, body)
        reached = piece ?? .min
        return true
    }

    private static func start(_ moment: Int64?) -> TopicReader.Start {
        moment.map { .time($0) } ?? .beginning
    }
}
