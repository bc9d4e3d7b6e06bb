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
    /// The oldest final result that only says that the id came before.
    private(set) var repetition: ResultRecord?
    /// The number of records that were read.
    private(set) var count = 0
    /// True if a record lies where the partitioner would not put it today: the topic got more partitions, or has another partitioner.
    private(set) var isScattered = false

    init(of id: String, isOwn: @escaping (ResultRecord) -> Bool) {
        self.id = Array(id.utf8)
        self.isOwn = isOwn
    }

    /// Takes a record of a topic with so many partitions. Its key is the id of its request.
    mutating func take(_ record: borrowing ConsumedRecord, of partitionCount: Int32) {
        guard let key = record.key else { return }
        count += 1
        isScattered = isScattered || Producer.partition(ofKey: key, of: partitionCount) != record.partition
        guard key.equals(id.span), let result = ResultRecord(record) else { return }
        take(result)
    }

    mutating func take(_ result: ResultRecord) {
        guard result.kind == "final", isOwn(result) else { return }
        if !result.repeatsItsID {
            // The newest counts, as in a life.
            if final.map({ ResultRecord.isOlder($0, than: result) }) ?? true { final = result }
        } else if repetition.map({ ResultRecord.isOlder(result, than: $0) }) ?? true {
            repetition = result
        }
    }
}
