import Delivery
import HubEmulator
import Kafka
import TestSupport
import Testing
import WorkerRuntime

/// Whatever stands on the topic, every record ends as exactly one result or one dead letter, and nothing holds up the others.
@Suite(.serialized)
struct ContractTests {
    /// How a record must end.
    private enum Fate: Equatable {
        case sent
        case rejected(String)
        case dead(String)
    }

    private struct Oddity {
        var value: [UInt8]?
        var key: [UInt8]?
        var headers: [(String, [UInt8]?)] = []
        var fate: Fate

        init(_ value: [UInt8]?, key: [UInt8]? = nil, headers: [(String, [UInt8]?)] = [], _ fate: Fate) {
            (self.value, self.key, self.headers, self.fate) = (value, key, headers, fate)
        }

        init(_ text: String, _ fate: Fate) { self.init(Array(text.utf8), fate) }
    }

    private static let good = #"{"audience":{"users":["alice"]},"platforms":["apple"],"message":{"title":"T"}}"#

    private static let oddities: [Oddity] = [
        Oddity(
            nil, key: [0xFF, 0x00, 0x0A], headers: [("x-own", [0xFE, 0x00]), ("x-null", nil), ("x-empty", [])], .dead("empty")),
        Oddity([], key: [], .dead("empty")),
        Oddity(Array(#"{"message":{"title":""#.utf8) + [0xC3, 0x28] + Array(#""}}"#.utf8), .dead("invalid_utf8")),
        Oddity([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000), .rejected("record_too_large")),
        Oddity(
            [UInt8](repeating: UInt8(ascii: "["), count: 500 << 10), key: Array("deep".utf8),
            headers: [("pushfan-dlq-topic", Array("an.earlier.one".utf8))], .dead("nested_too_deeply")),
        Oddity(#"{"id":"dup","id":"dup","audience":{"users":["a"]},"message":{"title":"T"}}"#, .rejected("schema_invalid")),
        Oddity(
            #"{"audience":{"categories":["a\r\nServiceBusNotification-Tags: b"]},"message":{"title":"T"}}"#,
            .rejected("schema_invalid")),
        Oddity(#"{"audience":{"users":["a\r\nb"]},"message":{"title":"T"}}"#, .rejected("schema_invalid")),
        Oddity(
            #"{"audience":{"tag_expression":"a\r\n|| b"},"message":{"title":"T"}}"#, .rejected("tag_expression_invalid")),
        Oddity(
            #"{"audience":{"users":["a"]},"message":{"title":"T","badge":99999999999999999999},"ttl_seconds":1e999}"#,
            .rejected("schema_invalid")),
        Oddity("[1,2,3]", .dead("not_an_object")),
        Oddity("hello", .dead("unexpected_byte")),
        Oddity(#"{"hub":"other","audience":{"users":["alice"]},"message":{"title":"T"}}"#, .rejected("unknown_hub")),
        Oddity(#"{"audience":{"users":[]},"message":{"title":"T"}}"#, .rejected("schema_invalid")),
        Oddity(#"{"audience":{},"message":{"title":"T"}}"#, .rejected("schema_invalid")),
        Oddity(#"{"message":{"title":"T"}}"#, .rejected("schema_invalid")),
    ]

    @Test(arguments: brokers) func everyOddRecordHasOneFateAndHoldsNothingUp(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        try bench.hub.register(
            EmulatedDevice(id: "d1", platform: "apns", handle: String(repeating: "AB", count: 32), tags: ["username:alice"]))
        var records: [Oddity] = [Oddity(Self.good, .sent)]
        for oddity in Self.oddities { records += [oddity, Oddity(Self.good, .sent)] }
        for record in records { try bench.publish(record.value, key: record.key, headers: record.headers, partition: 0) }
        let worker = try bench.startWorker { $0.deadLetterHeaders = [.native, .connect, .spring] }
        let deadCount = records.count { if case .dead = $0.fate { true } else { false } }
        try bench.results(records.count - deadCount)
        _ = try bench.read(bench.topics.deadLetters, count: deadCount)
        try worker.stop()

        let results = try bench.resultsByRequest()
        let letters = try bench.readAll(bench.topics.deadLetters)
        #expect(letters.count == deadCount)
        #expect(results.count == records.count - deadCount)
        for (offset, record) in records.enumerated() {
            let result = results.values.first { $0["origin.offset"] == "\(offset)" }
            let letter = letters.first { $0.header("pushfan-dlq-offset") == "\(offset)" }
            switch record.fate {
            case .sent: #expect(result?.summary == "sent success - 1", "offset \(offset)")
            case .rejected(let code): #expect(result?.summary == "rejected \(Self.outcome(code)) \(code) 0", "offset \(offset)")
            case .dead(let reason):
                let letter = try #require(letter, "offset \(offset)")
                expectDeadLetter(letter, of: record, reason, offset: offset, bench)
            }
            #expect((result == nil) != (letter == nil), "offset \(offset) has one fate")
        }
        #expect(bench.hub.calls().count == Self.oddities.count + 1)
        #expect(bench.hub.devices().first?.rungCount == Self.oddities.count + 1)
        let committed = try bench.committed()
        #expect(committed?.offset == Int64(records.count))
        #expect(try FinishedOffsets(decoding: committed?.metadata ?? "").bitCount == 0)
        #expect(bench.metric("pushfan_dead_letters_total") == Double(deadCount))
        #expect(bench.metric("pushfan_records_consumed_total") == Double(records.count))
    }

    private static func outcome(_ code: String) -> String { code == "unknown_hub" ? "permanent" : "payload" }

    private func expectDeadLetter(_ letter: ReadBack, of record: Oddity, _ reason: String, offset: Int, _ bench: Bench) {
        #expect(letter.value == record.value)
        #expect(letter.key == record.key)
        // What says to be a dead letter's is the record's own no more.
        for (index, header) in record.headers.filter({ !$0.0.hasPrefix("pushfan-dlq-") }).enumerated() {
            #expect(letter.headers.dropFirst(index).first?.name == header.0)
            #expect(letter.headers.dropFirst(index).first?.value == header.1)
        }
        #expect(letter.headers.filter { $0.name == "pushfan-dlq-topic" }.count == 1)
        #expect(letter.header("pushfan-dlq-topic") == bench.topics.requests)
        #expect(letter.header("pushfan-dlq-partition") == "0")
        #expect(letter.header("pushfan-dlq-group") == bench.name)
        #expect(letter.header("pushfan-dlq-reason") == reason)
        #expect(letter.header("pushfan-dlq-message")?.hasSuffix(".") == true)
        #expect(Int64(letter.header("pushfan-dlq-timestamp-ms") ?? "") ?? 0 > 1_700_000_000_000)
        #expect(letter.header("__connect.errors.topic") == bench.topics.requests)
        #expect(letter.header("__connect.errors.partition") == "0")
        #expect(letter.header("__connect.errors.offset") == "\(offset)")
        let bytes = Dictionary(letter.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        #expect(bytes["kafka_dlt-original-partition"] == [0, 0, 0, 0])
        #expect(bytes["kafka_dlt-original-offset"] == [0, 0, 0, 0, 0, 0, 0, UInt8(offset)])
        #expect(bytes["kafka_dlt-original-timestamp"]??.count == 8)
        #expect(letter.header("kafka_dlt-original-topic") == bench.topics.requests)
    }

    @Test(.needsKafka)
    func aKeyThatLeavesADeadLetterNoRoomIsCutAndHoldsNothingUp() throws {
        let bench = try Bench(.real, partitions: 1)
        // Bytes that no compression makes smaller: 500 KB of value and 540 KB of key fill a record to the broker's limit.
        var generator = Seeded(state: 7)
        let value = (0..<500_000).map { _ in UInt8.random(in: 128...255, using: &generator) }
        let key = (0..<548_200).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try bench.publish(value, key: key, partition: 0)
        try bench.publish(Array(Self.good.utf8), partition: 0)
        let worker = try bench.startWorker { $0.deadLetterHeaders = [.native, .connect, .spring] }
        try bench.results(1)
        try worker.stop()
        let letters = try bench.readAll(bench.topics.deadLetters)
        #expect(letters.count == 1)
        #expect(letters.first?.value == value)
        #expect(letters.first?.key == nil)
        #expect(letters.first?.header("pushfan-dlq-offset") == "0")
        #expect(letters.first?.header("pushfan-dlq-cut-bytes") == "548200")
        #expect(try bench.committed()?.offset == 2)
    }
}

/// A small generator with a seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
