/// The name by which a request is cancelled: its id, and whose it is. Others may use the same id.
public struct RequestName: Sendable, Hashable {
    /// The request's id.
    public var id: String
    /// Its source; nil where it has none.
    public var source: String?
    /// Its tenant; nil where it has none.
    public var tenant: String?

    /// The name of a request.
    public init(id: String, source: String? = nil, tenant: String? = nil) {
        self.id = id
        self.source = source
        self.tenant = tenant
    }

    /// The name of a request that was read.
    public init(of request: borrowing PushRequest) {
        let document = request.document
        self.init(
            id: document.string(request.id), source: request.source.map { document.string($0) },
            tenant: request.tenant.map { document.string($0) })
    }

    /// The scopes that it is in, at most four; `all` is the first.
    public var scopes: [CancelRecord.Scope] {
        var scopes = [CancelRecord.Scope.all]
        if source != nil { scopes.append(CancelRecord.Scope(source: source)) }
        if tenant != nil { scopes += scopes.map { CancelRecord.Scope(source: $0.source, tenant: tenant) } }
        return scopes
    }
}

extension CancelRecord {
    /// Whose requests are meant.
    public struct Scope: Sendable, Hashable {
        /// The source that a request must have; nil where it may have any, or none.
        public var source: String?
        /// The tenant that a request must have; nil where it may have any, or none.
        public var tenant: String?

        /// Everybody's requests: an operator cancels.
        public static let all = Scope()

        /// The requests of a source, of a tenant, or those of both.
        public init(source: String? = nil, tenant: String? = nil) {
            self.source = source
            self.tenant = tenant
        }
    }
}
