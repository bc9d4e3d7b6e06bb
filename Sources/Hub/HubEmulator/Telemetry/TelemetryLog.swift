import HubServer

/// The newest notifications, found by id.
struct TelemetryLog: Sendable {
    private var records: NewestValues<TelemetryRecord>
    /// The number of records that were added before each one, by id.
    private var ordinals: [String: Int] = [:]
    private var droppedCount = 0

    /// - Parameter capacity: The most notifications that are remembered. Older ones become unknown.
    init(capacity: Int) {
        records = NewestValues(capacity: capacity)
    }

    mutating func append(_ record: TelemetryRecord) {
        if let dropped = records.append(record) {
            ordinals[dropped.id] = nil
            droppedCount += 1
        }
        ordinals[record.id] = droppedCount + records.count - 1
    }

    subscript(_ id: String) -> TelemetryRecord? {
        ordinals[id].map { records[$0 - droppedCount] }
    }

    /// Changes the record of a notification, if it is remembered.
    mutating func change(_ id: String, by change: (inout TelemetryRecord) -> Void) {
        guard let ordinal = ordinals[id] else { return }
        change(&records[ordinal - droppedCount])
    }

    /// Every device that a push service refused, in the order of the notifications.
    var feedback: [PNSFeedback] { records.elements.flatMap(\.refused) }
}
