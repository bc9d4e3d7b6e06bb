import Dispatch
import HTTPServing
import Synchronization
import TestSupport
import Testing

/// What is decided when the head is there, and what bodies may take together.
@Suite(.tags(.threads, .c)) struct AdmissionTests {
    /// Serves while `body` runs; answers the body, and at `/no` 401 before it, at `/skip` without it, at `/short` one of 10 bytes.
    private static func serving(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPServerRequest, Responder) -> Void = { $1.answer(.text("got \($0.body.count)")) },
        _ body: (Int) throws -> Void
    ) throws {
        var configuration = HTTPServerConfiguration()
        configuration.admission = { head in
            switch head.path {
            case "/no": .answer(.text("no \(head.headers["X-A"] ?? "")", status: 401))
            case "/skip": .skip
            case "/short": .read(atMost: 10)
            default: .read(atMost: .max)
            }
        }
        configure(&configuration)
        let server = HTTPServer(configuration, handler: handler)
        let address = try server.start()
        defer { server.stop(within: .zero) }
        try body(address.port)
    }

    private static func head(_ method: String, _ path: String, _ fields: String...) -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: h\r\nX-A: b\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private static func post(_ byteCount: Int, to path: String = "/") -> String {
        head("POST", path, "Content-Length: \(byteCount)") + String(repeating: "x", count: byteCount)
    }

    @Test(
        arguments: ["POST", "PUT", "DELETE", "GET"],
        [["Content-Length: 70000"], ["Content-Length: 5", "Expect: 100-continue"], ["Transfer-Encoding: chunked"]])
    func anAnswerAtTheHeadWaitsForNoBodyAndEndsTheConnection(method: String, fields: [String]) throws {
        let isAsked = Mutex(false)
        try Self.serving(handler: { _, responder in
            isAsked.withLock { $0 = true }
            responder.answer(.text("asked"))
        }) { port in
            let client = try RawClient(port: port)
            client.send(Self.head(method, "/no", fields.joined(separator: "\r\n")))
            let answer = client.answer()
            #expect(answer.status == 401 && String(decoding: answer.body, as: UTF8.self) == "no b")
            #expect(answer.head.lowercased().contains("connection: close\r\n") && answer.head.contains("\r\nDate: "))
            #expect(client.rest().isEmpty && client.ending == 0)
        }
        #expect(isAsked.withLock { !$0 })
    }

    @Test func anAnswerToHEADHasNoBody() throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            client.send(Self.head("HEAD", "/no", "Content-Length: 5"))
            let answer = client.answer(toHEAD: true)
            #expect(answer.status == 401 && answer.head.contains("Content-Length: 4\r\n"))
            #expect(client.rest().isEmpty)
        }
    }

    @Test func withoutABodyTheConnectionStays() throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            for field in ["Content-Length: 0", "X-B: c"] {
                client.send(Self.head("POST", "/no", field))
                #expect(client.answer().status == 401)
            }
            client.send(Self.post(3))
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "got 3")
        }
    }

    /// A connection closed with unread bytes would be reset.
    @Test(arguments: [5, 1000, 300_000]) func aBodyOnItsWayIsReadPast(byteCount: Int) throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            client.send(Self.post(byteCount, to: "/no"))
            #expect(client.answer().status == 401)
            #expect(client.rest().isEmpty && client.ending == 0)
        }
    }

    @Test(arguments: [400, 431]) func aHeadThatIsRefusedHasItsBodyReadPast(status: Int) throws {
        try Self.serving({ $0.maximumHeaderByteCount = 1000 }) { port in
            let client = try RawClient(port: port)
            let field = status == 400 ? "Content-Length: 300000" : "X-B: " + String(repeating: "b", count: 1000)
            client.send(Self.head("POST", "/", "Content-Length: 300000", field) + String(repeating: "x", count: 300_000))
            #expect(client.answer().status == status)
            #expect(client.rest().isEmpty && client.ending == 0)
        }
    }

    @Test func aRouteMayHaveALimitOfItsOwnOrKeepNoBody() throws {
        try Self.serving { port in
            for (body, path, status, text) in [
                (10, "/short", 200, "got 10"), (11, "/short", 413, ""), (1000, "/skip", 200, "got 0"), (11, "/", 200, "got 11"),
            ] {
                let chunked = String(body, radix: 16) + "\r\n" + String(repeating: "x", count: body) + "\r\n0\r\n\r\n"
                for request in [Self.post(body, to: path), Self.head("POST", path, "Transfer-Encoding: chunked") + chunked] {
                    let client = try RawClient(port: port)
                    client.send(request)
                    let answer = client.answer()
                    #expect(answer.status == status && String(decoding: answer.body, as: UTF8.self) == text, "\(path) \(body)")
                }
            }
        }
    }

    @Test func aLengthThatIsTooLongIsRefusedAtTheHead() throws {
        try Self.serving({ $0.maximumBodyByteCount = 1000 }) { port in
            for (path, length) in [("/short", 11), ("/", 1001), ("/skip", 1001), ("/no", 1001)] {
                let client = try RawClient(port: port)
                client.send(Self.head("POST", path, "Content-Length: \(length)", "Expect: 100-continue"))
                #expect(client.answer().status == 413)
            }
        }
    }

    @Test func whoMayGoOnIsAskedForTheBody() throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            client.send(Self.head("POST", "/", "Content-Length: 5", "Expect: 100-continue"))
            #expect(client.answer().status == 100)
            client.send("hello")
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "got 5")
        }
    }

    @Test func nobodyIsAskedForABodyBeforeItIsAdmitted() throws {
        let (isAsked, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try Self.serving({
            $0.admission = { _ in
                isAsked.signal()
                goesOn.wait()
                return .read(atMost: .max)
            }
        }) { port in
            let client = try RawClient(port: port)
            client.send(Self.head("POST", "/", "Content-Length: 5", "Expect: 100-continue"))
            isAsked.wait()
            #expect(!client.hasSomethingToRead)
            goesOn.signal()
            #expect(client.answer().status == 100)
            client.send("hello")
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "got 5")
        }
    }

    // MARK: All bodies together

    /// Room for two bodies of 1,000 bytes, beside 100 bytes of each.
    private static func narrow(_ configuration: inout HTTPServerConfiguration) {
        configuration.maximumBodyByteCountInAll = 1800
        configuration.uncountedBodyByteCount = 100
    }

    @Test func bodiesCountUntilTheirRequestsAreAnswered() throws {
        let held = HeldResponders()
        try Self.serving(Self.narrow, handler: { held.keepLate($0, $1) }) { port in
            let clients = try (0..<2).map { _ in try RawClient(port: port) }
            for client in clients { client.send(Self.post(1000, to: "/late")) }
            let responders = try held.next(2)
            let beyond = try RawClient(port: port)
            // Its end need not come.
            beyond.send(String(Self.post(1000).dropLast(500)))
            let answer = beyond.answer()
            #expect(answer.status == 503 && answer.head.contains("Retry-After: 1\r\n"))
            #expect(beyond.rest().isEmpty && beyond.ending == 0)
            // A small one always finds room.
            let small = try RawClient(port: port)
            small.send(Self.post(100))
            #expect(small.answer().status == 200)
            responders[0].answer(.text("late"))
            #expect(clients[0].answer().status == 200)
            #expect(
                try eventually {
                    let next = try RawClient(port: port)
                    next.send(Self.post(1000))
                    return next.answer().status == 200
                })
        }
    }

    @Test func bodiesOfConnectionsThatHaveEndedCountNoMore() throws {
        try Self.serving(Self.narrow) { port in
            for _ in 0..<10 {
                for beginning in ["Content-Length: 1001\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n3e9\r\n"] {
                    let client = try RawClient(port: port)
                    client.send("POST / HTTP/1.1\r\nHost: h\r\n" + beginning + String(repeating: "x", count: 1000))
                }
            }
            let isServed = try eventually {
                let client = try RawClient(port: port)
                client.send(Self.post(1900))
                return client.answer().status == 200
            }
            #expect(isServed)
        }
    }

    @Test func aLengthThatIsOnlyAnnouncedTakesNoRoom() throws {
        try Self.serving(Self.narrow) { port in
            let announcing = try (0..<10).map { _ in try RawClient(port: port) }
            for client in announcing {
                client.send(Self.head("POST", "/", "Content-Length: 1000", "Expect: 100-continue"))
                #expect(client.answer().status == 100)
            }
            let client = try RawClient(port: port)
            client.send(Self.post(1900))
            #expect(client.answer().status == 200)
        }
    }

    @Test func bodiesThatAreReadPastTakeNoRoom() throws {
        let held = HeldResponders()
        try Self.serving(Self.narrow, handler: { held.keep($1) }) { port in
            let clients = try (0..<10).map { _ in try RawClient(port: port) }
            for client in clients { client.send(Self.post(1000, to: "/skip")) }
            for responder in try held.next(10) { responder.answer(.text("done")) }
            for client in clients { #expect(client.answer().status == 200) }
        }
    }
}
