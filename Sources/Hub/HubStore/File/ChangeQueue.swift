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
        /// No change has come for a while.
        case rest
    }

    /// The time without a change before other work comes.
    struct Pauses: Sendable {
        var attempt = DispatchTimeInterval.seconds(1)
        var rest = DispatchTimeInterval.seconds(5)
    }

    /// The work of this moment, or that of later if no change comes before.
    private enum Step {
        case duty(Duty?)
        case wait(Duty?)
    }

    private struct State {
        var waiting = FIFO<WaitingChange>()
        var nextNumber = 0
        /// The beginning of the writer's present work.
        var start: MonotonicTime?
        var problem: String?
        /// True if nothing was changed since the last rest.
        var isRested = true
        /// True while the writer waits for a signal.
        var isIdle = false
        var isClosed = false

        /// Notes that a transaction begins, or that the writer waits. Nil as its duty is the end.
        mutating func begin() -> Step {
            if waiting.count > 0 {
                (start, isRested) = (.now(), false)
                return .duty(.changes)
            }
            if isClosed { return .duty(nil) }
            isIdle = true
            return .wait(problem != nil ? .attempt : isRested ? nil : .rest)
        }
    }

    /// The most changes that wait.
    private static let limit = 4096
    private static let hanging = "a change of it has not ended for too long"

    private let pauses: Pauses
    /// The time after which a change that waits is taken back, and the writer's work counts as one that hangs.
    private let patience: Duration
    /// Protects all of it. Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// A queue without changes.
    init(pauses: Pauses = Pauses(), patience: Duration = .seconds(10)) { (self.pauses, self.patience) = (pauses, patience) }

    /// The reason for which the last changes are not kept, or nil if they are.
    var problem: String? { state.withLock { isHanging($0) ? Self.hanging : $0.problem } }

    /// True from a failure to the next work that wrote to the file.
    var hasFailed: Bool { state.withLock { $0.problem != nil } }

    private func isHanging(_ state: State) -> Bool {
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
            if isHanging(state) { throw HubConnection.refusal(Self.hanging) }
            if state.waiting.count >= Self.limit { throw HubConnection.refusal("too many changes of it wait") }
            state.nextNumber += 1
            state.waiting.append(WaitingChange(number: state.nextNumber, perform: perform, finish: finish))
            return state.nextNumber
        }
        wake()
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
    var deadline: DispatchTime { .now() + .nanoseconds(Int(patience.wholeNanoseconds)) }

    /// The next change, or nil if none waits.
    func next() -> WaitingChange? { state.withLock { $0.waiting.popFirst() } }

    /// Waits for work, which begins when this returns: changes, or else an attempt or a rest after a while. Nil at the end: the queue is
    /// closed, and no change is left.
    func nextDuty() -> Duty? {
        while true {
            switch state.withLock({ $0.begin() }) {
            case .duty(let duty): return duty
            case .wait(nil): arrivals.wait()
            case .wait(let duty?):
                if arrivals.wait(timeout: .now() + (duty == .rest ? pauses.rest : pauses.attempt)) == .success { continue }
                state.withLock { state in
                    state.isIdle = false
                    if duty == .rest { state.isRested = true } else { state.start = .now() }
                }
                return duty
            }
        }
    }

    /// Notes the end of a transaction, and why the file cannot be written.
    func noteEnd(problem: String?) { state.withLock { ($0.start, $0.problem) = (nil, problem) } }

    /// Carries out other work of the writer, which counts as one that hangs like a transaction.
    func watch<Result>(_ work: () -> Result) -> Result {
        state.withLock { $0.start = .now() }
        defer { state.withLock { $0.start = nil } }
        return work()
    }

    /// Refuses changes from now on.
    func close() {
        state.withLock { $0.isClosed = true }
        wake()
    }

    /// Wakes the writer if it waits.
    private func wake() {
        let isIdle = state.withLock { state in
            defer { state.isIdle = false }
            return state.isIdle
        }
        if isIdle { arrivals.signal() }
    }
}
