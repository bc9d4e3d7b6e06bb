public import PushModel

/// The facts of a request as it was published by which people find and know it again.
public struct RequestFacts: Sendable, Equatable {
    /// The request's id.
    public var id: String
    /// The tenant, the source and the hub that it names.
    public var tenant, source, hub: String?
    /// The audience.
    public var audience: AudienceSummary
    /// The title, or the beginning of the body where there is none. 256 characters at most.
    public var title: String?
    /// The labels by name.
    public var labels: [String: String] = [:]
    /// The moment before which it is not sent.
    public var due: Timestamp?
    /// The id of the whole of which it is a part.
    public var whole: String?
    /// The origin of a replay.
    public var replay: Replay?

    /// The origin of a replayed request.
    public struct Replay: Sendable, Equatable {
        /// The request that it replays, the first of all, the job, and who started that.
        public var parent, root, job, actor: String?
        /// 1, or more for a replay of a replay.
        public var generation: Int?

        /// The replay of a request.
        public init(of parent: String?) { self.parent = parent }
    }

    /// The request that it replays.
    public var replayed: String? {
        get { replay?.parent }
        set { replay = newValue.map { Replay(of: $0) } }
    }

    /// Facts with nothing but an id and an audience.
    public init(id: String, audience: AudienceSummary) { (self.id, self.audience) = (id, audience) }

    /// Reads the facts of a request, of one with faults as far as they could be read.
    public init(_ request: borrowing PushRequest) {
        let document = request.document
        self.init(id: document.string(request.id), audience: AudienceSummary(of: request))
        tenant = request.tenant.map { document.string($0) }
        source = request.source.map { document.string($0) }
        hub = request.hub.map { document.string($0) }
        title = RequestTitle.title(of: request)
        labels = Self.labels(at: request.labels, in: document)
        due = request.notBefore
        whole = request.parent.flatMap { document.text("id", of: $0) }
        replay = request.replay.map { Replay(document, at: $0) }
    }

    private static func labels(at node: JSONDocument.Node?, in document: JSONDocument) -> [String: String] {
        var labels: [String: String] = [:]
        guard let node else { return labels }
        document.forEachMember(of: node) { name, value in
            guard document.kind(of: value) == .string else { return }
            labels[document.string(name)] = document.string(document.text(of: value))
        }
        return labels
    }
}

extension RequestFacts {
    /// The facts as compact JSON. No handle of a device is in it.
    public var json: [UInt8] {
        var object = JSONObject(["id": id, "tenant": tenant, "source": source, "hub": hub])
        object.add("to", raw: audience.json(withText: false))
        object.add("title", value: title)
        object.add("labels", pairs: sortedLabels)
        object.add(["due": due.map { Int($0.milliseconds) }, "whole": whole])
        if let replay { object.add("replay", raw: replay.json) }
        return object.bytes
    }

    private var sortedLabels: [(name: String, value: String)] {
        labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Reads what `json` has written. Nil for anything else.
    public init?(json: Span<UInt8>) {
        var document = JSONDocument()
        do { try document.read(json, namingDuplicates: false) } catch { return nil }
        let root = document.root
        guard let id = document.text("id", of: root), let to = document.member("to", of: root),
            let audience = AudienceSummary(document, at: to)
        else { return nil }
        self.init(id: id, audience: audience)
        tenant = document.text("tenant", of: root)
        source = document.text("source", of: root)
        hub = document.text("hub", of: root)
        title = document.text("title", of: root)
        labels = Self.labels(at: document.member("labels", of: root), in: document)
        due = document.integer("due", of: root).map { Timestamp(milliseconds: $0) }
        whole = document.text("whole", of: root)
        replay = document.member("replay", of: root).map { Replay(document, at: $0) }
    }

    /// Reads what `json` has written. Nil for anything else.
    public init?(json: [UInt8]) { self.init(json: json.span) }

    /// An object with the members of a result that the request decides by itself, of which filters of results can be asked.
    ///
    /// - Parameters:
    ///   - state: The word for where it stands.
    ///   - topic: The topic that it was published to.
    ///   - partition: The partition.
    ///   - offset: The record's offset.
    /// - Returns: The object.
    public func resultShape(state: String, topic: String, partition: Int32, offset: Int64) -> [UInt8] {
        var object = JSONObject(["request_id": id, "source": source, "tenant": tenant, "hub": hub, "state": state])
        object.add(
            "origin", raw: JSONObject(["topic": topic, "partition": Int(partition), "offset": String(offset)]).bytes)
        if let whole { object.add("parent", raw: JSONObject(["id": whole]).bytes) }
        if let replay { object.add("replay", raw: replay.json) }
        object.add("labels", pairs: sortedLabels)
        return object.bytes
    }
}

extension RequestFacts.Replay {
    /// The origin as results tell it.
    fileprivate var json: [UInt8] {
        JSONObject([
            "root_request_id": root, "parent_request_id": parent, "generation": generation, "job_id": job, "actor": actor,
        ]).bytes
    }

    fileprivate init(_ document: JSONDocument, at node: JSONDocument.Node) {
        self.init(of: document.text("parent_request_id", of: node))
        root = document.text("root_request_id", of: node)
        job = document.text("job_id", of: node)
        actor = document.text("actor", of: node)
        generation = document.integer("generation", of: node).flatMap { Int(exactly: $0) }
    }
}
