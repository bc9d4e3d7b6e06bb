import JobSupport
import Kafka
import PushModel
import ResultFeed
import TestSupport
import Testing
import Webhooks

@testable import CallbackRecords

@Suite(.tags(.threads)) struct CallbackReplayTests {
    private let broker: CallbackBroker

    init() throws { broker = try CallbackBroker() }

    private func write(_ letter: CallbackDeadLetter, partition: Int32 = 0) throws {
        let value = letter.json(at: Timestamp(milliseconds: CallbackBroker.now))
        try broker.write(value, to: broker.topics.deadLetters, partition: partition, key: letter.receiver)
    }

    private func replay(_ choice: CallbackReplay.Choice, isDry: Bool = false) throws -> CallbackReplay.Counts {
        try CallbackReplay(broker.topics, by: broker.context).run(choice, since: 0, isDry: isDry)
    }

    private func text(_ id: String) -> String { String(decoding: CallbackBroker.result(id), as: UTF8.self) }

    private func letter(
        _ id: String, of receiver: String = "shop", offset: Int64 = 7, isLarge: Bool = false
    ) -> CallbackDeadLetter {
        SampleLetter.make(of: receiver, result: id, offset: offset, line: isLarge ? nil : CallbackBroker.result(id))
    }

    @Test func theDeadLettersOfAReceiverAreSentOnceEach() throws {
        for (number, id) in ["1", "2", "1", "3", "2"].enumerated() { try write(letter(id), partition: Int32(number % 2)) }
        try write(letter("4", of: "bank"))
        try write(letter("5", of: "shop2"))
        #expect(try replay(.deadLetters(of: "shop"), isDry: true) == .init(found: 3, written: 0, unreadable: 0))
        #expect(try broker.values(of: broker.topics.replays).isEmpty)
        #expect(try replay(.deadLetters(of: "shop")) == .init(found: 3, written: 3, unreadable: 0))
        let values = try broker.values(of: broker.topics.replays)
        #expect(values.keys.sorted() == ["shop"])
        #expect(values["shop"]?.sorted() == ["1", "2", "3"].map(text))
    }

    @Test func aResultThatADeadLetterHasNoRoomForIsReadFromItsPlace() throws {
        try broker.writeResults(3, partition: 1)
        try write(letter("1.1", offset: 1, isLarge: true))
        try write(letter("gone", offset: 1000, isLarge: true))
        #expect(try replay(.deadLetters(of: "shop")) == .init(found: 1, written: 1, unreadable: 1))
        #expect(try broker.values(of: broker.topics.replays) == ["shop": [text("1.1")]])
    }

    @Test func whatCannotBeReadIsCounted() throws {
        for value in ["7", "{}", "[1]"] { try broker.write(Array(value.utf8), to: broker.topics.deadLetters, key: "shop") }
        let strange = SampleLetter.make(line: Array("{}".utf8))
        try write(strange)
        #expect(try replay(.deadLetters(of: "shop")) == .init(found: 0, written: 0, unreadable: 4))
    }

    @Test func allThatAReceiverWantsIsSent() throws {
        let topic = broker.topics.results
        try broker.write(CallbackBroker.result("1"), to: topic)
        try broker.write(CallbackBroker.result("2", kind: "interim"), to: topic)
        try broker.write(CallbackBroker.result("3", kind: "outcome"), to: topic, partition: 1)
        try broker.write(CallbackBroker.result("4", source: "bank"), to: topic)
        try broker.write(CallbackBroker.result("5", tenant: "south"), to: topic)
        try broker.write(CallbackBroker.result("1"), to: topic)
        try broker.write(Array("{}".utf8), to: topic)
        var receiver = Receiver(
            name: "shop", url: ReceiverURL(isSecure: true, host: "shop.example", port: 443, target: "/"), secrets: [])
        (receiver.sources, receiver.tenant) = (["shop"], "north")
        #expect(try replay(.results(for: receiver)) == .init(found: 2, written: 2, unreadable: 0))
        (receiver.sources, receiver.tenant, receiver.kinds) = ([], nil, ["interim"])
        #expect(try replay(.results(for: receiver)) == .init(found: 1, written: 1, unreadable: 0))
    }

    @Test func aTopicThatIsMissingIsNamed() throws {
        try write(letter("1"))
        broker.cluster.setTopic(broker.topics.replays, isMissing: true)
        let failure = #expect(throws: JobFailure.self) { try replay(.deadLetters(of: "shop")) }
        guard case .kafka(let error, .write(topic: broker.topics.replays)) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        #expect(error.isUnknownTopicOrPartition)
    }
}
