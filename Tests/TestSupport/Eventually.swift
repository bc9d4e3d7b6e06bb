import Dispatch

/// Waits until `condition` holds, asking again every few milliseconds.
///
/// - Parameters:
///   - limit: How long to wait at most.
///   - condition: What is waited for.
/// - Returns: Whether it held in time.
public func eventually(within limit: Duration = .seconds(20), _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    let nothing = DispatchSemaphore(value: 0)
    while try !condition() {
        guard ContinuousClock.now < deadline else { return false }
        _ = nothing.wait(timeout: .now() + .milliseconds(5))
    }
    return true
}
