import Kafka
import TestSupport
import Testing

/// Reading without a group, and asking about topics, on the library's embedded cluster.
@Suite(.tags(.threads, .c)) struct ReaderTests {
    @Test func aReaderReadsAllPartitionsUpToTheEndAtItsStart() throws {
        let mock = try Mock(partitions: 3)
        defer { mock.close() }
        for number in 0..<30 { try mock.producer.write("\(number)", to: mock.topic, partition: Int32(number % 2)) }
        try mock.producer.flush(timeout: farDeadline)
        let reader = try reader(mock, .beginning)
        #expect(reader.partitionCount == 3)
        #expect(reader.remainingCount == 30)
        try mock.producer.write("later", to: mock.topic, partition: 2)
        let records = try readToEnd(reader)
        #expect(records.filter { $0.partition != 2 }.count == 30)
        #expect(try reader.refreshPartitions(timeout: farDeadline) == 0)
        reader.close()
        #expect(reader.read(timeout: .zero) { _ in } != .record)
    }

    @Test func aReaderStartsAtGivenOffsets() throws {
        let mock = try Mock(partitions: 2)
        defer { mock.close() }
        for number in 0..<10 { try mock.producer.write("\(number)", to: mock.topic, partition: Int32(number % 2)) }
        try mock.producer.flush(timeout: farDeadline)
        let reader = try reader(mock, .offsets([0: 4, 1: 99]))
        #expect(reader.positions == [0: 4, 1: 5])
        #expect(try readToEnd(reader).map(\.text) == ["8"])
        #expect(reader.positions == [0: 5, 1: 5])
    }

    @Test func aReaderThatStopsStandsAtItsEndHoweverMuchComesMeanwhile() throws {
        let mock = try Mock()
        defer { mock.close() }
        for number in 0..<10 { try mock.producer.write("\(number)", to: mock.topic) }
        try mock.producer.flush(timeout: farDeadline)
        let configuration = KafkaConfiguration(bootstrapServers: mock.bootstrapServers)
        let reader = try TopicReader(surveying: "t", configuration: configuration, timeout: farDeadline)
        for number in 10..<100 { try mock.producer.write("\(number)", to: mock.topic) }
        try mock.producer.flush(timeout: farDeadline)
        try reader.begin(at: [0: 5])
        #expect(try readToEnd(reader).map(\.text) == (5..<10).map { "\($0)" })
        for _ in 0..<200 { _ = reader.read(timeout: .milliseconds(1)) { _ in } }
        #expect(reader.positions == [0: 10])
    }

    @Test(arguments: [Int.min, 0, 1024, 32 << 20, .max]) func whateverIsReadAheadAllIsRead(readAhead: Int) throws {
        let mock = try Mock()
        defer { mock.close() }
        for number in 0..<100 { try mock.producer.write("\(number)", to: mock.topic) }
        try mock.producer.flush(timeout: farDeadline)
        let configuration = KafkaConfiguration(bootstrapServers: mock.bootstrapServers)
        let reader = try TopicReader(
            configuration, topic: "t", start: .beginning, timeout: farDeadline, readAhead: readAhead)
        #expect(try readToEnd(reader).map(\.text) == (0..<100).map { "\($0)" })
    }

    @Test func aFetcherSaysWhereAPartitionBeginsAndEndsBeforeAndBetweenItsRecords() throws {
        let mock = try Mock(partitions: 3)
        defer { mock.close() }
        let fetcher = try RecordFetcher(mock.cluster.configuration, readAhead: 1 << 20)
        for count in 1...3 {
            try mock.producer.write("\(count)", to: mock.topic, partition: 1)
            try mock.producer.flush(timeout: farDeadline)
            #expect(try fetcher.endOffset(of: mock.partition(1), timeout: farDeadline) == Int64(count))
            guard case .record(let record) = try fetcher.record(at: 0, of: mock.partition(1), timeout: farDeadline) else {
                Issue.record("the record is gone")
                return
            }
            #expect(record.offset == 0)
            fetcher.stop()
        }
        #expect(try fetcher.startOffset(of: mock.partition(1), timeout: farDeadline) == 0)
        #expect(try fetcher.endOffset(of: mock.partition(2), timeout: farDeadline) == 0)
        #expect(try fetcher.partitionCount(of: "t", timeout: farDeadline) == 3)
    }

    @Test func aReaderAtTheEndSeesOnlyWhatComes() throws {
        let mock = try Mock()
        defer { mock.close() }
        try mock.producer.write("old", to: mock.topic)
        try mock.producer.flush(timeout: farDeadline)
        let reader = try reader(mock, .end)
        #expect(reader.hasReachedEnd)
        try mock.producer.write("new", to: mock.topic)
        var texts: [String?] = []
        let deadline = ContinuousClock.now + farDeadline
        while texts.isEmpty, ContinuousClock.now < deadline {
            _ = reader.read(timeout: .milliseconds(200)) { texts.append(Record($0).text) }
        }
        #expect(texts == ["new"])
    }

    /// As right after a topic was made, or while leaders move: ListOffsets (2) meets a broker that does not lead, or nobody does.
    @Test func aPartitionWhoseLeaderIsBeingFoundIsAskedAgain() throws {
        let mock = try Mock()
        defer { mock.close() }
        try mock.producer.write("a", to: mock.topic)
        try mock.producer.flush(timeout: farDeadline)
        mock.cluster.failNext(apiKey: 2, codes: [6, 5, 6])
        #expect(try readToEnd(try reader(mock, .beginning)).map(\.text) == ["a"])
    }

    /// With slow answers the last question finds no time for one. In 10 s one of the others does.
    @Test(arguments: [Duration.zero, .milliseconds(100)])
    func aPartitionWithoutALeaderIsToldWhenTimeIsUp(slowness: Duration) throws {
        let mock = try Mock()
        defer { mock.close() }
        mock.cluster.failNext(apiKey: 2, codes: [Int32](repeating: 6, count: 10_000))
        mock.cluster.setBroker(1, roundTripTime: slowness)
        let error = #expect(throws: KafkaError.self) {
            _ = try reader(mock, .beginning, timeout: .seconds(10))
        }
        #expect(error?.name == "NOT_LEADER_FOR_PARTITION")
    }

    @Test func anUnreachableClusterIsATypedError() throws {
        let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        let error = #expect(throws: KafkaError.self) {
            try TopicAdmin(configuration).describe(topics: ["t"], timeout: .seconds(1))
        }
        #expect(error?.isUnreachable == true)
        let create = #expect(throws: KafkaError.self) {
            try TopicAdmin(configuration).createTopics([NewTopic(name: "t")], timeout: .milliseconds(300))
        }
        #expect(create?.isUnreachable == true)
    }

    /// The embedded cluster finds no record by its time.
    @Test func topicsAreAskedTogetherHowFarTheyHaveGrown() throws {
        let mock = try Mock(partitions: 2)
        defer { mock.close() }
        for _ in 0..<3 { try mock.producer.write("x", to: mock.topic, partition: 1) }
        try mock.producer.flush(timeout: farDeadline)
        let growths = try mock.producer.growths(of: ["t"], since: 0, timeout: farDeadline)
        #expect(growths.map(\.end) == [0, 3] && growths.map(\.partition) == [mock.partition(0), mock.partition(1)])
    }

    @Test func theClusterIsDescribed() throws {
        let cluster = try MockCluster(brokers: 2)
        defer { cluster.close() }
        try cluster.createTopic("three", partitions: 3)
        let admin = try TopicAdmin(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers))
        let description = try admin.describe(topics: ["three", "no topic", ""], timeout: farDeadline)
        #expect(description.brokerCount == 2)
        #expect(description.topics == [.existing(partitionCount: 3), .missing, .missing])
        let leaders = description.partitions.map { $0.map(\.leader) }
        #expect(leaders[0].count == 3 && leaders[0].allSatisfy { $0 == 1 || $0 == 2 } && leaders[1...] == [[], []])
    }

    /// Twelve seconds are more than the other clients wait for an answer.
    @Test(.takesLong) func onlyItsOwnLimitEndsAQuestionToASlowBroker() throws {
        let cluster = try MockCluster()
        defer { cluster.close() }
        try cluster.createTopic("t", partitions: 2)
        let admin = try TopicAdmin(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers))
        _ = try admin.describe(topics: ["t"], timeout: farDeadline)
        cluster.setBroker(1, roundTripTime: .seconds(12))
        #expect(try admin.ends(of: [0, 1], in: "t", timeout: farDeadline) == [0, 0])
        let error = #expect(throws: KafkaError.self) { try admin.ends(of: [0], in: "t", timeout: .seconds(1)) }
        #expect(error?.isTimeout == true)
    }

    private func reader(
        _ mock: Mock, _ start: TopicReader.Start, timeout: Duration = farDeadline
    ) throws -> TopicReader {
        let configuration = KafkaConfiguration(
            bootstrapServers: mock.bootstrapServers, properties: [.init(key: "fetch.wait.max.ms", value: "5")])
        return try TopicReader(configuration, topic: "t", start: start, timeout: timeout)
    }
}

/// Reads until the reader has reached its end.
func readToEnd(_ reader: TopicReader) throws -> [Record] {
    var records: [Record] = []
    let deadline = ContinuousClock.now + farDeadline
    while !reader.hasReachedEnd {
        try #require(ContinuousClock.now < deadline)
        let result = reader.read(timeout: .milliseconds(100)) { records.append(Record($0)) }
        if case .error(let error) = result { throw error }
    }
    return records
}
