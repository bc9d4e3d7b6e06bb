import Kafka
import Publishing
import PushModel

/// The final results of one request among records that are read in any order, and the one that counts.
struct FinalTrace {
    private let id: [UInt8]
    /// True for a result of the request. Others may have published under its id.
    private let isOwn: (ResultRecord) -> Bool
    /// The final result, unless it only says that the id came before.
    private(set) var final: ResultRecord?
    /// The outcomes of calls that were followed, at most as many as are awaited.
    private(set) var outcomes: [ResultRecord] = []
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
        return outcomes.count >= min(final.followedCount, Int64(Awaited.maximumOutcomeCount)) || hasAllOutcomes(at: newest)
    }

    /// True if the final result is known, and what was written at a moment came too late to be an outcome.
    func hasAllOutcomes(at moment: Int64) -> Bool {
        final.map { moment > $0.timestamp.addingSaturated(RequestStory.longestOutcome) } ?? false
    }

    /// The answer, or nil while no final result was found. `isWhole` says that all results that may be its outcomes were read.
    func answer(isWhole: Bool) -> ResultTracer.Answer? {
        guard let final else { return nil }
        let outcomes = ResultTracer.Outcomes(found: outcomes, areWhole: isWhole || isComplete)
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
        if result.kind == "outcome", outcomes.count < Awaited.maximumOutcomeCount { outcomes.append(result) }
        guard result.kind == "final" else { return }
        if !result.repeatsItsID {
            // The newest counts, as in a life.
            if final.map({ ResultRecord.isOlder($0, than: result) }) ?? true { final = result }
        } else if repetition.map({ ResultRecord.isOlder(result, than: $0) }) ?? true {
            repetition = result
        }
    }
}
