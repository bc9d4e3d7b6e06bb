import HTTPServing

/// Writes registrations as Atom entries and feeds, in the service's order of elements.
package struct RegistrationWriter {
    package let call: HubCall

    package func entry(_ registration: Registration) -> [UInt8] {
        XMLWriter.document { write(registration, isInFeed: false, to: &$0) }
    }

    /// The registration alone, on one line. In templates a line break is a blank wherever it may stand.
    package static func line(_ registration: Registration) -> String {
        var writer = XMLWriter()
        describe(registration, isInFeed: false, in: &writer)
        return String(decoding: writer.bytes.map { $0 == 10 || $0 == 13 ? 32 : $0 }, as: UTF8.self)
    }

    /// The feed of a list of registrations. `path` is the list's own in the hub.
    package func feed(_ page: [Registration], path: String, nextLink: String?) -> [UInt8] {
        XMLWriter.document { writer in
            writer.element("feed", attributes: [("xmlns", XMLWriter.atom)]) { writer in
                writer.element("title", attributes: [("type", "text")], text: "Registrations")
                writer.element("id", text: call.link(path))
                writer.element("updated", text: call.moment.rfc3339)
                writer.element("link", attributes: [("rel", "self"), ("href", call.link(path))])
                if let nextLink { writer.element("link", attributes: [("rel", "next"), ("href", nextLink)]) }
                for registration in page { write(registration, isInFeed: true, to: &writer) }
            }
        }
    }

    private func write(_ registration: Registration, isInFeed: Bool, to writer: inout XMLWriter) {
        let link = call.link("registrations/" + registration.id)
        let written = Moment(milliseconds: registration.writtenAt).rfc3339
        let attributes = [
            ("a:etag", "W/\"\(registration.etag)\""), ("xmlns", XMLWriter.atom), ("xmlns:a", XMLWriter.metadata),
        ]
        writer.element("entry", attributes: attributes) { writer in
            writer.element("id", text: link)
            writer.element("title", attributes: [("type", "text")], text: registration.id)
            writer.element("published", text: written)
            writer.element("updated", text: written)
            writer.element("link", attributes: [("rel", "self"), ("href", link)])
            writer.element("content", attributes: [("type", "application/xml")]) { writer in
                Self.describe(registration, isInFeed: isInFeed, in: &writer)
            }
        }
    }

    private static func describe(_ registration: Registration, isInFeed: Bool, in writer: inout XMLWriter) {
        let kind = registration.template == nil ? "" : "Template"
        let name = registration.platform.elementPrefix + kind + "RegistrationDescription"
        writer.element(name, attributes: [("xmlns", XMLWriter.serviceBus), ("xmlns:i", XMLWriter.schemaInstance)]) { writer in
            writer.element("ETag", text: String(registration.etag))
            writer.element("ExpirationTime", text: expiration(of: registration, isInFeed: isInFeed))
            writer.element("RegistrationId", text: registration.id)
            if !registration.tags.isEmpty { writer.element("Tags", text: registration.tags.joined(separator: ",")) }
            if let variables = registration.pushVariables { writer.element("PushVariables", text: variables) }
            let userFirst = registration.platform == .baidu
            if userFirst { writeExtras(registration, to: &writer) }
            writer.element(registration.platform.handleElement, text: registration.handle)
            if !userFirst { writeExtras(registration, to: &writer) }
            if let template = registration.template { write(template, of: registration.platform, to: &writer) }
        }
    }

    private static func writeExtras(_ registration: Registration, to writer: inout XMLWriter) {
        for extra in registration.platform.handleExtras {
            if let value = registration.extras[extra] { writer.element(extra, text: value) }
        }
    }

    private static func write(_ template: Registration.Template, of platform: HubPlatform, to writer: inout XMLWriter) {
        writer.element("BodyTemplate", cdata: template.text)
        if platform != .apple { writeHeaders(template, of: platform, to: &writer) }
        if let expiry = template.expiry { writer.element("Expiry", text: expiry) }
        if let name = template.name { writer.element("TemplateName", text: name) }
        if let type = template.messageType { writer.element("MessageType", text: type) }
        if let priority = template.priority { writer.element("Priority", text: priority) }
        if platform == .apple { writeHeaders(template, of: platform, to: &writer) }
    }

    private static func writeHeaders(_ template: Registration.Template, of platform: HubPlatform, to writer: inout XMLWriter) {
        guard let prefix = platform.headersElementPrefix, !template.headers.all.isEmpty else { return }
        writer.element(prefix + "Headers") { writer in
            for field in template.headers.all {
                writer.element(prefix + "Header") { writer in
                    writer.element("Header", text: field.name)
                    writer.element("Value", text: field.value)
                }
            }
        }
    }

    /// The three spellings of "never" that were recorded from the service.
    private static func expiration(of registration: Registration, isInFeed: Bool) -> String {
        if registration.installationID != nil { return "9999-12-31T23:59:59.9999999Z" }
        return isInFeed ? "9999-12-31T23:59:59.999Z" : "9999-12-31T23:59:59.999"
    }
}
