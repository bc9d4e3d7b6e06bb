extension RequestReader {
    /// An object of a request in which null says that a member is not set. The inside of a native body is none.
    private enum Level {
        case request, audience, message, options, dedupe, payloads, payload
        /// An object of the publisher's own names.
        case map

        /// True if the contract has a member of this name. Others are unknown, with any value.
        func has(_ name: JSONDocument.Text, in document: borrowing JSONDocument) -> Bool {
            switch self {
            case .request: Field.names.value(of: name, in: document) != nil
            case .audience: AudienceKind.names.value(of: name, in: document) != nil
            case .message: MessageField.names.value(of: name, in: document) != nil
            case .options: OptionField.names.value(of: name, in: document) != nil
            case .dedupe: isOne(of: RequestReader.dedupeFields, name: name, in: document)
            case .payload: isOne(of: RequestReader.payloadFields, name: name, in: document)
            case .payloads: Platform(document.span(name)) != nil
            case .map: true
            }
        }

        /// The level of the object that the member of this name is.
        func inner(_ name: JSONDocument.Text, in document: borrowing JSONDocument) -> Level? {
            switch self {
            case .request:
                switch Field.names.value(of: name, in: document) {
                case .audience: .audience
                case .message: .message
                case .options: .options
                case .dedupe: .dedupe
                case .payloads: .payloads
                case .template, .labels: .map
                default: nil
                }
            case .message: document.isEqual(name, to: "data" as StaticString) ? .map : nil
            case .payloads: .payload
            case .payload: document.isEqual(name, to: "headers" as StaticString) ? .map : nil
            case .audience, .options, .dedupe, .map: nil
            }
        }

        private func isOne(
            of names: [StaticString], name: JSONDocument.Text, in document: borrowing JSONDocument
        ) -> Bool {
            for known in names where document.isEqual(name, to: known) { return true }
            return false
        }
    }

    /// Takes the members that are null out of the request at `body`, and out of its text: serialisers write null for "not set".
    static func removeNulls(of body: JSONDocument.Node, from document: inout JSONDocument) {
        if document.hasNull { _ = removeNulls(of: body, on: .request, from: &document) }
    }

    /// Returns true if anything was taken out.
    private static func removeNulls(
        of object: JSONDocument.Node, on level: Level, from document: inout JSONDocument
    ) -> Bool {
        var isChanged = document.removeMembers(of: object) { key, value, document in
            document.kind(of: value) == .null && level.has(key, in: document)
        }
        var members = document.children(of: object)
        while document.kind(of: object) == .object, let (key, value) = members.next(in: document) {
            guard let inner = level.inner(document.text(of: key), in: document) else { continue }
            if removeNulls(of: value, on: inner, from: &document) { isChanged = true }
        }
        if isChanged { document.rewrite(object) }
        return isChanged
    }
}
