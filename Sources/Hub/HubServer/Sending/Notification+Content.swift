package import HTTPServing
import PushModel

extension Notification {
    /// A notification of its parts, as a call sends it or a file keeps it: the same parts give the same notification.
    ///
    /// - Parameters:
    ///   - id: Its id, which may be empty until it is accepted.
    ///   - callID: The number of the call that sends it.
    ///   - format: A platform's format, or `template`, in any case.
    ///   - audience: The addressees.
    ///   - body: A native body, or the properties for templates.
    ///   - headers: The header fields for the push service.
    /// - Throws: 400, if the format is not known or the body is not what it must be.
    package init(
        id: String, callID: Int, format: String, audience: Audience, body: [UInt8], headers: HTTPFields
    ) throws(RefusedCall) {
        guard !format.equalsIgnoringCase("template") else {
            if case .handles = audience { throw .invalid("A template notification cannot be sent to a device handle") }
            self.init(
                id: id, callID: callID, content: .template(try Self.properties(body)), audience: audience, body: body,
                headers: headers, collapseKey: nil, refusal: nil)
            return
        }
        guard let platform = HubPlatform(format: format) else { throw .invalid("The format '\(format)' is not known") }
        var document: JSONDocument?
        if platform.takesJSON {
            var read = JSONDocument()
            do { try read.read(body.span) } catch { throw .invalid("The payload is not valid JSON. \(error.sentence)") }
            guard read.kind(of: read.root) == .object else { throw .invalid("The payload is not a JSON object") }
            document = read
        } else if body.isEmpty {
            throw .invalid("The payload is empty")
        }
        self.init(
            id: id, callID: callID, content: .native(platform), audience: audience, body: body, headers: headers,
            collapseKey: CollapseKey.of(platform, headers: headers, document: document),
            refusal: platform.refusal(of: body, document: document, headers: headers))
    }

    /// The properties for templates, by lower-cased name.
    private static func properties(_ body: [UInt8]) throws(RefusedCall) -> [String: String] {
        var document = JSONDocument()
        do { try document.read(body.span) } catch { throw .invalid("The properties are not valid JSON. \(error.sentence)") }
        guard document.kind(of: document.root) == .object else {
            throw .invalid("The properties of a template notification must be one JSON object")
        }
        var properties: [String: String] = [:]
        try document.forEachMember(of: document.root) { (key, value) throws(RefusedCall) in
            let name = document.string(key)
            guard document.kind(of: value) == .string else {
                throw .invalid("The property '\(name)' of a template notification is not a string")
            }
            properties[name.lowercased()] = document.string(document.text(of: value))
        }
        return properties
    }
}
