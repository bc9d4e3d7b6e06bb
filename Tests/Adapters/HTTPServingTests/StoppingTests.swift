import Dispatch
import Foundation
import HTTPServing
import Synchronization
import TestSupport
import Testing

/// libmicrohttpd aborts the process where one connection is still suspended when it is stopped.
@Suite(.tags(.threads, .c)) struct StoppingTests {
    private static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test func aStopAnswersAThousandThatWait() throws {
        let held = HeldResponders()
        let server = HTTPServer { _, responder in held.keep(responder) }
        let port = try server.start().port
        let clients = try (0..<Descriptors.affordable(1000)).map { _ in try RawClient(port: port) }
        for client in clients { client.send(Self.request) }
        let responders = try held.next(clients.count)
        #expect(server.waitingCount == clients.count)
        server.stop(within: .zero)
        #expect(server.waitingCount == 0)
        // Late answers are harmless, and not the first.
        #expect(responders.allSatisfy { !$0.answer(.text("late")) })
        #expect(clients.count { $0.answer().status == 503 } == clients.count)
    }

    @Test func answersThatRaceWithAStopAreSentOrReplaced() throws {
        for _ in 0..<10 {
            let held = HeldResponders()
            var configuration = HTTPServerConfiguration()
            configuration.threadCount = 2
            let server = HTTPServer(configuration) { _, responder in held.keep(responder) }
            let port = try server.start().port
            let clients = try (0..<50).map { _ in try RawClient(port: port) }
            for client in clients { client.send(Self.request) }
            let responders = try held.next(clients.count)
            let firsts = Mutex(0)
            let isOver = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for responder in responders {
                    let isFirst = responder.answer(.text("answer"))
                    if isFirst { firsts.withLock { $0 += 1 } }
                }
                isOver.signal()
            }
            server.stop(within: .zero)
            isOver.wait()
            let statuses = clients.map { $0.answer().status }
            let firstCount = firsts.withLock { $0 }
            #expect(statuses.count { $0 == 200 } == firstCount)
            #expect(statuses.allSatisfy { $0 == 200 || $0 == 503 })
        }
    }

    @Test func whatIsAnsweredAtTheLimitIsNotRefused() throws {
        let held = HeldResponders()
        let server = HTTPServer { _, responder in held.keep(responder) }
        let port = try server.start().port
        let clients = try (0..<2).map { _ in try RawClient(port: port) }
        for client in clients { client.send(Self.request) }
        let responders = try held.next(clients.count)
        server.stop(within: .zero) { #expect(responders[0].answer(.text("known"))) }
        #expect(!responders[1].answer(.text("late")))
        #expect(clients.map { $0.answer().status }.sorted() == [200, 503])
        server.stop(within: .zero) { Issue.record("a second stop does nothing") }
    }

    @Test func aStopWaitsForAnswersWithinItsLimit() throws {
        let held = HeldResponders()
        let server = HTTPServer { request, responder in
            held.keepLate(request, responder)
        }
        let port = try server.start().port
        let (late, soon) = (try RawClient(port: port), try RawClient(port: port))
        late.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
        let responder = try held.next()
        let isStopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            server.stop(within: farDeadline)
            isStopped.signal()
        }
        // Answers end their connections once the server is stopping.
        #expect(
            eventually {
                soon.send(Self.request)
                return soon.answer().head.lowercased().contains("connection: close")
            })
        #expect(responder.answer(HTTPServerResponse.text("late")))
        #expect(late.answer().status == 200)
        isStopped.wait()
        #expect(!responder.answer(HTTPServerResponse.text("again")))
    }

    /// Without a word to its client, a connection would be reset.
    @Test func whoeverComesDuringADrainIsAnswered503AndProlongsNothing() throws {
        let held = HeldResponders()
        let server = HTTPServer(Self.telling) { request, responder in held.keepLate(request, responder) }
        let port = try server.start().port
        let (late, kept) = (try RawClient(port: port), try RawClient(port: port))
        kept.send(Self.request)
        #expect(kept.answer().status == 200)
        late.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
        let responder = try held.next()
        let isStopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            server.stop(within: farDeadline)
            isStopped.signal()
        }
        #expect(
            try eventually {
                let client = try RawClient(port: port)
                client.send(Self.request)
                return client.answer().status == 503
            })
        let post = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"
        let clients = try (0..<8).map { _ in try RawClient(port: port) }
        // Of some the body never comes.
        for (index, client) in clients.enumerated() { client.send(index % 2 == 0 ? post : post + "hello") }
        kept.send(Self.request)
        for client in clients + [kept] { Self.expectRefusal(of: client) }
        #expect(held.count == 0 && server.waitingCount == 1)
        #expect(responder.answer(.text("late")))
        #expect(late.answer().status == 200)
        let isOver = isStopped.wait(timeout: .now() + .seconds(Int(farDeadline.components.seconds / 2)))
        #expect(isOver == .success)
    }

    /// The server's one thread is at work, so that all of them wait to be accepted when the last requests are answered.
    @Test func whatWaitsToBeAcceptedAtTheEndIsAnswered() throws {
        let (isCalled, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = HTTPServer(Self.telling) { _ in
            isCalled.signal()
            goesOn.wait()
            return .text("done")
        }
        let port = try server.start().port
        let first = try RawClient(port: port)
        first.send(Self.request)
        isCalled.wait()
        let clients = try (0..<20).map { _ in try RawClient(port: port) }
        for client in clients { client.send(Self.request) }
        server.stop(within: .zero) { for _ in 0...clients.count { goesOn.signal() } }
        #expect(first.answer().status == 200)
        for client in clients { Self.expectRefusal(of: client) }
    }

    /// Nobody reads before the end.
    @Test(arguments: [nil, .seconds(60)] as [Duration?], [1, 2]) func whoeverHasSentNoWholeRequestIsAnsweredAtTheEnd(
        limit: Duration?, threadCount: Int
    ) throws {
        var configuration = Self.telling
        configuration.requestTimeout = limit
        configuration.threadCount = threadCount
        let server = HTTPServer(configuration) { _ in .text("whole") }
        let port = try server.start().port
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n"
        let clients = try ["", "GET", "GET / HTTP/1.1\r\nHost", head, head + "half"].map { text in
            let client = try RawClient(port: port)
            client.send(text)
            return client
        }
        server.stop(within: .zero)
        for client in clients { Self.expectRefusal(of: client) }
    }

    /// Says something with 503.
    private static var telling: HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration()
        configuration.refusal = { status in
            HTTPServerResponse(status: status, headers: ["Retry-After": "1"], body: Array("stopping".utf8))
        }
        return configuration
    }

    private static func expectRefusal(of client: RawClient) {
        let answer = client.answer()
        #expect(answer.status == 503 && answer.head.contains("Retry-After: 1\r\n"))
        #expect(answer.head.lowercased().contains("connection: close\r\n"))
        #expect(String(decoding: answer.body, as: UTF8.self) == "stopping")
        #expect(client.rest().isEmpty && client.ending == 0)
    }
}
