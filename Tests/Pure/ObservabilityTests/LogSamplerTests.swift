import Observability
import Testing

@Suite struct LogSamplerTests {
    @Test func eventsAreCountedApart() {
        var sampler = LogSampler(burst: 1, every: 100)
        #expect(sampler.admit(.commitFailed, now: 0) == .write(suppressed: 0))
        #expect(sampler.admit(.commitFailed, now: 0) == .suppress)
        #expect(sampler.admit(.hubThrottled, now: 0) == .write(suppressed: 0))
    }

    @Test func spanBeginsWithItsFirstLine() {
        var sampler = LogSampler(burst: 1, every: 100)
        #expect(sampler.admit(.commitFailed, now: 50) == .write(suppressed: 0))
        #expect(sampler.admit(.commitFailed, now: 149) == .suppress)
        #expect(sampler.admit(.commitFailed, now: 150) == .write(suppressed: 1))
        #expect(sampler.admit(.commitFailed, now: 250) == .write(suppressed: 0))
    }

    @Test func clockSetBackBeginsANewSpan() {
        var sampler = LogSampler(burst: 1, every: 100)
        #expect(sampler.admit(.commitFailed, now: 1000) == .write(suppressed: 0))
        #expect(sampler.admit(.commitFailed, now: 1001) == .suppress)
        #expect(sampler.admit(.commitFailed, now: 10) == .write(suppressed: 1))
    }

    @Test func uselessLimitsBecomeTheSmallestUseful() {
        var sampler = LogSampler(burst: 0, every: -1)
        #expect(sampler.admit(.commitFailed, now: .min) == .write(suppressed: 0))
        #expect(sampler.admit(.commitFailed, now: .min) == .suppress)
        #expect(sampler.admit(.commitFailed, now: .max) == .write(suppressed: 1))
    }

    @Test func everyLineIsWrittenOrCounted() {
        var random = SplitMix(seed: 3)
        var sampler = LogSampler(burst: 4, every: 50)
        var (now, offered, written, told) = (Int64(0), 0, 0, 0)
        for _ in 0..<20_000 {
            now += Int64.random(in: 0...10, using: &random)
            offered += 1
            switch sampler.admit([.commitFailed, .hubThrottled, .fenced].randomElement(using: &random) ?? .fenced, now: now) {
            case .suppress: break
            case .write(let suppressed):
                written += 1
                told += suppressed
            }
            if Int.random(in: 0..<40, using: &random) == 0 {
                told += sampler.takeEnded(now: now).reduce(0) { $0 + $1.suppressed }
            }
        }
        told += sampler.takeEnded(now: now + 50).reduce(0) { $0 + $1.suppressed }
        #expect(written + told == offered)
        #expect(written < offered && told > 0)
        #expect(sampler.takeEnded(now: .max).isEmpty)
    }
}
