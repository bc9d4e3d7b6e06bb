import Basics
import GatewayAPI
import HTTPServing
import PushModel

/// The query of `POST /api/notifications`: `pns` and `to_tag` together, or neither; `secure` for a push without its text.
///
/// Names and the words of `pns` may have any case. Other members are passed over.
struct NotifyQuery: Sendable, Equatable {
    /// The platform to send to; nil for all.
    let platform: Platform?
    /// The name of the user to send to; nil for the caller.
    let recipient: String?
    /// Whether the push carries an id in place of the text.
    let isSecure: Bool

    /// Reads a query.
    ///
    /// - Parameters:
    ///   - items: The decoded items, `+` being a plus (`HTTPServerRequest.percentDecodedQuery`).
    ///   - isAlwaysSecure: `gateway.secure_push` is `always`.
    /// - Throws: 400 for an unknown `pns`, for what is no user's name, for one of `pns` and `to_tag` where both must be, and for a member that stands twice.
    init(_ items: [HTTPServerRequest.QueryItem], isAlwaysSecure: Bool = false) throws(APIProblem) {
        let query = QueryItems(items)
        isSecure = try Self.isTrue(query.value("secure")) || isAlwaysSecure
        recipient = try query.value("to_tag")
        if let word = try query.value("pns") {
            guard let known = Self.platform(word) else { throw .invalid("pns must be apns, fcm, gcm, fcmv1 or wns.") }
            platform = known
        } else {
            platform = nil
        }
        if let recipient, !UserName.isAddressable(recipient) {
            throw .invalid("to_tag is no user's name; one has \(UserName.addressableRule).")
        }
        if platform != nil, recipient == nil { throw .invalid("pns needs to_tag: the name of the user to send to.") }
        if platform == nil, recipient != nil, !isSecure { throw .invalid("to_tag needs pns: the platform to send to.") }
    }

    private static func platform(_ word: String) -> Platform? {
        let platform = RegisterBody.platform(word)
        return platform == .browser ? nil : platform
    }

    private static func isTrue(_ word: String?) throws(APIProblem) -> Bool {
        switch word?.lowercased() {
        case nil, "false": return false
        case "true": return true
        default: throw .invalid("secure must be true or false.")
        }
    }
}

/// The body of `POST /api/notifications`: one JSON string.
enum NotifyBody {
    /// The most bytes of a body.
    package static let maximumByteCount = JSONBody.maximumByteCount

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - contentType: The header field; nil when there is none.
    /// - Returns: The text, which may be empty; nil for a body of no bytes.
    /// - Throws: 400 for what is not one JSON string, such as a text with a quotation mark in it that the app did not escape; 413, 415.
    static func text(_ body: [UInt8], contentType: String?) throws(APIProblem) -> String? {
        guard !body.isEmpty else { return nil }
        let document = try JSONBody.read(body, contentType: contentType)
        guard document.kind(of: document.root) == .string else {
            throw .invalid([
                RequestFault(.schemaInvalid, at: "", message: "The body must be one JSON string, the text in quotation marks.")
            ])
        }
        return document.string(document.text(of: document.root))
    }
}
