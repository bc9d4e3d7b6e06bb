public import Basics

/// The number of calls to a hub that may be in flight at once, found out from how long they take and whether they are lost.
///
/// It works in rounds. A round looks only at calls that were started in it, all under the same limit:
///
/// - calls were lost (no answer, an error of the hub's, or throttling): a test at `floor` shows whether fewer calls at once lose less.
///   Then the limit shrinks, by a half when half of them were lost, and at once the next times, until another test is due. When the loss
///   is no less there, it has nothing to do with the limit, which goes back up and bears that loss (`LossBaseline`). Below the floor it
///   falls only when most calls are lost;
/// - twice in a row they took clearly longer than they do without a queue: it shrinks to where they should not;
/// - they did not, and the limit was reached: it grows, to twice as much until it has shrunk once, by a sixteenth afterwards.
///
/// Lost calls have no say in how long a call takes, so calls that all time out alike never look like a hub that has settled. How long a
/// call takes without a queue is measured again every 20 s at half the limit, and whenever there is little to do. Times are nanoseconds
/// of a monotonic clock that the owner reads.
public struct ConcurrencyLimit: Sendable, Equatable {
    /// The limit at the beginning, if that is not above the most.
    public static let start = 16
    /// The time after which a round at half the limit measures calls without a queue again, nanoseconds. It is longer when rounds
    /// are long.
    static let probeInterval: Int64 = 20_000_000_000
    /// Calls take clearly longer when they take half as long again, and 10 ms besides, which is our own unrest.
    static let slowdown = 1.5
    static let unrest: Double = 10_000_000
    /// The share of lost calls that is borne without a test.
    static let bearableLoss = 0.1
    /// The calls of a test. Of 64 calls, two must be lost for loss by chance.
    static let testCalls = 64
    /// The lowest limit for the sake of loss while some calls succeed.
    public static let floor = 3
    /// A hub that loses more calls than so many for each that succeeds is as good as out.
    fileprivate static let lostPerSuccess = 9

    /// The highest that the limit can be.
    public let most: Int
    /// Calls that may be in flight at once, 1 – `most`.
    public private(set) var limit: Int
    private let isAdaptive: Bool

    private var round = Round(start: .past)
    /// The time that a call takes without a queue, or nil before the first round.
    private var unloaded: Double?
    /// Below this the limit doubles: where it began to shrink, or the most when that was for nothing.
    private var threshold: Int
    private var isShrinking = false
    private var slowRounds = 0
    /// The limit to go back to after a round at half of it. Nil outside of one.
    private var limitAfterProbe: Int?
    private var nextProbe = MonotonicTime.never
    private var loss = LossBaseline(leastCalls: ConcurrencyLimit.testCalls)
    /// The test of the floor that is in progress.
    private var test: Test?
    private var nextTest = MonotonicTime.past

    /// A round at the floor that tells whether fewer calls lose less.
    private struct Test: Sendable, Equatable {
        /// The limit before it.
        let limit: Int
        /// The factor that the limit shrinks by if they do.
        let factor: Double
    }

    /// A limit between 1 and `most`. It stays at `most` when it is not adaptive.
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
    public mutating func noteEnd(startedAt: MonotonicTime, now: MonotonicTime, isLost: Bool) {
        guard isAdaptive, startedAt >= round.start else { return }
        if isLost { round.lostCount += 1 } else { round.add(Double(now - startedAt)) }
        let needed = neededCalls
        guard round.callCount >= needed || isBad(needed) else { return }
        judge(now)
    }

    /// The number of calls that make a round.
    private var neededCalls: Int {
        if test != nil { return Self.testCalls }
        return loss.share > 0 ? min(max(4 * limit, 32), 256) : min(max(2 * limit, 8), 256)
    }

    /// True if so many calls of the round are lost that its end must not be waited for.
    private func isBad(_ needed: Int) -> Bool {
        if test != nil { return round.lostCount >= 4 && round.isNearlyAllLost }
        return round.lostCount >= max(4, needed / 8) && Double(round.lostCount) >= 1.5 * loss.share * Double(needed)
    }

