import Keys

/// The owner of a request, as far as it is known: a source, for a tenant. The key that published it may have been changed for another.
struct RequestOwner: Sendable, Equatable {
    /// The request's source: with its id it names the request.
    package var source: String?
    var tenant: String?
}

extension Asker {
    /// The back end whose key was right.
    init(_ publisher: Publisher) {
        self.init(
            keyID: publisher.keyID, source: publisher.source, tenant: publisher.tenant,
            mayPublish: publisher.scopes.contains(.publish), mayRead: publisher.scopes.contains(.read),
            mayReadPayload: publisher.scopes.contains(.payload), mayOperate: publisher.scopes.contains(.operate))
    }
}

/// A back end that asks what became of requests.
struct Asker: Sendable, Equatable {
    /// The id of its key, which says whose turn it is.
    var keyID: String
    package var source: String
    /// The tenant that it is bound to, nil for one that serves all.
    var tenant: String?
    /// True if it may publish, and hence see and cancel what it has published.
    var mayPublish: Bool
    /// True if it may see the requests of others.
    var mayRead: Bool
    /// True if it may see the content of requests.
    var mayReadPayload = false
    /// True if it may cancel the requests of others.
    var mayOperate = false

    /// True if a request is its own: the source is the same, and the tenant one that it serves.
    func owns(_ owner: RequestOwner) -> Bool { mayPublish && isOfItsTenant(owner) && owner.source == source }

    func maySee(_ owner: RequestOwner) -> Bool { owns(owner) || (mayRead && isOfItsTenant(owner)) }

    func mayCancel(_ owner: RequestOwner) -> Bool { owns(owner) || (mayOperate && isOfItsTenant(owner)) }

    private func isOfItsTenant(_ owner: RequestOwner) -> Bool { tenant == nil || tenant == owner.tenant }
}
