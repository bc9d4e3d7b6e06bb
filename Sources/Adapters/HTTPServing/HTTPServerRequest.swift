import Basics

/// One request. A handler gets it complete, ``HTTPAdmission`` without its body.
public struct HTTPServerRequest: Sendable {
    /// One `name=value` of a query. A bare name has no value.
    public struct QueryItem: Sendable, Equatable {
        /// The decoded name.
        public let name: String
        /// The decoded value, or `nil` when there was no `=`.
        public let value: String?
    }

    /// The method as sent, which may be any token.
    public let method: String
    /// The target of the request line as sent, path and query. An absolute form has lost its scheme and host.
    public let target: String
    /// The path with its percent escapes decoded once.
    public let path: String
    /// The query's items, in order, decoded (`+` is a blank).
    public let query: [QueryItem]
    /// The header fields.
    public let headers: HTTPFields
    /// The complete body, chunks joined.
    public internal(set) var body: [UInt8]
    /// The peer, as `address:port`.
    public let remoteAddress: String
    /// The number of the request on its connection, from 1.
    public let ordinalOnConnection: Int
    /// True if it came over TLS.
    public let isSecure: Bool

    /// Makes a request from its parts. The path and the query are read from `target`.
    public init(
        method: String, target: String, headers: HTTPFields = [:], body: [UInt8] = [],
        remoteAddress: String = "127.0.0.1:0", ordinalOnConnection: Int = 1, isSecure: Bool = false
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
        self.ordinalOnConnection = ordinalOnConnection
        self.isSecure = isSecure
        (path, query) = Self.split(target)
    }

    /// The path as sent, escapes and all.
    public var rawPath: Substring { target[..<(queryMark ?? target.endIndex)] }

    /// The query as sent, without its `?`.
    public var rawQuery: Substring { queryMark.map { target[target.utf8.index(after: $0)...] } ?? "" }

    /// The query's items, in order, with percent escapes decoded and nothing else: `+` stays a `+` (RFC 3986, 2.1).
    public var percentDecodedQuery: [QueryItem] { Self.items(Array(rawQuery.utf8)[...], plusIsBlank: false) }

    private var queryMark: String.Index? { target.utf8.firstIndex(of: UInt8(ascii: "?")) }

    /// The value of the first query item called `name`, in any case. An item without a value gives "".
    public func queryValue(_ name: String) -> String? {
        for item in query where item.name.equalsIgnoringCase(name) { return item.value ?? "" }
        return nil
    }

    /// The target without the scheme and host of the absolute form (RFC 9112, 3.2.2).
    static func originForm(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/"), let colon = target.range(ofASCII: "://") else { return target }
        let rest = target[colon...]
        guard let slash = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[slash] == "/" ? String(rest[slash...]) : "/" + rest[slash...]
    }

    private static func split(_ target: String) -> (String, [QueryItem]) {
        let bytes = Array(target.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        let path = PercentEncoding.decoded(bytes[..<mark], plusIsBlank: false)
        guard mark < bytes.count else { return (path, []) }
        return (path, items(bytes[(mark + 1)...], plusIsBlank: true))
    }

    private static func items(_ query: ArraySlice<UInt8>, plusIsBlank: Bool) -> [QueryItem] {
        query.split(separator: UInt8(ascii: "&")).map { item in
            let equals = item.firstIndex(of: UInt8(ascii: "="))
            return QueryItem(
                name: PercentEncoding.decoded(item[..<(equals ?? item.endIndex)], plusIsBlank: plusIsBlank),
                value: equals.map { PercentEncoding.decoded(item[($0 + 1)...], plusIsBlank: plusIsBlank) })
        }
    }
}

extension String {
    /// The index behind the first occurrence of `needle`.
    fileprivate func range(ofASCII needle: String) -> String.Index? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(needle) { return self.index(index, offsetBy: needle.count) }
            index = self.index(after: index)
        }
        return nil
    }
}
