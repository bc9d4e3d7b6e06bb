package import FanOut

/// The registrations and installations of a hub, in memory or in a file.
///
/// Any thread may call. A store that cannot answer refuses with 503.
package protocol DeviceStore: Sendable {
    /// Carries out all of `body`, or nothing of it if it throws. Returns once that lasts.
    ///
    /// - Parameter body: Reads and writes. It may be carried out on another thread, must not use the store itself, and throws of its own
    ///   before its first write only.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or 503.
    func change<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result

    /// Shows `body` one state of the devices.
    ///
    /// - Parameter body: Reads, and writes nothing.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or 503.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result
}

extension DeviceStore {
    /// Removes registrations and installations whose time is over, some in one change.
    ///
    /// - Parameters:
    ///   - before: Those that have expired by then are removed. Milliseconds since 1970.
    ///   - limit: The most installations and registrations.
    /// - Returns: The number of those that were removed. There may be more if it is not 0.
    /// - Throws: 503.
    package func forgetExpired(before: Int64, limit: Int) throws(RefusedCall) -> Int {
        try change { (book) throws(RefusedCall) in try book.forgetExpired(at: before, limit: limit) }
    }
}

/// The devices of a hub within one reading or change.
package protocol DeviceBook: AnyObject {
    /// The registration called `id`, derived ones included.
    func registration(_ id: String) throws(RefusedCall) -> Registration?

    /// Writes a registration in place of the one with the same id. It goes to the end of the lists, its device keeps its place in walks.
    /// It belongs to no installation, whatever was there before.
    func write(_ registration: Registration) throws(RefusedCall)

    /// Removes the registration called `id`, if there is one.
    func removeRegistration(_ id: String) throws(RefusedCall)

    /// The registrations of a device, in the order of their last write.
    func registrations(of device: DeviceKey) throws(RefusedCall) -> [Registration]

    /// The number of registrations of a device.
    func registrationCount(of device: DeviceKey) throws(RefusedCall) -> Int

    /// A page of a list, in the order of the last write, and where the next one begins if there is one. The first page is at 0.
    func page(of list: RegistrationList, from cursor: Int, limit: Int) throws(RefusedCall) -> (page: [Registration], next: Int?)

    /// The installation called `id`.
    func installation(_ id: String) throws(RefusedCall) -> StoredInstallation?

    /// Writes an installation, with the registrations that stand for it, in place of the one with the same id and its registrations.
    func write(_ installation: StoredInstallation, as registrations: [Registration]) throws(RefusedCall)

    /// The ids of installations behind one, in the order of their bytes. Nil for the first.
    func installationIDs(behind id: String?, limit: Int) throws(RefusedCall) -> [String]

    /// The ids of installations that have expired by a time, in milliseconds since 1970, at most `limit`.
    func expiredInstallationIDs(at time: Int64, limit: Int) throws(RefusedCall) -> [String]

    /// The ids of registrations that have expired by a time, in milliseconds since 1970, at most `limit`.
    func expiredRegistrationIDs(at time: Int64, limit: Int) throws(RefusedCall) -> [String]

    /// Removes an installation with its registrations, if there is one.
    func removeInstallation(_ id: String) throws(RefusedCall)

    /// Notes that the handle of an installation is gone. Its registrations stay as they are.
    func markExpired(installation id: String) throws(RefusedCall)

    /// The place behind every device that is there.
    func end() throws(RefusedCall) -> DeviceNumber

    /// A page of the devices of an audience behind a place, in the order of walks, at most `limit`. It may also end early, by what was read.
    func devices(of audience: DeviceAudience, after place: DevicePlace?, limit: Int) throws(RefusedCall) -> AudiencePage
}

/// A list of registrations that clients may ask for.
package enum RegistrationList: Sendable {
    case all
    /// Those with a handle.
    case filtered(RegistrationFilter)
    /// Those with a tag, in lower case.
    case tagged(String)
}

/// The number of a device, which grows with each that is new. A device keeps its number for as long as it has a registration, whatever is
/// written.
package typealias DeviceNumber = Int64

