import Dispatch

/// How long tests wait for what must come: far beyond any pause of a busy machine. What has not come by then never comes.
public let farDeadline: Duration = .seconds(300)

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
        guard ContinuousClock.now < deadline else { return false }
        _ = nothing.wait(timeout: .now() + .milliseconds(5))
    }
    return true
}
