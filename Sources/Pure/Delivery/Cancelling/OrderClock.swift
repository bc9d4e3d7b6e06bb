public import Basics
public import PushModel

/// The clock by which orders end: the machine's, without the jumps that it makes while one stands.
///
/// An order names the moment of its end, so the machine's clock counts while none stands. While one does, that clock is followed in small
/// steps, as those that keep it right. A larger step would end a hold as much too early or too late: it is believed when a record that was
/// just written to the control topic has the time that the machine has now, since then the clock of whoever wrote it says the same.
/// Otherwise time goes on as the monotonic clock has it.
public struct OrderClock: Sendable, Equatable {
    /// The longest step that is followed: 5 s in milliseconds. Orders end right to some seconds.
    public static let longestStep: Int64 = 5_000
    /// The most that the clock of a writer may differ from the machine's to confirm a jump: 30 s in milliseconds.
    public static let agreement: Int64 = 30_000

    /// The machine's time at `moment`, nil before the first look.
    private var wall: Timestamp?
    private var moment = MonotonicTime.past
    private var hasJumped = false

    /// A clock that has not begun.
    public init() {}

    /// The present moment for orders.
    ///
    /// - Parameters:
    ///   - wall: The machine's time.
    ///   - monotonic: The present moment of the clock that does not jump.
    /// - Returns: The machine's time, or where that has jumped the time that it would have.
    public func time(wall: Timestamp, monotonic: MonotonicTime) -> Timestamp {
        wall.adding(milliseconds: -jump(wall: wall, monotonic: monotonic))
    }

    /// The milliseconds by which the machine's clock is ahead of this one, 0 where it is followed.
    private func jump(wall: Timestamp, monotonic: MonotonicTime) -> Int64 {
        guard let last = self.wall else { return 0 }
        let steady = last.adding(milliseconds: monotonic.nanoseconds(since: moment) / 1_000_000)
        let gap = wall.milliseconds(since: steady)
        return abs(gap) <= Self.longestStep ? 0 : gap
    }

    /// Lets time pass. Call it once a second.
    ///
    /// - Parameters:
    ///   - wall: The machine's time.
    ///   - monotonic: The present moment of the clock that does not jump.
    ///   - hasOrders: Whether an order stands. Without one every step is followed.
    /// - Returns: The milliseconds of a jump that was not there before and is not followed, else nil.
    public mutating func advance(wall: Timestamp, monotonic: MonotonicTime, hasOrders: Bool) -> Int64? {
        let gap = hasOrders ? jump(wall: wall, monotonic: monotonic) : 0
        guard gap != 0 else {
            follow(wall: wall, monotonic: monotonic)
            return nil
        }
        defer { hasJumped = true }
        return hasJumped ? nil : gap
    }

    /// Notes the time of a record that was just written.
    ///
    /// - Parameters:
    ///   - time: The time that its writer gave it.
    ///   - wall: The machine's time.
    ///   - monotonic: The present moment of the clock that does not jump.
    public mutating func noteRecord(of time: Timestamp, wall: Timestamp, monotonic: MonotonicTime) {
        guard hasJumped, abs(time.milliseconds(since: wall)) <= Self.agreement,
            abs(time.milliseconds(since: self.time(wall: wall, monotonic: monotonic))) > Self.agreement
        else { return }
        follow(wall: wall, monotonic: monotonic)
    }

    private mutating func follow(wall: Timestamp, monotonic: MonotonicTime) {
        (self.wall, moment, hasJumped) = (wall, monotonic, false)
    }
}
