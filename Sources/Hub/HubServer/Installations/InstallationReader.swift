import FanOut
import HTTPServing
import PushModel

/// Reads installations and their parts from JSON.
package struct InstallationReader {
    private let document: JSONDocument

    /// Reads a JSON text, or refuses it with 400.
    package init(_ bytes: [UInt8]) throws(RefusedCall) {
        var document = JSONDocument()
        do { try document.read(bytes.span) } catch { throw .invalid("The body is not valid JSON. \(error.sentence)") }
        self.document = document
    }

    /// The installation that the whole text describes, or 400 naming the fault. The id in the path must not be contradicted by
    /// the body. With `nil`, the body's id counts.
    package func installation(id: String?) throws(RefusedCall) -> StoredInstallation {
        try installation(at: document.root, id: id)
    }

    package func installations() throws(RefusedCall) -> [StoredInstallation] {
        guard document.kind(of: document.root) == .array else { throw .invalid("The text is not a JSON array") }
        var installations: [StoredInstallation] = []
        try document.forEachElement(of: document.root) { (node) throws(RefusedCall) in
            let installation = try installation(at: node, id: nil)
            try installation.checkHandles()
            installations.append(installation)
        }
        return installations
    }

    /// The template that the whole text describes.
    package func template(name: String) throws(RefusedCall) -> InstallationTarget.Template {
        try template(name, at: document.root)
    }

    /// The secondary tile that the whole text describes.
    package func target() throws(RefusedCall) -> InstallationTarget { try target(at: document.root) }

    /// The strings of the array, or object, that the whole text is.
    package func strings() throws(RefusedCall) -> [String] { try strings(at: document.root) }

    /// The string members of the object that the whole text is.
    package func pairs() throws(RefusedCall) -> [(name: String, value: String)] { try pairs(at: document.root) }

    /// The operations of a patch: `op`, `path` and `value`. A value other than a string is given as its JSON text.
    package func operations() throws(RefusedCall) -> [(name: String, path: String, value: String?)] {
        guard document.kind(of: document.root) == .array else { throw .invalid("A patch must be a JSON array") }
        var operations: [(name: String, path: String, value: String?)] = []
        try document.forEachElement(of: document.root) { (node) throws(RefusedCall) in
            guard let name = try string("op", of: node), let path = try string("path", of: node) else {
                throw .invalid("Every operation of a patch needs 'op' and 'path'")
            }
            let value = document.member("value", of: node)
            let isAbsent = value.map { document.kind(of: $0) == .null } ?? true
            operations.append((name, path, isAbsent ? nil : value.map { document.string(document.text(of: $0)) }))
        }
        return operations
    }

    private func installation(at node: JSONDocument.Node, id: String?) throws(RefusedCall) -> StoredInstallation {
        guard document.kind(of: node) == .object else { throw .invalid("An installation must be a JSON object") }
        let named = try string("installationId", of: node)
        guard let id = id ?? named, !id.isEmpty, named == nil || named == id else {
            throw .invalid("The installationId in the body is missing or differs from the one in the path")
        }
        guard (try? HubTag.installation(id)) != nil else {
            throw .invalid("The installationId has characters that are not allowed")
        }
        let platformName = try string("platform", of: node) ?? ""
        guard let platform = HubPlatform(installationName: platformName) else {
            throw .invalid("The platform is missing or not one of apns, wns, mpns, gcm, fcmV1, adm, baidu, browser, xiaomi")
        }
        var installation = StoredInstallation(id: id, platform: platform, target: try target(at: node))
        let documented = try string("userID", of: node)
        installation.userID = try string("userId", of: node) ?? documented
        if let user = installation.userID, (try? HubTag.user(user)) == nil {
            throw .invalid("The userId has characters that are not allowed")
        }
        installation.expirationTime = try string("expirationTime", of: node)
        if let variables = document.member("pushVariables", of: node) { installation.pushVariables = try pairs(at: variables) }
        if let tiles = document.member("secondaryTiles", of: node) {
            try document.forEachMember(of: tiles) { (key, value) throws(RefusedCall) in
                installation.secondaryTiles.append((document.string(key), try target(at: value)))
            }
        }
        try installation.checkSize()
        return installation
    }

    private func target(at node: JSONDocument.Node) throws(RefusedCall) -> InstallationTarget {
        guard let channel = document.member("pushChannel", of: node),
            [.string, .object].contains(document.kind(of: channel)), !document.text(of: channel).isEmpty
        else { throw .invalid("The pushChannel is missing or empty") }
        var target = InstallationTarget(pushChannel: document.string(document.text(of: channel)))
        if let tags = document.member("tags", of: node) { target.tags = try Self.checked(strings(at: tags)) }
        if let templates = document.member("templates", of: node) {
            try document.forEachMember(of: templates) { (key, value) throws(RefusedCall) in
                target.templates.append(try template(document.string(key), at: value))
            }
        }
        return target
    }

    private func template(_ name: String, at node: JSONDocument.Node) throws(RefusedCall) -> InstallationTarget.Template {
        guard !name.isEmpty, name.count <= 200 else { throw .invalid("A template's name must have 1 to 200 characters") }
        guard let text = try string("body", of: node) else { throw .invalid("The template '\(name)' has no body") }
        var template = InstallationTarget.Template(name: name, text: text, body: try Self.compiled(text))
        if let headers = document.member("headers", of: node) {
            for pair in try pairs(at: headers) { template.headers.append(pair.name, value: pair.value) }
        }
        template.expiry = try string("expiry", of: node)
        if let tags = document.member("tags", of: node) { template.tags = try Self.checked(strings(at: tags)) }
        return template
    }

    /// A template's body, parsed. A faulty body is refused with 400.
    package static func compiled(_ text: String) throws(RefusedCall) -> BodyTemplate {
        do { return try BodyTemplate(text) } catch { throw .invalid(error.sentence) }
    }

    /// The tags, if all are valid. Otherwise refuses in the service's own words.
    package static func checked(_ tags: [String]) throws(RefusedCall) -> [String] {
        let invalid = tags.filter { (try? HubTag($0)) == nil }
        guard invalid.isEmpty else {
            throw .invalid(
                "An invalid tag(s) '\(invalid.joined(separator: ","))' was supplied. Valid tag characters are alphanumeric, "
                    + "_, @, -, ., : and #.")
        }
        // The .NET SDK lets a caller give these tags, each kind once.
        for prefix in ["$installationid:", "$userid:"] where tags.count(where: { $0.lowercased().hasPrefix(prefix) }) > 1 {
            throw .invalid("More than one tag begins with '\(prefix)'")
        }
        guard tags.reduce(0, { $0 + $1.utf8.count + 1 }) <= 8000 else {
            throw .invalid("Registration Tags serialized size is more than maximum supported value. Max Allowed Size: '8000'")
        }
        return tags
    }

    private func string(_ name: StaticString, of node: JSONDocument.Node) throws(RefusedCall) -> String? {
        guard let value = document.member(name, of: node), document.kind(of: value) != .null else { return nil }
        guard document.kind(of: value) == .string else { throw .invalid("The value of '\(name)' is not a string") }
        return document.string(document.text(of: value))
    }

    private func strings(at node: JSONDocument.Node) throws(RefusedCall) -> [String] {
        guard document.kind(of: node) != .null else { return [] }
        guard document.kind(of: node) == .array else { throw .invalid("A list of tags is not a JSON array") }
        var strings: [String] = []
        try document.forEachElement(of: node) { (element) throws(RefusedCall) in
            guard document.kind(of: element) == .string else { throw .invalid("A tag is not a string") }
            let text = document.string(document.text(of: element))
            if !strings.contains(text) { strings.append(text) }
        }
        return strings
    }

    private func pairs(at node: JSONDocument.Node) throws(RefusedCall) -> [(name: String, value: String)] {
        guard document.kind(of: node) != .null else { return [] }
        guard document.kind(of: node) == .object else { throw .invalid("A JSON object of strings was expected") }
        var pairs: [(name: String, value: String)] = []
        try document.forEachMember(of: node) { (key, value) throws(RefusedCall) in
            guard document.kind(of: value) == .string else { throw .invalid("A value that must be a string is none") }
            pairs.append((document.string(key), document.string(document.text(of: value))))
        }
        return pairs
    }
}

/// A browser's push channel: an object, or an object inside a string.
package enum BrowserChannel {
    package static func read(_ text: String) -> (endpoint: String, p256dh: String, auth: String)? {
        guard let pairs = try? InstallationReader(Array(text.utf8)).pairs() else { return nil }
        func value(_ name: String) -> String? { pairs.first { $0.name.equalsIgnoringCase(name) }?.value }
        guard let endpoint = value("endpoint") else { return nil }
        return (endpoint, value("p256dh") ?? "", value("auth") ?? "")
    }
}
