import HubServer

/// The rows of devices within one reading or change.
struct DeviceRows {
    /// Bits of a row's id that hold the device's number. Those before them hold the platform's code.
    private static let numberBits: Int64 = 40
    /// One more than the greatest number.
    static let numberEnd: DeviceNumber = 1 << numberBits
    /// In the order of walks, so that the place in the list is the code.
    private static let platforms = HubPlatform.allCases.sorted { $0.code < $1.code }

    private let connection: HubConnection
    /// Devices that have lost a registration in this change.
    private var touched: Set<Int64> = []

    init(of connection: HubConnection) { self.connection = connection }

    /// The row of a device.
    static func id(of platform: HubPlatform, number: DeviceNumber) -> Int64 { platform.code << numberBits | number }

    /// The row of a device's place.
    static func id(of place: DevicePlace) -> Int64 {
        id(of: place.platform, number: min(max(place.number, 0), numberEnd - 1))
    }

    /// The first row that the platform behind another one may have.
    static func firstID(behind platform: HubPlatform) -> Int64 { (platform.code + 1) << numberBits }

    /// The place of a device's row.
    static func place(of id: Int64) throws(RefusedCall) -> DevicePlace {
        guard let code = Int(exactly: id >> numberBits), platforms.indices.contains(code) else { throw .unreadable }
        return DevicePlace(platform: platforms[code], number: number(of: id))
    }

    /// The number of a device's row.
    static func number(of id: Int64) -> DeviceNumber { id & (numberEnd - 1) }

    /// The row of a device that is there.
    func id(of device: DeviceKey) throws(RefusedCall) -> Int64? {
        let fingerprint = try connection.seal.fingerprint(of: device)
        return try connection.row("SELECT id FROM device WHERE fingerprint = ?", with: [.bytes(fingerprint)]) {
            (row) throws(RefusedCall) in try row.number(0)
        }
    }

    /// Adds the device of a registration, and returns its row.
    func add(_ registration: Registration, numbered number: DeviceNumber) throws(RefusedCall) -> Int64 {
        guard number < Self.numberEnd else { throw .unavailable("The hub's file has no number for another device") }
        let id = Self.id(of: registration.platform, number: number)
        try connection.run(
            "INSERT INTO device VALUES (?, ?, ?)",
            with: [
                .number(id), .bytes(try connection.seal.sealed(Array(registration.handle.utf8))),
                .bytes(try connection.seal.fingerprint(of: registration.deviceKey)),
            ])
        return id
    }

    /// The handle of a device, in the spelling of its first registration.
    func handle(of id: Int64) throws(RefusedCall) -> String {
        let sealed = try connection.row("SELECT handle FROM device WHERE id = ?", with: [.number(id)]) {
            (row) throws(RefusedCall) in try row.blob(0)
        }
        guard let sealed else { throw .unreadable }
        return String(decoding: try connection.seal.opened(sealed), as: UTF8.self)
    }

    /// Notes that a device has lost a registration.
    mutating func touch(_ id: Int64) { touched.insert(id) }

    /// Removes the devices that have lost all their registrations, and returns how many those are.
    mutating func removeEmpty() throws(RefusedCall) -> Int64 {
        var count: Int64 = 0
        for id in touched {
            let sql: StaticString = "SELECT 1 FROM registration WHERE device = ? LIMIT 1"
            guard try connection.row(sql, with: [.number(id)], read: { _ in true }) == nil else { continue }
            try connection.run("DELETE FROM device WHERE id = ?", with: [.number(id)])
            count += 1
        }
        touched = []
        return count
    }
}
