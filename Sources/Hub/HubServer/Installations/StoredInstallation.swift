package import HTTPServing

/// One target of an installation's notifications: the device itself, or one of its secondary tiles.
package struct InstallationTarget: Sendable {
    package struct Template: Sendable {
        package var name: String
        package var text: String
        package var body: BodyTemplate
        package var headers: HTTPFields = [:]
        package var expiry: String?
        package var tags: [String] = []
    }

    /// The handle, or the raw JSON object that browsers have instead.
    package var pushChannel: String
    package var tags: [String] = []
    package var templates: [Template] = []
}

/// One installation, as its JSON describes it.
package struct StoredInstallation: Sendable {
    package let id: String
    package var platform: HubPlatform
    package var userID: String?
    package var expirationTime: String?
    /// True after the push service has reported the handle as gone. Nothing is sent to the device until the next write.
    package var isChannelExpired = false
    package var pushVariables: [(name: String, value: String)] = []
    package var target: InstallationTarget
    package var secondaryTiles: [(name: String, target: InstallationTarget)] = []

    /// The time from which nothing is sent to it, in milliseconds since 1970. Nil for never, and for a text that is no time.
    package var expiry: Int64? { expirationTime.flatMap(Moment.init(reading:))?.milliseconds }

    /// True if it counts as removed.
    package func isExpired(at now: Int64) -> Bool { expiry.map { $0 <= now } ?? false }

    /// The registrations that stand for the installation, with new ids: for each target one native, that of the device first, and
    /// one for every template. A device whose handle is gone has none.
    package func registrations(makeID: () -> String) -> [Registration] {
        var registrations: [Registration] = []
        for (tile, target) in [(nil, target)] + secondaryTiles.map({ (Optional($0.name), $0.target) })
        where tile != nil || !isChannelExpired {
            let reserved = ["$InstallationId:{\(id)}"] + (userID.map { ["$UserId:{\($0)}"] } ?? [])
            let tags = target.tags + reserved
            let (handle, extras) = handle(of: target, tile: tile)
            var native = Registration(id: makeID(), platform: platform, handle: handle, extras: extras, tags: tags)
            native.installationID = id
            native.expiresAt = expiry
            registrations.append(native)
            for template in target.templates {
                var registration = native
                registration.id = makeID()
                // The template's name is a tag of its registration, without being one in the installation.
                for tag in template.tags + [template.name] where !registration.tags.contains(tag) {
                    registration.tags.append(tag)
                }
                registration.template = Registration.Template(
                    name: template.name, text: template.text, body: template.body, headers: template.headers,
                    expiry: template.expiry)
                registrations.append(registration)
            }
        }
        return registrations
    }

    /// The most registrations, with tiles and templates.
    private static let maximumRegistrationCount = 100
    /// The most tags of its registrations together.
    private static let maximumTagCount = 10_000
    /// The most bytes of its registrations together.
    private static let maximumByteCount = 1 << 20

    /// Refuses an installation whose registrations are too many, have too many tags, or are too long.
    package func checkSize() throws(RefusedCall) {
        var (count, tagCount, byteCount) = (0, 0, pushVariables.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count })
        for target in [target] + secondaryTiles.map(\.target) {
            let shared = ([id, id, userID ?? "", target.pushChannel] + target.tags).reduce(0) { $0 + $1.utf8.count }
            let sizes = [0] + target.templates.map(\.byteCount)
            count += sizes.count
            tagCount += (target.tags.count + 2) * sizes.count + target.templates.reduce(0) { $0 + $1.tags.count + 1 }
            byteCount += shared * sizes.count + sizes.reduce(0, +)
            guard shared + (sizes.max() ?? 0) <= Registration.maximumByteCount else {
                throw .invalid("A template with tags and handle may have at most \(Registration.maximumByteCount) bytes")
            }
        }
        guard count <= Self.maximumRegistrationCount else {
            throw .invalid("An installation may have at most \(Self.maximumRegistrationCount) tiles and templates")
        }
        guard tagCount <= Self.maximumTagCount else {
            throw .invalid("The templates of an installation may have at most \(Self.maximumTagCount) tags together")
        }
        guard byteCount <= Self.maximumByteCount else {
            throw .invalid("The templates of an installation may have at most \(Self.maximumByteCount) bytes together")
        }
    }

    /// Refuses what is no handle, of the device and of its tiles.
    package func checkHandles() throws(RefusedCall) {
        for target in [target] + secondaryTiles.map(\.target) { try platform.check(handle: target.pushChannel) }
    }

    private func handle(of target: InstallationTarget, tile: String?) -> (String, [String: String]) {
        switch platform {
        case .browser:
            return BrowserChannel.read(target.pushChannel).map { ($0.endpoint, ["P256DH": $0.p256dh, "Auth": $0.auth]) }
                ?? (target.pushChannel, [:])
        case .baidu:
            let parts = target.pushChannel.split(separator: "-", maxSplits: 1)
            return parts.count == 2 ? (String(parts[1]), ["BaiduUserId": String(parts[0])]) : (target.pushChannel, [:])
        case .windows, .windowsphone:
            return (Registration.normalizedChannel(target.pushChannel), tile.map { ["SecondaryTileName": $0] } ?? [:])
        case .apple, .gcm, .fcmv1, .adm, .xiaomi:
            return (target.pushChannel, [:])
        }
    }
}

extension InstallationTarget.Template {
    /// The bytes of its texts.
    fileprivate var byteCount: Int {
        ([name, name, text, expiry ?? ""] + tags).reduce(headers.byteCount) { $0 + $1.utf8.count }
    }
}
