import Basics

/// An order: a record of the control topic that holds, limits or cancels all requests of a scope.
///
/// Its key is `order/` and a JSON object with everything that it says. Its value is a JSON object, with the release if it was released. So it
/// belongs to the key what an order means, and compaction, which keeps the last record of a key, can take no order's place by another.
/// It stands in the partition of the control topic that every worker reads as a whole. A tombstone takes nothing back.
public struct OrderRecord: Sendable, Hashable {
    /// The effect of an order.
    public enum Kind: Sendable, Hashable {
        /// Nothing in its scope is begun.
        case hold
        /// No more calls in a second are begun, over the fleet, 1 – 1,000,000.
        case limit(callsPerSecond: Int)
        /// Requests that were published until `since`, and not before the moment given, are cancelled if they were not begun.
        case cancel(publishedFrom: Timestamp?)
    }

    /// The end of an order before its time.
    public struct Release: Sendable, Hashable {
        /// The moment.
        public var at: Timestamp
        /// The key, or the user of a terminal, that released it.
        public var author: String
        /// The words of whoever released it.
        public var reason: String?

        /// A release.
        public init(at: Timestamp, author: String, reason: String? = nil) {
            (self.at, self.author, self.reason) = (at, author, reason)
        }
    }

    /// A fault for which no worker obeys an order.
    public enum Fault: Error, Sendable, Hashable, CaseIterable {
        /// The key is no JSON object as this version writes it.
        case unreadable
        /// The id is not one of 8 to 64 small letters, digits and `-`.
        case id
        /// The scope names nothing, or a text is empty or too long.
        case scope
        /// A limit is not 1 – 1,000,000.
        case number
        /// The reason is empty or too long.
        case reason
        /// The author is empty or too long.
        case author
        /// The end is not after the beginning, or more than `longest` after it.
        case end
    }

    /// The partition of the control topic that holds such records.
    public static let partition = CancelRecord.partition
    /// The usual time for which an order stands: 1 h in milliseconds.
    public static let usual: Int64 = 3_600_000
    /// The longest time for which an order stands: 7 days in milliseconds.
    public static let longest: Int64 = 7 * 86_400_000
    /// The time for which a cancellation counts, as that of one request: 8 days in milliseconds.
    public static let cancelLifetime: Int64 = 8 * 86_400_000
    /// The most characters of a reason.
    public static let maximumReasonLength = 200
    /// The most bytes of an author.
    public static let maximumAuthorByteCount = 256
    /// The range of a limit, calls in a second.
    public static let limits = 1...1_000_000
    /// The most bytes of a key.
    public static let maximumKeyByteCount = 16_384

    private static let prefix = "order/"

    /// The order's id: 8 to 64 small letters, digits and `-`.
    public var id: String
    /// The effect of it.
    public var kind: Kind
    /// The requests that it concerns.
    public var scope: OrderScope
    /// The reason, in the words of whoever gave it.
    public var reason: String
    /// The key, or the user of a terminal, that gave it.
    public var author: String
    /// The moment of it.
    public var since: Timestamp
    /// The moment at which it ends by itself.
    public var until: Timestamp
    /// The end of it before that, nil while it was not released.
    public var release: Release?

    /// An order.
    ///
    /// Without an end it stands for `usual`, and a cancellation for `cancelLifetime`.
    public init(
        id: String, kind: Kind, scope: OrderScope, reason: String, author: String, since: Timestamp, until: Timestamp? = nil
    ) {
        (self.id, self.kind, self.scope, self.reason, self.author, self.since) = (id, kind, scope, reason, author, since)
        let usual = if case .cancel = kind { Self.cancelLifetime } else { Self.usual }
        self.until = until ?? since.adding(milliseconds: usual)
    }

    /// An id that no other order has: a letter of the kind, and 16 letters and digits that are hard to guess.
    public static func makeID(_ kind: Kind, using generator: inout some RandomNumberGenerator) -> String {
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        let first =
            switch kind {
            case .hold: "h-"
            case .limit: "l-"
            case .cancel: "c-"
            }
        return first + String((0..<16).map { _ in letters.randomElement(using: &generator) ?? "x" })
    }

    /// The word of its kind: `hold`, `limit` or `cancel`.
    public var word: String {
        switch kind {
        case .hold: "hold"
        case .limit: "limit"
        case .cancel: "cancel"
        }
    }

    /// The moment at which it ends, or ended.
    public var end: Timestamp { min(until, release?.at ?? until) }

    /// True if it stands at `now`.
    public func stands(at now: Timestamp) -> Bool { release == nil && now < until }

    /// True if it cancels.
    public var isCancellation: Bool { if case .cancel = kind { true } else { false } }

    /// True if it is a hold that stood at a moment.
    func stood(at moment: Timestamp) -> Bool { kind == .hold && since <= moment && moment <= end }

