import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Workers beside and after each other, and brokers that are not there.
@Suite(.serialized, .tags(.waits, .threads))
struct GroupTests {
    static func requests(_ range: Range<Int>) -> [String] {
        range.map { #"{"id":"n\#($0)","audience":{"categories":["n\#($0)"]},"platforms":["apple"],"message":{"title":"T"}}"# }
    }

    @Test(.needsKafka)
    func workersThatComeAndGoShareTheWorkWithoutTwoResults() throws {
        let bench = try Bench(.real, partitions: 6)
        bench.hub.arm([try Fault(parsing: "delay=10ms")])
        let change: (inout WorkerConfiguration) -> Void = {
            Bench.takeover(&$0)
            $0.maxInFlight = 8
        }
        let first = try bench.startWorker("w1", change: change)
        try bench.publish(all: Self.requests(0..<400))
        try bench.results(50)
        let second = try bench.startWorker("w2", change: change)
        var published = 400
        // Until the second one has its share, there is always something to do.
        let isShared = try eventually {
            try bench.publish(all: Self.requests(published..<published + 50))
            published += 50
            return try bench.readAll(bench.topics.results).contains { result in
                String(decoding: result.value ?? [], as: UTF8.self).contains(#""worker":{"id":"\#(bench.name)-w2""#)
            }
        }
        #expect(isShared)
        try second.stop()
        try bench.publish(all: Self.requests(published..<published + 200))
        published += 200
        try bench.results(published)
        try first.stop()
        let results = try bench.resultsByRequest()
        #expect(Set(results.keys) == Set((0..<published).map { "n\($0)" }))
        #expect(results.values.allSatisfy { $0.summary == "sent success - 1" })
        #expect(bench.hub.calls().count == published, "what was under way was finished before it was given up")
    }

    /// Adds partitions to the topic of requests, and waits until brokers know them.
    static func growRequests(of bench: Bench, to count: Int) throws {
        let (admin, topic) = (try TopicAdmin(bench.kafka), bench.topics.requests)
        try admin.grow(topic: topic, to: count, timeout: farDeadline)
        #expect(
            try eventually {
                try admin.describe(topics: [topic], timeout: farDeadline).topics == [.existing(partitionCount: count)]
            })
    }

    /// Static members that restart get what they had, and none of them has ever known the topic smaller.
    @Test(.needsKafka)
    func aPartitionThatIsAddedWhileTheOnlyWorkerRestartsIsRead() throws {
        let bench = try Bench(.real, partitions: 2)
        let first = try bench.startWorker()
        try bench.publish(all: Self.requests(0..<4))
        try bench.results(4)
        try first.stop()
        try Self.growRequests(of: bench, to: 3)
        let second = try bench.startWorker()
        #expect(bench.waitForGroup(of: 1, partitions: 2), "it has what it had")
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [bench.topics.requests], timeout: farDeadline).first)
        for request in Self.requests(4..<8) {
            try producer.produce(to: topic, partition: 2, key: nil, value: Array(request.utf8).span)
        }
        try producer.flush(timeout: farDeadline)
        #expect(bench.passTime(by: .milliseconds(100)) { bench.metric("pushfan_requests_finished_total") == 8 })
        #expect(bench.waitForGroup(of: 1, partitions: 3))
        try bench.results(8)
        try second.stop()
        #expect(try bench.resultsByRequest().count == 8)
    }

    @Test(.needsKafka)
    func aWorkerWhoseSettingsTheLibraryRefusesEndsAndSaysWhich() throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker {
            $0.kafka.properties.append(.init(key: "socket.timeout.ms", value: "60000"))
        }
        #expect {
            try worker.wait()
        } throws: { error in
            guard case .configuration(let reason)? = error as? WorkerFailure else { return false }
            return reason.contains("socket.timeout.ms") && reason.contains("transaction.timeout.ms")
        }
    }

    @Test(.needsKafka)
    func aSpareWorkerTakesOverWhenTheOneWithThePartitionIsGone() throws {
        let bench = try Bench(.real, partitions: 1)
        let workers = try ["w1", "w2"].map { try bench.startWorker($0, change: Bench.takeover) }
        #expect(eventually { workers.allSatisfy { $0.report(.ready).passes } })
        try bench.publish(all: Self.requests(0..<3))
        let first = try bench.results(3).compactMap { $0["worker.id"] as String? }.first
        let isFirst = first?.hasSuffix("w1") == true
        try workers[isFirst ? 0 : 1].stop()
        try bench.publish(all: Self.requests(3..<6))
        // The one that has gone keeps its partition until its session ends, 6 s here.
        #expect(try bench.results(6).count == 6)
        try workers[isFirst ? 1 : 0].stop()
    }

    @Test(.needsKafka)
    func aSecondWorkerOfTheSameNameTakesThePlaceOfTheFirst() throws {
        let bench = try Bench(.real, partitions: 2)
        let first = try bench.startWorker("same")
        try bench.publish(all: Self.requests(0..<10))
        try bench.results(10)
        let second = try bench.startWorker("same")
        #expect(eventually { first.hasEnded })
        #expect {
            try first.wait()
        } throws: { error in
            guard case .fenced? = error as? WorkerFailure else { return false }
            return true
        }
        try bench.publish(all: Self.requests(10..<20))
        try bench.results(20)
        try second.stop()
        #expect(try bench.resultsByRequest().count == 20)
    }

    @Test func aWorkerWaitsForItsBrokerAndSaysSo() throws {
        let bench = try Bench(.embedded, partitions: 1)
        let cluster = try #require(bench.cluster)
        try bench.publish(all: Self.requests(0..<3))
        cluster.setBroker(1, isUp: false)
        let worker = try bench.startWorker()
        #expect(
            eventually {
                worker.report(.ready).checks.contains { $0.name == "group" && $0.reason?.contains("broker") == true }
            })
        #expect(eventually { worker.report(.live).passes })
        #expect(!worker.hasEnded)
        cluster.setBroker(1, isUp: true)
        try bench.results(3)
        #expect(eventually { worker.report(.ready).passes })

        // Gone for a moment: the member keeps its partitions, and nothing but its own asking tells that all is well again.
        cluster.setBroker(1, isUp: false)
        #expect(eventually { !worker.report(.ready).passes })
        cluster.setBroker(1, isUp: true)
        #expect(eventually { worker.report(.ready).passes })
        try bench.publish(all: Self.requests(3..<5))
        try bench.results(5)
        try worker.stop()
    }

    @Test func aWorkerWithoutABrokerStopsWhenItIsAsked() throws {
        let bench = try Bench(.embedded, partitions: 1)
        bench.cluster?.setBroker(1, isUp: false)
        let worker = try bench.startWorker()
        #expect(
            eventually {
                worker.report(.ready).checks.contains { $0.name == "group" && $0.reason?.contains("broker") == true }
            })
        try worker.stop()
        bench.cluster?.setBroker(1, isUp: true)
    }

    @Test(arguments: [
        ("9AAAA", "written by a newer pushfan (form 9) or by another program"), ("3::not base64", "which is not pushfan's"),
        ("x", "metadata “x” (1 byte), which is not pushfan's"),
    ])
    func aPartitionWhosePositionCannotBeReadIsLeftAndTheOthersGoOn(_ metadata: String, _ reason: String) throws {
        let bench = try Bench(.quickest, partitions: 2)
        try bench.publish(all: Self.requests(0..<3), partition: 0)
        try bench.publish(all: Self.requests(3..<6), partition: 1)
        let consumer = try Consumer(bench.kafka, groupID: bench.name, wakeUpFileDescriptor: -1)
        let partition = TopicPartition(topic: bench.topics.requests, partition: 0)
        try consumer.group.commit([OffsetCommit(partition, offset: 1, metadata: metadata)])
        consumer.close(timeout: .seconds(2))
        let worker = try bench.startWorker()
        try bench.results(3)
        #expect(
            eventually {
                worker.report(.ready).checks.contains { $0.name == "group" && $0.reason?.contains(reason) == true }
            })
        #expect(bench.logLines.all.contains { $0.contains("partitions are left as they are") })
        try worker.stop()
        #expect(Set(try bench.resultsByRequest().keys) == ["n3", "n4", "n5"])
        #expect(bench.hub.calls().count == 3)
        let position = try bench.committed(0)
        #expect(position?.offset == 1 && position?.metadata == metadata, "it stays as it was")
    }

    @Test func resultsThatCouldNotBeCommittedAreOfferedAgain() throws {
        let bench = try Bench(.embedded, partitions: 1)
        bench.gate.close()
        try bench.publish(all: Self.requests(0..<5))
        let worker = try bench.startWorker()
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 5 })
        // Twice, OffsetCommit (key 8) answers with GROUP_AUTHORIZATION_FAILED (30).
        bench.cluster?.failNext(apiKey: 8, codes: [30, 30])
        bench.gate.open()
        try bench.results(5)
        #expect(try eventually { try bench.committed()?.offset == 5 })
        try worker.stop()
        #expect(bench.metric("pushfan_commit_failures_total") == 2)
        #expect(bench.hub.calls().count == 5, "the hub is not asked again")
        let written = try bench.readAll(bench.topics.results).map { try FinalResult($0).requestID }
        #expect(written.sorted() == (0..<5).map { "n\($0)" }, "what is written is not written again for the sake of its offsets")
    }

    @Test func whatTheGroupHasGivenToOthersIsNotOfferedUntilTimeIsUp() throws {
        let bench = try Bench(.embedded, partitions: 1)
        bench.gate.close()
        try bench.publish(all: Self.requests(0..<1))
        let first = try bench.startWorker("w1") {
            Bench.takeover(&$0)
            $0.drainTimeout = .seconds(300)
        }
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 1 })
        // The embedded broker refuses what the first one commits while another joins, and then gives its partition away.
        let second = try bench.startWorker("w2", change: Bench.takeover)
        #expect(eventually { bench.logLines.all.contains { $0.contains("partitions are taken away") } })
        bench.gate.open()
        // The first alone, and then both: the first has come back, long before its time is up.
        #expect(
            eventually { bench.logLines.all.count { $0.contains("partitions were assigned") } >= 3 })
        #expect(bench.logLines.all.contains { $0.contains("ILLEGAL_GENERATION") || $0.contains("UNKNOWN_MEMBER") })
        #expect(bench.waitForCommits(of: 1, partitions: 1))
        try first.stop()
        try second.stop()
    }

    @Test(.needsKafka)
    func recordsOfAbortedTransactionsAreSkippedAndLeaveNoGap() throws {
        let bench = try Bench(.real, partitions: 1)
        let producer = try Producer(bench.kafka, transactionalID: "\(bench.name)-publisher", transactionTimeout: farDeadline)
        let topic = try #require(try producer.warmUp(topics: [bench.topics.requests], timeout: farDeadline).first)
        try producer.initTransactions(timeout: farDeadline)
        for (index, request) in Self.requests(0..<6).enumerated() {
            try producer.beginTransaction()
            try producer.produce(to: topic, partition: 0, key: nil, value: Array(request.utf8).span)
            if index.isMultiple(of: 2) {
                try producer.commitTransaction(timeout: farDeadline)
            } else {
                // What is still in the library's queue would be dropped there and leave no trace in the log.
                try producer.flush(timeout: farDeadline)
                try producer.abortTransaction(timeout: farDeadline)
            }
        }
        producer.close(timeout: .zero)
        try bench.publish(all: Self.requests(6..<7), partition: 0)
        let worker = try bench.startWorker()
        try bench.results(4)
        try worker.stop()
        #expect(Set(try bench.resultsByRequest().keys) == ["n0", "n2", "n4", "n6"])
        let last = try #require(try bench.readAll(bench.topics.requests).last)
        #expect(last.offset > 6, "records and markers that nobody sees lie between")
        let position = try #require(try bench.committed())
        let offset = try #require(position.offset)
        // Seven records and six markers in all. A transaction's end is told before its marker is written, so the last one may come after
        // the last record, and even after the worker.
        #expect(offset > last.offset && offset <= 13)
        #expect(try FinishedOffsets(decoding: position.metadata).bitCount == 0)
    }

    @Test(.needsKafka)
    func theMarkBehindTheLastRecordIsCommittedTooSoThatNoLagRemains() throws {
        let bench = try Bench(.real, partitions: 1)
        let producer = try Producer(bench.kafka, transactionalID: "\(bench.name)-publisher", transactionTimeout: farDeadline)
        let topic = try #require(try producer.warmUp(topics: [bench.topics.requests], timeout: farDeadline).first)
        try producer.initTransactions(timeout: farDeadline)
        try producer.beginTransaction()
        for request in Self.requests(0..<3) {
            try producer.produce(to: topic, partition: 0, key: nil, value: Array(request.utf8).span)
        }
        try producer.commitTransaction(timeout: farDeadline)
        producer.close(timeout: .zero)
        let worker = try bench.startWorker()
        try bench.results(3)
        #expect(try eventually { try bench.committed()?.offset == 4 }, "three records and the transaction's marker")
        try worker.stop()
    }

    @Test func aCallToKafkaThatDoesNotEndIsGivenUpAndItsResultsAreNot() throws {
        let bench = try Bench(.embedded, partitions: 1)
        try bench.publish(all: Self.requests(0..<1))
        let worker = try bench.startWorker { $0.committerTimeout = .seconds(1) }
        try bench.results(1)
        bench.gate.close()
        try bench.publish(all: Self.requests(1..<5))
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 4 })
        // The next commit waits for the broker's answer longer than the worker allows.
        bench.cluster?.setBroker(1, roundTripTime: .seconds(8))
        bench.gate.open()
        #expect(eventually { bench.logLines.all.contains { $0.contains("Kafka call timed out") } })
        bench.cluster?.setBroker(1, roundTripTime: .zero)
        #expect(try eventually { try bench.committed()?.offset == 5 })
        try worker.stop()
        let written = try bench.readAll(bench.topics.results).map { try FinalResult($0).requestID }
        #expect(Set(written) == Set((0..<5).map { "n\($0)" }), "at least once: every result, some of them more than once")
        #expect(bench.hub.calls().count == 5, "the hub is not asked again")
    }

    @Test func aBrokerThatRefusesTheMapGetsResultsInOrder() throws {
        let bench = try Bench(.embedded, partitions: 1)
        // The first request waits for its hub call until that is given up. The others are finished before.
        bench.hub.arm([try Fault(parsing: "hang,tags=n0")])
        bench.gate.close()
        try bench.publish(all: Self.requests(0..<6))
        let worker = try bench.startWorker { $0.requestTimeout = .seconds(300) }
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 6 })
        // Once, OffsetCommit (key 8) answers with OFFSET_METADATA_TOO_LARGE (12).
        bench.cluster?.failNext(apiKey: 8, codes: [12])
        bench.gate.open()
        #expect(eventually { bench.logLines.all.contains { $0.contains("offset.metadata.max.bytes") } })
        bench.clock.advance(by: .seconds(300))
        try bench.results(6)
        #expect(eventually { (try? bench.committed()?.offset) == 6 })
        try worker.stop()
        let written = try bench.readAll(bench.topics.results).map { try FinalResult($0).requestID }
        #expect(Set(written).count == 6)
        #expect(Set(written.suffix(6)).count == 6, "after the refusal, all of them wait for the first")
        #expect(bench.hub.calls().count == 6, "the hub is not asked again")
    }
}
