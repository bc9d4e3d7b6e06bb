import Basics
import Dispatch
import EventLoop
import Glibc
import Observability
import Synchronization

/// Reports a service to the manager that started it: that it is ready, reads its settings again, lives, ends. Does nothing where there is
/// no manager.
///
/// A sign of life depends on what `/livez` depends on, so a loop that has stopped turning has the service restarted, and an outage of Kafka
/// or of a hub does not.
final class Supervision: Sendable {
    /// The interval of reports where the manager watches for no signs of life, or seldom.
    private static let interval = Duration.seconds(5)

    private let manager: ServiceManager?
    private let health: Health
    /// Reports again and again. No other lock is taken while it is held.
    private let timer = Mutex<RepeatingTimer?>(nil)

    /// A report of a service's health to a manager.
    init(_ manager: ServiceManager?, health: Health) {
        self.manager = manager
        self.health = health
    }

    /// Reports that the service serves, and from now on that it lives.
    func begin() {
        guard let manager else { return }
        report()
        manager.send(.ready)
        let interval = min(Self.interval, manager.watchdogLimit.map { $0 / 3 } ?? Self.interval)
        let milliseconds = max(1, Int(interval / .milliseconds(1)))
        timer.withLock { $0 = RepeatingTimer(every: .milliseconds(milliseconds)) { [self] in report() } }
    }

    /// Reads settings again between two reports.
    func reload(_ read: () -> Void) {
        manager?.send(.reloading(since: ServiceManager.monotonicMicroseconds()))
        read()
        manager?.send(.ready)
    }

    /// Reports that the service ends, within so long if all goes well. It must live until it has.
    func stop(within limit: Duration) {
        manager?.send(.stopping, .takes(limit), .status("finishes what is in flight, and ends"))
    }

    /// Reports no more.
    func end() { timer.withLock { $0.take()?.cancel() } }

    private func report() {
        let now = MonotonicTime.now().nanoseconds
        let (live, ready) = (health.report(.live, now: now), health.report(.ready, now: now))
        let failing = (live.checks + ready.checks).first { $0.reason != nil }
        let status = failing.map { "failing \($0.name): \($0.reason ?? "")" } ?? "ready"
        if live.passes { manager?.send(.alive, .status(status)) } else { manager?.send(.status(status)) }
    }
}
