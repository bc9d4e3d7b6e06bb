import Foundation

/// The tutorial's Windows app: its channel as handle, a tag of its own, and an id that it asks for without telling the handle.
final class WindowsApp {
    let session: AppSession
    let channel: String
    /// What the settings keep under `__NHRegistrationId`.
    private(set) var registrationID: String?
    private var token = ""

    init(_ port: Int, channel: String) {
        session = AppSession(port: port)
        self.channel = channel
    }

    /// The login button.
    ///
    /// - Throws: `AppSession.Failure` with the status that the app shows.
    func logIn(_ name: String, _ password: String) throws {
        token = Data("\(name):\(password)".utf8).base64EncodedString()
        var status = try upsert(try storedOrRequestedID())
        if status == 410 {
            registrationID = nil
            status = try upsert(try storedOrRequestedID())
        }
        guard status == 200 || status == 202 else { throw AppSession.Failure(status: status) }
    }

    private func storedOrRequestedID() throws -> String {
        if let registrationID { return registrationID }
        // `new StringContent("")` has a type, too.
        let answer = try session.call("POST", "/api/register", fields + ["Content-Type: text/plain; charset=utf-8"])
        guard (200..<300).contains(answer.status) else { throw AppSession.Failure(status: answer.status) }
        let id = AppText.cut(answer.body)
        registrationID = id
        return id
    }

    private func upsert(_ id: String) throws -> Int {
        let json = #"{"Platform":"wns","Handle":"\#(channel)","Tags":["myTag"]}"#
        return try session.call(
            "PUT", "/api/register/\(id)", fields + ["Content-Type: application/json; charset=utf-8"], json
        ).status
    }

    /// The button for sending: one call for each platform that is on. The app ignores what is answered.
    ///
    /// - Returns: The status of each call.
    func send(_ text: String, to user: String, on services: [String]) throws -> [Int] {
        try services.map { service in
            try session.call(
                "POST", "/api/notifications?pns=\(service)&to_tag=\(user)",
                fields + ["Content-Type: application/json; charset=utf-8"], AppText.quoted(text)
            ).status
        }
    }

    private var fields: [String] { ["Authorization: Basic \(token)"] }
}
