import Basics

/// The one form in which a device's handle is sent to, stored at the hub, looked up there and hashed.
///
/// Every entrance reads handles here: requests, files of audiences, apps that register, and the emulated hub. Handles are secrets: no problem
/// repeats any of one.
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
    /// The most bytes of a handle as it is written.
    public static let maximumByteCount = 4096

    /// Brings a handle into its form.
    ///
    /// - Parameters:
    ///   - handle: The handle as an app sends it. Of an Apple token, brackets and blanks are taken off, and case does not matter.
    ///   - platform: Its platform.
    /// - Returns: For Apple 2 to 512 upper-case hexadecimal digits, an even number; for browsers the JSON object of `endpoint`, `p256dh`
    ///   and `auth`; else 1 to 4,096 visible characters of ASCII, as they were.
    /// - Throws: ``Problem``.
    public static func normalForm(_ handle: String, on platform: Platform) throws(Problem) -> String {
        var form = ByteWriter(capacity: handle.utf8.count)
        try appendNormalForm(of: handle.utf8Span.span, on: platform, to: &form)
        return form.text
    }

    /// Appends the form that `normalForm` returns.
    ///
    /// - Parameters:
    ///   - handle: The handle as an app sends it, in UTF-8.
    ///   - platform: Its platform.
    ///   - form: Gets the form. Nothing is appended of what is no handle.
    /// - Throws: ``Problem``.
    public static func appendNormalForm(
        of handle: Span<UInt8>, on platform: Platform, to form: inout ByteWriter
    ) throws(Problem) {
        guard !handle.isEmpty else { throw .empty }
        // Blanks and brackets count, too: nobody sends pages of them.
        guard handle.count <= maximumByteCount else { throw .tooLong }
        switch platform {
        case .apple: try appendDigits(handle, to: &form)
        case .browser: try appendSubscription(handle, to: &form)
        case .fcmv1, .gcm, .windows, .adm, .baidu, .xiaomi:
            guard CharacterClass.visible.matches(handle) else { throw .invisibleCharacter }
            form.append(handle)
        }
    }

    /// Checks a handle whose platform is not known: one that no platform takes is refused.
    static func checkOnAny(_ handle: Span<UInt8>) throws(Problem) {
        var form = ByteWriter()
        for platform in [Platform.apple, .browser] {
            do throws(Problem) { return try appendNormalForm(of: handle, on: platform, to: &form) } catch {}
        }
        try appendNormalForm(of: handle, on: .fcmv1, to: &form)
    }

    /// True for a handle that has its form already. Never for one of a browser, which is a text in JSON.
    static func isNormalForm(_ handle: Span<UInt8>, on platform: Platform) -> Bool {
        switch platform {
        case .apple: return handle.count.isMultiple(of: 2) && 1...maximumDigitCount ~= handle.count && isUpperCase(handle)
        case .browser: return false
        case .fcmv1, .gcm, .windows, .adm, .baidu, .xiaomi:
            return 1...maximumByteCount ~= handle.count && CharacterClass.visible.matches(handle)
        }
    }

    private static func isUpperCase(_ digits: Span<UInt8>) -> Bool {
        for index in digits.indices where !(digits[index].isDigit || digits[index] &- 0x41 < 6) { return false }
        return true
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

    private static func isLeftOut(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), 0x20, 0x09, 0x0A, 0x0D: true
        default: false
        }
    }

    private static func appendDigits(_ handle: Span<UInt8>, to form: inout ByteWriter) throws(Problem) {
        var (count, digitCount) = (0, 0)
        for index in handle.indices where !isLeftOut(handle[index]) {
            count += 1
            if handle[index].isHexadecimalDigit { digitCount += 1 }
        }
        guard count > 0 else { throw .empty }
        guard digitCount == count else { throw isElided(handle) ? .elided : .notHexadecimal }
        guard digitCount <= maximumDigitCount else { throw .tooLong }
        guard digitCount.isMultiple(of: 2) else { throw .oddDigitCount }
        for index in handle.indices where !isLeftOut(handle[index]) {
            form.append(handle[index].isDigit ? handle[index] : handle[index] & 0xDF)
        }
    }

    /// `{length=32,bytes=0x6f2a…}` in any case, or what is left of it in a column that ends at the comma.
    private static func isElided(_ handle: Span<UInt8>) -> Bool {
        var text = ByteWriter(capacity: handle.count)
        for index in handle.indices where !isLeftOut(handle[index]) { text.append(handle[index].lowercased) }
        return text.text.contains("{length=")
    }

    /// Appends the JSON object with its three members in one order, whatever the app's was.
    private static func appendSubscription(_ handle: Span<UInt8>, to form: inout ByteWriter) throws(Problem) {
        var document = JSONDocument()
        do { try document.read(handle) } catch { throw .noSubscription }
        guard let endpoint = text("endpoint", in: document), let key = text("p256dh", in: document),
            let secret = text("auth", in: document)
        else { throw .noSubscription }
        form.append("{\"endpoint\":", json: document.span(endpoint))
        form.append(",\"p256dh\":", json: document.span(key))
        form.append(",\"auth\":", json: document.span(secret))
        form.append("}")
    }

    /// The member's text, if it has one of visible ASCII.
    private static func text(_ name: StaticString, in document: borrowing JSONDocument) -> JSONDocument.Text? {
        guard let node = document.member(name, of: document.root), document.kind(of: node) == .string else { return nil }
        let text = document.text(of: node)
        return !text.isEmpty && CharacterClass.visible.matches(document.span(text)) ? text : nil
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
