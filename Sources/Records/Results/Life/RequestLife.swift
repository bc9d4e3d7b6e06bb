package import Kafka
package import Publishing
import PushModel
import Replay
import ResultQuery

/// All results of one request and of its replays, gathered in any order.
package struct RequestLife {
    /// The most results of each kind that are kept, the newest: an id that a publisher never changes may have millions.
    package static let maximumCount = 1000

    /// The request's id.
    package let id: String
    /// Its results, oldest first.
    package private(set) var own: [ResultRecord] = []
    /// The results of its replays, oldest first.
    package private(set) var replays: [ResultRecord] = []
    private var matcher: FamilyMatcher
    /// True for a result that may be kept.
    private let isVisible: @Sendable (ResultRecord) -> Bool

    /// A request of which nothing is known yet. Of its results and replays only visible ones are kept: others may have published
    /// under its id.
    package init(id: String, isVisible: @escaping @Sendable (ResultRecord) -> Bool = { _ in true }) {
        self.id = id
        self.isVisible = isVisible
        matcher = FamilyMatcher(request: id)
    }

    /// The newest of its final results. That of a repetition counts only if there is no other.
    package var final: ResultRecord? {
        own.last { $0.kind == "final" && !$0.isRepetition } ?? own.last { $0.kind == "final" }
    }

    /// The result with the state of the request: the final one, or else the newest, but none that came too late to be true, or is a
    /// repetition's. An outcome tells of one call.
    package var latest: ResultRecord? {
        own.last { $0.kind == "final" && !$0.isRepetition } ?? own.last { $0.kind != "interim" && !$0.isRepetition }
            ?? own.last { $0.kind != "interim" } ?? own.last
    }

    /// The outcomes of the calls of its final result, oldest first. Another record with the same id has calls of its own.
    package var outcomes: [ResultRecord] {
        let place = final.flatMap(ResultCalls.init)?.place
        return own.filter { result in
            var document = JSONDocument()
            guard result.kind == "outcome", document.readResult(result.json.span) else { return false }
            guard let place, let other = RecordPlace(document, originOf: document.root) else { return true }
            return other == place
        }
    }

    /// The publication of the request by its results, in milliseconds since 1970, or the least number while nothing is known.
    package var beginning: Int64 {
        guard let earliest = own.map(\.publishedAt).min() else { return .min }
        // One that repeats an id was published after the one that had it first, by the longest window at most.
        return own.allSatisfy(\.repeatsItsID) ? earliest - Self.longestWindow : earliest
    }

    /// 7 days in milliseconds (page Requests, "Deduplication").
    static let longestWindow: Int64 = 604_800_000

    /// Keeps a record that belongs to the request.
    package mutating func take(_ record: borrowing ConsumedRecord) {
        guard let value = record.value else { return }
        take(value, partition: record.partition, offset: record.offset, timestamp: record.timestamp ?? 0)
    }

    /// Keeps a value that belongs to the request.
    package mutating func take(_ json: Span<UInt8>, partition: Int32, offset: Int64, timestamp: Int64) {
        guard let relation = matcher.relation(json),
            let result = ResultRecord(
                json: json.withUnsafeBufferPointer { Array($0) }, partition: partition, offset: offset, timestamp: timestamp),
            isVisible(result)
        else { return }
        switch relation {
        case .own: Self.insert(result, into: &own)
        case .replay: Self.insert(result, into: &replays)
        }
    }

    private static func insert(_ record: ResultRecord, into records: inout [ResultRecord]) {
        // A record that came while looking backwards is met twice.
        guard !records.contains(where: { $0.partition == record.partition && $0.offset == record.offset }) else { return }
        let index = records.firstIndex { ResultRecord.isOlder(record, than: $0) } ?? records.count
        records.insert(record, at: index)
        if records.count > maximumCount { records.removeFirst() }
    }
}

extension ResultRecord {
    /// The publication of the request, in milliseconds since 1970, or the time of the result if it names none.
    fileprivate var publishedAt: Int64 {
        var document = JSONDocument()
        guard document.readResult(json.span), let timings = document.member("timings", of: document.root),
            let text = document.text("published_at", of: timings), let moment = Timestamp(Array(text.utf8).span)
        else { return timestamp }
        return min(timestamp, moment.milliseconds)
    }
}
