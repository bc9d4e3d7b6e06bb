import HTTPServing

/// A registration that was derived from an installation, as an import finds it: the device or a tile of it, or a template of one of them.
struct InstallationPart {
    let installationID: String
    private let registration: Registration
    private let expirationTime: String?
    private let userID: String?
    private let tags: [String]
    private let template: InstallationTarget.Template?

    /// The part that a registration is, or nil for a registration of its own: it has no tag of an installation, or what none can have.
    init?(_ registration: Registration, expirationTime: String?) {
        guard let id = Self.value(of: "$installationid:", in: registration.tags) else { return nil }
        (installationID, self.registration, self.expirationTime) = (id, registration, expirationTime)
        userID = Self.value(of: "$userid:", in: registration.tags)
        tags = registration.tags.filter { !$0.hasPrefix("$") }
        guard let whole = registration.template else {
            template = nil
            return
        }
        guard let name = whole.name, whole.priority == nil, whole.messageType == nil else { return nil }
        template = InstallationTarget.Template(
            name: name, text: whole.text, body: whole.body, headers: whole.headers, expiry: whole.expiry,
            tags: tags.filter { $0 != name })
    }

    /// Writes the installation with this part in it.
    ///
    /// - Parameters:
    ///   - book: The devices, in a change.
    ///   - now: The time, in milliseconds since 1970.
    ///   - isUpdate: True if the part is one of the installation already, so that another handle is its new one.
    ///   - makeID: Makes ids of registrations.
    /// - Returns: The registration that stands for the part, or nil if the installation is on another device. Nothing is written then.
    /// - Throws: 400 for an installation or a device that has too much, or 503. Nothing is written then.
    func write(
        on book: any DeviceBook, at now: Int64, isUpdate: Bool, makeID: () -> String
    ) throws(RefusedCall) -> Registration? {
        let found = try book.installation(installationID)
        let former = found.flatMap { $0.isExpired(at: now) ? nil : $0 }
        var installation =
            former
            ?? StoredInstallation(
                id: installationID, platform: registration.platform,
                target: InstallationTarget(pushChannel: tile == nil ? channel : ""))
        let mayMove = isUpdate || installation.isChannelExpired && tile == nil
        guard installation.platform == registration.platform, add(to: &installation, moving: mayMove) else { return nil }
        // A tile that comes before its device waits as a registration of its own.
        guard !installation.target.pushChannel.isEmpty else { return nil }
        installation.isChannelExpired = false
        if let userID { installation.userID = userID }
        if let expirationTime { installation.expirationTime = expirationTime }
        if let variables = registration.pushVariables, let pairs = try? InstallationReader(Array(variables.utf8)).pairs() {
            installation.pushVariables = pairs
        }
        try installation.checkSize()
        var registrations = installation.registrations(makeID: makeID)
        let devices = registrations + (former?.registrations { "" } ?? [])
        let before = try formerRegistrations(on: Set(devices.map(\.deviceKey)), of: book)
        for index in registrations.indices {
            registrations[index].writtenAt = now
            guard let same = before.first(where: { Self.isAlike($0, to: registrations[index]) }) else { continue }
            registrations[index].id = same.id
            registrations[index].etag = same.etag + 1
        }
        try book.checkRoom(for: registrations, replacing: installationID)
        try book.write(installation, as: registrations)
        return registrations.first { Self.isAlike($0, to: registration) }
    }

    /// Puts the part into an installation. Returns false if that has another handle there.
    private func add(to installation: inout StoredInstallation, moving mayMove: Bool) -> Bool {
        guard let tile else { return add(to: &installation.target, moving: mayMove) }
        if let place = installation.secondaryTiles.firstIndex(where: { $0.name == tile }) {
            return add(to: &installation.secondaryTiles[place].target, moving: mayMove)
        }
        var target = InstallationTarget(pushChannel: channel)
        defer { installation.secondaryTiles.append((tile, target)) }
        return add(to: &target, moving: false)
    }

    private func add(to target: inout InstallationTarget, moving mayMove: Bool) -> Bool {
        if device(of: target.pushChannel) != device(of: channel) {
            guard mayMove else { return false }
            target.pushChannel = channel
        }
        if var template {
            template.tags.removeAll(where: target.tags.contains)
            target.templates.removeAll { $0.name == template.name }
            target.templates.append(template)
        } else {
            target.tags = tags
            for index in target.templates.indices { target.templates[index].tags.removeAll(where: tags.contains) }
        }
        return true
    }

    /// The registrations of the installation until now.
    private func formerRegistrations(
        on devices: Set<DeviceKey>, of book: any DeviceBook
    ) throws(RefusedCall) -> [Registration] {
        var former: [Registration] = []
        for device in devices {
            former += try book.registrations(of: device).filter { $0.installationID == installationID }
        }
        return former
    }

    /// The handle as an installation has it.
    private var channel: String {
        let user = registration.platform == .baidu ? registration.extras["BaiduUserId"] : nil
        return user.map { "\($0)-\(registration.handle)" } ?? registration.channel
    }

    private var tile: String? { registration.extras["SecondaryTileName"] }

    private func device(of channel: String) -> DeviceKey {
        DeviceKey(platform: registration.platform, handle: Registration.normalized(channel, on: registration.platform))
    }

    private static func isAlike(_ left: Registration, to right: Registration) -> Bool {
        left.template?.name == right.template?.name
            && left.extras["SecondaryTileName"] == right.extras["SecondaryTileName"]
    }

    /// The value of a reserved tag: `$InstallationId:{abc}`.
    private static func value(of prefix: String, in tags: [String]) -> String? {
        guard let tag = tags.first(where: { $0.lowercased().hasPrefix(prefix + "{") && $0.hasSuffix("}") }) else { return nil }
        let value = tag.dropFirst(prefix.count + 1).dropLast()
        return value.isEmpty ? nil : String(value)
    }
}
