package import Replay
package import ResultQuery

/// A request in the index of requests.
package struct IndexedRequest: Sendable, Equatable {
    /// The record that it was published with.
    package let place: RecordPlace
    /// The moment of publication, in milliseconds since 1970.
    package let publishedAt: Int64
    /// The moment by which the index orders it, in milliseconds since 1970: that of publication within the bounds of the index's own clock,
    /// or the one at which it is due where it was found by that.
    package let time: Int64
    /// The facts in its record.
    package let facts: RequestFacts

    /// A request.
    package init(place: RecordPlace, publishedAt: Int64, time: Int64, facts: RequestFacts) {
        (self.place, self.publishedAt, self.time, self.facts) = (place, publishedAt, time, facts)
    }
}

/// Requests that an index has found, and the time down to which it has looked.
package struct IndexedPart: Sendable, Equatable {
    /// The requests, newest first.
    package var requests: [IndexedRequest] = []
    /// All that stand at this moment or later were looked at, in milliseconds since 1970. Nil for all that were asked for.
    package var reached: Int64?
}
