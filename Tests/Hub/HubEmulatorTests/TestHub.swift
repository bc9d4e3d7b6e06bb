import HTTPServing
import HubAuth
import PushModel
import Synchronization
import Testing

@testable import HubEmulator
@testable import HubServer

/// A hub with a clock of its own, called through its handler with signed requests.
final class TestHub: Sendable {
    let hub: EmulatedHub
    private let now: TestClock
    private let policy: HubPolicy

    /// The moment at which every test begins: 2026-01-01T00:00:00Z.
    static let start: Int64 = 1_767_225_600_000

    init(_ configure: (inout HubEmulatorConfiguration) -> Void = { _ in }) throws {
        var configuration = HubEmulatorConfiguration()
        configuration.hubName = "newshub"
        configuration.seed = 7
        configure(&configuration)
        let clock = TestClock(Self.start)
        now = clock
        policy = try #require(configuration.policies.first)
        hub = try EmulatedHub(configuration, clock: { clock.milliseconds })
    }

    /// Moves the clock on.
    func advance(seconds: Int64) { now.advance(milliseconds: seconds * 1000) }

    /// A token of the first policy for the hub, valid for an hour.
    func token(policy other: HubPolicy? = nil) throws -> String {
        let policy = other ?? policy
        let token = try SASToken.sign(
            resource: "http://127.0.0.1/newshub", policy: policy.name, key: SecretKey(policy.key),
            expiry: now.milliseconds / 1000 + 3600, style: .dotNet)
        return String(decoding: token.headerValue, as: UTF8.self)
    }

    /// Calls the hub; without a query the newest api-version is asked for.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ headers: HTTPFields = [:], _ body: String = "", policy: HubPolicy? = nil
    ) throws -> HTTPServerResponse {
        var fields: HTTPFields = ["Host": "127.0.0.1", "Authorization": try token(policy: policy)]
        for field in headers.all { fields.append(field.name, value: field.value) }
        var target = path.hasPrefix("/") ? path : "/newshub/" + path
        if !path.contains("api-version") { target += (path.contains("?") ? "&" : "?") + "api-version=2020-06" }
        return hub.handle(
            HTTPServerRequest(method: method, target: target, headers: fields, body: Array(body.utf8)))
    }

    /// Sends natively or by template; `tags` nil is a broadcast, `body` nil one that the push service takes.
    @discardableResult
    func send(
        _ format: String, to tags: String? = nil, _ body: String? = nil, _ more: HTTPFields = [:],
        query: String = ""
    ) throws -> HTTPServerResponse {
        var headers: HTTPFields = ["ServiceBusNotification-Format": format]
        if let tags { headers.append("ServiceBusNotification-Tags", value: tags) }
        for field in more.all { headers.append(field.name, value: field.value) }
        let usual = format.lowercased() == "fcmv1" ? #"{"message":{}}"# : #"{"aps":{"alert":"x"}}"#
        return try call("POST", "messages\(query)", headers, body ?? usual)
    }

    func register(_ id: String, _ platform: String, tags: [String] = [], user: String? = nil, templates: [String: String] = [:])
        throws
    {
        try hub.register(
            EmulatedDevice(id: id, platform: platform, handle: "handle-\(id)", userID: user, tags: tags, templates: templates))
    }

    /// The ids of the devices on which something rang, with the bodies.
    var rung: [String: [String]] {
        var rung: [String: [String]] = [:]
        for device in hub.devices() where device.rungCount > 0 {
            rung[String(device.handle.dropFirst("handle-".count))] = device.rung.map(\.body)
        }
        return rung
    }
}

/// A clock that moves when it is told to.
final class TestClock: Sendable {
    private let now: Mutex<Int64>

    init(_ start: Int64) { now = Mutex(start) }

    var milliseconds: Int64 { now.withLock { $0 } }

    func advance(milliseconds: Int64) { now.withLock { $0 += milliseconds } }
}

extension HTTPServerResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The detail of an error without tracking id and time; nil for any other body.
    var detail: String? {
        guard let start = text.firstRange(of: "<Detail>"), let end = text.firstRange(of: ".TrackingId:") else { return nil }
        return String(text[start.upperBound..<end.lowerBound])
    }
}
