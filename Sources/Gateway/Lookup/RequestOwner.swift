import Keys

/// The owner of a request, as far as it is known.
struct RequestOwner: Sendable, Equatable {
    /// The id of the key that published it, nil where another gateway has, or a client of Kafka.
    var keyID: String?
    /// The request's source: with its id it names the request.
    var source: String?
    var tenant: String?
}

extension Asker {
    /// The back end whose key was right.
    init(_ publisher: Publisher) {
        self.init(
            keyID: publisher.keyID, source: publisher.source, tenant: publisher.tenant,
            mayPublish: publisher.scopes.contains(.publish), mayRead: publisher.scopes.contains(.read),
            mayReadPayload: publisher.scopes.contains(.payload))
    }
}

/// A back end that asks what became of requests.
struct Asker: Sendable, Equatable {
    var keyID: String
    var source: String
    /// The tenant that it is bound to, nil for one that serves all.
    var tenant: String?
    /// True if it may publish, and hence see and cancel what it has published.
    var mayPublish: Bool
    /// True if it may see the requests of others.
    var mayRead: Bool
    /// True if it may see the content of requests.
    var mayReadPayload = false

    /// True if a request is its own: the key is the same or, where that is not known, the source.
    func owns(_ owner: RequestOwner) -> Bool {
        guard mayPublish, isOfItsTenant(owner) else { return false }
        return owner.keyID.map { $0 == keyID } ?? (owner.source == source)
    }

    func maySee(_ owner: RequestOwner) -> Bool { owns(owner) || (mayRead && isOfItsTenant(owner)) }

    private func isOfItsTenant(_ owner: RequestOwner) -> Bool { tenant == nil || tenant == owner.tenant }
}
