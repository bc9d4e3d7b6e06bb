import Basics
import Dispatch
import EventLoop
import HubServer
import Synchronization

/// A change that waits for the writer.
struct WaitingChange: Sendable {
    fileprivate let number: Int
    let perform: @Sendable (HubConnection) throws(RefusedCall) -> Void
    /// Gets the refusal, or nil once all of the change lasts.
    let finish: @Sendable (RefusedCall?) -> Void
}

/// The changes that wait for the writer of a hub's file, and the state of its last transaction.
final class ChangeQueue: Sendable {
    /// The work of a transaction.
    enum Duty: Sendable {
        /// Changes wait.
        case changes
        /// The last transaction failed, and no change waits.
        case attempt
    }

    private struct State {
        var waiting = FIFO<WaitingChange>()
        var nextNumber = 0
        /// The beginning of the present transaction.
        var start: MonotonicTime?
        var problem: String?
        var isClosed = false
    }

    /// The most changes that wait.
    private static let limit = 4096
    /// The time after which a change that waits is taken back, and a transaction counts as one that hangs.
    private static let patience = Duration.seconds(10)
    /// The time between two attempts to write while the last one failed.
    private static let pause = DispatchTimeInterval.seconds(1)
    private static let hanging = "a change of it has not ended for more than 10 s"

    /// Protects all of it. Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// The reason for which the last changes are not kept, or nil if they are.
    var problem: String? { state.withLock { Self.isHanging($0) ? Self.hanging : $0.problem } }

    private static func isHanging(_ state: State) -> Bool {
        state.start.map { $0.advanced(by: patience) < .now() } ?? false
    }

    /// Adds a change. Throws where it cannot be carried out in time.
    ///
    /// - Returns: Its number.
    func add(
        _ perform: @escaping @Sendable (HubConnection) throws(RefusedCall) -> Void,
        finish: @escaping @Sendable (RefusedCall?) -> Void
    ) throws(RefusedCall) -> Int {
        let number = try state.withLock { (state) throws(RefusedCall) -> Int in
            if state.isClosed { throw HubConnection.refusal("it is closed") }
            if Self.isHanging(state) { throw HubConnection.refusal(Self.hanging) }
            if state.waiting.count >= Self.limit { throw HubConnection.refusal("too many changes of it wait") }
            state.nextNumber += 1
            state.waiting.append(WaitingChange(number: state.nextNumber, perform: perform, finish: finish))
            return state.nextNumber
        }
        arrivals.signal()
        return number
    }

    /// Takes a change back that has not begun. Returns false if there is none.
    func withdraw(_ number: Int) -> Bool {
        state.withLock { state in
            let count = state.waiting.count
            state.waiting.removeAll { $0.number == number }
            return state.waiting.count < count
        }
    }

    /// The time that whoever waits for a change allows for its beginning.
    static var deadline: DispatchTime { .now() + .nanoseconds(Int(patience.wholeNanoseconds)) }

    /// The next change, or nil if none waits.
    func next() -> WaitingChange? { state.withLock { $0.waiting.popFirst() } }

    /// Waits for work, which begins when this returns. While there is a problem, it is an attempt from time to time. Nil at the end: the
    /// queue is closed, and no change is left.
    func nextDuty() -> Duty? {
        while true {
            let (duty, isOver, hasProblem) = state.withLock { state -> (Duty?, Bool, Bool) in
                guard state.waiting.count > 0 else { return (nil, state.isClosed, state.problem != nil) }
                state.start = .now()
                return (.changes, false, false)
            }
            if duty != nil || isOver { return duty }
            if arrivals.wait(timeout: hasProblem ? .now() + Self.pause : .distantFuture) == .timedOut { return .attempt }
        }
    }

    /// Notes the end of the transaction, and why nothing of it is kept.
    func noteEnd(problem: String?) { state.withLock { ($0.start, $0.problem) = (nil, problem) } }

    /// Refuses changes from now on.
    func close() {
        state.withLock { $0.isClosed = true }
        arrivals.signal()
    }
}
