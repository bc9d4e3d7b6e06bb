public import HubAuth

/// The hub that is called, and the credentials for it.
public struct HubConfiguration: Sendable, Equatable {
    /// The namespace's address.
    public var endpoint: HubEndpoint
    /// The hub's name, as it stands in the path.
    public var hub: HubName
    /// The policy and key that sign.
    public var credential: SASCredential
    /// The key to change to when fresh tokens of the first are refused.
    public var secondaryCredential: SASCredential?
    /// The protocol's version, default `2020-06`, the one that today's SDKs use.
    public var apiVersion = "2020-06"
    /// The life of a token, 5 min – 24 h, default 1 h.
    public var tokenLifetime = Duration.seconds(3600)

    /// A hub with the defaults.
    public init(endpoint: HubEndpoint, hub: HubName, credential: SASCredential) {
        self.endpoint = endpoint
        self.hub = hub
        self.credential = credential
    }
}
