import Basics

/// The number of calls that are in flight for far longer than usual.
///
/// It keeps three counts instead of a list. Calls that begin are the youngest; after each `patience` the youngest become the elder, and the
/// elder count as slow. So a call is slow after one to two times the patience. Moments are nanoseconds of a monotonic clock.
struct SlowCalls: Sendable, Equatable {
    /// Far longer than usual is four times as long, and a quarter of a second at least.
    static let factor: Int64 = 4
    static let leastPatience: Int64 = 250_000_000
    /// The assumed time of a call before any was answered.
    private static let assumed: Int64 = 250_000_000
    /// A longer time is taken for this one, an hour.
    private static let longest: Int64 = 3_600_000_000_000

    /// The number of slow calls in flight.
    private(set) var count = 0
    private var youngest = 0
    private var elder = 0
    private var youngestStart = MonotonicTime.past
    private var elderStart = MonotonicTime.past
    private var turn = MonotonicTime.past
    /// The time that a call takes that is answered, or nil before the first.
    private var usual: Int64?
    /// Until when the last answer shows that the hub answers others.
    private var answeringUntil = MonotonicTime.past

    /// The time that a call may take before it can be slow, nanoseconds.
    var patience: Int64 { max(Self.leastPatience, Self.factor * (usual ?? Self.assumed)) }

    /// True if a call was answered within the last `patience`.
    func isAnswering(now: MonotonicTime) -> Bool { now < answeringUntil }

    /// Notes that time has passed.
    mutating func advance(now: MonotonicTime) {
        guard now >= turn else { return }
        count += elder
        elder = youngest
        youngest = 0
        elderStart = youngestStart
        youngestStart = now
        turn = now + patience
    }

    /// Notes that a call began.
    mutating func started() { youngest += 1 }

    /// Notes that a call was answered after so many nanoseconds.
    mutating func answered(after duration: Int64, now: MonotonicTime) {
        let duration = min(max(duration, 0), Self.longest)
        usual = usual.map { $0 + (duration - $0) / 32 } ?? duration
        answeringUntil = now + patience
    }

    /// Notes that a call is not in flight any more. If its beginning is not known, the oldest are taken to be one fewer, which is
    /// put right when those end.
    mutating func noteEnd(startedAt: MonotonicTime?) {
        if let startedAt, startedAt >= youngestStart, youngest > 0 {
            youngest -= 1
        } else if let startedAt, startedAt >= elderStart, elder > 0 {
            elder -= 1
        } else if count > 0 {
            count -= 1
        } else if elder > 0 {
            elder -= 1
        } else if youngest > 0 {
            youngest -= 1
        }
    }
}
