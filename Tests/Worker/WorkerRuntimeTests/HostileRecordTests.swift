import Delivery
import Foundation
import HubEmulator
import Kafka
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Records of strangers that brokers take from them, and would not take from a worker.
@Suite(.serialized, .needsKafka)
struct HostileRecordTests {
    private static let good = #"{"id":"good","audience":{"users":["a"]},"platforms":["apple"],"message":{"title":"T"}}"#

    /// Publishes records that a broker takes because they are compressed.
    private func publishCompressed(
        _ bench: Bench, _ records: [(value: [UInt8], headers: [(String, [UInt8])])]
    ) throws {
        var settings = bench.kafka
        settings.properties.append(.init(key: "compression.type", value: "gzip"))
        settings.properties.append(.init(key: "message.max.bytes", value: "20000000"))
        let producer = try Producer(settings, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [bench.topics.requests], timeout: farDeadline).first)
        for record in records {
            var headers = HeaderList()
            for (name, value) in record.headers { headers.append(name: Array(name.utf8).span, value: value.span) }
            try producer.produce(to: topic, partition: 0, key: nil, value: record.value.span, headers: headers)
        }
        try producer.flush(timeout: farDeadline)
        #expect(producer.failedDeliveries.count == 0)
    }

    @Test func aRecordThatCallsItselfADeadLetterHoldsNothingUpHoweverLargeItsHeadersAre() throws {
        let bench = try Bench(.real, partitions: 1)
        let names = ["topic", "partition", "offset", "timestamp-ms", "group", "reason", "message"]
        let own = names.map { ("pushfan-dlq-\($0)", Array("theirs".utf8)) }
        let zeros = [UInt8](repeating: 0, count: 9_000_000)
        try publishCompressed(
            bench, [(Array("not json".utf8), own + [("zeros", zeros), ("small", [1, 2, 3])]), (Array(Self.good.utf8), [])])
        let worker = try bench.startWorker()
        #expect(try bench.results(1).first?.requestID == "good")
        try worker.stop()
        let letters = try bench.readAll(bench.topics.deadLetters)
        let letter = try #require(letters.first)
        #expect(letters.count == 1)
        #expect(letter.value == Array("not json".utf8))
        #expect(letter.header("pushfan-dlq-topic") == bench.topics.requests)
        #expect(letter.header("pushfan-dlq-offset") == "0")
        #expect(letter.header("pushfan-dlq-cut-bytes") == "9000005")
        #expect(letter.headers.contains { $0.name == "small" } && !letter.headers.contains { $0.name == "zeros" })
        #expect(letter.headers.filter { $0.name.hasPrefix("pushfan-dlq-") }.count == 8)
    }

    @Test func aRequestWithLargeHeadersIsRefusedWhenItIsRead() throws {
        let bench = try Bench(.real, partitions: 1)
        try publishCompressed(bench, [(Array(Self.good.utf8), [("zeros", [UInt8](repeating: 0, count: 9_000_000))])])
        let worker = try bench.startWorker()
        let result = try #require(try bench.results(1).first)
        #expect(result.summary == "rejected payload record_too_large 0")
        #expect(result.requestID == "good")
        try worker.stop()
    }

    /// The key waits for half an hour. What follows it could not be written to the topic of held requests, with our headers beside its own.
    @Test func followersThatAreTooLargeToBeHeldAreRefusedAndTheOthersAreHeld() throws {
        let bench = try Bench(.real, partitions: 1)
        let start = Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 1_800_000)
        var text = ByteWriter()
        text.append(start)
        func request(_ id: String, _ more: String = "") -> String {
            #"{"id":"\#(id)","ordering_key":"k","audience":{"users":["a"]},"platforms":["apple"],"message":{"title":"T"}\#(more)}"#
        }
        try bench.publish(request("first", #","not_before":"\#(text.text)""#))
        var generator = Seeded(state: 5)
        let ballast = (0..<1_047_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for number in 0..<26 {
            try bench.publish(Array(request("large\(number)").utf8), headers: [("ballast", ballast)], partition: 0)
        }
        for number in 0..<200 { try bench.publish(Array(request("small\(number)").utf8), partition: 0) }
        try bench.publish(Array(Self.good.utf8), partition: 0)
        let worker = try bench.startWorker { $0.window = 64 }
        let early = try bench.results(27)
        #expect(early.filter { $0.summary == "rejected payload record_too_large 0" }.count == 26)
        #expect(early.contains { $0.requestID == "good" })
        bench.clock.advance(by: .seconds(1801))
        try bench.results(228)
        try worker.stop()
        let all = try bench.resultsByRequest()
        #expect(all.count == 228)
        #expect(all["first"]?.summary == "sent success - 1")
        #expect((0..<200).allSatisfy { all["small\($0)"]?.summary == "sent success - 1" })
    }

    /// A lane whose topic takes less than a request needs: it alone is given up, and says so.
    @Test func whatBrokersNeverTakeIsFoundAmongOthersAndBecomesADeadLetter() throws {
        let bench = try Bench(.real, partitions: 1, limits: .init(delays: 5000))
        try bench.hub.register(EmulatedDevice(id: "d", platform: "apns", handle: "device-d", tags: ["username:a"]))
        let start = Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 600_000)
        var text = ByteWriter()
        text.append(start)
        var generator = Seeded(state: 5)
        let large = (0..<6000).map { _ in UInt8.random(in: 97...122, using: &generator) }
        var requests: [String] = []
        for number in 0..<300 {
            let isBad = number % 100 == 70
            let body = isBad ? String(decoding: large, as: UTF8.self) : "b"
            let moment = isBad || number % 3 == 0 ? #","not_before":"\#(text.text)""# : ""
            requests.append(
                #"{"id":"r\#(number)","audience":{"users":["a"]},"platforms":["apple"],"message":{"title":"T"},"data":{"x":"\#(body)"}\#(moment)}"#
            )
        }
        try bench.publish(all: requests, partition: 0)
        let worker = try bench.startWorker { $0.refusalPatience = .zero }
        let letters = try bench.read(bench.topics.deadLetters, count: 3)
        #expect(letters.map { $0.header("pushfan-dlq-offset") } == ["70", "170", "270"])
        #expect(letters.allSatisfy { $0.header("pushfan-dlq-reason") == "not_taken" && $0.value == nil })
        let times = try bench.readAll(bench.topics.requests).map(\.mark)
        for letter in letters {
            let mark = times.first { "\($0.offset)" == letter.header("pushfan-dlq-offset") }
            #expect(letter.header("pushfan-dlq-published-ms") == mark?.time.map { "\($0)" })
        }
        #expect(letters.allSatisfy { $0.header("pushfan-dlq-message")?.contains("MSG_SIZE_TOO_LARGE") == true })
        bench.clock.advance(by: .seconds(601))
        try bench.results(297)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 297)
        #expect(results.values.allSatisfy { $0.summary == "sent success - 1" })
        #expect(bench.hub.devices(tag: "username:a").first?.rungCount == 297, "nothing was sent twice")
        #expect(try bench.committed()?.offset == 300)
    }

    /// The result of one of three parts is too large for its topic. All three were sent, so that the whole was.
    @Test func aPartWhoseResultIsNeverTakenCountsForItsWhole() throws {
        let bench = try Bench(.real, partitions: 1, limits: .init(results: 2200))
        var generator = Seeded(state: 5)
        func word(_ count: Int) -> String {
            String(decoding: (0..<count).map { _ in UInt8.random(in: 97...122, using: &generator) }, as: UTF8.self)
        }
        let labels = (0..<16).map { _ in "\"\(word(32))\":\"\(word(64))\"" }.joined(separator: ",")
        let large = #","source":"\#(word(256))","labels":{\#(labels)}"#
        func part(_ chunk: Int, _ more: String = "") -> String {
            let numbers = #""partition":0,"chunk":\#(chunk),"chunks":3,"published_at":"2026-01-01T00:00:00Z""#
            let content = #""audience":{"users":["a"]},"platforms":["apple"],"message":{"title":"T"}"#
            return #"{"id":"whole.\#(chunk)",\#(content),"parent":{"id":"whole","key":"t:0:1",\#(numbers)}\#(more)}"#
        }
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [bench.topics.parents], timeout: farDeadline).first)
        let opening = #"{"schema_version":1,"id":"whole","chunks":3,"calls":3}"#
        try producer.produce(
            to: topic, partition: 0, key: Array("t:0:1".utf8).span, value: Array(opening.utf8).span, timestamp: nil)
        try producer.flush(timeout: farDeadline)
        try bench.publish(all: [part(0, large)], to: .own)
        let worker = try bench.startWorker { $0.refusalPatience = .zero }
        #expect(eventually { bench.metric("pushfan_results_failed_total") > 0 })
        // Their topics take others, so that it is the record that is at fault.
        try bench.publish(all: [part(1), part(2)], to: .own)
        let letter = try #require(try bench.read(bench.topics.deadLetters, count: 1).first)
        #expect(letter.header("pushfan-dlq-topic") == bench.topics.requestsOwn && letter.header("pushfan-dlq-offset") == "0")
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(Set(results.keys) == ["whole", "whole.1", "whole.2"])
        let whole = try #require(results["whole"])
        #expect(whole["state"] == "sent" && whole["parts.count"] == 3 && whole["parts.sent"] == 3)
        var latest: [[UInt8]: [UInt8]?] = [:]
        for record in try bench.readAll(bench.topics.parents) { latest[record.key ?? []] = .some(record.value) }
        #expect(latest.count == 4 && latest.values.allSatisfy { $0 == nil })
    }

    /// It could be the topic's setting, which somebody mends.
    @Test func whatBrokersRefuseIsGivenUpAfterMinutesAndHoldsUpNoOtherMeanwhile() throws {
        let bench = try Bench(.real, partitions: 1, limits: .init(delays: 5000))
        let start = Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 1_800_000)
        var text = ByteWriter()
        text.append(start)
        func request(_ id: String, _ data: String, _ more: String = "") -> String {
            #"{"id":"\#(id)","audience":{"users":["a"]},"platforms":["apple"],"message":{"title":"T"},"data":{"x":"\#(data)"}\#(more)}"#
        }
        let later = #","not_before":"\#(text.text)""#
        var generator = Seeded(state: 5)
        let large = (0..<6000).map { _ in UInt8.random(in: 97...122, using: &generator) }
        try bench.publish(all: [request("large", String(decoding: large, as: UTF8.self), later)], partition: 0)
        try bench.publish(all: (0..<20).map { request("r\($0)", "b", $0 == 10 ? later : "") }, partition: 0)
        let worker = try bench.startWorker()
        try bench.results(19)
        #expect(try bench.readAll(bench.topics.deadLetters).isEmpty)
        bench.clock.advance(by: .seconds(301))
        let letter = try #require(try bench.read(bench.topics.deadLetters, count: 1).first)
        #expect(letter.header("pushfan-dlq-offset") == "0")
        #expect(letter.header("pushfan-dlq-reason") == "not_taken")
        bench.clock.advance(by: .seconds(1501))
        try bench.results(20)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 20)
        #expect(try bench.committed()?.offset == 21)
    }

    @Test func aDeadLetterThatItsTopicFindsTooLargeIsCut() throws {
        let bench = try Bench(.real, partitions: 1, limits: .init(deadLetters: 100_000))
        var generator = Seeded(state: 7)
        try bench.publish((0..<400_000).map { _ in UInt8.random(in: 128...255, using: &generator) }, partition: 0)
        try bench.publish(Array(Self.good.utf8), partition: 0)
        let worker = try bench.startWorker { $0.deadLetterHeaders = [.native, .connect, .spring] }
        try bench.results(1)
        try worker.stop()
        let letters = try bench.readAll(bench.topics.deadLetters)
        #expect(letters.count == 1)
        #expect(letters.first?.value == nil)
        #expect(letters.first?.header("pushfan-dlq-offset") == "0")
        #expect(letters.first?.header("pushfan-dlq-cut-bytes") != nil)
        #expect(try bench.committed()?.offset == 2)
    }
}
