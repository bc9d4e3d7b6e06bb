package import Results
import Synchronization

/// Counts the calls that the rates of keys do not allow, by their tenants, or else by their sources. Any thread may note one.
package final class RefusedCalls: Sendable {
    /// The most names that are counted between two looks. Keys are those of the file.
    private static let capacity = 64

    /// Nothing else is locked while it is held.
    private let counts = Mutex<[IncidentSign.Subject: Int]>([:])

    /// Notes a call that was refused.
    package func note(_ publisher: Publisher) {
        let subject =
            publisher.tenant.map { IncidentSign.Subject(.tenantLimited, of: $0) } ?? .init(.sourceLimited, of: publisher.source)
        counts.withLock { counts in
            guard counts[subject] != nil || counts.count < Self.capacity else { return }
            counts[subject, default: 0] += 1
        }
    }

    /// Takes what was counted since the last time.
    package func take() -> [IncidentSign.Subject: Int] {
        counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
    }
}