/// The place of a device in the order of walks: by platform, then by number.
package struct DevicePlace: Sendable, Hashable, Comparable {
    /// The platform's position among all.
    package let platform: HubPlatform
    package let number: DeviceNumber

    package init(platform: HubPlatform, number: DeviceNumber) { (self.platform, self.number) = (platform, number) }

    package static func < (left: DevicePlace, right: DevicePlace) -> Bool {
        (left.platform.code, left.number) < (right.platform.code, right.number)
    }
}

/// The devices that a notification is for.
package struct DeviceAudience: Sendable {
    /// The condition on the tags of a registration. Nil for every registration.
    package var expression: TagExpression?
    /// The platform of native registrations, or nil for template registrations of any platform.
    package var platform: HubPlatform?
    /// Devices of this number and above came later, and are not meant. Nil for all.
    package var end: DeviceNumber?
    /// Registrations that have expired by then are left out. Milliseconds since 1970.
    package var now: Int64

    package init(expression: TagExpression?, platform: HubPlatform?, end: DeviceNumber? = nil, now: Int64) {
        (self.expression, self.platform, self.end, self.now) = (expression, platform, end, now)
    }
}

/// A device with those of its registrations that an audience takes in.
package struct AudienceDevice: Sendable {
    package let place: DevicePlace
    /// In the order of their last write, at least one.
    package let registrations: [Registration]

    package init(place: DevicePlace, registrations: [Registration]) {
        (self.place, self.registrations) = (place, registrations)
    }
}

/// A page of an audience.
package struct AudiencePage: Sendable {
    package let devices: [AudienceDevice]
    /// The place behind which the next page begins. Nil at the end.
    package let next: DevicePlace?
    /// Registrations of the audience that cannot be read. They are stepped over.
    package let unreadableCount: Int

    package init(devices: [AudienceDevice], next: DevicePlace?, unreadableCount: Int = 0) {
        (self.devices, self.next, self.unreadableCount) = (devices, next, unreadableCount)
    }
}

extension DeviceBook {
    /// Removes some installations and registrations that have expired by a time. One that cannot be read stays.
    fileprivate func forgetExpired(at time: Int64, limit: Int) throws(RefusedCall) -> Int {
        var count = 0
        for id in try expiredInstallationIDs(at: time, limit: limit) {
            do throws(RefusedCall) { try removeInstallation(id) } catch { continue }
            count += 1
        }
        for id in try expiredRegistrationIDs(at: time, limit: max(0, limit - count)) {
            do throws(RefusedCall) { try removeRegistration(id) } catch { continue }
            count += 1
        }
        return count
    }

    /// Refuses registrations with which a device would have too many.
    ///
    /// - Parameters:
    ///   - written: The registrations that are about to be written.
    ///   - installation: The installation whose present registrations go. Nil for none.
    /// - Throws: 400, or 503.
    package func checkRoom(for written: [Registration], replacing installation: String? = nil) throws(RefusedCall) {
        for (device, added) in Dictionary(grouping: written, by: \.deviceKey) {
            let limit = Registration.maximumCount - added.count
            guard try registrationCount(of: device) > limit else { continue }
            let ids = Set(added.map(\.id))
            let others = try registrations(of: device).count {
                !ids.contains($0.id) && ($0.installationID == nil || $0.installationID != installation)
            }
            guard others > limit else { continue }
            throw .invalid("The device has as many registrations as it may have: \(Registration.maximumCount)")
        }
    }

    /// Forgets a device whose handle is gone, as hubs do it: its registrations are removed, and installations are marked.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - time: Registrations that were written at this time or later stay. Milliseconds since 1970, nil for none.
    /// - Throws: 503.
    package func expire(_ device: DeviceKey, before time: Int64? = nil) throws(RefusedCall) {
        for registration in try registrations(of: device) where time.map({ registration.writtenAt < $0 }) ?? true {
            try removeRegistration(registration.id)
            guard let id = registration.installationID, registration.extras["SecondaryTileName"] == nil else { continue }
            try markExpired(installation: id)
        }
    }
}
