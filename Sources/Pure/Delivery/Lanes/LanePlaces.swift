public import Basics

/// The lanes that may begin a call while only so many may be in flight: a lane leaves free what the lanes above it needed lately.
///
/// Turns by weight alone make an urgent call wait for a place, because a broadcast takes each one that is free. So a lane leaves as many
/// places free as the lanes above it had in flight at most in the last one to two seconds, up to a quarter of all. It need not while it
/// has less in flight than its weight entitles it to, so no lane is ever left out. Where the lanes above had nothing, it has all places.
public struct LanePlaces: Sendable, Equatable {
    /// The least time that a peak counts, in nanoseconds.
    static let window: Int64 = 1_000_000_000

    private let weights: [Int]
    private let weightSum: Int
    /// The calls in flight.
    public private(set) var count = 0
    private var inFlight: [Int]
    /// The most calls of each lane and those above it that were in flight at once, in this window and the one before.
    private var peaks: [Int]
    private var formerPeaks: [Int]
    private var windowEnd = MonotonicTime.past

    /// Lanes without a call, with weights of at least 1, the most urgent lane first.
    public init(weights: [Int]) {
        self.weights = weights.map { max($0, 1) }
        weightSum = self.weights.reduce(0, +)
        inFlight = weights.map { _ in 0 }
        peaks = inFlight
        formerPeaks = inFlight
    }

    /// Notes that a call of `lane` was begun.
    public mutating func noteStart(_ lane: Int) {
        inFlight[lane] += 1
        count += 1
        var sum = 0
        for index in inFlight.indices {
            sum += inFlight[index]
            peaks[index] = max(peaks[index], sum)
        }
    }

    /// Notes that a call of `lane` has ended.
    public mutating func noteEnd(_ lane: Int) {
        guard inFlight[lane] > 0 else { return }
        inFlight[lane] -= 1
        count -= 1
    }

    /// The lanes that may begin a call.
    ///
    /// - Parameters:
    ///   - limit: The calls that may be in flight at once.
    ///   - now: The present moment.
    /// - Returns: Bit `n` stands for lane `n`; none when as many calls are in flight.
    public mutating func open(limit: Int, now: MonotonicTime) -> UInt64 {
        if now >= windowEnd { beginWindow(now) }
        let free = limit - count
        guard free > 0 else { return 0 }
        var lanes: UInt64 = 1
        for lane in inFlight.indices.dropFirst() {
            let needed = min(max(peaks[lane - 1], formerPeaks[lane - 1]), limit / 4)
            if free > needed || inFlight[lane] * weightSum < limit * weights[lane] { lanes |= 1 << UInt64(lane) }
        }
        return lanes
    }

    private mutating func beginWindow(_ now: MonotonicTime) {
        let isNext = windowEnd > .past && now - windowEnd < Self.window
        formerPeaks = isNext ? peaks : inFlight.map { _ in 0 }
        windowEnd = now + Self.window
        var sum = 0
        for index in inFlight.indices {
            sum += inFlight[index]
            peaks[index] = sum
        }
    }
}
