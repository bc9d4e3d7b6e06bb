/// Asks one of our own servers on the loopback interface: one question per connection, nothing more.
enum HTTPProbe {
    struct Answer {
        let status: Int
        let head: String
        let body: String

        /// The value of a field of the head; nil without it.
        func field(_ name: String) -> String? {
            let prefix = "\(name.lowercased()):"
            let line = head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix(prefix) }
            return line.map { $0.dropFirst(prefix.count).drop(while: { $0 == " " }) }.map(String.init)
        }
    }

    /// Sends a request and reads the whole answer; nil when the server cannot be reached or does not answer.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - port: The server's port.
    ///   - path: The path with its query.
    ///   - headers: Lines of the head besides those of every request.
    ///   - body: The body.
    ///   - limit: How long it may be without a byte.
    ///   - host: The last byte of the asker's address.
    /// - Returns: The answer.
    static func ask(
        _ method: String = "GET", port: UInt16, _ path: String, headers: [String] = [], body: String = "",
        within limit: Duration = .seconds(5), from host: UInt8 = 1
    ) -> Answer? {
        guard let socket = try? Socket.connected(port: port, from: host) else { return nil }
        defer { socket.close() }
        socket.setTimeout(limit)
        guard socket.write(call(method, port: port, path, headers: ["Connection: close"] + headers, body: body)) else {
            return nil
        }
        var bytes: [UInt8] = []
        while true {
            let piece = socket.read(atMost: 1 << 16)
            if piece.isEmpty { break }
            bytes += piece
        }
        let words = String(decoding: bytes.prefix(64), as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else { return nil }
        // In UTF-8, because "\r\n" is one character of a String and an offset in characters would be wrong.
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.count
        return Answer(
            status: status, head: String(decoding: bytes[..<end], as: UTF8.self),
            body: String(decoding: bytes[end...], as: UTF8.self))
    }

    /// The bytes of a request.
    static func call(_ method: String, port: UInt16, _ path: String, headers: [String] = [], body: String = "") -> [UInt8] {
        let lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Content-Length: \(body.utf8.count)"] + headers
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
