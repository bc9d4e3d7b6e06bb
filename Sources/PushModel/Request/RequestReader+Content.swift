extension RequestReader {
    private enum AudienceKind: String, CaseIterable {
        case users, installations, categories, devices
        case tagExpression = "tag_expression"
        // Named last, because few requests mean every device.
        case broadcast
        static let names = NameTable<AudienceKind>()
    }

    /// Reads the audience: exactly one kind. What is not understood is a fault in every mode, because to ignore it could
    /// reach more people than were meant.
    func readAudience(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document) else { return }
        guard request.document.childCount(of: object) == 1 else {
            let isEmpty = request.document.childCount(of: object) == 0
            fields.fault(
                at: value, in: request.document,
                isEmpty ? Self.missingAudience : "An audience has exactly one of: \(AudienceKind.names.list).")
            return
        }
        var members = request.document.children(of: object)
        guard let (key, content) = members.next(in: request.document) else { return }
        guard let kind = AudienceKind.names.value(of: request.document.text(of: key), in: request.document) else {
            let hint = fields.suggestion(for: key, in: request.document, among: AudienceKind.names.names)
            fields.fault(
                at: key, in: request.document, "There is no such kind of audience; known are \(AudienceKind.names.list)." + hint)
            return
        }
        if let audience = audience(kind, content, request.document, &fields) { request.audience = audience }
    }

    /// The fault of a request without an audience. It offers no broadcast, because who forgot an audience did not mean every device.
    static let missingAudience = "An audience must be named, such as \"audience\": {\"users\": [\"alice\"]}."

    /// The member of a request whose object knows a name, or nil for a name that none knows.
    static func home(of name: JSONDocument.Text, in document: borrowing JSONDocument) -> String? {
        if MessageField.names.value(of: name, in: document) != nil { return "message" }
        if AudienceKind.names.value(of: name, in: document) != nil { return "audience" }
        return OptionField.names.value(of: name, in: document) != nil ? "options" : nil
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
            return fields.distinctUserNames(value, document, 1...10_000).map { .users($0) }
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
        let before = fields.faultCount
        var elements = document.children(of: value)
        while let (_, element) = elements.next(in: document) { checkDevice(element, document, &fields) }
        return fields.faultCount == before ? .devices(value) : nil
    }

    private func checkDevice(_ element: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader) {
        guard let device = fields.object(element, document) else { return }
        fields.unknownMembers(of: device, in: document, beside: Self.deviceFields)
        guard let platform = document.member("platform", of: device), let handle = document.member("handle", of: device) else {
            fields.fault(at: element, in: document, "A device has a platform and a handle.")
            return
        }
        if let name = fields.text(platform, document, 1...32), Platform(document.span(name)) == nil {
            fields.fault(at: platform, in: document, "There is no such platform.")
        }
        _ = fields.text(handle, document, 1...4096, .visible)
    }

    private static let deviceFields: [StaticString] = ["platform", "handle"]
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
        static let names = NameTable<MessageField>()
    }

    func readMessage(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document) else { return }
        var message = PushRequest.Message()
        var hasContent = false
        var members = request.document.children(of: object)
        while let (key, value) = members.next(in: request.document) {
            guard let field = MessageField.names.value(of: request.document.text(of: key), in: request.document) else {
                fields.unknown(key, in: request.document, beside: MessageField.names.names)
                continue
            }
            if field == .title || field == .body || field == .data { hasContent = true }
            read(field, value, request.document, into: &message, &fields)
        }
        if !hasContent {
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
        var colon = 0
        while colon < bytes.count && bytes[colon] != UInt8(ascii: ":") { colon += 1 }
        var isValid = colon > 0 && colon < bytes.count - 1 && CharacterClass.scheme.matches(bytes.extracting(0..<colon))
        for index in bytes.indices where bytes[index] <= 0x20 || bytes[index] == 0x7F { isValid = false }
        guard isValid else {
            fields.fault(at: value, in: document, "This must be an absolute address such as https://example.com/a.png.")
            return nil
        }
        return text
    }

    func readPayloads(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document, memberCount: 1...8) else { return }
        let before = fields.faultCount
        var seen: PlatformSet = []
        var members = request.document.children(of: object)
        while let (key, payload) = members.next(in: request.document) {
            guard let platform = Platform(request.document.span(request.document.text(of: key))) else {
                fields.fault(at: key, in: request.document, "There is no such platform.")
                continue
            }
            if seen.contains(platform) {
                fields.fault(at: key, in: request.document, "This platform has a payload under another name, too.")
            }
            seen.insert(PlatformSet(platform))
            checkPayload(payload, request.document, &fields)
        }
        if fields.faultCount == before { request.payloads = object }
    }

    private func checkPayload(_ payload: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader) {
        guard let object = fields.object(payload, document) else { return }
        fields.unknownMembers(of: object, in: document, beside: ["body", "content_type", "headers"])
        guard let body = document.member("body", of: object) else {
            fields.fault(at: payload, in: document, "A payload needs a body.")
            return
        }
        if document.kind(of: body) != .object && document.kind(of: body) != .string {
            fields.fault(at: body, in: document, "A body is an object or a string.")
        }
        if let type = document.member("content_type", of: object) { _ = fields.word(type, document, of: Self.contentTypes) }
        if let headers = document.member("headers", of: object) { checkHeaders(headers, document, &fields) }
    }

    private static let contentTypes = NameTable(
        ["application/json;charset=utf-8", "application/xml", "application/octet-stream"].map { ($0, $0) })

    /// Headers go into a request's head as they are: one line end inside would be another header.
    private func checkHeaders(_ node: JSONDocument.Node, _ document: borrowing JSONDocument, _ fields: inout FieldReader) {
        guard let object = fields.strings(node, document, memberCount: 0...16, nameLength: 128, valueLength: 512) else { return }
        var members = document.children(of: object)
        while let (key, value) = members.next(in: document) {
            let name = document.text(of: key)
            if name.isEmpty || !CharacterClass.headerName.matches(document.span(name)) {
                fields.fault(at: key, in: document, "A header's name may hold only \(CharacterClass.headerName.explanation).")
            }
            _ = fields.text(value, document, 0...512, .printable)
        }
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
        static let names = NameTable<OptionField>()
    }

    private static let ambiguityPolicies = NameTable<PushRequest.AmbiguityPolicy>()
    private static let resultDetails = NameTable<PushRequest.ResultDetail>()

    func readOptions(_ value: JSONDocument.Node, into request: inout PushRequest, _ fields: inout FieldReader) {
        guard let object = fields.object(value, request.document) else { return }
        var options = PushRequest.Options()
        var members = request.document.children(of: object)
        while let (key, value) = members.next(in: request.document) {
            guard let field = OptionField.names.value(of: request.document.text(of: key), in: request.document) else {
                fields.unknown(key, in: request.document, beside: OptionField.names.names)
                continue
            }
            switch field {
            case .dryRun: options.dryRun = fields.boolean(value, request.document)
            case .testSend: options.testSend = fields.boolean(value, request.document)
            case .maxAttempts: options.maxAttempts = fields.integer(value, request.document, 1...20).map(Int.init)
            case .onAmbiguous:
                options.onAmbiguous = fields.word(value, request.document, of: Self.ambiguityPolicies) ?? .stop
            case .resultDetail:
                options.resultDetail = fields.word(value, request.document, of: Self.resultDetails) ?? .attempts
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
            if Platform(document.span(document.text(of: key))) == platform { return value }
        }
        return nil
    }
}
