extension AnswerParser {
    mutating func nextHeadLine() throws(AnswerFault) -> Range<Int>? {
        try nextLine(before: limits.headByteCount, otherwise: .headTooLarge)
    }

    mutating func takeStatusLine(_ line: Range<Int>) throws(AnswerFault) {
        let (status, isVersion10) = try statusLine(line)
        try checkText(line.lowerBound + 13..<line.upperBound, otherwise: .invalidStatusLine)
        framing.isVersion10 = isVersion10
        answer.status = status
        phase = .fields
    }

    /// The fixed part of `HTTP/1.x SP 3DIGIT SP [reason]` (RFC 9112, section 4); whoever leaves out the last space is refused.
    private func statusLine(_ line: Range<Int>) throws(AnswerFault) -> (status: Int, isVersion10: Bool) {
        let bytes = answer.bytes.span.extracting(line)
        guard bytes.count >= 13, bytes[0] == 0x48, bytes[1] == 0x54, bytes[2] == 0x54, bytes[3] == 0x50, bytes[4] == 0x2F,
            ByteClass.isDigit(bytes[5]), bytes[6] == 0x2E, ByteClass.isDigit(bytes[7]), bytes[8] == ByteClass.space,
            bytes[12] == ByteClass.space
        else { throw .invalidStatusLine }
        guard bytes[5] == 0x31, bytes[7] <= 0x31 else { throw .unsupportedVersion }
        var status = 0
        for index in 9..<12 {
            guard ByteClass.isDigit(bytes[index]) else { throw .invalidStatusLine }
            status = status * 10 + Int(bytes[index] &- 0x30)
        }
        guard (100..<600).contains(status) else { throw .invalidStatusLine }
        return (status, bytes[7] == 0x30)
    }

    /// One field, or the empty line that ends the head.
    mutating func takeHeadLine(_ line: Range<Int>) throws(AnswerFault) {
        if line.isEmpty { return try endHead() }
        let field = try self.field(line)
        guard answer.fields.count < limits.fieldCount else { throw .tooManyFields }
        answer.fields.append(field)
        switch field.name.count {
        case 10 where answer.holds("connection", at: field.name): takeConnection(field.value)
        case 14 where answer.holds("content-length", at: field.name): try takeContentLength(field.value)
        case 17 where answer.holds("transfer-encoding", at: field.name): try takeTransferEncoding(field.value)
        default: break
        }
    }

    /// `name ":" OWS value OWS` (RFC 9112, section 5).
    func field(_ line: Range<Int>) throws(AnswerFault) -> Answer.Field {
        let bytes = answer.bytes.span.extracting(line)
        guard !ByteClass.isBlank(bytes[0]) else { throw .foldedField }
        var length = 0
        while length < bytes.count, ByteClass.isToken(bytes[length]) { length &+= 1 }
        guard length < bytes.count else { throw .invalidFieldName }
        guard bytes[length] == ByteClass.colon, length > 0 else {
            switch bytes[length] {
            case ByteClass.space, ByteClass.tab: throw .whitespaceBeforeColon
            case ByteClass.carriageReturn: throw .bareCarriageReturn
            default: throw .invalidFieldName
            }
        }
        let colon = line.lowerBound + length
        let value = trimmed(colon + 1..<line.upperBound)
        try checkText(value, otherwise: .invalidFieldValue)
        return Answer.Field(name: line.lowerBound..<colon, value: value)
    }

    private func checkText(_ range: Range<Int>, otherwise fault: AnswerFault) throws(AnswerFault) {
        let bytes = answer.bytes.span.extracting(range)
        var index = 0
        while index < bytes.count, ByteClass.isText(bytes[index]) { index &+= 1 }
        guard index == bytes.count else { throw bytes[index] == ByteClass.carriageReturn ? .bareCarriageReturn : fault }
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        let bytes = answer.bytes.span
        var (first, end) = (range.lowerBound, range.upperBound)
        while first < end, ByteClass.isBlank(bytes[first]) { first += 1 }
        while end > first, ByteClass.isBlank(bytes[end - 1]) { end -= 1 }
        return first..<end
    }

    /// The element of a comma-separated list that starts at `range`'s start, and the rest behind its comma, nil after the last.
    private func firstElement(_ range: Range<Int>) -> (element: Range<Int>, rest: Range<Int>?) {
        let bytes = answer.bytes.span
        var end = range.lowerBound
        while end < range.upperBound, bytes[end] != ByteClass.comma { end += 1 }
        return (trimmed(range.lowerBound..<end), end < range.upperBound ? end + 1..<range.upperBound : nil)
    }

    private mutating func takeConnection(_ value: Range<Int>) {
        var rest: Range<Int>? = value
        while let list = rest {
            let (option, others) = firstElement(list)
            if answer.holds("close", at: option) { framing.saysClose = true }
            if answer.holds("keep-alive", at: option) { framing.saysKeepAlive = true }
            rest = others
        }
    }

    /// Digits; a list or a repeat is one length when all of them are equal (RFC 9112, section 6.3).
    private mutating func takeContentLength(_ value: Range<Int>) throws(AnswerFault) {
        var rest: Range<Int>? = value
        while let list = rest {
            let (element, others) = firstElement(list)
            let length = try contentLength(element)
            guard framing.contentLength == nil || framing.contentLength == length else { throw .differingContentLengths }
            framing.contentLength = length
            rest = others
        }
    }

    private func contentLength(_ digits: Range<Int>) throws(AnswerFault) -> Int {
        let bytes = answer.bytes.span.extracting(digits)
        guard !bytes.isEmpty else { throw .invalidContentLength }
        var length = 0
        for index in bytes.indices {
            guard ByteClass.isDigit(bytes[index]) else { throw .invalidContentLength }
            let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int(bytes[index] &- 0x30))
            guard !overflow, !carry else { throw .invalidContentLength }
            length = sum
        }
        return length
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
        answer.keepsAlive = !framing.saysClose && (!framing.isVersion10 || framing.saysKeepAlive)
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
