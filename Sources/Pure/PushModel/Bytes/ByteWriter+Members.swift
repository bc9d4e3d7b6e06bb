/// Members of JSON that is written in one go, as records and results are. A key is a literal that brings its comma, quotation marks and
/// colon, and may end what stands before it: in line nothing is left of it but a few moves. A member without a value is left out.
extension ByteWriter {
    /// Appends a key and a text as a JSON string.
    @inlinable @inline(__always) public mutating func append(_ key: StaticString, json text: Span<UInt8>) {
        append(key)
        append(json: text)
    }

    /// Appends a key and a text as a JSON string.
    @inlinable @inline(__always) public mutating func append(_ key: StaticString, json text: String?) {
        guard let text else { return }
        append(key)
        append(json: text)
    }

    /// Appends a key and a text of a document as a JSON string.
    @inlinable @inline(__always) public mutating func append(
        _ key: StaticString, text: JSONDocument.Text?, in document: borrowing JSONDocument
    ) {
        guard let text else { return }
        append(key, json: document.span(text))
    }

    /// Appends a key and a valid value of a document as it was written.
    @inlinable @inline(__always) public mutating func append(
        _ key: StaticString, verbatim node: JSONDocument.Node?, in document: borrowing JSONDocument
    ) {
        guard let node else { return }
        append(key)
        append(document.span(document.text(of: node)))
    }

    /// Appends a key and a word, of whose letters JSON escapes none, as a string.
    @inlinable @inline(__always) public mutating func append(_ key: StaticString, word: String?) {
        guard let word else { return }
        append(key)
        append(quoting: word.utf8Span.span)
    }

    /// Appends a key and a word, of whose letters JSON escapes none, as a string.
    @inlinable @inline(__always) public mutating func append(_ key: StaticString, word: StaticString) {
        append(key)
        append("\"")
        append(word)
        append("\"")
    }

    /// Appends a key and a number.
    @inlinable @inline(__always) public mutating func append(_ key: StaticString, decimal value: Int64?) {
        guard let value else { return }
        append(key)
        append(decimal: value)
    }

    /// Appends a key and a number.
    @inlinable @inline(__always) public mutating func append(_ key: StaticString, decimal value: Int) {
        append(key)
        append(decimal: value)
    }

    /// Appends a key and a number of milliseconds. Clocks of publisher, broker and worker differ, but a wait is never shown as negative.
    @inlinable @inline(__always) public mutating func append(_ key: StaticString, wait milliseconds: Int64?) {
        append(key, decimal: milliseconds.map { max(0, $0) })
    }

    /// Appends a key and a moment as a string.
    @inlinable @inline(__always) public mutating func append(_ key: StaticString, moment: Timestamp?) {
        var text = TimestampText()
        append(key, moment: moment, by: &text)
    }

    /// Appends a key and a moment as a string, by way of a text that showed another one that was near.
    @inlinable @inline(__always) public mutating func append(
        _ key: StaticString, moment: Timestamp?, by text: inout TimestampText
    ) {
        guard let moment else { return }
        append(key)
        append("\"")
        append(moment, by: &text)
        append("\"")
    }
}
