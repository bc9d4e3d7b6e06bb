/// The larger request that a request is a part of: its `parent` block.
public struct PartReference: Sendable, Equatable {
    /// The larger request's id.
    public var parentID: String
    /// Its key in the topic of parents.
    public var key: ParentKey
    /// The partition of that topic which holds its records.
    public var partition: Int32
    /// The number of this part, from 0.
    public var chunk: Int
    /// The number of parts that there are.
    public var chunks: Int
    /// The moment of the larger request's publication.
    public var publishedAt: Timestamp

    /// A part of a larger request.
    public init(parentID: String, key: ParentKey, partition: Int32, chunk: Int, chunks: Int, publishedAt: Timestamp) {
        self.parentID = parentID
        self.key = key
        self.partition = partition
        self.chunk = chunk
        self.chunks = chunks
        self.publishedAt = publishedAt
    }

    /// Reads the block of a request. Nil when it has none.
    public init?(of request: borrowing PushRequest) {
        guard let node = request.parent else { return nil }
        let document = request.document
        guard let id = document.text("id", of: node), let key = document.text("key", of: node),
            let partition = document.integer("partition", of: node).flatMap({ Int32(exactly: $0) }),
            let chunk = document.integer("chunk", of: node), let chunks = document.integer("chunks", of: node),
            let moment = document.moment("published_at", of: node)
        else { return nil }
        self.init(
            parentID: id, key: ParentKey(key), partition: partition, chunk: Int(chunk), chunks: Int(chunks), publishedAt: moment)
    }

    /// The numbers of the parts that a request carries, which has this block: its own, and those that it continues with.
    public func carried(by request: borrowing PushRequest) -> Range<Int> {
        let behind = request.remaining.map { request.document.childCount(of: $0) } ?? 0
        return chunk..<min(max(chunk + 1, chunks), chunk + 1 + behind)
    }
}
