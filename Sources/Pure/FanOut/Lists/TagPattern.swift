import Basics
import PushModel

/// The pattern around a name that makes it a tag, and around a tag that makes it one of several.
struct TagPattern: Sendable {
    /// The most characters that a name may have. The hub counts a tag's own prefix and suffix, but of the tags that it reserves
    /// only what stands between the braces.
    let longestName: Int
    /// True if a device can have the tags of two names. An installation has one id, and one user's.
    let mayRepeatOnDevice: Bool
    /// True if names are those of users, which have forms (`UserForm`).
    let areUsers: Bool
    fileprivate let opening: [UInt8]
    fileprivate let joint: [UInt8]
    fileprivate let suffix: [UInt8]

    init(prefix: String = "", suffix: String = "", areUsers: Bool = false) {
        let isReserved = prefix.utf8.first == UInt8(ascii: "$")
        longestName = HubTag.maxLength - (isReserved ? 0 : prefix.utf8.count + suffix.utf8.count)
        mayRepeatOnDevice = !isReserved
        self.areUsers = areUsers
        opening = Array("(\(prefix)".utf8)
        joint = Array("\(suffix) || \(prefix)".utf8)
        self.suffix = Array(suffix.utf8)
    }

    /// The length of the tag of a name with `count` characters, as the hub counts it.
    func tagLength(_ count: Int) -> Int { HubTag.maxLength - longestName + count }

    /// The fault of a name that makes too long a tag, without a pointer.
    func tooLong(_ count: Int) -> RequestFault {
        RequestFault(
            .tagExpressionInvalid, at: "",
            message: "The tag would have \(tagLength(count)) characters; \(HubTag.maxLength) are allowed.")
    }
}

/// Writes tags joined by OR, as many as one call takes.
struct TagJoiner: Sendable {
    private var start = 0
    private var count = 0

    /// True if no further tag has room.
    var isFull: Bool { count == TagExpression.maxTagsJoinedByOr }

    /// Writes the tag of `name` behind those before it. Allowed only as long as it is not full.
    mutating func add(_ name: Span<UInt8>, pattern: borrowing TagPattern, to bytes: inout ByteWriter) {
        if count == 0 {
            start = bytes.count
            bytes.append(pattern.opening.span)
        } else {
            bytes.append(pattern.joint.span)
        }
        bytes.append(name)
        count += 1
    }

    /// Ends the expression. Nil when there is no tag in it. The next tag begins another one.
    mutating func close(_ pattern: borrowing TagPattern, in bytes: inout ByteWriter) -> FanOutPlan.Tags? {
        guard count > 0 else { return nil }
        bytes.append(pattern.suffix.span)
        if count > 1 {
            bytes.append(UInt8(ascii: ")"))
        } else {
            // A single tag stands without the parenthesis that opened for it.
            start += 1
        }
        count = 0
        return FanOutPlan.Tags(start: start, end: bytes.count)
    }
}

extension TagPattern {
    /// The form of a name in its tag, or nil where the name is not changed. Throws the fault of a name that makes no tag,
    /// without a pointer. It does not repeat the name.
    func form(of name: Span<UInt8>) throws(RequestFault) -> [UInt8]? {
        if UserForm.isOwn(name, longest: longestName) { return nil }
        guard areUsers else {
            try check(name)
            return nil
        }
        guard let text = String(validating: name.indices.map { name[$0] }, as: UTF8.self), UserName.isAddressable(text) else {
            throw RequestFault(.tagExpressionInvalid, at: "", message: UserName.refusal)
        }
        let form = UserForm.requested(text, longest: longestName)
        guard form.count <= longestName else { throw tooLong(form.count) }
        return form
    }
}
