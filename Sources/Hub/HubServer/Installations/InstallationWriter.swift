import HTTPServing
import PushModel

/// Writes an installation as the service answers it: properties without a value are left out.
package enum InstallationWriter {
    /// The expiration time in the answer for an installation that has none.
    private static let never = "9999-12-31T23:59:59.9999999Z"

    package static func json(_ installation: StoredInstallation) -> [UInt8] {
        var object = JSONObject(["installationId": installation.id, "userId": installation.userID])
        object.add("pushChannel", raw: channel(of: installation.target))
        object.add([
            "pushChannelExpired": installation.isChannelExpired, "platform": installation.platform.installationName,
            "expirationTime": installation.expirationTime ?? never,
        ])
        add(tagsAndTemplatesOf: installation.target, to: &object)
        object.add("pushVariables", pairs: installation.pushVariables)
        var tiles = JSONObject()
        for (name, target) in installation.secondaryTiles {
            var tile = JSONObject()
            tile.add("pushChannel", raw: channel(of: target))
            add(tagsAndTemplatesOf: target, to: &tile)
            tiles.add(name, raw: tile.bytes)
        }
        if !tiles.isEmpty { object.add("secondaryTiles", raw: tiles.bytes) }
        return object.bytes
    }

    private static func channel(of target: InstallationTarget) -> [UInt8] {
        let channel = target.pushChannel
        return channel.hasPrefix("{") && BrowserChannel.read(channel) != nil ? Array(channel.utf8) : JSONObject.text(channel)
    }

    private static func add(tagsAndTemplatesOf target: InstallationTarget, to object: inout JSONObject) {
        object.add("tags", texts: target.tags)
        var templates = JSONObject()
        for template in target.templates {
            var written = JSONObject(["body": template.text])
            written.add("headers", pairs: template.headers.all.map { ($0.name, $0.value) })
            written.add("expiry", value: template.expiry)
            // The service adds the template's name to its tags.
            written.add("tags", texts: template.tags + (template.tags.contains(template.name) ? [] : [template.name]))
            templates.add(template.name, raw: written.bytes)
        }
        if !templates.isEmpty { object.add("templates", raw: templates.bytes) }
    }
}
