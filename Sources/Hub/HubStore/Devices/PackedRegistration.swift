import HubServer

/// The values of a registration that have no column of their own.
struct PackedRegistration {
    /// Values that may be read in the file: installation, tags, variables, template.
    let content: [UInt8]
    /// Values that belong to the handle: its own spelling and its extras. Nil for neither.
    let secret: [UInt8]?

    /// Packs a registration of a device whose handle is spelled in some way.
    init(_ registration: Registration, deviceHandle: String) {
        var writer = PackedWriter()
        writer.append(registration.installationID)
        let own = Self.ownTag(of: registration.installationID)
        // The tag of the installation can be told from its id.
        writer.append(registration.tags) { $0.append($1 == own ? nil : $1) }
        writer.append(registration.pushVariables)
        if let template = registration.template {
            writer.append(template.name)
            writer.append(template.text)
            writer.append(template.headers)
            for text in [template.expiry, template.priority, template.messageType] { writer.append(text) }
        }
        content = writer.bytes
        let spelling = registration.handle.utf8.elementsEqual(deviceHandle.utf8) ? nil : registration.handle
        guard spelling != nil || !registration.extras.isEmpty else {
            secret = nil
            return
        }
        var hidden = PackedWriter()
        hidden.append(spelling)
        hidden.append(registration.extras.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        secret = hidden.bytes
    }

    /// Takes what was written.
    init(content: [UInt8], secret: [UInt8]?) { (self.content, self.secret) = (content, secret) }

    /// Reads all of it into a registration that has its columns.
    func unpack(
        into registration: inout Registration, hasTemplate: Bool, bodies: inout TemplateBodies
    ) throws(RefusedCall) {
        var reader = PackedReader(content)
        registration.installationID = try reader.optionalText()
        let own = Self.ownTag(of: registration.installationID)
        registration.tags = try reader.list { (reader) throws(RefusedCall) in
            guard let tag = try reader.optionalText() ?? own else { throw .unreadable }
            return tag
        }
        registration.pushVariables = try reader.optionalText()
        if hasTemplate {
            let (name, text) = (try reader.optionalText(), try reader.text())
            var template = Registration.Template(name: name, text: text, body: try bodies.body(of: text))
            template.headers = try reader.fields()
            template.expiry = try reader.optionalText()
            template.priority = try reader.optionalText()
            template.messageType = try reader.optionalText()
            registration.template = template
        }
        guard let secret else { return }
        var hidden = PackedReader(secret)
        if let spelling = try hidden.optionalText() { registration.handle = spelling }
        for extra in try hidden.pairs() { registration.extras[extra.name] = extra.value }
    }

    private static func ownTag(of installation: String?) -> String? { installation.map { "$InstallationId:{\($0)}" } }
}
