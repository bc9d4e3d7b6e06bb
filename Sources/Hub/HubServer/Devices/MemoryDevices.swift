import FanOut
import Synchronization

/// Devices in memory: the store of emulators, and the model of the one in a file.
package final class MemoryDevices: DeviceStore {
    /// Protects the devices. Bodies are carried out while it is held.
    private let book = Mutex(MemoryBook())

    /// A store without devices.
    package init() {}

    /// As the protocol says. Nothing is taken back: a body throws before its first write only.
    package func change<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        try book.withLock { (book) throws(RefusedCall) in
            defer { book.forgetEmptyDevices() }
            return try body(book)
        }
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        try book.withLock { (book) throws(RefusedCall) in try body(book) }
    }
}

/// The devices in memory.
private final class MemoryBook: DeviceBook {
    private var registrations = MemoryRegistrations()
    private var installations: [String: (installation: StoredInstallation, registrationIDs: [String])] = [:]
    private var numbers: [DeviceKey: DeviceNumber] = [:]
    private var nextNumber: DeviceNumber = 1
    /// Devices that have lost a registration in this change.
    private var touched: Set<DeviceKey> = []

    func registration(_ id: String) -> Registration? { registrations[id] }

    func write(_ registration: Registration) {
        let device = registration.deviceKey
        if let former = registrations.remove(registration.id), former.deviceKey != device { touched.insert(former.deviceKey) }
        registrations.write(registration)
        guard numbers[device] == nil else { return }
        numbers[device] = nextNumber
        nextNumber += 1
    }

    func removeRegistration(_ id: String) {
        if let removed = registrations.remove(id) { touched.insert(removed.deviceKey) }
    }

    func registrations(of device: DeviceKey) -> [Registration] { registrations.registrations(of: device) }

    func registrationCount(of device: DeviceKey) -> Int { registrations.registrations(of: device).count }

    func page(of list: RegistrationList, from cursor: Int, limit: Int) -> (page: [Registration], next: Int?) {
        switch list {
        case .all: registrations.page(from: cursor, limit: limit) { _ in true }
        case .filtered(let filter):
            registrations.page(of: filter.devices, from: cursor, limit: limit, where: filter.matches)
        case .tagged(let tag): registrations.page(ofTag: tag, from: cursor, limit: limit)
        }
    }

    func installation(_ id: String) -> StoredInstallation? { installations[id]?.installation }

    func installationIDs(behind id: String?, limit: Int) -> [String] {
        Array(installations.keys.filter { installation in id.map { $0 < installation } ?? true }.sorted().prefix(limit))
    }

    func expiredInstallationIDs(at time: Int64, limit: Int) -> [String] {
        Array(installations.values.lazy.map(\.installation).filter { $0.isExpired(at: time) }.map(\.id).prefix(limit))
    }

    func expiredRegistrationIDs(at time: Int64, limit: Int) -> [String] {
        registrations.page(from: 0, limit: limit) { $0.isExpired(at: time) }.page.map(\.id)
    }

    func write(_ installation: StoredInstallation, as registrations: [Registration]) {
        removeInstallation(installation.id)
        for registration in registrations { write(registration) }
        installations[installation.id] = (installation, registrations.map(\.id))
    }

    func removeInstallation(_ id: String) {
        for registration in installations.removeValue(forKey: id)?.registrationIDs ?? []
        where registrations[registration]?.installationID == id { removeRegistration(registration) }
    }

    func markExpired(installation id: String) { installations[id]?.installation.isChannelExpired = true }

    func end() -> DeviceNumber { nextNumber }

    func devices(of audience: DeviceAudience, after place: DevicePlace?, limit: Int) -> AudiencePage {
        var found: [DevicePlace: [Registration]] = [:]
        registrations.forEachMatch(of: audience.expression) { registration in
            guard audience.means(registration), let number = numbers[registration.deviceKey] else { return }
            let here = DevicePlace(platform: registration.platform, number: number)
            if place.map({ $0 < here }) ?? true, audience.end.map({ number < $0 }) ?? true {
                found[here, default: []].append(registration)
            }
        }
        let places = found.keys.sorted().prefix(limit)
        let devices = places.map { AudienceDevice(place: $0, registrations: found[$0] ?? []) }
        return AudiencePage(devices: devices, next: places.count == limit ? places.last : nil)
    }

    /// Forgets the numbers of devices that have no registration any more.
    func forgetEmptyDevices() {
        for device in touched where registrations.registrations(of: device).isEmpty { numbers[device] = nil }
        touched.removeAll(keepingCapacity: true)
    }
}

extension DeviceAudience {
    /// True if a registration is of the right kind and has not expired.
    package func means(_ registration: Registration) -> Bool {
        guard !registration.isExpired(at: now) else { return false }
        return platform.map { $0 == registration.platform && registration.template == nil } ?? (registration.template != nil)
    }
}
