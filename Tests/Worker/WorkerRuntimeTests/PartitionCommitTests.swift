import Basics
import Delivery
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The position that a partition has in a commit, and whether it has one.
@Suite
struct PartitionCommitTests {
    private static let id = TopicPartition(topic: "requests", partition: 0)
    /// Long after whatever was read.
    private static let now = MonotonicTime.at(2 * BeginReserve.restPatience)

    /// A partition that began at a position.
    ///
    /// - Parameters:
    ///   - role: The role of its records.
    ///   - offset: The group's position, or nil for none.
    ///   - begun: The reserve or the reach that it names, or nil if it names none.
    ///   - end: The end of the partition then.
    /// - Returns: The partition.
    private static func partition(
        _ role: PartitionRole = .requests(.normal), at offset: Int64? = 100, begun: Int64? = 0, end: Int64? = 100
    ) -> PartitionState {
        var finished = FinishedOffsets()
        finished.begun = begun
        let metadata = role == .parents ? "" : finished.encoded()
        let committed = offset.map { LedgerCommit(offset: $0, metadata: metadata) }
        let plan = AssignmentPlan([.init(role.kind, committed: committed, end: end)], window: 64, heldWindow: 64, reach: nil)
        return PartitionState(
            id, role: role, plan: plan.partitions[0], committed: committed, lag: Gauge(), consumed: Counter())
    }

    /// A partition whose reserve of 50 offsets may be given back, because whoever had it before has ended.
    private static func resting() -> PartitionState {
        var partition = partition(begun: 50)
        partition.begun.overlapEnded()
        return partition
    }

    private static func changed(_ partition: PartitionState, by change: (inout PartitionState) -> Void) -> PartitionState {
        var copy = partition
        change(&copy)
        return copy
    }

    /// The batches that a worker offers.
    enum Batch: CaseIterable {
        /// That of one that runs.
        case running
        /// The same after it stood still.
        case doubtful
        /// That of one which lets calls finish.
        case draining
        /// The last one.
        case closing

        var facts: OfferFacts {
            OfferFacts(
                closes: self == .closing, isRunning: self == .running || self == .doubtful, isDoubtful: self == .doubtful,
                now: now)
        }
    }

    /// A partition, and the batches in which it has a position.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let parentsMark: Int64?
        let batches: [Batch]
        let partition: @Sendable () -> PartitionState

