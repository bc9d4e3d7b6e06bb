import Foundation

/// Lets one thread wait until another has something for it. Raised before the wait, it does not wait.
final class ThreadSignal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func raise() { semaphore.signal() }

    func wait() { semaphore.wait() }
}