    /// True if a text may be the id of an order: 8 to 64 small letters, digits and `-`.
    public static func isID(_ text: String) -> Bool {
        (8...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
            }
    }

    /// Throws the first fault for which no worker would obey it.
    public func check() throws(Fault) {
        guard Self.isID(id) else { throw .id }
        guard scope.isSound else { throw .scope }
        if case .limit(let rate) = kind, !Self.limits.contains(rate) { throw .number }
        guard reason.contains(where: { !$0.isWhitespace }), reason.count <= Self.maximumReasonLength,
            reason.utf8.count <= 4 * Self.maximumReasonLength
        else { throw .reason }
        guard (1...Self.maximumAuthorByteCount).contains(author.utf8.count) else { throw .author }
        let span = until.milliseconds(since: since)
        let longest = if case .cancel = kind { Self.cancelLifetime } else { Self.longest }
        guard span > 0, span <= longest else { throw .end }
    }
}

// The form in Kafka.
extension OrderRecord {
    /// Reads a record. Nil for one that is about something else, and for a tombstone.
    ///
    /// - Throws: The fault for which no worker obeys it.
    public static func read(key: Span<UInt8>, value: Span<UInt8>?) throws(Fault) -> OrderRecord? {
        guard key.count >= prefix.utf8.count, key.extracting(0..<prefix.utf8.count).equals(prefix), let value else { return nil }
        guard key.count <= maximumKeyByteCount, var order = OrderRecord(key.extracting(prefix.utf8.count..<key.count)) else {
            throw .unreadable
        }
        var bytes = ByteWriter()
        bytes.append(key)
        guard order.key == bytes.bytes else { throw .unreadable }
        try order.check()
        order.release = Release(in: value)
        return order
    }

    private init?(_ text: Span<UInt8>) {
        var document = JSONDocument()
        do { try document.read(text) } catch { return nil }
        let root = document.root
        guard let id = document.text("id", of: root), let word = document.text("kind", of: root),
            let scope = document.member("scope", of: root).flatMap({ OrderScope(at: $0, in: document) }),
            let reason = document.text("reason", of: root), let author = document.text("by", of: root),
            let since = document.moment("since", of: root), let until = document.moment("until", of: root)
        else { return nil }
        let kind: Kind
        switch word {
        case "hold": kind = .hold
        case "limit":
            guard let rate = document.integer("calls_per_second", of: root) else { return nil }
            kind = .limit(callsPerSecond: Int(rate))
        case "cancel": kind = .cancel(publishedFrom: document.moment("published_from", of: root))
        default: return nil
        }
        self.init(id: id, kind: kind, scope: scope, reason: reason, author: author, since: since, until: until)
    }

    /// The record's key.
    public var key: [UInt8] {
        var json = ByteWriter()
        json.append(Self.prefix.utf8Span.span)
        json.append("{")
        appendMembers(to: &json)
        json.append("}")
        return json.bytes
    }

    /// The record's value.
    public var value: [UInt8] {
        var json = ByteWriter()
        json.append("{\"schema_version\":1")
        appendRelease(to: &json)
        json.append("}")
        return json.bytes
    }

    /// Appends the order as the members of an object, with its release, for answers.
    public func append(to json: inout ByteWriter) {
        json.append("{")
        appendMembers(to: &json)
        appendRelease(to: &json)
        json.append("}")
    }

    private func appendMembers(to json: inout ByteWriter) {
        json.append("\"id\":", json: id)
        json.append(",\"kind\":", json: word)
        if case .limit(let rate) = kind {
            json.append(",\"calls_per_second\":", decimal: rate)
        }
        json.append(",\"scope\":")
        scope.append(to: &json)
        json.append(",\"reason\":", json: reason)
        json.append(",\"by\":", json: author)
        if case .cancel(let from?) = kind { json.append(",\"published_from\":", moment: from) }
        json.append(",\"since\":", moment: since)
        json.append(",\"until\":", moment: until)
    }

    private func appendRelease(to json: inout ByteWriter) {
        guard let release else { return }
        json.append(",\"released\":{\"by\":", json: release.author)
        json.append(",\"reason\":", json: release.reason)
        json.append(",\"at\":", moment: release.at)
        json.append("}")
    }
}

extension OrderRecord.Release {
    /// Reads the release in a record's value. Nil for none, and for a value that cannot be read: it releases nothing.
    fileprivate init?(in value: Span<UInt8>) {
        var document = JSONDocument()
        do { try document.read(value) } catch { return nil }
        guard let node = document.member("released", of: document.root), let author = document.text("by", of: node),
            let at = document.moment("at", of: node)
        else { return nil }
        self.init(at: at, author: author, reason: document.text("reason", of: node))
    }
}