        init(_ name: String, parentsMark: Int64? = nil, in batches: [Batch], partition: @escaping @Sendable () -> PartitionState)
        {
            testDescription = name
            self.parentsMark = parentsMark
            self.batches = batches
            self.partition = partition
        }
    }

    static let rows = [
        Row("nothing new", in: [.doubtful]) { partition() },
        Row("something finished", in: Batch.allCases) { changed(partition()) { $0.isDirty = true } },
        Row("a gap", in: Batch.allCases) { changed(partition()) { $0.reachedEnd(110) } },
        Row("no record yet", in: []) { partition(at: nil) },
        Row("begun at 0 without a position", in: Batch.allCases) {
            changed(partition(at: nil)) { $0.ledger = OffsetLedger(start: 0, window: 64) }
        },
        Row("closed", in: [.running, .doubtful]) { changed(partition()) { $0.isClosed = true } },
        Row("a record that waits for a reserve", in: [.running, .doubtful]) {
            changed(partition()) { $0.parked = flight(at: 100) }
        },
        Row("a record that waits for the window", in: [.doubtful]) {
            changed(partition(begun: 9)) { $0.parked = flight(at: 108) }
        },
        Row("a reserve at rest", in: [.running, .doubtful, .closing]) { resting() },
        Row("a reserve in use", in: [.doubtful, .closing]) { changed(resting()) { $0.reserve.read(at: now) } },
        Row("large requests", parentsMark: 100, in: []) { partition(.parents) },
        Row("large requests that ended", parentsMark: 101, in: Batch.allCases) { partition(.parents) },
        Row("large requests without a position", parentsMark: 0, in: []) { partition(.parents, at: nil) },
        Row("the first of them ended", parentsMark: 1, in: Batch.allCases) { partition(.parents, at: nil) },
    ]

    private static func flight(at offset: Int64) -> Flight {
        let flight = Flight(index: 0)
        let origin = RecordOrigin(topic: id.topic, partition: id.partition, offset: offset, timestamp: 1)
        flight.begin(epoch: 0, slot: 0, origin: origin, now: 1, monotonic: 0)
        return flight
    }

    @Test(arguments: rows) func aPartitionHasAPositionInSomeBatches(_ row: Row) {
        let partition = row.partition()
        #expect(Batch.allCases.filter { partition.isToBeCommitted($0.facts, parentsMark: row.parentsMark) } == row.batches)
    }

    @Test func inOrderOnlyTheMarkSaysThatAResultWaitsForNone() {
        var partition = Self.partition()
        partition.isDirty = true
        #expect(!partition.mayPublishInOrder(parentsMark: nil))
        partition.reachedEnd(101)
        #expect(partition.mayPublishInOrder(parentsMark: nil))
        // Large requests have no place in an order.
        var parents = Self.partition(.parents)
        #expect(!parents.mayPublishInOrder(parentsMark: 101))
        parents.isDirty = true
        #expect(parents.mayPublishInOrder(parentsMark: 100))
    }

    @Test func aPositionSaysHowFarRequestsAreBegunUnlessItLeavesSomethingOut() {
        var partition = Self.resting()
        partition.reserve.read(at: Self.now)
        let facts = OfferFacts(now: Self.now)
        #expect(partition.reserveEnd(facts, isWhole: true) == 100 + BeginReserve.least)
        #expect(partition.reserveEnd(facts, isWhole: false) == nil)
        #expect(partition.reserveEnd(OfferFacts(isInOrder: true, now: Self.now), isWhole: true) == nil)
        let closing = OfferFacts(closes: true, isInOrder: true, now: Self.now)
        #expect(partition.reserveEnd(closing, isWhole: true) == 100, "nothing was begun")
        // A record that waits is let in, and where nothing is read no more than that.
        #expect(Self.changed(Self.resting()) { $0.parked = Self.flight(at: 160) }.nextEnd(facts) == 161 + BeginReserve.least)
        #expect(Self.resting().nextEnd(facts) == 100)
        #expect(Self.partition(.delay(0)).nextEnd(facts) == nil && Self.partition(.parents).nextEnd(facts) == nil)
    }

    @Test func aPositionNamesWhatIsFinishedAsFarAsItMay() throws {
        #expect(Self.partition(at: nil).commit(leavingOut: [], begunBefore: nil, isInOrder: false) == nil)
        var partition = Self.partition(begun: nil)
        for offset in 100...104 as ClosedRange<Int64> { #expect(partition.received(offset, window: 64) == .process) }
        for offset in [100, 102, 103] as [Int64] { partition.ledger?.finished(offset) }
        let whole = try #require(partition.commit(leavingOut: [], begunBefore: 120, isInOrder: false))
        #expect(whole.offset == 101)
        let named = try FinishedOffsets(decoding: whole.metadata)
        #expect(named.begun == 19 && Self.offsets(of: whole) == [102, 103])
        let part = try #require(partition.commit(leavingOut: [100, 103], begunBefore: nil, isInOrder: false))
        #expect(part.offset == 100 && Self.offsets(of: part) == [102])
        let inOrder = try #require(partition.commit(leavingOut: [], begunBefore: nil, isInOrder: true))
        #expect(inOrder.offset == 101 && Self.offsets(of: inOrder).isEmpty)
        // The group has named it, and its result is published.
        partition.noteOffer(reserveEnd: nil, isWhole: true)
        partition.noteCommit(of: whole, closes: false)
        let later = try #require(partition.commit(leavingOut: [], begunBefore: nil, isInOrder: true))
        #expect(Self.offsets(of: later) == [102, 103])
    }

    /// The offsets that a position names above itself.
    private static func offsets(of position: LedgerCommit) -> [Int64] {
        guard let finished = try? FinishedOffsets(decoding: position.metadata) else { return [] }
        var ledger = OffsetLedger(start: position.offset, finished: finished, window: 64)
        return (position.offset..<position.offset + 10).filter { ledger.received($0) == .alreadyFinished }
    }

    @Test func anOfferedPositionIsTheGroupsOrIsPutBack() {
        var partition = Self.partition()
        partition.isDirty = true
        partition.isClosed = true
        partition.recorded = nil
        partition.noteOffer(reserveEnd: 164, isWhole: true)
        #expect(!partition.isDirty && partition.isClosed && !partition.reserve.allows(100), "the group may stand at either")
        partition.putBack()
        #expect(partition.isDirty && !partition.reserve.allows(100) && partition.committed?.offset == 100)
        partition.noteOffer(reserveEnd: 164, isWhole: false)
        #expect(partition.isDirty, "a later commit takes the rest")
        partition.noteOffer(reserveEnd: 164, isWhole: true)
        let position = LedgerCommit(offset: 101, metadata: "")
        partition.noteCommit(of: position, closes: false)
        #expect(partition.committed == position && partition.recorded == position && !partition.isDirty && !partition.isClosed)
        #expect(partition.reserve.allows(163) && !partition.reserve.allows(164))
        partition.noteOffer(reserveEnd: nil, isWhole: true)
        partition.noteCommit(of: position, closes: true)
        #expect(partition.isClosed && partition.reserve.allows(.max - 1))
    }

    @Test func largeRequestsHaveTheirPartInACommitAndOtherSlotsHaveNone() throws {
        let key = ParentKey("t:0:1")
        let plan = AssignmentPlan(
            [.init(.parents, committed: LedgerCommit(offset: 5, metadata: ""))], window: 64, heldWindow: 64, reach: nil)
        var parents = ParentPartitions(plan.partitions[...], at: 2)
        parents[2].opened(key, record: [1], chunks: 1, at: 7, timestamp: 1)
        #expect(parents.mark(of: 2) == 7 && parents.mark(of: 1) == nil && parents.mark(of: 3) == nil)
        #expect(parents.commit(of: 1, leavingOut: [], marks: nil) == nil)
        #expect(parents[2].notePart(key, tally: PartTally(chunk: 0, state: .sent, outcome: .success), at: 8) != nil)
        // Until its result is committed, it is read again.
        let without = try #require(parents.commit(of: 2, leavingOut: [8], marks: nil))
        let with = try #require(parents.commit(of: 2, leavingOut: [], marks: nil))
        #expect(without.offset == 7 && with.offset == 9)
        for slot in [1, 2, 3] { parents.noteOffer(of: slot, leavingOut: []) }
        for slot in [1, 3] { parents.noteCommit(of: slot) }
        #expect(parents.commit(of: 2, leavingOut: [8], marks: nil) == without, "it is offered and not committed")
        parents.noteCommit(of: 2)
        #expect(parents.commit(of: 2, leavingOut: [8], marks: nil)?.offset == 9)
    }

    @Test func aUnitIsNextBeforeItsMarkAndOneOfLargeRequestsIsWhole() {
        var batch = OutcomeBatch()
        for (slot, offset) in [(1, 3), (0, 100), (0, 99)] as [(Int, Int64)] {
            batch.add(.results, of: .init(slot: slot, offset: offset)) { $0.setValue { $0.append("r") } }
        }
        let units = batch.units(in: [Self.partition(), Self.partition(.parents)])
        #expect(units.map(\.id.offset) == [99, 100, 3])
        #expect(units.map(\.isNext) == [true, false, true] && units.map(\.isWhole) == [false, false, true])
    }

    @Test func whatIsMissingIsSaidOfThePartitionThatItIsMissingOf() {
        let message = AssignmentPlan.Message.endsBeforePosition(index: 1, position: 70, end: 50, cause: .lostEnd)
        let fields = message.fields(of: [TopicPartition(topic: "other", partition: 4), Self.id])
        #expect(fields.map(\.key) == [.topic, .partition, .offset, .count, .reason])
        #expect(
            fields.map(\.value) == [.string("requests"), .int(0), .int(70), .int(20), .string("the partition ended at 50")])
        #expect("\(message.meaning)" == "\(StartRule.Cause.lostEnd.meaning)")
        let later = AssignmentPlan.Message.endsBeforePosition(index: 0, position: 50, end: 70, cause: .recreated)
        #expect(later.fields(of: [Self.id]).first { $0.key == .count }?.value == .int(0))
    }
}

extension PartitionState {
    /// The end for a position that leaves nothing out, and is offered once.
    fileprivate func nextEnd(_ facts: OfferFacts) -> Int64? {
        var copy = self
        return copy.reserveEnd(facts, isWhole: true)
    }
}
