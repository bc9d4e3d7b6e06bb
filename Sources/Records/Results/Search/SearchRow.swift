package import Publishing
package import Replay
package import ResultQuery

/// A request that a search found.
package struct SearchRow: Sendable {
    /// The request's id. Of a part that leads to its whole, the id of that.
    package var id: String
    /// The record that it was published with, or nil where that is not known.
    package var place: RecordPlace?
    /// The moment of publication, in milliseconds since 1970.
    package var publishedAt: Int64
    /// The facts of its record, or nil where that is no longer kept.
    package var facts: RequestFacts?
    /// The sender of a large request whose audience is not known, by its parts or its record.
    package var sender: Sender?
    /// The result that says where it stands, or nil while it has none.
    package var result: ResultRecord?
    /// The place where it is while it has no result.
    package var standing: Standing?
    /// True if it names what is sought. Otherwise it may have reached it, which the hub alone knows.
    package var isNamed = true
    /// The place behind it in a list by publication, or nil in one by results.
    package var cursor: SearchCursor?
    /// The place behind it in a list by results.
    package var resultCursor: ResultCursor?

    /// The sender of a request.
    package struct Sender: Sendable, Equatable {
        /// The tenant, the source and the hub that it names.
        package var tenant, source, hub: String?
    }

    /// The place of a request that has no final result.
    package struct Standing: Sendable, Equatable {
        /// The state, or nil for a dead letter.
        package var state: RequestWhereabouts.State?
        /// The moment at which it goes on, in milliseconds since 1970, if it is delayed or held.
        package var due: Int64?
        /// The number of its parts, and of those that have ended.
        package var parts: (count: Int?, ended: Int)?

        /// A place.
        package init(state: RequestWhereabouts.State?, due: Int64? = nil, parts: (count: Int?, ended: Int)? = nil) {
            (self.state, self.due, self.parts) = (state, due, parts)
        }

        package static func == (left: Self, right: Self) -> Bool {
            left.state == right.state && left.due == right.due && left.parts?.count == right.parts?.count
                && left.parts?.ended == right.parts?.ended
        }
    }

    /// A request of which nothing but its publication is known.
    package init(id: String, publishedAt: Int64) { (self.id, self.publishedAt) = (id, publishedAt) }

    /// The word for where it stands: that of its result, else of its place, else `dead_letter`.
    package var state: String { result?.state ?? standing.map { $0.state?.rawValue ?? "dead_letter" } ?? "published" }
}
