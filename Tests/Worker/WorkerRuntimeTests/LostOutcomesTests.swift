import Delivery
import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// What of a batch that could not be committed is kept for the case that its partitions come back.
@Suite
struct LostOutcomesTests {
    private static let partition = Membership.Partition(topic: "requests", number: 0)
    private static let position = LedgerCommit(offset: 0, metadata: "")

    /// A request that was read at an offset and has its outcome.
    private static func flight(_ outcome: Outcome, at offset: Int64 = 7, id: String = "a") -> Flight {
        let text = Array(#"{"id":"\#(id)","audience":{"users":["u"]},"platforms":["apple"],"message":{"title":"T"}}"#.utf8)
        let origin = RecordOrigin(topic: "requests", partition: 0, offset: offset, timestamp: Timestamp(milliseconds: 1000))
        let flight = Flight(index: 0)
        flight.begin(epoch: 0, slot: 3, origin: origin, now: Timestamp(milliseconds: 2000), monotonic: 0)
        _ = RequestReader(.tolerant).read(text.span, headers: RecordHeaders(), origin: origin, into: &flight.request)
        flight.place.valueByteCount = text.count
        flight.report.calls = [DeliveryReport.Call(platform: .apple)]
        flight.report.calls[0].outcome = outcome
        return flight
    }

    private static func add(_ destination: OutcomeBatch.Destination, of flight: Flight, to batch: inout OutcomeBatch) {
        batch.add(destination, of: .init(slot: flight.place.slot, offset: flight.place.offset)) {
            $0.setValue { $0.append("more") }
        }
    }

    private static func record(_ flight: Flight, into batch: inout OutcomeBatch) {
        var recorder = ResultRecorder(workerID: "w", version: "test")
        _ = recorder.record(flight, hub: ByteWriter(), now: Timestamp(milliseconds: 3000), into: &batch)
    }

    /// What is known of the partition in slot 3 when it comes back.
    private static func known(of batch: OutcomeBatch, isWritten: Bool = false) -> UncommittedResults<OutcomeBatch> {
        var known = UncommittedResults<OutcomeBatch>()
        known.noteLost(partition, at: [position], knowing: batch.knownEntries(isWritten: isWritten)[3] ?? [])
        return known
    }

    /// What failed for certain may be called again: no device has heard of it. A worker in between may have called it as well, so that it
    /// could not say that any more.
    @Test(arguments: Outcome.allCases)
    func onlyWhatADeviceMayHaveHeardOfIsKept(_ outcome: Outcome) {
        var batch = OutcomeBatch()
        Self.record(Self.flight(outcome), into: &batch)
        #expect(Self.known(of: batch).count == (outcome == .success || outcome == .ambiguous ? 1 : 0))
    }

    @Test(
        arguments: [
            (.poll(0), true), (.handles, true), (.parents(1), true), (.results, true), (.delay(0), true), (.held(1), false),
            (.own(4), false), (.deadLetters, false),
        ] as [(OutcomeBatch.Destination, Bool)])
    func aResultIsKeptWithWhatCanBeWrittenBesideIt(_ destination: OutcomeBatch.Destination, isKept: Bool) throws {
        var batch = OutcomeBatch()
        let flight = Self.flight(.success)
        Self.record(flight, into: &batch)
        Self.add(destination, of: flight, to: &batch)
        // Another request's is no part of it.
        Self.add(.held(1), of: Self.flight(.success, at: 8), to: &batch)
        var known = Self.known(of: batch)
        let found = known.take(KnownRequest(flight), of: Self.partition)
        guard isKept else { return #expect(found == nil && known.count == 0) }
        let outcome = try #require(found)
        #expect(outcome.records.map(\.destination) == [.results, destination])
    }

    /// What rang and waits for another call is not called again either, but for the requests of a key, whose order would suffer.
    @Test(
        arguments: [
            (.success, true, .delay(0), true), (.ambiguous, true, .delay(0), true), (.success, false, .delay(0), false),
            (.transient, true, .delay(0), false), (.success, true, .held(1), false),
        ] as [(Outcome, Bool, OutcomeBatch.Destination, Bool)])
    func aHistoryIsKeptIfItTellsOfACallThatADeviceMayHaveHeardOf(
        _ outcome: Outcome, wasSent: Bool, _ destination: OutcomeBatch.Destination, isKept: Bool
    ) {
        var batch = OutcomeBatch()
        let flight = Self.flight(outcome)
        flight.work.wasSent = wasSent
        flight.place.envelope.setKey(Array("customer-7".utf8).span)
        let due = Timestamp(milliseconds: 9000)
        DelayRecorder(group: "g").record(flight, to: destination, due: due, history: ByteWriter(), into: &batch)
        var known = Self.known(of: batch)
        let found = known.take(KnownRequest(flight), of: Self.partition)
        #expect(found?.records.map(\.destination) == (isKept ? [destination] : nil))
    }

    @Test func itIsRecordedAsItWasForTheSlotThatThePartitionHasThen() throws {
        var batch = OutcomeBatch()
        for offset in 5...9 as ClosedRange<Int64> {
            Self.record(Self.flight(.success, at: offset, id: "r\(offset)"), into: &batch)
        }
        var single = OutcomeBatch()
        Self.record(Self.flight(.success, at: 6, id: "r6"), into: &single)
        var known = Self.known(of: batch)
        let found = known.take(KnownRequest(Self.flight(.success, at: 6, id: "r6")), of: Self.partition)
        var outcome = try #require(found)
        outcome.move(to: 1)
        let record = try #require(outcome.records.first)
        #expect(record.origin == .init(slot: 1, offset: 6))
        #expect(outcome.text(record.key, of: record) == "r6")
        #expect(outcome.text(record.value, of: record) == single.text(single.records[0].value, of: single.records[0]))
        #expect(record.headers.count == single.records[0].headers.count)
    }

    @Test func whatIsWrittenIsKnownAndNotWrittenAgain() throws {
        var batch = OutcomeBatch()
        let flight = Self.flight(.success)
        Self.record(flight, into: &batch)
        var known = Self.known(of: batch, isWritten: true)
        let outcome = known.take(KnownRequest(flight), of: Self.partition)
        #expect(try #require(outcome).isEmpty)
    }

    /// Without transactions the committer may write the records of a batch whose partitions the loop has just lost.
    @Test func whatIsWrittenAfterItsPartitionWasLostIsNotWrittenAgain() throws {
        let flight = Self.flight(.success)
        var offered = OfferedBatch()
        var batch = OutcomeBatch()
        Self.record(flight, into: &batch)
        let offset = OffsetCommit(TopicPartition(topic: "requests", partition: 0), offset: 8, metadata: "")
        offered.job = CommitJob(batch: batch, offsets: [offset], before: [Self.position])
        offered.slots = [flight.place.slot]
        offered.known.noteLost(Self.partition, at: [Self.position], knowing: batch.knownEntries()[flight.place.slot] ?? [])
        offered.noteWritten()
        #expect(offered.known.count == 1)
        let outcome = offered.known.take(KnownRequest(flight), of: Self.partition)
        #expect(try #require(outcome).isEmpty)
        #expect(offered.known.count == 0 && offered.known.byteCount == 0)
    }

    @Test func anotherRequestAtTheOffsetIsNotTakenForIt() {
        var batch = OutcomeBatch()
        Self.record(Self.flight(.success), into: &batch)
        var known = Self.known(of: batch)
        #expect(known.take(KnownRequest(Self.flight(.success, id: "b")), of: Self.partition) == nil)
    }
}
