/// A second reading of one answer, written from RFC 9112 for clearness alone: whole bytes, no pieces, no limits, no speed.
///
/// It shares nothing with `AnswerParser`, so that the two find each other's faults.
struct ReferenceReading {
    private(set) var content = Content()
    private var headByteCount = 0
    private var mostFields = 0
    private var longestChunkLine = 0
    private var trailerByteCount = 0
    private var lengths: [Int] = []
    private var isChunked = false
    private var isVersion10 = false
    private var rest: ArraySlice<UInt8>

    /// Something that the RFC forbids, or an end that comes too soon.
    private struct Refused: Error {}

    /// Reads bytes that must be one answer from the first to the last.
    ///
    /// - Returns: Nil when they are not.
    static func read(_ bytes: [UInt8], answersHead: Bool, closes: Bool) -> ReferenceReading? {
        var reading = ReferenceReading(rest: bytes[...])
        do {
            repeat { try reading.readHead() } while reading.content.status < 200
            reading.headByteCount = bytes.count - reading.rest.count
            try reading.readBody(hasNone: answersHead || [204, 304].contains(reading.content.status), closes: closes)
        } catch {
            return nil
        }
        return reading.rest.isEmpty ? reading : nil
    }

    private init(rest: ArraySlice<UInt8>) {
        self.rest = rest
    }

    func isWithin(_ limits: AnswerLimits) -> Bool {
        headByteCount <= limits.headByteCount && mostFields <= limits.fieldCount && content.body.count <= limits.bodyByteCount
            && longestChunkLine <= limits.chunkLineByteCount && trailerByteCount <= limits.headByteCount
    }

    // MARK: Head (sections 4, 5 and 6)

    private mutating func readHead() throws {
        content = Content()
        (lengths, isChunked) = ([], false)
        try readStatusLine()
        var options: [[UInt8]] = []
        while let (field, isFolded) = try readFoldedField() {
            content.fields.append(field)
            let name = String(decoding: field.name, as: UTF8.self).lowercased()
            try require(!isFolded || !["connection", "content-length", "transfer-encoding"].contains(name))
            switch name {
            case "connection": options += elements(field.value)
            case "content-length": lengths += try elements(field.value).map(decimal)
            case "transfer-encoding": try readTransferEncoding(field.value)
            default: break
            }
        }
        mostFields = max(mostFields, content.fields.count)
        try require(Set(lengths).count <= 1)
        try require(!isChunked || (lengths.isEmpty && !isVersion10))
        let names = options.map { String(decoding: $0, as: UTF8.self).lowercased() }
        content.keepsAlive =
            !names.contains("close") && (!isVersion10 || names.contains("keep-alive")) && content.status != 421
    }

    private mutating func readStatusLine() throws {
        let line = try line()
        try require(line.count >= 12)
        let version = String(decoding: line[..<9], as: UTF8.self)
        try require(version == "HTTP/1.1 " || version == "HTTP/1.0 ")
        isVersion10 = version == "HTTP/1.0 "
        content.status = try decimal(Array(line[9..<12]))
        try require((100..<600).contains(content.status) && content.status != 101)
        try require(line.count == 12 || line[12] == UInt8(ascii: " ") && line[13...].allSatisfy(isText))
    }

    /// One field with the lines that go on with it (section 5.2), or nil for the empty line.
    private mutating func readFoldedField() throws -> (field: Content.Field, isFolded: Bool)? {
        guard var (field, blanks) = try readRawField() else { return nil }
        var isFolded = false
        while let first = rest.first, isBlank(first) {
            let line = try line()
            let text = trimmed(line[...])
            try require(!text.isEmpty && text.allSatisfy(isText))
            // All that was between the two, the two bytes of the line's end included.
            let spaces = blanks + 2 + line.prefix(while: isBlank).count
            field.value += field.value.isEmpty ? text : Array(repeating: 0x20, count: spaces) + text
            blanks = line.reversed().prefix(while: isBlank).count
            isFolded = true
        }
        return (field, isFolded)
    }

    /// One field, or nil for the empty line.
    private mutating func readField() throws -> Content.Field? { try readRawField()?.field }

    /// One field, and how many blanks follow its value.
    private mutating func readRawField() throws -> (field: Content.Field, blanks: Int)? {
        let line = try line()
        if line.isEmpty { return nil }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw Refused() }
        let name = Array(line[..<colon])
        let tokenMarks = Array("!#$%&'*+-.^_`|~".utf8)
        try require(!name.isEmpty && name.allSatisfy { isLetterOrDigit($0) || tokenMarks.contains($0) })
        let value = trimmed(line[(colon + 1)...])
        try require(value.allSatisfy(isText))
        return (Content.Field(name: name, value: value), line.reversed().prefix(while: isBlank).count)
    }

    private mutating func readTransferEncoding(_ value: [UInt8]) throws {
        try require(!isChunked && String(decoding: value, as: UTF8.self).lowercased() == "chunked")
        isChunked = true
    }

    // MARK: Body (sections 6.3 and 7.1)

    private mutating func readBody(hasNone: Bool, closes: Bool) throws {
        if hasNone { return }
        if isChunked {
            try readChunks()
        } else if let length = lengths.first {
            content.body = try take(length)
        } else {
            try require(closes)
            content.body = try take(rest.count)
            content.keepsAlive = false
        }
    }

    private mutating func readChunks() throws {
        while true {
            let line = try line()
            longestChunkLine = max(longestChunkLine, line.count + 2)
            let size = try chunkSize(line)
            if size == 0 { break }
            content.body += try take(size)
            try require(try self.line().isEmpty)
        }
        let before = rest.count
        while try readField() != nil {}
        trailerByteCount = before - rest.count
    }

    private func chunkSize(_ line: [UInt8]) throws -> Int {
        let digits = line.prefix { isLetterOrDigit($0) }
        try require(digits.allSatisfy { $0 < 0x80 })
        // A size with more digits than an integer holds is larger than any input.
        guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0 else { throw Refused() }
        let extensions = line[digits.count...].drop(while: isBlank)
        try require(extensions.isEmpty || extensions.first == UInt8(ascii: ";"))
        try require(extensions.allSatisfy(isText))
        return size
    }

    // MARK: Pieces

    /// The bytes before the next CRLF; a LF alone is refused, and so is a CR alone, which is no text.
    private mutating func line() throws -> [UInt8] {
        guard let end = rest.firstIndex(of: 0x0A), end > rest.startIndex, rest[end - 1] == 0x0D else { throw Refused() }
        defer { rest = rest[(end + 1)...] }
        return Array(rest[rest.startIndex..<end - 1])
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        try require(count <= rest.count)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private func elements(_ value: [UInt8]) -> [[UInt8]] {
        value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { trimmed($0) }
    }

    private func decimal(_ digits: [UInt8]) throws -> Int {
        try require(digits.allSatisfy { (0x30...0x39).contains($0) })
        guard let number = Int(String(decoding: digits, as: UTF8.self)) else { throw Refused() }
        return number
    }

    private func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    private func require(_ condition: Bool) throws {
        if !condition { throw Refused() }
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Anything but control characters (RFC 9110, section 5.5), tab excepted.
    private func isText(_ byte: UInt8) -> Bool { byte == 0x09 || (byte >= 0x20 && byte != 0x7F) }

    private func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
