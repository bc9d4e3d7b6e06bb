import Crypto
import EventLoop
import Foundation
import HTTPServing
import TestSupport
import Testing
import TokenIssuer

@testable import UserTokens

/// Keys that change, and places of keys that are away.
@Suite(.tags(.threads, .c)) struct KeyRotationTests {
    private let stage: Stage
    private let rsa: TokenIssuer
    private let ec: TokenIssuer

    init() throws {
        stage = try Stage()
        (rsa, ec) = try Issuers.known()
    }

    /// A server of keys whose answer can change.
    private final class Server {
        let answer: Box<HTTPServerResponse>
        let requests = Box<[String]>([])
        let url: String
        private let server: HTTPServer

        init(_ keys: String) throws {
            answer = Box(.text(keys))
            server = HTTPServer { [answer, requests] request in
                requests.withLock { $0.append("\(request.method) \(request.target) \(request.headers["Authorization"] ?? "-")") }
                return answer.withLock { $0 }
            }
            url = "http://\(try server.start())/keys?tenant=a"
        }

        func stop() { server.stop(within: .zero) }

        deinit { stop() }
    }

    private func check(_ verifier: TokenVerifier, token issuer: TokenIssuer) throws -> TokenVerifier.Outcome {
        verifier.check("Bearer \(try issuer.token(goodClaims))")
    }

    /// A token that says when it was made.
    private func made(at second: Int) throws -> String {
        "Bearer \(try ec.token(goodClaims.replacing("}", with: #","iat":\#(second)}"#)))"
    }

    /// A token whose key no set has.
    private func unknown() throws -> String {
        "Bearer \(try ec.token(goodClaims, header: #"{"alg":"ES256","kid":"../../dev/null"}"#))"
    }

    /// Has the keys read again, as tokens of unknown keys do that come every 11 seconds, until a read has led to something.
    private func readAgain(_ verifier: TokenVerifier, until isDone: () throws -> Bool) throws {
        let unknown = try unknown()
        #expect(
            try eventually {
                stage.pass(.seconds(11))
                _ = verifier.check(unknown)
                return try isDone()
            })
    }

    @Test func anAddressIsAskedAtTheStartAndForUnknownKeys() throws {
        let server = try Server(TokenIssuer.set(rsa))
        let verifier = try stage.verifier(Stage.configuration(.url(server.url)))
        #expect(try check(verifier, token: rsa) == .unavailable(1000))
        verifier.start()
        defer { verifier.stop() }
        #expect(try eventually { try check(verifier, token: rsa) == user("alice") })
        #expect(verifier.state == .healthy)
        #expect(try check(verifier, token: ec) == .refused, "the read has just been, and has no such key")

        server.answer.withLock { $0 = .text((try? TokenIssuer.set(rsa, ec)) ?? "") }
        #expect(try check(verifier, token: ec) == .refused)
        stage.pass(.seconds(11))
        #expect(verifier.check(try unknown()) == .unavailable(1000), "a read begins")
        #expect(try eventually { try check(verifier, token: ec) == user("alice") })
        #expect(try check(verifier, token: rsa) == user("alice"))
        #expect(verifier.check(try unknown()) == .refused)
        #expect(server.requests.withLock { Set($0) } == ["GET /keys?tenant=a -"])
        #expect(server.requests.withLock { $0.count } == 2)
    }

    @Test func aKeyThatIsNotListedAnyMoreStopsCountingAlsoForTokensThatWereRight() throws {
        let server = try Server(TokenIssuer.set(rsa, ec))
        let verifier = try stage.verifier(Stage.configuration(.url(server.url)))
        verifier.start()
        defer { verifier.stop() }
        let token = "Bearer \(try rsa.token(goodClaims))"
        #expect(eventually { verifier.check(token) == user("alice") })
        server.answer.withLock { $0 = .text((try? TokenIssuer.set(ec)) ?? "") }
        try readAgain(verifier) { verifier.keyCount == 1 }
        #expect(verifier.check(token) != user("alice"))
        #expect(try check(verifier, token: ec) == user("alice"))
    }

    @Test func aNewKeyOfTheSameNameReplacesTheOldOne() throws {
        let server = try Server(TokenIssuer.set(rsa))
        let verifier = try stage.verifier(Stage.configuration(.url(server.url)))
        verifier.start()
        defer { verifier.stop() }
        #expect(try eventually { try check(verifier, token: rsa) == user("alice") })
        let other = try Issuers.strangers().rsa
        server.answer.withLock { $0 = .text((try? TokenIssuer.set(other)) ?? "") }
        try readAgain(verifier) { try check(verifier, token: other) == user("alice") }
        #expect(try check(verifier, token: rsa) == .refused)
    }

    @Test(
        arguments: [
            (404, ""), (500, "{}"), (200, ""), (200, "<html>"), (200, #"{"keys":{}}"#), (200, #"{"keys":[],"keys":[]}"#),
            (204, ""), (200, String(repeating: " ", count: 1 << 20 | 1)),
        ])
    func whatIsNoSetKeepsTheKnownKeysAndIsSaidOnce(_ status: Int, body: String) throws {
        let server = try Server(TokenIssuer.set(rsa))
        let verifier = try stage.verifier(Stage.configuration(.url(server.url)))
        verifier.start()
        defer { verifier.stop() }
        #expect(try eventually { try check(verifier, token: rsa) == user("alice") })
        var answer = HTTPServerResponse.text(body)
        answer.status = status
        server.answer.withLock { [answer] in $0 = answer }
        stage.wallClock.withLock { $0 += 5000 }
        for count in 2...3 {
            try readAgain(verifier) { server.requests.withLock { $0.count } >= count && verifier.state != .healthy }
        }
        #expect(verifier.state == .stale(since: 1_700_000_005_000))
        #expect(try check(verifier, token: rsa) == user("alice"))

        server.answer.withLock { $0 = .text((try? TokenIssuer.set(rsa)) ?? "") }
        try readAgain(verifier) { verifier.state == .healthy }
        verifier.stop()
        let lines = stage.lines.withLock { $0 }
        #expect(lines.count { $0.contains("cannot be read") } == 1)
        #expect(lines.count { $0.contains("can be read again") } == 1)
        #expect(lines.allSatisfy { !$0.contains("<html>") })
    }

    @Test(arguments: [#"{"keys":[]}"#, #"{"keys":[{"kty":"oct","k":"AQ"}]}"#])
    func keysThatTheIssuerHasWithdrawnCountNoMoreAlsoWhereNoneIsLeft(_ body: String) throws {
        let server = try Server(TokenIssuer.set(rsa))
        let verifier = try stage.verifier(Stage.configuration(.url(server.url)))
        verifier.start()
        defer { verifier.stop() }
        let token = "Bearer \(try rsa.token(goodClaims))"
        #expect(eventually { verifier.check(token) == user("alice") })
        server.answer.withLock { $0 = .text(body) }
        try readAgain(verifier) { verifier.keyCount == 0 }
        #expect(verifier.state == .healthy)
        #expect(verifier.check(token) != user("alice"))
        #expect(eventually { stage.lines.withLock { $0.contains { $0.contains("no key of tokens is left") } } })

        server.answer.withLock { $0 = .text((try? TokenIssuer.set(rsa)) ?? "") }
        try readAgain(verifier) { verifier.check(token) == user("alice") }
        #expect(stage.lines.withLock { $0.allSatisfy { !$0.contains("oct") } })
    }

    @Test func aFileWhoseKeysAreWithdrawnCountsAndNoneIsStartedWith() throws {
        let verifier = try stage.verifier(TokenIssuer.set(rsa))
        verifier.start()
        defer { verifier.stop() }
        try stage.write(#"{"keys":[]}"#)
        try readAgain(verifier) { verifier.keyCount == 0 }
        #expect(verifier.state == .healthy)
        #expect(throws: TokenVerifier.Problem.self) { try stage.verifier(#"{"keys":[]}"#) }
    }

    @Test func aTokenOfAKeyThatWasListedAfterTheLastReadIsNotRefusedButToldToWait() throws {
        let server = try Server(TokenIssuer.set(rsa))
        let verifier = try stage.verifier(Stage.configuration(.url(server.url)))
        verifier.start()
        defer { verifier.stop() }
        #expect(try eventually { try check(verifier, token: rsa) == user("alice") })
        server.answer.withLock { $0 = .text((try? TokenIssuer.set(rsa, ec)) ?? "") }
        let (old, new) = (try made(at: 1_699_999_000), try made(at: 1_700_000_000))
        #expect(verifier.check(old) == .refused, "the read was after the token")
        #expect(verifier.check(new) == .unavailable(10_000))
        stage.pass(.seconds(11))
        #expect(eventually { verifier.check(new) == user("alice") })
    }

    @Test func aThreadThatGetsNoDescriptorSaysSoAndTriesAgain() throws {
        try stage.write(TokenIssuer.set(rsa))
        let isFirst = Box(true)
        let (clock, lines) = (stage.clock, stage.lines)
        let verifier = try TokenVerifier(
            Stage.configuration(.file(stage.folder.path("keys.json"))), log: stage.log, now: { clock.withLock { $0 } },
            wallClock: { 1_700_000_005_000 },
            makePoller: {
                let isFailure = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if isFailure { throw CancellationError() }
                return try Poller()
            }, retryPause: .milliseconds(1))
        verifier.start()
        defer { verifier.stop() }
        #expect(eventually { lines.withLock { $0.contains { $0.contains("cannot be read") } } })
        #expect(verifier.state == .stale(since: 1_700_000_005_000))
        #expect(try check(verifier, token: rsa) == user("alice"))
        try readAgain(verifier) { verifier.state == .healthy }
    }

    @Test func theAuthoritiesOfTheAddressAreThoseOfTheFile() throws {
        let certificate = try SelfSignedCertificate(hosts: ["127.0.0.1"])
        let other = try SelfSignedCertificate(hosts: ["127.0.0.1"])
        let identity = HTTPServerConfiguration.Identity(
            certificateChain: certificate.certificatePEM, privateKey: certificate.privateKeyPEM)
        let keys = try TokenIssuer.set(rsa)
        let server = HTTPServer(HTTPServerConfiguration(identity: identity)) { _ in .text(keys) }
        defer { server.stop(within: .zero) }
        let address = try server.start()
        for (authority, counts) in [(certificate, true), (other, false)] {
            let file = stage.folder.path("authority.pem")
            try authority.certificatePEM.write(toFile: file, atomically: true, encoding: .utf8)
            var configuration = Stage.configuration(.url("https://\(address)/"))
            configuration.authorityFile = file
            let verifier = try stage.verifier(configuration)
            verifier.start()
            let line = counts ? "keys of tokens were read" : "cannot be read"
            #expect(eventually { stage.lines.withLock { $0.contains { $0.contains(line) } } })
            verifier.stop()
            #expect(verifier.keyCount == (counts ? 1 : 0))
        }
    }

    @Test func aRedirectionIsNotFollowed() throws {
        let second = try Server(TokenIssuer.set(rsa))
        let first = try Server("")
        var answer = HTTPServerResponse.text("")
        answer.status = 302
        answer.headers.append("Location", value: second.url)
        first.answer.withLock { [answer] in $0 = answer }
        let verifier = try stage.verifier(Stage.configuration(.url(first.url)))
        verifier.start()
        #expect(eventually { stage.lines.withLock { $0.contains { $0.contains("answers 302") } } })
        verifier.stop()
        #expect(verifier.keyCount == 0)
        #expect(second.requests.withLock { $0.isEmpty })
    }

    @Test func anAddressThatIsAwayKeepsTheKnownKeys() throws {
        let server = try Server(TokenIssuer.set(rsa))
        let verifier = try stage.verifier(Stage.configuration(.url(server.url)))
        verifier.start()
        defer { verifier.stop() }
        #expect(try eventually { try check(verifier, token: rsa) == user("alice") })
        server.stop()
        try readAgain(verifier) { verifier.state != .healthy }
        #expect(try check(verifier, token: rsa) == user("alice"))
        guard case .unavailable = try check(verifier, token: ec) else {
            Issue.record("a key that may be new is refused while no one can know")
            return
        }
    }

    @Test func withoutAnyReadATokenIsNeitherRightNorWrong() throws {
        let server = try Server("no keys")
        let verifier = try stage.verifier(Stage.configuration(.url(server.url)))
        verifier.start()
        #expect(eventually { stage.lines.withLock { !$0.isEmpty } })
        verifier.stop()
        #expect(try check(verifier, token: rsa) == .unavailable(10_000))
        #expect(verifier.check("Bearer a.b.c") == .refused)
        #expect(verifier.state == .stale(since: 1_700_000_000_000))
    }

    @Test func aFileIsReadAgainWhenItChanges() throws {
        let verifier = try stage.verifier(TokenIssuer.set(rsa))
        verifier.start()
        defer { verifier.stop() }
        #expect(try check(verifier, token: rsa) == user("alice"))
        try stage.write(TokenIssuer.set(ec))
        try readAgain(verifier) { try check(verifier, token: ec) == user("alice") }
        #expect(try check(verifier, token: rsa) != user("alice"))
        try stage.write("{")
        try readAgain(verifier) { verifier.state != .healthy }
        #expect(try check(verifier, token: ec) == user("alice"))
        try stage.write(TokenIssuer.set(rsa, ec))
        try readAgain(verifier) { verifier.state == .healthy && verifier.keyCount == 2 }
        #expect(try check(verifier, token: rsa) == user("alice"))
    }

    @Test func aStopEndsAReadInProgress() throws {
        let isAsked = DispatchSemaphore(value: 0)
        let held = Box<[Responder]>([])
        let server = HTTPServer { (_: HTTPServerRequest, responder: Responder) in
            held.withLock { $0.append(responder) }
            isAsked.signal()
        }
        let verifier = try stage.verifier(Stage.configuration(.url("http://\(try server.start())/")))
        verifier.start()
        isAsked.wait()
        verifier.stop()
        #expect(stage.lines.withLock { $0.isEmpty })
        // Taken out, for the server has the box.
        let responders = held.withLock { held in
            defer { held = [] }
            return held
        }
        responders.forEach { $0.answer(.text("")) }
        server.stop(within: .zero)
    }
}
