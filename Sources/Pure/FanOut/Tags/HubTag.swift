import PushModel

/// A tag that devices register with and audiences are made of, such as `username:alice` or `$InstallationId:{4f1c}`.
///
/// Case is kept as it was given; whether a device has the tag is decided without regard to case.
public struct HubTag: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a text is no tag.
    public enum Problem: Error, Sendable, Equatable {
        /// There is no text.
        case empty
        /// The tag, or the id between the braces, has this many characters. Only 120 are allowed.
        case tooLong(count: Int)
        /// The character at this byte offset is not allowed.
        case invalidCharacter(offset: Int)
        /// A `$` does not begin `$InstallationId:{…}` or `$UserId:{…}`.
        case malformedReservedTag
    }

    /// Most characters of a tag, and of the id in a reserved one ("Routing and tag expressions").
    public static let maxLength = TagText.maximumLength

    /// The tag as it was given, ASCII only.
    public let text: String
    /// The tag in lower case: what matching compares.
    public let folded: String

    /// Checks a tag.
    ///
    /// - Parameter text: 1…120 of the letters, digits and `_ @ # . : -`, or a reserved tag whose id may hold `=` too.
    /// - Throws: `HubTag.Problem`.
    public init(_ text: String) throws(Problem) { try self.init(bytes: Array(text.utf8)[...]) }

    /// The tag that one installation has.
    ///
    /// - Parameter id: The installation's id.
    /// - Returns: `$InstallationId:{id}`.
    /// - Throws: `HubTag.Problem`; an offset counts from the `$`.
    public static func installation(_ id: String) throws(Problem) -> HubTag {
        try HubTag("$InstallationId:{\(id)}")
    }

    /// The tag that the installations of one user have.
    ///
    /// - Parameter id: The user's id.
    /// - Returns: `$UserId:{id}`.
    /// - Throws: `HubTag.Problem`; an offset counts from the `$`.
    public static func user(_ id: String) throws(Problem) -> HubTag {
        try HubTag("$UserId:{\(id)}")
    }

    /// Checks a tag given in UTF-8.
    init(bytes: ArraySlice<UInt8>) throws(Problem) {
        let lower = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        let body = try Self.body(of: lower[...])
        guard !body.isEmpty else { throw bytes.isEmpty ? .empty : .malformedReservedTag }
        let isReserved = body.count < lower.count
        if let offset = body.firstIndex(where: { !($0.isTagCharacter || isReserved && $0 == UInt8(ascii: "=")) }) {
            throw .invalidCharacter(offset: offset)
        }
        guard body.count <= Self.maxLength else { throw .tooLong(count: body.count) }
        text = String(decoding: bytes, as: UTF8.self)
        folded = String(decoding: lower, as: UTF8.self)
    }

    /// The whole tag, or what stands between the braces of a reserved one.
    private static func body(of lower: ArraySlice<UInt8>) throws(Problem) -> ArraySlice<UInt8> {
        guard lower.first == UInt8(ascii: "$") else { return lower }
        guard lower.last == UInt8(ascii: "}"),
            let prefix = ["$installationid:{", "$userid:{"].first(where: { lower.starts(with: $0.utf8) })
        else { throw .malformedReservedTag }
        return lower.dropFirst(prefix.utf8.count).dropLast()
    }

    /// The tag as it was given.
    public var description: String { text }
}

extension HubTag.Problem: CustomStringConvertible {
    /// One plain sentence, without the tag.
    public var description: String {
        switch self {
        case .empty: "a tag cannot be empty"
        case .tooLong(let count): "a tag has at most \(HubTag.maxLength) characters, this one has \(count)"
        case .invalidCharacter(let offset):
            "the tag's character \(offset + 1) is not allowed; letters, digits, '_', '@', '#', '.', ':' and '-' are"
        case .malformedReservedTag: "a tag that begins with '$' must be $InstallationId:{id} or $UserId:{id}"
        }
    }
}

extension UInt8 {
    /// A letter, a digit or one of `_ @ # . : -`.
    var isTagCharacter: Bool { TagText.isCharacter(self) }
}
