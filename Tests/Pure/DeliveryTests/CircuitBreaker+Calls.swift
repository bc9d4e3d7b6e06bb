import Basics
import Delivery
import TestSupport
import Testing

/// What tests do with a circuit breaker.
extension CircuitBreaker {
    /// One that opened at 1 s, until 2 s.
    static var opened: CircuitBreaker {
        var breaker = CircuitBreaker()
        for place in 1...5 { breaker.call(fails: true, at: Int64(place) * 200 * HubOutage.millisecond) }
        return breaker
    }

    /// One call that ends at once.
    mutating func call(fails: Bool, at now: Int64) {
        var least = ConstantRandom.least
        let call = started(now: .at(now))
        if fails { noteFailure(call, now: .at(now), using: &least) } else { succeeded(call, now: .at(now)) }
    }

    mutating func expectStart(at now: Int64, _ location: SourceLocation = #_sourceLocation) {
        let isAllowed = mayStart(now: .at(now))
        #expect(isAllowed, sourceLocation: location)
    }
}
