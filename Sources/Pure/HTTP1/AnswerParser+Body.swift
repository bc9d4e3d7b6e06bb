import Basics

extension AnswerParser {
    /// Takes what has come of a body that is not chunked. Returns whether the body is whole.
    mutating func takeBody() throws(AnswerFault) -> Bool {
        let first = answer.bodyRange.lowerBound
        if phase == .closeDelimitedBody {
            guard filled - first <= limits.bodyByteCount else { throw .bodyTooLarge }
            read = filled
            return false
        }
        let piece = min(remaining, filled - read)
        remaining -= piece
        read += piece
        answer.bodyRange = first..<read
        guard remaining == 0 else { return false }
        phase = .complete
        return true
    }

    /// Takes the next part of a chunked body (RFC 9112, section 7.1). Returns whether there may be more to take.
    mutating func takeChunkedPart() throws(AnswerFault) -> Bool {
        switch phase {
        case .chunkSize:
            guard let line = try nextChunkLine() else { return false }
            try takeChunkSize(line)
            return true
        case .chunk:
            takeChunk()
            return remaining == 0
        case .chunkEnd:
            return try takeChunkEnd()
        case .trailer:
            guard let line = try nextTrailerLine() else { return false }
            if line.isEmpty { phase = .complete } else { try checkTrailer(line) }
            return true
        case .statusLine, .fields, .sizedBody, .closeDelimitedBody, .complete:
            return false
        }
    }

    /// Moves the line that has not come whole down to the body's end, so that a chunk's framing takes no memory.
    mutating func closeGap() {
        let end = answer.bodyRange.upperBound
        let gap = read - end
        guard gap > 0 else { return }
        move(read..<filled, to: end)
        filled -= gap
        scanned = max(scanned - gap, end)
        read = end
    }

    private mutating func nextChunkLine() throws(AnswerFault) -> Range<Int>? {
        try nextLine(before: read + limits.chunkLineByteCount, otherwise: .chunkLineTooLong)
    }

    private mutating func nextTrailerLine() throws(AnswerFault) -> Range<Int>? {
        let first = read
        let line = try nextLine(before: first + limits.headByteCount - trailerByteCount, otherwise: .trailersTooLarge)
        if line != nil { trailerByteCount += read - first }
        return line
    }

    /// Trailers are checked and not kept, so that a folded one is not worth a rule.
    private func checkTrailer(_ line: Range<Int>) throws(AnswerFault) {
        guard !ByteClass.isBlank(answer.bytes[line.lowerBound]) else { throw .foldedField }
        _ = try answer.bytes.span.field(HeadLine(place: line, isText: false))
    }

    private mutating func takeChunkSize(_ line: Range<Int>) throws(AnswerFault) {
        let size = try chunkSize(line)
        guard size <= limits.bodyByteCount - answer.bodyRange.count else { throw .bodyTooLarge }
        remaining = size
        phase = size == 0 ? .trailer : .chunk
    }

    /// `1*HEXDIG BWS [";" extensions]`. Blanks that fill the line up, as old servers have them, and extensions are checked and ignored.
    private func chunkSize(_ line: Range<Int>) throws(AnswerFault) -> Int {
        let bytes = answer.bytes.span.extracting(line)
        var size = 0
        var index = 0
        while index < bytes.count, let digit = bytes[index].hexadecimalValue {
            guard size < 1 << 58 else { throw .invalidChunk }
            size = size << 4 | Int(digit)
            index += 1
        }
        guard index > 0 else { throw .invalidChunk }
        while index < bytes.count, ByteClass.isBlank(bytes[index]) { index += 1 }
        if index == bytes.count { return size }
        guard bytes[index] == ByteClass.semicolon else { throw .invalidChunk }
        for place in index..<bytes.count where !ByteClass.isText(bytes[place]) { throw .invalidChunk }
        return size
    }

    private mutating func takeChunk() {
        let end = answer.bodyRange.upperBound
        let piece = min(remaining, filled - read)
        move(read..<read + piece, to: end)
        answer.bodyRange = answer.bodyRange.lowerBound..<end + piece
        read += piece
        scanned = read
        remaining -= piece
        if remaining == 0 { phase = .chunkEnd }
    }

    private mutating func takeChunkEnd() throws(AnswerFault) -> Bool {
        if read < filled, answer.bytes[read] != ByteClass.carriageReturn { throw .invalidChunk }
        guard filled - read >= 2 else { return false }
        guard answer.bytes[read + 1] == ByteClass.lineFeed else { throw .invalidChunk }
        read += 2
        scanned = read
        phase = .chunkSize
        return true
    }

    /// Moves bytes towards the front.
    private mutating func move(_ range: Range<Int>, to place: Int) {
        guard place < range.lowerBound else { return }
        var bytes = answer.bytes.mutableSpan
        for offset in 0..<range.count { bytes[place + offset] = bytes[range.lowerBound + offset] }
    }
}
