import Keys

/// The owner of a request, as far as it is known: a source, for a tenant. The key that published it may have been changed for another.
package struct RequestOwner: Sendable, Equatable {
    /// The request's source: with its id it names the request.
    package var source: String?
    package var tenant: String?

    package init(source: String? = nil, tenant: String? = nil) {
        self.source = source
        self.tenant = tenant
    }
}

extension Asker {
    /// The back end whose key was right.
    package init(_ publisher: Publisher) {
        self.init(
            keyID: publisher.keyID, source: publisher.source, tenant: publisher.tenant,
            mayPublish: publisher.scopes.contains(.publish), mayRead: publisher.scopes.contains(.read),
            mayReadPayload: publisher.scopes.contains(.payload), mayOperate: publisher.scopes.contains(.operate))
    }
}

/// A back end that asks what became of requests.
package struct Asker: Sendable, Equatable {
    /// The id of its key, which says whose turn it is.
    package var keyID: String
    package var source: String
    /// The tenant that it is bound to, nil for one that serves all.
    package var tenant: String?
    /// True if it may publish, and hence see and cancel what it has published.
    package var mayPublish: Bool
    /// True if it may see the requests of others.
    package var mayRead: Bool
    /// True if it may see the content of requests.
    package var mayReadPayload = false
    /// True if it may cancel the requests of others.
    package var mayOperate = false

    package init(
        keyID: String, source: String, tenant: String? = nil, mayPublish: Bool, mayRead: Bool, mayReadPayload: Bool = false,
        mayOperate: Bool = false
    ) {
        self.keyID = keyID
        self.source = source
        self.tenant = tenant
        self.mayPublish = mayPublish
        self.mayRead = mayRead
        self.mayReadPayload = mayReadPayload
        self.mayOperate = mayOperate
    }

    /// True if a request is its own: the source is the same, and the tenant one that it serves.
    package func owns(_ owner: RequestOwner) -> Bool { mayPublish && isOfItsTenant(owner) && owner.source == source }

    package func maySee(_ owner: RequestOwner) -> Bool { owns(owner) || (mayRead && isOfItsTenant(owner)) }

    package func mayCancel(_ owner: RequestOwner) -> Bool { owns(owner) || (mayOperate && isOfItsTenant(owner)) }

    private func isOfItsTenant(_ owner: RequestOwner) -> Bool { tenant == nil || tenant == owner.tenant }
}
