import Dispatch
import Glibc
import HTTPServing
import Synchronization
import TestSupport
import Testing

@Suite(.tags(.threads, .c)) struct HTTPServerTests {
    /// Echoes what it understood of a request.
    @Sendable private static func echo(_ request: HTTPServerRequest) -> HTTPServerResponse {
        .text("\(request.method) \(request.path) \(request.body.count) \(request.ordinalOnConnection)")
    }

    private static func serving<Result>(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPServerRequest) -> HTTPServerResponse = echo, _ body: (Int) throws -> Result
    ) throws -> Result {
        var configuration = HTTPServerConfiguration()
        configure(&configuration)
        let server = HTTPServer(configuration, handler: handler)
        let address = try server.start()
        defer { server.stop(within: .zero) }
        return try body(address.port)
    }

    @Test func oneConnectionCarriesManyRequests() throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            for ordinal in 1...3 {
                client.send("POST /a%20b?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                let answer = client.answer()
                #expect(answer.status == 200)
                #expect(String(decoding: answer.body, as: UTF8.self) == "POST /a b 5 \(ordinal)")
            }
        }
    }

    /// As many as libmicrohttpd's epoll loop asks the kernel for at once, where it waited for one more event before it served any.
    @Test(arguments: [127, 128, 256]) func asManyRequestsAtOnceAsTheLibraryTakesInOneLookAreAnswered(count: Int) throws {
        let (isHeld, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let handler: @Sendable (HTTPServerRequest) -> HTTPServerResponse = { request in
            if request.path == "/hold" {
                isHeld.signal()
                goesOn.wait()
            }
            return Self.echo(request)
        }
        try Self.serving(handler: handler) { port in
            let clients = try (0...count).map { _ in try RawClient(port: port) }
            for client in clients {
                client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                try #require(client.answer().status == 200)
            }
            // While the server's one thread is held, all others send.
            clients[count].send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
            isHeld.wait()
            for client in clients[..<count] { client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
            goesOn.signal()
            try #require(clients[0].answer().status == 200)
            #expect(clients[1...].count { $0.answer().status == 200 } == count)
        }
    }

    @Test func whoeverHoldsAllConnectionsGivesThemBackAndOthersWaitTheirTurn() throws {
        try Self.serving({
            $0.maximumConnections = 8
            $0.idleTimeout = .seconds(1)
        }) { port in
            let idle = try (0..<20).map { _ in try RawClient(port: port) }
            let client = try RawClient(port: port)
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.answer().status == 200)
            // They were ended, and none of them has got an answer.
            #expect(idle.prefix(8).allSatisfy { $0.rest().isEmpty })
        }
    }

    @Test func onePeerHoldsNoMoreThanItsPartAndQueuesUpNothing() throws {
        try Self.serving({
            $0.maximumConnections = 8
            $0.maximumConnectionsPerPeer = 4
            $0.idleTimeout = .seconds(3600)
        }) { port in
            var held = try (0..<4).map { _ in try RawClient(port: port) }
            for client in held {
                client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                try #require(client.answer().status == 200)
            }
            // Those beyond its part are ended as they come, and nobody has to wait behind them.
            for _ in 0..<100 {
                let client = try RawClient(port: port)
                #expect(client.rest().isEmpty && client.ending != EAGAIN)
            }
            held.removeFirst()
            #expect(
                try eventually {
                    let client = try RawClient(port: port)
                    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    return client.answer().status == 200
                })
        }
    }

    @Test func chunksAreJoined() throws {
        try Self.serving(handler: { HTTPServerResponse(status: 200, body: $0.body) }) { port in
            let client = try RawClient(port: port)
            client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "abcdefg")
        }
    }

    @Test(arguments: [
        ("Host: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n", 400),
        ("Host: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Host: h\r\nX-A: a\u{01}b\r\nContent-Length: 0\r\n", 400),
        ("Host: h\r\nContent-Length: -1\r\n", 400),
        ("Content-Length: 0\r\n", 400),
        ("Host: h\r\nX-A : b\r\nContent-Length: 0\r\n", 400),
        // A proxy may end a line or a value elsewhere.
        ("Host: h\r\nX-A: a\0b\r\nContent-Length: 0\r\n", 400),
        ("Host: h\r\nContent-Length: 0\r\nX-A: a\0\r\n", 400),
        ("Host: h\r\nX-A: a\nX-B: b\r\nContent-Length: 0\r\n", 400),
        ("Host: h\r\nX-A: a\0hidden\nX-B: b\nX-C: c\nX-D: d\nX-E: e\nX-F: f\nX-G: g\nX-H: h\nContent-Length: 0\r\n", 400),
        ("Host: h\r\nX-A: a\r b\r\nContent-Length: 0\r\n", 400),
        ("Host: h\r\nX-A: a\r\n b\r\nContent-Length: 0\r\n", 400),
        ("Host: h\r\n: b\r\nContent-Length: 0\r\n", 400),
        // Two names, or none, for whom it is.
        ("Host: h\r\nHost: h\r\nContent-Length: 0\r\n", 400),
        ("Host: a b\r\nContent-Length: 0\r\n", 400),
        ("Host: user@h/\r\nContent-Length: 0\r\n", 400),
        // Codings whose end nobody knows.
        ("Host: h\r\nTransfer-Encoding: gzip\r\n", 400),
        ("Host: h\r\nTransfer-Encoding: gzip, chunked\r\n", 400),
        ("Host: h\r\nTransfer-Encoding: chunked, gzip\r\n", 400),
        ("Host: h\r\nTransfer-Encoding: identity\r\n", 400),
        ("Host: h\r\nTransfer-Encoding: xchunked\r\n", 400),
        ("Host: h\r\nTransfer-Encoding:\r\n", 400),
        ("Host: h\r\nTransfer-Encoding: chunked \r\n", 400),
        ("Host: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Host: h\r\nContent-Length: 2000\r\n", 413),
        ("Host: h\r\nX-A: \(String(repeating: "a", count: 40_000))\r\n", 431),
    ])
    func unsafeHeadsAreRefusedAndTheConnectionEnds(_ head: String, _ status: Int) throws {
        let calls = Mutex(0)
        try Self.serving({ $0.maximumBodyByteCount = 1000 }) { request in
            calls.withLock { $0 += 1 }
            return Self.echo(request)
        } _: { port in
            let client = try RawClient(port: port)
            client.send("POST / HTTP/1.1\r\n\(head)\r\n")
            #expect(client.answer().status == status)
            client.send("GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
            // libmicrohttpd 0.9.75 writes the head of some of its own refusals twice, so there may be bytes, but no answer.
            #expect(!String(decoding: client.rest(), as: UTF8.self).contains("200 OK"))
        }
        #expect(calls.withLock { $0 } == 0)
    }

    @Test(arguments: [
        "GET /a\0b HTTP/1.1\r\n", "GET /a HTTP/1.1\n", "GET  /a HTTP/1.1\r\n", "GET /a HTTP/1.1 \r\n", "G(T /a HTTP/1.1\r\n",
        "GET /a\u{01} HTTP/1.1\r\n", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
    ])
    func unsafeRequestLinesAreRefusedAndTheConnectionEnds(_ line: String) throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            client.send(line + "Host: h\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
            let answers = String(decoding: client.rest(), as: UTF8.self)
            #expect(answers.isEmpty || answers.hasPrefix("HTTP/1.1 400 "))
            #expect(!answers.contains("200 OK") && client.ending != EAGAIN)
        }
    }

    /// As clients may write a head, in pieces of every size and one behind another.
    @Test(arguments: [1, 2, 7, 1000])
    func headsOfEveryFormAreServedHoweverTheyCome(pieceByteCount: Int) throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            let heads = [
                "GET /a?b=1&c HTTP/1.1\r\nHost: h\r\n",
                "GET /a HTTP/1.1\r\nHOST:[::1]:80\r\nX-A:b\r\nX-B:  \t c  \r\nX-C:\r\nX-D: \r\n",
                "POST /a HTTP/1.1\r\nCookie: a=b; c=d\r\nHost:\r\nContent-Length: 0\r\n",
                "GET /a HTTP/1.1\r\nHost: h \t\r\n",
                "GET http://h/a HTTP/1.1\r\nHost: h\r\n",
                "GET /%00%zz HTTP/1.1\r\nHost: h\r\nX-A: \u{E9}\r\n",
            ]
            let bytes = Array(heads.map { $0 + "\r\n" }.joined().utf8)
            for start in stride(from: 0, to: bytes.count, by: pieceByteCount) {
                client.send(Array(bytes[start..<min(bytes.count, start + pieceByteCount)]))
            }
            for _ in heads { #expect(client.answer().status == 200) }
        }
    }

    @Test func aHeadJustUnderTheLimitIsServed() throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            let field = "X-A: " + String(repeating: "a", count: 3000) + "\r\n"
            for _ in 0..<2 {
                client.send("GET /x HTTP/1.1\r\nHost: h\r\n" + String(repeating: field, count: 10) + "\r\n")
                #expect(client.answer().status == 200)
            }
        }
    }

    @Test func anOverlongChunkedBodyIsAnswered413() throws {
        try Self.serving({ $0.maximumBodyByteCount = 1000 }) { port in
            let client = try RawClient(port: port)
            let chunk = "400\r\n" + String(repeating: "x", count: 1024) + "\r\n"
            client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)\(chunk)0\r\n\r\n")
            #expect(client.answer().status == 413)
        }
    }

    @Test func aDelayedAnswerHoldsNobodyUp() throws {
        let isAsked = DispatchSemaphore(value: 0)
        try Self.serving(handler: { request in
            var response = Self.echo(request)
            if request.path == "/never" {
                // Far longer than anybody here waits.
                response.delay = .seconds(3600)
                isAsked.signal()
            }
            if request.path == "/late" { response.delay = .milliseconds(300) }
            return response
        }) { port in
            let (never, late, soon) = (try RawClient(port: port), try RawClient(port: port), try RawClient(port: port))
            never.send("GET /never HTTP/1.1\r\nHost: h\r\n\r\n")
            isAsked.wait()
            soon.send("GET /soon HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(soon.answer().status == 200)
            let start = ContinuousClock.now
            late.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(late.answer().status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
    }

    @Test(arguments: ["whole", "late", "dripped", "closing"])
    func anAnswerToHEADHasTheHeadOfGETAndNoBody(kind: String) throws {
        try Self.serving(handler: { _ in
            var response = HTTPServerResponse.text("0123456789")
            if kind == "late" { response.delay = .milliseconds(1) }
            if kind == "dripped" { response.delivery = .dripped(byteCount: 50, every: .milliseconds(1)) }
            response.closesConnection = kind == "closing"
            return response
        }) { port in
            var fields: [[String]] = []
            for method in ["HEAD", "GET"] {
                let client = try RawClient(port: port)
                client.send("\(method) / HTTP/1.1\r\nHost: h\r\n\r\n")
                let answer = client.answer(toHEAD: method == "HEAD")
                #expect(answer.status == 200 && answer.body.count == (method == "HEAD" ? 0 : 10))
                fields.append(
                    answer.head.split(separator: "\r\n").map { $0.lowercased() }.filter { !$0.hasPrefix("date:") }.sorted())
                if kind == "dripped" || kind == "closing" {
                    #expect(client.rest().isEmpty)
                } else {
                    // What came behind the head would be taken for the next answer.
                    client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
                    #expect(client.answer(toHEAD: true).status == 200 && !client.hasSomethingToRead)
                }
            }
            #expect(fields[0] == fields[1] && fields[0].contains("content-length: 10"))
        }
    }

    @Test func aResetIsSeenAsAReset() throws {
        try Self.serving(handler: { _ in
            var response = HTTPServerResponse(status: 200)
            response.delivery = .reset
            return response
        }) { port in
            let client = try RawClient(port: port)
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.rest() == [])
            #expect(client.ending == ECONNRESET)
        }
    }

    @Test func aTruncatedBodyEndsBeforeItsPromisedLength() throws {
        try Self.serving(handler: { _ in
            var response = HTTPServerResponse.text("0123456789")
            response.delivery = .truncated(keeping: 4)
            return response
        }) { port in
            let client = try RawClient(port: port)
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            let answer = client.answer()
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self) == "0123")
        }
    }

    @Test func aDrippedAnswerArrivesWhole() throws {
        try Self.serving(handler: { _ in
            var response = HTTPServerResponse.text("0123456789")
            response.delivery = .dripped(byteCount: 7, every: .milliseconds(1))
            return response
        }) { port in
            let client = try RawClient(port: port)
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            let text = String(decoding: client.rest(), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n"))
            #expect(text.hasSuffix("\r\n\r\n0123456789"))
            #expect(client.ending == 0)
        }
    }

    @Test func aHangingAnswerEndsWithTheServer() throws {
        let isCalled = DispatchSemaphore(value: 0)
        let server = HTTPServer { _ in
            isCalled.signal()
            var response = HTTPServerResponse(status: 200)
            response.delivery = .hang
            return response
        }
        let client = try RawClient(port: try server.start().port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        isCalled.wait()
        server.stop(within: .milliseconds(50))
        #expect(client.rest() == [])
    }

    @Test func stoppingWaitsForAnswersThatAreDue() async throws {
        let isCalled = Mutex(false)
        let server = HTTPServer { request in
            isCalled.withLock { $0 = true }
            var response = Self.echo(request)
            response.delay = .seconds(1)
            return response
        }
        let client = try RawClient(port: try server.start().port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        while !isCalled.withLock({ $0 }) { await Task.yield() }
        server.stop(within: .seconds(5))
        #expect(client.answer().status == 200)
        server.stop()
    }

    @Test func aServerStartsOnce() throws {
        let server = HTTPServer(handler: Self.echo)
        let address = try server.start()
        #expect(address.port > 0 && server.address == address)
        #expect(throws: HTTPServingError.notStartable) { try server.start() }
        server.stop()
        #expect(server.address == nil)
        #expect(throws: HTTPServingError.notStartable) { try server.start() }
    }

    @Test func aTakenAddressIsNamed() throws {
        try Self.serving { port in
            let second = HTTPServer(HTTPServerConfiguration(listen: "127.0.0.1:\(port)"), handler: Self.echo)
            #expect(throws: HTTPServingError.cannotListen(address: "127.0.0.1:\(port)", reason: OwnPort.reason)) {
                try second.start()
            }
        }
    }

    @Test(arguments: ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:08", "::1:80", "no such host:80"])
    func whatIsNoListenAddressIsRefused(_ text: String) {
        let server = HTTPServer(HTTPServerConfiguration(listen: text), handler: Self.echo)
        #expect(throws: HTTPServingError.badListenAddress(text)) { try server.start() }
    }

    /// Its port is free again each time. The address is this test's own, so that nobody else listens there.
    @Test func anUnusableCertificateIsRefused() throws {
        let identity = HTTPServerConfiguration.Identity(certificateChain: "none", privateKey: "none")
        let configuration = HTTPServerConfiguration(listen: "127.86.31.7:18731", identity: identity)
        let refused = HTTPServingError.cannotServe(reason: "the certificate or its key is not usable")
        for _ in 0..<5 {
            let server = HTTPServer(configuration, handler: Self.echo)
            #expect(throws: refused) { try server.start() }
        }
        #expect(!"\(identity)".contains("none"))
    }

    @Test func manyThreadsServeManyConnections() throws {
        try Self.serving({ $0.threadCount = 4 }) { port in
            let clients = try (0..<40).map { _ in try RawClient(port: port) }
            for client in clients { client.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n") }
            for client in clients { #expect(client.answer().status == 200) }
        }
    }
}
