extension RequestReader {
    private enum ParentField: String, CaseIterable {
        case id, key, partition, chunk, chunks
        case publishedAt = "published_at"

        static let names = NameTable<ParentField>()
    }

    /// Reads the block of a request that is a part of a larger one; `PartReference` writes it.
    func parent(
        _ value: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader
    ) -> JSONDocument.Node? {
        let before = fields.faultCount
        guard let object = fields.object(value, document) else { return nil }
        for name: StaticString in ["id", "key", "partition", "chunk", "chunks", "published_at"]
        where document.member(name, of: object) == nil {
            fields.fault(at: value, in: document, "parent needs \(name).")
        }
        var members = document.children(of: object)
        while let (key, value) = members.next(in: document) {
            switch ParentField.names.value(of: document.text(of: key), in: document) {
            case .id: _ = fields.text(value, document, 1...128, .identifier)
            case .key: _ = fields.text(value, document, 1...ParentKey.maximumByteCount, .identifier)
            case .partition: _ = fields.integer(value, document, 0...Int64(Int32.max))
            case .chunk: _ = fields.integer(value, document, 0...Int64(ParentRecord.maximumChunks) - 1)
            case .chunks: _ = fields.integer(value, document, 1...Int64(ParentRecord.maximumChunks))
            case .publishedAt: _ = fields.moment(value, document)
            case nil: fields.unknown(key, in: document)
            }
        }
        return fields.faultCount == before ? object : nil
    }
}
