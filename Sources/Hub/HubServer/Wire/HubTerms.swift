public import HubAuth

/// The pricing tier of a hub, which limits its features (hub pricing, "Features").
public enum HubTier: String, Sendable, CaseIterable {
    case free, basic, standard
}

/// A policy of a hub: a name, a key and rights.
public struct HubPolicy: Sendable, Equatable, CustomStringConvertible {
    /// The name that tokens give as `skn`.
    public let name: String
    /// The key, as the connection string has it. A secret, but for the well-known one of emulators.
    public let key: String
    /// The rights that tokens of this policy have.
    public let rights: SASRights

    /// Describes a policy.
    public init(name: String, key: String, rights: SASRights) {
        self.name = name
        self.key = key
        self.rights = rights
    }

    /// Reads `NAME=KEY:Listen,Send,Manage`, the form of the command line. Without rights it has all of them. It fails when the
    /// name or the key is empty, or a right is unknown.
    public init?(parsing text: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        let rest = text[text.index(after: equals)...]
        let colon = rest.lastIndex(of: ":")
        let key = String(rest[..<(colon ?? rest.endIndex)])
        guard !key.isEmpty else { return nil }
        guard let rights = colon.map({ SASRights(names: String(rest[rest.index(after: $0)...])) }) ?? .all else { return nil }
        self.init(name: String(text[..<equals]), key: key, rights: rights)
    }

    /// The name and the rights, never the key.
    public var description: String { "HubPolicy(\(name), rights \(rights.rawValue))" }
}

/// The terms of a hub: its name, keys and tier.
package struct HubTerms: Sendable {
    /// The first segment of every path.
    package var hubName: String
    /// The policies whose keys may sign.
    package var policies: [HubPolicy]
    package var tier: HubTier
    /// The address that links in answers have for a request without a host.
    package var listen: String
    /// True if a token's audience must name the host of the request.
    package var checksHost: Bool
    /// True if `X-Forwarded-Proto` decides the scheme of links.
    package var trustsForwardedProto: Bool

    package init(
        hubName: String, policies: [HubPolicy], tier: HubTier = .standard, listen: String, checksHost: Bool = false,
        trustsForwardedProto: Bool = false
    ) {
        (self.hubName, self.policies, self.tier, self.listen) = (hubName, policies, tier, listen)
        (self.checksHost, self.trustsForwardedProto) = (checksHost, trustsForwardedProto)
    }
}
