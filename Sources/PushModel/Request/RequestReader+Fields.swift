extension RequestReader {
    /// A field of the request, under the name that the contract gives it.
    private enum Field: String, CaseIterable {
        case schemaVersion = "schema_version"
        case id, source, tenant, hub
        case createdAt = "created_at"
        case audience, platforms, message, template, payloads
        case timeToLive = "ttl_seconds"
        case expiresAt = "expires_at"
        case notBefore = "not_before"
        case priority
        case collapseKey = "collapse_key"
        case dedupe
        case orderingKey = "ordering_key"
        case options, labels, replay

        static let names = NameTable(allCases.map { ($0.rawValue, $0) })
    }

    /// Reads the members of `body`; a field at fault is left out of `request`.
    func readFields(of body: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        var members = request.document.children(of: body)
        while let (key, value) = members.next(in: request.document) {
            guard let field = Field.names.value(of: request.document.text(of: key), in: request.document) else {
                noteUnknown(key, in: &request, &fields)
                continue
            }
            read(field, value, into: &request, &fields)
        }
    }

    private func read(_ field: Field, _ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        switch field {
        case .schemaVersion:
            if request.document.integer(at: value) != 1 {
                fields.fault(at: value, in: request.document, "Only schema version 1 is understood.")
            }
        case .id: request.id = fields.text(value, request.document, 1...128, .identifier) ?? .none
        case .source: request.source = fields.text(value, request.document, 1...256)
        case .tenant: request.tenant = fields.text(value, request.document, 1...63, .slug)
        case .hub: request.hub = fields.text(value, request.document, 1...63, .slug)
        case .createdAt: request.createdAt = fields.moment(value, request.document)
        case .audience: readAudience(value, into: &request, &fields)
        case .platforms: request.platforms = platforms(value, request.document, &fields)
        case .message: readMessage(value, into: &request, &fields)
        case .template:
            request.template = fields.strings(
                value, request.document, memberCount: 1...64, nameLength: 120, valueLength: 2048)
        case .payloads: readPayloads(value, into: &request, &fields)
        case .timeToLive: request.timeToLive = fields.integer(value, request.document, 0...2_419_200)
        case .expiresAt: request.expiresAt = fields.moment(value, request.document)
        case .notBefore: request.notBefore = fields.moment(value, request.document)
        case .priority:
            request.hasPriority = true
            request.priority = fields.word(value, request.document, of: PushRequest.Priority.self) ?? .normal
        case .collapseKey: request.collapseKey = collapseKey(value, request.document, &fields)
        case .dedupe: readDedupe(value, request.document, &fields)
        case .orderingKey: request.orderingKey = fields.text(value, request.document, 1...256)
        case .options: readOptions(value, into: &request, &fields)
        case .labels: request.labels = labels(value, request.document, &fields)
        case .replay: readReplay(value, into: &request, &fields)
        }
    }

    func noteUnknown(_ key: JSONDocument.Node, in request: inout PushRequest, _ fields: inout FieldReader) {
        request.unknownFieldCount += 1
        if strictness == .strict {
            fields.fault(at: key, in: request.document, "The contract knows no field of this name.")
        }
    }

    private func platforms(
        _ value: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader
    ) -> PlatformSet {
        var set: PlatformSet = []
        guard let list = fields.distinctStrings(value, document, 1...8, length: 1...32) else { return set }
        var elements = document.children(of: list)
        while let (_, element) = elements.next(in: document) {
            guard let platform = Platform(name: document.string(document.text(of: element))) else {
                let known = Platform.allCases.map { String(describing: $0) }.joined(separator: ", ")
                fields.fault(at: element, in: document, "No such platform; known are \(known), apns, fcm and wns.")
                continue
            }
            if set.contains(platform) {
                fields.fault(at: element, in: document, "This platform is named twice, once under another name.")
            }
            set.insert(PlatformSet(platform))
        }
        return set
    }

    /// The collapse key: at most 64 bytes, because APNs counts bytes, and printable ASCII, because it travels in headers.
    private func collapseKey(
        _ value: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader
    ) -> JSONDocument.Text? {
        guard let text = fields.text(value, document, 1...64) else { return nil }
        let bytes = document.span(text)
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] > 0x7E {
            fields.fault(at: value, in: document, "This may hold only printable ASCII characters; it travels in a header.")
            return nil
        }
        return text
    }

    private func readDedupe(_ value: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader) {
        guard let object = fields.object(value, document) else { return }
        guard let key = document.member("key", of: object) else {
            fields.fault(at: value, in: document, "dedupe needs a key.")
            return
        }
        _ = fields.text(key, document, 1...128)
        if let window = document.member("window_seconds", of: object) {
            _ = fields.integer(window, document, 1...604_800)
        }
    }

    private func labels(
        _ value: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader
    ) -> JSONDocument.Node? {
        guard let object = fields.strings(value, document, memberCount: 0...16, nameLength: 32, valueLength: 64) else { return nil }
        var valid = true
        var members = document.children(of: object)
        while let (key, _) = members.next(in: document) {
            if document.text(of: key).isEmpty || !CharacterClass.labelName.matches(document.span(document.text(of: key))) {
                fields.fault(at: key, in: document, "A label's name may hold only \(CharacterClass.labelName.explanation).")
                valid = false
            }
        }
        return valid ? object : nil
    }

    private func readReplay(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document) else { return }
        for name: StaticString in ["root_request_id", "parent_request_id", "job_id"] {
            guard let id = request.document.member(name, of: object) else {
                fields.fault(at: value, in: request.document, "replay needs \(name).")
                continue
            }
            _ = fields.text(id, request.document, 1...128, .identifier)
        }
        if let generation = request.document.member("generation", of: object) {
            _ = fields.integer(generation, request.document, 1...1000)
        } else {
            fields.fault(at: value, in: request.document, "replay needs generation.")
        }
        request.replay = object
    }
}

/// Finds what a field's name stands for, by length and bytes, without hashing or making a string.
struct NameTable<Value: Sendable>: Sendable {
    private let entries: [(name: [UInt8], value: Value)]

    init(_ entries: [(String, Value)]) {
        self.entries = entries.map { (Array($0.0.utf8), $0.1) }
    }

    func value(of text: JSONDocument.Text, in document: borrowing JSONDocument) -> Value? {
        let candidate = document.span(text)
        for entry in entries where entry.name.count == candidate.count {
            var index = 0
            while index < candidate.count && candidate[index] == entry.name[index] { index += 1 }
            if index == candidate.count { return entry.value }
        }
        return nil
    }
}
