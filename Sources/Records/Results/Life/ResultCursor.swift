package import Publishing
import PushModel

/// The place behind which a page of results goes on: time, partition, offset of the last result shown.
package struct ResultCursor: Sendable, Equatable {
    /// The time of writing, in milliseconds since 1970.
    package var time: Int64
    /// The partition.
    package var partition: Int32
    /// The offset there.
    package var offset: Int64

    /// A place of the given parts.
    package init(time: Int64, partition: Int32, offset: Int64) {
        self.time = time
        self.partition = partition
        self.offset = offset
    }

    /// The place of a result.
    package init(_ record: ResultRecord) {
        self.init(time: record.timestamp, partition: record.partition, offset: record.offset)
    }

    /// The place behind everything that was written at a time or later.
    init(behind time: Int64) {
        self.init(time: time, partition: 0, offset: 0)
    }

    /// The first moment that no result behind this place can have.
    var until: Int64 { self == ResultCursor(behind: time) ? time : time.addingSaturated(1) }

    /// True if a result stands behind this place, where newer ones stand before.
    func isBefore(_ record: ResultRecord) -> Bool {
        (record.timestamp, record.partition, record.offset) < (time, partition, offset)
    }
}
