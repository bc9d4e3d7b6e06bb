import Kafka
import TestSupport
import Testing

/// Partitions that are read one by one, on the library's embedded cluster.
@Suite(.tags(.threads, .c)) struct PartitionReaderTests {
    private static func reader(_ mock: Mock, _ wakeUp: WakeUp? = nil) throws -> PartitionReader {
        let configuration = KafkaConfiguration(
            bootstrapServers: mock.bootstrapServers,
            properties: [
                .init(key: "fetch.wait.max.ms", value: "5"), .init(key: "queued.max.messages.kbytes", value: "1"),
                .init(key: "max.partition.fetch.bytes", value: "1000"),
            ])
        return try PartitionReader(configuration, wakeUpFileDescriptor: wakeUp?.writeEnd ?? -1)
    }

    /// Reads a slot until `count` records are there or nothing comes any more.
    private static func read(_ reader: PartitionReader, _ slot: Int, count: Int) -> [String] {
        var texts: [String] = []
        _ = eventually {
            while texts.count < count, reader.read(slot: slot, perform: { texts.append(Record($0).text ?? "") }) != .empty {}
            return texts.count >= count
        }
        return texts
    }

    @Test func eachPartitionIsReadByItselfFromWhereItIsToBegin() throws {
        let mock = try Mock(partitions: 3)
        defer { mock.close() }
        for number in 0..<30 { try mock.producer.write("\(number)", to: mock.topic, partition: Int32(number % 3)) }
        try mock.producer.flush(timeout: farDeadline)
        let reader = try Self.reader(mock)
        defer { reader.stop() }
        try reader.start([
            (TopicPartition(topic: "t", partition: 2), .beginning), (TopicPartition(topic: "t", partition: 0), .offset(7)),
        ])
        #expect(Self.read(reader, 1, count: 3) == ["21", "24", "27"])
        // The other one was not touched by that, however long it lay there.
        #expect(Self.read(reader, 0, count: 10) == (0..<10).map { "\($0 * 3 + 2)" })
        #expect(eventually { reader.watermarks(slot: 0)?.high == 10 })
        #expect(reader.read(slot: 2) { _ in } == .empty && reader.watermarks(slot: 2) == nil)
    }

    @Test func theEndOfAPartitionIsToldAndWhatComesThenIsSignalled() throws {
        let mock = try Mock()
        defer { mock.close() }
        let wakeUp = WakeUp()
        let reader = try Self.reader(mock, wakeUp)
        defer { reader.stop() }
        try reader.start([(TopicPartition(topic: "t", partition: 0), .beginning)])
        var end: Int64?
        #expect(
            eventually {
                if case .endOfPartition(let offset) = reader.read(slot: 0, perform: { _ in }) { end = offset }
                return end != nil
            })
        #expect(end == 0)
        while wakeUp.wait(milliseconds: 0) > 0 {}
        try mock.producer.write("late", to: mock.topic)
        try mock.producer.flush(timeout: farDeadline)
        #expect(wakeUp.wait(milliseconds: 10_000) > 0)
        #expect(Self.read(reader, 0, count: 1) == ["late"])
    }

    /// What was fetched before is not read in between, and the end of the partition is reported again.
    @Test func afterGoingBackARecordAndAllBehindItComeAgain() throws {
        let mock = try Mock(partitions: 2)
        defer { mock.close() }
        for number in 0..<40 { try mock.producer.write("\(number)", to: mock.topic, partition: Int32(number % 2)) }
        try mock.producer.flush(timeout: farDeadline)
        let reader = try Self.reader(mock)
        defer { reader.stop() }
        try reader.start([
            (TopicPartition(topic: "t", partition: 0), .beginning), (TopicPartition(topic: "t", partition: 1), .beginning),
        ])
        let all = (0..<20).map { "\($0 * 2)" }
        for count in [1, 7, 20, 3] {
            #expect(Self.read(reader, 0, count: count) == Array(all.prefix(count)))
            try reader.goBack(slot: 0, to: 0)
        }
        #expect(Self.read(reader, 0, count: 6) == Array(all.prefix(6)))
        try reader.goBack(slot: 0, to: 5)
        #expect(Self.read(reader, 0, count: 15) == Array(all.suffix(15)))
        var end: Int64?
        #expect(
            eventually {
                if case .endOfPartition(let offset) = reader.read(slot: 0, perform: { _ in }) { end = offset }
                return end != nil
            })
        #expect(end == 20)
        // The other one goes on where it was.
        #expect(Self.read(reader, 1, count: 20) == (0..<20).map { "\($0 * 2 + 1)" })
        try reader.goBack(slot: 9, to: 0)
    }

    /// A record that is gone does not hold up those behind it.
    @Test func goingBackToNoRecordReadsFromTheFirstOne() throws {
        let mock = try Mock()
        defer { mock.close() }
        for number in 0..<3 { try mock.producer.write("\(number)", to: mock.topic) }
        try mock.producer.flush(timeout: farDeadline)
        let reader = try Self.reader(mock)
        defer { reader.stop() }
        try reader.start([(TopicPartition(topic: "t", partition: 0), .beginning)])
        #expect(Self.read(reader, 0, count: 3) == ["0", "1", "2"])
        try reader.goBack(slot: 0, to: 1000)
        #expect(Self.read(reader, 0, count: 3) == ["0", "1", "2"])
    }

    @Test func aNewStartTakesThePlaceOfTheOneBefore() throws {
        let mock = try Mock(partitions: 2)
        defer { mock.close() }
        for number in 0..<4 { try mock.producer.write("\(number)", to: mock.topic, partition: Int32(number % 2)) }
        try mock.producer.flush(timeout: farDeadline)
        let reader = try Self.reader(mock)
        let partitions = [Int32(0), 1].map { TopicPartition(topic: "t", partition: $0) }
        for round in 0..<20 {
            try reader.start([(partitions[round % 2], .beginning)])
            #expect(reader.partitions == [partitions[round % 2]])
            #expect(Self.read(reader, 0, count: 2) == ["\(round % 2)", "\(round % 2 + 2)"])
        }
        reader.stop()
        reader.stop()
        #expect(reader.partitions.isEmpty && reader.read(slot: 0) { _ in } == .empty)
    }

    @Test func aNameThatIsNotAllowedStartsNothing() throws {
        let mock = try Mock()
        defer { mock.close() }
        let reader = try Self.reader(mock)
        #expect(throws: KafkaError.self) {
            try reader.start([
                (TopicPartition(topic: "t", partition: 0), .beginning), (TopicPartition(topic: "no/name", partition: 0), .end),
            ])
        }
        #expect(reader.partitions.isEmpty)
    }
}
