package import Basics
import Synchronization

/// Has the caller of a call that goes on looked at: `end` is called once when its rights are gone, unless what this returns is called before.
package typealias Holding = @Sendable (_ end: @escaping @Sendable (APIProblem) -> Void) -> @Sendable () -> Void

/// Ends streams and waits whose callers have lost the rights by which these began. Any thread may ask, and none waits.
package final class RightsWatch: Sendable {
    /// The time between two looks at all of them, in nanoseconds: a right that is gone ends what it began within so much.
    static let interval: Int64 = 2_000_000_000

    private struct Held: Sendable {
        let holder: KeyHolder
        let end: @Sendable (APIProblem) -> Void
    }

    private struct State {
        var held: [Int: Held] = [:]
        var lastNumber = 0
        var next = MonotonicTime(nanoseconds: 0)
    }

    /// No other lock is taken while it is held.
    private let state = Mutex(State())

    /// The number of streams and waits.
    package var count: Int { state.withLock { $0.held.count } }

    /// A number for something that will be held.
    func newNumber() -> Int {
        state.withLock { state -> Int in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Looks at the holder of something from now on.
    package func hold(_ number: Int, of holder: KeyHolder, end: @escaping @Sendable (APIProblem) -> Void) {
        state.withLock { $0.held[number] = Held(holder: holder, end: end) }
    }

    /// Looks no more.
    func release(_ number: Int) { state.withLock { $0.held[number] = nil } }

    /// Looks at a holder while something waits.
    package func hold(_ holder: KeyHolder) -> Holding {
        { [self] end in
            let number = newNumber()
            hold(number, of: holder, end: end)
            return { [self] in release(number) }
        }
    }

    /// Ends what its caller may not have any more. To be called several times a second.
    package func tick(at now: MonotonicTime) {
        let all = state.withLock { state -> [Int: Held] in
            guard now >= state.next else { return [:] }
            state.next = now.advanced(byNanoseconds: Self.interval)
            return state.held
        }
        for (number, held) in all where !held.holder.isStillThere() {
            let isOpen = state.withLock { $0.held.removeValue(forKey: number) != nil }
            if isOpen { held.end(.rightsOver) }
        }
    }
}
