import Basics
import EventLoop
import HTTP1
import TestSupport
import Testing

@testable import CurlHTTP

/// How many connections there are, where they go, and which of them a request may be written to.
@Suite(.tags(.c)) struct ConnectionTests {
    private static let created = Array(Answers.created.utf8)

    /// A client whose first exchange has left a kept connection.
    private static func keptConnection(_ server: HandServer) throws -> (PoolClient, HandConnection) {
        let client = PoolClient(try PoolLoop(port: server.port) { $0.maxConnections = 1 })
        let (_, connection) = try client.exchange([created[...]], with: server)
        #expect(client.loop.pool.openConnections == 1)
        return (client, connection)
    }

    private static func isCreated(_ reading: AnswerReading) -> Bool {
        if case .answer(status: 201, _, _, _) = reading { true } else { false }
    }

    // MARK: A kept connection that closes

    @Test func aCloseThatCameWithTheAnswerIsSeenBeforeTheNextRequest() throws {
        let server = try HandServer()
        let client = PoolClient(try PoolLoop(port: server.port))
        client.start(isHead: false)
        let first = try client.wait { server.accept() }
        _ = try client.wait { first.takeRequest() }
        // Both are there before the client looks.
        first.send(Self.created)
        first.finish()
        try client.wait { client.reading.map { _ in true } }
        let (reading, second) = try client.exchange([Self.created[...]], with: server)
        #expect(Self.isCreated(reading))
        #expect(second !== first)
        #expect(first.unread().isEmpty)
    }

    @Test func aResetBeforeTheFirstByteSendsTheRequestOnAnotherConnection() throws {
        let server = try HandServer()
        let (client, first) = try Self.keptConnection(server)
        first.reset()
        // The reset has come, but the pool has not been told.
        #expect(try !client.loop.poller.wait(until: .now().advanced(by: farDeadline)).isEmpty)
        let (reading, _) = try client.exchange([Self.created[...]], with: server)
        #expect(Self.isCreated(reading))
        #expect(client.loop.pool.connectionsOpened == 2)
    }

    @Test func aCloseAfterTheRequestIsAmbiguousAndNothingIsSentAgain() throws {
        let server = try HandServer()
        let (client, first) = try Self.keptConnection(server)
        client.start(isHead: false)
        _ = try client.wait { first.takeRequest() }
        first.finish()
        try client.wait { client.reading.map { _ in true } }
        let failure = try #require(client.failure)
        #expect(failure.reason == .closedBeforeAnswer)
        #expect(failure.requestBytesSent && failure.bodySent)
        #expect(server.accept() == nil)
    }

    @Test func aResetWithinTheRequestOnAKeptConnectionIsAmbiguousToo() throws {
        let server = try HandServer()
        let (client, first) = try Self.keptConnection(server)
        client.start(PoolLoop.request(String(repeating: "x", count: 32 << 20)))
        _ = try client.wait { first.unread().count > 1000 ? true : nil }
        first.reset()
        try client.wait { client.reading.map { _ in true } }
        let failure = try #require(client.failure)
        #expect(failure.reason == .reset)
        #expect(failure.requestBytesSent && !failure.bodySent)
        #expect(server.accept() == nil)
    }

    @Test(arguments: [true, false]) func anEarlyRefusalIsTakenWhetherOrNotTheServerResetsBehindIt(_ resets: Bool) throws {
        let server = try HandServer()
        let client = PoolClient(try PoolLoop(port: server.port))
        client.start(PoolLoop.request(String(repeating: "x", count: 32 << 20)))
        let connection = try client.wait { server.accept() }
        _ = try client.wait { connection.unread().isEmpty ? nil : true }
        connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno".utf8)
        if resets { connection.reset() }
        try client.wait { client.reading.map { _ in true } }
        #expect(
            client.reading
                == .answer(status: 413, fields: ["Content-Length=2"], body: Array("no".utf8), keepsConnection: false))
    }

    // MARK: How many, and where

    @Test func connectionsThatCloseAfterEachAnswerAreNeverMoreThanTheSetting() throws {
        let server = try ScriptedServer { _ in [.request, .send(Answers.closing), .untilClosed] }
        let loop = try PoolLoop(port: server.port) { $0.maxConnections = 3 }
        for id in 0..<60 { loop.submit(id) }
        var most = 0
        let completions = try loop.run {
            most = max(most, loop.pool.openConnections + loop.pool.connecting)
            return $0.count == 60
        }
        #expect(completions.allSatisfy { $0.status == 201 })
        #expect(most == 3)
        #expect(server.accepted == 60)
    }

    @Test func connectionsAreOpenedAsTheyAreNeeded() throws {
        let server = try ScriptedServer { _ in [.request, .gate(1), .send(Answers.created), .untilClosed] }
        let loop = try PoolLoop(port: server.port)
        #expect(loop.pool.openConnections == 0)
        for id in 1...3 {
            loop.submit(id)
            _ = try loop.run { _ in server.requests.count == id }
            #expect(loop.pool.openConnections == id)
        }
        server.open(gate: 1)
        #expect(try loop.completions(3).count == 3)
        #expect(server.accepted == 3)
    }

    @Test func connectionsAreSpreadOverAllAddressesOfTheName() throws {
        let addresses = ["127.0.0.1", "127.0.0.2"]
        let server = try HandServer(addresses: addresses)
        let loop = try PoolLoop(port: server.port, host: "hub.test") { $0.addresses = addresses }
        var used: [HandConnection] = []
        for id in 0..<24 { loop.submit(id) }
        _ = try loop.run { _ in
            while let connection = server.accept() { used.append(connection) }
            return used.count == 24
        }
        for address in addresses {
            // By chance less than 4 of 24 go to one of two addresses once in 3,000 runs; none at all once in 8 million.
            #expect(used.contains { $0.address == address })
        }
    }

    @Test func anAddressThatRefusesIsPassedOver() throws {
        let server = try HandServer()
        let client = PoolClient(
            try PoolLoop(port: server.port, host: "hub.test") { $0.addresses = ["127.0.0.2", "127.0.0.1"] })
        for _ in 0..<8 {
            let (reading, connection) = try client.exchange([Array(Answers.closing.utf8)[...]], with: server)
            #expect(Self.isCreated(reading))
            #expect(connection.address == "127.0.0.1")
        }
    }

    /// libcurl itself says that `localhost` is ::1 and 127.0.0.1.
    @Test(.enabled(if: HandServer.canListen(on: "::1"), "this machine has no ::1"))
    func everyConnectionLooksTheNameUpAgain() throws {
        let server = try HandServer(addresses: ["127.0.0.1", "::1"])
        let client = PoolClient(try PoolLoop(port: server.port, host: "localhost"))
        var used: Set<String> = []
        for _ in 0..<24 {
            let (reading, connection) = try client.exchange([Array(Answers.closing.utf8)[...]], with: server)
            #expect(Self.isCreated(reading))
            used.insert(connection.address)
        }
        // By chance all 24 go to one address once in 8 million runs.
        #expect(used == ["127.0.0.1", "::1"])
    }

    @Test func connectionsGrowOldAtDifferentTimesWithinTheLastQuarter() throws {
        let server = try ScriptedServer { _ in [.request, .gate(1), .send(Answers.created), .untilClosed] }
        let loop = try PoolLoop(port: server.port) { $0.maximumAge = .seconds(400) }
        let start = MonotonicTime.now()
        for id in 0..<16 { loop.submit(id) }
        _ = try loop.run { _ in loop.pool.openConnections == 16 }
        let end = MonotonicTime.now()
        server.open(gate: 1)
        let ends = loop.pool.connections.map(\.endOfLife)
        // Further apart than they were opened.
        let (first, last) = (try #require(ends.min()), try #require(ends.max()))
        #expect(last.nanoseconds(since: first) > end.nanoseconds(since: start))
        #expect(ends.allSatisfy { $0 >= start.advanced(by: .seconds(300)) && $0 <= end.advanced(by: .seconds(400)) })
        #expect(try loop.completions(16).count == 16)
    }

    @Test(arguments: [
        (ConnectionPoolConfiguration.Scheme.http, "", true, false), (.http, "http://127.0.0.1:1", true, false),
        (.http, "socks5h://127.0.0.1:1", true, false),
        (.http, "HTTPS://127.0.0.1:1", false, false), (.https, "", false, true), (.https, "http://127.0.0.1:1", false, true),
        (.https, "https://127.0.0.1:1", false, false),
    ])
    func onlyBytesThatNobodyElseEncryptsGoStraightToTheSocket(
        _ scheme: ConnectionPoolConfiguration.Scheme, _ proxy: String, _ isPlain: Bool, _ isSimplyTLS: Bool
    ) throws {
        var configuration = ConnectionPoolConfiguration(scheme: scheme, host: "127.0.0.1", port: 1)
        configuration.proxy = proxy
        let connector = try PoolLoop(configuration).pool.connector
        #expect(connector.isPlain == isPlain)
        #expect(connector.isSimplyTLS == isSimplyTLS)
    }
}
