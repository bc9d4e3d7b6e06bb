extension RequestReader {
    enum ParentField: String, CaseIterable {
        case id, key, partition, chunk, chunks
        case publishedAt = "published_at"
        case remaining

        static let names = NameTable<ParentField>()
    }

    /// Reads the block of a request that is a part of a larger one. `PartReference` writes it.
    func parent(
        _ value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader
    ) -> JSONDocument.Node? {
        let before = fields.faultCount
        guard let object = fields.object(value, in: document) else { return nil }
        for name: StaticString in ["id", "key", "partition", "chunk", "chunks", "published_at"]
        where document.member(name, of: object) == nil {
            fields.fault(at: value, in: document, message: "parent needs \(name).")
        }
        var members = document.children(of: object)
        while let (key, value) = members.next(in: document) {
            switch ParentField.names.value(of: document.text(of: key), in: document) {
            case .id: _ = fields.text(value, in: document, length: RequestLimits.identifier, of: .identifier)
            case .key: _ = fields.text(value, in: document, length: 1...ParentKey.maximumByteCount, of: .identifier)
            case .partition: _ = fields.integer(value, in: document, within: 0...Int64(Int32.max))
            case .chunk: _ = fields.integer(value, in: document, within: 0...Int64(ParentRecord.maximumChunks) - 1)
            case .chunks: _ = fields.integer(value, in: document, within: 1...Int64(ParentRecord.maximumChunks))
            case .publishedAt: _ = fields.moment(value, in: document)
            case .remaining: checkRemaining(value, in: document, using: &fields)
            case nil: fields.unknown(key, in: document, beside: ParentField.names.names)
            }
        }
        return fields.faultCount == before ? object : nil
    }

    private static let remainingFields: [StaticString] = ["audience", "hub"]

    /// Checks what the parts behind a part have of their own. Each is checked as a request when it is read.
    private func checkRemaining(
        _ value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader
    ) {
        guard document.kind(of: value) == .array else {
            fields.fault(at: value, in: document, message: "This must be an array of parts.")
            return
        }
        var elements = document.children(of: value)
        while let (_, element) = elements.next(in: document) {
            guard let part = fields.object(element, in: document) else { continue }
            fields.unknownMembers(of: part, in: document, beside: Self.remainingFields)
            if let hub = document.member("hub", of: part) {
                _ = fields.text(hub, in: document, length: RequestLimits.slug, of: .slug)
            }
            if let audience = document.member("audience", of: part) {
                _ = fields.object(audience, in: document)
            } else {
                fields.fault(at: element, in: document, message: "A part needs an audience.")
            }
        }
    }
}
