import HTTPServing
import PushModel

/// Writes an installation as the service answers it: properties without a value are left out.
struct InstallationWriter {
    /// The expiration time in the answer for an installation that has none.
    private static let never = "9999-12-31T23:59:59.9999999Z"

    private var writer = ByteWriter(capacity: 512)

    static func json(_ installation: Installation) -> [UInt8] {
        var writer = InstallationWriter()
        writer.write(installation)
        return writer.writer.bytes
    }

    private mutating func write(_ installation: Installation) {
        writer.append("{\"installationId\":")
        writer.append(json: installation.id)
        if let user = installation.userID { member("userId", value: user) }
        writer.append(",\"pushChannel\":")
        write(channel: installation.target.pushChannel)
        writer.append(",\"pushChannelExpired\":")
        writer.append(installation.isChannelExpired ? "true" : "false")
        member("platform", value: installation.platform.installationName)
        member("expirationTime", value: installation.expirationTime ?? Self.never)
        write(tagsAndTemplatesOf: installation.target)
        if !installation.pushVariables.isEmpty {
            writer.append(",\"pushVariables\":")
            write(pairs: installation.pushVariables)
        }
        if !installation.secondaryTiles.isEmpty {
            writer.append(",\"secondaryTiles\":{")
            for (index, tile) in installation.secondaryTiles.enumerated() {
                if index > 0 { writer.append(",") }
                writer.append(json: tile.name)
                writer.append(":{\"pushChannel\":")
                write(channel: tile.target.pushChannel)
                write(tagsAndTemplatesOf: tile.target)
                writer.append("}")
            }
            writer.append("}")
        }
        writer.append("}")
    }

    private mutating func member(_ name: StaticString, value: String) {
        writer.append(",\"")
        writer.append(name)
        writer.append("\":")
        writer.append(json: value)
    }

    private mutating func write(channel: String) {
        if channel.hasPrefix("{"), BrowserChannel.read(channel) != nil {
            writer.append(channel)
        } else {
            writer.append(json: channel)
        }
    }

    private mutating func write(tagsAndTemplatesOf target: InstallationTarget) {
        if !target.tags.isEmpty {
            writer.append(",\"tags\":")
            write(strings: target.tags)
        }
        guard !target.templates.isEmpty else { return }
        writer.append(",\"templates\":{")
        for (index, template) in target.templates.enumerated() {
            if index > 0 { writer.append(",") }
            writer.append(json: template.name)
            writer.append(":{\"body\":")
            writer.append(json: template.text)
            if !template.headers.all.isEmpty {
                writer.append(",\"headers\":")
                write(pairs: template.headers.all.map { ($0.name, $0.value) })
            }
            if let expiry = template.expiry { member("expiry", value: expiry) }
            // The service adds the template's name to its tags.
            writer.append(",\"tags\":")
            write(strings: template.tags + (template.tags.contains(template.name) ? [] : [template.name]))
            writer.append("}")
        }
        writer.append("}")
    }

    private mutating func write(strings: [String]) {
        writer.append("[")
        for (index, string) in strings.enumerated() {
            if index > 0 { writer.append(",") }
            writer.append(json: string)
        }
        writer.append("]")
    }

    private mutating func write(pairs: [(name: String, value: String)]) {
        writer.append("{")
        for (index, pair) in pairs.enumerated() {
            if index > 0 { writer.append(",") }
            writer.append(json: pair.name)
            writer.append(":")
            writer.append(json: pair.value)
        }
        writer.append("}")
    }
}
