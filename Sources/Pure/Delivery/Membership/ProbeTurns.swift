public import Basics

/// In which order partitions are read that each have a question to answer, so that a slow one holds up no other, and a client holds
/// little of all together.
///
/// Some have their turn at once, and the others wait in a queue. Those that have no answer at the end of a turn go to the end of the queue,
/// and are read on from where they were. A turn ends when all of it are answered. While others wait, it ends when none was answered for a
/// while; else when nothing was read for a while, so that a stuck client is replaced. That while is twice as long in each round of
/// the queue, up to a bound, so that errors are met with growing waits.
///
/// Partitions are named by their indices. Times are nanoseconds.
public struct ProbeTurns: Sendable {
    /// The number of partitions that are read at once.
    public static let mostAtOnce = 32
    /// The time that a turn of the first round waits for an answer: 1 s.
    public static let firstPatience: Int64 = 1_000_000_000
    /// The longest time that any turn waits for one: 30 s.
    public static let longestPatience: Int64 = 30_000_000_000

    /// The partitions whose turn it is.
    public private(set) var present: [Int] = []

    private var queue: FIFO<Int>
    /// The number of turns that the present round of the queue has left.
    private var turnsLeft: Int
    private var patience = Self.firstPatience
    private var startedAt = MonotonicTime.past
    private var answeredAt: MonotonicTime?
    private var readAt = MonotonicTime.past

    /// All partitions wait for their turn.
    public init(count: Int) {
        queue = FIFO()
        for index in 0..<max(0, count) { queue.append(index) }
        turnsLeft = Self.turnCount(of: count)
    }

    /// The number of turns that it takes until each of so many partitions had one.
    private static func turnCount(of count: Int) -> Int { (count + mostAtOnce - 1) / mostAtOnce }

    /// True if each partition has its answer.
    public var isDone: Bool { present.isEmpty && queue.isEmpty }

    /// Ends the present turn and begins the next.
    public mutating func begin(_ now: MonotonicTime) {
        for index in present { queue.append(index) }
        present = []
        if turnsLeft == 0 {
            patience = min(2 * patience, Self.longestPatience)
            turnsLeft = Self.turnCount(of: queue.count)
        }
        turnsLeft -= 1
        while present.count < Self.mostAtOnce, let next = queue.popFirst() { present.append(next) }
        startedAt = now
        answeredAt = nil
        readAt = now
    }

    /// A record of a partition was read that is no answer.
    public mutating func read(at now: MonotonicTime) { readAt = now }

    /// A partition has its answer.
    public mutating func answered(_ index: Int, at now: MonotonicTime) {
        present.removeAll { $0 == index }
        answeredAt = now
        readAt = now
    }

    /// Puts off a partition about which what has to be asked cannot be learnt now: it is read again in the next round.
    public mutating func postponed(_ index: Int) {
        guard present.contains(index) else { return }
        present.removeAll { $0 == index }
        queue.append(index)
    }

    /// True if the present turn is over. One in which nothing was answered is as long as any that waits for an answer.
    ///
    /// - Parameter now: The present moment.
    /// - Returns: Whether to begin the next.
    public func isOver(_ now: MonotonicTime) -> Bool {
        if present.isEmpty, answeredAt != nil || startedAt == .past { return true }
        let since = queue.isEmpty && !present.isEmpty ? readAt : answeredAt ?? startedAt
        return now >= since.advanced(byNanoseconds: patience)
    }
}
