extension RequestReader {
    /// A field of the request, under the name that the contract gives it.
    enum Field: String, CaseIterable {
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
        case options, labels, replay, parent

        static let names = NameTable<Field>()

        var presence: PresentFields {
            switch self {
            case .audience: .audience
            case .message: .message
            case .payloads: .payloads
            case .template: .template
            case .timeToLive: .timeToLive
            case .expiresAt: .expiresAt
            case .schemaVersion, .id, .source, .tenant, .hub, .createdAt, .platforms, .notBefore, .priority, .collapseKey,
                .dedupe,
                .orderingKey, .options, .labels, .replay, .parent:
                []
            }
        }
    }

    enum ReplayField: String, CaseIterable {
        case root = "root_request_id"
        case parent = "parent_request_id"
        case parentOrigin = "parent_origin"
        case parentPublishedAt = "parent_published_at"
        case job = "job_id"
        case generation, actor, reason, modified, sends

        static let names = NameTable<ReplayField>()
    }

    static let priorities = NameTable<PushRequest.Priority>()

    /// Fields that rules between fields ask for: whether they stand in the request, with or without a fault.
    struct PresentFields: OptionSet {
        let rawValue: UInt8
        static let audience = Self(rawValue: 1 << 0)
        static let message = Self(rawValue: 1 << 1)
        static let payloads = Self(rawValue: 1 << 2)
        static let template = Self(rawValue: 1 << 3)
        static let timeToLive = Self(rawValue: 1 << 4)
        static let expiresAt = Self(rawValue: 1 << 5)
    }

    /// Reads the members of `body`, and returns those that `checkWhole` looks at. A field at fault is left out of `request`.
    func readFields(
        of body: JSONDocument.Node, into request: inout PushRequest, using fields: inout FieldReader
    ) -> PresentFields {
        var present: PresentFields = []
        var members = request.document.children(of: body)
        while let (key, value) = members.next(in: request.document) {
            guard let field = Field.names.value(of: request.document.text(of: key), in: request.document) else {
                fields.unknown(
                    key, in: request.document, beside: Field.names.names.filter { $0 != "replay" && $0 != "parent" },
                    home: Self.home(of: request.document.text(of: key), in: request.document))
                continue
            }
            present.formUnion(field.presence)
            read(field, value: value, into: &request, using: &fields)
        }
        return present
    }

    private func read(_ field: Field, value: JSONDocument.Node, into request: inout PushRequest, using fields: inout FieldReader)
    {
        switch field {
        case .schemaVersion:
            if request.document.integer(at: value) != 1 {
                fields.fault(at: value, in: request.document, message: "Only schema version 1 is understood.")
            }
        case .id:
            request.id = fields.text(value, in: request.document, length: RequestLimits.identifier, of: .identifier) ?? .none
        case .source: request.source = fields.text(value, in: request.document, length: RequestLimits.source)
        case .tenant: request.tenant = fields.text(value, in: request.document, length: RequestLimits.slug, of: .slug)
        case .hub: request.hub = fields.text(value, in: request.document, length: RequestLimits.slug, of: .slug)
        case .createdAt: request.createdAt = fields.moment(value, in: request.document)
        case .audience: readAudience(value, into: &request, using: &fields)
        case .platforms: request.platforms = platforms(value, in: request.document, using: &fields)
        case .message: readMessage(value, into: &request, using: &fields)
        case .template:
            request.template = fields.strings(value, in: request.document, within: RequestLimits.template)
        case .payloads: readPayloads(value, into: &request, using: &fields)
        case .timeToLive: request.timeToLive = fields.integer(value, in: request.document, within: RequestLimits.timeToLive)
        case .expiresAt: request.expiresAt = fields.moment(value, in: request.document)
        case .notBefore: request.notBefore = fields.moment(value, in: request.document)
        case .priority:
            request.hasPriority = true
            request.priority = fields.word(value, in: request.document, of: Self.priorities) ?? .normal
        case .collapseKey:
            request.collapseKey = fields.text(value, in: request.document, length: RequestLimits.collapseKey, of: .printable)
        case .dedupe: readDedupe(value, into: &request, using: &fields)
        case .orderingKey: request.orderingKey = fields.text(value, in: request.document, length: RequestLimits.orderingKey)
        case .options: readOptions(value, into: &request, using: &fields)
        case .labels: request.labels = labels(value, in: request.document, using: &fields)
        case .replay, .parent:
            guard topic == .own else {
                return fields.fault(at: value, in: request.document, message: "Only pushfan says this, on a topic of its own.")
            }
            if field == .replay {
                request.replay = replay(value, in: request.document, using: &fields)
            } else {
                let block = parent(value, in: request.document, using: &fields)
                request.parent = block
                if let block { request.remaining = request.document.member("remaining", of: block) }
            }
        }
    }

