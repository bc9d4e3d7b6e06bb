import Basics
import Delivery
import GroupPositions
import Observability
import PushModel
import TestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// What the status and the lag say of one partition and of one request.
@Suite struct PartitionStatusTests {
    static let now = Timestamp(milliseconds: 1_795_262_400_000)

    static func partition(
        _ kind: AssignmentPlan.Kind = .requests, committed: Int64? = nil, isUnanswered: Bool = false
    ) throws -> PartitionState {
        let position = committed.map { LedgerCommit(offset: $0, metadata: "") }
        let assigned = AssignmentPlan.Assigned(kind, committed: position, isUnanswered: isUnanswered)
        let plan = try #require(AssignmentPlan([assigned], window: 100, heldWindow: 100, reach: nil).partitions.first)
        return PartitionState(
            TopicPartition(topic: "t", partition: 3), role: kind == .requests ? .requests(.normal) : .delay(0), plan: plan,
            committed: position, lag: Gauge(), consumed: Counter())
    }

    private static func flight(_ pool: inout FlightPool, slot: Int = 0, offset: Int64 = 7, epoch: Int = 1) -> Flight {
        let flight = pool.take()
        let origin = RecordOrigin(topic: "t", partition: 3, offset: offset, timestamp: now)
        flight.begin(epoch: epoch, slot: slot, origin: origin, now: now, monotonic: 0)
        return flight
    }

    /// Each row: the position, whether records are read that say where it begins, and the lag between the offsets 20 and 50.
    @Test(
        arguments: [(nil, false, 30), (30, false, 20), (50, false, 0), (60, false, 0), (30, true, 20)] as [(Int64?, Bool, Int)])
    func theLagCountsWhatIsBehindThePosition(_ committed: Int64?, _ isUnanswered: Bool, _ lag: Int) throws {
        var partition = try Self.partition(committed: committed, isUnanswered: isUnanswered)
        #expect((partition.left == .unanswered) == isUnanswered)
        let (since, open) = partition.measureRequests(Watermarks(low: 20, high: 50), now: Self.now)
        #expect(partition.lag.value == Double(lag))
        #expect(since == (lag > 0 ? Self.now : nil) && open.isEmpty)
    }

    @Test func whatIsUnreadAgesWithTheClock() throws {
        var partition = try Self.partition(committed: 30)
        partition.lastTimestamp = Self.now.adding(milliseconds: -5000)
        #expect(partition.measureRequests(Watermarks(low: 0, high: 31), now: Self.now).since == partition.lastTimestamp)
        #expect(partition.measureRequests(Watermarks(low: 0, high: 30), now: Self.now).since == nil)
        let later = Self.now.adding(milliseconds: 1000)
        #expect(partition.measureRequests(Watermarks(low: 0, high: 31), now: later).since == Self.now)
    }

    @Test func anOpenTransactionIsReportedWhereReadingEnds() throws {
        var partition = try Self.partition(committed: 30)
        partition.reachedEnd(30)
        partition.cursor.wasEmpty()
        partition.lastTimestamp = Self.now.adding(milliseconds: -60_000)
        let open = partition.measureRequests(Watermarks(low: 0, high: 33), now: Self.now).open
        #expect(open.map(\.offset) == [30] && open.map(\.recordCount) == [3])
    }

    @Test func theFirstRecordOfADelayLaneSaysSinceWhenItWaits() throws {
        var partition = try Self.partition(.delayed, committed: 30)
        #expect(partition.measureDelayed(nil, now: Self.now) == nil && partition.lag.value == 0)
        #expect(partition.measureDelayed(Watermarks(low: 0, high: 34), now: Self.now) == nil)
        #expect(partition.lag.value == 4)
        var pool = FlightPool()
        let flight = Self.flight(&pool)
        partition.head = flight
        #expect(partition.measureDelayed(Watermarks(low: 0, high: 30), now: Self.now) == Self.now)
    }

