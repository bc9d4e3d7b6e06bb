import Crypto
import CurlHTTP
import EventLoop
import Foundation
import HTTP1
import Testing

struct TLSTests {
    private static func loop(
        _ server: TLSServer, host: String = "localhost", adjusting: (inout ConnectionPoolConfiguration) -> Void = { _ in }
    ) throws -> PoolLoop {
        var configuration = ConnectionPoolConfiguration(scheme: .https, host: host, port: server.port)
        configuration.proxy = ""
        configuration.caFile = server.authority
        adjusting(&configuration)
        return try PoolLoop(configuration)
    }

    /// Lets the loop run on this thread while another plays the server.
    private static func exchange(_ loop: PoolLoop, _ server: TLSServer, _ id: Int, _ answer: String) throws -> Completion? {
        nonisolated(unsafe) let server = server
        let answered = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { answered.signal() }
            guard let request = try? server.request(), request.contains("POST /x HTTP/1.1\r\n") else { return }
            try? server.answer(answer)
        }
        defer { _ = answered.wait(timeout: .now() + 20) }
        return try loop.exchange(id)
    }

    @Test(arguments: [["-tls1_3"], ["-tls1_2"]])
    func aTrustedServerOfTheRightNameIsUsedAgainAndAgain(_ version: [String]) throws {
        let server = try TLSServer(name: "DNS:localhost", arguments: version)
        let loop = try Self.loop(server)
        for id in 0..<5 {
            let completion = try Self.exchange(loop, server, id, Answers.ok("secret \(id)"))
            #expect(completion?.body == "secret \(id)", "\(String(describing: completion?.failure))")
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
