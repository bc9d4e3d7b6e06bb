package import HubServer

/// Removes every device of a user from a hub: installations as a whole, and other registrations by themselves.
package struct UserRemoval {
    /// Registrations that are looked at in one change.
    private static let portion = 200

    /// Installations that were removed.
    package private(set) var installationCount = 0
    /// Registrations of no installation that were removed.
    package private(set) var registrationCount = 0
    /// The user's tags, in lower case.
    private let tags: [String]

    /// A removal that has not begun.
    ///
    /// - Parameter tags: The tags by which devices are the user's.
    package init(ofTags tags: [String]) { self.tags = tags.map { $0.lowercased() } }

    /// Removes them all, some in each change.
    ///
    /// - Parameter devices: The devices of the hub.
    /// - Throws: 503. What was removed by then stays so.
    package mutating func run(on devices: any DeviceStore) throws(RefusedCall) {
        for tag in tags { while try removePortion(tagged: tag, from: devices) {} }
    }

    /// Removes some. Returns false if there were none.
    private mutating func removePortion(tagged tag: String, from devices: any DeviceStore) throws(RefusedCall) -> Bool {
        let removed = try devices.change { (book) throws(RefusedCall) in
            let found = try book.page(of: .tagged(tag), from: 0, limit: Self.portion).page
            let installations = Set(found.compactMap(\.installationID))
            for id in installations { try book.removeInstallation(id) }
            // Also those whose installation is not there: what is found must not be found again.
            for registration in found { try book.removeRegistration(registration.id) }
            let others = found.count { $0.installationID == nil }
            return (installations: installations.count, registrations: others)
        }
        installationCount += removed.installations
        registrationCount += removed.registrations
        return removed.installations + removed.registrations > 0
    }
}
