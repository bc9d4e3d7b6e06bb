import Dispatch
import Synchronization

/// Whether something in this process was waited for in vain.
private let hasWaitedInVain = Atomic<Bool>(false)

/// How long tests wait for what must come: far beyond any pause of a busy machine. What has not come by then never comes.
///
/// Once something has not come, what depends on it does not come either: the waits after it are shorter, so that they do not add up to more
/// than a whole stage of tests may take. By then the run has failed.
public var farDeadline: Duration { hasWaitedInVain.load(ordering: .relaxed) ? .seconds(60) : .seconds(300) }

/// Waits until `condition` holds, asking again every few milliseconds.
///
/// For events that nobody signals. It can fail only where they never come: nothing is claimed about how long they take.
///
/// - Parameter condition: What is waited for.
/// - Returns: Whether it held before `farDeadline` was over.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + farDeadline
    let nothing = DispatchSemaphore(value: 0)
    while try !condition() {
        guard ContinuousClock.now < deadline else {
            hasWaitedInVain.store(true, ordering: .relaxed)
            return false
        }
        _ = nothing.wait(timeout: .now() + .milliseconds(5))
    }
    return true
}
