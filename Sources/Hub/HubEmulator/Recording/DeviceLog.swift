/// The rings of each device, in order.
struct DeviceLog: Sendable {
    struct Device: Sendable {
        let key: DeviceKey
        /// The handle as it was first seen.
        let handle: String
        var rings: NewestValues<RingReport>
        /// All rings since the last reset, those included that are no longer kept.
        var rungCount = 0
    }

    /// The most devices that are remembered. Rings on further devices are only counted.
    static let maximumDevices = 1_000_000

    private(set) var devices: [Device] = []
    private(set) var totalRungCount = 0
    private var positions: [DeviceKey: Int] = [:]
    /// The device of each kept ring, the oldest ring first.
    private var order: NewestValues<Int>

    /// - Parameter capacity: Rings that are kept in all.
    init(capacity: Int) {
        order = NewestValues(capacity: capacity)
    }

    /// The device with `key`.
    subscript(_ key: DeviceKey) -> Device? { positions[key].map { devices[$0] } }

    /// Remembers a device, so that it is listed before anything rings on it.
    @discardableResult
    mutating func meet(_ key: DeviceKey, handle: String) -> Int? {
        if let position = positions[key] { return position }
        guard devices.count < Self.maximumDevices else { return nil }
        positions[key] = devices.count
        devices.append(Device(key: key, handle: handle, rings: NewestValues(capacity: .max)))
        return devices.count - 1
    }

    /// Rings on a device. The oldest ring of all is dropped when too many are kept.
    mutating func ring(_ ring: RingReport, on key: DeviceKey, handle: String) {
        totalRungCount += 1
        guard let position = meet(key, handle: handle) else { return }
        devices[position].rungCount += 1
        devices[position].rings.append(ring)
        if let oldest = order.append(position) { _ = devices[oldest].rings.popFirst() }
    }

    /// Forgets every ring. The devices stay.
    mutating func reset() {
        for position in devices.indices {
            devices[position].rings.removeAll()
            devices[position].rungCount = 0
        }
        order.removeAll()
        totalRungCount = 0
    }
}
