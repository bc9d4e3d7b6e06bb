import FanOut
import HubServer

/// The devices of a user, as notifications and refused devices name them.
struct FoundUser: Sendable {
    /// The part of an audience that is the user's.
    enum Share {
        /// The user is not named.
        case none
        /// Others are meant, too.
        case some
        /// All that are meant are the user's.
        case all
    }

    /// The tags of the user and of the user's installations, in lower case.
    private(set) var tags: Set<String>
    /// The user's installations, even those without a row.
    private(set) var installations: Set<String> = []
    private var registrations: Set<String> = []
    private var devices: Set<DeviceKey> = []

    /// A user without devices.
    init(tags: Set<String>) { self.tags = tags }

    /// Adds a registration.
    mutating func add(_ registration: Registration) {
        registrations.insert(registration.id)
        devices.insert(registration.deviceKey)
        if let id = registration.installationID { add(installation: id) }
    }

    /// Adds an installation.
    mutating func add(_ installation: StoredInstallation) {
        add(installation: installation.id)
        devices.formUnion(installation.registrations { "" }.map(\.deviceKey))
        // One whose handle is gone has no registration for it.
        devices.insert(DeviceKey(platform: installation.platform, handle: installation.target.pushChannel))
    }

    private mutating func add(installation id: String) {
        installations.insert(id)
        tags.insert(UserTag.folded("$InstallationId:{\(id)}"))
    }

    /// True if a refused device is the user's.
    func has(_ refused: PNSFeedback) -> Bool {
        refused.installationID.map(installations.contains) ?? false || registrations.contains(refused.registrationID)
            || devices.contains(DeviceKey(platform: refused.platform, handle: refused.handle))
    }

    /// The user's share in an expression.
    func share(in expression: TagExpression) -> Share {
        guard expression.tags.contains(where: { tags.contains($0.folded) }) else { return .none }
        return expression.isMet(without: tags) ? .some : .all
    }

    /// The user's share in a list of devices.
    func share(in named: [DeviceKey]) -> Share {
        guard named.contains(where: devices.contains) else { return .none }
        return named.allSatisfy(devices.contains) ? .all : .some
    }
}

extension TagExpression {
    /// True if a device with none of some tags can meet it.
    fileprivate func isMet(without tags: Set<String>) -> Bool {
        let others = Array(Set(self.tags.map(\.folded)).subtracting(tags))
        // One of many is enough for this kind. The others have six tags at most.
        if isOrOnly { return !others.isEmpty }
        return (0..<(1 << others.count)).contains { chosen in
            matches(Set(others.indices.filter { chosen >> $0 & 1 == 1 }.map { others[$0] }))
        }
    }
}
