import Publishing
import PushModel
import Replay
import ResultQuery
import SQLite

/// The final result of one record, among the results with its request's id, which come in any order.
struct ResultChoice {
    /// The ranks of a result, the best last.
    private enum Rank: Int, Comparable {
        case none, repetition, unplaced, ownRepetition, own

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    private let place: RecordPlace
    private let time: Int64
    private let isOfWhole: Bool
    private let (source, tenant): (String?, String?)
    private var rank = Rank.none
    /// The result, or nil while there is none.
    private(set) var result: ResultRecord?

    /// Nothing is known yet.
    init(for candidate: SearchCandidate) {
        (place, time) = (candidate.place, candidate.publishedAt)
        isOfWhole = candidate.whole != nil
        (source, tenant) = (candidate.facts?.source, candidate.facts?.tenant)
    }

    /// True if it names the record, so that what was written later changes nothing of it.
    var isSettled: Bool { rank >= .ownRepetition }

    /// Takes a result with the id. Of equal ones the newest counts, and one that only says that the request came before counts little. A
    /// failure that the hub reported later counts in place of the final result, and a success does not.
    mutating func take(_ other: ResultRecord) {
        guard other.kind == "final" || other.isLateFailure, let rank = rank(of: other), rank >= self.rank else { return }
        if rank == self.rank, let result {
            if result.isLateFailure, !other.isLateFailure { return }
            if result.isLateFailure == other.isLateFailure, !ResultRecord.isOlder(result, than: other) { return }
        }
        (result, self.rank) = (other, rank)
    }

    /// The rank of a result, or nil for one of another request.
    private func rank(of other: ResultRecord) -> Rank? {
        var document = JSONDocument()
        guard document.readResult(other.json.span) else { return nil }
        if isOfWhole {
            guard document.member("parent", of: document.root) == nil, other.tenant == tenant else { return nil }
            return other.isRepetition ? .ownRepetition : .own
        }
        guard let origin = RecordPlace(document, originOf: document.root) else {
            guard other.source == source, other.tenant == tenant else { return nil }
            return other.isRepetition ? .repetition : .unplaced
        }
        let published = document.member("timings", of: document.root).flatMap { document.text("published_at", of: $0) }
            .flatMap { Timestamp($0.utf8.span) }
        // A topic that was made again has other records at the same places.
        guard origin == place, published.map({ $0.milliseconds == time }) ?? true else { return nil }
        return other.isRepetition ? .ownRepetition : .own
    }
}

extension ResultRecord {
    /// True for an outcome of a call that is no success: the hub took it and gave it up.
    var isLateFailure: Bool { kind == "outcome" && state != ResultState.sent.rawValue }
}

extension ResultIndex {
    /// The final results of some requests, and late failures of their calls. Of an id with very many, the newest.
    func finals(of ids: Set<String>) throws(SQLiteError) -> [ResultRecord] {
        let rows = try database.prepare(
            """
            SELECT pack, place, length, topic_partition, topic_offset, time FROM result WHERE "request" = ?
            ORDER BY time DESC, topic_partition DESC, topic_offset DESC LIMIT \(RequestLife.maximumCount)
            """)
        var packs = try PackReader(database)
        var found: [ResultRecord] = []
        for id in ids {
            try rows.bind(Array(id.utf8), at: 0)
            while try rows.step() {
                if let result = try packs.result(of: rows), result.kind == "final" || result.isLateFailure {
                    found.append(result)
                }
            }
            rows.reset()
        }
        return found
    }
}
