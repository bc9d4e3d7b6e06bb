package import GatewayAPI

/// A party that wants something of the hubs: a user, or a back end by its key.
package enum DeviceParty: Sendable {
    case user(Caller)
    case backEnd(Publisher)

    /// The tenant whose hub is meant, or nil for the default.
    var tenant: String? {
        guard case .backEnd(let publisher) = self else { return nil }
        return publisher.tenant
    }

    /// The holder of places, of which one has no more than half.
    var claimant: String {
        switch self {
        case .user(let caller): "user \(caller.name)"
        case .backEnd(let publisher): "\(Party(publisher))"
        }
    }
}