    @Test func theFirstRecordIsTakenOnce() throws {
        var partition = try Self.partition(.delayed)
        #expect(partition.takeHead() == nil)
        var pool = FlightPool()
        partition.head = Self.flight(&pool)
        #expect(!partition.canRead)
        #expect(partition.takeHead() === pool.flights[0])
        #expect(partition.head == nil && partition.takeHead() == nil)
    }

    /// Each row: the phases of two calls, and what the request waits for.
    @Test(
        arguments: [
            ([.ready, .ready], "turn"), ([.done, .waiting], "timer"), ([.waiting, .inFlight], "hub"), ([.done, .done], "turn"),
            ([], "turn"),
        ] as [([Flight.Phase], String)])
    func aRequestWaitsForWhatItsCallsWaitFor(_ phases: [Flight.Phase], _ waitsFor: String) {
        var pool = FlightPool()
        let flight = Self.flight(&pool)
        flight.work.calls = phases.enumerated().map { index, phase in
            var call = Flight.Call()
            _ = call.enter(phase)
            call.attempt = index
            return call
        }
        let due = Self.now.adding(milliseconds: 500)
        let expected = LoopStatus.Oldest(
            offset: 7, publishedAt: Self.now, attempt: max(0, phases.count - 1), waitsFor: waitsFor, nextDue: due)
        #expect(flight.status(isHead: false, timer: due, now: Self.now) == expected)
        #expect(flight.status(isHead: true, timer: due, now: Self.now) == expected, "it comes from no delay lane")
    }

    @Test func theOldestRequestOfEachPartitionIsFound() {
        var pool = FlightPool()
        let places: [(slot: Int, offset: Int64, epoch: Int)] = [(0, 9, 1), (0, 7, 1), (0, 8, 1), (2, 1, 1), (1, 5, 0)]
        let flights = places.map { Self.flight(&pool, slot: $0.slot, offset: $0.offset, epoch: $0.epoch) }
        pool.release(flights[2])
        let work = pool.work(in: 1)
        #expect(work.counts == [0: 2, 2: 1])
        #expect(work.oldest.mapValues(\.place.offset) == [0: 7, 2: 1])
        #expect(work.generations == [1: flights[1].generation, 3: flights[3].generation])
    }

    /// What is at rest is not measured again until something happens to it.
    @Test func aPartitionAtRestDoesNotChangeByItself() throws {
        var backlog = Backlog(delayCount: 1, now: Self.now)
        func isAtRest(_ partition: inout PartitionState, high: Int64 = 30) -> Bool {
            partition.measure(Watermarks(low: 0, high: high), parentsPosition: nil, now: Self.now, into: &backlog)
            return partition.isAtRest
        }
        var partition = try Self.partition(.delayed, committed: 30)
        var rests = [isAtRest(&partition)]
        partition.cursor.wasEmpty()
        rests.append(isAtRest(&partition))
        #expect(rests == [false, true], "it was not read yet, and was")
        var requests = try Self.partition(committed: 30)
        requests.cursor.wasEmpty()
        rests = [isAtRest(&requests), isAtRest(&requests, high: 31), isAtRest(&requests)]
        #expect(rests == [true, false, true], "a record waits, and does not any more")
        var pool = FlightPool()
        partition.head = Self.flight(&pool)
        rests = [isAtRest(&partition)]
        partition.head = nil
        rests.append(isAtRest(&partition))
        partition.left = .unanswered
        rests.append(isAtRest(&partition))
        #expect(rests == [false, true, false], "its first record becomes due, it has none, and it is left")
    }

