package import HubServer

/// Removes every device of a user from a hub: installations as a whole, and other registrations by themselves.
package struct UserRemoval {
    /// Registrations that are looked at in one change.
    private static let portion = 200

    /// Installations that were removed.
    package private(set) var installationCount = 0
    /// Registrations of no installation that were removed.
    package private(set) var registrationCount = 0
    /// Installations that cannot be read, so that whose they are is not known.
    package private(set) var unreadableCount = 0
    /// The user's tags, in lower case.
    private let tags: Set<String>

    /// A removal that has not begun.
    ///
    /// - Parameter tags: The tags by which devices are the user's.
    package init(ofTags tags: [String]) { self.tags = Set(tags.map { $0.lowercased() }) }

    /// Removes them all, some in each change.
    ///
    /// - Parameter devices: The devices of the hub.
    /// - Throws: 503. What was removed by then stays so.
    package mutating func run(on devices: any DeviceStore) throws(RefusedCall) {
        for tag in tags.sorted() { while try removePortion(tagged: tag, from: devices) {} }
        // An installation whose handle is gone has no registration that could be found by a tag.
        var last: String?
        repeat { last = try removeInstallations(behind: last, from: devices) } while last != nil
    }

    /// Removes the user's among some installations. Returns the last that was looked at, or nil at the end.
    private mutating func removeInstallations(
        behind last: String?, from devices: any DeviceStore
    ) throws(RefusedCall) -> String? {
        let seen = try devices.read { [tags] (book) throws(RefusedCall) in
            let ids = try book.installationIDs(behind: last, limit: Self.portion)
            var (own, unreadableCount): ([String], Int) = ([], 0)
            for id in ids {
                do throws(RefusedCall) {
                    if let found = try book.installation(id), found.isOfAny(tags) { own.append(id) }
                } catch {
                    unreadableCount += 1
                }
            }
            return (last: ids.last, own: own, unreadableCount: unreadableCount)
        }
        if !seen.own.isEmpty {
            try devices.change { (book) throws(RefusedCall) in for id in seen.own { try book.removeInstallation(id) } }
        }
        installationCount += seen.own.count
        unreadableCount += seen.unreadableCount
        return seen.last
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

extension StoredInstallation {
    /// True if one of its targets has one of some tags, or it is of their user.
    fileprivate func isOfAny(_ tags: Set<String>) -> Bool {
        let own = [target] + secondaryTiles.map(\.target)
        let names = (userID.map { ["$UserId:{\($0)}"] } ?? []) + own.flatMap { $0.tags + $0.templates.flatMap(\.tags) }
        return names.contains { tags.contains($0.lowercased()) }
    }
}
