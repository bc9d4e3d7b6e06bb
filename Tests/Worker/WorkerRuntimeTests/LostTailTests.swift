import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// What becomes of partitions that have lost records which were read.
///
/// No broker loses a tail on demand. So a group is put where it would stand then: its position names a record that is not there.
@Suite(.needsKafka, .serialized, .tags(.waits, .threads))
struct LostTailTests {
    private static func request(_ name: String, _ fields: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(fields)}"#
    }

    private static func requests(_ range: Range<Int>) -> [String] { range.map { request("n\($0)") } }

    /// The mark of a record that was lost.
    private static func lost(at offset: Int64, time: Int64) -> RecordMark {
        let value = Array("lost".utf8)
        return RecordMark(offset: offset, time: time, key: nil, value: value.span)
    }

    /// Puts the group where it stood when it had read a first and a last record; or where it says nothing of them.
    private static func stand(
        _ bench: Bench, in topic: String? = nil, at offset: Int64, read marks: (first: RecordMark, last: RecordMark)? = nil,
        isOfParents: Bool = false
    ) throws {
        var finished = FinishedOffsets()
        finished.marks = marks.map { ReadMarks($0.first) }
        if let marks { finished.marks?.read(marks.last) }
        let parents = OpenParents(start: offset).commit(marks: finished.marks).metadata
        let consumer = try Consumer(bench.kafka, groupID: bench.name, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(2)) }
        let partition = TopicPartition(topic: topic ?? bench.topics.requests, partition: 0)
        let commit = OffsetCommit(partition, offset: offset, metadata: isOfParents ? parents : finished.encoded())
        // A worker that has stopped is a member until its session ends.
        #expect(eventually { (try? consumer.group.commit([commit])) != nil })
    }

    private static func isRefused(_ worker: RunningWorker, _ command: String) -> Bool {
        worker.report(.ready).checks.contains { $0.reason?.contains(command) == true }
    }

    /// Publishes requests with times a minute ago, of which one may be dated ahead.
    private static func publishOld(_ bench: Bench, dated ahead: Int64) throws {
        let now = bench.clock.millisecondsSince1970
        for number in 0..<5 {
            let time = number == 2 ? now + ahead : now - 60_000 + Int64(number)
            try bench.publish(Array(requests(number..<number + 1)[0].utf8), at: time)
        }
    }

    /// The log had 7 records, of which 2 are gone. It ends there; or it has grown past the position again, also with records that are dated
    /// back, and behind one that is dated ahead.
    @Test(
        arguments: [
            (.safe, 0, 0), (.beginning, 0, 0), (.safe, 4, 0), (.end, 4, 0), (.safe, 4, 1_800_000), (.safe, 0, 1_800_000),
        ] as [(StartRule, Int, Int64)])
    func whatAPartitionHoldsThatHasLostItsEndWaitsForAnOperator(rule: StartRule, grown: Int, ahead: Int64) throws {
        let bench = try Bench(.real, partitions: 1)
        let now = bench.clock.millisecondsSince1970
        try Self.publishOld(bench, dated: ahead)
        for number in 5..<5 + grown { try bench.publish(Array(Self.requests(number..<number + 1)[0].utf8), at: now - 300_000) }
        let first = try #require(try bench.readAll(bench.topics.requests).first)
        try Self.stand(bench, at: 7, read: (first.mark, Self.lost(at: 6, time: now - 30_000)))
        let worker = try bench.startWorker {
            Bench.takeover(&$0)
            $0.start = rule
        }
        #expect(eventually { Self.isRefused(worker, "group start --at finished --replace \(bench.topics.requests):0") })
        #expect(eventually { bench.logLines.all.contains { $0.contains("has lost its end") } })
        // The other lanes go on.
        try bench.publish(all: [Self.request("urgent")], to: .high)
        try bench.results(1)
        try worker.stop()
        #expect(Set(try bench.resultsByRequest().keys) == ["urgent"] && bench.hub.calls().count == 1)
        #expect(try bench.committed()?.offset == 7, "nothing is committed of it")
        // The operator knows. Once is enough: the group has no member only when a session has ended.
        guard rule == .end else { return }
        try Self.stand(bench, at: 5)
        let next = try bench.startWorker(change: Bench.takeover)
        try bench.publish(all: Self.requests(9..<10))
        try bench.results(2 + grown)
        try next.stop()
        #expect(bench.hub.calls().count == 2 + grown)
    }

    /// The record that was read last is there, so nothing is asked, and nothing is sent again.
    @Test func aPartitionThatHoldsTheLastRecordGoesOn() throws {
        let bench = try Bench(.real, partitions: 1)
        try bench.publish(all: Self.requests(0..<5))
        for names in [5..<5, 5..<8] {
            try bench.publish(all: Self.requests(names))
            let worker = try bench.startWorker { $0.start = .safe }
            try bench.results(names.upperBound)
            try worker.stop()
        }
        let position = try #require(try bench.committed())
        let marks = try #require(try FinishedOffsets(decoding: position.metadata).marks)
        let records = try bench.readAll(bench.topics.requests)
        #expect(position.offset == 8 && marks.first == records.first?.mark && marks.last == records.last?.mark)
        #expect(bench.hub.calls().count == 8)
        #expect(!bench.logLines.all.contains { $0.contains("has lost its end") })
    }

    /// A record of the new topic has the place of the first one that was read.
    @Test func aRecreatedTopicIsReadFromItsStart() throws {
        let bench = try Bench(.real, partitions: 1)
        try bench.publish(all: Self.requests(0..<5))
        let now = bench.clock.millisecondsSince1970
        try Self.stand(bench, at: 100, read: (Self.lost(at: 0, time: now), Self.lost(at: 99, time: now)))
        let worker = try bench.startWorker { $0.start = .safe }
        try bench.results(5)
        try worker.stop()
        #expect(bench.hub.calls().count == 5)
        #expect(try bench.committed()?.offset == 5)
    }

    @Test func aPartitionOfWhichNothingIsKnownWaitsForAnOperator() throws {
        let bench = try Bench(.real, partitions: 1)
        try bench.publish(all: Self.requests(0..<5))
        try Self.stand(bench, at: 100)
        let worker = try bench.startWorker { $0.start = .safe }
        #expect(eventually { Self.isRefused(worker, "group start --at finished --replace \(bench.topics.requests):0") })
        try worker.stop()
        #expect(bench.hub.calls().isEmpty)
        let decided = try bench.startWorker { $0.start = .end }
        #expect(try eventually { try bench.committed()?.offset == 5 })
        try bench.publish(all: Self.requests(5..<7))
        try bench.results(2)
        try decided.stop()
        #expect(Set(try bench.resultsByRequest().keys) == ["n5", "n6"])
    }

    /// Lets five requests wait in a delay lane, and a worker send them.
    private static func finishLate(_ bench: Bench) throws {
        let first = try bench.startWorker(change: Bench.takeover)
        #expect(eventually { first.report(.ready).passes })
        var moment = ByteWriter()
        moment.append(Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 20_000))
        let fields = #","not_before":"\#(moment.text)""#
        try bench.publish(all: (0..<5).map { request("late\($0)", fields) })
        #expect(eventually { bench.metric("pushfan_delayed_total") >= 5 })
        #expect(bench.passTime(by: .milliseconds(100)) { bench.metric("pushfan_requests_finished_total") == 5 })
        try bench.results(5)
        try first.stop()
    }

    /// Five requests waited in a delay lane and were sent. Then the lane has lost its end; or it has not.
    @Test(arguments: [true, false])
    func whatADelayLaneHoldsIsNotSentAgain(isLost: Bool) throws {
        let bench = try Bench(.real, partitions: 1)
        try Self.finishLate(bench)
        let lane = bench.topics.delays[0]
        if isLost {
            let record = try #require(try bench.readAll(lane).first)
            let lost = Self.lost(at: 1_000, time: bench.clock.millisecondsSince1970)
            try Self.stand(bench, in: lane, at: 1_001, read: (record.mark, lost))
        }
        let second = try bench.startWorker(change: Bench.takeover)
        if isLost { #expect(eventually { Self.isRefused(second, "group start --at finished --replace \(lane):0") }) }
        try bench.publish(all: [Self.request("now")])
        try bench.results(6)
        try second.stop()
        #expect(bench.hub.calls().count == 6)
        #expect(try bench.resultsByRequest().count == 6)
    }

    /// Makes a topic with the records of a delay lane, in which the group has no position. They are as they were; or written just now, and
    /// due in 50 s, which is less than the lane of a minute is long.
    private static func copyLane(_ bench: Bench, isYoung: Bool) throws -> String {
        let name = bench.name + ".delay-copy"
        try bench.create(name)
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [name], timeout: farDeadline).first)
        let now = bench.clock.millisecondsSince1970
        for record in try bench.readAll(bench.topics.delays[0]) {
            var headers = HeaderList()
            for (name, value) in record.headers {
                let word = Array(name.utf8)
                let copy = isYoung && name == "pushfan-not-before-ms" ? Array("\(now + 50_000)".utf8) : value ?? []
                headers.append(name: word.span, value: copy.span)
            }
            let value = record.value ?? []
            try producer.produce(
                to: topic, partition: 0, key: nil, value: value.span, headers: headers,
                timestamp: isYoung ? now : record.mark.time)
        }
        try producer.flush(timeout: farDeadline)
        return name
    }

    /// Five requests waited in a delay lane and were sent. Then the group has no position there, but has one everywhere else.
    @Test func aDelayLaneWithoutAPositionIsNotSentAgain() throws {
        let bench = try Bench(.real, partitions: 1)
        try Self.finishLate(bench)
        let lane = try Self.copyLane(bench, isYoung: false)
        let second = try bench.startWorker {
            Bench.takeover(&$0)
            $0.start = .safe
            $0.topics.delays[0] = lane
        }
        #expect(eventually { Self.isRefused(second, "\(lane)[0] (5), where the group") })
        #expect(Self.isRefused(second, "`pushfan group start --at finished`"))
        try bench.publish(all: [Self.request("now")])
        try bench.results(6)
        try second.stop()
        #expect(bench.hub.calls().count == 6, "none of the five was sent again")
        #expect(try bench.resultsByRequest().count == 6)
    }

    /// What cannot have been gone on with was not: nobody has read the lane.
    @Test func aDelayLaneThatNobodyCanHaveReadBeginsAtItsBeginning() throws {
        let bench = try Bench(.real, partitions: 1)
        try Self.finishLate(bench)
        let lane = try Self.copyLane(bench, isYoung: true)
        let second = try bench.startWorker {
            Bench.takeover(&$0)
            $0.start = .safe
            $0.topics.delays[1] = lane
        }
        // A topic that was made just now may come with the second assignment.
        #expect(
            bench.passTime(by: .milliseconds(10)) {
                bench.status.statuses.contains { $0.partitions.contains { $0.topic == lane } }
            })
        #expect(bench.passTime(by: .milliseconds(500)) { bench.hub.calls().count == 10 })
        try second.stop()
    }

    private static func large(_ id: String) -> String {
        let names = (0..<300).map { "\"\(id)-u\($0)\"" }.joined(separator: ",")
        return #"{"id":"\#(id)","audience":{"users":[\#(names)]},"message":{"title":"T"}}"#
    }

    /// Lets a worker send two large requests, and makes a topic with what it wrote of them, in which the group has no position: with the
    /// records that delete them, or without.
    private static func finishLarge(_ bench: Bench, keepsEnd: Bool) throws -> String {
        let first = try bench.startWorker(change: Bench.takeover)
        try bench.publish(all: [large("a"), large("b")])
        try bench.results(8)
        try first.stop()
        let name = bench.name + ".parents-copy"
        try bench.create(name)
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [name], timeout: farDeadline).first)
        for record in try bench.readAll(bench.topics.parents) {
            let key = record.key ?? []
            if let value = record.value {
                try producer.produce(to: topic, partition: 0, key: key.span, value: value.span, timestamp: record.mark.time)
            } else if keepsEnd {
                try producer.produce(to: topic, partition: 0, key: key.span, value: nil, timestamp: record.mark.time)
            }
        }
        try producer.flush(timeout: farDeadline)
        return name
    }

    /// The group's position in a topic of parents is gone: what was deleted there was finished, and the next request is counted.
    @Test(arguments: [StartRule.safe, .beginning, .end])
    func largeRequestsWithoutAPositionHaveNoSecondResult(rule: StartRule) throws {
        let bench = try Bench(.real, partitions: 1)
        let copy = try Self.finishLarge(bench, keepsEnd: true)
        let second = try bench.startWorker {
            Bench.takeover(&$0)
            $0.start = rule
            $0.topics.parents = copy
        }
        try bench.publish(all: [Self.large("c")])
        try bench.results(12)
        try second.stop()
        #expect(Set(try bench.resultsByRequest().keys).isSuperset(of: ["a", "b", "c", "c.2"]))
        #expect(try bench.readAll(bench.topics.results).count == 12, "one result for each")
    }

    /// The records that deleted two large requests are gone, and the position names one of them; or it says nothing of what was read.
    @Test(arguments: [true, false])
    func largeRequestsThatHaveLostTheirEndWaitForAnOperator(isKnown: Bool) throws {
        let bench = try Bench(.real, partitions: 1)
        let copy = try Self.finishLarge(bench, keepsEnd: false)
        let record = try #require(try bench.readAll(copy).first)
        let lost = Self.lost(at: 999, time: bench.clock.millisecondsSince1970)
        try Self.stand(bench, in: copy, at: 1_000, read: isKnown ? (record.mark, lost) : nil, isOfParents: true)
        let second = try bench.startWorker {
            Bench.takeover(&$0)
            $0.start = .safe
            $0.topics.parents = copy
        }
        #expect(eventually { Self.isRefused(second, "group start --at finished --replace \(copy):0") })
        // Requests are sent meanwhile, and parts too.
        try bench.publish(all: [Self.request("now"), Self.large("c")])
        try bench.results(12)
        try second.stop()
        #expect(Set(try bench.resultsByRequest().keys).isSuperset(of: ["a", "b", "now", "c.0", "c.1", "c.2"]))
        #expect(try bench.readAll(bench.topics.results).count == 12, "the whole of the last one waits")
    }

    /// Writes an open request of two parts, one of which has ended, and two records behind it. The end of their transaction takes offset 4,
    /// so that there is no record, and another one follows. Returns the mark of the first record.
    private static func writeOpen(_ bench: Bench, times: (open: Int64, behind: Int64)) throws -> RecordMark {
        let producer = try Producer(bench.kafka, transactionalID: "\(bench.name)-parents", transactionTimeout: farDeadline)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [bench.topics.parents], timeout: farDeadline).first)
        try producer.initTransactions(timeout: farDeadline)
        let records = [
            ("t:0:1", #"{"schema_version":1,"id":"whole","chunks":2,"calls":2}"#, times.open),
            ("t:0:1/0", #"{"v":1,"state":"sent","outcome":"success","accepted":1}"#, times.open),
            (":file:f/progress", "{}", times.behind), (":file:g/progress", "{}", times.behind),
        ]
        for transaction in [records, [(":file:h/progress", "{}", times.behind)]] {
            try producer.beginTransaction()
            for (key, value, time) in transaction {
                try producer.produce(
                    to: topic, partition: 0, key: Array(key.utf8).span, value: Array(value.utf8).span, timestamp: time)
            }
            try producer.commitTransaction(timeout: farDeadline)
        }
        // A transaction's end is told before it is written.
        let written = try bench.read(bench.topics.parents, count: 5)
        #expect(written.map(\.offset) == [0, 1, 2, 3, 5])
        return try #require(written.first).mark
    }

    /// The record that was read last is gone beside a large request that is open, and the partition ends where it did: compaction has
    /// removed it. Or what stands before its place came later: then the end was lost and filled again.
    @Test(arguments: [false, true])
    func compactionBesideALargeRequestIsNoLostEnd(isFilledAgain: Bool) throws {
        let bench = try Bench(.real, partitions: 1)
        let now = bench.clock.millisecondsSince1970
        let first = try Self.writeOpen(bench, times: (now - 60_000, isFilledAgain ? now : now - 60_000))
        let last = Self.lost(at: 4, time: now - 30_000)
        try Self.stand(bench, in: bench.topics.parents, at: 0, read: (first, last), isOfParents: true)
        let key = #""key":"t:0:1","partition":0,"chunk":1,"chunks":2,"published_at":"2026-01-01T00:00:00Z""#
        try bench.publish(all: [Self.request("whole.1", #","parent":{"id":"whole",\#(key)}"#)], to: .own)
        let worker = try bench.startWorker {
            Bench.takeover(&$0)
            $0.start = .safe
        }
        try bench.results(isFilledAgain ? 1 : 2)
        if isFilledAgain {
            #expect(
                eventually { Self.isRefused(worker, "group start --at finished --replace \(bench.topics.parents):0") })
        } else {
            #expect(eventually { worker.report(.ready).passes })
        }
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(Set(results.keys) == (isFilledAgain ? ["whole.1"] : ["whole.1", "whole"]))
        guard !isFilledAgain else { return }
        #expect(results["whole"]?["state"] == "sent" && results["whole"]?["parts.sent"] == 2)
    }
}
