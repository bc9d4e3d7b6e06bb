import HTTPServing
import TestSupport
import Testing

/// Bodies that come packed with gzip.
@Suite(.tags(.threads, .c)) struct PackedBodyTests {
    /// Serves while `body` runs: `/as-it-comes` does not unpack, `/` does, up to 1,000 bytes; both answer what they have read.
    private static func serving(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPServerRequest, Responder) -> Void = {
            $1.answer(HTTPServerResponse(status: 200, body: $0.body))
        },
        _ body: (Int) throws -> Void
    ) throws {
        var configuration = HTTPServerConfiguration()
        configuration.admission = { $0.path == "/" ? .readUnpacked(atMost: 1000) : .read(atMost: 1000) }
        configure(&configuration)
        let server = HTTPServer(configuration, handler: handler)
        let address = try server.start()
        defer { server.stop(within: .zero) }
        try body(address.port)
    }

    /// A request with its length, and the same in chunks of 10 bytes.
    private static func requests(_ body: [UInt8], _ fields: [String], to path: String = "/") -> [[UInt8]] {
        let head = "POST \(path) HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined()
        let whole = Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8) + body
        var chunked = Array((head + "Transfer-Encoding: chunked\r\n\r\n").utf8)
        for start in stride(from: 0, to: body.count, by: 10) {
            let chunk = body[start..<min(start + 10, body.count)]
            chunked += Array((String(chunk.count, radix: 16) + "\r\n").utf8) + chunk + Array("\r\n".utf8)
        }
        return [whole, chunked + Array("0\r\n\r\n".utf8)]
    }

    private static let hello = Array("hello".utf8)
    private static let packed = GzipMaker.store(hello)

    private static let readable: [(body: [UInt8], fields: [String], content: [UInt8])] = [
        (packed, ["Content-Encoding: gzip"], hello), (packed, ["Content-Encoding: GZip"], hello),
        (packed, ["Content-Encoding: x-gzip"], hello), (packed, ["Content-Encoding: identity , gzip ,"], hello),
        (packed + packed, ["Content-Encoding: gzip"], hello + hello),
        (GzipMaker.pack(0x61, repeats: 3), ["Content-Encoding: gzip"], [UInt8](repeating: 0x61, count: 775)),
        (GzipMaker.store([]), ["Content-Encoding: gzip"], []), ([], ["Content-Encoding: gzip"], []),
        (hello, [], hello), (hello, ["Content-Encoding: identity"], hello), (hello, ["Content-Encoding:"], hello),
        (packed, [], packed),
    ]

    @Test(arguments: readable)
    func aHandlerGetsWhatWasPacked(body: [UInt8], fields: [String], content: [UInt8]) throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            for request in Self.requests(body, fields) {
                client.send(request)
                let answer = client.answer()
                #expect(answer.status == 200 && answer.body == content)
            }
        }
    }

    @Test func whereNobodyAsksForItBodiesStayAsTheyCame() throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            for coding in ["gzip", "br"] {
                for request in Self.requests(Self.packed, ["Content-Encoding: \(coding)"], to: "/as-it-comes") {
                    client.send(request)
                    #expect(client.answer().body == Self.packed)
                }
            }
        }
    }

    /// The first five are no whole gzip, the others become too much.
    private static let refused: [(status: Int, body: [UInt8])] = [
        (400, hello), (400, Array(packed.dropLast())), (400, packed + [0]), (400, packed + hello),
        (400, Array(packed.dropLast(8)) + [0, 0, 0, 0, 5, 0, 0, 0]), (413, GzipMaker.pack(0x61, repeats: 4)),
        (413, GzipMaker.pack(0x61, repeats: 10_000)), (413, GzipMaker.store([UInt8](repeating: 0x61, count: 1001))),
    ]

    @Test(arguments: refused)
    func whatIsNoGzipOrBecomesTooMuchIsRefused(status: Int, body: [UInt8]) throws {
        let isAsked = HeldResponders()
        try Self.serving(handler: { isAsked.keep($1) }) { port in
            for request in Self.requests(body, ["Content-Encoding: gzip"]) {
                let client = try RawClient(port: port)
                client.send(request)
                #expect(client.answer().status == status)
            }
        }
        #expect(isAsked.count == 0)
    }

    @Test(arguments: [
        ["Content-Encoding: br"], ["Content-Encoding: gzip, gzip"], ["Content-Encoding: gzip", "Content-Encoding: gzip"],
        ["Content-Encoding: deflate, identity"], ["Content-Encoding: gzip;q=1"], ["Content-Encoding: gzip br"],
    ])
    func anotherCodingIsRefusedAtTheHead(fields: [String]) throws {
        try Self.serving { port in
            let client = try RawClient(port: port)
            client.send(
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n" + fields.joined(separator: "\r\n")
                    + "\r\n\r\n")
            let answer = client.answer()
            #expect(answer.status == 415 && answer.head.contains("\r\nAccept-Encoding: gzip\r\n"))
            #expect(client.rest().isEmpty && client.ending == 0)
        }
    }

    /// Beside what unpacks a body, there is room for 1,000 bytes beyond 100 of each.
    @Test func bodiesCountAsWhatTheyBecome() throws {
        let held = HeldResponders()
        try Self.serving(
            {
                $0.maximumBodyByteCountInAll = (40 << 10) + 1000
                $0.uncountedBodyByteCount = 100
            }, handler: { held.keepLate($0, $1) }
        ) { port in
            let (first, second) = (try RawClient(port: port), try RawClient(port: port))
            let packed = Self.requests(GzipMaker.pack(0x61, repeats: 3), ["Content-Encoding: gzip"])[0]
            first.send(packed)
            #expect(String(decoding: first.answer().body, as: UTF8.self) == "soon")
            first.send(Self.requests([UInt8](repeating: 0x61, count: 900), [], to: "/late")[0])
            let responder = try held.next()
            // Beside that one there is room for what unpacks a second one, and not for what it becomes.
            second.send(packed)
            #expect(second.answer().status == 503)
            responder.answer(.text("late"))
            #expect(first.answer().status == 200)
            #expect(
                try eventually {
                    let next = try RawClient(port: port)
                    next.send(packed)
                    return next.answer().status == 200
                })
        }
    }
}
