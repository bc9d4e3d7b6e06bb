/// The metadata of a group's position that this version did not write and cannot read, in words for a person.
///
/// Any program may commit offsets with the group's id, and a newer pushfan may write another form. From the text alone it is often not
/// certain which of the two it was, so both are named.
public struct UnknownMetadata: Sendable, Equatable, CustomStringConvertible {
    /// The characters of it that are shown.
    static let shownCount = 20

    /// The form of a newer pushfan that it may have, such as `5`, or nil where no pushfan writes such a text.
    public let form: Unicode.Scalar?
    private let shown: String
    private let byteCount: Int

    /// Takes metadata that `FinishedOffsets` or, of the topic of parents, `OpenParents` cannot read.
    ///
    /// - Parameters:
    ///   - metadata: The text as it was committed.
    ///   - isOfParents: The partition is of the topic of parents, where a newer form begins with any sign but a digit.
    public init(_ metadata: String, isOfParents: Bool = false) {
        byteCount = metadata.utf8.count
        let scalars = metadata.unicodeScalars
        let forms = isOfParents ? "!"..."~" : FinishedOffsets.laterForms
        form = scalars.first.flatMap { forms.contains($0) ? $0 : nil }
        let characters = scalars.prefix(Self.shownCount).map { scalar in
            (0x20..<0x7F).contains(scalar.value) ? Character(scalar) : "\u{FFFD}"
        }
        shown = String(characters) + (scalars.dropFirst(Self.shownCount).isEmpty ? "" : "…")
    }

    /// The text, shortened, and who can have written it.
    public var description: String {
        let text = "metadata “\(shown)” (\(byteCount) \(byteCount == 1 ? "byte" : "bytes"))"
        guard let form else { return "\(text), which is not pushfan's: another program commits with this group id" }
        return "\(text), written by a newer pushfan (form \(form)) or by another program that commits with this group id"
    }

    /// The remedies for an operator, the likeliest first.
    ///
    /// - Parameter partitions: The partitions as `group start` takes them, such as `push.requests.v1:0`. The first five are named.
    /// - Returns: A sentence without a full stop.
    public func remedy(for partitions: [String]) -> String {
        let names = partitions.prefix(5).joined(separator: " ") + (partitions.count > 5 ? " …" : "")
        let start =
            "stop the group's workers, then: `pushfan group start --at finished --replace \(names)`; or give them another kafka.group_id"
        return form == nil ? start : "start that newer version; if there is none, \(start)"
    }
}
