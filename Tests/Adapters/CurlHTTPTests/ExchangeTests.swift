import CurlHTTP
import EventLoop
import HTTP1
import TestSupport
import Testing

@Suite(.tags(.c)) struct ExchangeTests {
    @Test func exchangesFollowEachOtherOnOneConnection() throws {
        let server = try ScriptedServer([(0..<50).flatMap { [.request, .send(Answers.ok("n\($0)"))] } + [.untilClosed]])
        let loop = try PoolLoop(port: server.port)
        for id in 0..<50 {
            let completion = try #require(try loop.exchange(id, PoolLoop.request("b\(id)")))
            #expect(completion.id == id)
            #expect(completion.body == "n\(id)")
            #expect(completion.request == PoolLoop.request("b\(id)"))
        }
        #expect(server.accepted == 1)
        #expect(loop.pool.connectionsOpened == 1)
        #expect(loop.pool.openConnections == 1)
        #expect(loop.pool.inFlight == 0)
        #expect(server.requests.last?.hasSuffix("\r\n\r\nb49") == true)
    }

    @Test func aConnectionThatSaysCloseIsNotUsedAgain() throws {
        let server = try ScriptedServer([
            [.request, .send(Answers.closing), .untilClosed], [.request, .send(Answers.created), .untilClosed],
        ])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1)?.status == 201)
        #expect(loop.pool.openConnections == 0)
        #expect(try loop.exchange(2)?.status == 201)
        #expect(server.accepted == 2)
    }

    /// A form that common clients read is one answer, after which the connection goes on: nothing is sent again because of it.
    @Test func aHarmlessFormIsOneAnswer() throws {
        let forms = [
            "HTTP/1.1 201\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 201 \r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 201 Created\r\nX: a\r\n\tb\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 100\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x,\r\n y\r\n\r\n"
                + Answers.created,
            "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n0  \r\n\r\n",
        ]
        let server = try ScriptedServer([forms.flatMap { [.request, .send($0), .request, .drip($0)] } + [.untilClosed]])
        let loop = try PoolLoop(port: server.port)
        for id in 0..<forms.count * 2 { #expect(try loop.exchange(id)?.status == 201, "\(forms[id / 2].debugDescription)") }
        #expect(server.accepted == 1)
        #expect(server.requests.count == forms.count * 2)
    }

    @Test func aMisdirectedRequestIsSentAgainOnAnotherConnection() throws {
        let server = try ScriptedServer([
            [.request, .send("HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\n\r\n"), .untilClosed],
            [.request, .send(Answers.created), .untilClosed],
        ])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1)?.status == 421)
        #expect(loop.pool.openConnections == 0)
        #expect(try loop.exchange(2)?.status == 201)
        #expect(server.accepted == 2)
    }

    @Test func chunkedInterimAndDrippedAnswersAreRead() throws {
        let server = try ScriptedServer([
            [
                .request, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), .request,
                .drip("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!"), .request,
                .send("HTTP/1.1 500 Oops\r\n\r\nuntil the end"), .close,
            ]
        ])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1)?.body == "abc")
        let second = try loop.exchange(2)
        #expect(second?.status == 403)
        #expect(second?.body == "no!")
        #expect(try loop.exchange(3)?.body == "until the end")
        #expect(loop.pool.openConnections == 0)
        #expect(server.accepted == 1)
    }

    @Test func anAnswerToHEADHasNoBody() throws {
        let server = try ScriptedServer([
            [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .request, .send(Answers.ok("x")), .untilClosed]
        ])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1, PoolLoop.request("", method: "HEAD"))?.body == "")
        #expect(try loop.exchange(2)?.body == "x")
    }

    @Test func largeRequestsAndAnswersPassWhole() throws {
        let body = String(repeating: "0123456789abcdef", count: 1 << 14)
        let server = try ScriptedServer([[.request, .send(Answers.ok(body)), .request, .send(Answers.ok("end")), .untilClosed]])
        let loop = try PoolLoop(port: server.port)
        let large = String(repeating: "x", count: 8 << 20)
        #expect(try loop.exchange(1, PoolLoop.request(large))?.body == body)
        #expect(try loop.exchange(2)?.body == "end")
        #expect(server.requests.first?.hasSuffix(large) == true)
        #expect(server.accepted == 1)
    }

    @Test func anAnswerThatComesBeforeTheRequestIsSentIsTakenAndTheConnectionClosed() throws {
        let server = try ScriptedServer([
            [.bytes(10), .send(Answers.created), .gate(1)], [.request, .send(Answers.created), .untilClosed],
        ])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1, PoolLoop.request(String(repeating: "x", count: 32 << 20)))?.status == 201)
        #expect(loop.pool.openConnections == 0)
        server.open(gate: 1)
        #expect(try loop.exchange(2)?.status == 201)
        #expect(server.accepted == 2)
    }

    @Test func manyExchangesShareFewConnectionsInTheirOrder() throws {
        let script: [ScriptedServer.Step] = Array(repeating: [.request, .send(Answers.created)], count: 200).flatMap { $0 }
        let server = try ScriptedServer { _ in script }
        let loop = try PoolLoop(port: server.port) { $0.maxConnections = 8 }
        for id in 0..<200 { loop.submit(id) }
        #expect(loop.pool.inFlight == 200)
        let completions = try loop.completions(200)
        #expect(Set(completions.map(\.id)) == Set(0..<200))
        #expect(completions.allSatisfy { $0.status == 201 })
        #expect(loop.mostConnections <= 8)
        #expect(loop.pool.connectionsOpened <= 8)
        #expect(server.accepted <= 8)
    }

    @Test func oneConnectionServesWaitingRequestsFirstComeFirstServed() throws {
        let server = try ScriptedServer([
            Array(repeating: [.request, .send(Answers.created)], count: 30).flatMap { $0 } + [.untilClosed]
        ])
        let loop = try PoolLoop(port: server.port) { $0.maxConnections = 1 }
        for id in 0..<30 { loop.submit(id) }
        #expect(try loop.completions(30).map(\.id) == Array(0..<30))
    }

    @Test func aRecycledAnswerLendsItsMemoryToTheNext() throws {
        let server = try ScriptedServer([(0..<5).flatMap { [.request, .send(Answers.ok("body \($0)"))] } + [.untilClosed]])
        let loop = try PoolLoop(port: server.port)
        for id in 0..<5 {
            let completion = try #require(try loop.exchange(id))
            #expect(completion.body == "body \(id)")
            if case .answer(let answer) = completion.outcome { loop.pool.recycle(answer) }
        }
    }

    @Test func anUnusedConnectionIsClosedAfterTheIdleTimeout() throws {
        let server = try ScriptedServer([[.request, .send(Answers.created), .untilClosed, .open(1)]])
        let loop = try PoolLoop(port: server.port) { $0.idleTimeout = .milliseconds(20) }
        #expect(try loop.exchange(1)?.status == 201)
        #expect(loop.pool.openConnections == 1)
        _ = try loop.run { _ in server.isOpen(gate: 1) }
        #expect(server.isOpen(gate: 1))
        #expect(loop.pool.openConnections == 0)
        #expect(loop.pool.nextTimer == nil)
    }

    @Test func anOldConnectionTakesNoFurtherRequest() throws {
        let server = try ScriptedServer { _ in [.request, .send(Answers.created), .untilClosed] }
        let loop = try PoolLoop(port: server.port) { $0.maximumAge = .nanoseconds(1) }
        for id in 0..<3 { #expect(try loop.exchange(id)?.status == 201) }
        #expect(server.accepted == 3)
        #expect(loop.pool.openConnections <= 1)
    }
}
