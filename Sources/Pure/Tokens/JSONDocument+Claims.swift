import Basics
import PushModel

/// Values as tokens and sets of keys have them.
extension JSONDocument {
    /// Reads a text whose root is an object and in which no object has a member twice. Nil for any other.
    init?(objectIn bytes: [UInt8]) {
        self.init()
        do throws(JSONError) { try read(bytes.span) } catch { return nil }
        guard kind(of: root) == .object, duplicateKeys.isEmpty else { return nil }
    }

    /// The value of the root's member of a name. Nil when there is none, or null in its place.
    func claim(_ name: String) -> Node? {
        var found: Node?
        forEachMember(of: root) { key, value in if isEqual(key, to: name) { found = value } }
        return found.flatMap { kind(of: $0) == .null ? nil : $0 }
    }

    /// The content of a string, or nil for any other value.
    func content(of node: Node) -> String? { kind(of: node) == .string ? string(text(of: node)) : nil }

    /// The bytes that a string of the alphabet for URLs stands for, or nil.
    func bytes(_ name: StaticString, of node: Node) -> [UInt8]? {
        text(name, of: node).flatMap { Base64.decode(urlText: $0.utf8) }
    }

    /// The last second that a `NumericDate` has reached (RFC 7519, section 2). Nil for any other value, and outside of 1970 to 9999.
    func seconds(at node: Node) -> Int64? {
        guard kind(of: node) == .number, let number = Double(string(text(of: node))) else { return nil }
        return (0..<253_402_300_800).contains(number) ? Int64(number) : nil
    }
}
