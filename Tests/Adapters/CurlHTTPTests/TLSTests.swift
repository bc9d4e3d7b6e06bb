import Crypto
import EventLoop
import Foundation
import HTTP1
import TestSupport
import Testing

@testable import CurlHTTP

@Suite(.tags(.c)) struct TLSTests {
    private static func loop(
        _ server: TLSServer, host: String = "localhost", adjusting: (inout ConnectionPoolConfiguration) -> Void = { _ in }
    ) throws -> PoolLoop {
        var configuration = ConnectionPoolConfiguration(scheme: .https, host: host, port: server.port)
        configuration.proxy = ""
        configuration.connectTimeout = farDeadline
        configuration.caFile = server.authority
        adjusting(&configuration)
        return try PoolLoop(configuration)
    }

    /// Lets the loop run on this thread while another plays the server.
    private static func exchange(
        _ loop: PoolLoop, _ server: TLSServer, _ id: Int, _ answer: String, _ request: [UInt8] = PoolLoop.request(),
        unasked: String? = nil, isWhole: @escaping @Sendable (String) -> Bool = { $0.contains("\r\n\r\n") }
    ) throws -> Completion? {
        nonisolated(unsafe) let server = server
        let answered = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { answered.signal() }
            guard let request = try? server.request(isWhole), request.contains("POST /x HTTP/1.1\r\n") else { return }
            try? server.answer(answer)
            if let unasked { try? server.answer(unasked) }
        }
        defer { _ = answered.wait(timeout: .now() + 300) }
        return try loop.exchange(id, request)
    }

    @Test(arguments: [["-tls1_3"], ["-tls1_2"]])
    func aTrustedServerOfTheRightNameIsUsedAgainAndAgain(_ version: [String]) throws {
        let server = try TLSServer(name: "DNS:localhost", arguments: version)
        let loop = try Self.loop(server)
        for id in 0..<5 {
            let completion = try Self.exchange(loop, server, id, Answers.ok("secret \(id)"))
            #expect(completion?.body == "secret \(id)", "\(String(describing: completion?.failure))")
            // libcurl has seen the tickets, and is in the way of no further byte.
            #expect(loop.pool.connections.first?.tls != nil)
        }
        #expect(loop.pool.connectionsOpened == 1)
        #expect(loop.pool.openConnections == 1)
    }

    @Test(arguments: [["-tls1_3"], ["-tls1_2"]]) func aSecondConnectionResumesTheSessionOfTheFirst(_ version: [String]) throws {
        let server = try TLSServer(name: "DNS:localhost", arguments: version)
        let loop = try Self.loop(server)
        #expect(try Self.exchange(loop, server, 1, Answers.closing)?.status == 201)
        #expect(!server.log.contains("Reused session-id"))
        #expect(try Self.exchange(loop, server, 2, Answers.created)?.status == 201)
        #expect(server.log.contains("Reused session-id"))
        #expect(loop.pool.connectionsOpened == 2)
    }

    @Test(arguments: [1, 16 << 10, 40_000, 300_000]) func aRequestOfManyRecordsArrivesWhole(_ byteCount: Int) throws {
        let server = try TLSServer(name: "DNS:localhost")
        let loop = try Self.loop(server)
        let body = String(repeating: "x", count: byteCount) + "-the end-"
        for id in 0..<3 {
            let completion = try Self.exchange(loop, server, id, Answers.ok("\(id)"), PoolLoop.request(body)) {
                $0.contains("x-the end-")
            }
            #expect(completion?.body == "\(id)", "\(String(describing: completion?.failure))")
        }
        #expect(loop.pool.connectionsOpened == 1)
    }

    /// In a record of its own, which may stand in the socket or in OpenSSL's memory when the next request begins.
    @Test func whatAServerSaysUnaskedIsNeverAnAnswer() throws {
        let server = try TLSServer(name: "DNS:localhost")
        let loop = try Self.loop(server)
        for id in 0..<6 {
            let completion = try Self.exchange(loop, server, id, Answers.ok("\(id)"), unasked: Answers.ok("unasked"))
            #expect(completion?.body == "\(id)" || completion?.failure != nil)
            _ = try loop.run { _ in loop.pool.openConnections == 0 }
        }
        #expect(loop.pool.openConnections == 0)
    }

    // A handshake with a server that is gone writes, too. By itself this test finds a process in which nobody else has done it.
    @Test func brokenPipesAreIgnoredBeforeTheFirstConnection() throws {
        let loop = try PoolLoop(ConnectionPoolConfiguration(scheme: .https, host: "localhost", port: 1))
        var found = sigaction()
        sigaction(SIGPIPE, nil, &found)
        #expect(unsafeBitCast(found.__sigaction_handler.sa_handler, to: Int.self) == 1)
        #expect(loop.pool.openConnections == 0)
    }

    @Test(arguments: [0, 1]) func aServerThatDiesLeavesAFailureAndAProcessThatLives(_ exchangesBefore: Int) throws {
        let server = try TLSServer(name: "DNS:localhost")
        let loop = try Self.loop(server)
        for id in 0..<exchangesBefore { #expect(try Self.exchange(loop, server, id, Answers.created)?.status == 201) }
        server.kill()
        // A connection that was in use a moment ago takes the request before its end is noticed.
        let failure = try #require(try loop.exchange(9, PoolLoop.request(String(repeating: "x", count: 1 << 20)))?.failure)
        #expect(exchangesBefore > 0 || failure.requestBytesSent == false)
        #expect(loop.pool.openConnections == 0)
    }

    @Test func anAnswerThatEndsWithoutNoticeIsNoAnswer() throws {
        let server = try TLSServer(name: "DNS:localhost")
        let loop = try Self.loop(server)
        #expect(try Self.exchange(loop, server, 1, Answers.created)?.status == 201)
        nonisolated(unsafe) let dying = server
        let isDead = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { isDead.signal() }
            _ = try? dying.request()
            try? dying.answer("HTTP/1.1 200 OK\r\n\r\nhalf")
            dying.kill()
        }
        defer { _ = isDead.wait(timeout: .now() + 300) }
        let failure = try #require(try loop.exchange(2)?.failure)
        #expect(failure.bodySent)
        #expect(failure.reason == .reset || failure.reason == .closedBeforeAnswer)
    }

    @Test func anotherAuthorityIsRefused() throws {
        let server = try TLSServer(name: "DNS:localhost")
        let loop = try Self.loop(server) { $0.caFile = server.stranger }
        let failure = try #require(try loop.exchange()?.failure)
        #expect(failure.reason == .certificate)
        #expect(failure.curlCode == 60)
        #expect(failure.requestBytesSent == false)
        #expect(loop.pool.openConnections == 0)
    }

    @Test func theSystemsAuthoritiesDoNotTrustIt() throws {
        let server = try TLSServer(name: "DNS:localhost")
        let loop = try Self.loop(server) { $0.caFile = nil }
        #expect(try loop.exchange()?.failure?.reason == .certificate)
    }

    @Test(arguments: ["DNS:other.example", "DNS:*.localhost", "IP:127.0.0.2"]) func anotherNameIsRefused(_ name: String) throws {
        let server = try TLSServer(name: name)
        let loop = try Self.loop(server)
        let failure = try #require(try loop.exchange()?.failure)
        #expect(failure.reason == .certificate)
        #expect(failure.detail.contains("localhost"))
    }

    @Test func anAddressInTheCertificateIsAccepted() throws {
        let server = try TLSServer(name: "IP:127.0.0.1")
        let loop = try Self.loop(server, host: "127.0.0.1")
        #expect(try Self.exchange(loop, server, 1, Answers.created)?.status == 201)
    }

    @Test func anUnverifiedConnectionIsMadeOnlyWhenAskedFor() throws {
        let server = try TLSServer(name: "DNS:other.example")
        let loop = try Self.loop(server) { $0.verifyPeer = false }
        #expect(try Self.exchange(loop, server, 1, Answers.created)?.status == 201)
    }

    @Test func anOldProtocolVersionIsRefused() throws {
        let server = try TLSServer(name: "DNS:localhost", arguments: ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
        let loop = try Self.loop(server)
        #expect(try loop.exchange()?.failure?.reason == .tls)
    }

    @Test func aPlainServerIsNoTLSServer() throws {
        let server = try ScriptedServer([[.bytes(10), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close]])
        var configuration = ConnectionPoolConfiguration(scheme: .https, host: "127.0.0.1", port: server.port)
        configuration.proxy = ""
        configuration.connectTimeout = farDeadline
        #expect(try PoolLoop(configuration).exchange()?.failure?.reason == .tls)
    }

    @Test func aStoreThatCannotBeLoadedIsNamed() throws {
        #expect(throws: CertificateStore.Failure.self) { try CertificateStore(file: "/nonexistent/ca.pem") }
        #expect(throws: CertificateStore.Failure.self) { try CertificateStore(file: "/dev/null") }
        var configuration = ConnectionPoolConfiguration(scheme: .https, host: "localhost")
        configuration.caFile = "/nonexistent/ca.pem"
        #expect(throws: ConnectionPool.SetupFailure.self) { try PoolLoop(configuration) }
    }
}
