import Basics
import CurlHTTP
import EventLoop
import HTTP1
import TestSupport
import Testing

@Suite(.tags(.c)) struct FailureTests {
    @Test func aKeptConnectionThatHadClosedCostsNothingWhenNoByteWasWritten() throws {
        let server = try ScriptedServer([
            [.request, .send(Answers.created), .close], [.request, .send(Answers.created), .untilClosed],
        ])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1)?.status == 201)
        _ = try loop.run { _ in loop.pool.openConnections == 0 }
        #expect(try loop.exchange(2)?.status == 201)
        #expect(server.accepted == 2)
        #expect(server.requests.count == 2)
    }

    @Test func aCloseThatTheLoopHasNotSeenIsFoundBeforeAByteIsWritten() throws {
        let server = try ScriptedServer([
            [.request, .send(Answers.created), .gate(1), .close], [.request, .send(Answers.created), .untilClosed],
        ])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1)?.status == 201)
        server.open(gate: 1)
        // The close arrives while nobody looks at the poller.
        #expect(eventually { server.closed == 1 })
        // A connection that was used in the last 10 ms is not looked at again.
        let look = try Poller()
        #expect(try look.wait(until: MonotonicTime.now().advanced(by: .milliseconds(20))).isEmpty)
        #expect(try loop.exchange(2)?.status == 201)
        #expect(server.requests.count == 2)
    }

    @Test func aKeptConnectionThatClosesAfterTheRequestIsAFailureAndNotRepeated() throws {
        let server = try ScriptedServer([
            [.request, .send(Answers.created), .request, .close], [.request, .send(Answers.created)],
        ])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1)?.status == 201)
        let failure = try #require(try loop.exchange(2)?.failure)
        #expect(failure.reason == .closedBeforeAnswer)
        #expect(failure.requestBytesSent && failure.bodySent)
        #expect(server.accepted == 1)
        #expect(loop.pool.openConnections == 0)
    }

    @Test func aResetAfterTheRequestSaysThatBytesWereSent() throws {
        let server = try ScriptedServer([[.request, .reset]])
        let loop = try PoolLoop(port: server.port)
        let failure = try #require(try loop.exchange()?.failure)
        #expect(failure.reason == .reset)
        #expect(failure.requestBytesSent && failure.bodySent)
        #expect(failure.curlCode == 56)
        #expect(failure.detail == "127.0.0.1:\(server.port): Connection reset by peer")
    }

    @Test func aResetWithinTheRequestSaysThatTheBodyWasNotSent() throws {
        let server = try ScriptedServer([[.bytes(1000), .reset]])
        let loop = try PoolLoop(port: server.port)
        let failure = try #require(try loop.exchange(1, PoolLoop.request(String(repeating: "x", count: 32 << 20)))?.failure)
        #expect(failure.reason == .reset)
        #expect(failure.requestBytesSent && !failure.bodySent)
    }

    @Test(arguments: [
        ("HTTP/1.1 201 Created\r\nContent-Le", AnswerFault.truncated),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", .truncated),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", .truncated), (Answers.created + "x", .bytesAfterAnswer),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", .differingContentLengths),
        ("garbage\r\n", .invalidStatusLine),
    ])
    func anInvalidAnswerIsAFailureAndItsConnectionIsClosed(_ answer: String, _ fault: AnswerFault) throws {
        let server = try ScriptedServer([[.request, .send(answer), .close]])
        let loop = try PoolLoop(port: server.port)
        let failure = try #require(try loop.exchange()?.failure)
        #expect(failure.reason == .invalidAnswer(fault))
        #expect(failure.requestBytesSent && failure.bodySent)
        #expect(failure.curlCode == 0)
        #expect(loop.pool.openConnections == 0)
    }

    @Test func anAnswerAboveTheLimitsIsAFailure() throws {
        let server = try ScriptedServer([[.request, .send(Answers.ok(String(repeating: "x", count: 101))), .untilClosed]])
        let loop = try PoolLoop(port: server.port) { $0.limits.bodyByteCount = 100 }
        #expect(try loop.exchange()?.failure?.reason == .answerTooLarge)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nRetry-After: 7\r\nContent-Length: 101\r\n\r\n",
        "HTTP/1.1 200 OK\r\nRetry-After: 7\r\nContent-Length: 1000000\r\n\r\n" + String(repeating: "x", count: 1_000_000),
        "HTTP/1.1 200 OK\r\nRetry-After: 7\r\n\r\n" + String(repeating: "x", count: 101),
        "HTTP/1.1 200 OK\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n64\r\n",
    ])
    func aLargeBodyIsDroppedWhereTheStatusIsEnough(_ answer: String) throws {
        let server = try ScriptedServer([
            [.request, .send(answer), .untilClosed], [.request, .send(Answers.created), .untilClosed],
        ])
        let loop = try PoolLoop(port: server.port) { ($0.limits.bodyByteCount, $0.dropsLargeBodies) = (100, true) }
        let completion = try #require(try loop.exchange(1))
        #expect(completion.status == 200)
        #expect(completion.body?.isEmpty == true)
        if case .answer(let answer) = completion.outcome { #expect(answer.value(of: "Retry-After").map(answer.string) == "7") }
        #expect(loop.pool.openConnections == 0)
        #expect(try loop.exchange(2)?.status == 201)
        #expect(server.accepted == 2)
    }

    @Test func aSlowAnswerEndsAtTheDeadline() throws {
        let server = try ScriptedServer([
            [.request, .drip("HTTP/1.1 200 OK\r\n"), .open(1), .untilClosed], [.request, .send(Answers.created), .untilClosed],
        ])
        let loop = try PoolLoop(port: server.port)
        // The pool is told the time: the deadline comes when the answer has begun, and not before.
        let deadline = MonotonicTime.now().advanced(by: farDeadline)
        loop.pool.submit(id: 1, request: PoolLoop.request(), deadline: deadline)
        #expect(try loop.run { _ in server.isOpen(gate: 1) }.isEmpty)
        loop.pool.handleTimers(deadline.advanced(byNanoseconds: -1))
        #expect(loop.pool.nextCompletion()?.id == nil)
        loop.pool.handleTimers(deadline)
        let failure = try #require(loop.pool.nextCompletion()?.failure)
        #expect(failure.reason == .timeout)
        #expect(failure.requestBytesSent && failure.bodySent)
        #expect(try loop.exchange(2)?.status == 201)
        #expect(server.accepted == 2)
    }

    @Test func waitingForAConnectionIsUnderTheDeadlineToo() throws {
        let server = try ScriptedServer([[.request, .gate(1), .send(Answers.created), .untilClosed]])
        let loop = try PoolLoop(port: server.port) { $0.maxConnections = 1 }
        loop.submit(1)
        loop.submit(2, within: .milliseconds(40))
        let second = try #require(try loop.completions(1).first)
        #expect(second.id == 2)
        #expect(second.failure?.reason == .timeout)
        #expect(second.failure?.requestBytesSent == false)
        server.open(gate: 1)
        #expect(try loop.completions(1).first?.status == 201)
    }

    @Test func aRefusedPortFailsEveryRequestUnsent() throws {
        let refused = try RefusedPort()
        defer { withExtendedLifetime(refused) {} }
        let loop = try PoolLoop(port: refused.port) { $0.maxConnections = 2 }
        for id in 0..<10 { loop.submit(id) }
        let completions = try loop.completions(10)
        #expect(completions.map(\.id) == Array(0..<10))
        for completion in completions {
            #expect(completion.failure?.reason == .connect)
            #expect(completion.failure?.curlCode == 7)
            #expect(completion.failure?.requestBytesSent == false)
            #expect(completion.request == PoolLoop.request())
        }
        #expect(loop.pool.openConnections == 0)
        #expect(loop.pool.inFlight == 0)
    }

    @Test func anUnknownNameIsNamed() throws {
        let loop = try PoolLoop(port: 80, host: "no-such-host.invalid")
        let failure = try #require(try loop.exchange()?.failure)
        #expect(failure.reason == .resolve)
        #expect(failure.curlCode == 6)
        #expect(failure.detail.contains("no-such-host.invalid:80"))
    }

    @Test func aProxyThatRefusesIsNamed() throws {
        let proxy = try ScriptedServer([
            [.request, .send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"), .untilClosed]
        ])
        let loop = try PoolLoop(port: 80, host: "example.invalid") { $0.proxy = "http://127.0.0.1:\(proxy.port)" }
        let failure = try #require(try loop.exchange()?.failure)
        #expect(failure.reason == .proxy)
        #expect(failure.requestBytesSent == false)
        #expect(proxy.requests.first?.hasPrefix("CONNECT example.invalid:80 ") == true)
    }

    @Test func aProxyThatConnectsIsPassedThrough() throws {
        let proxy = try ScriptedServer([
            [
                .request, .send("HTTP/1.1 200 Connection established\r\n\r\n"), .request, .send(Answers.ok("through")),
                .untilClosed,
            ]
        ])
        let loop = try PoolLoop(port: 80, host: "example.invalid") { $0.proxy = "http://127.0.0.1:\(proxy.port)" }
        #expect(try loop.exchange()?.body == "through")
    }

    @Test func cancellingEndsWaitingAndBusyExchanges() throws {
        let server = try ScriptedServer([[.request, .open(2), .gate(1)], [.request, .send(Answers.created), .untilClosed]])
        let loop = try PoolLoop(port: server.port) { $0.maxConnections = 1 }
        for id in 1...3 { loop.submit(id) }
        _ = try loop.run { _ in server.isOpen(gate: 2) }
        loop.pool.cancel(id: 2)
        loop.pool.cancel(id: 1)
        loop.pool.cancel(id: 99)
        let completions = try loop.completions(3)
        server.open(gate: 1)
        try #require(completions.map(\.id) == [2, 1, 3])
        #expect(completions[0].failure?.reason == .cancelled)
        #expect(completions[0].failure?.requestBytesSent == false)
        #expect(completions[1].failure?.reason == .cancelled)
        #expect(completions[1].failure?.requestBytesSent == true)
        #expect(completions[2].status == 201)
    }

    @Test func closingThePoolEndsEverything() throws {
        let server = try ScriptedServer { _ in [.request, .untilClosed] }
        let loop = try PoolLoop(port: server.port) { $0.maxConnections = 2 }
        for id in 0..<5 { loop.submit(id) }
        _ = try loop.run { _ in server.requests.count == 2 }
        loop.pool.close()
        loop.submit(5)
        loop.pool.close()
        let completions = try loop.completions(6)
        #expect(completions.allSatisfy { $0.failure?.reason == .cancelled })
        #expect(Set(completions.map(\.id)) == Set(0..<6))
        #expect(loop.pool.openConnections == 0)
        #expect(loop.pool.inFlight == 0)
        #expect(loop.pool.nextTimer == nil)
    }

    @Test(arguments: ["", "a b", "a/b", "user@host", "a\r\nb", "[::1]"])
    func aHostThatIsNoneIsRefused(_ host: String) throws {
        let poller = try Poller()
        #expect(throws: ConnectionPool.SetupFailure.self) {
            try ConnectionPool(ConnectionPoolConfiguration(scheme: .http, host: host), poller: poller, tokenBase: 0)
        }
    }
}
