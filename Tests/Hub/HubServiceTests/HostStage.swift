import HTTPServing
import HubAuth
import HubServer
import Observability
import PushModel
import Synchronization
import TestSupport

@testable import HubService

/// A host with a clock of its own, called through its handler with signed requests.
final class HostStage {
    /// The moment at which every test begins: 2026-01-01T00:00:00Z.
    static let start: Int64 = 1_767_225_600_000
    static let key = "c2VjcmV0LW9mLXRlc3RzLXdoaWNoLWlzLW5vdC1vbmU="

    let folder: TemporaryFolder
    let host: HubHost
    let metrics = HubMetrics(build: BuildFacts(version: "1", swift: "6")) { ProcessReadings() }
    let health = Health()
    let lines: LogLines

    /// Lines of a log.
    final class LogLines: Sendable {
        private let texts = Mutex<[String]>([])

        var all: [String] { texts.withLock { $0 } }

        func add(_ line: [UInt8]) { texts.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
    }

    /// A host of hubs with these names, each with a file in a folder.
    init(
        _ names: [String] = ["shop"], in folder: TemporaryFolder? = nil, configure: (inout HubsConfiguration) -> Void = { _ in },
        open: @escaping HubParts.Opening = HubParts.open
    ) throws {
        let (folder, lines) = (try folder ?? TemporaryFolder(), LogLines())
        (self.folder, self.lines) = (folder, lines)
        var configuration = HubsConfiguration(hubs: [])
        configuration.listen = "127.0.0.1:0"
        configuration.opensDevices = true
        configuration.hubs = names.map { Self.hub($0, in: folder) }
        configure(&configuration)
        host = try HubHost(
            configuration, metrics: metrics,
            log: Log(format: .json, level: .debug, now: { Self.start }, sink: { lines.add($0) }), health: health,
            clock: { Self.start }, open: open)
    }

    deinit { host.stop(within: .seconds(5)) }

    /// A hub with its file in a folder, and a policy with all rights whose key is the one of tests and the name.
    static func hub(_ name: String, in folder: TemporaryFolder) -> HubsConfiguration.Hub {
        var hub = HubsConfiguration.Hub(name: name, state: folder.path("\(name).db"))
        hub.policies = [HubPolicy(name: "root", key: key + name, rights: .all)]
        return hub
    }

    static func token(of hub: String, policy: String = "root", key: String? = nil) throws -> String {
        let token = try SASToken.sign(
            resource: "http://127.0.0.1/\(hub)", policy: policy, key: SecretKey(key ?? Self.key + hub),
            expiry: start / 1000 + 3600, style: .dotNet)
        return String(decoding: token.headerValue, as: UTF8.self)
    }

    /// Calls the host from an address, with a token or without.
    func call(
        _ method: String, _ target: String, _ body: String = "", token: String? = nil, from address: String = "127.0.0.1:4711",
        headers more: HTTPFields = [:]
    ) -> HTTPServerResponse {
        var headers: HTTPFields = ["Host": "127.0.0.1"]
        if let token { headers.append("Authorization", value: token) }
        for field in more.all { headers.append(field.name, value: field.value) }
        return host.handle(
            HTTPServerRequest(
                method: method, target: target, headers: headers, body: Array(body.utf8), remoteAddress: address))
    }

    /// Registers an installation, with the hub's own token if no other is given.
    func register(
        _ id: String, at hub: String = "shop", tags: [String] = [], token: String? = nil
    ) throws -> HTTPServerResponse {
        let installation = JSONObject([
            "installationId": id, "platform": "fcmv1", "pushChannel": "handle-\(id)", "tags": tags,
        ])
        return call(
            "PUT", "/\(hub)/installations/\(id)?api-version=2020-06", String(decoding: installation.bytes, as: UTF8.self),
            token: try token ?? Self.token(of: hub))
    }
}

extension HTTPServerResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}
