extension RequestReader {
    private enum AudienceKind: String, CaseIterable {
        case broadcast, users, installations, categories, devices
        case tagExpression = "tag_expression"
        static let names = NameTable(allCases.map { ($0.rawValue, $0) })
    }

    /// Reads the audience: exactly one kind. What is not understood is a fault in every mode, because to ignore it could
    /// reach more people than were meant.
    func readAudience(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document) else { return }
        guard request.document.childCount(of: object) == 1 else {
            let kinds = AudienceKind.allCases.map(\.rawValue).joined(separator: ", ")
            fields.fault(at: value, in: request.document, "An audience has exactly one of: \(kinds).")
            return
        }
        var members = request.document.children(of: object)
        guard let (key, content) = members.next(in: request.document) else { return }
        guard let kind = AudienceKind.names.value(of: request.document.text(of: key), in: request.document) else {
            fields.fault(at: key, in: request.document, "There is no such kind of audience.")
            return
        }
        if let audience = audience(kind, content, request.document, &fields) { request.audience = audience }
    }

    private func audience(
        _ kind: AudienceKind, _ value: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader
    ) -> PushRequest.Audience? {
        switch kind {
        case .broadcast:
            if document.kind(of: value) == .true { return .broadcast }
            fields.fault(at: value, in: document, "A broadcast is written {\"broadcast\": true}.")
            return nil
        case .users:
            return fields.distinctStrings(value, document, 1...10_000, length: 1...120, .tag).map { .users($0) }
        case .installations:
            return fields.distinctStrings(value, document, 1...10_000, length: 1...120, .tag).map { .installations($0) }
        case .categories:
            return fields.distinctStrings(value, document, 1...200, length: 1...120, .tag).map { .categories($0) }
        case .tagExpression:
            return fields.text(value, document, 1...4096).map { .tagExpression($0) }
        case .devices:
            return devices(value, document, &fields)
        }
    }

    private func devices(
        _ value: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader
    ) -> PushRequest.Audience? {
        guard document.kind(of: value) == .array, (1...10_000).contains(document.childCount(of: value)) else {
            fields.fault(at: value, in: document, "This must be an array of 1 to 10000 devices.")
            return nil
        }
        let before = fields.faults.count
        var elements = document.children(of: value)
        while let (_, element) = elements.next(in: document) {
            guard let device = fields.object(element, document) else { continue }
            guard let platform = document.member("platform", of: device), let handle = document.member("handle", of: device) else {
                fields.fault(at: element, in: document, "A device has a platform and a handle.")
                continue
            }
            let name = fields.text(platform, document, 1...32)
            if let name, Platform(name: document.string(name)) == nil {
                fields.fault(at: platform, in: document, "There is no such platform.")
            }
            if let handle = fields.text(handle, document, 1...4096), !isPrintable(document.span(handle)) {
                fields.fault(at: element, in: document, "A handle may hold only printable ASCII characters.")
            }
        }
        return fields.faults.count == before ? .devices(value) : nil
    }

    private func isPrintable(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where text[index] <= 0x20 || text[index] > 0x7E { return false }
        return true
    }
}

extension RequestReader {
    private enum MessageField: String, CaseIterable {
        case title, subtitle, body
        case imageURL = "image_url"
        case deepLink = "deep_link"
        case sound, badge
        case actionCategory = "action_category"
        case threadID = "thread_id"
        case silent, data
        static let names = NameTable(allCases.map { ($0.rawValue, $0) })
    }

