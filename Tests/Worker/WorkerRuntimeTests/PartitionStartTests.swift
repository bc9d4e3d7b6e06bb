import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Where partitions begin that the group has no position for, or one that cannot be used.
@Suite(.serialized, .tags(.waits, .threads))
struct PartitionStartTests {
    @Test(.needsKafka)
    func aGroupWithoutAPositionLeavesWhatIsOldUntilSomebodyDecides() throws {
        let bench = try Bench(.real, partitions: 2)
        let old = bench.clock.millisecondsSince1970 - 7_200_000
        for number in 0..<5 { try bench.publish(Array(GroupTests.requests(number..<number + 1)[0].utf8), partition: 0, at: old) }
        try bench.publish(all: GroupTests.requests(5..<8), partition: 1)
        let careful = try bench.startWorker { $0.start = .safe }
        // What is young begins at once, beside it.
        try bench.results(3)
        #expect(
            eventually {
                careful.report(.ready).checks.contains {
                    $0.reason?.contains("5 requests wait in \(bench.topics.requests)[0] (5)") == true
                        && $0.reason?.contains("`pushfan group start --at finished`") == true
                }
            })
        #expect(!careful.report(.ready).passes)
        try bench.publish(all: GroupTests.requests(8..<9), partition: 0)
        try careful.stop()
        #expect(Set(try bench.resultsByRequest().keys) == ["n5", "n6", "n7"])
        #expect(try bench.committed(0)?.offset == nil)
        // Once somebody has said so, it is not asked again.
        let leaving = try bench.startWorker { $0.start = .end }
        #expect(try eventually { try bench.committed(0)?.offset == 6 })
        try leaving.stop()
        let next = try bench.startWorker { $0.start = .safe }
        try bench.publish(all: GroupTests.requests(9..<10), partition: 0)
        try bench.results(4)
        try next.stop()
        let other = try bench.startWorker {
            $0.groupID += "-other"
            $0.start = .moment(.at(old + 1))
        }
        try bench.results(9)
        try other.stop()
        let all = try bench.readAll(bench.topics.results).map { try FinalResult($0).requestID }
        #expect(all.sorted() == ["n5", "n5", "n6", "n6", "n7", "n7", "n8", "n9", "n9"])
        #expect(bench.hub.calls().count == 9)
    }

    /// While a partition without a position has no leader, it cannot be learnt whether what waits there is old.
    @Test func aPartitionWithoutALeaderWaitsAndTheOthersBegin() throws {
        let bench = try Bench(.embedded, partitions: 3)
        let cluster = try #require(bench.cluster)
        let away = TopicPartition(topic: bench.topics.requests, partition: 0)
        cluster.setLeader(of: away, to: nil)
        let worker = try bench.startWorker { $0.start = .safe }
        #expect(
            eventually {
                worker.report(.ready).checks.contains {
                    $0.name == "group" && $0.reason?.contains("no position in \(away), and no leader answers") == true
                }
            })
        #expect(
            eventually {
                bench.status.statuses.flatMap(\.partitions).filter(\.waitsForLeader).map(\.partition) == [0]
            })
        #expect(bench.logLines.all.contains { $0.contains("partitions wait for their leader") })
        try bench.publish(all: GroupTests.requests(2..<4), partition: 1)
        try bench.publish(all: GroupTests.requests(4..<6), partition: 2)
        try bench.results(4)
        #expect(Set(try bench.resultsByRequest().keys) == ["n2", "n3", "n4", "n5"])
        cluster.setLeader(of: away, to: 1)
        // From the first look that finds it to the one that confirms it, and no further: what waits must not become old.
        #expect(bench.passTime(by: .milliseconds(100)) { bench.logLines.all.contains { $0.contains("without a reader") } })
        #expect(eventually { worker.report(.ready).passes })
        try bench.publish(all: GroupTests.requests(0..<2), partition: 0)
        try bench.results(6)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 6)
        #expect(bench.hub.calls().count == 6)
    }

    /// Nobody worked while the topic grew and was published to for longer than ten minutes.
    @Test(.needsKafka, arguments: [StartRule.safe, .end, .moment(4_000_000_000_000)] as [StartRule])
    func aPartitionThatIsNewToAKnownTopicBeginsAtItsBeginning(rule: StartRule) throws {
        let bench = try Bench(.real, partitions: 1)
        let first = try bench.startWorker { $0.start = .safe }
        try bench.publish(all: GroupTests.requests(0..<2))
        try bench.results(2)
        try first.stop()
        try GroupTests.growRequests(of: bench, to: 2)
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [bench.topics.requests], timeout: farDeadline).first)
        let old = bench.clock.millisecondsSince1970 - 660_000
        for request in GroupTests.requests(2..<7) {
            try producer.produce(to: topic, partition: 1, key: nil, value: Array(request.utf8).span, timestamp: old)
        }
        try producer.flush(timeout: farDeadline)
        let second = try bench.startWorker { $0.start = rule }
        #expect(bench.passTime(by: .milliseconds(100)) { bench.metric("pushfan_requests_finished_total") == 7 })
        #expect(eventually { second.report(.ready).passes })
        try second.stop()
        #expect(try bench.committed(1)?.offset == 5)
    }

    @Test(.needsKafka)
    func oneFirstRecordWithAnOldTimeRefusesNothingNew() throws {
        let bench = try Bench(.real, partitions: 1)
        try bench.publish(Array(GroupTests.requests(0..<1)[0].utf8), at: 1)
        try bench.publish(all: GroupTests.requests(1..<5))
        let worker = try bench.startWorker { $0.start = .safe }
        try bench.results(5)
        #expect(eventually { worker.report(.ready).passes })
        try worker.stop()
    }

    @Test func recordsBelowAPositionBeyondTheEndAreNotSkipped() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try bench.publish(all: GroupTests.requests(0..<5))
        let consumer = try Consumer(bench.kafka, groupID: bench.name, wakeUpFileDescriptor: -1)
        // As after a topic was deleted and made anew: the group stands where the old one ended.
        let partition = TopicPartition(topic: bench.topics.requests, partition: 0)
        try consumer.group.commit([OffsetCommit(partition, offset: 100)])
        consumer.close(timeout: .seconds(2))
        let worker = try bench.startWorker()
        try bench.results(5)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 5)
        #expect(try bench.committed()?.offset == 5)
    }
}
