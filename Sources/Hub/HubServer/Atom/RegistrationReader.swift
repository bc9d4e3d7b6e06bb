import HTTPServing
import PushModel
import XML

/// Reads a registration from an Atom entry. Both spellings of its type are understood, the element's name and `i:type`.
package enum RegistrationReader {
    /// The registration that `body` describes, without id and version, or 400 naming the fault.
    package static func read(_ body: [UInt8]) throws(RefusedCall) -> Registration {
        let root: Markup
        do throws(XMLFault) {
            root = try Markup.root(of: body)
        } catch {
            throw .invalid("The body is not well-formed XML. \(error.sentence)")
        }
        guard root.name == "entry", root.namespace == XMLWriter.atom else {
            throw .invalid("The body is not an entry in the namespace \(XMLWriter.atom)")
        }
        guard let description = root.first(where: { $0.hasSuffix("RegistrationDescription") }) else {
            throw .invalid("The body holds no registration description")
        }
        return try read(description)
    }

    /// The registration of a description alone, as in the files of jobs.
    static func read(_ description: Markup) throws(RefusedCall) -> Registration {
        guard description.namespace == XMLWriter.serviceBus else {
            throw .invalid("The registration description is not in the namespace \(XMLWriter.serviceBus)")
        }
        let declared = description.attributes["type"] ?? description.name
        let type = declared.split(separator: ":").last.map(String.init) ?? declared
        guard let (platform, isTemplate) = kind(of: type) else {
            throw .invalid("'\(type)' is not a known type of registration")
        }
        guard let handle = description.value(platform.handleElement) else {
            throw .invalid("The element \(platform.handleElement) is missing or empty")
        }
        let tags = (description.value("Tags") ?? "").split(separator: ",").map { $0.trimmingBlanks }.filter { !$0.isEmpty }
        var registration = Registration(
            id: "", platform: platform, handle: Registration.normalized(handle, on: platform),
            tags: try InstallationReader.checked(tags))
        for extra in platform.handleExtras { registration.extras[extra] = description.value(extra) }
        try platform.check(handle: registration.channel)
        registration.pushVariables = description.value("PushVariables")
        if isTemplate { registration.template = try template(description, for: platform) }
        try registration.checkSize()
        return registration
    }

    private static func kind(of type: String) -> (HubPlatform, isTemplate: Bool)? {
        guard type.hasSuffix("RegistrationDescription") else { return nil }
        var prefix = type.dropLast("RegistrationDescription".count).lowercased()
        let isTemplate = prefix.hasSuffix("template")
        if isTemplate { prefix.removeLast("template".count) }
        return HubPlatform.allCases.first { $0.elementPrefix.lowercased() == prefix }.map { ($0, isTemplate) }
    }

    private static func template(_ description: Markup, for platform: HubPlatform) throws(RefusedCall) -> Registration.Template {
        guard let text = description.value("BodyTemplate") else {
            throw .invalid("The element BodyTemplate is missing or empty")
        }
        var template = Registration.Template(
            name: description.value("TemplateName"), text: text, body: try InstallationReader.compiled(text))
        guard (template.name?.count ?? 0) <= 200 else { throw .invalid("A template's name has at most 200 characters") }
        template.expiry = description.value("Expiry")
        template.priority = description.value("Priority")
        template.messageType = description.value("MessageType")
        if let prefix = platform.headersElementPrefix {
            for header in description.child(prefix + "Headers")?.children ?? [] where header.name == prefix + "Header" {
                if let name = header.value("Header") { template.headers.append(name, value: header.value("Value") ?? "") }
            }
        }
        for value in [template.expiry, template.priority].compactMap({ $0 }) + template.headers.all.map(\.value) {
            do { _ = try TemplateExpression(parsing: value) } catch { throw .invalid(error.sentence) }
        }
        return template
    }
}

extension Registration {
    /// The handle in one text, as an installation has it: of a browser the JSON object with its keys.
    var channel: String {
        guard platform == .browser else { return handle }
        let keys = JSONObject(["endpoint": handle, "p256dh": extras["P256DH"], "auth": extras["Auth"]])
        return String(decoding: keys.bytes, as: UTF8.self)
    }

    package static func normalized(_ handle: String, on platform: HubPlatform) -> String {
        platform == .windows || platform == .windowsphone ? normalizedChannel(handle) : handle
    }

    /// A channel URI with a path: the service answers `https://some.url` as `https://some.url/`.
    package static func normalizedChannel(_ uri: String) -> String {
        guard let scheme = uri.firstRange(of: "://"), !uri[scheme.upperBound...].contains("/"),
            !uri[scheme.upperBound...].contains("?")
        else { return uri }
        return uri + "/"
    }
}
