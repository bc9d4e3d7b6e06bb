import Dispatch
import Foundation

/// How many times longer than on an idle machine tests wait for what should come, 1...100: `PUSHFAN_TEST_PATIENCE`, set where a
/// sanitizer makes everything slow. A test that passes takes no longer for it.
public let patience: Int = {
    let text = ProcessInfo.processInfo.environment["PUSHFAN_TEST_PATIENCE"] ?? ""
    return min(max(Int(text) ?? 1, 1), 100)
}()

/// Waits until `condition` holds, asking again every few milliseconds.
///
/// - Parameters:
///   - limit: How long to wait at most, times `patience`.
///   - condition: What is waited for.
/// - Returns: Whether it held in time.
public func eventually(within limit: Duration = .seconds(20), _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + limit * patience
    let nothing = DispatchSemaphore(value: 0)
    while try !condition() {
        guard ContinuousClock.now < deadline else { return false }
        _ = nothing.wait(timeout: .now() + .milliseconds(5))
    }
    return true
}
