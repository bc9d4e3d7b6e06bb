/// The requests that an order concerns: those that have everything that is named. With nothing named, all.
public struct OrderScope: Sendable, Hashable {
    /// A label with its value.
    public struct Label: Sendable, Hashable, Comparable {
        /// The label's name.
        public var name: String
        /// The label's value.
        public var value: String

        /// A label with its value.
        public init(_ name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// By names, then by values.
        public static func < (left: Label, right: Label) -> Bool { (left.name, left.value) < (right.name, right.value) }
    }

    /// The most bytes of a name, a value or an id.
    public static let maximumByteCount = CancelRecord.maximumIDByteCount
    /// The most labels.
    public static let maximumLabels = 8

    /// The name of the hub that calls go to.
    public var hub: String?
    /// The request's tenant.
    public var tenant: String?
    /// The request's source.
    public var source: String?
    /// The word of the lane that the request is read from: `high`, `normal`, `bulk` or `own`.
    public var lane: String?
    /// The id of a request. Its parts and its replays are meant with it.
    public var request: String?
    /// The name of a user in the request's audience.
    public var user: String?
    /// The labels that the request must have, in their order.
    public var labels: [Label] = [] { didSet { labels.sort() } }

    /// Everything.
    public static let everything = OrderScope()

    /// Everything, to be narrowed.
    public init() {}

    /// True if nothing is named.
    public var isEverything: Bool { self == .everything }

    /// True if it can be obeyed: each text has 1 to `maximumByteCount` bytes, and there are at most `maximumLabels` labels.
    public var isSound: Bool {
        let texts = [hub, tenant, source, lane, request, user].compactMap(\.self) + labels.flatMap { [$0.name, $0.value] }
        return labels.count <= Self.maximumLabels && texts.allSatisfy { (1...Self.maximumByteCount).contains($0.utf8.count) }
    }

    /// The scope in the language of filters, such as `hub:north label.campaign:sale`, or `everything`.
    public var text: String {
        let named = members.map { "\($0.name):\(Self.quoted($0.value))" }
        let words = named + labels.map { "label.\($0.name):\(Self.quoted($0.value))" }
        return words.isEmpty ? "everything" : words.joined(separator: " ")
    }

    private static func quoted(_ value: String) -> String {
        let isPlain = value.allSatisfy { $0.isLetter || $0.isNumber || "-_.@/".contains($0) }
        return isPlain && !value.isEmpty
            ? value : "\"\(value.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\""))\""
    }

    /// The names and values beside labels.
    private var members: [(name: String, value: String)] {
        [("hub", hub), ("tenant", tenant), ("source", source), ("lane", lane), ("request", request), ("user", user)]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    /// Decides whether it concerns a request.
    ///
    /// - Parameters:
    ///   - request: The request. Its words about a whole or a replay are believed.
    ///   - hub: The name of the hub that its calls go to. Nil where that is not known, or has no name.
    ///   - lane: The word of the lane that it is read from.
    /// - Returns: True if the request has everything that is named.
    public func concerns(_ request: borrowing PushRequest, hub: String?, lane: String) -> Bool {
        if let wanted = self.hub, wanted != hub { return false }
        if let wanted = self.lane, wanted != lane { return false }
        let document = request.document
        if let tenant, !(request.tenant.map { document.isEqual($0, to: tenant) } ?? false) { return false }
        if let source, !(request.source.map { document.isEqual($0, to: source) } ?? false) { return false }
        if let user, !names(user, in: request) { return false }
        if let id = self.request, !means(id, by: request) { return false }
        return labels.allSatisfy { has($0, in: request) }
    }

    private func names(_ user: String, in request: borrowing PushRequest) -> Bool {
        guard case .users(let users) = request.audience else { return false }
        var isNamed = false
        request.document.forEachElement(of: users) {
            if request.document.isEqual(request.document.text(of: $0), to: user) { isNamed = true }
        }
        return isNamed
    }

    private func has(_ label: Label, in request: borrowing PushRequest) -> Bool {
        guard let labels = request.labels else { return false }
        let document = request.document
        var isThere = false
        document.forEachMember(of: labels) { name, value in
            if document.isEqual(name, to: label.name), document.isEqual(document.text(of: value), to: label.value) {
                isThere = true
            }
        }
        return isThere
    }

    /// True if a request has the id, is a part of what has it, or replays it.
    private func means(_ id: String, by request: borrowing PushRequest) -> Bool {
        let document = request.document
        if document.isEqual(request.id, to: id) { return true }
        if let parent = request.parent, document.text("id", of: parent) == id { return true }
        guard let lineage = request.replay else { return false }
        return document.text("root_request_id", of: lineage) == id || document.text("parent_request_id", of: lineage) == id
    }
}

// The form in records and answers.
extension OrderScope {
    /// Appends it as a JSON object: `{"everything":true}`, or what is named.
    public func append(to json: inout ByteWriter) {
        if isEverything { return json.append("{\"everything\":true}") }
        var isFirst = true
        func comma() {
            json.append(isFirst ? "{" : ",")
            isFirst = false
        }
        for (name, value) in members {
            comma()
            json.append(json: name)
            json.append(":", json: value)
        }
        if !labels.isEmpty {
            comma()
            json.append("\"labels\":{")
            json.append(list: labels) { json, label in
                json.append(json: label.name)
                json.append(":", json: label.value)
            }
            json.append("}")
        }
        json.append("}")
    }

    /// Reads the object at `node`. Nil for one that names nothing, or something that is not known here: it may mean fewer requests.
    public init?(at node: JSONDocument.Node, in document: borrowing JSONDocument) {
        guard document.kind(of: node) == .object else { return nil }
        var (scope, isKnown, isEverything) = (OrderScope(), true, false)
        document.forEachMember(of: node) { name, value in
            let text = document.kind(of: value) == .string ? document.string(document.text(of: value)) : nil
            switch document.string(name) {
            case "everything": isEverything = document.kind(of: value) == .true
            case "hub": scope.hub = text
            case "tenant": scope.tenant = text
            case "source": scope.source = text
            case "lane": scope.lane = text
            case "request": scope.request = text
            case "user": scope.user = text
            case "labels":
                document.forEachMember(of: value) { name, value in
                    if document.kind(of: value) != .string { isKnown = false }
                    scope.labels.append(Label(document.string(name), value: document.string(document.text(of: value))))
                }
                return
            default: isKnown = false
            }
            if text == nil, !isEverything { isKnown = false }
        }
        guard isKnown, scope.isSound, scope.isEverything == isEverything else { return nil }
        self = scope
    }
}
