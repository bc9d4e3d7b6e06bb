import Basics
package import FanOut
package import PushModel

/// Reads what a body says of templates, and notes what is wrong. Names of members may have any case.
package struct TemplatesReader {
    private let document: JSONDocument
    private let rules: TagRules
    package private(set) var faults: [RequestFault] = []

    package init(_ document: JSONDocument, by rules: TagRules) {
        (self.document, self.rules) = (document, rules)
    }

    /// The templates of an object, for a device with so many tags of its own.
    package mutating func templates(at node: JSONDocument.Node, beside tagCount: Int = 0) -> DeviceTemplates {
        var templates = DeviceTemplates()
        guard document.kind(of: node) == .object else {
            note("Templates must be an object.", at: node)
            return templates
        }
        guard document.childCount(of: node) <= DeviceTemplates.maximumCount else {
            note("At most \(DeviceTemplates.maximumCount) templates are allowed.", at: node)
            return templates
        }
        var members = document.children(of: node)
        while let (key, value) = members.next(in: document) {
            let name = document.string(document.text(of: key))
            if let fault = nameFault(name) { note(fault, at: key) }
            if templates.all[name] != nil { note("This template stands twice.", at: key) }
            if let template = template(at: value) { templates.all[name] = template }
        }
        if templates.isCrowded(beside: tagCount) { note(DeviceTemplates.crowd, at: node) }
        return templates
    }

    /// The reason for refusing a template's name. The hub makes a tag of it, so that a user's name would bring that user's messages.
    package func nameFault(_ name: String) -> String? {
        rules.fault(of: name, beside: nil).map { "The hub makes a tag of a template's name. \($0)" }
    }

    /// One template.
    package mutating func template(at node: JSONDocument.Node) -> DeviceTemplates.Template? {
        guard document.kind(of: node) == .object else {
            note("A template must be an object with body, and perhaps headers and tags.", at: node)
            return nil
        }
        var template = DeviceTemplates.Template(body: "")
        var isBodyKnown = false
        var members = document.children(of: node)
        while let (key, value) = members.next(in: document) {
            if document.kind(of: value) == .null { continue }
            switch document.string(document.text(of: key)).lowercased() {
            case "body":
                isBodyKnown = true
                template.body = body(at: value) ?? ""
            case "headers": template.headers = headers(at: value)
            case "tags": template.tags = tags(at: value)
            default: note("There is no such member. Known are: body, headers, tags.", at: value)
            }
        }
        if !isBodyKnown { note("The template has no body.", at: node) }
        return template
    }

    /// The body of a template.
    package mutating func body(at node: JSONDocument.Node) -> String? {
        let text = document.text(of: node)
        guard document.kind(of: node) == .string, (1...DeviceTemplates.maximumBodyByteCount).contains(text.count) else {
            note("The body must be a string of 1 to \(DeviceTemplates.maximumBodyByteCount) bytes.", at: node)
            return nil
        }
        let body = document.string(text)
        if body.utf8.contains(0) { note("The body must have no NUL in it.", at: node) }
        return body
    }

    /// The header fields of a template.
    package mutating func headers(at node: JSONDocument.Node) -> [String: String] {
        guard document.kind(of: node) == .object, document.childCount(of: node) <= DeviceTemplates.maximumHeaderCount else {
            note("Headers must be an object of at most \(DeviceTemplates.maximumHeaderCount) strings.", at: node)
            return [:]
        }
        var fields: [String: String] = [:]
        var members = document.children(of: node)
        while let (key, value) = members.next(in: document) {
            let (name, text) = (document.string(document.text(of: key)), document.string(document.text(of: value)))
            let isName = name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
            let isValue = document.kind(of: value) == .string && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            if !isName || !(1...64).contains(name.utf8.count) || !isValue || text.utf8.count > 256 {
                note("A header field has a name of letters, digits and hyphens, and 256 printable characters at most.", at: value)
            }
            fields[name] = text
        }
        return fields
    }

    /// The tags of a template. A user's own tag is not one of them: the device has it already.
    package mutating func tags(at node: JSONDocument.Node) -> [String] {
        guard let texts = document.texts(at: node) else {
            note("Tags must be an array of strings.", at: node)
            return []
        }
        let checked = rules.check(texts, beside: nil, at: document.pointer(to: node))
        for fault in checked.faults { faults.note(fault) }
        return checked.tags
    }

    private mutating func note(_ message: String, at node: JSONDocument.Node) {
        faults.note(RequestFault(.schemaInvalid, at: document.pointer(to: node), message: message))
    }
}
