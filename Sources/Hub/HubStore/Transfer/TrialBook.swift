package import HubServer

/// Shows the devices of a book, and forgets what is written to it.
package final class TrialBook: DeviceBook {
    private let book: any DeviceBook

    /// A book over the present devices.
    package init(over book: any DeviceBook) { self.book = book }

    package func registration(_ id: String) throws(RefusedCall) -> Registration? { try book.registration(id) }

    package func registrations(of device: DeviceKey) throws(RefusedCall) -> [Registration] {
        try book.registrations(of: device)
    }

    package func registrationCount(of device: DeviceKey) throws(RefusedCall) -> Int {
        try book.registrationCount(of: device)
    }

    package func page(
        of list: RegistrationList, from cursor: Int, limit: Int
    ) throws(RefusedCall) -> (page: [Registration], next: Int?) {
        try book.page(of: list, from: cursor, limit: limit)
    }

    package func installation(_ id: String) throws(RefusedCall) -> StoredInstallation? { try book.installation(id) }

    package func installationIDs(behind id: String?, limit: Int) throws(RefusedCall) -> [String] {
        try book.installationIDs(behind: id, limit: limit)
    }

    package func expiredInstallationIDs(at time: Int64, limit: Int) throws(RefusedCall) -> [String] {
        try book.expiredInstallationIDs(at: time, limit: limit)
    }

    package func expiredRegistrationIDs(at time: Int64, limit: Int) throws(RefusedCall) -> [String] {
        try book.expiredRegistrationIDs(at: time, limit: limit)
    }

    package func end() throws(RefusedCall) -> DeviceNumber { try book.end() }

    package func devices(
        of audience: DeviceAudience, after place: DevicePlace?, limit: Int
    ) throws(RefusedCall) -> AudiencePage {
        try book.devices(of: audience, after: place, limit: limit)
    }

    package func write(_ registration: Registration) {}

    package func removeRegistration(_ id: String) {}

    package func write(_ installation: StoredInstallation, as registrations: [Registration]) {}

    package func removeInstallation(_ id: String) {}

    package func markExpired(installation id: String) {}
}
