import HubServer

/// The numbers of what is in a hub's file.
package struct DeviceCounts: Sendable, Equatable {
    package var devices: Int64
    package var registrations: Int64
    package var installations: Int64
}

/// The numbers that changes of devices keep, so that nothing is counted at the start.
struct DeviceTally {
    private static let maximum: Int64 = 1 << 60

    var nextDevice: DeviceNumber
    /// The number of writes of registrations, and one.
    var nextSequence: Int64
    var nextTag: Int64
    var counts: DeviceCounts

    init(from connection: HubConnection) throws(RefusedCall) {
        let found = try connection.row(
            """
            SELECT next_device, next_sequence, next_tag, device_count, registration_count, installation_count
            FROM device_tally WHERE row = 1
            """, with: []
        ) { (row) throws(RefusedCall) in try (0..<6).map { (column) throws(RefusedCall) in try row.number(column) } }
        // Numbers that no changes can have counted would end in overflows.
        guard let found, found.allSatisfy({ (0...Self.maximum).contains($0) }) else { throw .unreadable }
        (nextDevice, nextSequence, nextTag) = (found[0], found[1], found[2])
        counts = DeviceCounts(devices: found[3], registrations: found[4], installations: found[5])
    }

    func save(to connection: HubConnection) throws(RefusedCall) {
        try connection.run(
            """
            UPDATE device_tally SET next_device = ?, next_sequence = ?, next_tag = ?,
            device_count = ?, registration_count = ?, installation_count = ? WHERE row = 1
            """,
            with: [
                .number(nextDevice), .number(nextSequence), .number(nextTag),
                .number(counts.devices), .number(counts.registrations), .number(counts.installations),
            ])
    }
}
