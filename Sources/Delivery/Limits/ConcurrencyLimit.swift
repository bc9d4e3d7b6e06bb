public import Basics

/// How many calls to a hub may be in flight at once, found out from how long they take and whether they are lost.
///
/// It works in rounds. A round looks only at calls that were started in it, all under the same limit:
///
/// - calls were lost (no answer, an error of the hub's, or throttling): the limit shrinks, by a half when half of them were, down to
///   `floor`. When as many are lost there, the loss has nothing to do with the limit: it grows again for as long as no more are lost
///   (`LossBaseline`). Below the floor it falls only when most calls are lost;
/// - twice in a row they took clearly longer than they do without a queue: it shrinks to where they should not;
/// - they did not, and the limit was reached: it grows, to twice as much until it has shrunk once, by a sixteenth afterwards.
///
/// Lost calls have no say in how long a call takes, so calls that all time out alike never look like a hub that has settled. How long a
/// call takes without a queue is measured again every 20 s at half the limit, and whenever there is little to do. Times are nanoseconds
/// of a monotonic clock that the owner reads.
public struct ConcurrencyLimit: Sendable, Equatable {
    /// The limit at the beginning, if that is not above the most.
    public static let start = 16
    /// How often a round at half the limit measures calls without a queue, nanoseconds; less often when rounds are long.
    static let probeInterval: Int64 = 20_000_000_000
    /// Calls take clearly longer when they take half as long again, and 10 ms besides, which is our own unrest.
    static let slowdown = 1.5
    static let unrest: Double = 10_000_000
    /// The share of lost calls from which the limit shrinks.
    static let bearableLoss = 0.1
    /// The lowest limit for the sake of loss while some calls succeed.
    public static let floor = 3
    /// A hub that loses more calls than so many for each that succeeds is as good as out.
    static let lostPerSuccess = 9

    /// The highest that the limit can be.
    public let most: Int
    /// Calls that may be in flight at once, 1 – `most`.
    public private(set) var limit: Int
    private let isAdaptive: Bool

    private var round = Round(start: .past)
    /// How long a call takes without a queue; nil before the first round.
    private var unloaded: Double?
    /// Below this the limit doubles: where it began to shrink, or the most when that was for nothing.
    private var threshold: Int
    private var isShrinking = false
    private var slowRounds = 0
    /// The limit to go back to after a round at half of it; nil outside of one.
    private var limitAfterProbe: Int?
    private var nextProbe = MonotonicTime.never
    private var loss = LossBaseline()

    /// A limit between 1 and `most`; it stays at `most` when it is not adaptive.
    public init(most: Int, isAdaptive: Bool = true) {
        self.most = max(1, most)
        self.isAdaptive = isAdaptive
        limit = isAdaptive ? min(self.most, Self.start) : self.most
        threshold = self.most
    }

    /// Notes that a call starts, with which `inFlight` are in flight.
    public mutating func started(inFlight: Int) {
        if inFlight > round.mostInFlight { round.mostInFlight = inFlight }
    }

    /// Notes that a call ended.
    ///
    /// - Parameters:
    ///   - startedAt: When it was started.
    ///   - now: The present moment.
    ///   - isLost: Whether the hub did not answer, or as one that is overloaded.
    public mutating func ended(startedAt: MonotonicTime, now: MonotonicTime, isLost: Bool) {
        guard isAdaptive, startedAt >= round.start else { return }
        if isLost { round.lostCount += 1 } else { round.add(Double(now - startedAt)) }
        let needed = loss.share > 0 ? min(max(4 * limit, 32), 256) : min(max(2 * limit, 8), 256)
        guard round.count + round.lostCount >= needed || isBad(needed) else { return }
        judge(now)
    }

    /// Whether so many calls of the round are lost that its end must not be waited for.
    private func isBad(_ needed: Int) -> Bool {
        round.lostCount >= max(4, needed / 8) && Double(round.lostCount) >= 1.5 * loss.share * Double(needed)
    }

