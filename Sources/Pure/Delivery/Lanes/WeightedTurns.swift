/// Whose turn it is among queues that share something by weight: start-time fair queueing (Goyal, Vin, Cheng, 1996) with turns of
/// equal length.
///
/// While several queues have work, each has turns in proportion to its weight, evenly spread. What a queue without work does not use is
/// the others', and it gets nothing for it later; when it has work again, it is among the next. No queue with work is ever left out.
public struct WeightedTurns: Sendable, Equatable {
    /// The most queues, because they are named by the bits of a number.
    public static let maximumCount = 64

    /// The length of a turn of a queue with weight 1. A turn of weight `w` takes a `w`-th of it.
    private static let unit = 1 << 20

    private let lengths: [Int]
    /// The distance from now to the beginning of each queue's next turn, in shares, never negative.
    private var starts: [Int]

    /// Turns for a queue of each weight from 1 to 1,000. Other weights are clamped, and queues after the 64th are left out.
    public init(weights: [Int]) {
        lengths = weights.prefix(Self.maximumCount).map { Self.unit / min(max($0, 1), 1000) }
        starts = lengths.map { _ in 0 }
    }

    /// Gives the next turn away.
    ///
    /// - Parameter waiting: The queues that have work: bit `n` stands for queue `n`.
    /// - Returns: The queue whose turn it is; of several with the same claim the first. Nil when none has work.
    public mutating func next(among waiting: UInt64) -> Int? {
        var chosen: Int?
        for index in starts.indices where waiting & (1 << UInt64(index)) != 0 {
            if chosen.map({ starts[index] < starts[$0] }) ?? true { chosen = index }
        }
        guard let chosen else { return nil }
        // Time moves on to the beginning of this turn. Only a queue without work can have been due before it, and loses that.
        let elapsed = starts[chosen]
        for index in starts.indices { starts[index] = max(starts[index] - elapsed, 0) }
        starts[chosen] = lengths[chosen]
        return chosen
    }
}
