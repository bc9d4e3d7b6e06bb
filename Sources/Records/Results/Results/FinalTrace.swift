import Kafka
import Publishing
import PushModel
import Replay
import ResultQuery

/// The final results of one request among records that are read in any order, and the one that counts.
struct FinalTrace {
    /// A call that an outcome is of: the record that it names, and the call's index.
    private struct Call: Hashable {
        let record: RecordPlace?
        let index: Int64
    }

    private let id: [UInt8]
    /// True for a result of the request. Others may have published under its id.
    private let isOwn: (ResultRecord) -> Bool
    /// The final result, unless it only says that the id came before.
    private(set) var final: ResultRecord?
    /// The record that the final result is of, if it names it.
    private var record: RecordPlace?
    /// The outcomes of calls, each once, at most as many as are awaited.
    private var outcomes: [Call: ResultRecord] = [:]
    /// The number of those that are of the record of the final result: others are of another record with the same id.
    private var ownOutcomeCount = 0
    /// The oldest final result that only says that the id came before.
    private(set) var repetition: ResultRecord?
    /// The number of records that were read.
    private(set) var count = 0
    /// True if a record lies where the partitioner would not put it today: the topic got more partitions, or has another partitioner.
    private(set) var isScattered = false

    /// The time of the newest record, in milliseconds since 1970.
    private var newest = Int64.min

    /// True if the final result is known, and the outcome of each call that is followed, or no more is to come.
    var isComplete: Bool {
        guard let final else { return false }
        return ownOutcomeCount >= min(final.followedCount, Int64(Awaited.maximumOutcomeCount)) || hasAllOutcomes(at: newest)
    }

    /// True if the final result is known, and what was written at a moment came too late to be an outcome.
    func hasAllOutcomes(at moment: Int64) -> Bool {
        final.map { moment > $0.timestamp.addingSaturated(RequestStory.longestOutcome) } ?? false
    }

    /// The answer, or nil while no final result was found. `isWhole` says that all results that may be its outcomes were read.
    func answer(isWhole: Bool) -> ResultTracer.Answer? {
        guard let final else { return nil }
        let found = outcomes.values.sorted { ResultRecord.isOlder($0, than: $1) }
        let outcomes = ResultTracer.Outcomes(found: found, areWhole: isWhole || isComplete)
        return .final(final, repetition: repetition, outcomes: final.followedCount > 0 ? outcomes : nil)
    }

    init(of id: String, isOwn: @escaping (ResultRecord) -> Bool) {
        self.id = Array(id.utf8)
        self.isOwn = isOwn
    }

    /// Takes a record of a topic with so many partitions. Its key is the id of its request.
    mutating func take(_ record: borrowing ConsumedRecord, of partitionCount: Int32) {
        guard let key = record.key else { return }
        count += 1
        newest = max(newest, record.timestamp ?? .min)
        isScattered = isScattered || Producer.partition(ofKey: key, of: partitionCount) != record.partition
        guard key.equals(id.span), let result = ResultRecord(record) else { return }
        take(result)
    }

    mutating func take(_ result: ResultRecord) {
        guard isOwn(result) else { return }
        switch result.kind {
        case "outcome": takeOutcome(result)
        case "final": takeFinal(result)
        default: return
        }
        ownOutcomeCount = outcomes.keys.count { $0.record == record }
    }

    private mutating func takeOutcome(_ result: ResultRecord) {
        var document = JSONDocument()
        guard outcomes.count < Awaited.maximumOutcomeCount, document.readResult(result.json.span), let index = document.call
        else { return }
        let call = Call(record: RecordPlace(document, originOf: document.root), index: index)
        // A call that is told twice counts once.
        outcomes[call] = outcomes[call] ?? result
    }

    private mutating func takeFinal(_ result: ResultRecord) {
        if !result.repeatsItsID {
            // The newest counts, as in a life.
            guard final.map({ ResultRecord.isOlder($0, than: result) }) ?? true else { return }
            var document = JSONDocument()
            final = result
            record = document.readResult(result.json.span) ? RecordPlace(document, originOf: document.root) : nil
        } else if repetition.map({ ResultRecord.isOlder(result, than: $0) }) ?? true {
            repetition = result
        }
    }
}