    private mutating func judge(_ now: MonotonicTime) {
        let ended = round
        round = Round(start: now)
        let wasProbe = limitAfterProbe != nil
        if let limitAfterProbe { limit = limitAfterProbe }
        limitAfterProbe = nil
        if ended.isNearlyAllLost {
            test = nil
            loss.restart()
            return shrink(by: 0.5)
        }
        if let test { return judge(test, after: ended, now: now) }
        let calls = ended.callCount
        let isLossy = ended.lostCount > 1 && Double(ended.lostCount) >= Self.bearableLoss * Double(calls)
        guard !isLossy || loss.explains(ended.lostCount, of: calls) else { return judgeLoss(ended, now: now) }
        loss.follow(ended.lostCount, of: calls, areFew: wasProbe)
        if let unloaded, ended.mostInFlight * 2 > limit, limit > 1 {
            judge(ended, against: unloaded, now: now)
        } else {
            // The first round has nothing to be compared with, and one call at a time is without a queue.
            let mayGrow = unloaded == nil || limit == 1
            learn(ended.mean, now: now)
            if mayGrow { judgeGrowth(ended, against: ended.mean) }
        }
    }

    private mutating func judgeLoss(_ ended: Round, now: MonotonicTime) {
        let floor = min(Self.floor, most)
        let factor = ended.lostCount >= ended.count ? 0.5 : 0.7
        guard now >= nextTest || limit <= floor else { return shrink(by: factor, to: floor) }
        test = Test(limit: limit, factor: factor)
        limit = min(limit, floor)
    }

    private mutating func judge(_ test: Test, after ended: Round, now: MonotonicTime) {
        let measure = loss.measure(ended.lostCount, of: ended.callCount)
        guard measure != .unfinished else { return }
        self.test = nil
        // A twentieth of the time at most is for tests.
        nextTest = now + max(Self.probeInterval, 20 * (now - ended.start))
        let floor = min(Self.floor, most)
        if measure == .known {
            isShrinking = false
            threshold = most
            limit = max(test.limit, min(2 * floor, most))
        } else if measure == .tooMuch {
            shrink(by: 0.5)
        } else {
            limit = test.limit
            shrink(by: test.factor, to: floor)
        }
    }

    private mutating func judge(_ ended: Round, against unloaded: Double, now: MonotonicTime) {
        let isSlow = ended.mean - 3 * ended.error > unloaded * Self.slowdown + Self.unrest
        slowRounds = isSlow ? slowRounds + 1 : 0
        if isSlow {
            // Once may be a pause of our own.
            if slowRounds > 1 { shrink(by: max(0.7, 0.9 * (unloaded * Self.slowdown + Self.unrest) / ended.mean)) }
        } else if now >= nextProbe {
            beginProbe(now - ended.start, now: now)
        } else {
            judgeGrowth(ended, against: unloaded)
        }
    }

    private mutating func judgeGrowth(_ ended: Round, against unloaded: Double) {
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

    private mutating func beginProbe(_ roundDuration: Int64, now: MonotonicTime) {
        nextProbe = now + max(Self.probeInterval, 20 * roundDuration)
        limitAfterProbe = limit
        limit /= 2
    }

    /// Less is believed at once, more by halves: one measurement may have met with a queue.
    private mutating func learn(_ mean: Double, now: MonotonicTime) {
        guard let before = unloaded else {
            unloaded = mean
            nextProbe = now + Self.probeInterval
            return
        }
        unloaded = mean < before ? mean : (before + mean) / 2
    }
}

/// The fates of the calls of one round.
private struct Round: Sendable, Equatable {
    let start: MonotonicTime
    var count = 0
    var lostCount = 0
    var mostInFlight = 0
    private(set) var mean = 0.0
    private var squares = 0.0

    init(start: MonotonicTime) { self.start = start }

    /// The calls of the round that ended.
    var callCount: Int { count + lostCount }

    /// True if the hub lost nearly every call.
    var isNearlyAllLost: Bool { lostCount > 1 && lostCount > ConcurrencyLimit.lostPerSuccess * count }

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
