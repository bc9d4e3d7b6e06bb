/// Asks one of our own servers on the loopback interface: one question per connection, nothing more.
enum HTTPProbe {
    struct Answer {
        let status: Int
        let body: String
    }

    /// Sends a request and reads the whole answer; nil when the server cannot be reached or does not answer.
    static func ask(_ method: String = "GET", port: UInt16, _ path: String, body: String = "") -> Answer? {
        guard let socket = try? Socket.connected(port: port) else { return nil }
        defer { socket.close() }
        socket.setTimeout(.seconds(5))
        let request =
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        guard socket.write(Array(request.utf8)) else { return nil }
        var bytes: [UInt8] = []
        while true {
            let piece = socket.read(atMost: 1 << 16)
            if piece.isEmpty { break }
            bytes += piece
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else { return nil }
        // In UTF-8, because "\r\n" is one character of a String and an offset in characters would be wrong.
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.count
        return Answer(status: status, body: String(decoding: bytes[end...], as: UTF8.self))
    }
}
