import Delivery
import Foundation
import Groups
import JobSupport
import Kafka
import PushModel
import Settings
import TestSupport
import Testing

@testable import Console

/// Where a group begins that has no position. Needs transactions.
@Suite(.needsKafka, .serialized)
struct GroupStartTests {
    private let stage: ReplayStage
    private let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    private var group: String { stage.name + ".group" }

    init() throws { stage = try ReplayStage(["delay-10s", "parents", "held"]) }

    private func partition(_ number: Int32 = 0) -> TopicPartition { TopicPartition(topic: stage.requests, partition: number) }

    private func committed(_ number: Int32 = 0) throws -> CommittedOffset? { try committed(in: partition(number)) }

    private func committed(in partition: TopicPartition) throws -> CommittedOffset? {
        let consumer = try Consumer(kafka, groupID: group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        return try consumer.group.committed([partition], timeout: farDeadline).first
    }

    private func start(_ words: String...) -> Outcome {
        stage.harness.run(["group", "start", "--group", group, "-o", "ndjson"] + words)
    }

    /// What is written, or would be, for a partition.
    private func line(
        _ number: Int32 = 0, of role: String = "requests", position: Int, before: Int, after: Int, finished: Int = 0
    ) -> String {
        """
        {"topic":"\(stage.name).\(role)","partition":\(number),"position":\(position),"before":\(before),"after":\(after),\
        "finished":\(finished),"repeated":0}
        """
    }

    private func result(_ offset: Int, kind: String = "final", publishedAt time: String? = nil) -> String {
        let timings = time.map { #","timings":{"published_at":"\#($0)"}"# } ?? ""
        return """
            {"schema_version":1,"request_id":"r\(offset)","kind":"\(kind)","state":"sent","outcome":"success"\(timings),\
            "origin":{"topic":"\(stage.requests)","partition":0,"offset":"\(offset)"}}
            """
    }

    @Test func everyPlaceIsWrittenOnceForPartitionsWithoutAPosition() throws {
        try stage.write("requests", [(0, "{}"), (0, "{}"), (0, "{}"), (0, "{}"), (2, "{}")])
        let dry = start("--at", "beginning", "--dry-run", stage.requests)
        #expect(dry.code == .done, "\(dry.messages)")
        #expect(
            dry.lines.map(String.init) == [
                line(position: 0, before: 0, after: 4), line(1, position: 0, before: 0, after: 0),
                line(2, position: 0, before: 0, after: 1),
            ])
        #expect(dry.messages.contains("3 positions would be written: 5 requests will be sent, and 0 lie before"))
        #expect(try committed()?.offset == nil)
        let end = start("--at", "end", "\(stage.requests):0")
        #expect(end.code == .done && end.output.contains(line(position: 4, before: 4, after: 0)), "\(end.output) \(end.messages)")
        #expect(end.messages.contains("2 partitions of these topics have no position still"))
        #expect(try committed()?.offset == 4)
        let moment = start("--at", "now-1h", stage.requests)
        #expect(moment.output.contains(line(2, position: 0, before: 0, after: 1)) && !moment.output.contains(#""partition":0"#))
        #expect(try committed(2)?.offset == 0)
        #expect(try FinishedOffsets(decoding: committed(2)?.metadata ?? "").begun == 1)
        for (number, last) in [(0, 3), (1, nil), (2, 0)] as [(Int32, Int64?)] {
            #expect(try FinishedOffsets(decoding: committed(number)?.metadata ?? "").marks?.last.offset == last, "\(number)")
        }
        let again = start("--at", "beginning", stage.requests)
        #expect(again.code == .done && again.output.isEmpty && again.messages.contains("has a position in each"))
        #expect(try committed()?.offset == 4)
        #expect(start("--at", "beginning", "--replace", "\(stage.requests):0").code == .done)
        #expect(try committed()?.offset == 0)
    }

    /// Writes a record that says when it was published.
    private func write(
        _ role: String, key: String, _ value: String, at time: Int64? = nil, headers: [(String, String)] = []
    ) throws {
        var list = HeaderList()
        for (name, value) in headers { list.append(name, value: value) }
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: ["\(stage.name).\(role)"], timeout: farDeadline).first)
        try producer.produce(
            to: topic, partition: 0, key: Array(key.utf8).span, value: Array(value.utf8).span, headers: list,
            timestamp: time)
        try producer.flush(timeout: farDeadline)
    }

    private func delete(_ role: String, key: String) throws {
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: ["\(stage.name).\(role)"], timeout: farDeadline).first)
        try producer.produce(to: topic, partition: 0, key: Array(key.utf8).span, value: nil)
        try producer.flush(timeout: farDeadline)
    }

    /// The record of a large request that was divided.
    private func writeParent(of offset: Int, publishedAt time: Int64) throws {
        let origin = #"{"topic":"\#(stage.requests)","partition":0,"offset":"\#(offset)","timestamp_ms":\#(time)}"#
        try write(
            "parents", key: "\(stage.requests):0:\(offset)",
            #"{"schema_version":1,"id":"r","chunks":2,"calls":2,"origin":\#(origin)}"#)
    }

    private func origin(_ offset: Int, of owner: String) -> [(String, String)] {
        [
            ("pushfan-group", owner), ("pushfan-origin-topic", stage.requests), ("pushfan-origin-partition", "0"),
            ("pushfan-origin-offset", "\(offset)"),
        ]
    }

    @Test func whatIsFinishedIsReadFromWhatWorkersWrote() throws {
        let first = stage.harness.now() - 60_000
        for number in 0..<9 { try write("requests", key: "k", "{}", at: first + Int64(number)) }
        // 0, 1 and 6 have results, 3 waits, 4 was divided and 5 became a dead letter. What is told of 2, 7 and 8 does not count: it is not
        // final, of records that stood there at another time, and of another group.
        try stage.write(
            "results",
            [
                (0, result(1)), (1, result(0)), (2, result(6, publishedAt: Timestamp(milliseconds: first + 6).text)),
                (0, result(2, kind: "interim")), (0, result(7, publishedAt: "2020-01-01T00:00:00.000Z")), (0, "no result"),
            ])
        try stage.write("delay-10s", [(0, "{}")], headers: origin(3, of: group))
        try stage.write("delay-10s", [(0, "{}")], headers: origin(8, of: "another"))
        try writeParent(of: 4, publishedAt: first + 4)
        try writeParent(of: 7, publishedAt: first - 7)
        try stage.write(
            "deadletter", [(0, "{}")],
            headers: [
                ("pushfan-dlq-group", group), ("pushfan-dlq-topic", stage.requests), ("pushfan-dlq-partition", "0"),
                ("pushfan-dlq-offset", "5"), ("pushfan-dlq-reason", "not_taken"), ("pushfan-dlq-timestamp-ms", "9"),
            ])
        let outcome = start("--at", "finished", "\(stage.requests):0")
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.output.contains(line(position: 2, before: 2, after: 3, finished: 4)), "\(outcome.output)")
        #expect(outcome.messages.contains("1 position was written: 3 requests will be sent, and 2 lie before"))
        let position = try #require(try committed())
        #expect(position.offset == 2)
        let finished = try FinishedOffsets(decoding: position.metadata)
        #expect((0..<finished.bitCount).filter { finished.contains($0) } == [1, 2, 3, 4])
        #expect(finished.begun == 7)
        // A worker compares them with the topic.
        let records = try #require(finished.marks)
        #expect(records.first.offset == 0 && records.last.offset == 8)
    }

    /// Of each request in a lane only the last copy waits, unless the request has a result.
    @Test func whatWaitsBeginsWithTheFirstCopyThatIsNotFinished() throws {
        let first = stage.harness.now() - 60_000
        func copy(_ role: String, of offset: Int, _ place: Int64, attempt: Int = 0, owner: String? = nil, poll: Bool = false)
            throws
        {
            let more = [("pushfan-attempt", "\(attempt)")] + (poll ? [("pushfan-poll", "1")] : [])
            try write(role, key: "k", "{}", at: first + place, headers: origin(offset, of: owner ?? group) + more)
        }
        // 0 and 3 have results. 2 went on from one copy to the next, and 6 from the held topic to the lane. One is another group's, and
        // the last is a question for an outcome that may have been asked.
        try copy("held", of: 6, 0)
        for (place, offset) in [0, 1, 2, 3].enumerated() { try copy("delay-10s", of: offset, Int64(place)) }
        try copy("delay-10s", of: 2, 4, attempt: 1)
        try copy("delay-10s", of: 5, 5, owner: "another")
        try copy("delay-10s", of: 6, 6)
        try copy("delay-10s", of: 1, 7, poll: true)
        try stage.write("results", [(0, result(0)), (1, result(3)), (0, result(1, kind: "interim"))])
        let lane = TopicPartition(topic: "\(stage.name).delay-10s", partition: 0)
        let expected = [
            line(of: "delay-10s", position: 1, before: 1, after: 3, finished: 3),
            line(of: "held", position: 1, before: 1, after: 0), line(position: 0, before: 0, after: 0),
        ]
        let dry = start("--at", "finished", "--dry-run")
        #expect(dry.code == .done, "\(dry.messages)")
        #expect(expected.allSatisfy { dry.output.contains($0) }, "\(dry.output)")
        #expect(try committed(in: lane)?.offset == nil)
        let outcome = start("--at", "finished")
        #expect(outcome.code == .done && outcome.output == dry.output, "\(outcome.messages)")
        let position = try #require(try committed(in: lane))
        let finished = try FinishedOffsets(decoding: position.metadata)
        #expect(position.offset == 1 && (0..<finished.bitCount).filter { finished.contains($0) } == [1, 2, 6])
    }

    /// A topic was made again: two requests stood at one place. One has a result, the earlier one or the later.
    @Test(arguments: [true, false]) func aLargeRequestIsNotFinishedByTheResultOfAnotherAtItsPlace(isEarlier: Bool) throws {
        let times = [stage.harness.now() - 60_000, stage.harness.now() - 30_000]
        for time in times {
            let key = "\(stage.requests):0:1:\(time)"
            let origin = #"{"topic":"\#(stage.requests)","partition":0,"offset":"1","timestamp_ms":\#(time)}"#
            try write("parents", key: key, #"{"schema_version":1,"id":"r","chunks":1,"calls":1,"origin":\#(origin)}"#)
            try write("parents", key: key + "/0", #"{"v":1,"state":"sent","outcome":"success"}"#)
        }
        let told = Timestamp(milliseconds: times[isEarlier ? 0 : 1]).text
        try stage.write("results", [(0, result(1, publishedAt: told))])
        let dry = start("--at", "finished", "--dry-run")
        let expected =
            isEarlier
            ? line(of: "parents", position: 2, before: 1, after: 1)
            : line(of: "parents", position: 0, before: 0, after: 1, finished: 1)
        #expect(dry.code == .done && dry.output.contains(expected), "\(dry.output) \(dry.messages)")
    }

    /// The result of a request was not taken. Since then its topic was made again, and another request stands at its place.
    @Test func aDeadLetterFinishesTheRequestOfItsTimeAlone() throws {
        let time = stage.harness.now() - 60_000
        for offset in 0..<2 { try write("requests", key: "k", "{}", at: time + Int64(offset)) }
        try stage.write("results", [])
        for (offset, published) in [(0, time - 1), (1, time + 1)] {
            try stage.write(
                "deadletter", [(0, "{}")],
                headers: [
                    ("pushfan-dlq-group", group), ("pushfan-dlq-topic", stage.requests), ("pushfan-dlq-partition", "0"),
                    ("pushfan-dlq-offset", "\(offset)"), ("pushfan-dlq-reason", "not_taken"), ("pushfan-dlq-timestamp-ms", "9"),
                    ("pushfan-dlq-published-ms", "\(published)"),
                ])
        }
        let dry = start("--at", "finished", "--dry-run", "\(stage.requests):0")
        #expect(dry.output.contains(line(position: 0, before: 0, after: 1, finished: 1)), "\(dry.output) \(dry.messages)")
    }

    /// Of four large requests that have ended one has a result, one a dead letter, and one was deleted. Another has a part to go. One came
    /// as a file, and its result names its own record.
    @Test func largeRequestsGoOnWithTheFirstThatHasNoResult() throws {
        let time = stage.harness.now() - 60_000
        func part(_ offset: Int, _ chunk: Int) throws {
            try write("parents", key: "\(stage.requests):0:\(offset)/\(chunk)", #"{"v":1,"state":"sent","outcome":"success"}"#)
        }
        for offset in [1, 2, 3, 4] {
            try writeParent(of: offset, publishedAt: time)
            for chunk in 0..<2 { try part(offset, chunk) }
        }
        try writeParent(of: 5, publishedAt: time)
        try part(5, 1)
        try write("parents", key: ":file:f", #"{"schema_version":1,"id":"f","chunks":1,"calls":1}"#, at: time)
        try write("parents", key: ":file:f/0", #"{"v":1,"state":"sent","outcome":"success"}"#)
        try delete("parents", key: "\(stage.requests):0:2")
        let own = #""origin":{"topic":"\#(stage.name).parents","partition":0,"offset":"14"}}"#
        let told = Timestamp(milliseconds: time).text
        try stage.write(
            "results",
            [
                (0, result(1, publishedAt: told)), (0, result(4, publishedAt: "2020-01-01T00:00:00.000Z")),
                (1, #"{"schema_version":1,"request_id":"f","kind":"final","state":"sent","outcome":"success",\#(own)"#),
            ])
        try stage.write(
            "deadletter", [(0, "{}")],
            headers: [
                ("pushfan-dlq-group", group), ("pushfan-dlq-topic", "\(stage.name).parents"), ("pushfan-dlq-partition", "0"),
                ("pushfan-dlq-offset", "8"), ("pushfan-dlq-reason", "not_taken"), ("pushfan-dlq-timestamp-ms", "9"),
            ])
        let partition = TopicPartition(topic: "\(stage.name).parents", partition: 0)
        let expected = line(of: "parents", position: 9, before: 3, after: 2, finished: 1)
        let dry = start("--at", "finished", "--dry-run")
        #expect(dry.code == .done && dry.output.contains(expected), "\(dry.output) \(dry.messages)")
        #expect(try committed(in: partition)?.offset == nil)
        let outcome = start("--at", "finished", "\(stage.name).parents:0")
        #expect(outcome.code == .done && outcome.output.contains(expected), "\(outcome.output) \(outcome.messages)")
        #expect(outcome.messages.contains("1 position was written: 2 large requests will get a result, and 3 lie before"))
        let digest = String(ParentKey("\(stage.requests):0:4").digest, radix: 16)
        #expect(try committed(in: partition)?.offset == 9)
        #expect(try committed(in: partition)?.metadata == "17 \(digest)")
        let again = start("--at", "beginning", "--replace", "\(stage.name).parents:0")
        #expect(again.messages.contains("17 records of large requests will be read, and 0 lie before"), "\(again.messages)")
        #expect(try committed(in: partition)?.metadata == "0 u17")
    }

    /// As workers see it: what may have been sent, in lanes and in the topic of held requests. Another group's request says nothing, and
    /// neither does one that nobody can have looked at again.
    @Test func lanesThatWorkersLeaveAreNamed() throws {
        let now = stage.harness.now()
        try write("delay-10s", key: "k", "{}", at: now - 60_000, headers: origin(0, of: group))
        try write("held", key: "k", "{}", at: now, headers: origin(1, of: group))
        try stage.write("delay-10s", [(1, "{}")], headers: origin(2, of: "another"))
        let due = ("pushfan-not-before-ms", "\(now + 9_000)")
        try stage.write("delay-10s", [(2, "{}")], headers: origin(3, of: group) + [due])
        var environment = stage.harness.environment
        environment["PUSHFAN_KAFKA_GROUP_ID"] = group
        let settings = try Settings.load(environment: environment, hostName: "host", readFile: { _ in [] })
        let (lane, admin) = ("\(stage.name).delay-10s", try TopicAdmin(kafka))
        func refused() throws -> [TopicPartition] {
            let context = JobContext(kafka: kafka, topics: settings.kafka.topics, timeout: farDeadline, now: { now })
            let examination = GroupExamination(settings.groupTerms, admin: admin, context: context)
            let positions = try examination.positions(in: [(topic: lane, partitionCount: 3)])
            return try examination.starts(among: positions, beside: examination.beside()).refused.map(\.position.partition)
        }
        let held = TopicPartition(topic: "\(stage.name).held", partition: 0)
        #expect(try refused() == [TopicPartition(topic: lane, partition: 0), held])
        let outcome = start("--at", "finished")
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(try refused().isEmpty, "it was decided")
    }

    /// Other places would send all copies, or none.
    @Test func onlyWhatIsFinishedIsSaidOfWhatWaitsUnlessItIsNamed() throws {
        try stage.write("delay-10s", [(0, "{}")], headers: origin(3, of: group))
        let end = start("--at", "end")
        #expect(end.code == .done && !end.output.contains("delay-10s"), "\(end.messages)")
        let named = start("--at", "end", "\(stage.name).delay-10s:0")
        #expect(named.output.contains(line(of: "delay-10s", position: 1, before: 1, after: 0)), "\(named.output)")
    }

    @Test func aContinuationIsFinishedWhenThePartIsWrittenThatItBeginsWith() throws {
        func part(_ chunk: Int, _ remaining: String = "") -> String {
            #"{"id":"r.\#(chunk)","parent":{"key":"t:0:1","chunk":\#(chunk)\#(remaining)}}"#
        }
        let more = #","remaining":[{"audience":{"users":["u"]}}]"#
        // The second record was read: its parts and what continues it are there. That one was not.
        try stage.write("requests-own", [(0, part(0)), (0, part(2, more)), (0, part(2)), (0, part(4, more))])
        let outcome = start("--at", "finished", "\(stage.requests)-own:0")
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.output.contains(#""position":0,"before":0,"after":3,"finished":1"#), "\(outcome.output)")
    }

    @Test func nothingIsWrittenWhileAWorkerIsThereOrForWhatIsNoPlace() throws {
        for words in [
            [], ["--at", "somewhere"], ["--at", "end", "no-topic"], ["--at", "end", "\(stage.requests):9"],
            ["--at", "end", "\(stage.requests):0:1"], ["--at", "end", "--replace"],
        ] as [[String]] {
            let outcome = stage.harness.run(["group", "start", "--group", group] + words)
            #expect(outcome.code == .usage, "\(words) \(outcome.messages)")
        }
        var asked = stage
        asked.traits.isInputTerminal = true
        asked.traits.isErrorTerminal = true
        asked.typed = "no"
        let refusal = asked.harness.run(["group", "start", "--group", group, "--at", "end"])
        #expect(refusal.code == .refused && refusal.messages.contains("Type yes to write them"))
        let member = try Consumer(kafka, groupID: group, wakeUpFileDescriptor: -1)
        defer { member.close(timeout: .seconds(1)) }
        try member.subscribe([stage.requests])
        #expect(
            eventually {
                _ = member.nextEvent()
                let refused = start("--at", "end")
                return refused.code == .refused && refused.messages.contains("1 worker is in the group")
            })
        #expect(try committed()?.offset == nil)
    }
}
