import Basics
import HTTPServing
import PushModel

/// A digest of what a call asks for. Calls that ask for the same have the same one.
///
/// A body that is JSON counts by its values: order of members, white space and escapes make no difference. Numbers count as they are
/// written, so `1` and `1.0` differ. Any other body counts by its bytes. To it come the media type, without parameters, and the attributes
/// of an event whose headers have them (CloudEvents HTTP binding 1.0.2, section 3.1).
package struct CallFingerprint: Equatable, Sendable {
    /// A SHA-256 digest, 32 bytes.
    let digest: [UInt8]

    /// A fingerprint as it was kept.
    init(digest: [UInt8]) { self.digest = digest }

    /// The fingerprint of a call. The body is whole and without content coding.
    init(_ body: [UInt8], headers: HTTPFields) {
        var text = ByteWriter(capacity: body.count + 64)
        text.append(headers.mediaType ?? "")
        for (name, value) in Self.attributes(in: headers) {
            text.append("\n")
            text.append(name)
            text.append(":")
            text.append(value)
        }
        // No header has a NUL.
        text.append(0)
        var document = JSONDocument()
        do throws(JSONError) {
            try document.read(body.span)
            document.appendCanonical(document.root, to: &text)
        } catch {
            text.append(body.span)
        }
        digest = SHA256.digest(of: text.bytes)
    }

    /// The attributes of an event in binary mode, by their names, each as it is meant.
    private static func attributes(in headers: HTTPFields) -> [(name: String, value: String)] {
        headers.all.filter { $0.name.startsIgnoringCase(with: "ce-") }
            .map { ($0.name.lowercased(), CloudEvent.value($0.value) ?? $0.value) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}

extension JSONDocument {
    /// Appends a value in a spelling that all texts with the same meaning share: members by the bytes of their names, no white space, the
    /// shortest escapes. Numbers stay as they were written.
    fileprivate func appendCanonical(_ node: Node, to text: inout ByteWriter) {
        switch kind(of: node) {
        case .object:
            var members: [(key: Text, value: Node)] = []
            members.reserveCapacity(childCount(of: node))
            forEachMember(of: node) { key, value in members.append((key, value)) }
            // Members with one name keep their order.
            members.sort { span($0.key).precedes(span($1.key)) }
            text.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(",") }
                text.append(json: span(member.key))
                text.append(":")
                appendCanonical(member.value, to: &text)
            }
            text.append("}")
        case .array:
            var isFirst = true
            text.append("[")
            forEachElement(of: node) { element in
                if !isFirst { text.append(",") }
                isFirst = false
                appendCanonical(element, to: &text)
            }
            text.append("]")
        case .string: text.append(json: span(self.text(of: node)))
        case .number, .true, .false, .null: text.append(span(self.text(of: node)))
        }
    }
}

extension Span<UInt8> {
    /// Compares bytes one by one.
    fileprivate func precedes(_ other: Span<UInt8>) -> Bool {
        let shared = Swift.min(count, other.count)
        for index in 0..<shared where self[index] != other[index] { return self[index] < other[index] }
        return count < other.count
    }
}