    private func platforms(
        _ value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader
    ) -> PlatformSet {
        var set: PlatformSet = []
        guard
            let list = fields.distinctStrings(
                value, in: document, count: RequestLimits.platforms, length: RequestLimits.platformName)
        else { return set }
        var elements = document.children(of: list)
        while let (_, element) = elements.next(in: document) {
            guard let platform = fields.platform(element, in: document) else { continue }
            if set.contains(platform) {
                fields.fault(at: element, in: document, message: "This platform is named twice, once under another name.")
            }
            set.insert(PlatformSet(platform))
        }
        return set
    }

    static let dedupeFields: [StaticString] = ["key", "window_seconds"]

    private func readDedupe(_ value: JSONDocument.Node, into request: inout PushRequest, using fields: inout FieldReader) {
        guard let object = fields.object(value, in: request.document) else { return }
        fields.unknownMembers(of: object, in: request.document, beside: Self.dedupeFields)
        guard let key = request.document.member("key", of: object) else {
            fields.fault(at: value, in: request.document, message: "dedupe needs a key.")
            return
        }
        request.dedupeKey = fields.text(key, in: request.document, length: RequestLimits.dedupeKey)
        if let window = request.document.member("window_seconds", of: object) {
            request.dedupeWindow =
                fields.integer(window, in: request.document, within: RequestLimits.dedupeWindow) ?? request.dedupeWindow
        }
    }

    private func labels(
        _ value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader
    ) -> JSONDocument.Node? {
        guard let object = fields.strings(value, in: document, within: RequestLimits.labels) else {
            return nil
        }
        var valid = true
        var members = document.children(of: object)
        while let (key, _) = members.next(in: document) {
            let name = document.text(of: key)
            if name.isEmpty || !CharacterClass.labelName.matches(document.span(name)) {
                fields.fault(
                    at: key, in: document, message: "A label's name may hold only \(CharacterClass.labelName.explanation).")
                valid = false
            }
            // Labels are copied into the result even of a request at fault, where no name may stand twice either.
            var earlier = document.children(of: object)
            while let (other, _) = earlier.next(in: document), other != key {
                if document.isEqual(document.text(of: other), to: name) { valid = false }
            }
        }
        return valid ? object : nil
    }

    static let neededReplayFields: [StaticString] = ["root_request_id", "parent_request_id", "generation", "job_id"]

    private func replay(
        _ value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader
    ) -> JSONDocument.Node? {
        let before = fields.faultCount
        guard let object = fields.object(value, in: document) else { return nil }
        for name in Self.neededReplayFields where document.member(name, of: object) == nil {
            fields.fault(at: value, in: document, message: "replay needs \(name).")
        }
        var members = document.children(of: object)
        while let (key, value) = members.next(in: document) {
            switch ReplayField.names.value(of: document.text(of: key), in: document) {
            case .root, .parent, .job: _ = fields.text(value, in: document, length: RequestLimits.identifier, of: .identifier)
            case .generation: _ = fields.integer(value, in: document, within: RequestLimits.generation)
            case .actor: _ = fields.text(value, in: document, length: RequestLimits.actor)
            case .reason: _ = fields.text(value, in: document, length: RequestLimits.reason)
            case .modified: readModified(value, in: document, using: &fields)
            case .parentOrigin: _ = fields.text(value, in: document, length: RequestLimits.parentOrigin)
            case .parentPublishedAt: _ = fields.moment(value, in: document)
            case .sends: readSends(value, in: document, using: &fields)
            case nil: fields.unknown(key, in: document, beside: ReplayField.names.names)
            }
        }
        return fields.faultCount == before ? object : nil
    }

    /// The indices of the sends that are repeated, of at most 256.
    private func readSends(_ value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader) {
        guard document.kind(of: value) == .array, RequestLimits.sends.contains(document.childCount(of: value)) else {
            fields.fault(
                at: value, in: document, message: "This must be an array of at most \(RequestLimits.sends.upperBound) numbers.")
            return
        }
        var elements = document.children(of: value)
        while let (_, element) = elements.next(in: document) {
            _ = fields.integer(element, in: document, within: RequestLimits.sendIndex)
        }
    }

    private func readModified(_ value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader) {
        guard document.kind(of: value) == .array, RequestLimits.modified.contains(document.childCount(of: value)) else {
            fields.fault(
                at: value, in: document, message: "This must be an array of at most \(RequestLimits.modified.upperBound) strings."
            )
            return
        }
        var elements = document.children(of: value)
        while let (_, element) = elements.next(in: document) {
            _ = fields.text(element, in: document, length: RequestLimits.modification)
        }
    }
}
