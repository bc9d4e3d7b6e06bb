import Keys
import PushModel

extension KeyTerms {
    /// The terms that the flags of `keys create` name. `now` is in seconds since 1970.
    init(_ arguments: Arguments, now: Int64) throws(CommandFailure) {
        guard let scopes = Scope.set(arguments.value("scope") ?? Scope.publish.rawValue) else {
            throw .usage(
                "--scope: this is no list of scopes; expected some of \(Scope.text(Set(Scope.allCases))), each once")
        }
        self.init(scopes)
        tenant = arguments.value("tenant")
        source = arguments.value("source")
        comment = arguments.value("comment")
        rate = try arguments.integer("rate", in: Self.rates)
        expiresAt = try arguments.duration("expires").map { now.addingSaturated($0.components.seconds) }
        if let expiresAt, expiresAt <= now { throw .usage("--expires: such a key would never be valid; expected 1s or more") }
        switch fault {
        case nil: break
        case .tenant: throw .usage("--tenant: this is no tenant; one has \(Self.tenantRule)")
        case .source: throw .usage("--source: this is no source; one has \(Self.sourceRule)")
        case .comment: throw .usage("--comment: this is no comment; one has \(Self.commentRule)")
        case .some(let field): throw .usage("--\(field.rawValue): this is not allowed; the latest moment is in the year 9999")
        }
    }
}

extension Table {
    /// The columns of keys. A narrow terminal has no room for all.
    static var ofKeys: Table {
        Table([
            "ID", "STATE", "SCOPES", .init(title: "TENANT", spare: 4), .init(title: "SOURCE", spare: 1),
            .number("RATE", spare: 2), .init(title: "EXPIRES", spare: 5), .init(title: "CREATED", spare: 3),
            .init(title: "LAST USED", spare: 6), "COMMENT",
        ])
    }

    /// Adds a key's row.
    mutating func add(_ key: APIKey, at now: Int64, _ uses: LastUses) {
        add(
            key.id, key.state(at: now).rawValue, Scope.text(key.terms.scopes), key.terms.tenant ?? "-", key.source,
            key.terms.rate.map { String($0) } ?? "-", key.terms.expiresAt.map(Self.moment) ?? "-", Self.moment(key.createdAt),
            uses.seconds[key.id].map(Self.moment) ?? "-",
            key.terms.comment ?? "-")
    }

    private static func moment(_ seconds: Int64) -> String { Timestamp(seconds: seconds).text }
}

extension JSONObject {
    /// Adds the facts of a key, without its secret and the hash of it.
    mutating func add(_ key: APIKey, at now: Int64, _ uses: LastUses = LastUses()) {
        add("id", value: key.id)
        add("state", value: key.state(at: now).rawValue)
        add("scopes", texts: Scope.allCases.filter(key.terms.scopes.contains).map(\.rawValue))
        add("tenant", value: key.terms.tenant)
        add("source", value: key.source)
        if let rate = key.terms.rate { add("rate", value: rate) }
        add("expires_at", value: key.terms.expiresAt.map { Timestamp(seconds: $0).text })
        add("created_at", value: Timestamp(seconds: key.createdAt).text)
        add("revoked_at", value: key.revokedAt.map { Timestamp(seconds: $0).text })
        add("last_used_at", value: uses.seconds[key.id].map { Timestamp(seconds: $0).text })
        add("comment", value: key.terms.comment)
    }
}

extension Timestamp {
    /// The moment so many seconds after 1970.
    fileprivate init(seconds: Int64) { self = Timestamp(milliseconds: 0).adding(seconds: seconds) }
}
