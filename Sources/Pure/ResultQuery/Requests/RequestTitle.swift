import PushModel

/// Finds the words that a request shows to its receivers.
enum RequestTitle {
    /// The most bytes of a payload written as text that are read to find its title.
    private static let payloadLimit = 64 << 10

    /// The title for a list: that of the message, else the beginning of its body, else what payloads or a template show.
    static func title(of request: borrowing PushRequest) -> String? {
        if let message = request.message {
            for text in [message.title, message.body] {
                guard let text else { continue }
                if let line = DisplayText.line(request.document.string(text), limit: DisplayText.titleLimit) { return line }
            }
        }
        return titleOfPayloads(of: request) ?? request.template.flatMap { title(ofTemplate: $0, in: request.document) }
    }

    /// The texts whose words find a request, the title's first.
    static func texts(of request: borrowing PushRequest) -> [String] {
        let document = request.document
        let texts = [request.message?.title, request.message?.subtitle, request.message?.body].compactMap { $0 }
            .filter { !$0.isEmpty }
        guard texts.isEmpty else { return texts.map { document.string($0) } }
        return title(of: request).map { [$0] } ?? []
    }

    private static func titleOfPayloads(of request: borrowing PushRequest) -> String? {
        guard let payloads = request.payloads else { return nil }
        let document = request.document
        var title: String?
        document.forEachMember(of: payloads) { name, payload in
            guard title == nil, let platform = Platform(document.span(name)), let body = document.member("body", of: payload)
            else { return }
            guard document.kind(of: body) == .string else {
                title = self.title(ofBody: body, in: document, for: platform)
                return
            }
            let text = document.text(of: body)
            var inner = JSONDocument()
            guard text.count <= payloadLimit, (try? inner.read(document.span(text), namingDuplicates: false)) != nil else {
                return
            }
            title = self.title(ofBody: inner.root, in: inner, for: platform)
        }
        return title
    }

    private static func title(ofBody body: JSONDocument.Node, in document: JSONDocument, for platform: Platform) -> String? {
        switch platform {
        case .apple:
            guard let alert = document.member("aps", of: body).flatMap({ document.member("alert", of: $0) }) else { return nil }
            return line(at: alert, in: document) ?? line("title", of: alert, in: document)
                ?? line("body", of: alert, in: document)
        case .fcmv1:
            return document.member("message", of: body).flatMap { titleOfNotification(in: $0, of: document) }
        case .gcm: return titleOfNotification(in: body, of: document)
        case .windows, .adm, .baidu, .browser, .xiaomi: return nil
        }
    }

    private static func titleOfNotification(in body: JSONDocument.Node, of document: JSONDocument) -> String? {
        guard let notification = document.member("notification", of: body) else { return nil }
        return line("title", of: notification, in: document) ?? line("body", of: notification, in: document)
    }

    private static func title(ofTemplate template: JSONDocument.Node, in document: JSONDocument) -> String? {
        line("title", of: template, in: document) ?? line("alert", of: template, in: document)
            ?? line("message", of: template, in: document)
    }

    private static func line(_ name: StaticString, of node: JSONDocument.Node, in document: JSONDocument) -> String? {
        document.member(name, of: node).flatMap { line(at: $0, in: document) }
    }

    private static func line(at node: JSONDocument.Node, in document: JSONDocument) -> String? {
        guard document.kind(of: node) == .string else { return nil }
        return DisplayText.line(document.string(document.text(of: node)), limit: DisplayText.titleLimit)
    }
}
