import Basics
import Delivery
import TestSupport
import Testing

struct HubLimitsTests {
    private static let second = ConcurrencyModel.second
    private static let millisecond = ConcurrencyModel.millisecond

    private struct Call {
        let circuit: CircuitBreaker.Call
        let startedAt: Int64
        let end: Int64
        let isLost: Bool
    }

    /// A hub that is out for half a minute, with much to do all the time: what comes afterwards is no storm.
    @Test(arguments: 0..<10)
    func afterAnOutageCallsComeBackStepByStep(seed: Int) {
        var random = SeededRandom(seed)
        var limits = HubLimits(concurrency: ConcurrencyLimit(most: 64))
        var (now, calls, starts) = (Int64(0), [Call](), [Int64]())
        let outage = 10 * Self.second..<40 * Self.second
        while now < 70 * Self.second {
            for call in calls where call.end <= now {
                limits.noteEnd()
                limits.concurrency.noteEnd(startedAt: .at(call.startedAt), now: .at(now), isLost: call.isLost)
                if call.isLost {
                    limits.circuit.noteFailure(call.circuit, now: .at(now), using: &random)
                } else {
                    limits.circuit.succeeded(call.circuit, now: .at(now))
                }
            }
            calls.removeAll { $0.end <= now }
            while limits.mayStart(now: .at(now)) {
                let isLost = outage.contains(now)
                let duration = isLost ? 2 * Self.second : Int64(30 + random.below(40)) * Self.millisecond
                calls.append(Call(circuit: limits.started(now: .at(now)), startedAt: now, end: now + duration, isLost: isLost))
                starts.append(now)
            }
            now += Self.millisecond
        }
        let first = starts.first { $0 >= outage.upperBound } ?? .max
        // A probe that was under way at the end takes 2 s to be lost, and the next one waits for 5 s at most.
        #expect(first - outage.upperBound <= 7 * Self.second)
        #expect(starts.count { $0 >= first && $0 < first + 100 * Self.millisecond } <= 16)
        let during = starts.count { $0 >= outage.lowerBound + 5 * Self.second && $0 < outage.upperBound }
        #expect(during <= 30)
        let full = starts.count { $0 >= first + 10 * Self.second && $0 < first + 20 * Self.second }
        #expect(full > 10_000)
    }

    private func expectWait(
        _ limits: inout HubLimits, at now: Int64, until end: Int64?, _ place: SourceLocation = #_sourceLocation
    ) {
        let found = limits.waitEnd(now: .at(now))
        #expect(found == end.map { .at($0) }, sourceLocation: place)
    }

    private func expectStart(
        _ limits: inout HubLimits, at now: Int64, _ expected: Bool, _ place: SourceLocation = #_sourceLocation
    ) {
        let mayStart = limits.mayStart(now: .at(now))
        #expect(mayStart == expected, sourceLocation: place)
    }

    @Test func whileTheKeyIsInDoubtOneCallGoesAtATime() {
        var limits = HubLimits(concurrency: ConcurrencyLimit(most: 64, isAdaptive: false))
        func begin() -> Bool {
            guard limits.mayStart(now: .at(1)) else { return false }
            _ = limits.started(now: .at(1))
            return true
        }
        for _ in 0..<8 { #expect(begin()) }
        limits.isKeyInDoubt = true
        for _ in 0..<8 {
            #expect(!begin())
            limits.noteEnd(startedAt: .at(1))
        }
        #expect(begin() && !begin())
        limits.isKeyInDoubt = false
        #expect(begin())
    }

    @Test func aWaitEndsWhenTheLastOfItsReasonsDoes() {
        var limits = HubLimits(
            concurrency: ConcurrencyLimit(most: 2), rate: RateLimit(callsPerSecond: 1, member: 1, now: 0))
        expectWait(&limits, at: 0, until: .max)
        limits.rate?.owns(1, now: 0)
        limits.rate?.sharesByPartitions(1, now: 0)
        expectWait(&limits, at: 0, until: Self.second)
        limits.pause.asked(for: 1500, now: 0)
        expectWait(&limits, at: 0, until: 1500 * Self.millisecond)
        expectStart(&limits, at: Self.second, false)
        let now = 1500 * Self.millisecond
        expectWait(&limits, at: now, until: nil)
        expectStart(&limits, at: now, true)
        _ = limits.started(now: .at(now))
        #expect(limits.inFlight == 1)
        expectStart(&limits, at: now, false)
        expectWait(&limits, at: now, until: 2500 * Self.millisecond)
        expectStart(&limits, at: 2500 * Self.millisecond, true)
        _ = limits.started(now: .at(2500 * Self.millisecond))
        expectWait(&limits, at: 3500 * Self.millisecond, until: .max)
        limits.noteEnd()
        expectWait(&limits, at: 3500 * Self.millisecond, until: nil)
    }

    @Test func onlyTheWaitForTheRateIsCounted() throws {
        var limits = HubLimits(
            concurrency: ConcurrencyLimit(most: 1), rate: RateLimit(callsPerSecond: 1, member: 1, now: 0))
        limits.rate?.owns(1, now: 0)
        limits.rate?.sharesByPartitions(1, now: 0)
        limits.noteWaiting(true, now: 0)
        limits.noteWaiting(true, now: .at(400 * Self.millisecond))
        limits.noteWaiting(false, now: .at(500 * Self.millisecond))
        limits.noteWaiting(false, now: .at(Self.second))
        #expect(limits.rate?.waitedNanoseconds == 500 * Self.millisecond)
        _ = limits.started(now: .at(Self.second))
        limits.noteWaiting(true, now: .at(Self.second))
        limits.noteWaiting(true, now: .at(2 * Self.second))
        #expect(limits.rate?.waitedNanoseconds == 500 * Self.millisecond)
    }
}
