import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Kafka

/// Keeps what the report of each record was told.
private final class Told: Sendable {
    private let deliveries: Mutex<[[Producer.Delivery]]>

    init(_ count: Int) {
        deliveries = Mutex(Array(repeating: [], count: count))
    }

    /// What each report was told, in order.
    var all: [[Producer.Delivery]] { deliveries.withLock { $0 } }

    /// The report of a record.
    func report(_ index: Int) -> @Sendable (Producer.Delivery) -> Void {
        { [self] delivery in add(delivery, at: index) }
    }

    private func add(_ delivery: Producer.Delivery, at index: Int) {
        deliveries.withLock { $0[index].append(delivery) }
    }
}

extension Producer.Delivery {
    fileprivate var isPersisted: Bool {
        if case .persisted = self { true } else { false }
    }
}

/// What is told of each record, on the library's embedded cluster.
@Suite(.tags(.threads, .c)) struct DeliveryReportTests {
    @Test func aRecordIsWhereItsReportSays() throws {
        let mock = try Mock(partitions: 3)
        defer { mock.close() }
        let told = Told(1000)
        for number in 0..<1000 {
            let text = Array("\(number)".utf8)
            try mock.producer.produce(to: mock.topic, key: text.span, value: text.span, report: told.report(number))
        }
        try mock.producer.flush(timeout: farDeadline)
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign([
            (mock.partition(0), .beginning), (mock.partition(1), .beginning), (mock.partition(2), .beginning),
        ])
        try loop.run { loop.records.reduce(0) { $0 + $1.count } >= 1000 }
        #expect(loop.records.allSatisfy { !$0.isEmpty })
        let all = told.all
        for record in loop.records.joined() {
            let number = try #require(Int(record.text ?? ""))
            #expect(all[number] == [.persisted(partition: record.partition, offset: record.offset)])
        }
    }

    @Test func recordsWithAndWithoutReportsDoNotMix() throws {
        let mock = try Mock()
        defer { mock.close() }
        let told = Told(10)
        for number in 0..<10 {
            try mock.producer.write("plain", to: mock.topic)
            try mock.producer.produce(to: mock.topic, key: nil, value: [1].span, report: told.report(number))
        }
        try mock.producer.flush(timeout: farDeadline)
        let expected = (0..<10).map { [Producer.Delivery.persisted(partition: 0, offset: Int64($0) * 2 + 1)] }
        #expect(told.all == expected)
    }

    @Test func whatNoBrokerWasSentIsNotPersisted() throws {
        let configuration = KafkaConfiguration(
            bootstrapServers: "127.0.0.1:1", properties: [.init(key: "message.timeout.ms", value: "100")])
        let producer = try Producer(configuration, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let told = Told(1)
        try producer.produce(
            to: try producer.topic(named: "t"), key: nil, value: [1].span, report: told.report(0))
        try producer.flush(timeout: farDeadline)
        guard case .notPersisted(let error)? = told.all[0].first else {
            Issue.record("told \(told.all)")
            return
        }
        #expect(error.name == "_MSG_TIMED_OUT" && error.message.contains("a record for 't' was not written"))
        #expect(told.all[0].count == 1)
    }

    @Test func whatABrokerRefusesIsNotPersisted() throws {
        let mock = try Mock()
        defer { mock.close() }
        mock.cluster.failNext(apiKey: 0, codes: [29])
        let told = Told(1)
        try mock.producer.produce(to: mock.topic, key: nil, value: [1].span, report: told.report(0))
        try mock.producer.flush(timeout: farDeadline)
        guard case .notPersisted(let error)? = told.all[0].first else {
            Issue.record("told \(told.all)")
            return
        }
        #expect(error.isAuthorization && told.all[0].count == 1)
        #expect(mock.producer.failedDeliveries.count == 1)
    }

    /// NOT_ENOUGH_REPLICAS, and the same after the leader has written it.
    @Test(arguments: [(19, true), (20, false)] as [(Int32, Bool)])
    func whatTooFewReplicasRefuseIsNotPersistedUnlessTheLeaderHasWrittenIt(code: Int32, isCertain: Bool) throws {
        let mock = try Mock(properties: [.init(key: "retries", value: "3")])
        defer { mock.close() }
        mock.cluster.failNext(apiKey: 0, codes: Array(repeating: code, count: 10_000))
        let told = Told(1)
        try mock.producer.produce(to: mock.topic, key: nil, value: [1].span, report: told.report(0))
        try mock.producer.flush(timeout: farDeadline)
        mock.cluster.failNoMore(apiKey: 0)
        switch told.all[0].first {
        case .notPersisted(let error)?: #expect(isCertain && error.isNotEnoughReplicas)
        case .possiblyPersisted?: #expect(!isCertain)
        default: Issue.record("told \(told.all)")
        }
    }

    /// A broker that stops leads partitions no more, and may have written what it answers so.
    @Test func whatALeaderRefusesThatIsNoneAnyMoreIsPossiblyPersisted() throws {
        let mock = try Mock(properties: [.init(key: "message.timeout.ms", value: "500")])
        defer { mock.close() }
        mock.cluster.failNext(apiKey: 0, codes: Array(repeating: 6, count: 10_000))
        let told = Told(1)
        try mock.producer.produce(to: mock.topic, key: nil, value: [1].span, report: told.report(0))
        try mock.producer.flush(timeout: farDeadline)
        guard case .possiblyPersisted(let error)? = told.all[0].first else {
            Issue.record("told \(told.all)")
            return
        }
        #expect(error.name == "_MSG_TIMED_OUT" && told.all[0].count == 1)
    }

    @Test func whatWasSentWithoutAnAnswerIsPossiblyPersisted() throws {
        let mock = try Mock(properties: [.init(key: "retries", value: "1")])
        defer { mock.close() }
        // The broker hangs up (_TRANSPORT) on the record and on its repetition.
        mock.cluster.failNext(apiKey: 0, codes: [-195, -195])
        let told = Told(1)
        try mock.producer.produce(to: mock.topic, key: nil, value: [1].span, report: told.report(0))
        try mock.producer.flush(timeout: farDeadline)
        guard case .possiblyPersisted(let error)? = told.all[0].first else {
            Issue.record("told \(told.all)")
            return
        }
        #expect(error.message.contains("a record for 't' was perhaps not written"))
        #expect(told.all[0].count == 1)
    }

    @Test func aRepetitionOfWhichTheBrokerDoesNotSayThePlaceHasNoOffset() throws {
        // All three are in one batch: it is sent when `flush` asks for it.
        let mock = try Mock(properties: [.init(key: "linger.ms", value: "60000")])
        defer { mock.close() }
        mock.cluster.failNext(apiKey: 0, codes: [46])
        let told = Told(3)
        for number in 0..<3 {
            try mock.producer.produce(to: mock.topic, key: nil, value: [1].span, report: told.report(number))
        }
        try mock.producer.flush(timeout: farDeadline)
        let expected = [Producer.Delivery.persisted(partition: 0, offset: nil)]
        #expect(told.all == [expected, expected, expected])
    }

    @Test func withoutATimeoutAFullQueueIsAnErrorAndNothingIsPolled() throws {
        let mock = try Mock()
        defer { mock.close() }
        let configuration = KafkaConfiguration(
            bootstrapServers: mock.bootstrapServers, properties: [.init(key: "queue.buffering.max.messages", value: "1")])
        let producer = try Producer(configuration, transactionalID: nil, enqueueTimeout: .zero)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: ["t"], timeout: farDeadline).first)
        let told = Told(2)
        try producer.produce(to: topic, key: nil, value: [1].span, report: told.report(0))
        // The record has its place in the queue until its report is told, so one attempt that polls would be seen.
        for _ in 0..<1000 {
            let error = #expect(throws: KafkaError.self) {
                try producer.produce(to: topic, key: nil, value: [2].span, report: told.report(1))
            }
            #expect(error?.name == "_QUEUE_FULL")
        }
        #expect(told.all == [[], []])
        try producer.flush(timeout: farDeadline)
        try producer.produce(to: topic, key: nil, value: [2].span, report: told.report(1))
        try producer.flush(timeout: farDeadline)
        let places = ([0, 1] as [Int64]).map { [Producer.Delivery.persisted(partition: 0, offset: $0)] }
        #expect(told.all == places)
    }

    @Test func whatWasNotTakenHasNoReport() throws {
        let mock = try Mock()
        defer { mock.close() }
        let told = Told(2)
        let long = [UInt8](repeating: 0, count: 2_000_000)
        let error = #expect(throws: KafkaError.self) {
            try mock.producer.produce(to: mock.topic, key: nil, value: long.span, report: told.report(0))
        }
        #expect(error?.refusesRecords == true && error?.isTooLarge == true)
        let bytes = Array("name".utf8)
        let places = [HeaderList.Place(name: 0..<8, value: nil)]
        #expect(throws: KafkaError.self) {
            try mock.producer.produce(
                to: mock.topic, key: nil, value: nil, headers: HeaderList(places.span, of: bytes.span),
                report: told.report(1))
        }
        mock.producer.close(timeout: .zero)
        #expect(told.all == [[], []])
    }

    @Test(arguments: [true, false]) func closingTellsEachOpenReportOnceAndForgetsIt(brokerAnswers: Bool) throws {
        let mock = try Mock()
        defer { mock.close() }
        if !brokerAnswers { mock.cluster.setBroker(1, roundTripTime: .seconds(600)) }
        var told = Told(100)
        for number in 0..<100 {
            try mock.producer.produce(to: mock.topic, key: nil, value: [1].span, report: told.report(number))
        }
        mock.producer.close(timeout: brokerAnswers ? farDeadline : .zero)
        let all = told.all
        #expect(all.allSatisfy { $0.count == 1 && $0[0].isPersisted == brokerAnswers })
        let isHeldByNobodyElse = isKnownUniquelyReferenced(&told)
        #expect(isHeldByNobodyElse)
        let error = #expect(throws: KafkaError.self) {
            try mock.producer.produce(to: mock.topic, key: nil, value: [1].span) { _ in Issue.record("it was not taken") }
        }
        #expect(error?.isClosed == true)
    }

    @Test func aThreadThatPollsTellsUntilTheProducerIsClosed() throws {
        let mock = try Mock()
        defer { mock.close() }
        let producer = mock.producer
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do throws(KafkaError) {
                while true { try producer.poll(timeout: .milliseconds(100)) }
            } catch {
                #expect(error.isClosed)
            }
            hasEnded.signal()
        }
        let told = Told(10)
        for number in 0..<10 {
            try producer.produce(to: mock.topic, key: nil, value: [1].span, report: told.report(number))
        }
        #expect(eventually { told.all.allSatisfy { $0.count == 1 } })
        producer.close(timeout: .seconds(5))
        #expect(hasEnded.wait(timeout: .now() + .seconds(Int(farDeadline.components.seconds))) == .success)
    }
}

