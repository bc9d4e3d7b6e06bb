/// A line of an answer's head, without its CRLF.
struct HeadLine {
    /// The place in the answer's bytes.
    let place: Range<Int>
    /// True if it is known to hold nothing but text.
    let isText: Bool
}

extension AnswerParser {
    /// Takes the next line of the head, when it has come.
    mutating func nextHeadLine() throws(AnswerFault) -> HeadLine? {
        if let place = plainLine() { return HeadLine(place: place, isText: true) }
        guard let place = try nextLine(before: limits.headByteCount, otherwise: .headTooLarge) else { return nil }
        return HeadLine(place: place, isText: false)
    }

    /// Takes the line at `read` if it is whole and one look at its bytes shows that it holds nothing but text. Nil leaves it to a
    /// closer look. Not tried again on a line that came in part, so that no byte is looked at more than twice, however they come.
    private mutating func plainLine() -> Range<Int>? {
        let reach = min(filled, limits.headByteCount)
        guard scanned == read, let end = answer.bytes.span.extracting(first: reach).endOfTextLine(from: read) else { return nil }
        let line = read..<end
        read = end + 2
        scanned = read
        return line
    }

    mutating func takeStatusLine(_ line: HeadLine) throws(AnswerFault) {
        let (status, isVersion10) = try answer.bytes.span.statusLine(line)
        framing.isVersion10 = isVersion10
        answer.status = status
        phase = .fields
    }

    /// One field, or the empty line that ends the head.
    mutating func takeHeadLine(_ line: HeadLine) throws(AnswerFault) {
        if line.place.isEmpty { return try endHead() }
        if ByteClass.isBlank(answer.bytes[line.place.lowerBound]) { return try unfold(line) }
        let field = try answer.bytes.span.field(line)
        guard answer.fields.count < limits.fieldCount else { throw .tooManyFields }
        answer.fields.append(field)
        switch field.name.count {
        case 10 where answer.holds("connection", at: field.name): takeConnection(field.value)
        case 14 where answer.holds("content-length", at: field.name): try takeContentLength(field.value)
        case 17 where answer.holds("transfer-encoding", at: field.name): try takeTransferEncoding(field.value)
        default: break
        }
    }

    /// Lets the last field go on with a line: what is between the two becomes spaces, so that its value is one text.
    ///
    /// A field that frames the answer is refused, because the next reader may not unfold it and see another end.
    private mutating func unfold(_ line: HeadLine) throws(AnswerFault) {
        let text = try answer.bytes.span.foldedText(line)
        guard let last = answer.fields.last, !isFraming(last.name) else { throw .foldedField }
        for place in last.value.upperBound..<text.lowerBound { answer.bytes[place] = ByteClass.space }
        let start = last.value.isEmpty ? text.lowerBound : last.value.lowerBound
        answer.fields[answer.fields.count - 1] = Answer.Field(name: last.name, value: start..<text.upperBound)
    }

    private func isFraming(_ name: Range<Int>) -> Bool {
        answer.holds("connection", at: name) || answer.holds("content-length", at: name)
            || answer.holds("transfer-encoding", at: name)
    }

    private mutating func takeConnection(_ value: Range<Int>) {
        var rest: Range<Int>? = value
        while let list = rest {
            let (option, others) = answer.bytes.span.firstElement(list)
            if answer.holds("close", at: option) { framing.saysClose = true }
            if answer.holds("keep-alive", at: option) { framing.saysKeepAlive = true }
            rest = others
        }
    }

    /// Digits. A list or a repeat is one length when all of them are equal (RFC 9112, section 6.3).
    private mutating func takeContentLength(_ value: Range<Int>) throws(AnswerFault) {
        var rest: Range<Int>? = value
        while let list = rest {
            let (element, others) = answer.bytes.span.firstElement(list)
            let length = try answer.bytes.span.contentLength(element)
            guard framing.contentLength == nil || framing.contentLength == length else { throw .differingContentLengths }
            framing.contentLength = length
            rest = others
        }
    }

    private mutating func takeTransferEncoding(_ value: Range<Int>) throws(AnswerFault) {
        guard answer.holds("chunked", at: value), !framing.isChunked else { throw .unknownTransferCoding }
        framing.isChunked = true
    }

    /// Decides what follows the head (RFC 9112, section 6.3).
    private mutating func endHead() throws(AnswerFault) {
        guard !framing.isChunked || framing.contentLength == nil else { throw .lengthAndTransferCoding }
        guard !framing.isChunked || !framing.isVersion10 else { throw .unknownTransferCoding }
        if answer.status < 200 { return try skipInterim() }
        answer.keepsAlive = !framing.saysClose && (!framing.isVersion10 || framing.saysKeepAlive) && answer.status != 421
        answer.bodyRange = read..<read
        if answersHead || answer.status == 204 || answer.status == 304 {
            phase = .complete
        } else if framing.isChunked {
            phase = .chunkSize
        } else if let length = framing.contentLength {
            guard length <= limits.bodyByteCount else { throw .bodyTooLarge }
            remaining = length
            phase = .sizedBody
        } else {
            answer.keepsAlive = false
            phase = .closeDelimitedBody
        }
    }

    private mutating func skipInterim() throws(AnswerFault) {
        guard answer.status != 101 else { throw .unexpectedUpgrade }
        answer.fields.removeAll(keepingCapacity: true)
        answer.status = 0
        framing = Framing()
        start = read
        phase = .statusLine
    }
}
