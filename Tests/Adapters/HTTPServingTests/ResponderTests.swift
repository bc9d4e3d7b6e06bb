import Dispatch
import Foundation
import HTTPServing
import Synchronization
import TestSupport
import Testing

@Suite(.tags(.threads, .c)) struct ResponderTests {
    /// Serves with a deferred handler while `body` runs.
    private static func serving<Result>(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPServerRequest, Responder) -> Void, _ body: (HTTPServer, Int) throws -> Result
    ) throws -> Result {
        var configuration = HTTPServerConfiguration()
        configure(&configuration)
        let server = HTTPServer(configuration, handler: handler)
        let address = try server.start()
        defer { server.stop(within: .zero) }
        return try body(server, address.port)
    }

    /// 2,000 bytes, more than some tests allow.
    private static let long = String(repeating: "a", count: 2000)

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

    @Test func anAnswerBeforeTheHandlerReturnsIsSent() throws {
        let isFirst = Mutex<[Bool]>([])
        try Self.serving(handler: { request, responder in
            let answered = responder.answer(.text(request.path))
            isFirst.withLock { $0.append(answered) }
        }) { server, port in
            let client = try RawClient(port: port)
            for path in ["/a", "/b"] {
                client.send(Self.get(path))
                let answer = client.answer()
                #expect(answer.status == 200)
                #expect(String(decoding: answer.body, as: UTF8.self) == path)
            }
            let all = isFirst.withLock { $0 }
            #expect(all == [true, true])
            #expect(eventually { server.waitingCount == 0 })
        }
    }

    @Test func anAnswerOfAnotherThreadBeforeTheHandlerReturnsIsSent() throws {
        try Self.serving(handler: { request, responder in
            let isAnswered = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                responder.answer(.text(request.path))
                isAnswered.signal()
            }
            isAnswered.wait()
        }) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.get("/a"))
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "/a")
        }
    }

    @Test func aLaterAnswerIsSentAndHoldsNobodyUp() throws {
        let held = HeldResponders()
        try Self.serving(handler: { request, responder in
            held.keepLate(request, responder)
        }) { server, port in
            let (late, soon) = (try RawClient(port: port), try RawClient(port: port))
            late.send(Self.get("/late"))
            let responder = try held.next()
            // The server has one thread.
            soon.send(Self.get("/soon"))
            #expect(String(decoding: soon.answer().body, as: UTF8.self) == "soon")
            #expect(eventually { server.waitingCount == 1 })
            Thread.detachNewThread { responder.answer(.text("late")) }
            let answer = late.answer()
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self) == "late")
            #expect(eventually { server.waitingCount == 0 })
        }
    }

    /// Answers come just when the connection is being suspended; one that came unnoticed would leave its client without.
    @Test func answersThatRaceWithTheSuspensionAreAllSent() throws {
        let (held, rounds, width) = (HeldResponders(), 100, 10)
        Thread.detachNewThread {
            for _ in 0..<rounds * width { (try? held.next())?.answer(.text("answer")) }
        }
        try Self.serving(
            { $0.threadCount = 2 },
            handler: { _, responder in
                held.keep(responder)
            }
        ) { server, port in
            let clients = try (0..<width).map { _ in try RawClient(port: port) }
            for _ in 0..<rounds {
                for client in clients { client.send(Self.get("/")) }
                for client in clients { try #require(client.answer().status == 200) }
            }
            #expect(eventually { server.waitingCount == 0 })
        }
    }

    @Test func onlyTheFirstAnswerCounts() throws {
        let held = HeldResponders()
        try Self.serving(handler: { _, responder in
            held.keep(responder)
        }) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.get("/"))
            let responder = try held.next()
            #expect(responder.answer(HTTPServerResponse.text("first")))
            #expect(!responder.answer(HTTPServerResponse.text("second")))
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "first")
            // Nor does it reach the next request on the same connection.
            client.send(Self.get("/"))
            let next = try held.next()
            #expect(!responder.answer(HTTPServerResponse.text("third")))
            #expect(next.answer(HTTPServerResponse.text("next")))
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "next")
        }
    }

    @Test func ofManyAnswersAtOnceOneIsTheFirst() throws {
        let held = HeldResponders()
        try Self.serving(handler: { _, responder in
            held.keep(responder)
        }) { _, port in
            let client = try RawClient(port: port)
            for _ in 0..<50 {
                client.send(Self.get("/"))
                let responder = try held.next()
                let firsts = Mutex<[String]>([])
                DispatchQueue.concurrentPerform(iterations: 4) { number in
                    let isFirst = responder.answer(.text("\(number)"))
                    if isFirst { firsts.withLock { $0.append("\(number)") } }
                }
                let body = String(decoding: client.answer().body, as: UTF8.self)
                let all = firsts.withLock { $0 }
                #expect(all == [body])
            }
        }
    }

    @Test func aClientThatHasGoneHarmsNobody() throws {
        let held = HeldResponders()
        try Self.serving(handler: { request, responder in
            held.keepLate(request, responder)
        }) { server, port in
            for _ in 0..<20 {
                var leaving: RawClient? = try RawClient(port: port)
                leaving?.send(Self.get("/late"))
                let responder = try held.next()
                leaving = nil
                let isFirst = responder.answer(HTTPServerResponse(status: 200, body: [UInt8](repeating: 0x61, count: 1 << 20)))
                #expect(isFirst)
            }
            let client = try RawClient(port: port)
            client.send(Self.get("/soon"))
            #expect(client.answer().status == 200)
            #expect(eventually { server.waitingCount == 0 })
        }
    }

    @Test func aResponderThatIsDroppedAnswers500() throws {
        let held = HeldResponders()
        try Self.serving(handler: { request, responder in
            if request.path == "/later" { held.keep(responder) }
        }) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.get("/now"))
            #expect(client.answer().status == 500)
            client.send(Self.get("/later"))
            _ = try held.next()
            #expect(client.answer().status == 500)
        }
    }

    @Test func aConnectionIsKeptForTheNextRequest() throws {
        let held = HeldResponders()
        try Self.serving(handler: { request, responder in
            held.keep(responder)
            Thread.detachNewThread {
                (try? held.next())?.answer(.text("\(request.method) \(request.body.count) \(request.ordinalOnConnection)"))
            }
        }) { _, port in
            let client = try RawClient(port: port)
            client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
            let head = client.answer(toHEAD: true)
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.head.lowercased().contains("content-length: 8\r\n"))
            client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "POST 5 2")
            // Two at once: the second waits until the first is answered.
            client.send(Self.get("/") + Self.get("/"))
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "GET 0 3")
            #expect(String(decoding: client.answer().body, as: UTF8.self) == "GET 0 4")
        }
    }

    @Test func aLaterAnswerMayBeDelayedToo() throws {
        let held = HeldResponders()
        try Self.serving(handler: { _, responder in
            held.keep(responder)
        }) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.get("/"))
            let responder = try held.next()
            var response = HTTPServerResponse.text("late")
            response.delay = .milliseconds(300)
            let start = ContinuousClock.now
            responder.answer(response)
            #expect(client.answer().status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
    }

    @Test(arguments: [
        (400, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n"),
        (413, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\n"),
        (413, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n\(long)\r\n0\r\n\r\n"),
        (431, "GET / HTTP/1.1\r\nHost: h\r\nX-A: \(long)\r\n\r\n"),
        (500, "GET /dropped HTTP/1.1\r\nHost: h\r\n\r\n"),
        (503, "GET /held HTTP/1.1\r\nHost: h\r\n\r\n"),
    ])
    func whatTheServerAnswersByItselfIsTheConfigurations(_ status: Int, _ request: String) throws {
        var configuration = HTTPServerConfiguration()
        configuration.maximumBodyByteCount = 1000
        configuration.maximumHeaderByteCount = 1000
        configuration.refusal = { status in
            HTTPServerResponse(
                status: status, headers: ["Content-Type": "application/problem+json"], body: Array("{\"status\":\(status)}".utf8))
        }
        let held = HeldResponders()
        let server = HTTPServer(configuration) { request, responder in
            if request.path == "/held" { held.keep(responder) }
        }
        let client = try RawClient(port: try server.start().port)
        client.send(request)
        if status == 503 {
            let responder = try held.next()
            server.stop(within: .zero)
            #expect(!responder.answer(HTTPServerResponse.text("late")))
        }
        let answer = client.answer()
        #expect(answer.status == status)
        #expect(answer.head.contains("Content-Type: application/problem+json\r\n"))
        #expect(answer.head.contains("X-Content-Type-Options: nosniff\r\n"))
        #expect(String(decoding: answer.body, as: UTF8.self) == "{\"status\":\(status)}")
        server.stop(within: .zero)
    }
}