/// Reports that are open, without a library.
struct OpenReportsTests {
    @Test func anOpenReportIsToldAtTheEndThatNobodyKnows() throws {
        let reports = OpenReports()
        let told = Told(3)
        let numbers = try (0..<3).map { try reports.add(told.report($0)) }
        #expect(!numbers.contains(0) && Set(numbers).count == 3)
        reports.complete(numbers[1], persistedIn: TopicPartition(topic: "t", partition: 2), at: 7)
        reports.end()
        reports.end()
        for number in numbers { reports.complete(number, persistedIn: TopicPartition(topic: "t", partition: 2), at: 8) }
        let all = told.all
        #expect(all.map(\.count) == [1, 1, 1])
        #expect(all[1] == [.persisted(partition: 2, offset: 7)])
        for index in [0, 2] {
            guard case .possiblyPersisted(let error)? = all[index].first else {
                Issue.record("told \(all)")
                return
            }
            #expect(error.isClosed)
        }
        let error = #expect(throws: KafkaError.self) { _ = try reports.add { _ in } }
        #expect(error?.isClosed == true)
    }

    @Test(
        arguments: [
            ([0, 1, 2], [0, 1, 2]),
            ([-1, 0, 1, 3, 4], [nil, nil, nil, 3, 4]),
            ([5, -1, 6, 7], [5, nil, 6, 7]),
            ([-1, 0, -1, 0, 1, 9], [nil, nil, nil, nil, nil, 9]),
            ([-1001, -1000, -1001, 2], [nil, nil, nil, 2]),
            ([Int64.min, Int64.max], [nil, Int64.max]),
        ] as [([Int64], [Int64?])])
    func anOffsetThatTheLibraryMadeUpIsNone(_ given: [Int64], _ known: [Int64?]) {
        var offsets = BatchOffsets()
        let partition = TopicPartition(topic: "t", partition: 0)
        let other = TopicPartition(topic: "t", partition: 1)
        for (offset, expected) in zip(given, known) {
            let (answer, unrelated) = (offsets.known(offset, in: partition), offsets.known(17, in: other))
            #expect(answer == expected && unrelated == 17)
        }
    }
}
