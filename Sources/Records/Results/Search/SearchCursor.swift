import PushModel
package import Replay

/// The place behind which a list of requests goes on: the publication of the last one that was shown.
package struct SearchCursor: Sendable, Equatable {
    /// The moment of publication, in milliseconds since 1970.
    package var time: Int64
    /// The record, or nil for the place behind everything that was published at that moment or later.
    package var place: RecordPlace?

    /// A place.
    package init(time: Int64, place: RecordPlace?) { (self.time, self.place) = (time, place) }

    /// The first moment that nothing behind it can have.
    var until: Int64 { place == nil ? time : time.addingSaturated(1) }

    /// True if a record stands behind it, where newer ones stand before, and of one moment those of greater places.
    func isBefore(_ moment: Int64, at record: @autoclosure () -> RecordPlace) -> Bool {
        guard moment == time, let place else { return moment < time }
        return record() < place
    }
}
