import PushModel

/// Walks through the texts by which a request is found. Whatever compares or indexes requests walks here, so that all find the same.
enum RequestTexts {
    /// Calls `body` with all texts of some kinds but the words of the title, those of persons and devices first.
    ///
    /// Texts of other kinds may come, too. They are not folded, and some come twice.
    static func forEach(
        of request: borrowing PushRequest, among kinds: RequestTokens.Kinds = .all,
        perform body: (RequestTokens.Kind, Span<UInt8>) -> Void
    ) {
        let document = request.document
        if !kinds.isDisjoint(with: .receivers) { forEachReceiver(of: request, among: kinds, perform: body) }
        if kinds.contains(.audience) {
            let kind = AudienceSummary(of: request).kind.rawValue
            body(.audience, kind.utf8Span.span)
        }
        body(.id, document.span(request.id))
        if let source = request.source { body(.source, document.span(source)) }
        if let tenant = request.tenant { body(.tenant, document.span(tenant)) }
        if let whole = request.parent.flatMap({ document.member("id", of: $0) }) {
            body(.whole, document.span(document.text(of: whole)))
        }
        guard !kinds.isDisjoint(with: [.label, .value]), let labels = request.labels else { return }
        var label = ByteWriter()
        document.forEachMember(of: labels) { name, value in
            guard document.kind(of: value) == .string else { return }
            let value = document.span(document.text(of: value))
            label.removeAll()
            label.append(document.span(name))
            label.append("=")
            label.append(value)
            body(.label, label.span)
            body(.value, value)
        }
    }

    /// The first words of its title, subtitle and body, each once.
    static func words(of request: borrowing PushRequest) -> Set<[UInt8]> {
        var words: Set<[UInt8]> = []
        for text in RequestTitle.texts(of: request) {
            TextWords.forEachWord(of: text) { word in
                words.insert(word)
                return words.count < TextWords.countLimit
            }
            if words.count == TextWords.countLimit { break }
        }
        return words
    }

    /// True if the hub alone knows whose devices it reaches.
    static func isBroad(_ request: borrowing PushRequest) -> Bool {
        switch request.audience {
        case .broadcast, .categories, .tagExpression: true
        case .none, .users, .installations, .devices: false
        }
    }

    private static func forEachReceiver(
        of request: borrowing PushRequest, among kinds: RequestTokens.Kinds,
        perform body: (RequestTokens.Kind, Span<UInt8>) -> Void
    ) {
        let document = request.document
        // The parts that a continuation carries. They come before tags, as all persons do.
        if let remaining = request.remaining { forEachReceiver(ofParts: remaining, in: document, among: kinds, perform: body) }
        switch request.audience {
        case .none, .broadcast: break
        case .users(let node): forEachText(of: node, in: document) { body(.user, $0) }
        case .installations(let node): forEachText(of: node, in: document) { body(.installation, $0) }
        case .categories(let node): forEachText(of: node, in: document) { body(.tag, $0) }
        case .devices(let node): if kinds.contains(.handle) { forEachHandle(of: node, in: document) { body(.handle, $0) } }
        case .tagExpression(let text): forEachTag(of: document.span(text)) { body(.tag, $0) }
        }
    }

    private static func forEachReceiver(
        ofParts parts: JSONDocument.Node, in document: JSONDocument, among kinds: RequestTokens.Kinds,
        perform body: (RequestTokens.Kind, Span<UInt8>) -> Void
    ) {
        document.forEachElement(of: parts) { part in
            guard let audience = document.member("audience", of: part) else { return }
            if let users = document.member("users", of: audience) { forEachText(of: users, in: document) { body(.user, $0) } }
            if let ids = document.member("installations", of: audience) {
                forEachText(of: ids, in: document) { body(.installation, $0) }
            }
            if kinds.contains(.handle), let devices = document.member("devices", of: audience) {
                forEachHandle(of: devices, in: document) { body(.handle, $0) }
            }
        }
    }

    private static func forEachText(
        of node: JSONDocument.Node, in document: JSONDocument, perform body: (Span<UInt8>) -> Void
    ) {
        document.forEachElement(of: node) { element in
            if document.kind(of: element) == .string { body(document.span(document.text(of: element))) }
        }
    }

    private static func forEachHandle(
        of node: JSONDocument.Node, in document: JSONDocument, perform body: (Span<UInt8>) -> Void
    ) {
        document.forEachElement(of: node) { device in
            guard let handle = document.text("handle", of: device) else { return }
            let platform = document.text("platform", of: device).flatMap { Platform(name: $0) }
            body(DeviceToken.identity(of: handle, on: platform).utf8Span.span)
        }
    }

    private static func forEachTag(of expression: Span<UInt8>, perform body: (Span<UInt8>) -> Void) {
        var start = 0
        while start < expression.count {
            var end = start
            while end < expression.count, TagText.isCharacter(expression[end]) { end += 1 }
            if end > start { body(expression.extracting(start..<end)) }
            start = end + 1
        }
    }
}
