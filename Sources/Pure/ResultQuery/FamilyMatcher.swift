public import PushModel

/// Finds the results of one request, and those of its replays.
public struct FamilyMatcher: Sendable {
    /// The relation of a result to the request.
    public enum Relation: Sendable {
        /// It is one of the request's own.
        case own
        /// It is that of a replay, or of a replay of a replay.
        case replay
    }

    private let bytes: [UInt8]
    /// After a match, the result.
    public private(set) var document = JSONDocument()

    /// A matcher for the request with this id.
    public init(request: String) { bytes = Array(request.utf8) }

    /// The relation of a record of the results topic to the request.
    ///
    /// - Parameter json: The record's value.
    /// - Returns: nil for what has nothing to do with it, and for what is no result.
    public mutating func relation(_ json: Span<UInt8>) -> Relation? {
        guard mayName(json), document.readResult(json) else { return nil }
        let root = document.root
        if isNamed("request_id", of: root) { return .own }
        guard let replay = document.member("replay", of: root) else { return nil }
        return isNamed("root_request_id", of: replay) || isNamed("parent_request_id", of: replay) ? .replay : nil
    }

    /// True if a member is the id, byte by byte.
    private func isNamed(_ name: StaticString, of object: JSONDocument.Node) -> Bool {
        guard let value = document.member(name, of: object), document.kind(of: value) == .string else { return false }
        return document.span(document.text(of: value)).equals(bytes.span)
    }

    /// True if the id stands somewhere in the record as it is, or something is escaped and only reading can tell.
    private func mayName(_ json: Span<UInt8>) -> Bool {
        for start in json.indices {
            if json[start] == UInt8(ascii: "\\") { return true }
            guard json[start] == bytes.first ?? UInt8(ascii: "\""), start + bytes.count <= json.count else { continue }
            if json.extracting(start..<start + bytes.count).equals(bytes.span) { return true }
        }
        return false
    }
}
