public import PushModel

/// The facts of a request as it was published by which people find and know it again.
public struct RequestFacts: Sendable, Equatable {
    /// The request's id.
    public var id: String
    /// The tenant, the source and the hub that it names.
    public var tenant, source, hub: String?
    /// The audience.
    public var audience: AudienceSummary
    /// The title, or the beginning of the body where there is none. 256 characters at most.
    public var title: String?
    /// The labels by name.
    public var labels: [String: String] = [:]
    /// The moment before which it is not sent.
    public var due: Timestamp?
    /// The id of the whole of which it is a part.
    public var whole: String?
    /// The request that it replays.
    public var replayed: String?

    /// Facts with nothing but an id and an audience.
    public init(id: String, audience: AudienceSummary) { (self.id, self.audience) = (id, audience) }
}
