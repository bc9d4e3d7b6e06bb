import FaultOracle

/// A connection of one caller to one gateway, which is made again after it has broken. To be used by one thread.
final class HTTPConnection {
    private let gateway: GatewayProcess
    /// The API key.
    private let key: String
    private var socket: Socket?
    /// Which start of the gateway it is connected to.
    private var run = ""
    private var reader = FactReader()

    init(_ gateway: GatewayProcess, key: String) {
        self.gateway = gateway
        self.key = key
    }

    /// Publishes a request.
    ///
    /// - Returns: What came of it; nil when the gateway was not reached, so that nothing can be written.
    func publish(_ number: Int) -> HTTPCallFact? {
        if socket == nil {
            guard let made = try? Socket.connected(port: gateway.port) else { return nil }
            made.setTimeout(Self.answerTime)
            socket = made
            run = gateway.run
        }
        guard let socket else { return nil }
        var call = HTTPCallFact(number, gateway: run, status: 0)
        let answer = socket.write(HTTPLoad.call(of: number, port: gateway.port, apiKey: key)) ? Answer(from: socket) : nil
        call.at = Clock.now()
        guard let answer else {
            close()
            return call
        }
        call.status = answer.status
        reader.readAnswer(answer.body.span, into: &call)
        if answer.isLast { close() }
        return call
    }

    /// Ends the connection; the next call makes another one.
    func close() {
        socket?.close()
        socket = nil
    }

    /// Longer than a gateway takes for any answer.
    private static let answerTime = Duration.seconds(30)
}

extension HTTPConnection {
    /// An answer that was read whole.
    private struct Answer {
        let status: Int
        let body: [UInt8]
        /// Whether the server ends the connection after it.
        let isLast: Bool

        private static let headEnd = Array("\r\n\r\n".utf8)

        /// Reads an answer with a Content-Length; nil when the connection ends before it is whole.
        init?(from socket: Socket) {
            var bytes: [UInt8] = []
            while true {
                if let end = bytes.firstRange(of: Self.headEnd) {
                    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
                    let lines = head.split(whereSeparator: \.isNewline)
                    let words = lines.first?.split(separator: " ") ?? []
                    guard words.count >= 2, let status = Int(words[1]), let count = Self.contentLength(lines) else { return nil }
                    if bytes.count >= end.upperBound + count {
                        self.status = status
                        body = Array(bytes[end.upperBound..<end.upperBound + count])
                        isLast = lines.contains("connection: close")
                        return
                    }
                }
                let piece = socket.read(atMost: 1 << 14)
                guard !piece.isEmpty else { return nil }
                bytes += piece
            }
        }

        private static func contentLength(_ lines: [Substring]) -> Int? {
            let name = "content-length:"
            guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
            return Int(line.dropFirst(name.count).filter { $0 != " " }).flatMap { $0 >= 0 ? $0 : nil }
        }
    }
}
