import Dispatch
import Glibc
import HTTPServing
import Synchronization
import TestSupport
import Testing

/// Clients that send or take a byte now and then, as often as it takes to be never idle.
@Suite(.tags(.threads, .c)) struct DeadlineTests {
    private static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    /// More than the buffers of two sockets hold.
    private static let large = 32 << 20
    /// Where a client must do something in time.
    private static let long = Duration.seconds(2)
    /// Far longer than anybody here waits.
    private static let never = Duration.seconds(36_000)

    /// Serves while `body` runs. Nobody is idle for too long.
    private static func serving<Result>(
        _ configuration: HTTPServerConfiguration = HTTPServerConfiguration(), requestTimeout: Duration,
        idleTimeout: Duration = never,
        handler: @escaping @Sendable (HTTPServerRequest, Responder) -> Void = { $1.answer(.text($0.path)) },
        _ body: (Int) throws -> Result
    ) throws -> Result {
        var configuration = configuration
        configuration.requestTimeout = requestTimeout
        configuration.idleTimeout = idleTimeout
        let server = HTTPServer(configuration, handler: handler)
        let address = try server.start()
        defer { server.stop(within: .zero) }
        return try body(address.port)
    }

    /// A chunked body without its last chunk, and one that is shorter than was said.
    @Test(arguments: ["Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "Content-Length: 10\r\n\r\nab"])
    func aBodyWithoutEndIsAnsweredInTimeAndNothingIsDone(_ beginning: String) throws {
        let calls = Mutex(0)
        try Self.serving(requestTimeout: .milliseconds(200)) {
            calls.withLock { $0 += 1 }
            $1.answer(.text($0.path))
        } _: { port in
            let client = try RawClient(port: port)
            client.send("POST / HTTP/1.1\r\nHost: h\r\n" + beginning)
            #expect(client.answer().status == 400)
            #expect(client.rest().isEmpty && client.ending == 0)
        }
        #expect(calls.withLock { $0 } == 0)
    }

    /// Two strangers that together have all places of a port for probes, and keep them as long as no other stranger comes.
    @Test func strangersWhoHoldAllPlacesOfProbesLeaveOneToThisMachineAndToWhoSpeaks() throws {
        try Self.serving(.probes(listen: "127.0.0.1:0"), requestTimeout: Self.never) { port in
            let strangers = try (0..<64).map { try RawClient(port: port, from: $0 % 2 == 0 ? "127.0.0.2" : "127.0.0.3") }
            for byte in "GET /str".utf8 {
                for stranger in strangers { stranger.send([byte]) }
            }
            for _ in 0..<10 {
                let probe = try RawClient(port: port)
                probe.send("GET /livez HTTP/1.1\r\nHost: h\r\n\r\n")
                let answer = probe.answer()
                #expect(answer.status == 200)
                #expect(String(decoding: answer.body, as: UTF8.self) == "/livez")
            }
            // None of them had to leave. One more that speaks needs the place of the first.
            let next = try RawClient(port: port, from: "127.0.0.4")
            next.send(Self.request)
            #expect(next.answer().status == 200)
            #expect(strangers[0].rest().isEmpty && strangers[0].ending != EAGAIN)
            for stranger in strangers[1...] {
                stranger.send("anger HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(stranger.answer().status == 200)
            }
        }
    }

    /// They come from this machine's own address, or each from one of thirty others, and none of them ever sends a whole request.
    @Test(arguments: [true, false])
    func aProbeOfThisMachineIsAnsweredBehindAThousandSlowConnections(areLocal: Bool) throws {
        try Self.serving(.probes(listen: "127.0.0.1:0"), requestTimeout: Self.never) { port in
            let slow = try (0..<Descriptors.affordable(1000)).map { number in
                let client = try RawClient(port: port, from: areLocal ? nil : "127.0.0.\(2 + number % 30)")
                client.send("GET /")
                return client
            }
            for _ in 0..<10 {
                for client in slow { client.send("a") }
                let probe = try RawClient(port: port)
                probe.send("GET /livez HTTP/1.1\r\nHost: h\r\n\r\n")
                let answer = probe.answer()
                #expect(answer.status == 200)
                #expect(String(decoding: answer.body, as: UTF8.self) == "/livez")
            }
            #expect(slow.contains { !$0.hasEnded }, "those that keep their places are many still")
        }
    }

    /// Who came first is ended first, and nobody of another address.
    @Test func beyondThePlacesOfThisMachineTheSlowestOfItIsEnded() throws {
        var configuration = HTTPServerConfiguration.probes(listen: "127.0.0.1:0")
        configuration.reservedForLoopback = 2
        try Self.serving(configuration, requestTimeout: Self.never) { port in
            let stranger = try RawClient(port: port, from: "127.0.0.2")
            stranger.send("GET /str")
            let first = try RawClient(port: port)
            first.send("GET /fir")
            let second = try RawClient(port: port)
            second.send("GET /sec")
            let third = try RawClient(port: port)
            #expect(first.rest().isEmpty && first.ending != EAGAIN)
            for (client, rest) in [(second, "ond"), (third, "GET /third"), (stranger, "anger")] {
                client.send(rest + " HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(client.answer().status == 200)
            }
        }
    }

    @Test func aPortForProbesTakesOneRequestOfAConnection() throws {
        let probes = HTTPServerConfiguration.probes(listen: "127.0.0.1:0")
        #expect(probes.requestTimeout == .seconds(5))
        try Self.serving(probes, requestTimeout: Self.never) { port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            let answer = client.answer()
            #expect(answer.status == 200)
            #expect(answer.head.lowercased().contains("connection: close"))
            #expect(client.rest().isEmpty && client.ending == 0)
        }
    }

    @Test(arguments: [
        "",
        "GET / HT",
        "GET / HTTP/1.1\r\nHost: h\r\nX-A: ",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nf0000\r\n",
    ])
    func aRequestThatComesByteForByteEndsItsConnectionInTime(_ beginning: String) throws {
        try Self.serving(requestTimeout: .milliseconds(200)) { port in
            let slow = try (0..<5).map { _ in try RawClient(port: port) }
            for client in slow { client.send(beginning) }
            Self.trickle(slow)
        }
    }

    @Test func aLaterRequestOfAConnectionHasItsTimeToo() throws {
        try Self.serving(requestTimeout: Self.long) { port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            #expect(client.answer().status == 200)
            client.send("GET / HTTP/1.1\r\nX-A: ")
            Self.trickle([client])
        }
    }

    /// Its bytes are no sign of life.
    @Test func theFirstLineOfALaterRequestComesWhileTheConnectionMayBeIdle() throws {
        try Self.serving(requestTimeout: Self.never, idleTimeout: .seconds(1)) { port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            #expect(client.answer().status == 200)
            client.send("GET /")
            Self.trickle([client])
        }
    }

    @Test func aClientThatTakesNoAnswerIsEnded() throws {
        let body = [UInt8](repeating: 0x61, count: Self.large)
        let isAsked = DispatchSemaphore(value: 0)
        let handler: @Sendable (HTTPServerRequest, Responder) -> Void = { _, responder in
            responder.answer(HTTPServerResponse(status: 200, body: body))
            isAsked.signal()
        }
        try Self.serving(requestTimeout: Self.long, handler: handler) { port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            isAsked.wait()
            try Self.waitUntilLate(port)
            let count = client.rest().count
            #expect(count > 0 && count < Self.large)
        }
    }

    @Test func timeInWhichTheClientWaitsForItsAnswerDoesNotCount() throws {
        let held = HeldResponders()
        try Self.serving(requestTimeout: Self.long, handler: { held.keepLate($0, $1) }) { port in
            let client = try RawClient(port: port)
            for _ in 0..<2 {
                client.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
                let responder = try held.next()
                try Self.waitUntilLate(port)
                responder.answer(.text("late"))
                #expect(client.answer().status == 200)
            }
        }
    }

    /// Waits until a connection has ended that came now and sends nothing. What came before and is as slow has ended by then, too.
    private static func waitUntilLate(_ port: Int) throws {
        let silent = try RawClient(port: port)
        #expect(silent.rest().isEmpty && silent.ending != EAGAIN)
    }

    /// Sends a byte to all again and again until their connections have ended, without an answer but a refusal of the body.
    private static func trickle(_ clients: [RawClient]) {
        #expect(
            eventually {
                for client in clients { client.send("a") }
                return clients.allSatisfy { $0.hasEnded || $0.hasSomethingToRead }
            })
        for client in clients {
            let answer = String(decoding: client.rest(), as: UTF8.self)
            #expect(client.ending != EAGAIN && (answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 ")))
        }
    }
}
