import Kafka
import TestSupport
import Testing

@testable import CallbackRecords

@Suite(.tags(.threads)) struct ReceiverStatesTests {
    @Test func whatIsWrittenIsHeard() throws {
        let broker = try CallbackBroker()
        let writer = try StateWriter(broker.kafka, topic: broker.topics.states, timeout: farDeadline)
        defer { writer.close() }
        let paused = ReceiverState(paused: true, reason: "moves", by: "ann", at: CallbackBroker.now)
        try writer.write(paused, of: "shop")
        let changes = Box(0)
        let states = ReceiverStates(broker.kafka, topic: broker.topics.states) { changes.withLock { $0 += 1 } }
        defer { states.close() }
        #expect(eventually { states.isKnown })
        #expect(states.states == ["shop": paused])
        #expect(eventually { changes.withLock { $0 } == 1 })
        let running = ReceiverState(paused: false, at: CallbackBroker.now + 1)
        try writer.write(running, of: "shop")
        try writer.write(paused, of: "bank")
        #expect(eventually { states.states == ["shop": running, "bank": paused] })
        #expect(eventually { changes.withLock { $0 } == 3 })
        #expect(states.problem == nil)
        #expect(try ReceiverStates.read(broker.topics.states, by: broker.context) == ["shop": running, "bank": paused])
    }

    @Test func whatCannotBeReadChangesNothing() throws {
        let broker = try CallbackBroker()
        let paused = ReceiverState(paused: true, at: CallbackBroker.now)
        try broker.write(paused.json(of: "shop"), to: broker.topics.states, key: "shop")
        for value in ["7", "{}", "\u{0}", "[1]"] { try broker.write(Array(value.utf8), to: broker.topics.states, key: "shop") }
        try broker.write(paused.json(of: "x"), to: broker.topics.states, key: String(repeating: "x", count: 1000))
        #expect(try ReceiverStates.read(broker.topics.states, by: broker.context) == ["shop": paused])
    }

    @Test func aMissingTopicIsToldAndMeansThatNobodyIsPaused() throws {
        let broker = try CallbackBroker()
        broker.cluster.setTopic(broker.topics.states, isMissing: true)
        let states = ReceiverStates(broker.kafka, topic: broker.topics.states)
        defer { states.close() }
        #expect(eventually { states.isKnown && states.problem?.isUnknownTopicOrPartition == true })
        #expect(states.states.isEmpty)
        #expect(try ReceiverStates.read(broker.topics.states, by: broker.context).isEmpty)
        broker.cluster.setTopic(broker.topics.states, isMissing: false)
        #expect(eventually { states.problem == nil })
    }

    @Test func aWriterGoesOnWithAnotherProducerAfterPropertiesHaveChanged() throws {
        let broker = try CallbackBroker()
        let live = LiveProperties([])
        var kafka = broker.kafka
        kafka.live = live
        let writer = try StateWriter(kafka, topic: broker.topics.states, timeout: farDeadline)
        let state = ReceiverState(paused: true, at: CallbackBroker.now)
        #expect(!writer.isOutdated)
        #expect(live.renew([LiveProperties.Property(key: "socket.timeout.ms", value: "5000")]) == .reopening)
        #expect(writer.isOutdated)
        try writer.write(state, of: "shop")
        #expect(!writer.isOutdated)
        #expect(try ReceiverStates.read(broker.topics.states, by: broker.context) == ["shop": state])
        writer.close()
        #expect(throws: KafkaError.self) { try writer.write(state, of: "shop") }
    }
}
