internal import Basics
internal import PushModel

/// The content of a native payload's headers that matters for the rest of the call.
struct NativeHeaders {
    /// The headers that are named already, so that nothing from the request is put beside them.
    struct Names: OptionSet {
        let rawValue: UInt8
        static let expiry = Self(rawValue: 1 << 0)
        static let priority = Self(rawValue: 1 << 1)
        static let collapseID = Self(rawValue: 1 << 2)
        static let pushType = Self(rawValue: 1 << 3)
    }

    /// Headers of one payload at most, as in the contract.
    static let maximumCount = 16

    private(set) var names: Names = []
    private(set) var isVoIP = false
    private(set) var isBackground = false
    /// True if Apple may show the push: the type is `alert`, or the hub finds one.
    private(set) var mayAlert = true
    /// True if `apns-priority` is 10.
    private(set) var hasHighestPriority = false
    private(set) var wnsType: WNSType?

    /// Checks the headers in `object` and appends them to `lines` as they are. Throws `PayloadError` for a name that is no token
    /// (RFC 9110, section 5.6.2), that stands twice or that only the hub call itself may set, and for a value with anything but
    /// printable ASCII, blanks and tabs, or that the push service of `platform` refuses.
    mutating func read(
        _ object: JSONDocument.Node, of request: PushRequest, for platform: Platform, into lines: inout ByteWriter
    ) throws(PayloadError) {
        let document = request.document
        guard document.kind(of: object) == .object, document.childCount(of: object) <= Self.maximumCount else {
            throw .rejected(
                document.pointer(to: object), because: "headers must be an object with at most \(Self.maximumCount) members.")
        }
        try document.forEachMember(of: object) { (key, value) throws(PayloadError) in
            let name = document.span(key)
            if let fault = Self.fault(inName: name) ?? Self.fault(inValue: value, in: document) {
                throw .rejected(document.pointer(to: value), because: fault)
            }
            if Self.occurrences(of: key, in: object, of: document) > 1 {
                throw .rejected(document.pointer(to: value), because: "This header stands twice; case makes no difference.")
            }
            let text = document.span(document.text(of: value))
            if let fault = note(name, value: text, for: platform) { throw .rejected(document.pointer(to: value), because: fault) }
            lines.append(name)
            lines.append(": ")
            lines.append(text)
            lines.endLine()
        }
    }

    /// Remembers what matters of one header. The rule of `platform` that it breaks, as a sentence, or nil.
    mutating func note(_ name: Span<UInt8>, value: Span<UInt8>, for platform: Platform) -> String? {
        for rule in PushServiceRules.headers(for: platform) where rule.isBroken(by: name, value: value) { return rule.sentence }
        if name.equalsIgnoringCase("x-wns-type") {
            wnsType = WNSType.allCases.first { value.equalsIgnoringCase($0.headerValue) }
        } else if name.isHeader("apns-push-type") {
            names.insert(.pushType)
            isVoIP = value.equalsIgnoringCase("voip")
            isBackground = value.equalsIgnoringCase("background")
            mayAlert = value.equalsIgnoringCase("alert")
        } else if name.isHeader("apns-expiration") || name.equalsIgnoringCase("servicebusnotification-apns-expiry")
            || name.equalsIgnoringCase("x-wns-ttl")
        {
            names.insert(.expiry)
        } else if name.isHeader("apns-priority") || name.equalsIgnoringCase("x-wns-priority") {
            names.insert(.priority)
            hasHighestPriority = name.isHeader("apns-priority") && value.equalsIgnoringCase("10")
        } else if name.isHeader("apns-collapse-id") || name.equalsIgnoringCase("x-wns-tag") {
            names.insert(.collapseID)
        }
        return nil
    }

    private static func occurrences(
        of key: JSONDocument.Text, in object: JSONDocument.Node, of document: JSONDocument
    ) -> Int {
        var count = 0
        document.forEachMember(of: object) { other, _ in
            if document.span(other).equalsIgnoringCase(document.span(key)) { count += 1 }
        }
        return count
    }

    private static func fault(inName name: Span<UInt8>) -> String? {
        if name.isEmpty { return "A header has no name." }
        for index in 0..<name.count where !isTokenByte(name[index]) {
            return "A header's name may hold only letters, digits and the signs ! # $ % & ' * + - . ^ _ ` | ~."
        }
        return isReserved(name) ? "This header is set by the hub call itself and cannot be given." : nil
    }

    private static func fault(inValue node: JSONDocument.Node, in document: JSONDocument) -> String? {
        guard document.kind(of: node) == .string else { return "A header's value must be a string." }
        let value = document.span(document.text(of: node))
        for index in 0..<value.count where value[index] != 0x09 && (value[index] < 0x20 || value[index] > 0x7E) {
            return "A header's value may hold only printable ASCII characters, blanks and tabs."
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "-") || "!#$%&'*+.^_`|~".utf8.contains(byte)
    }

    /// Names that decide who is reached, who is asking and how the connection is used.
    private static let reservedNames: [StaticString] = [
        "authorization", "host", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect", "accept",
        "accept-encoding", "cookie", "user-agent", "trackingid", "date", "via", "forwarded", "http2-settings", "p256dh", "auth",
    ]
    private static let reservedPrefixes: [StaticString] = ["content-", "proxy-", "x-ms-", "x-http-method", "x-forwarded-"]

    /// The service bus headers name tags, format, handle and schedule. Only the expiry is the publisher's.
    private static func isReserved(_ name: Span<UInt8>) -> Bool {
        if name.holdsIgnoringCase("servicebusnotification-") {
            return !name.equalsIgnoringCase("servicebusnotification-apns-expiry")
        }
        for reserved in reservedNames where name.equalsIgnoringCase(reserved) { return true }
        for prefix in reservedPrefixes where name.holdsIgnoringCase(prefix) { return true }
        return false
    }
}
