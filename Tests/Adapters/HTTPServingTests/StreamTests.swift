import Dispatch
import Foundation
import HTTPServing
import Synchronization
import TestSupport
import Testing

/// Answers whose bodies are written while their clients read them.
@Suite(.tags(.threads, .c)) struct StreamTests {
    private static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    /// More than the buffers of two sockets hold.
    private static let large = [UInt8](repeating: 0x61, count: 32 << 20)

    /// Serves while `body` runs: `/plain` at once, everything else with a stream.
    private static func serving<Result>(
        _ held: HeldStreams, _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        _ body: (HTTPServer, Int) throws -> Result
    ) throws -> Result {
        var configuration = HTTPServerConfiguration()
        configure(&configuration)
        let server = HTTPServer(configuration) { request, responder in
            responder.answer(request.path == "/plain" ? .text("plain") : held.makeAnswer())
        }
        let address = try server.start()
        defer { server.stop(within: .zero) }
        return try body(server, address.port)
    }

    private static func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test func piecesComeAsTheyAreWrittenAndTheConnectionStays() throws {
        let held = HeldStreams()
        try Self.serving(held) { server, port in
            let client = try RawClient(port: port)
            for _ in 0..<2 {
                client.send(Self.request)
                let stream = try held.next()
                let answer = client.answer()
                #expect(answer.status == 200 && answer.head.contains("\r\nContent-Type: text/event-stream\r\n"))
                for number in 0..<5 {
                    #expect(stream.write(Array("data: \(number)\n\n".utf8)) && stream.isOpen)
                    #expect(Self.text(client.chunk()) == "data: \(number)\n\n")
                }
                #expect(server.waitingCount == 1)
                stream.end()
                #expect(client.chunk() == [] && !stream.isOpen && !stream.write([0x61]))
                try held.waitForEnd()
            }
            client.send("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(Self.text(client.answer().body) == "plain")
            #expect(eventually { server.waitingCount == 0 } && held.endedCount == 2)
        }
    }

    @Test func aWriterKnowsTheBytesThatAreNotTaken() throws {
        let held = HeldStreams(capacity: Self.large.count)
        try Self.serving(held) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            let stream = try held.next()
            #expect(stream.pendingByteCount == 0 && stream.write(Self.large) && stream.pendingByteCount > 0)
            #expect(client.answer().status == 200)
            stream.end()
            #expect(client.chunks().isComplete && stream.pendingByteCount == 0)
        }
    }

    @Test func whatIsWrittenBeforeTheAnswerIsGivenComesFirst() throws {
        let server = HTTPServer { _ in
            let (response, stream) = HTTPServerResponse.stream()
            stream.write(Array("one ".utf8))
            stream.write(Array("two".utf8))
            // The last reference goes here, which ends the body.
            return response
        }
        let port = try server.start().port
        defer { server.stop(within: .zero) }
        let client = try RawClient(port: port)
        for _ in 0..<3 {
            client.send(Self.request)
            #expect(client.answer().status == 200)
            let (bytes, isComplete) = client.chunks()
            #expect(Self.text(bytes) == "one two" && isComplete)
        }
    }

    /// Pieces come just when the connection is being suspended; one that came unnoticed would be kept back.
    @Test func piecesThatRaceWithTheSuspensionAllCome() throws {
        let (held, width, count) = (HeldStreams(), 10, 1000)
        try Self.serving(held, { $0.threadCount = 2 }) { _, port in
            let clients = try (0..<width).map { _ in try RawClient(port: port) }
            for client in clients { client.send(Self.request) }
            let streams = try clients.map { _ in try held.next() }
            Thread.detachNewThread {
                for number in 0..<count {
                    for stream in streams { stream.write(Array("\(number) ".utf8)) }
                }
                for stream in streams { stream.end() }
            }
            let expected = (0..<count).map { "\($0) " }.joined()
            for client in clients {
                #expect(client.answer().status == 200)
                let (bytes, isComplete) = client.chunks()
                #expect(Self.text(bytes) == expected && isComplete)
            }
        }
    }

    @Test func fiveHundredWaitOnOneThreadUntilTheServerStops() throws {
        let held = HeldStreams()
        try Self.serving(held) { server, port in
            let clients = try (0..<Descriptors.affordable(500)).map { _ in try RawClient(port: port) }
            for client in clients {
                client.send(Self.request)
                #expect(client.answer().status == 200)
            }
            let streams = try clients.map { _ in try held.next() }
            #expect(server.waitingCount == clients.count)
            // The server has one thread, which serves others meanwhile.
            let other = try RawClient(port: port)
            other.send("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(other.answer().status == 200)
            #expect(streams.allSatisfy { $0.write(Array("first".utf8)) })
            #expect(clients.count { Self.text($0.chunk()) == "first" } == clients.count)
            #expect(streams.allSatisfy { $0.write(Array("last".utf8)) } && held.endedCount == 0)
            // It ends them at once, however long it may take.
            server.stop(within: farDeadline)
            #expect(held.endedCount == clients.count && server.waitingCount == 0)
            #expect(streams.allSatisfy { !$0.write(Array("late".utf8)) })
            for client in clients {
                let (bytes, isComplete) = client.chunks()
                // There may have been more to come.
                #expect(Self.text(bytes) == "last" && !isComplete)
            }
        }
    }

    @Test func aStopThatRacesWithItsWritersEndsAll() throws {
        for _ in 0..<10 {
            let held = HeldStreams()
            try Self.serving(held, { $0.threadCount = 2 }) { server, port in
                let clients = try (0..<20).map { _ in try RawClient(port: port) }
                for client in clients { client.send(Self.request) }
                let streams = try clients.map { _ in try held.next() }
                let isOver = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    while streams.contains(where: { $0.write([0x61]) }) {}
                    isOver.signal()
                }
                server.stop(within: .zero)
                isOver.wait()
                #expect(held.endedCount == clients.count)
                for client in clients { _ = client.rest() }
            }
        }
    }

    @Test func whoeverWritesToAClientThatHasGoneLearnsIt() throws {
        let held = HeldStreams()
        try Self.serving(held) { server, port in
            var client: RawClient? = try RawClient(port: port)
            client?.send(Self.request)
            let stream = try held.next()
            #expect(client?.answer().status == 200)
            client = nil
            #expect(eventually { !stream.write(Array(": still here\n\n".utf8)) })
            try held.waitForEnd()
            #expect(!stream.isOpen && held.endedCount == 1)
            #expect(eventually { server.waitingCount == 0 })
        }
    }

    @Test func aReaderThatIsTooSlowIsEnded() throws {
        let held = HeldStreams()
        try Self.serving(held) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            let stream = try held.next()
            #expect(client.answer().status == 200)
            let piece = [UInt8](repeating: 0x61, count: 1000)
            // It takes nothing, so that the buffers of both sockets are full one day.
            while stream.write(piece) {}
            try held.waitForEnd()
            #expect(!client.chunks().isComplete)
        }
    }

    @Test func aPieceOfMoreThanAStreamMayKeepEndsIt() throws {
        let held = HeldStreams(capacity: 10)
        try Self.serving(held) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            let stream = try held.next()
            #expect(client.answer().status == 200 && stream.write([UInt8](repeating: 0x61, count: 10)))
            #expect(client.chunk()?.count == 10 && !stream.write([UInt8](repeating: 0x61, count: 11)))
            try held.waitForEnd()
            #expect(client.chunk() == nil)
        }
    }

    @Test func aReaderThatTakesNothingInTheTimeOfAnAnswerIsEnded() throws {
        let held = HeldStreams(capacity: Self.large.count)
        try Self.serving(held, { $0.requestTimeout = .seconds(2) }) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            let stream = try held.next()
            #expect(client.answer().status == 200 && stream.write(Self.large))
            try held.waitForEnd()
            #expect(!stream.isOpen && !client.chunks().isComplete)
        }
    }

    @Test func noTimeCountsWhileNothingIsThereToBeSent() throws {
        let held = HeldStreams()
        try Self.serving(held, { $0.requestTimeout = .seconds(2) }) { _, port in
            let client = try RawClient(port: port)
            client.send(Self.request)
            let stream = try held.next()
            #expect(client.answer().status == 200)
            #expect(stream.write([0x61]) && client.chunk() == [0x61])
            // It comes later, says nothing, and its time is over.
            let silent = try RawClient(port: port)
            #expect(silent.rest().isEmpty && silent.ending == 0)
            #expect(stream.write([0x62]) && client.chunk() == [0x62])
        }
    }

    @Test func aStreamThatIsNeverSentEnds() throws {
        let held = HeldStreams()
        let (isAnswered, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = HTTPServer { _, responder in
            responder.answer(.text("first"))
            let isFirst = responder.answer(held.makeAnswer())
            #expect(!isFirst)
            isAnswered.signal()
            goesOn.wait()
        }
        let port = try server.start().port
        defer { server.stop(within: .zero) }
        let client = try RawClient(port: port)
        client.send(Self.request)
        isAnswered.wait()
        let stream = try held.next()
        try held.waitForEnd()
        #expect(!stream.write([0x61]) && !stream.isOpen)
        goesOn.signal()
        #expect(Self.text(client.answer().body) == "first")
    }

    /// What came behind the head would be read as the beginning of the next answer.
    @Test func anAnswerToHEADIsItsHeadAndEndsTheStream() throws {
        let held = HeldStreams()
        try Self.serving(held) { _, port in
            let client = try RawClient(port: port)
            client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
            let stream = try held.next()
            let answer = client.answer(toHEAD: true)
            #expect(answer.status == 200 && answer.head.contains("\r\nContent-Type: text/event-stream\r\n"))
            try held.waitForEnd()
            #expect(!stream.write([0x61]) && client.rest().isEmpty && client.ending == 0)
        }
    }

    @Test func inHTTP10TheBodyEndsWithTheConnection() throws {
        let held = HeldStreams()
        try Self.serving(held) { _, port in
            let client = try RawClient(port: port)
            client.send("GET / HTTP/1.0\r\nHost: h\r\n\r\n")
            let stream = try held.next()
            let answer = client.answer()
            #expect(answer.status == 200 && !answer.head.lowercased().contains("chunked"))
            stream.write(Array(repeating: 0x61, count: 5000))
            stream.end()
            #expect(client.rest() == Array(repeating: 0x61, count: 5000) && client.ending == 0)
        }
    }
}
