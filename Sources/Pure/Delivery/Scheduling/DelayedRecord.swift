public import PushModel

/// The content of a record of a delay lane, or of a held one, beside the request.
///
/// A class, so that a flight that does not come from a delay lane has no more than an empty reference.
public final class DelayedRecord: Sendable {
    /// The time when the request is to go on.
    public let due: Timestamp
    /// The lane that the request came by.
    public let lane: Lane
    /// The record that the request came with.
    public let origin: RecordOrigin
    /// The history of its calls.
    public let history: DeliveryHistory
    /// The report so far.
    public let report: DeliveryReport
    /// The history as it was written.
    public let text: ByteWriter
    /// The time to check the record again.
    public let recheckTime: Timestamp
    /// The time of the record.
    public let writtenAt: Timestamp

    /// The content of a record.
    public init(
        due: Timestamp, lane: Lane, origin: RecordOrigin, history: DeliveryHistory, report: DeliveryReport, text: ByteWriter,
        recheckTime: Timestamp, writtenAt: Timestamp = .never
    ) {
        self.due = due
        self.lane = lane
        self.origin = origin
        self.history = history
        self.report = report
        self.text = text
        self.recheckTime = recheckTime
        self.writtenAt = writtenAt
    }
}
