package import HubServer

/// Removes every device of a user from a hub: installations as a whole, and other registrations by themselves.
package struct UserRemoval {
    /// Registrations that are looked at in one change.
    private static let portion = 200

    /// Installations that were removed.
    package private(set) var installationCount = 0
    /// Registrations of no installation that were removed.
    package private(set) var registrationCount = 0
    /// Installations that cannot be read, so that their users are not known.
    package private(set) var unreadableCount = 0
    /// The user's tags, in lower case.
    private let tags: Set<String>
    /// The user's devices that were found.
    private(set) var user: FoundUser

    /// A removal that has not begun.
    ///
    /// - Parameter tags: The tags by which devices are the user's.
    package init(ofTags tags: [String]) {
        self.tags = Set(tags.map { $0.lowercased() })
        user = FoundUser(tags: self.tags)
    }

    /// Finds them all, and removes nothing.
    ///
    /// - Parameter devices: The devices of the hub.
    /// - Throws: 503.
    package mutating func find(on devices: any DeviceStore) throws(RefusedCall) {
        for tag in tags.sorted() {
            var cursor: Int? = 0
            while let start = cursor {
                let found = try devices.read { (book) throws(RefusedCall) in
                    try book.page(of: .tagged(tag), from: start, limit: Self.portion)
                }
                for registration in found.page { user.add(registration) }
                cursor = found.next
            }
        }
        // An installation whose handle is gone has no registration that could be found by a tag.
        var last: String?
        repeat { last = try findInstallations(behind: last, on: devices) } while last != nil
    }

    /// Removes those that were found, some in each change.
    ///
    /// - Parameter devices: The devices of the hub.
    /// - Throws: 503. What was removed by then stays so.
    package mutating func remove(from devices: any DeviceStore) throws(RefusedCall) {
        for tag in tags.sorted() { while try removePortion(tagged: tag, from: devices) {} }
        var left = user.installations.sorted()[...]
        while !left.isEmpty {
            let ids = Array(left.prefix(Self.portion))
            installationCount += try devices.change { (book) throws(RefusedCall) in
                var count = 0
                for id in ids where try book.installation(id) != nil {
                    try book.removeInstallation(id)
                    count += 1
                }
                return count
            }
            left = left.dropFirst(Self.portion)
        }
    }

    /// Finds the user's among some installations. Returns the last that was looked at, or nil at the end.
    private mutating func findInstallations(
        behind last: String?, on devices: any DeviceStore
    ) throws(RefusedCall) -> String? {
        let seen = try devices.read { [tags] (book) throws(RefusedCall) in
            let ids = try book.installationIDs(behind: last, limit: Self.portion)
            var (own, unreadableCount): ([StoredInstallation], Int) = ([], 0)
            for id in ids {
                do throws(RefusedCall) {
                    if let found = try book.installation(id), found.isOfAny(tags) { own.append(found) }
                } catch {
                    unreadableCount += 1
                }
            }
            return (last: ids.last, own: own, unreadableCount: unreadableCount)
        }
        for installation in seen.own { user.add(installation) }
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