    func readMessage(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document) else { return }
        var message = PushRequest.Message()
        var members = request.document.children(of: object)
        while let (key, value) = members.next(in: request.document) {
            guard let field = MessageField.names.value(of: request.document.text(of: key), in: request.document) else {
                noteUnknown(key, in: &request, &fields)
                continue
            }
            read(field, value, request.document, into: &message, &fields)
        }
        if message.title == nil && message.body == nil && message.data == nil {
            fields.fault(at: value, in: request.document, "A message needs at least one of title, body and data.")
        }
        request.message = message
    }

    private func read(
        _ field: MessageField, _ value: JSONDocument.Node, _ document: borrowing JSONDocument,
        into message: inout PushRequest.Message, _ fields: inout FieldReader
    ) {
        switch field {
        case .title: message.title = fields.text(value, document, 0...256)
        case .subtitle: message.subtitle = fields.text(value, document, 0...256)
        case .body: message.body = fields.text(value, document, 0...2048)
        case .imageURL: message.imageURL = webAddress(value, document, &fields)
        case .deepLink: message.deepLink = fields.text(value, document, 0...2048)
        case .sound: message.sound = fields.text(value, document, 0...128)
        case .badge: message.badge = fields.integer(value, document, 0...99_999).map(Int.init)
        case .actionCategory: message.actionCategory = fields.text(value, document, 0...64)
        case .threadID: message.threadID = fields.text(value, document, 0...64)
        case .silent: message.isSilent = fields.boolean(value, document)
        case .data:
            message.data = fields.strings(value, document, memberCount: 0...64, nameLength: 128, valueLength: 2048)
        }
    }

    /// An absolute address: a scheme, a colon, something behind it, and no blanks (RFC 3986, section 4.3).
    private func webAddress(
        _ value: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader
    ) -> JSONDocument.Text? {
        guard let text = fields.text(value, document, 1...2048) else { return nil }
        let bytes = document.span(text)
        var colon = -1
        var isValid = true
        for index in bytes.indices {
            if bytes[index] <= 0x20 || bytes[index] == 0x7F { isValid = false }
            if colon < 0 && bytes[index] == UInt8(ascii: ":") { colon = index }
        }
        let startsWithLetter = bytes[0] | 0x20 >= UInt8(ascii: "a") && bytes[0] | 0x20 <= UInt8(ascii: "z")
        guard isValid, colon > 0, colon < bytes.count - 1, startsWithLetter else {
            fields.fault(at: value, in: document, "This must be an absolute address such as https://example.com/a.png.")
            return nil
        }
        return text
    }

    func readPayloads(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document, memberCount: 1...8) else { return }
        let before = fields.faults.count
        var seen: PlatformSet = []
        var members = request.document.children(of: object)
        while let (key, payload) = members.next(in: request.document) {
            guard let platform = Platform(name: request.document.string(request.document.text(of: key))) else {
                fields.fault(at: key, in: request.document, "There is no such platform.")
                continue
            }
            if seen.contains(platform) {
                fields.fault(at: key, in: request.document, "This platform has a payload under another name, too.")
            }
            seen.insert(PlatformSet(platform))
            checkPayload(payload, request.document, &fields)
        }
        if fields.faults.count == before { request.payloads = object }
    }

    private func checkPayload(_ payload: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader) {
        guard let object = fields.object(payload, document) else { return }
        guard let body = document.member("body", of: object) else {
            fields.fault(at: payload, in: document, "A payload needs a body.")
            return
        }
        if document.kind(of: body) != .object && document.kind(of: body) != .string {
            fields.fault(at: body, in: document, "A body is an object or a string.")
        }
        if let type = document.member("content_type", of: object) { checkContentType(type, document, &fields) }
        if let headers = document.member("headers", of: object) {
            _ = fields.strings(headers, document, memberCount: 0...16, nameLength: 128, valueLength: 512)
        }
    }

    private func checkContentType(
        _ node: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader
    ) {
        let allowed: [StaticString] = ["application/json;charset=utf-8", "application/xml", "application/octet-stream"]
        let isAllowed = document.kind(of: node) == .string && allowed.contains { document.equals(document.text(of: node), $0) }
        guard !isAllowed else { return }
        let list = allowed.map { "\($0)" }.joined(separator: ", ")
        fields.fault(at: node, in: document, "This must be one of: \(list).")
    }
}

extension RequestReader {
    private enum OptionField: String, CaseIterable {
        case dryRun = "dry_run"
        case testSend = "test_send"
        case maxAttempts = "max_attempts"
        case onAmbiguous = "on_ambiguous"
        case resultDetail = "result_detail"
        case trackOutcome = "track_outcome"
        static let names = NameTable(allCases.map { ($0.rawValue, $0) })
    }

    func readOptions(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document) else { return }
        var options = PushRequest.Options()
        var members = request.document.children(of: object)
        while let (key, value) = members.next(in: request.document) {
            guard let field = OptionField.names.value(of: request.document.text(of: key), in: request.document) else {
                noteUnknown(key, in: &request, &fields)
                continue
            }
            switch field {
            case .dryRun: options.dryRun = fields.boolean(value, request.document)
            case .testSend: options.testSend = fields.boolean(value, request.document)
            case .maxAttempts: options.maxAttempts = fields.integer(value, request.document, 1...20).map(Int.init)
            case .onAmbiguous:
                options.onAmbiguous = fields.word(value, request.document, of: PushRequest.AmbiguityPolicy.self) ?? .stop
            case .resultDetail:
                options.resultDetail = fields.word(value, request.document, of: PushRequest.ResultDetail.self) ?? .attempts
            case .trackOutcome: options.trackOutcome = fields.boolean(value, request.document)
            }
        }
        request.options = options
    }
}

extension PushRequest {
    /// The native payload given for `platform` under any of its names, or nil.
    public func payload(for platform: Platform) -> Node? {
        guard let payloads else { return nil }
        var members = document.children(of: payloads)
        while let (key, value) = members.next(in: document) {
            if document.equals(document.text(of: key), platform.name) { return value }
            if Platform(name: document.string(document.text(of: key))) == platform { return value }
        }
        return nil
    }
}
