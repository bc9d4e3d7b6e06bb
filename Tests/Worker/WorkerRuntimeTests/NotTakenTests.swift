import CurlHTTP
import Delivery
import HubAuth
import HubREST
import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The records in the place of what brokers never take.
@Suite
struct NotTakenTests {
    private static let source = OutcomeBatch.Origin(slot: 3, offset: 7)
    private static let place = RecordOrigin(
        topic: "own", partition: 0, offset: 7, timestamp: Timestamp(milliseconds: 1000))
    private static let reader = RequestReader(.tolerant, from: .own)

    /// A request, which is part 2 of 5 or none, and perhaps carries the two parts behind it.
    private static func request(isPart: Bool = true, continues: Bool = false) -> String {
        let remaining = #","remaining":[{"audience":{"users":["b"]}},{"audience":{"users":["c"]}}]"#
        let numbers = #""partition":4,"chunk":2,"chunks":5,"published_at":"2026-01-01T00:00:00Z""#
        let block = #","parent":{"id":"x","key":"t:0:1",\#(numbers)\#(continues ? remaining : "")}"#
        let content = #""audience":{"users":["a"]},"platforms":["apple"],"message":{"title":"T"}"#
        return #"{"id":"x.2",\#(content)\#(isPart ? block : "")}"#
    }

    private static func recorders() throws -> Recorders {
        let connection = try ConnectionString(
            parsing: "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=CANARYkey")
        let hub = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential)
        let connections = ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: 1)
        return Recorders(
            WorkerConfiguration(
                workerID: "w", version: "test", kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), hub: hub,
                connections: connections))
    }

    private static func add(_ destination: OutcomeBatch.Destination, _ value: String = "{}", to batch: inout OutcomeBatch) {
        batch.add(destination, of: source) { record in
            record.setKey { $0.append("key") }
            record.setValue { $0.append(value) }
        }
    }

    /// What stands for a unit: destinations, and key and value of what is not the dead letter.
    private static func replace(_ unit: OutcomeBatch) throws -> (batch: OutcomeBatch, kept: [String]) {
        let batch = try recorders().replacement(
            of: unit, from: source, at: place, failure: .notTaken("MSG_SIZE_TOO_LARGE"), reader: reader)
        #expect(batch.records.allSatisfy { $0.origin == source })
        #expect(batch.records.map(\.destination).filter { $0 == .deadLetters }.count == 1)
        let kept = batch.records.filter { $0.destination != .deadLetters }
        return (batch, kept.map { "\($0.destination.topic) \(batch.text($0.key, of: $0)) \(batch.text($0.value, of: $0))" })
    }

    /// A part that was sent, and its result is too large: it counts as sent all the same.
    @Test func theTallyOfAPartStaysAsItWasWithoutItsResult() throws {
        let text = Array(Self.request().utf8)
        let flight = Flight(index: 0)
        flight.begin(epoch: 0, slot: 3, origin: Self.place, now: Timestamp(milliseconds: 2000), monotonic: 0)
        #expect(
            Self.reader.read(text.span, headers: RecordHeaders(), origin: Self.place, into: &flight.request) == .request
        )
        flight.report.calls = [DeliveryReport.Call(platform: .apple)]
        flight.report.calls[0].outcome = .success
        var recorders = try Self.recorders()
        var unit = OutcomeBatch()
        _ = recorders.finish(flight, hub: ByteWriter(), now: Timestamp(milliseconds: 3000), into: &unit)
        Self.add(.poll(0), to: &unit)
        Self.add(.handles, to: &unit)
        let tally = try #require(unit.records.first { $0.destination == .parents(4) })
        let (batch, kept) = try Self.replace(unit)
        #expect(kept == ["parents t:0:1/2 \(unit.text(tally.value, of: tally))"])
        #expect(batch.units().map(\.topics) == [[.deadLetters, .parents]])
        // Where that is not taken either, nothing but the dead letter is left.
        #expect(try Self.replace(batch).kept.isEmpty)
    }

    /// The result of a whole is too large: its records are deleted all the same.
    @Test func whatDeletesTheRecordsOfAWholeStaysWithoutItsResult() throws {
        var unit = OutcomeBatch()
        Self.add(.results, to: &unit)
        for key in ["t:0:1", "t:0:1/0"] {
            unit.add(.parents(4), of: Self.source) { record in record.setKey { $0.append(key) } }
        }
        #expect(try Self.replace(unit).kept == ["parents t:0:1 -", "parents t:0:1/0 -"])
    }

    /// Parts that wait, or are written, and cannot be: they failed, and their whole ends.
    @Test(
        arguments: [
            (.delay(1), "ambiguous"), (.held(0), "transient"), (.own(9), "transient"),
        ] as [(OutcomeBatch.Destination, String)])
    func partsThatCannotGoOnHaveFailed(_ destination: OutcomeBatch.Destination, outcome: String) throws {
        for continues in [false, true] {
            var unit = OutcomeBatch()
            Self.add(destination, Self.request(continues: continues), to: &unit)
            let kept = try Self.replace(unit).kept
            #expect(kept.map { $0.prefix(16) } == (2...(continues ? 4 : 2)).map { "parents t:0:1/\($0) "[...] })
            #expect(kept.allSatisfy { $0.contains(#""state":"failed","outcome":"\#(outcome)","code":"internal""#) })
        }
    }

    /// No whole counts on these. The last one is the first step of a large request, which is given up before it has parts.
    @Test(
        arguments: [
            [(.delay(1), request(isPart: false))], [(.own(1), "?")], [(.poll(1), request())], [(.parents(4), "{}")],
            [(.results, "{}")], [(.parents(4), "{}"), (.own(1), request())],
        ] as [[(OutcomeBatch.Destination, String)]])
    func anythingElseLeavesADeadLetterAlone(_ records: [(destination: OutcomeBatch.Destination, value: String)]) throws {
        var unit = OutcomeBatch()
        for record in records { Self.add(record.destination, record.value, to: &unit) }
        #expect(try Self.replace(unit).kept.isEmpty)
    }
}
