import Glibc
import HTTPServing
import TestSupport
import Testing

/// Clients that hold all places, and one more that speaks.
@Suite(.tags(.threads, .c)) struct PlacesTests {
    private static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    /// Serves with a few places while `body` runs. Nobody is ever late.
    private static func serving(
        places: Int, threads: Int = 1, _ held: HeldResponders = HeldResponders(), _ body: (Int) throws -> Void
    ) throws {
        var configuration = HTTPServerConfiguration()
        configuration.maximumConnections = places
        configuration.threadCount = threads
        configuration.requestTimeout = .seconds(36_000)
        configuration.idleTimeout = .seconds(36_000)
        let server = HTTPServer(configuration) { request, responder in held.keepLate(request, responder) }
        let address = try server.start()
        defer { server.stop(within: .zero) }
        try body(address.port)
    }

    private static func ended(_ client: RawClient) -> Bool { client.rest().isEmpty && client.ending != EAGAIN }

    /// As many as it likes, from one address.
    @Test(arguments: ["", "GET / HTTP/1.1\r\nHost: h\r\nX-A: "]) func whoSpeaksIsAnsweredBehindAnyNumberOfSilentOnes(
        beginning: String
    ) throws {
        try Self.serving(places: 8, threads: 2) { port in
            let silent = try (0..<100).map { _ in
                let client = try RawClient(port: port)
                client.send(beginning)
                return client
            }
            for _ in 0..<20 {
                #expect(
                    try eventually {
                        let client = try RawClient(port: port)
                        client.send(Self.request)
                        return client.answer().status == 200
                    })
            }
            // Of two threads one may enter late what it took first, so which of them are left is open.
            #expect(eventually { silent.count { $0.hasEnded } >= 92 })
        }
    }

    /// Of one address an idle one goes before one that has come just now.
    @Test func theOneGoesThatHasSaidNothingForLongest() throws {
        try Self.serving(places: 3) { port in
            let idle = try RawClient(port: port, from: "127.0.0.2")
            idle.send(Self.request)
            #expect(idle.answer().status == 200)
            let (first, second) = (try RawClient(port: port, from: "127.0.0.3"), try RawClient(port: port, from: "127.0.0.4"))
            let next = try RawClient(port: port, from: "127.0.0.5")
            next.send(Self.request)
            #expect(next.answer().status == 200)
            #expect(Self.ended(first))
            // The others are there.
            for client in [second, idle] {
                client.send(Self.request)
                #expect(client.answer().status == 200)
            }
        }
    }

    @Test func theOneGoesOfTheAddressThatHasMost() throws {
        try Self.serving(places: 8) { port in
            // It came first, and has sent nothing.
            let slow = try RawClient(port: port, from: "127.0.0.3")
            let greedy = try (0..<7).map { _ in
                let client = try RawClient(port: port, from: "127.0.0.2")
                client.send(Self.request)
                #expect(client.answer().status == 200)
                return client
            }
            let next = try RawClient(port: port, from: "127.0.0.4")
            next.send(Self.request)
            #expect(next.answer().status == 200)
            #expect(eventually { greedy.count { $0.hasEnded } == 1 } && !slow.hasEnded)
            slow.send(Self.request)
            #expect(slow.answer().status == 200)
        }
    }

    @Test func whereAllHaveSpokenTheOneGoesThatIsIdleForLongest() throws {
        let held = HeldResponders()
        try Self.serving(places: 3, held) { port in
            let (working, first, second) = (try RawClient(port: port), try RawClient(port: port), try RawClient(port: port))
            working.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
            let responder = try held.next()
            for client in [first, second] {
                client.send(Self.request)
                #expect(client.answer().status == 200)
            }
            let next = try RawClient(port: port)
            next.send(Self.request)
            #expect(next.answer().status == 200)
            #expect(Self.ended(first))
            second.send(Self.request)
            #expect(second.answer().status == 200)
            responder.answer(.text("late"))
            #expect(working.answer().status == 200)
        }
    }

    @Test func whoWaitsForAnAnswerStaysAndOneMoreIsClosed() throws {
        let held = HeldResponders()
        try Self.serving(places: 4, held) { port in
            let working = try (0..<4).map { _ in try RawClient(port: port) }
            for client in working { client.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n") }
            let responders = try held.next(4)
            for _ in 0..<20 { #expect(Self.ended(try RawClient(port: port))) }
            for responder in responders { responder.answer(.text("late")) }
            for client in working { #expect(client.answer().status == 200) }
            // A client may have its answer before the server has counted its connection as idle.
            let isServed = eventually {
                guard let next = try? RawClient(port: port) else { return false }
                next.send(Self.request)
                return next.answer().status == 200
            }
            #expect(isServed)
        }
    }

    @Test func whoSendsABodyStaysForAnEighthOfItsTime() throws {
        try Self.serving(places: 1) { port in
            let sending = try RawClient(port: port)
            sending.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(sending.answer().status == 100)
            sending.send("hel")
            #expect(Self.ended(try RawClient(port: port)))
            sending.send("lo")
            #expect(sending.answer().status == 200)
        }
    }
}
