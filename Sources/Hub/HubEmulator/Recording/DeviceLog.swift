import HubServer
import Basics

/// The rings of each device, in order.
struct DeviceLog: Sendable {
    /// A device with the kept rings. Rings are numbered from 1 since the last reset, and the kept ones are the newest.
    struct Device: Sendable {
        let key: DeviceKey
        /// The handle as it was first seen.
        let handle: String
        /// All rings since the last reset, those included that are no longer kept.
        private(set) var rungCount = 0
        /// The kept rings that no newer one replaces.
        private(set) var visibleCount = 0
        private var rings = FIFO<RingReport>()
        /// The number of the newest kept ring of each collapse key.
        private var newest: [String: Int] = [:]

        init(key: DeviceKey, handle: String) {
            self.key = key
            self.handle = handle
        }

        /// The rings that are no longer kept.
        var droppedCount: Int { rungCount - rings.count }

        /// The kept ring of a number.
        subscript(number: Int) -> RingReport { rings[number - droppedCount - 1] }

        /// True if no newer ring replaces the one of this number.
        func shows(_ number: Int) -> Bool { self[number].collapseKey.map { newest[$0] == number } ?? true }

        fileprivate mutating func append(_ ring: RingReport) {
            rings.append(ring)
            rungCount += 1
            let replaced = ring.collapseKey.flatMap { newest.updateValue(rungCount, forKey: $0) }
            if replaced == nil { visibleCount += 1 }
        }

        fileprivate mutating func dropOldest() {
            guard let oldest = rings.popFirst() else { return }
            if let key = oldest.collapseKey {
                guard newest[key] == droppedCount else { return }
                newest[key] = nil
            }
            visibleCount -= 1
        }
    }

    /// Some of the rings of a device, in order.
    struct Piece: Sendable {
        let key: DeviceKey
        let handle: String
        let rungCount: Int
        let visibleCount: Int
        let rung: [RingReport]
        /// For each of `rung`, that no newer ring replaces it.
        let areShown: [Bool]

        fileprivate init(_ device: Device, numbers: ClosedRange<Int>?) {
            key = device.key
            handle = device.handle
            rungCount = device.rungCount
            visibleCount = device.visibleCount
            rung = numbers?.map { device[$0] } ?? []
            areShown = numbers?.map(device.shows) ?? []
        }
    }

    /// The most devices that are remembered. Rings on further devices are only counted.
    static let maximumDevices = 1_000_000

    private var devices: [Device] = []
    private(set) var totalRungCount = 0
    private var positions: [DeviceKey: Int] = [:]
    /// The device of each kept ring, the oldest ring first.
    private var order: NewestValues<Int>

    /// - Parameter capacity: Rings that are kept in all.
    init(capacity: Int) {
        order = NewestValues(capacity: capacity)
    }

    /// The number of devices.
    var count: Int { devices.count }

    /// The positions of the devices with these keys, in order.
    func positions(of keys: Set<DeviceKey>) -> [Int] { keys.compactMap { positions[$0] }.sorted() }

    /// A page of the devices at some positions, which grow, and where the next one begins if there is one. It has at most `limit`
    /// devices and `limit` rings. A device with more rings goes on with the next page.
    ///
    /// It takes no more positions than it has devices, and one.
    func page(of positions: some Sequence<Int>, from cursor: DeviceCursor, limit: Int) -> (page: [Piece], next: DeviceCursor?) {
        var (page, room) = ([Piece](), limit)
        for position in positions where position >= cursor.deviceCount {
            let device = devices[position]
            let passed = position == cursor.deviceCount ? min(cursor.ringCount, device.rungCount) : 0
            guard room > 0 else { return (page, DeviceCursor(deviceCount: position, ringCount: passed)) }
            let start = max(passed, device.droppedCount)
            let count = min(device.rungCount - start, room)
            page.append(Piece(device, numbers: count > 0 ? start + 1...start + count : nil))
            room -= max(1, count)
            if start + count < device.rungCount { return (page, DeviceCursor(deviceCount: position, ringCount: start + count)) }
        }
        return (page, nil)
    }

    /// Remembers a device, so that it is listed before anything rings on it.
    @discardableResult
    mutating func meet(_ key: DeviceKey, handle: String) -> Int? {
        if let position = positions[key] { return position }
        guard devices.count < Self.maximumDevices else { return nil }
        positions[key] = devices.count
        devices.append(Device(key: key, handle: handle))
        return devices.count - 1
    }

    /// Rings on a device. The oldest ring of all is dropped when too many are kept.
    mutating func ring(_ ring: RingReport, on key: DeviceKey, handle: String) {
        totalRungCount += 1
        guard let position = meet(key, handle: handle) else { return }
        devices[position].append(ring)
        if let oldest = order.append(position) { devices[oldest].dropOldest() }
    }

    /// Forgets every ring. The devices stay.
    mutating func reset() {
        devices = devices.map { Device(key: $0.key, handle: $0.handle) }
        order.removeAll()
        totalRungCount = 0
    }
}
