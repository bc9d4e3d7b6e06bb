extension RequestReader {
    enum AudienceKind: String, CaseIterable {
        case users, installations, categories, devices
        case tagExpression = "tag_expression"
        // Named last, because few requests mean every device.
        case broadcast
        static let names = NameTable<AudienceKind>()
    }

    /// Reads the audience: exactly one kind. What is not understood is a fault in every mode, because to ignore it could
    /// reach more people than were meant.
    func readAudience(_ value: JSONDocument.Node, into request: inout PushRequest, using fields: inout FieldReader) {
        guard let object = fields.object(value, in: request.document) else { return }
        guard request.document.childCount(of: object) == 1 else {
            let isEmpty = request.document.childCount(of: object) == 0
            fields.fault(
                at: value, in: request.document,
                message: isEmpty ? Self.missingAudience : "An audience has exactly one of: \(AudienceKind.names.list).")
            return
        }
        var members = request.document.children(of: object)
        guard let (key, content) = members.next(in: request.document) else { return }
        guard let kind = AudienceKind.names.value(of: request.document.text(of: key), in: request.document) else {
            let hint = fields.suggestion(for: key, in: request.document, among: AudienceKind.names.names)
            fields.fault(
                at: key, in: request.document,
                message: "There is no such kind of audience; known are \(AudienceKind.names.list)." + hint)
            return
        }
        let audience =
            kind == .devices
            ? devices(content, in: &request.document, using: &fields)
            : audience(kind, value: content, in: request.document, using: &fields)
        if let audience { request.audience = audience }
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
        _ kind: AudienceKind, value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader
    ) -> PushRequest.Audience? {
        switch kind {
        case .broadcast:
            if document.kind(of: value) == .true { return .broadcast }
            fields.fault(at: value, in: document, message: "A broadcast is written {\"broadcast\": true}.")
            return nil
        case .users:
            return fields.distinctUserNames(value, in: document, count: RequestLimits.recipients).map { .users($0) }
        case .installations:
            return fields.distinctStrings(
                value, in: document, count: RequestLimits.recipients, length: RequestLimits.tag, of: .tag
            )
            .map { .installations($0) }
        case .categories:
            return fields.distinctStrings(
                value, in: document, count: RequestLimits.categories, length: RequestLimits.tag, of: .tag
            )
            .map { .categories($0) }
        case .tagExpression:
            return fields.text(value, in: document, length: RequestLimits.tagExpression).map { .tagExpression($0) }
        // Their handles get another form, so they are read where the document may change.
        case .devices: return nil
        }
    }

    private func devices(
        _ value: JSONDocument.Node, in document: inout JSONDocument, using fields: inout FieldReader
    ) -> PushRequest.Audience? {
        let limits = RequestLimits.recipients
        guard document.kind(of: value) == .array, limits.contains(document.childCount(of: value)) else {
            fields.fault(
                at: value, in: document, message: "This must be an array of \(limits.lowerBound) to \(limits.upperBound) devices."
            )
            return nil
        }
        let before = fields.faultCount
        // Room for the form of a handle that does not have it yet.
        var form = ByteWriter()
        var elements = document.children(of: value)
        while let (_, element) = elements.next(in: document) { device(element, in: &document, form: &form, using: &fields) }
        return fields.faultCount == before ? .devices(value) : nil
    }

    private func device(
        _ element: JSONDocument.Node, in document: inout JSONDocument, form: inout ByteWriter, using fields: inout FieldReader
    ) {
        guard let device = fields.object(element, in: document) else { return }
        fields.unknownMembers(of: device, in: document, beside: Self.deviceFields)
        let (name, handle) = (document.value("platform", of: device), document.value("handle", of: device))
        if name == nil || handle == nil {
            fields.fault(at: element, in: document, message: "A device has a platform and a handle.")
        }
        let platform = name.flatMap { fields.platform($0, in: document) }
        guard let handle else { return }
        if let platform {
            fields.readHandle(handle, on: platform, in: &document, form: &form)
        } else {
            fields.checkHandle(handle, in: document)
        }
    }

    static let deviceFields: [StaticString] = ["platform", "handle"]
}

extension RequestReader {
    enum MessageField: String, CaseIterable {
        case title, subtitle, body
        case imageURL = "image_url"
        case deepLink = "deep_link"
        case sound, badge
        case actionCategory = "action_category"
        case threadID = "thread_id"
        case silent, data
        static let names = NameTable<MessageField>()
    }

    func readMessage(_ value: JSONDocument.Node, into request: inout PushRequest, using fields: inout FieldReader) {
        guard let object = fields.object(value, in: request.document) else { return }
        var message = PushRequest.Message()
        var hasContent = false
        var members = request.document.children(of: object)
        while let (key, value) = members.next(in: request.document) {
            guard let field = MessageField.names.value(of: request.document.text(of: key), in: request.document) else {
                fields.unknown(key, in: request.document, beside: MessageField.names.names)
                continue
            }
            if field == .title || field == .body || field == .data { hasContent = true }
            read(field, value: value, in: request.document, into: &message, using: &fields)
        }
        if !hasContent {
            fields.fault(at: value, in: request.document, message: "A message needs at least one of title, body and data.")
        }
        request.message = message
    }

