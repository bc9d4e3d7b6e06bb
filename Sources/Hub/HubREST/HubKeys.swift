import HubAuth
import Synchronization

/// The keys of one hub as they are now, for clients on several threads: they may change while a program runs.
public final class HubKeys: Sendable {
    /// The end of an attempt to take other keys.
    public enum Renewal: Sendable {
        /// They are used from now on.
        case taken
        /// They are those before.
        case unchanged
        /// They are of another hub, address or policy, and are not taken.
        case otherHub
    }

    private let state: Mutex<(hub: HubConfiguration, generation: Int)>

    /// Begins with a hub and its keys.
    public init(_ hub: HubConfiguration) { state = Mutex((hub, 0)) }

    /// Has clients sign with other keys from their next call on.
    ///
    /// - Parameter new: The same hub, with the keys. Another hub, address or policy is not taken.
    /// - Returns: The end of it.
    public func renew(by new: HubConfiguration) -> Renewal {
        state.withLock { state in
            guard state.hub != new else { return .unchanged }
            guard state.hub.isSame(as: new) else { return .otherHub }
            state = (new, state.generation + 1)
            return .taken
        }
    }

    /// The hub with its keys, if they have changed since a number of changes, which becomes that of today.
    func newer(than generation: inout Int) -> HubConfiguration? {
        state.withLock { state in
            guard state.generation != generation else { return nil }
            generation = state.generation
            return state.hub
        }
    }
}

extension HubConfiguration {
    /// True if it differs from another one by the keys of the policy at most.
    fileprivate func isSame(as other: HubConfiguration) -> Bool {
        guard credential.policy == other.credential.policy else { return false }
        var changed = other
        (changed.credential, changed.secondaryCredential) = (credential, secondaryCredential)
        return changed == self
    }
}
