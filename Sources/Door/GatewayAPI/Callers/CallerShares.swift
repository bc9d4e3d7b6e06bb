import Basics
import Synchronization
package import Users

/// Whoever takes a place that all share: a key or the session with it, its tenant, and the network that its call comes from.
package struct Claimant: Sendable, Hashable {
    package let keyID: String
    /// Nil for a key that serves all tenants.
    package let tenant: String?
    /// Nil where the call's address is not known.
    package let client: ClientNetwork?

    package init(keyID: String, tenant: String?, client: ClientNetwork? = nil) {
        (self.keyID, self.tenant, self.client) = (keyID, tenant, client)
    }
}

/// The shares of callers in a bounded number of places: a key has a quarter of them at most, a tenant and a network half, and each at most
/// half of what the others leave. Pure.
package struct CallerShares: Sendable {
    package enum Refusal: Error, Sendable, Equatable {
        /// Every place is taken.
        case full
        /// The key, its tenant or its network has its share.
        case share

        /// 503, or 429 for whoever has its share. `wait` is milliseconds.
        package func problem(after wait: Int64) -> APIProblem {
            switch self {
            case .full: .overloaded(after: wait)
            case .share:
                APIProblem(
                    429, code: .tooManyRequests,
                    detail:
                        "This key, its tenant or its address has as many waits and streams open as it may. Wait for the end of one.",
                    retry: .safe, retryAfter: wait)
            }
        }
    }

    private var keys: Shares<String>
    private var tenants: Shares<String>
    private var networks: Shares<ClientNetwork>

    package init(places: Int) {
        keys = Shares(places: places)
        tenants = Shares(places: places, part: 2)
        networks = Shares(places: places, part: 2)
    }

    /// The reason against one more place for a claimant, or nil.
    package func refusal(for claimant: Claimant) -> Refusal? {
        guard keys.free > 0 else { return .full }
        let isAdmitted =
            keys.admits(claimant.keyID) && tenants.admits(claimant.tenant) && networks.admits(claimant.client)
        return isAdmitted ? nil : .share
    }

    /// Takes a place, or returns the reason against it.
    package mutating func take(for claimant: Claimant) -> Refusal? {
        if let refusal = refusal(for: claimant) { return refusal }
        keys.add(to: claimant.keyID)
        tenants.add(to: claimant.tenant)
        networks.add(to: claimant.client)
        return nil
    }

    /// Gives a place back.
    package mutating func giveBack(of claimant: Claimant) {
        keys.give(of: claimant.keyID)
        tenants.give(of: claimant.tenant)
        networks.give(of: claimant.client)
    }
}

/// The places of all answers that are held open for long: waits for results, and streams of events. Each has a connection as long, and a
/// quarter of all connections is left for calls that are answered at once.
package final class HeldAnswers: Sendable {
    /// No other lock is taken while it is held.
    private let shares: Mutex<CallerShares>

    /// Places for a server with so many connections.
    package init(connections: Int) { shares = Mutex(CallerShares(places: connections / 4 * 3)) }

    /// The reason against one more for a claimant, or nil.
    package func refusal(for claimant: Claimant) -> CallerShares.Refusal? { shares.withLock { $0.refusal(for: claimant) } }

    /// Takes a place, or returns the reason against it.
    package func take(for claimant: Claimant) -> CallerShares.Refusal? { shares.withLock { $0.take(for: claimant) } }

    /// Gives a place back.
    package func giveBack(of claimant: Claimant) { shares.withLock { $0.giveBack(of: claimant) } }
}