    private mutating func judge(_ now: MonotonicTime) {
        let ended = round
        round = Round(start: now)
        let wasProbe = limitAfterProbe != nil
        if let limitAfterProbe { limit = limitAfterProbe }
        limitAfterProbe = nil
        let calls = ended.count + ended.lostCount
        let isLossy = ended.lostCount > 1 && Double(ended.lostCount) >= Self.bearableLoss * Double(calls)
        guard !isLossy || loss.explains(ended.lostCount, of: calls) else { return judgeLoss(ended) }
        loss.follow(ended.lostCount, of: calls, areFew: wasProbe)
        if let unloaded, ended.mostInFlight * 2 > limit, limit > 1 {
            judge(ended, against: unloaded, now)
        } else {
            // The first round has nothing to be compared with, and one call at a time is without a queue.
            let mayGrow = unloaded == nil || limit == 1
            learn(ended.mean, now)
            if mayGrow { judgeGrowth(ended, ended.mean) }
        }
    }

    private mutating func judgeLoss(_ ended: Round) {
        let floor = min(Self.floor, most)
        if ended.lostCount > Self.lostPerSuccess * ended.count {
            loss.restart()
            shrink(by: 0.5)
        } else if limit > floor {
            loss.restart()
            shrink(by: ended.lostCount >= ended.count ? 0.5 : 0.7, to: floor)
        } else {
            switch loss.measure(ended.lostCount, of: ended.count + ended.lostCount) {
            case .unfinished: break
            case .known:
                isShrinking = false
                threshold = most
                if ended.mostInFlight >= limit { limit = min(2 * floor, most) }
            case .tooMuch: shrink(by: 0.5)
            }
        }
    }

    private mutating func judge(_ ended: Round, against unloaded: Double, _ now: MonotonicTime) {
        let isSlow = ended.mean - 3 * ended.error > unloaded * Self.slowdown + Self.unrest
        slowRounds = isSlow ? slowRounds + 1 : 0
        if isSlow {
            // Once may be a pause of our own.
            if slowRounds > 1 { shrink(by: max(0.7, 0.9 * (unloaded * Self.slowdown + Self.unrest) / ended.mean)) }
        } else if now >= nextProbe {
            beginProbe(now - ended.start, now)
        } else {
            judgeGrowth(ended, unloaded)
        }
    }

    private mutating func judgeGrowth(_ ended: Round, _ unloaded: Double) {
        isShrinking = false
        let bearable = unloaded * (1 + Self.slowdown) / 2 + Self.unrest / 2
        guard ended.mostInFlight >= limit, ended.mean - ended.error <= bearable else { return }
        limit = min(limit < threshold ? min(limit * 2, threshold) : limit + max(1, limit / 16), most)
    }

    private mutating func shrink(by factor: Double, to least: Int = 1) {
        limit = max(min(least, limit), Int(Double(limit) * factor))
        if !isShrinking { threshold = limit }
        isShrinking = true
        slowRounds = 0
    }

    private mutating func beginProbe(_ roundDuration: Int64, _ now: MonotonicTime) {
        nextProbe = now + max(Self.probeInterval, 20 * roundDuration)
        limitAfterProbe = limit
        limit /= 2
    }

    /// Less is believed at once, more by halves: one measurement may have met with a queue.
    private mutating func learn(_ mean: Double, _ now: MonotonicTime) {
        guard let before = unloaded else {
            unloaded = mean
            nextProbe = now + Self.probeInterval
            return
        }
        unloaded = mean < before ? mean : (before + mean) / 2
    }
}

/// What became of the calls of one round.
private struct Round: Sendable, Equatable {
    let start: MonotonicTime
    var count = 0
    var lostCount = 0
    var mostInFlight = 0
    private(set) var mean = 0.0
    private var squares = 0.0

    init(start: MonotonicTime) { self.start = start }

    /// Takes in how long a call took (Welford's method).
    mutating func add(_ duration: Double) {
        count += 1
        let difference = duration - mean
        mean += difference / Double(count)
        squares += difference * (duration - mean)
    }

    /// The standard error of the mean.
    var error: Double { count > 1 ? (squares / Double(count - 1) / Double(count)).squareRoot() : mean }
}
