public import PushModel

/// The record that is meant by a place: what a replay repeats, or has repeated.
///
/// A topic can be deleted and made again, and then another record stands at the same place. Its own time and the id of its request tell the
/// two apart. What was written before these stood beside places names less, and is compared by what it names.
public struct Original: Sendable, Hashable {
    /// The place of the record.
    public let place: RecordPlace
    /// The id of its request, or nil where it is not named.
    public let id: String?
    /// The time of the record, or nil where it is not named.
    public let publishedAt: Timestamp?

    /// A record, by what is known of it.
    public init(at place: RecordPlace, id: String? = nil, publishedAt: Timestamp? = nil) {
        self.place = place
        self.id = id
        self.publishedAt = publishedAt
    }

    /// Reads the request that a result is of.
    init?(of result: JSONDocument.Node, in document: JSONDocument) {
        guard let place = RecordPlace(document, originOf: result) else { return nil }
        let time = document.member("timings", of: result).flatMap { document.moment("published_at", of: $0) }
        self.init(at: place, id: document.text("request_id", of: result), publishedAt: time)
    }

    /// Reads the request that a lineage says it repeats.
    init?(parentOf lineage: JSONDocument.Node, in document: JSONDocument) {
        guard let place = document.text("parent_origin", of: lineage).flatMap(RecordPlace.init) else { return nil }
        self.init(
            at: place, id: document.text("parent_request_id", of: lineage),
            publishedAt: document.moment("parent_published_at", of: lineage))
    }

    /// Reads `topic:partition:offset`, behind which `@` and the record's time may stand.
    public init?(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let place = RecordPlace(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(at: place)
            return
        }
        guard let time = Timestamp(parts[1].utf8.span) else { return nil }
        self.init(at: place, publishedAt: time)
    }

    /// True unless the two are different records, by anything that both name.
    public func mayBe(_ other: Original) -> Bool {
        place == other.place && (publishedAt == nil || other.publishedAt == nil || publishedAt == other.publishedAt)
            && (id == nil || other.id == nil || id == other.id)
    }
}

extension Original: CustomStringConvertible {
    /// `topic:partition:offset`, and behind `@` the time if it is known.
    public var description: String { place.description + (publishedAt.map { "@" + $0.text } ?? "") }
}
