import Basics
import Delivery
import PushModel

/// The facts that the loop remembers for its status alone, and the board that shows it.
struct LoopFacts {
    let board: StatusBoard
    /// The time when the loop was made.
    let startedAt: MonotonicTime
    /// Requests finished since the start.
    var finishedCount = 0
    private(set) var finishRate = FinishRate()
    /// The time when partitions were last assigned or taken away.
    var lastRebalance: Timestamp?
    /// The time when a commit was last confirmed.
    var lastCommit: Timestamp?
    /// The requests that this loop let wait for a hub that settings do not have.
    var unrouted = UnroutedWaits()
    /// The holds and limits that stand, and the requests that this loop has put to wait by them.
    var held = HeldCounts()
    /// The loop's knowledge of what lies unread.
    var sight = Sight()
    /// The assignment of which the board has all partitions, and their number.
    private var posted: (epoch: Int, count: Int)?
    /// The time since which the oldest unread request waits, as far as that is known. Nil when nothing is unread.
    private(set) var oldestUnread: Timestamp?
    /// The records of each lane that can be read and were not, and how fast they are read.
    private var unread = Lane.allCases.map { _ in 0.0 }
    private var readRates = Lane.allCases.map { _ in FinishRate() }
    private var readCounts = Lane.allCases.map { _ in 0.0 }

    /// No facts yet.
    init(board: StatusBoard, startedAt: MonotonicTime) {
        self.board = board
        self.startedAt = startedAt
    }

    /// Puts a status on the board whose entries, by slot, are made by `entry`: those of the slots `changed`, and all of an assignment that
    /// was not there.
    mutating func post(_ status: LoopStatus, epoch: Int, count: Int, changed: [Int], entry: (Int) -> LoopStatus.Partition) {
        if let posted, posted == (epoch, count) {
            board.post(status, changing: changed.map { ($0, entry($0)) })
        } else {
            var status = status
            status.partitions = (0..<count).map(entry)
            board.post(status)
            posted = (epoch, count)
        }
    }

    /// Takes in what waits unread. To be called once a second.
    mutating func note(_ backlog: Backlog, now: MonotonicTime) {
        oldestUnread = backlog.oldest
        unread = backlog.unread
        for lane in readRates.indices {
            readCounts[lane] += backlog.read[lane]
            readRates[lane].add(Int(clamping: Int64(min(readCounts[lane], 1e15))), at: now)
        }
    }

    /// The time that a new record of each lane would wait until it is read, in seconds, at the rate of the last 10 s.
    var waits: [Double] { unread.indices.map { unread[$0] > 0 ? unread[$0] / max(readRates[$0].perSecond, 1e-9) : 0 } }

    /// Counts what was finished since the last call. To be called once a second.
    mutating func measureRate(now: MonotonicTime) { finishRate.add(finishedCount, at: now) }
}
