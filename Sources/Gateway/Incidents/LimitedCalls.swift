import Jobs
import Synchronization

/// Counts the calls that the rates of keys do not allow, by their tenants, or else by their sources. Any thread may note one.
final class LimitedCalls: Sendable {
    /// The most names that are counted between two looks. Keys are those of the file.
    private static let capacity = 64

    /// Nothing else is locked while it is held.
    private let counts = Mutex<[Trouble.Subject: Int]>([:])

    /// Notes a call that was refused.
    func note(_ publisher: Publisher) {
        let subject = publisher.tenant.map { Trouble.Subject(.tenantLimited, $0) } ?? .init(.sourceLimited, publisher.source)
        counts.withLock { counts in
            guard counts[subject] != nil || counts.count < Self.capacity else { return }
            counts[subject, default: 0] += 1
        }
    }

    /// Takes what was counted since the last time.
    func take() -> [Trouble.Subject: Int] {
        counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
    }
}
