import Foundation
import TestSupport
import Testing

@testable import CurlHTTP

/// Calls to a hub behind a proxy that the environment names. The hub's name has no address, so what arrives has come through it.
@Suite(.tags(.c)) struct ProxyTests {
    typealias Steps = [ScriptedServer.Step]

    /// How proxy and hub are reached.
    struct Way: Sendable, CustomTestStringConvertible {
        let proxy: ConnectionPoolConfiguration.Scheme
        let hub: ConnectionPoolConfiguration.Scheme
        var testDescription: String { "\(hub) through \(proxy)" }

        /// The variables that may name the proxy, the first that counts first.
        var variables: [String] {
            hub == .https ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] : ["http_proxy", "all_proxy", "ALL_PROXY"]
        }

        static let all = [
            Way(proxy: .http, hub: .http), Way(proxy: .http, hub: .https), Way(proxy: .https, hub: .http),
            Way(proxy: .https, hub: .https),
        ]
        static let secureProxies = all.filter { $0.proxy == .https }
        static let secureHubs = all.filter { $0.hub == .https }
    }

    /// A pool, and the TLS before proxy and hub.
    private final class Stage {
        let loop: PoolLoop
        private let certificate: ServerCertificate
        private let fronts: [TLSFront]

        init(
            _ way: Way, by variable: String? = nil, proxy: UInt16, hub: UInt16 = 9,
            adjusting: (inout ConnectionPoolConfiguration) -> Void = { _ in }
        ) throws {
            let certificate = try ServerCertificate(hosts: ["hub.test", "127.0.0.1"])
            var fronts: [TLSFront] = []
            func front(_ scheme: ConnectionPoolConfiguration.Scheme, _ port: UInt16) throws -> UInt16 {
                if scheme == .http { return port }
                let front = try TLSFront(certificate, before: port)
                fronts.append(front)
                return front.port
            }
            var configuration = ConnectionPoolConfiguration(scheme: way.hub, host: "hub.test", port: try front(way.hub, hub))
            let variable = variable ?? way.variables[0]
            let proxyPort = try front(way.proxy, proxy)
            configuration.environment = [variable: "\(way.proxy.rawValue)://user:CANARY%40word@127.0.0.1:\(proxyPort)"]
            configuration.caFile = certificate.certificateFile
            configuration.connectTimeout = farDeadline
            adjusting(&configuration)
            loop = try PoolLoop(configuration)
            (self.certificate, self.fronts) = (certificate, fronts)
        }

        func exchange(_ id: Int = 1, _ request: [UInt8] = PoolLoop.request()) throws -> Completion? {
            try withExtendedLifetime((certificate, fronts)) { try loop.exchange(id, request) }
        }

        /// So many exchanges, all begun before the first has ended.
        func exchanges(_ count: Int) throws -> [Completion] {
            try withExtendedLifetime((certificate, fronts)) {
                for id in 0..<count { loop.submit(id) }
                return try loop.completions(count)
            }
        }
    }

    private static let established = "HTTP/1.1 200 Connection established\r\n\r\n"

    // MARK: Calls that arrive

    @Test(arguments: Way.all) func everyCallOnOneConnectionIsAnswered(_ way: Way) throws {
        let answers = (0..<12).map { String(repeating: "y", count: $0 * 9_000) }
        let hub = try ScriptedServer { _ in answers.flatMap { [.request, .send(Answers.ok($0))] as Steps } + [.untilClosed] }
        let proxy = try ConnectProxy()
        let stage = try Stage(way, proxy: proxy.port, hub: hub.port)
        for (id, answer) in answers.enumerated() {
            let request = PoolLoop.request(String(repeating: "x", count: id * 9_000))
            let completion = try #require(try stage.exchange(id, request))
            #expect(completion.body == answer, "\(String(describing: completion.failure))")
        }
        #expect(stage.loop.pool.connectionsOpened == 1)
        #expect(hub.requests.count == 12)
        let asked = try #require(proxy.requests.first)
        #expect(proxy.requests.count == 1 && asked.hasPrefix("CONNECT hub.test:"))
        #expect(asked.contains("\r\nProxy-Authorization: Basic \(Data("user:CANARY@word".utf8).base64EncodedString())\r\n"))
        #expect(!hub.requests.contains { $0.contains("Proxy-") })
    }

    @Test(arguments: Way.all) func everyCallOfManyAtOnceIsAnswered(_ way: Way) throws {
        let steps: Steps = (0..<12).flatMap { _ in [.request, .send(Answers.created)] as Steps } + [.untilClosed]
        let hub = try ScriptedServer { _ in steps }
        let proxy = try ConnectProxy()
        let stage = try Stage(way, proxy: proxy.port, hub: hub.port) { $0.maxConnections = 4 }
        let completions = try stage.exchanges(12)
        #expect(completions.count == 12)
        for completion in completions { #expect(completion.status == 201, "\(String(describing: completion.failure))") }
        #expect(hub.requests.count == 12)
    }

    /// What else the environment says, and whether it exempts the hub.
    private static let exemptions: [(environment: [String: String], exempts: Bool)] = [
        ([:], false), (["no_proxy": "other.test", "NO_PROXY": "*"], false), (["NO_PROXY": ".test"], true),
    ]

    /// The hub's name has an address here, so that calls arrive without the proxy, too.
    @Test(arguments: Way.all, ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    func everyCallArrivesAndGoesThroughTheProxyThatCounts(_ way: Way, _ variable: String) throws {
        let steps: Steps = (0..<12).flatMap { _ in [.request, .send(Answers.created)] as Steps } + [.untilClosed]
        for (environment, exempts) in Self.exemptions {
            let hub = try ScriptedServer { _ in steps }
            let proxy = try ConnectProxy()
            let stage = try Stage(way, by: variable, proxy: proxy.port, hub: hub.port) {
                $0.addresses = ["127.0.0.1"]
                $0.maxConnections = 2
                $0.environment.merge(environment) { $1 }
            }
            let completions = try stage.exchanges(12)
            #expect(completions.count == 12)
            for completion in completions {
                #expect(completion.status == 201, "\(String(describing: completion.failure))")
            }
            #expect(hub.requests.count == 12)
            let isUsed = way.variables.contains(variable) && !exempts
            #expect(proxy.requests.isEmpty == !isUsed, "\(environment)")
        }
    }

    @Test(arguments: Way.all) func aTunnelThatEndsBetweenTwoCallsCostsNothing(_ way: Way) throws {
        let steps: Steps = [.request, .send(Answers.created), .untilClosed]
        let hub = try ScriptedServer([steps, steps])
        let proxy = try ConnectProxy()
        let stage = try Stage(way, proxy: proxy.port, hub: hub.port)
        #expect(try stage.exchange(1)?.status == 201)
        proxy.breakOff()
        _ = try stage.loop.run { _ in stage.loop.pool.openConnections == 0 }
        #expect(try stage.exchange(2)?.status == 201)
        #expect(hub.requests.count == 2 && proxy.requests.count == 2)
    }

    @Test func anExemptHostIsCalledWithoutTheProxy() throws {
        let hub = try ScriptedServer([[.request, .send(Answers.created), .untilClosed]])
        let proxy = try ConnectProxy()
        var configuration = ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: hub.port)
        configuration.environment = ["http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "a.example,127.0.0.0/8"]
        #expect(try PoolLoop(configuration).exchange()?.status == 201)
        #expect(proxy.requests.isEmpty)
    }

    // MARK: Calls that do not leave

    @Test(arguments: Way.all, [403, 407, 502, 503]) func aRefusedTunnelLeavesEveryRequestUnsent(_ way: Way, _ status: Int) throws
    {
        let refusal = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n"
        let proxy = try ScriptedServer { _ in [.request, .send(refusal), .untilClosed] }
        let stage = try Stage(way, proxy: proxy.port)
        for id in 0..<12 {
            let failure = try #require(try stage.exchange(id)?.failure)
            #expect(failure.reason == .proxy)
            #expect(!failure.requestBytesSent && !failure.bodySent)
            #expect(failure.detail.contains("through the proxy \(way.proxy.rawValue)://127.0.0.1:"))
            #expect(failure.detail.contains("\(status)"))
            #expect(!"\(failure)".contains("CANARY") && !"\(failure)".contains("user"))
        }
        #expect(stage.loop.pool.openConnections == 0)
    }

    @Test(arguments: Way.all, [[.reset], [.close], [.request, .reset], [.request, .close]] as [Steps])
    func aProxyThatGoesAwayBeforeTheTunnelLeavesTheRequestUnsent(_ way: Way, _ steps: Steps) throws {
        let proxy = try ScriptedServer { _ in steps }
        let stage = try Stage(way, proxy: proxy.port)
        let failure = try #require(try stage.exchange()?.failure)
        let reasons: [TransportFailure.Cause] = [.proxy, .connect, .tls]
        #expect(reasons.contains(failure.reason))
        #expect(!failure.requestBytesSent && !failure.bodySent)
    }

    @Test(arguments: Way.all) func aProxyThatNeverOpensTheTunnelLeavesTheRequestUnsent(_ way: Way) throws {
        let proxy = try ScriptedServer { _ in [.request, .untilClosed] }
        let stage = try Stage(way, proxy: proxy.port) { $0.connectTimeout = .milliseconds(200) }
        let failure = try #require(try stage.exchange()?.failure)
        #expect(failure.reason == .connectTimeout)
        #expect(!failure.requestBytesSent && !failure.bodySent)
        #expect(failure.detail.contains("through the proxy \(way.proxy.rawValue)://127.0.0.1:"))
        #expect(!"\(failure)".contains("CANARY"))
    }

    @Test(arguments: Way.secureHubs, [[.reset], [.close]] as [Steps])
    func aProxyThatGoesAwayBeforeTheHubsHandshakeLeavesTheRequestUnsent(_ way: Way, _ end: Steps) throws {
        let proxy = try ScriptedServer { _ in [.request, .send(Self.established)] + end }
        let stage = try Stage(way, proxy: proxy.port)
        let failure = try #require(try stage.exchange()?.failure)
        #expect(!failure.requestBytesSent && !failure.bodySent)
    }

    /// The reset is there before the pool has read that the tunnel is open.
    @Test func aPlainTunnelThatIsResetAtOnceLeavesTheRequestUnsent() throws {
        let proxy = try HandServer()
        let client = PoolClient(
            try PoolLoop(port: 80, host: "hub.test") { $0.proxy = "http://127.0.0.1:\(proxy.port)" })
        client.start(isHead: false)
        let connection = try client.wait { proxy.accept() }
        _ = try client.wait { connection.takeRequest() }
        connection.send(Self.established.utf8)
        connection.reset()
        try client.wait { client.reading.map { _ in true } }
        let failure = try #require(client.failure)
        #expect(!failure.requestBytesSent && !failure.bodySent)
    }

    @Test(arguments: Way.secureProxies) func aProxyOfAnotherAuthorityIsRefused(_ way: Way) throws {
        let proxy = try ConnectProxy()
        let stage = try Stage(way, proxy: proxy.port) { $0.caFile = nil }
        let failure = try #require(try stage.exchange()?.failure)
        #expect(failure.reason == .certificate)
        #expect(!failure.requestBytesSent)
        #expect(failure.detail.contains("through the proxy https://127.0.0.1:"))
        #expect(proxy.requests.isEmpty)
    }

    // MARK: Calls that may have arrived

    @Test(arguments: Way.all) func aHubThatGoesAwayWithTheRequestIsAmbiguousAndNothingIsSentAgain(_ way: Way) throws {
        let hub = try ScriptedServer { _ in [.request, .send(Answers.created), .request, .reset] }
        let proxy = try ConnectProxy()
        let stage = try Stage(way, proxy: proxy.port, hub: hub.port)
        #expect(try stage.exchange(1)?.status == 201)
        let failure = try #require(try stage.exchange(2)?.failure)
        #expect(failure.reason == .reset || failure.reason == .closedBeforeAnswer)
        #expect(failure.requestBytesSent && failure.bodySent)
        #expect(hub.accepted == 1 && hub.requests.count == 2)
    }

    @Test(arguments: Way.all) func aProxyThatGoesAwayWithTheRequestIsAmbiguousAndTheNextCallHasANewTunnel(_ way: Way) throws {
        let hub = try ScriptedServer([
            [.request, .send(Answers.created), .request, .open(1), .untilClosed],
            [.request, .send(Answers.created), .untilClosed],
        ])
        let proxy = try ConnectProxy()
        let stage = try Stage(way, proxy: proxy.port, hub: hub.port)
        #expect(try stage.exchange(1)?.status == 201)
        stage.loop.submit(2)
        #expect(try stage.loop.run { _ in hub.isOpen(gate: 1) }.isEmpty)
        proxy.breakOff()
        let failure = try #require(try stage.loop.completions(1).first?.failure)
        #expect(failure.reason == .reset || failure.reason == .closedBeforeAnswer)
        #expect(failure.requestBytesSent && failure.bodySent)
        #expect(!"\(failure)".contains("CANARY"))
        #expect(hub.accepted == 1 && hub.requests.count == 2)
        #expect(try stage.exchange(3)?.status == 201)
        #expect(hub.requests.count == 3 && proxy.requests.count == 2)
    }

    // MARK: A proxy that cannot be read

    @Test(arguments: ["http://user:CANARY/word@p:1", "nosuch://user:CANARY@p:1", "http://user:CANARY@p:x"])
    func aProxyThatCannotBeReadIsRefusedWithoutItsLogin(_ proxy: String) throws {
        var configuration = ConnectionPoolConfiguration(scheme: .https, host: "hub.test")
        configuration.environment = ["all_proxy": proxy]
        let failure = try #require(throws: ConnectionPool.SetupFailure.self) { try PoolLoop(configuration) }
        #expect("\(failure)".contains("all_proxy") && !"\(failure)".contains("CANARY"))
    }
}
