import Foundation
import TestSupport
import Testing

@testable import Kafka

struct RangeReaderTests {
    @Test func manyPartitionsTakeFewQuestions() throws {
        let count: Int32 = 400
        let mock = try Mock(partitions: Int(count))
        defer { mock.close() }
        for number in 0..<count { try mock.producer.write("\(number)", to: mock.topic, partition: number) }
        try mock.producer.flush(timeout: farDeadline)
        let configuration = KafkaConfiguration(
            bootstrapServers: mock.bootstrapServers, properties: [.init(key: "statistics.interval.ms", value: "100")])
        let reader = try RangeReader(configuration)
        let partitions = (0..<count).map { mock.partition($0) }
        #expect(try reader.ends(of: partitions, timeout: farDeadline) == partitions.map { _ in 1 })
        var values: [Int: String] = [:]
        try reader.read(partitions.map { RangeReader.Part($0, offsets: 0..<1) }, timeout: farDeadline) { index, record in
            values[index] = Record(record).text
            return true
        }
        #expect(values == Dictionary(uniqueKeysWithValues: (0..<Int(count)).map { ($0, "\($0)") }))
        while reader.events.nextClientEvent() != nil {}
        var requests: [String: Int] = [:]
        #expect(
            try eventually {
                guard case .statistics(let json)? = reader.events.nextClientEvent() else { return false }
                requests = try Self.requests(in: json)
                return true
            })
        // One question for the ends, and one more where a leader was not known yet.
        #expect((1...2).contains(requests["ListOffsets"] ?? 0), "\(requests)")
        #expect((1...100).contains(requests["Fetch"] ?? 0), "\(requests)")
    }

    /// The requests that were sent to all brokers, by their kind.
    private static func requests(in statistics: [UInt8]) throws -> [String: Int] {
        let root = try #require(try JSONSerialization.jsonObject(with: Data(statistics)) as? [String: Any])
        let brokers = try #require(root["brokers"] as? [String: [String: Any]])
        return brokers.values.compactMap { $0["req"] as? [String: Int] }.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    @Test func aRangeEndsWhereItShouldOrWhereNoMoreIsWanted() throws {
        let mock = try Mock(partitions: 4)
        defer { mock.close() }
        for number in 0..<40 { try mock.producer.write("\(number)", to: mock.topic, partition: Int32(number % 4)) }
        try mock.producer.flush(timeout: farDeadline)
        let reader = try RangeReader(mock.cluster.configuration)
        let ranges: [Range<Int64>] = [2..<5, 3..<3, 0..<10, 8..<20]
        let parts = ranges.enumerated().map { RangeReader.Part(mock.partition(Int32($0)), offsets: $1) }
        for _ in 0..<2 {
            var offsets: [[Int64]] = [[], [], [], []]
            try reader.read(parts, timeout: farDeadline) { index, record in
                offsets[index].append(record.offset)
                return index != 2
            }
            #expect(offsets == [[2, 3, 4], [], [0], [8, 9]])
        }
    }

    @Test func theBoundsOfATopicAreThoseOfAllItsPartitions() throws {
        let mock = try Mock(partitions: 3)
        defer { mock.close() }
        let reader = try RangeReader(mock.cluster.configuration)
        #expect(try reader.bounds(of: mock.partition(0).topic, timeout: farDeadline) == [0..<0, 0..<0, 0..<0])
        for number in 0..<4 { try mock.producer.write("\(number)", to: mock.topic, partition: Int32(number % 3)) }
        try mock.producer.flush(timeout: farDeadline)
        let bounds = try reader.bounds(of: mock.partition(0).topic, timeout: farDeadline)
        #expect(bounds == [0..<2, 0..<1, 0..<1])
        // The embedded cluster knows no times, as if every record were older.
        let ends = bounds.map(\.upperBound)
        #expect(try reader.offsets(since: 1, of: mock.partition(0).topic, ends: ends, timeout: farDeadline) == ends)
        #expect(!reader.isOutdated)
    }

    @Test func aReadingEndsWhenItsCallerHasHadEnough() throws {
        let mock = try Mock(partitions: 1)
        defer { mock.close() }
        for number in 0..<200 { try mock.producer.write("\(number)", to: mock.topic, partition: 0) }
        try mock.producer.flush(timeout: farDeadline)
        let reader = try RangeReader(mock.cluster.configuration)
        let parts = [RangeReader.Part(mock.partition(0), offsets: 0..<200)]
        for (isOver, isWhole) in [(true, false), (false, true)] {
            var count = 0
            let hasReadAll = try reader.read(parts, timeout: farDeadline, unless: { isOver }) { _, _ in
                count += 1
                return true
            }
            #expect(hasReadAll == isWhole && (count == 200) == isWhole && count <= 200)
        }
    }
}