    /// What is behind the first of all is the lane's, but a first record that is unread again counts as unread, too.
    @Test func theBacklogKnowsTheFirstOfAll() {
        var backlog = Backlog(delayCount: 2, now: Self.now)
        #expect(backlog.oldest == Self.now)
        let moments = (1...4).map { Self.now.adding(milliseconds: -1000 * Int64($0)) }
        backlog.noteRequests(of: .bulk, since: moments[0], open: [])
        backlog.noteRequests(of: .high, since: nil, open: [])
        backlog.noteDelayed(1, since: moments[3], unread: nil)
        #expect(backlog.oldest == moments[0] && backlog.delays == [Self.now, moments[3]])
        backlog.noteDelayed(1, since: moments[2], unread: moments[2])
        backlog.noteRequests(of: .bulk, since: moments[1], open: [])
        #expect(backlog.oldest == moments[2] && backlog.requests[Lane.bulk.rawValue] == moments[1])
    }

    @Test func theBacklogKnowsHowMuchOfALaneIsUnreadAndWasRead() {
        var backlog = Backlog(delayCount: 2, now: Self.now)
        for count in [3.0, 4] { backlog.note(of: .bulk, unread: count, read: 10) }
        #expect(backlog.unread[Lane.bulk.rawValue] == 7 && backlog.read[Lane.bulk.rawValue] == 20)
        #expect(backlog.unread[Lane.high.rawValue] == 0 && backlog.read[Lane.high.rawValue] == 0)
    }

    /// The unread records of a lane and those read in a second, and the wait of what comes behind them.
    @Test(
        arguments: [(0, 0, 0), (0, 100, 0), (500, 100, 5), (1, 0, .infinity), (20_000, 10, 2000)] as [(Double, Double, Double)])
    func theWaitOfALaneIsItsOwn(unread: Double, read: Double, wait: Double) {
        var facts = LoopFacts(board: StatusBoard(), startedAt: .past)
        for second in 0..<4 {
            var backlog = Backlog(delayCount: 0, now: Self.now)
            backlog.note(of: .bulk, unread: unread, read: read)
            // Another lane is read fast.
            backlog.note(of: .high, unread: 1, read: 5000)
            facts.note(backlog, now: .init(nanoseconds: Int64(second) * 1_000_000_000))
        }
        let found = facts.waits[Lane.bulk.rawValue]
        #expect(wait == .infinity ? found > 1e6 : found == wait)
        #expect(facts.waits[Lane.high.rawValue] == 1 / 5000.0)
    }

    /// What an operator is asked about, or what cannot be read now, holds up nobody.
    @Test func onlyWhatCanBeReadIsUnread() throws {
        func unread(_ partition: inout PartitionState) -> [Double] {
            var backlog = Backlog(delayCount: 0, now: Self.now)
            partition.measure(Watermarks(low: 0, high: 130), parentsPosition: nil, now: Self.now, into: &backlog)
            return [backlog.unread.reduce(0, +), backlog.read.reduce(0, +)]
        }
        var partition = try Self.partition(committed: 30)
        partition.cursor.noteArrivals()
        #expect(unread(&partition) == [100, 0])
        partition.left = .unanswered
        #expect(unread(&partition)[0] == 0)
        partition.left = nil
        partition.cursor.wasEmpty()
        #expect(unread(&partition)[0] == 0)
    }

    @Test func thePartitionsEntryHasWhatIsKnown() throws {
        var partition = try Self.partition(committed: 30)
        let entry = partition.status(inWork: 2, oldest: nil, reading: nil, now: Self.now)
        let expected = LoopStatus.Partition(topic: "t", partition: 3, position: 30, committed: 30, inWork: 2)
        #expect(entry == expected)
    }

    @Test(arguments: [(0, 0), (-1, 0), (1500, 1.5), (.max, 9.2e15)] as [(Int64, Double)])
    func anAgeIsNeverNegativeAndNeverOverflows(_ milliseconds: Int64, _ seconds: Double) {
        let earlier = milliseconds == .max ? Timestamp(milliseconds: .min) : Self.now.adding(milliseconds: -milliseconds)
        let found = Self.now.seconds(since: earlier)
        #expect(milliseconds == .max ? found >= 1e9 : found == seconds)
    }
}
