import Basics
import Kafka
import PushModel
import Synchronization
import TestSupport
import Testing

@testable import Publishing

/// One who hears the results of many requests, and the record of a cancellation.
@Suite(.tags(.threads, .c), .serialized) struct ResultListenerTests {
    @Test func aListenerHearsTheResultsThatItWantsBeforeThoseWhoWait() throws {
        let listener = Listener(wanted: ["a", "b"])
        let stage = try Stage(listener: listener) { $0.patience = farDeadline }
        defer { stage.close() }
        let heard = Heard()
        try stage.follower.expect("a", until: .never) { _ in heard.note(listener.taken) }
        try stage.write(["sent1"], of: "other")
        try stage.write(["sameID", "failed"], of: "a")
        try stage.write(Results.json("sent1", of: "c"), key: "b")
        try stage.write(["sent2"], of: "b")
        #expect(eventually { listener.taken.contains("b sent") && !heard.all.isEmpty })
        #expect(listener.taken.filter { $0.hasPrefix("a") } == ["a duplicate", "a failed"])
        #expect(listener.taken.filter { $0.hasPrefix("b") } == ["b sent"] && listener.taken.count == 3)
        #expect(heard.all.first?.contains("a failed") == true, "what is waited for has been heard")
        #expect(stage.follower.waiterCount == 0)
    }

    @Test(
        arguments: [
            ("", nil, .id), (String(repeating: "x", count: 289), nil, .id), ("a", String(repeating: "x", count: 101), .reason),
            ("a", "", nil), (String(repeating: "x", count: 288), String(repeating: "ü", count: 100), nil),
        ] as [(String, String?, CancelRecord.Fault?)])
    func aCancellationThatNobodyWouldUnderstandIsRefused(id: String, reason: String?, fault: CancelRecord.Fault?) {
        var found: CancelRecord.Fault?
        do throws(CancelRecord.Fault) {
            #expect(try CancelRecord(checking: id, reason: reason) == CancelRecord(requestID: id, reason: reason))
        } catch {
            found = error
        }
        #expect(found == fault)
    }

    @Test func aCancellationIsWrittenToTheFirstPartitionWithItsMoment() throws {
        let cluster = try MockCluster()
        defer { cluster.close() }
        try cluster.createTopic("control", partitions: 3)
        let producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: ["control"], timeout: farDeadline).first)
        let reports = Heard()
        let record = CancelRecord(requestID: "a", reason: "wrong audience")
        try record.write(with: producer, to: topic, at: 7000)
        try record.write(with: producer, to: topic, at: 8000) { delivery in
            if case .persisted(0, 1) = delivery { reports.note(["persisted"]) } else { reports.note(["\(delivery)"]) }
        }
        try producer.flush(timeout: farDeadline)
        #expect(eventually { reports.all == [["persisted"]] })
        let reader = try TopicReader(cluster.configuration, topic: "control", start: .beginning, timeout: farDeadline)
        defer { reader.close() }
        var found: [String] = []
        #expect(
            eventually {
                _ = reader.read(timeout: .milliseconds(100)) { record in
                    guard let key = record.key, let value = record.value else { return }
                    let read = CancelRecord(key: key, value: value)
                    found.append("\(record.partition) \(record.timestamp ?? 0) \(read?.requestID ?? "") \(read?.reason ?? "")")
                }
                return found.count == 2
            })
        #expect(found == ["0 7000 a wrong audience", "0 8000 a wrong audience"])
    }
}

/// Wants the results of some ids.
private final class Listener: ResultListener {
    private let wanted: Set<String>
    private let heard = Mutex<[String]>([])

    init(wanted: Set<String>) { self.wanted = wanted }

    var taken: [String] { heard.withLock { $0 } }

    func wants(_ id: String) -> Bool { wanted.contains(id) }

    func take(_ result: ResultRecord) { heard.withLock { $0.append("\(result.requestID) \(result.state)") } }
}

/// What was noted, in order.
private final class Heard: Sendable {
    private let notes = Mutex<[[String]]>([])

    var all: [[String]] { notes.withLock { $0 } }

    func note(_ words: [String]) { notes.withLock { $0.append(words) } }
}
