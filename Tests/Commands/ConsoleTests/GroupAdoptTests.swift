import Delivery
import Foundation
import Kafka
import TestSupport
import Testing

@testable import Console

/// A group with another name goes on where the one before was. Needs transactions.
@Suite(.needsKafka, .serialized)
struct GroupAdoptTests {
    private let stage: ReplayStage
    private let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    private var old: String { stage.name + ".old" }
    private var new: String { stage.name + ".new" }

    init() throws { stage = try ReplayStage(["delay-10s", "held", "parents"]) }

    private func partition(_ role: String, _ number: Int32 = 0) -> TopicPartition {
        TopicPartition(topic: "\(stage.name).\(role)", partition: number)
    }

    /// Says where a group is that has no members.
    private func place(_ group: String, _ positions: [OffsetCommit]) throws {
        let producer = try Producer(kafka, transactionalID: stage.name, transactionTimeout: farDeadline)
        defer { producer.close(timeout: .zero) }
        try producer.initTransactions(timeout: farDeadline)
        // On a broker that has no topic of positions yet, librdkafka 2.0.2 never ends to send them: nothing asked for a coordinator before.
        if let first = positions.first { _ = try committed(group, first.partition) }
        try producer.beginTransaction()
        try producer.sendOffsets(positions, group: GroupMetadata(withoutMembers: group), timeout: farDeadline)
        try producer.commitTransaction(timeout: nil)
    }

    private func committed(_ group: String, _ partition: TopicPartition) throws -> CommittedOffset? {
        let consumer = try Consumer(kafka, groupID: group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        return try consumer.group.committed([partition], timeout: farDeadline).first
    }

    private func adopt(_ words: String...) -> Outcome {
        stage.harness.run(["group", "adopt", old, "--group", new] + words)
    }

    private func finished(_ distances: [Int], latest: Int64? = nil) -> String {
        var finished = FinishedOffsets()
        for distance in distances { finished.insert(distance) }
        finished.latest = latest
        return finished.encoded()
    }

    @Test func whatWaitsIsMovedOnceAndPositionsGoOnWhereTheyWere() throws {
        // Offsets 0 to 9: what is even is the old group's, and of that 0, 2 and 6 are finished.
        for number in 0..<10 {
            let owner = number.isMultiple(of: 2) ? old : "another"
            try stage.write(
                "delay-10s", [(0, #"{"id":"r\#(number)"}"#)],
                headers: [("pushfan-lane", "bulk"), ("pushfan-group", owner), ("pushfan-not-before-ms", "\(number)")])
        }
        let requests = finished([1, 3], latest: 77)
        try place(
            old,
            [
                OffsetCommit(partition("requests"), offset: 5, metadata: requests),
                OffsetCommit(partition("parents", 1), offset: 8, metadata: "9"),
                OffsetCommit(partition("delay-10s"), offset: 2, metadata: finished([0, 4])),
            ])
        let dry = adopt("--dry-run", "-o", "json")
        #expect(dry.code == .done, "\(dry.messages)")
        #expect(dry.output.contains(#""topic":"\#(stage.name).delay-10s","positions":1,"moved":2,"unknown":0"#), "\(dry.output)")
        #expect(try committed(new, partition("requests"))?.offset == nil)
        let outcome = adopt()
        #expect(outcome.code == .done && outcome.messages.contains("3 positions and 2 waiting requests were taken over"))
        let position = try committed(new, partition("requests"))
        #expect(position?.offset == 5 && position?.metadata == requests)
        #expect(try committed(new, partition("parents", 1))?.metadata == "9")
        #expect(try committed(new, partition("delay-10s"))?.offset == 2)
        let lane = try stage.read("delay-10s", atLeast: 12)
        #expect(lane.count == 12)
        let moved = lane.filter { $0.headers["pushfan-group"] == new }
        #expect(moved.map(\.value) == [#"{"id":"r4"}"#, #"{"id":"r8"}"#])
        #expect(moved.allSatisfy { $0.headers["pushfan-lane"] == "bulk" && $0.key == "key" })
        #expect(moved.map { $0.headers["pushfan-not-before-ms"] } == ["4", "8"])
        // Once more there is nothing left; and the old group would find nothing either.
        let again = adopt()
        #expect(again.code == .done && again.messages.contains("0 positions and 0 waiting requests"), "\(again.messages)")
        #expect(try stage.read("delay-10s", atLeast: 12).count == 12)
    }

    @Test func nothingIsMovedWhileAWorkerIsThereOrNobodyKnowsWhatWasDone() throws {
        try stage.write("held", [(1, "{}")], headers: [("pushfan-group", old)])
        for words in [["--dry-run"], []] {
            let absent = stage.harness.run(["group", "adopt", old, "--group", new] + words)
            #expect(absent.code == .nothingMatched && absent.output.isEmpty, "\(absent.messages)")
            #expect(absent.messages.contains("the group '\(old)' is not there: it has no position in any topic of the settings"))
            #expect(absent.messages.contains("`kafka-consumer-groups.sh --bootstrap-server "))
        }
        try place(old, [OffsetCommit(partition("requests"), offset: 0, metadata: finished([]))])
        let unknown = adopt("-o", "json")
        #expect(unknown.code == .partlyFailed)
        #expect(
            unknown.output.contains(#""topic":"\#(stage.name).held","positions":0,"moved":0,"unknown":1"#), "\(unknown.output)")
        #expect(stage.harness.run(["group", "adopt", new, "--group", new]).code == .usage)
        #expect(stage.harness.run(["group", "adopt"]).code == .usage)
        let member = try Consumer(kafka, groupID: old, wakeUpFileDescriptor: -1)
        defer { member.close(timeout: .seconds(1)) }
        try member.subscribe(["\(stage.name).requests"])
        #expect(
            eventually {
                _ = member.nextEvent()
                let refused = adopt()
                return refused.code == .refused && refused.messages.contains("1 worker is in one of the two groups")
            })
    }
}
