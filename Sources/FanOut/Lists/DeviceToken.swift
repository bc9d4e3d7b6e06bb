import Basics
public import PushModel

/// The one form in which a device's handle is stored at the hub, looked up there and hashed.
///
/// Handles are secrets: no problem repeats any of one.
public enum DeviceToken {
    /// The reason why a text is no handle.
    public enum Problem: Error, Sendable, Equatable, CaseIterable {
        /// There is no text.
        case empty
        /// It is longer than a handle can be.
        case tooLong
        /// Half a byte is missing, or there is one too many.
        case oddDigitCount
        /// An Apple token has something else than hexadecimal digits in it.
        case notHexadecimal
        /// It is how iOS 13 and later describe a token, without the bytes in the middle.
        case elided
        /// It has blanks or what is not ASCII in it.
        case invisibleCharacter
        /// A browser's handle is not the JSON object of its endpoint and keys.
        case noSubscription
    }

    /// The most digits of an Apple token. Apple promises no length, and 64 is usual.
    public static let maximumDigitCount = 512
    /// The most bytes of another platform's handle.
    public static let maximumByteCount = HandleStream.maxHandleLength

    /// Brings a handle into its form.
    ///
    /// - Parameters:
    ///   - handle: The handle as an app sends it. Of an Apple token, brackets and blanks are taken off, and case does not matter.
    ///   - platform: Its platform.
    /// - Returns: For Apple 2 to 512 upper-case hexadecimal digits, an even number; for browsers the JSON object of `endpoint`, `p256dh`
    ///   and `auth`; else 1 to 4,096 visible characters of ASCII, as they were.
    /// - Throws: ``Problem``.
    public static func normalForm(_ handle: String, on platform: Platform) throws(Problem) -> String {
        // Blanks and brackets count, too: nobody sends pages of them.
        guard handle.utf8.count <= maximumByteCount else { throw .tooLong }
        switch platform {
        case .apple: return try appleForm(handle)
        case .browser: return try subscription(handle)
        case .fcmv1, .gcm, .windows, .adm, .baidu, .xiaomi:
            guard !handle.isEmpty else { throw .empty }
            guard handle.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .invisibleCharacter }
            return handle
        }
    }

    /// The text that is the same for two texts of one device: the normal form, or the handle as it stands where it has none.
    ///
    /// - Parameters:
    ///   - handle: A handle, in whatever form.
    ///   - platform: Its platform; nil for one that pushfan does not know.
    /// - Returns: A text that is the same for the same device.
    public static func identity(of handle: String, on platform: Platform?) -> String {
        guard let platform else { return handle }
        do { return try normalForm(handle, on: platform) } catch { return handle }
    }

    /// The text whose SHA-256 is a handle's fingerprint: the normal form of an Apple token, any other handle as it stands.
    ///
    /// - Parameters:
    ///   - handle: A handle, as the hub or a push service tells it.
    ///   - platform: Its platform; nil for one that pushfan does not know.
    /// - Returns: The text whose UTF-8 is hashed.
    public static func hashedForm(of handle: String, on platform: Platform?) -> String {
        platform == .apple ? identity(of: handle, on: platform) : handle
    }

    private static func appleForm(_ handle: String) throws(Problem) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(handle.utf8.count)
        var isHexadecimal = true
        for byte in handle.utf8 {
            switch byte {
            case UInt8(ascii: "<"), UInt8(ascii: ">"), 0x20, 0x09, 0x0A, 0x0D: continue
            case _ where byte.isHexadecimalDigit: digits.append(byte.isDigit ? byte : byte & 0xDF)
            default:
                isHexadecimal = false
                digits.append(byte)
            }
        }
        guard !digits.isEmpty else { throw .empty }
        guard isHexadecimal else { throw isElided(digits) ? .elided : .notHexadecimal }
        guard digits.count <= maximumDigitCount else { throw .tooLong }
        guard digits.count.isMultiple(of: 2) else { throw .oddDigitCount }
        return String(decoding: digits, as: UTF8.self)
    }

    /// `{length=32,bytes=0x6f2a…}`, in any case and without its blanks.
    private static func isElided(_ text: [UInt8]) -> Bool {
        let folded = String(decoding: text, as: UTF8.self).lowercased()
        return folded.contains("length=") && folded.contains("bytes=")
    }

    /// The JSON object with its three members in one order, whatever the app's was.
    private static func subscription(_ handle: String) throws(Problem) -> String {
        guard !handle.isEmpty else { throw .empty }
        var document = JSONDocument()
        let bytes = Array(handle.utf8)
        do { try document.read(bytes.span) } catch { throw .noSubscription }
        guard let endpoint = text("endpoint", in: document), let key = text("p256dh", in: document),
            let secret = text("auth", in: document)
        else { throw .noSubscription }
        var form = ByteWriter(capacity: bytes.count)
        form.append("{\"endpoint\":")
        form.append(json: endpoint)
        form.append(",\"p256dh\":")
        form.append(json: key)
        form.append(",\"auth\":")
        form.append(json: secret)
        form.append("}")
        return form.text
    }

    /// The member's text, if it has one of visible ASCII.
    private static func text(_ name: StaticString, in document: JSONDocument) -> String? {
        guard let node = document.member(name, of: document.root), document.kind(of: node) == .string else { return nil }
        let text = document.string(document.text(of: node))
        return !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? text : nil
    }
}

extension DeviceToken.Problem: CustomStringConvertible {
    /// One plain sentence with the remedy.
    public var description: String {
        switch self {
        case .empty: "There is no handle."
        case .tooLong:
            "The handle is too long: an Apple token has at most \(DeviceToken.maximumDigitCount) hexadecimal digits, any other handle "
                + "\(DeviceToken.maximumByteCount) bytes."
        case .oddDigitCount: "The token has an odd number of hexadecimal digits; each byte has two."
        case .notHexadecimal: "The token has something else than hexadecimal digits in it; hex-encode the bytes of the token."
        case .elided:
            "This is the description of a token and not the token: since iOS 13 it leaves out the bytes in the middle. "
                + "Hex-encode the bytes instead: token.map { String(format: \"%02x\", $0) }.joined()"
        case .invisibleCharacter: "A handle holds visible ASCII characters, no blanks."
        case .noSubscription: "The handle of a browser is the JSON object of its endpoint, p256dh and auth."
        }
    }
}
