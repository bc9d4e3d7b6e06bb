import TestSupport
import Testing

@testable import Kafka

/// What is written and what is read, on the library's embedded cluster.
@Suite(.tags(.threads, .c)) struct RecordTests {
    @Test func recordArrivesAsItWasWritten() throws {
        let mock = try Mock()
        defer { mock.close() }
        var headers = HeaderList()
        headers.append("text", value: "ünï")
        headers.append("empty", value: "")
        headers.append(name: Array("missing".utf8).span, value: nil)
        headers.append(name: Array("text".utf8).span, value: [0, 255].span)
        try mock.producer.produce(
            to: mock.topic, key: [1, 2].span, value: [3, 0, 4].span, headers: headers, timestamp: 1_700_000_000_123)
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign([(mock.partition(), .beginning)])
        try loop.run { !loop.records[0].isEmpty }
        let record = try #require(loop.records.first?.first)
        #expect(record.offset == 0)
        #expect(record.key == [1, 2])
        #expect(record.value == [3, 0, 4])
        #expect(record.timestamp == 1_700_000_000_123)
        #expect(
            record.headers == [
                .init("text", Array("ünï".utf8)), .init("empty", []), .init("missing", nil), .init("text", [0, 255]),
            ])
    }

    @Test func aKeyGoesToThePartitionThatIsToldBefore() throws {
        let mock = try Mock(partitions: 7)
        defer { mock.close() }
        let keys = (0..<50).map { Array("request-\($0)".utf8) }
        for key in keys { try mock.producer.produce(to: mock.topic, key: key.span, value: [1].span) }
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign((0..<7).map { (mock.partition($0), .beginning) })
        try loop.run { loop.records.reduce(0) { $0 + $1.count } == keys.count }
        for record in loop.records.joined() {
            let key = try #require(record.key)
            #expect(Producer.partition(ofKey: key.span, of: 7) == record.partition)
        }
        #expect(Set(keys.map { Producer.partition(ofKey: $0.span, of: 7) }).count == 7)
    }

    @Test(
        arguments: [
            (.min, nil), (-1, nil), (0, 0), (1_700_000_000_123, 1_700_000_000_123), (253_402_300_799_999, 253_402_300_799_999),
            (253_402_300_800_000, 253_402_300_799_999), (.max, 253_402_300_799_999),
        ] as [(Int64, Int64?)])
    func anAbsurdTimestampIsClamped(number: Int64, shown: Int64?) {
        #expect(ConsumedRecord.timestamp(number) == shown)
    }

    @Test(arguments: [(0, 0), (4711, 4711), (.max - 1, .max - 1), (.max, .max - 1)] as [(Int64, Int64)])
    func behindEveryOffsetThereIsANumber(number: Int64, shown: Int64) {
        #expect(ConsumedRecord.offset(number) == shown)
    }

    @Test func headersAreWrittenFromTheirPlaces() throws {
        let mock = try Mock()
        defer { mock.close() }
        let bytes = Array("nameval".utf8)
        let places: [HeaderList.Place] = [
            .init(name: 0..<4, value: 4..<7), .init(name: 4..<7, value: 7..<7), .init(name: 0..<4, value: nil),
        ]
        try mock.producer.produce(
            to: mock.topic, key: nil, value: nil, headers: HeaderList(places.span, of: bytes.span))
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign([(mock.partition(), .beginning)])
        try loop.run { !loop.records[0].isEmpty }
        let record = try #require(loop.records.first?.first)
        #expect(record.headers == [.init("name", Array("val".utf8)), .init("val", []), .init("name", nil)])
    }

    @Test(arguments: [(0..<8, nil), (-1..<2, nil), (0..<4, 4..<8), (0..<4, -1..<1)] as [(Range<Int>, Range<Int>?)])
    func aHeaderOutsideOfItsBytesIsRefused(_ name: Range<Int>, _ value: Range<Int>?) throws {
        let mock = try Mock()
        defer { mock.close() }
        let bytes = Array("nameval".utf8)
        let places = [HeaderList.Place(name: 0..<4, value: 4..<7), .init(name: name, value: value)]
        #expect(throws: KafkaError.self) {
            try mock.producer.produce(
                to: mock.topic, key: nil, value: nil, headers: HeaderList(places.span, of: bytes.span))
        }
    }

    @Test func tombstoneEmptyValueAndMissingKeyAreToldApart() throws {
        let mock = try Mock()
        defer { mock.close() }
        let empty: [UInt8] = []
        try mock.producer.produce(to: mock.topic, key: [1].span, value: nil)
        try mock.producer.produce(to: mock.topic, key: nil, value: empty.span)
        try mock.producer.produce(to: mock.topic, key: empty.span, value: [1].span)
        try mock.producer.produce(to: mock.topic, key: nil, value: nil)
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign([(mock.partition(), .beginning)])
        try loop.run { loop.records[0].count == 4 }
        #expect(loop.records[0].map(\.key) == [[1], nil, [], nil])
        #expect(loop.records[0].map(\.value) == [nil, [], [1], nil])
        #expect(loop.records[0].allSatisfy { $0.headers.isEmpty })
    }

    @Test func aFullQueueMakesProduceWaitAndNothingIsLost() throws {
        let mock = try Mock(properties: [.init(key: "queue.buffering.max.messages", value: "10")])
        defer { mock.close() }
        for number in 0..<2000 { try mock.producer.write("\(number)", to: mock.topic) }
        try mock.producer.flush(timeout: farDeadline)
        #expect(mock.producer.failedDeliveries == DeliveryFailures())
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign([(mock.partition(), .beginning)])
        try loop.run { loop.records[0].count >= 2000 }
        #expect(loop.records[0].map(\.text) == (0..<2000).map { "\($0)" })
    }

    @Test func aQueueThatStaysFullIsAnError() throws {
        let configuration = KafkaConfiguration(
            bootstrapServers: "127.0.0.1:1", properties: [.init(key: "queue.buffering.max.messages", value: "1")])
        let producer = try Producer(configuration, transactionalID: nil, enqueueTimeout: .milliseconds(50))
        defer { producer.close(timeout: .zero) }
        let topic = try producer.topic(named: "t")
        try producer.write("fits", to: topic)
        let error = #expect(throws: KafkaError.self) {
            var headers = HeaderList()
            headers.append("h", value: "v")
            try producer.produce(to: topic, key: nil, value: [1].span, headers: headers)
        }
        #expect(error?.name == "_QUEUE_FULL")
    }

    @Test func aRecordThatTheBrokerRefusesIsCounted() throws {
        let mock = try Mock()
        defer { mock.close() }
        mock.cluster.failNext(apiKey: 0, codes: [29])
        try mock.producer.write("refused", to: mock.topic)
        try mock.producer.flush(timeout: farDeadline)
        #expect(mock.producer.failedDeliveries.count == 1)
        #expect(mock.producer.failedDeliveries.first?.name == "TOPIC_AUTHORIZATION_FAILED")
        #expect(mock.producer.failedDeliveries.first?.isAuthorization == true)
    }

    @Test func warmUpNamesTheTopicThatIsMissing() throws {
        let mock = try Mock()
        defer { mock.close() }
        #expect(throws: KafkaError.self) { try mock.producer.topic(named: "no spaces") }
        let producer = try Producer(KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), transactionalID: nil)
        let error = #expect(throws: KafkaError.self) { try producer.warmUp(topics: ["t"], timeout: .milliseconds(300)) }
        #expect(error?.isUnreachable == true)
        producer.close(timeout: .zero)
    }

    @Test func aClosedProducerThrows() throws {
        let mock = try Mock()
        defer { mock.close() }
        mock.producer.close(timeout: .seconds(5))
        mock.producer.close(timeout: .seconds(5))
        let error = #expect(throws: KafkaError.self) { try mock.producer.write("late", to: mock.topic) }
        #expect(error?.isClosed == true)
    }
}

extension Record.Header {
    init(_ name: String, _ value: [UInt8]?) {
        self.init(name: name, value: value)
    }
}
