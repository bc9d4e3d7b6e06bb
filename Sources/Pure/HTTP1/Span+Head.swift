import Basics

/// The parts of an answer's head, read from its bytes.
///
/// Functions of the bytes alone: a parser that called them on itself would be copied for each.
extension Span<UInt8> {
    /// The place at which the line that begins at `start` ends with CRLF, if it is whole and holds nothing but text.
    func endOfTextLine(from start: Int) -> Int? {
        let end = endOfText(from: start)
        guard end + 1 < count, self[end] == ByteClass.carriageReturn, self[end + 1] == ByteClass.lineFeed else { return nil }
        return end
    }

    /// `HTTP/1.x SP 3DIGIT [SP [reason]]` (RFC 9112, section 4). The last space is missing from some peers, and says nothing.
    func statusLine(_ line: HeadLine) throws(AnswerFault) -> (status: Int, isVersion10: Bool) {
        let bytes = extracting(line.place)
        guard bytes.count >= 12, bytes[0] == 0x48, bytes[1] == 0x54, bytes[2] == 0x54, bytes[3] == 0x50, bytes[4] == 0x2F,
            bytes[5].isDigit, bytes[6] == 0x2E, bytes[7].isDigit, bytes[8] == ByteClass.space,
            bytes.count == 12 || bytes[12] == ByteClass.space
        else { throw .invalidStatusLine }
        guard bytes[5] == 0x31, bytes[7] <= 0x31 else { throw .unsupportedVersion }
        var status = 0
        for index in 9..<12 {
            guard bytes[index].isDigit else { throw .invalidStatusLine }
            status = status * 10 + Int(bytes[index] &- 0x30)
        }
        guard (100..<600).contains(status) else { throw .invalidStatusLine }
        if !line.isText { try checkText(line.place.lowerBound + 12..<line.place.upperBound, otherwise: .invalidStatusLine) }
        return (status, bytes[7] == 0x30)
    }

    /// `name ":" OWS value OWS` (RFC 9112, section 5).
    func field(_ line: HeadLine) throws(AnswerFault) -> Answer.Field {
        let bytes = extracting(line.place)
        let length = bytes.endOfToken()
        guard length < bytes.count else { throw .invalidFieldName }
        guard bytes[length] == ByteClass.colon, length > 0 else {
            switch bytes[length] {
            case ByteClass.space, ByteClass.tab: throw .whitespaceBeforeColon
            case ByteClass.carriageReturn: throw .bareCarriageReturn
            default: throw .invalidFieldName
            }
        }
        let colon = line.place.lowerBound + length
        let value = trimmed(colon + 1..<line.place.upperBound)
        try checkValue(value, of: line)
        return Answer.Field(name: line.place.lowerBound..<colon, value: value)
    }

    /// The element of a comma-separated list that starts at `range`'s start, and the rest behind its comma, nil after the last.
    func firstElement(_ range: Range<Int>) -> (element: Range<Int>, rest: Range<Int>?) {
        var end = range.lowerBound
        while end < range.upperBound, self[end] != ByteClass.comma { end += 1 }
        return (trimmed(range.lowerBound..<end), end < range.upperBound ? end + 1..<range.upperBound : nil)
    }

    /// Digits that make a number of 63 bits (RFC 9112, section 6.3).
    func contentLength(_ digits: Range<Int>) throws(AnswerFault) -> Int {
        let bytes = extracting(digits)
        guard !bytes.isEmpty else { throw .invalidContentLength }
        var length = 0
        for index in bytes.indices {
            guard bytes[index].isDigit else { throw .invalidContentLength }
            let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int(bytes[index] &- 0x30))
            guard !overflow, !carry else { throw .invalidContentLength }
            length = sum
        }
        return length
    }

    /// Finds the text of a line that goes on with a field (RFC 9112, section 5.2). One of blanks alone is refused: some end a head there.
    func foldedText(_ line: HeadLine) throws(AnswerFault) -> Range<Int> {
        let text = trimmed(line.place)
        guard !text.isEmpty else { throw .foldedField }
        try checkValue(text, of: line)
        return text
    }

    private func checkValue(_ value: Range<Int>, of line: HeadLine) throws(AnswerFault) {
        if !line.isText { try checkText(value, otherwise: .invalidFieldValue) }
    }

    private func checkText(_ range: Range<Int>, otherwise fault: AnswerFault) throws(AnswerFault) {
        let bytes = extracting(range)
        let end = bytes.endOfText()
        guard end == bytes.count else { throw bytes[end] == ByteClass.carriageReturn ? .bareCarriageReturn : fault }
    }

    /// The range without the blanks and tabs around it.
    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (first, end) = (range.lowerBound, range.upperBound)
        while first < end, ByteClass.isBlank(self[first]) { first += 1 }
        while end > first, ByteClass.isBlank(self[end - 1]) { end -= 1 }
        return first..<end
    }
}
