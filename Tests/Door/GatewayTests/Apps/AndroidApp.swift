import Foundation

/// The tutorial's Android app: the id of Google's messaging as handle, no tags, and the word `gcm` or, in later editions, `fcm`.
final class AndroidApp {
    let session: AppSession
    let handle: String
    /// What the preferences keep under `ANHRegistrationId`.
    private(set) var registrationID: String?
    private let word: String
    private var authorization = ""

    init(_ port: Int, handle: String, word: String = "gcm") {
        session = AppSession(port: port)
        self.handle = handle
        self.word = word
    }

    /// The login button.
    ///
    /// - Throws: `AppSession.Failure` with the status that the app shows.
    func logIn(_ name: String, _ password: String) throws {
        authorization = Data("\(name):\(password)".utf8).base64EncodedString()
        var status = try upsert(try storedOrRequestedID())
        if status == 410 {
            registrationID = nil
            status = try upsert(try storedOrRequestedID())
        }
        guard status == 200 else { throw AppSession.Failure(status: status) }
    }

    private func storedOrRequestedID() throws -> String {
        if let registrationID { return registrationID }
        let answer = try session.call("POST", "/api/register?handle=\(handle)", fields)
        guard answer.status == 200 else { throw AppSession.Failure(status: answer.status) }
        let id = AppText.cut(answer.body)
        registrationID = id
        return id
    }

    private func upsert(_ id: String) throws -> Int {
        let json = #"{"Platform":"\#(word)","Handle":"\#(handle)","Tags":[]}"#
        return try session.call("PUT", "/api/register/\(id)", fields + ["Content-Type: application/json"], json).status
    }

    /// The button for sending: one call for each platform that is ticked.
    ///
    /// - Returns: The status of each call; the app takes 200 alone for success.
    func send(_ text: String, to user: String, on services: [String]) throws -> [Int] {
        try services.map { service in
            try session.call(
                "POST", "/api/notifications?pns=\(service)&to_tag=\(user)", fields + ["Content-Type: application/json"],
                AppText.quoted(text)
            ).status
        }
    }

    private var fields: [String] {
        ["Authorization: Basic \(authorization)", "Connection: Keep-Alive", "User-Agent: Apache-HttpClient"]
    }
}
