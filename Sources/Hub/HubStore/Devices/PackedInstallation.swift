import HubServer

/// An installation as the file has it in one value, which is sealed as a whole.
enum PackedInstallation {
    /// Packs an installation.
    ///
    /// - Parameters:
    ///   - installation: The installation.
    ///   - leavesOutChannel: True if a registration of its own has the channel.
    /// - Returns: The bytes, which hold handles.
    static func bytes(of installation: StoredInstallation, leavesOutChannel: Bool) -> [UInt8] {
        var writer = PackedWriter()
        writer.append(Int(installation.platform.code))
        writer.append(installation.userID)
        writer.append(installation.expirationTime)
        writer.append(installation.pushVariables)
        append(installation.target, channel: leavesOutChannel ? nil : installation.target.pushChannel, to: &writer)
        writer.append(installation.secondaryTiles) { (writer, tile) in
            writer.append(tile.name)
            append(tile.target, channel: tile.target.pushChannel, to: &writer)
        }
        return writer.bytes
    }

    /// Reads an installation.
    ///
    /// - Parameters:
    ///   - bytes: The installation, packed.
    ///   - id: The installation's id.
    ///   - channel: The channel, where it was left out.
    ///   - bodies: The template bodies that were read already.
    /// - Returns: The installation, as if its channel had not expired.
    /// - Throws: 503 for other bytes.
    static func installation(
        of bytes: [UInt8], id: String, channel: String?, bodies: inout TemplateBodies
    ) throws(RefusedCall) -> StoredInstallation {
        var reader = PackedReader(bytes)
        let code = try reader.number()
        guard let platform = HubPlatform.allCases.first(where: { $0.code == Int64(code) }) else { throw .unreadable }
        let (user, expiration, variables) = (try reader.optionalText(), try reader.optionalText(), try reader.pairs())
        let target = try target(from: &reader, channel: channel, bodies: &bodies)
        var installation = StoredInstallation(id: id, platform: platform, target: target)
        (installation.userID, installation.expirationTime, installation.pushVariables) = (user, expiration, variables)
        for _ in 0..<(try reader.number()) {
            let name = try reader.text()
            installation.secondaryTiles.append((name, try Self.target(from: &reader, channel: nil, bodies: &bodies)))
        }
        return installation
    }

    private static func append(_ target: InstallationTarget, channel: String?, to writer: inout PackedWriter) {
        writer.append(channel)
        writer.append(target.tags)
        writer.append(target.templates) { (writer, template) in
            writer.append(template.name)
            writer.append(template.text)
            writer.append(template.headers)
            writer.append(template.expiry)
            writer.append(template.tags)
        }
    }

    private static func target(
        from reader: inout PackedReader, channel: String?, bodies: inout TemplateBodies
    ) throws(RefusedCall) -> InstallationTarget {
        guard let channel = try reader.optionalText() ?? channel else { throw .unreadable }
        var target = InstallationTarget(pushChannel: channel, tags: try reader.texts())
        for _ in 0..<(try reader.number()) {
            let (name, text) = (try reader.text(), try reader.text())
            var template = InstallationTarget.Template(name: name, text: text, body: try bodies.body(of: text))
            template.headers = try reader.fields()
            template.expiry = try reader.optionalText()
            template.tags = try reader.texts()
            target.templates.append(template)
        }
        return target
    }
}
