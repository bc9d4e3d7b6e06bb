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
            note(node, "Templates must be an object.")
            return templates
        }
        guard document.childCount(of: node) <= DeviceTemplates.maximumCount else {
            note(node, "At most \(DeviceTemplates.maximumCount) templates are allowed.")
            return templates
        }
        var members = document.children(of: node)
        while let (key, value) = members.next(in: document) {
            let name = document.string(document.text(of: key))
            if let fault = nameFault(name) { note(key, fault) }
            if templates.all[name] != nil { note(key, "This template stands twice.") }
            if let template = template(at: value) { templates.all[name] = template }
        }
        if templates.isCrowded(beside: tagCount) { note(node, DeviceTemplates.crowd) }
        return templates
    }

    /// The reason for refusing a template's name. The hub makes a tag of it, so that a user's name would bring that user's messages.
    package func nameFault(_ name: String) -> String? {
        rules.fault(of: name, beside: nil).map { "The hub makes a tag of a template's name. \($0)" }
    }

    /// One template.
    package mutating func template(at node: JSONDocument.Node) -> DeviceTemplates.Template? {
        guard document.kind(of: node) == .object else {
            note(node, "A template must be an object with body, and perhaps headers and tags.")
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
            default: note(value, "There is no such member. Known are: body, headers, tags.")
            }
        }
        if !isBodyKnown { note(node, "The template has no body.") }
        return template
    }

    /// The body of a template.
    package mutating func body(at node: JSONDocument.Node) -> String? {
        let text = document.text(of: node)
        guard document.kind(of: node) == .string, (1...DeviceTemplates.maximumBodyByteCount).contains(text.count) else {
            note(node, "The body must be a string of 1 to \(DeviceTemplates.maximumBodyByteCount) bytes.")
            return nil
        }
        let body = document.string(text)
        if body.utf8.contains(0) { note(node, "The body must have no NUL in it.") }
        return body
    }

    /// The header fields of a template.
    package mutating func headers(at node: JSONDocument.Node) -> [String: String] {
        guard document.kind(of: node) == .object, document.childCount(of: node) <= DeviceTemplates.maximumHeaderCount else {
            note(node, "Headers must be an object of at most \(DeviceTemplates.maximumHeaderCount) strings.")
            return [:]
        }
        var fields: [String: String] = [:]
        var members = document.children(of: node)
        while let (key, value) = members.next(in: document) {
            let (name, text) = (document.string(document.text(of: key)), document.string(document.text(of: value)))
            let isName = name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
            let isValue = document.kind(of: value) == .string && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            if !isName || !(1...64).contains(name.utf8.count) || !isValue || text.utf8.count > 256 {
                note(value, "A header field is named by letters, digits and hyphens, and has at most 256 printable characters.")
            }
            fields[name] = text
        }
        return fields
    }

    /// The tags of a template. A user's own tag is not one of them: the device has it already.
    package mutating func tags(at node: JSONDocument.Node) -> [String] {
        guard let texts = document.texts(at: node) else {
            note(node, "Tags must be an array of strings.")
            return []
        }
        let checked = rules.check(texts, beside: nil, at: document.pointer(to: node))
        for fault in checked.faults { faults.note(fault) }
        return checked.tags
    }

    private mutating func note(_ node: JSONDocument.Node, _ message: String) {
        faults.note(RequestFault(.schemaInvalid, at: document.pointer(to: node), message: message))
    }
}

extension JSONDocument {
    /// The strings of an array, or nil for what is none, or has anything else in it.
    package func texts(at node: Node) -> [String]? {
        guard kind(of: node) == .array else { return nil }
        var texts: [String] = []
        var elements = children(of: node)
        while let (_, element) = elements.next(in: self) {
            guard kind(of: element) == .string else { return nil }
            texts.append(string(text(of: element)))
        }
        return texts
    }
}
