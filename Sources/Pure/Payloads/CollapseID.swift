internal import Basics
internal import PushModel

/// The identity under which a device replaces an earlier notification instead of showing another.
///
/// It is the request's `collapse_key`; a request without one gets an identity of its own, from `id` and `source`, so that a call
/// that had to be repeated rings once. The same request has the same identity in every worker and after every restart, and a replay
/// has that of the request which it repeats, a part that of the whole.
struct CollapseID {
    /// Bytes that `apns-collapse-id` may have at most (Apple, "Sending notification requests to APNs").
    static let maximumByteCount = 64
    /// Characters that `X-WNS-Tag` may have at most, only letters and digits (WNS request headers).
    static let maximumTagLength = 16
    /// The bytes that remain of 64 beside a hyphen and 16 digits.
    private static let prefixByteCount = 47

    private let text: JSONDocument.Text
    /// Ids are unique for one source only. Two publishers' notifications must not replace one another.
    private let source: JSONDocument.Text?

    /// The identity of `request`, or nil when it names none and none is derived.
    init?(of request: borrowing PushRequest, isDerived: Bool) {
        if let key = request.collapseKey {
            text = key
            source = nil
        } else if isDerived && !request.id.isEmpty {
            var root: JSONDocument.Node?
            if let replay = request.replay { root = request.document.member("root_request_id", of: replay) }
            if root == nil, let parent = request.parent { root = request.document.member("id", of: parent) }
            if let root { text = request.document.text(of: root) } else { text = request.id }
            source = request.source
        } else {
            return nil
        }
    }

    /// Appends the identity as at most 64 characters that need no escape, neither in a header nor in JSON: visible ASCII without
    /// quotation mark and backslash.
    ///
    /// A text that is such stands as it is. Of any other the first 47 bytes stand, with `_` for what may not, then a hyphen and
    /// the digest of the whole.
    func append(to writer: inout ByteWriter, from document: JSONDocument) {
        let bytes = document.span(text)
        if source == nil && bytes.count <= Self.maximumByteCount && Self.isPlain(bytes) {
            writer.append(bytes)
            return
        }
        let prefix = bytes.extracting(first: Self.prefixByteCount)
        if Self.isPlain(prefix) {
            writer.append(prefix)
        } else {
            for index in prefix.indices { writer.append(Self.isPlain(prefix[index]) ? prefix[index] : UInt8(ascii: "_")) }
        }
        writer.append("-")
        writer.append(hexadecimal: digest(in: document))
    }

    /// Appends the identity as at most 16 letters and digits: the text itself if it is such, else its digest.
    func appendTag(to writer: inout ByteWriter, from document: JSONDocument) {
        let bytes = document.span(text)
        if source == nil && bytes.count <= Self.maximumTagLength && Self.isAlphanumeric(bytes) {
            writer.append(bytes)
        } else {
            writer.append(hexadecimal: digest(in: document))
        }
    }

    /// The 64-bit FNV-1a digest of source, NUL and text, or of the text alone (draft-eastlake-fnv, section 2).
    private func digest(in document: JSONDocument) -> UInt64 {
        var hash = FNV1a()
        if let source {
            hash.add(document.span(source))
            hash.add(0)
        }
        hash.add(document.span(text))
        return hash.value
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
        for index in 0..<bytes.count where !isPlain(bytes[index]) { return false }
        return true
    }

    private static func isAlphanumeric(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where !bytes[index].isLetterOrDigit { return false }
        return true
    }
}
