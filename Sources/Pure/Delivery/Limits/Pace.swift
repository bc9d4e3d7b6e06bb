import Basics

/// A lower rate for a hub that throttles some calls and accepts most.
///
/// There is none at first. It works in rounds of a second: when a twentieth of the answers refuse, the rate is what was called in that
/// second less a fifth, and so on down to half of the first. If that helps, it grows by a tenth in each good second, until it is twice the
/// first rate and not needed any more. If it does not, the hub refuses by chance, and the rate grows as well. Moments are nanoseconds of a
/// monotonic clock.
struct Pace: Sendable, Equatable {
    /// The length of a round, nanoseconds: this, or up to the second with few answers.
    static let round: ClosedRange<Int64> = 1_000_000_000...5_000_000_000
    /// The answers of a round that need not be longer.
    static let leastAnswers = 10
    /// The share of refusals from which the rate falls.
    static let bearableShare = 0.05
    /// The lowest rate, thousandths of a call per second.
    static let lowest: Int64 = 1000

    private var bucket: TokenBucket?
    /// The rate at the beginning of it.
    private var top: Int64 = 0
    private var loss = LossBaseline(leastCalls: 24)
    private var roundStart: MonotonicTime?
    private var startCount = 0
    private var answerCount = 0
    private var refusalCount = 0

    /// The present rate, thousandths of a call per second, or nil where there is none.
    var rate: Int64? { bucket?.rate }

    /// True if a call may start.
    mutating func hasCall(now: MonotonicTime) -> Bool { bucket?.hasCall(now: now) ?? true }

    /// The moment at which the next call may start, or nil if one may now.
    mutating func nextCall(now: MonotonicTime) -> MonotonicTime? { bucket?.nextCall(now: now) }

    /// Notes that a call starts, for which `hasCall` was true.
    mutating func started() {
        startCount += 1
        bucket?.take()
    }

    /// Notes an answer of the hub's.
    mutating func answered(isRefusal: Bool, now: MonotonicTime) {
        guard let start = roundStart else { return begin(now) }
        answerCount += 1
        if isRefusal { refusalCount += 1 }
        let length = now - start
        guard length >= Self.round.lowerBound, answerCount >= Self.leastAnswers || length >= Self.round.upperBound else { return }
        // After a rest there is nothing to be learnt from the time.
        if length < 2 * Self.round.upperBound { judge(length, now: now) }
        begin(now)
    }

    private mutating func begin(_ now: MonotonicTime) {
        roundStart = now
        startCount = 0
        answerCount = 0
        refusalCount = 0
    }

    private mutating func judge(_ length: Int64, now: MonotonicTime) {
        let isThrottled = refusalCount > 1 && Double(refusalCount) >= Self.bearableShare * Double(answerCount)
        if isThrottled && !loss.explains(refusalCount, of: answerCount) {
            slowDown(from: bucket?.rate ?? rate(of: length), now: now)
        } else {
            loss.follow(refusalCount, of: answerCount, areFew: false)
            speedUp(now)
        }
    }

    private func rate(of length: Int64) -> Int64 {
        min(max(Int64(Double(startCount) * 1e12 / Double(length)), Self.lowest), TokenBucket.highestRate)
    }

    private mutating func slowDown(from rate: Int64, now: MonotonicTime) {
        if bucket == nil {
            bucket = TokenBucket(rate: rate, now: now)
            top = rate
        }
        if rate > max(top / 2, Self.lowest) {
            loss.restart()
            bucket?.setRate(max(rate / 5 * 4, top / 2, Self.lowest), now: now)
        } else if loss.measure(refusalCount, of: answerCount) == .tooMuch {
            top = max(top / 2, Self.lowest)
        }
    }

    private mutating func speedUp(_ now: MonotonicTime) {
        guard let rate = bucket?.rate else { return }
        if rate >= 2 * top { bucket = nil } else { bucket?.setRate(rate + rate / 10, now: now) }
    }
}
