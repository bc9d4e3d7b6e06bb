public import PushModel

/// The origin of a replayed request: the `replay` block of the request and of each of its results (page Replay).
public struct Lineage: Sendable, Equatable {
    /// The most replays of replays in a row.
    public static let maximumGeneration = 5

    /// The very first request.
    public let rootID: String
    /// The request that is repeated.
    public let parentID: String
    /// The place of that request, and its record's time.
    public let parent: Original
    /// 1 for a replay, 2 for the replay of a replay, and so on.
    public let generation: Int
    /// The changes, over all generations.
    public let modified: [String]

    /// The lineage of a replay of `request`.
    ///
    /// - Parameters:
    ///   - request: What is repeated.
    ///   - original: Where it stands, and its record's time.
    ///   - notes: What is changed.
    public init(of request: borrowing PushRequest, at original: Original, modified notes: [String]) {
        let document = request.document
        let earlier = request.replay
        parentID = document.string(request.id)
        parent = original
        // The notifications of a part have the identity of the whole, and so have those of what repeats it.
        let whole = request.parent.flatMap { document.text("id", of: $0) }
        rootID = earlier.flatMap { document.text("root_request_id", of: $0) } ?? whole ?? parentID
        generation = Int(earlier.flatMap { document.integer("generation", of: $0) } ?? 0).addingSaturated(1)
        var kept: [String] = []
        if let list = earlier.flatMap({ document.member("modified", of: $0) }) {
            document.forEachElement(of: list) { kept.append(document.string(document.text(of: $0))) }
        }
        kept.removeAll(where: notes.contains)
        modified = Array((kept + notes).suffix(32))
    }

    /// Writes the block.
    ///
    /// - Parameters:
    ///   - sends: The sends that are repeated; all of them are not listed.
    ///   - job: In whose name.
    ///   - json: Gets the object.
    public func append(_ sends: SendSet, by job: ReplayAuthor, to json: inout ByteWriter) {
        json.append("{\"root_request_id\":", json: rootID)
        json.append(",\"parent_request_id\":", json: parentID)
        json.append(",\"parent_origin\":", json: parent.place.description)
        json.append(",\"parent_published_at\":", moment: parent.publishedAt)
        if sends != .all {
            json.append(",\"sends\":[")
            json.append(list: sends.indices) { $0.append(decimal: $1) }
            json.append("]")
        }
        json.append(",\"generation\":", decimal: generation)
        json.append(",\"job_id\":", json: job.jobID)
        json.append(",\"actor\":", json: job.actor)
        json.append(",\"reason\":", json: job.reason)
        if !modified.isEmpty {
            json.append(",\"modified\":[")
            json.append(list: modified) { $0.append(json: $1) }
            json.append("]")
        }
        json.append("}")
    }
}

/// In whose name requests are replayed, and why.
public struct ReplayAuthor: Sendable, Equatable {
    /// The job.
    public var jobID: String
    /// The name of the one who started it, at most 128 characters.
    public var actor: String
    /// The reason for it, at most 512 characters.
    public var reason: String

    /// An author.
    public init(jobID: String, actor: String, reason: String) {
        self.jobID = jobID
        self.actor = actor
        self.reason = reason
    }
}
