import Basics
import FanOut
package import HubREST
import PushModel

/// The templates of a device by their names: the texts that a notification's values become there.
///
/// The hub makes a tag of each name, so that names obey the rules for tags.
package struct DeviceTemplates: Sendable, Equatable {
    /// The most templates of one device. Each is a registration of its own at the hub.
    package static let maximumCount = 20
    /// The most bytes of a template's body: more than any push service takes.
    package static let maximumBodyByteCount = 8192
    /// The most header fields of a template.
    package static let maximumHeaderCount = 16

    /// One template.
    package struct Template: Sendable, Equatable {
        package var body: String
        package var headers: [String: String] = [:]
        package var tags: [String] = []
        /// The hub's member, kept as found.
        fileprivate var expiry: String?

        package init(body: String, headers: [String: String] = [:], tags: [String] = []) {
            (self.body, self.headers, self.tags) = (body, headers, tags)
        }
    }

    package var all: [String: Template]

    package init(_ all: [String: Template] = [:]) { self.all = all }

    /// The templates that the hub has. The tag that it makes of a name is left out, and so is a template without a body.
    package init(_ found: JSONObjectText?) {
        self.init()
        var document = JSONDocument()
        let bytes = Array((found?.text ?? "{}").utf8)
        do { try document.read(bytes.span) } catch { return }
        document.forEachMember(of: document.root) { key, node in
            let name = document.string(key)
            guard let body = document.text("body", of: node) else { return }
            var template = Template(body: body)
            if let headers = document.member("headers", of: node) {
                document.forEachMember(of: headers) { field, value in
                    guard document.kind(of: value) == .string else { return }
                    template.headers[document.string(field)] = document.string(document.text(of: value))
                }
            }
            let tags = document.member("tags", of: node).flatMap { document.texts(at: $0) } ?? []
            template.tags = tags.filter { UserTag.folded($0) != UserTag.folded(name) }
            template.expiry = document.text("expiry", of: node)
            all[name] = template
        }
    }

    /// The hub's form of them, or nil where there are none.
    package var hubText: JSONObjectText? {
        all.isEmpty ? nil : JSONObjectText(String(decoding: json { $0.add("expiry", value: $1.expiry) }, as: UTF8.self))
    }

    /// The object of an answer, sorted by the names.
    package var json: [UInt8] { json { _, _ in } }

    private func json(adding extra: (inout JSONObject, Template) -> Void) -> [UInt8] {
        var object = JSONObject()
        for (name, template) in all.sorted(by: { $0.key < $1.key }) {
            var one = JSONObject(["body": template.body])
            if !template.headers.isEmpty {
                one.add("headers", pairs: template.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            }
            one.add("tags", array: template.tags.map(JSONObject.text))
            extra(&one, template)
            object.add(name, raw: one.bytes)
        }
        return object.bytes
    }

    /// The fault of a template that has too many tags.
    package static let crowd = "A template's name, its tags and the device's are \(TagRules.maximumCount) at most together."

    /// True if a template has too many tags together with the device's own.
    package func isCrowded(beside tagCount: Int) -> Bool {
        all.values.contains { 1 + $0.tags.count + tagCount > TagRules.maximumCount }
    }
}

extension DeviceTemplates: Concealed {
    /// The number alone: an app may write what it likes into a template.
    package var description: String { "DeviceTemplates(\(all.count))" }
}
