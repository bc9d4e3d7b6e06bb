import Basics
import Delivery
import GroupPositions
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The board of statuses, of which a second changes what has changed.
@Suite struct StatusBoardTests {
    private static let now = PartitionStatusTests.now

    private static func status(partitions: Int = 0, at: Timestamp = now) -> LoopStatus {
        LoopStatus(
            worker: "w1", mode: "running", at: at, hubs: [], finishedPerSecond: 0, lastRebalance: nil, lastCommit: nil,
            partitions: (0..<partitions).map { entry($0, position: 7) }, problem: nil)
    }

    private static func entry(_ number: Int, position: Int64) -> LoopStatus.Partition {
        LoopStatus.Partition(
            topic: "push.requests.normal.v1", partition: Int32(number), position: position, committed: 5, inWork: 1)
    }

    /// The place of the entries in memory. It changes when all of them are copied.
    private static func address(of board: StatusBoard) -> Int? {
        board.statuses.first.map { $0.partitions.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
    }

    @Test func aReaderThatKeepsAnOldStatusSeesItUnchanged() throws {
        let board = StatusBoard()
        board.post(Self.status(partitions: 3))
        let old = try #require(board.statuses.first)
        let later = Self.now.adding(milliseconds: 1000)
        board.post(Self.status(at: later), changing: [(slot: 1, entry: Self.entry(1, position: 8))])
        #expect(old == Self.status(partitions: 3))
        let new = try #require(board.statuses.first)
        #expect(new.at == later && new.partitions.map(\.position) == [7, 8, 7])
    }

    @Test func aChangeAmong5200CopiesNoEntryUnlessAReaderHasThem() throws {
        let board = StatusBoard()
        board.post(Self.status(partitions: 5200))
        let places = (0..<3).map { second in
            board.post(Self.status(), changing: [(slot: 4000, entry: Self.entry(4000, position: Int64(second)))])
            return Self.address(of: board)
        }
        #expect(Set(places).count == 1 && places[0] != nil)
        let read = try #require(board.statuses.first)
        board.post(Self.status(), changing: [(slot: 9, entry: Self.entry(9, position: 9))])
        let copied = Self.address(of: board)
        #expect(copied != places[0], "the reader keeps what it has")
        #expect(read.partitions[9].position == 7 && board.statuses.first?.partitions[9].position == 9)
        board.post(Self.status(), changing: [(slot: 9, entry: Self.entry(9, position: 10))])
        #expect(Self.address(of: board) == copied, "it was copied once")
    }

    @Test func anEntryThatIsNotThereIsNotChanged() {
        let board = StatusBoard()
        board.post(Self.status(), changing: [(slot: 0, entry: Self.entry(0, position: 8))])
        board.post(Self.status(), changing: [])
        #expect(board.statuses == [Self.status()])
    }

    @Test(arguments: 0..<40) func aPostedStatusIsWhatOneOfAllPartitionsWouldSay(seed: Int) throws {
        var loop = try Loop(seed)
        for _ in 0..<60 {
            try loop.passSecond()
            #expect(loop.board.statuses.first?.partitions == loop.entriesOfAll())
        }
        #expect(loop.measuredCount < 60 * Loop.count, "most were at rest")
    }

    /// What a loop does to its partitions, each at a random one, and marks as the loop does.
    private struct Loop {
        static let count = 300

        let board = StatusBoard()
        private(set) var measuredCount = 0
        private var facts: LoopFacts
        private var random: SeededRandom
        private var partitions: [PartitionState] = []
        private var marks = PartitionMarks()
        private var pool = FlightPool()
        private var buffered: [(slot: Int, offset: Int64)] = []
        private var epoch = 0
        private var now = StatusBoardTests.now

        init(_ seed: Int) throws {
            facts = LoopFacts(board: board, startedAt: .past)
            random = SeededRandom(seed)
            try assign()
        }

        /// What one second brings, and the status at its end.
        mutating func passSecond() throws {
            for _ in 0..<random.below(6) { try change(random.below(Self.count)) }
            now = now.adding(milliseconds: 1000)
            marks.addSome()
            measuredCount += marks.changed.slots.count
            var backlog = Backlog(delayCount: 1, now: now)
            for slot in marks.changed.slots {
                partitions[slot].measure(nil, parentsPosition: nil, now: now, into: &backlog)
            }
            let work = pool.work(in: epoch)
            marks.note(work)
            var facts = facts
            facts.post(StatusBoardTests.status(), epoch: epoch, count: partitions.count, changed: marks.changed.slots) {
                entry($0, work)
            }
            self.facts = facts
            marks.noteMeasured { !partitions[$0].isAtRest || work.counts[$0] != nil }
        }

        mutating func entriesOfAll() -> [LoopStatus.Partition] {
            let work = pool.work(in: epoch)
            return partitions.indices.map { entry($0, work) }
        }

        private mutating func entry(_ slot: Int, _ work: PartitionWork) -> LoopStatus.Partition {
            let oldest = work.oldest[slot]?.status(isHead: false, timer: nil, now: now)
            return partitions[slot].status(inWork: work.counts[slot] ?? 0, oldest: oldest, reading: nil, now: now)
        }

        private mutating func change(_ slot: Int) throws {
            let active = pool.flights.filter { $0.isActive && $0.place.epoch == epoch }
            switch random.below(12) {
            case 0...3: read(slot)
            case 4: if let (slot, offset) = buffered.popLast() { begin(slot, offset: offset) }
            case 5...6: if let flight = active.randomElement(using: &random) { finish(flight) }
            case 7: active.randomElement(using: &random)?.work.calls.append(Flight.Call())
            case 8: if let flight = active.randomElement(using: &random) { pool.release(flight) }
            case 9: commit(slot)
            case 10: waitUnread(slot)
            default: if random.below(10) == 0 { try assign() } else { leave(slot) }
            }
        }

        /// Its next record begins, or waits in memory for its turn.
        private mutating func read(_ slot: Int) {
            let offset = partitions[slot].ledger?.position ?? 0
            marks.touch(slot)
            partitions[slot].unread = nil
            guard partitions[slot].received(offset, window: 100) == .process else { return }
            if random.below(2) == 0 { begin(slot, offset: offset) } else { buffered.append((slot, offset)) }
        }

        /// A request begins. One that was buffered has no mark.
        private mutating func begin(_ slot: Int, offset: Int64) {
            let origin = RecordOrigin(topic: "t", partition: 3, offset: offset, timestamp: now)
            pool.take().begin(epoch: epoch, slot: slot, origin: origin, now: now, monotonic: .past)
        }

        private mutating func finish(_ flight: Flight) {
            partitions[flight.place.slot].ledger?.finished(flight.place.offset)
            marks.touch(flight.place.slot)
            pool.release(flight)
        }

        private mutating func commit(_ slot: Int) {
            guard let ledger = partitions[slot].ledger else { return }
            marks.noteCommit(of: slot, wasClosed: false, closes: false)
            partitions[slot].noteCommit(of: LedgerCommit(offset: ledger.lowWaterMark, metadata: ""), closes: false)
        }

        /// Its first record is unread again, and goes on in a while.
        private mutating func waitUnread(_ slot: Int) {
            marks.touch(slot)
            let flight = pool.take()
            let origin = RecordOrigin(topic: "t", partition: 3, offset: 7, timestamp: now)
            flight.begin(epoch: epoch, slot: slot, origin: origin, now: now, monotonic: .past)
            partitions[slot].unread = DeferredHead(flight)
            pool.release(flight)
        }

        private mutating func leave(_ slot: Int) {
            marks.touch(slot)
            partitions[slot].left = partitions[slot].left == nil ? .newerRecord(at: 9) : nil
        }

        /// Another assignment. What is in work of the one before counts no more.
        private mutating func assign() throws {
            epoch += 1
            buffered = []
            partitions = try (0..<Self.count).map { _ in
                var partition = try PartitionStatusTests.partition(random.below(2) == 0 ? .requests : .delayed, committed: 30)
                partition.cursor.wasEmpty()
                return partition
            }
            marks = PartitionMarks(partitions)
        }
    }
}
