import Foundation

/// The tutorial's iOS app, and that of its older edition: both register alike, and differ in what they send.
///
/// It is the app's own order of calls: first the token, then the login, which registers; success enables the button for sending.
final class IOSApp {
    /// How iOS describes the bytes of a token, from which the app takes its text.
    enum Description {
        /// All bytes between angle brackets, four by four: before iOS 13.
        case whole
        /// Length, first and last bytes: since iOS 13.
        case elided
    }

    let session: AppSession
    /// What Apple gave to the app; nil until it comes, and another one may come at any start.
    var token: [UInt8]?
    /// What `NSUserDefaults` keeps: nil after an installation.
    private(set) var registrationID: String?
    /// Whether the button for sending is enabled.
    private(set) var canSend = false
    private let description: Description
    private var authenticationHeader = ""

    init(_ port: Int, token: [UInt8]? = nil, description: Description = .whole) {
        session = AppSession(port: port)
        self.token = token
        self.description = description
    }

    /// The token as the app sends it.
    var handle: String {
        let token = self.token ?? []
        let text =
            switch description {
            case .whole: "<" + Self.groups(token[...]).joined(separator: " ") + ">"
            case .elided:
                "{length = \(token.count), bytes = 0x" + Self.groups(token.prefix(16)).joined() + " ... "
                    + Self.groups(token.suffix(8)).joined() + " }"
            }
        return text.trimmingCharacters(in: CharacterSet(charactersIn: "<>")).replacing(" ", with: "").uppercased()
    }

    /// The login button, which a token enables; without one nothing happens.
    ///
    /// - Throws: `AppSession.Failure` with the status that the app shows.
    func logIn(_ name: String, _ password: String, tags: [String] = []) throws {
        guard token != nil else { return }
        authenticationHeader = Data("\(name):\(password)".utf8).base64EncodedString()
        try register(tags, mayRetry: true)
        canSend = true
    }

    private func register(_ tags: [String], mayRetry: Bool) throws {
        let handle = self.handle
        let status = try upsert(try storedOrRequestedID(handle), handle, tags)
        if status == 200 { return }
        // The stored id is not removed: the second round finds it again.
        if status == 410, mayRetry { return try register(tags, mayRetry: false) }
        throw AppSession.Failure(status: status)
    }

    private func storedOrRequestedID(_ handle: String) throws -> String {
        if let registrationID { return registrationID }
        // What no URL may have is escaped by the system, and by nobody before iOS 17.
        let query = handle.replacing("{", with: "%7B").replacing("}", with: "%7D")
        let answer = try session.call("POST", "/api/register?handle=\(query)", fields)
        guard answer.status == 200 else { throw AppSession.Failure(status: answer.status) }
        let id = AppText.cut(answer.body)
        registrationID = id
        return id
    }

    private func upsert(_ id: String, _ handle: String, _ tags: [String]) throws -> Int {
        // As `NSJSONWritingPrettyPrinted` writes it.
        let list = tags.isEmpty ? "\n" : "\n" + tags.map { "    \"\($0)\"" }.joined(separator: ",\n")
        let json = """
            {
              "Platform" : "apns",
              "Handle" : "\(handle)",
              "Tags" : [\(list)
              ]
            }
            """
        return try session.call("PUT", "/api/register/\(id)", fields + ["Content-Type: application/json"], json).status
    }

    /// The button for sending: one call for each platform whose switch is on, of `wns`, `gcm` and `apns`; gives their statuses.
    ///
    /// Nothing that was typed is escaped.
    func send(_ text: String, to user: String, on services: [String]) throws -> [Int] {
        try services.map { service in
            try session.call(
                "POST", "/api/notifications?pns=\(service)&to_tag=\(user)",
                fields + ["Content-Type: application/json;charset=utf-8"], AppText.quoted(text)
            ).status
        }
    }

    /// The older edition's button: no query and no body.
    func sendToMyself() throws -> Int { try session.call("POST", "/api/notifications", fields).status }

    private var fields: [String] {
        [
            "Authorization: Basic \(authenticationHeader)", "Accept: */*", "Accept-Language: en-us",
            "Accept-Encoding: gzip, deflate", "User-Agent: NotifyUsers/1 CFNetwork/897.15 Darwin/17.5.0",
        ]
    }

    private static func groups(_ bytes: ArraySlice<UInt8>) -> [String] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map { start in
            bytes[start..<min(start + 4, bytes.endIndex)]
                .map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        }
    }
}
