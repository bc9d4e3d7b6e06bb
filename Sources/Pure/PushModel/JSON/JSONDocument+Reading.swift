extension JSONDocument {
    /// The greatest depth of objects and arrays inside one another. Deeper texts are refused.
    public static let maximumDepth = 64
    /// Bytes of one text, 16 MiB. Larger ones are refused.
    public static let maximumByteCount = 16 << 20

    /// Reads one JSON text in place of what the document held. After an error it holds nothing.
    ///
    /// - Parameters:
    ///   - source: The text, UTF-8 without a byte order mark.
    ///   - replacesHalfPairs: True to read an escape that is half a surrogate pair as U+FFFD and to mark it (`illFormedTexts`).
    ///     Otherwise it is a fault.
    ///   - namesDuplicates: False to leave `duplicateKeys` empty, which saves comparing the keys of large objects.
    /// - Throws: `JSONError` naming the reason, the byte and the JSON Pointer of the first fault.
    public mutating func read(
        _ source: Span<UInt8>, replacingHalfPairs replacesHalfPairs: Bool = false, namingDuplicates namesDuplicates: Bool = true
    ) throws(JSONError) {
        removeAll()
        guard source.count <= Self.maximumByteCount else {
            throw JSONError(reason: .tooLarge, offset: Self.maximumByteCount, pointer: "")
        }
        content.append(source)
        var reader = JSONReader(replacesHalfPairs: replacesHalfPairs)
        do {
            while try !Self.read(source, on: &reader, into: &tokens, decoding: &content) {
                addRoom(for: source.count)
            }
        } catch {
            let offset = error == .unexpectedEnd ? source.count : reader.index
            let pointer = pointer(over: reader.openSteps(in: self))
            removeAll()
            throw JSONError(reason: error, offset: offset, pointer: pointer)
        }
        if namesDuplicates { for object in reader.objectsToSearch { noteDuplicateKeys(of: object) } }
        hasIllFormedText = reader.hasIllFormedText
        hasNull = reader.hasNull
    }

    /// Reads as much as there is room for.
    private static func read(
        _ source: Span<UInt8>, on reader: inout JSONReader, into tokens: inout [Token], decoding content: inout ByteWriter
    ) throws(JSONError.Fault) -> Bool {
        var room = tokens.mutableSpan
        return try reader.read(source, into: &room, decoding: &content)
    }

    /// Makes room for as many tokens again, but for no more than a text of so many bytes can have.
    private mutating func addRoom(for byteCount: Int) {
        // Each value but the outermost has two bytes at least: itself and a comma, or its brackets. The reader keeps two tokens free.
        let most = byteCount / 2 + 4
        let more = max(64, min(tokens.count, most - tokens.count))
        // Asked for exactly, because an array that only grows takes twice as much as it had.
        tokens.reserveCapacity(tokens.count + more)
        tokens.append(contentsOf: repeatElement(.none, count: more))
    }
}

extension JSONDocument.Token {
    /// The content of room that is not used yet.
    fileprivate static let none = Self(kind: .null, start: 0, length: 0, next: 0)
}

extension JSONError.Fault: Error {}
