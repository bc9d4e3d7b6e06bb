import Console
import Foundation
import HubEmulator

/// The calls of apps over HTTP: they register and send at the gateway, and subscribe to news at the hub.
struct DemoApps {
    private let stage: DemoStage
    private let text: DemoText
    private let calls: DemoCalls

    init(_ stage: DemoStage, text: DemoText) {
        self.stage = stage
        self.text = text
        calls = DemoCalls(stage: stage, text: text)
    }

    func play() throws {
        try text.heading("5  An app's back end: users sign in, register devices, and send to one another")
        try api("fay", password: "wrong", method: "POST", path: "/register") { _ in "a wrong password, on purpose" }
        for device in DemoDevice.apps { try register(device) }
        try send("gus", over: "apns", to: "fay", text: "Lunch?")
        try send("gus", over: "wns", to: "fay", text: "Lunch?")
        try api("fay", method: "POST", path: "/notifications")
        try sendSecretly("gus", to: "fay", text: "The code is 4711")
        // The hub gives up: nothing rings, and its telemetry reports this.
        stage.hub.script([
            try TelemetryScript(parsing: "state=Abandoned,tags=username:gus,count=1"),
            try TelemetryScript(parsing: "refuse=AbandonedNotificationMessages,device=gus-registration-token,count=1"),
        ])
        try api("fay", method: "POST", path: "/notifications?pns=fcm&to_tag=gus", json: "\"Where are you?\"") { _ in
            "nothing rang: the hub gives up, on purpose"
        }
        try text.heading("   Breaking news: apps register templates at the hub, and news go to categories")
        let news = DemoNews(stage: stage, calls: calls)
        for device in DemoDevice.subscribers { try news.subscribe(device) }
        try news.send("Breaking Politics News : it works", to: "Politics")
        try news.send("Breaking News : in one expression", to: "Politics || Science")
    }

    private func register(_ device: DemoDevice) throws {
        let handle = device.emulated.handle
        let answer = try api(
            device.user, method: "POST", path: "/register?handle=\(handle)",
            shown: "/register?handle=\(Self.short(handle, to: 20))"
        ) { body in "id \(Self.short(Self.cut(body), to: 8))" }
        guard answer.status == 200 else { throw CommandFailure(.failed, "the gateway did not give \(device.name) an id") }
        let id = Self.cut(answer.body)
        let json = #"{"Platform":"\#(device.emulated.platform)","Handle":"\#(handle)","Tags":[]}"#
        try api(device.user, method: "PUT", path: "/register/\(id)", shown: "/register/\(Self.short(id, to: 8))", json: json) {
            _ in
            "\(device.name) is registered"
        }
    }

    private func send(_ user: String, over service: String, to other: String, text: String) throws {
        try api(user, method: "POST", path: "/notifications?pns=\(service)&to_tag=\(other)", json: "\"\(text)\"")
    }

    /// Pushes an id in place of a text. The app that it wakes fetches the text, which no other user can fetch.
    private func sendSecretly(_ user: String, to other: String, text: String) throws {
        try api(user, method: "POST", path: "/notifications?secure=true&to_tag=\(other)", json: "\"\(text)\"")
        let rung = stage.hub.devices().flatMap(\.rung)
        guard let id = rung.compactMap({ Self.secretID($0.body) }).last else {
            throw CommandFailure(.failed, "no device got the id of the text")
        }
        let path = "/notifications/\(id)"
        try api(other, method: "GET", path: path, shown: "/notifications/\(Self.short(id, to: 8))") { body in body }
        try api(user, method: "GET", path: path, shown: "/notifications/\(Self.short(id, to: 8))") { _ in
            "on purpose: it is not the sender's to read"
        }
    }

    /// The id that a push carries, or nil for a push with a text.
    private static func secretID(_ body: String) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?["secureId"] as? String
    }

    /// Makes a call of the gateway's API in a user's name.
    @discardableResult
    private func api(
        _ user: String, password: String? = nil, method: String, path: String, shown: String? = nil, json: String = "",
        comment: ((String) -> String)? = nil
    ) throws -> (status: Int, body: String) {
        let credentials = Data("\(user):\(password ?? user)".utf8).base64EncodedString()
        var fields = [(name: "Authorization", value: "Basic \(credentials)")]
        if !json.isEmpty { fields.append((name: "Content-Type", value: "application/json")) }
        return try calls.make(
            user, shown: "\(method) /api\(shown ?? path)", method: method, url: "\(stage.gateway.url)/api\(path)", fields: fields,
            body: json, comment: comment)
    }

    /// The text of a JSON string, as the tutorials' apps read it: the quotation marks are cut off.
    private static func cut(_ body: String) -> String { String(body.dropFirst().dropLast()) }

    private static func short(_ text: String, to length: Int) -> String {
        text.count > length ? "\(text.prefix(length))…" : text
    }
}