    private func read(
        _ field: MessageField, value: JSONDocument.Node, in document: borrowing JSONDocument,
        into message: inout PushRequest.Message, using fields: inout FieldReader
    ) {
        switch field {
        case .title: message.title = fields.text(value, in: document, length: RequestLimits.title)
        case .subtitle: message.subtitle = fields.text(value, in: document, length: RequestLimits.title)
        case .body: message.body = fields.text(value, in: document, length: RequestLimits.body)
        case .imageURL: message.imageURL = webAddress(value, in: document, using: &fields)
        case .deepLink: message.deepLink = fields.text(value, in: document, length: RequestLimits.deepLink)
        case .sound: message.sound = fields.text(value, in: document, length: RequestLimits.sound)
        case .badge: message.badge = fields.integer(value, in: document, within: RequestLimits.badge).map(Int.init)
        case .actionCategory: message.actionCategory = fields.text(value, in: document, length: RequestLimits.group)
        case .threadID: message.threadID = fields.text(value, in: document, length: RequestLimits.group)
        case .silent: message.isSilent = fields.boolean(value, in: document)
        case .data:
            message.data = fields.strings(value, in: document, within: RequestLimits.data)
        }
    }

    /// An absolute address: a scheme, a colon, something behind it, and no blanks (RFC 3986, section 4.3).
    private func webAddress(
        _ value: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader
    ) -> JSONDocument.Text? {
        guard let text = fields.text(value, in: document, length: RequestLimits.imageURL) else { return nil }
        let bytes = document.span(text)
        var colon = 0
        while colon < bytes.count && bytes[colon] != UInt8(ascii: ":") { colon += 1 }
        var isValid = colon > 0 && colon < bytes.count - 1 && CharacterClass.scheme.matches(bytes.extracting(0..<colon))
        for index in bytes.indices where bytes[index] <= 0x20 || bytes[index] == 0x7F { isValid = false }
        guard isValid else {
            fields.fault(at: value, in: document, message: "This must be an absolute address such as https://example.com/a.png.")
            return nil
        }
        return text
    }

    func readPayloads(_ value: JSONDocument.Node, into request: inout PushRequest, using fields: inout FieldReader) {
        guard let object = fields.object(value, in: request.document, memberCount: RequestLimits.payloads) else { return }
        let before = fields.faultCount
        var seen: PlatformSet = []
        var members = request.document.children(of: object)
        while let (key, payload) = members.next(in: request.document) {
            guard let platform = Platform(request.document.span(request.document.text(of: key))) else {
                let word = request.document.string(request.document.text(of: key))
                fields.fault(at: key, in: request.document, message: Platform.refusal(of: word))
                continue
            }
            if seen.contains(platform) {
                fields.fault(at: key, in: request.document, message: "This platform has a payload under another name, too.")
            }
            seen.insert(PlatformSet(platform))
            checkPayload(payload, in: request.document, using: &fields)
        }
        if fields.faultCount == before { request.payloads = object }
    }

    private func checkPayload(_ payload: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader)
    {
        guard let object = fields.object(payload, in: document) else { return }
        fields.unknownMembers(of: object, in: document, beside: Self.payloadFields)
        guard let body = document.member("body", of: object) else {
            fields.fault(at: payload, in: document, message: "A payload needs a body.")
            return
        }
        if document.kind(of: body) != .object && document.kind(of: body) != .string {
            fields.fault(at: body, in: document, message: "A body is an object or a string.")
        }
        if let type = document.member("content_type", of: object) { _ = fields.word(type, in: document, of: Self.contentTypes) }
        if let headers = document.member("headers", of: object) { checkHeaders(headers, in: document, using: &fields) }
    }

    static let payloadFields: [StaticString] = ["body", "content_type", "headers"]

    static let contentTypes = NameTable(
        ["application/json;charset=utf-8", "application/xml", "application/octet-stream"].map { ($0, $0) })

    /// Headers go into a request's head as they are: one line end inside would be another header.
    private func checkHeaders(_ node: JSONDocument.Node, in document: borrowing JSONDocument, using fields: inout FieldReader) {
        guard let object = fields.strings(node, in: document, within: RequestLimits.headers) else { return }
        var members = document.children(of: object)
        while let (key, value) = members.next(in: document) {
            let name = document.text(of: key)
            if name.isEmpty || !CharacterClass.headerName.matches(document.span(name)) {
                fields.fault(
                    at: key, in: document, message: "A header's name may hold only \(CharacterClass.headerName.explanation).")
            }
            _ = fields.text(value, in: document, length: 0...RequestLimits.headers.valueLength, of: .printable)
        }
    }
}

extension RequestReader {
    enum OptionField: String, CaseIterable {
        case dryRun = "dry_run"
        case testSend = "test_send"
        case maxAttempts = "max_attempts"
        case onAmbiguous = "on_ambiguous"
        case resultDetail = "result_detail"
        case trackOutcome = "track_outcome"
        static let names = NameTable<OptionField>()
    }

    static let ambiguityPolicies = NameTable<PushRequest.AmbiguityPolicy>()
    static let resultDetails = NameTable<PushRequest.ResultDetail>()

    func readOptions(_ value: JSONDocument.Node, into request: inout PushRequest, using fields: inout FieldReader) {
        guard let object = fields.object(value, in: request.document) else { return }
        var options = PushRequest.Options()
        var members = request.document.children(of: object)
        while let (key, value) = members.next(in: request.document) {
            guard let field = OptionField.names.value(of: request.document.text(of: key), in: request.document) else {
                fields.unknown(key, in: request.document, beside: OptionField.names.names)
                continue
            }
            switch field {
            case .dryRun: options.dryRun = fields.boolean(value, in: request.document)
            case .testSend: options.testSend = fields.boolean(value, in: request.document)
            case .maxAttempts:
                options.maxAttempts = fields.integer(value, in: request.document, within: RequestLimits.attempts).map(Int.init)
            case .onAmbiguous:
                options.onAmbiguous = fields.word(value, in: request.document, of: Self.ambiguityPolicies) ?? .stop
            case .resultDetail:
                options.resultDetail = fields.word(value, in: request.document, of: Self.resultDetails) ?? .attempts
            case .trackOutcome: options.trackOutcome = fields.boolean(value, in: request.document)
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
