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
}
