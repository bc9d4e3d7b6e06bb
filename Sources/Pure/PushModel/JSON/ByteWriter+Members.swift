public import Basics

/// Members of JSON that is written in one go, as records and results are. A key is a literal that brings its comma, quotation marks and
/// colon, and may end what stands before it: in line nothing is left of it but a few moves. A member without a value is left out.
extension ByteWriter {
    /// Appends `"name":` as the next member of the JSON object that is being written, with a comma unless it is the first.
    @inlinable @inline(__always) public mutating func append(key name: StaticString) {
        if last == UInt8(ascii: "{") { append("\"") } else { append(",\"") }
        append(name)
        append("\":")
    }

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

    /// Appends a key and a valid value of a document as it was read.
    @inlinable @inline(__always) public mutating func append(
        _ key: StaticString, verbatim node: JSONDocument.Node?, in document: borrowing JSONDocument
    ) {
        guard let node else { return }
        append(key)
        append(verbatim: node, in: document)
    }

    /// Appends an object's member of this name, with a comma before it, as it was read.
    public mutating func append(
        member name: StaticString, of object: JSONDocument.Node, in document: borrowing JSONDocument
    ) {
        guard let node = document.member(name, of: object) else { return }
        append(",\"")
        append(name)
        append("\":")
        append(verbatim: node, in: document)
    }

    /// Appends a valid value of a document as it was read. A text, which has lost its quotation marks there, gets them back.
    public mutating func append(verbatim node: JSONDocument.Node, in document: borrowing JSONDocument) {
        let text = document.span(document.text(of: node))
        if document.kind(of: node) == .string { append(json: text) } else { append(text) }
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

    /// Appends values with commas between them, each by a closure.
    @inlinable @inline(__always) public mutating func append<Values: Sequence>(
        list values: Values, by write: (inout ByteWriter, Values.Element) -> Void
    ) {
        var isFirst = true
        for value in values {
            if isFirst { isFirst = false } else { append(",") }
            write(&self, value)
        }
    }
}
