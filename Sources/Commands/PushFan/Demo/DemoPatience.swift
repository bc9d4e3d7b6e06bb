import Basics
import Console
import EventLoop
import Glibc
import Observability

/// Waits for slow events.
enum DemoPatience {
    /// The longest wait. Nothing takes nearly as long.
    static let limit = Duration.seconds(60)

    /// Checks every 20 ms, until nothing is missing any more. Throws `temporary` with the last reason after the longest wait.
    static func wait(for name: String, missing: () throws -> String?) throws {
        let deadline = ContinuousClock.now + limit
        while let reason = try missing() {
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(.temporary, "\(name) was not there within \(limit.components.seconds) s: \(reason)")
            }
            usleep(20_000)
        }
    }
}

extension Health {
    /// The reason for which its owner is not ready, or nil when it is. A commit that the embedded broker refused in a rebalance
    /// is repeated with the next one, so an idle worker may still show it.
    var missing: String? {
        let report = report(.ready, now: MonotonicTime.now().nanoseconds)
        return report.checks.allSatisfy { $0.reason == nil || $0.name == "producer" }
            ? nil : String(decoding: report.body(verbose: true), as: UTF8.self)
    }
}
