import Basics
public import PushModel

/// Writes the parts of a large request, as requests of their own.
///
/// What a part says is what the whole says, but for its id, whom it reaches and the block that tells where it belongs. Left out are the
/// key against duplicates, which is the whole's, and the ordering key: parts are sent side by side. So are unknown fields.
public struct PartWriter: Sendable {
    /// The members that a part has as they stand in the whole.
    private static let kept: [StaticString] = [
        "tenant", "created_at", "message", "template", "payloads", "not_before", "priority", "collapse_key", "options",
        "labels", "replay",
    ]

    private let parentID: [UInt8]
    /// The beginning of every part, up to its id.
    private var beforeID = ByteWriter()
    /// The bytes between the id and the number of the part.
    private var beforeChunk = ByteWriter()
    /// The bytes behind the audience.
    private var ending = ByteWriter()
    /// The member that names the hub of the whole, empty when it names none.
    private var hub = ByteWriter()

    /// A writer for the parts of one request.
    ///
    /// - Parameters:
    ///   - request: The whole.
    ///   - body: The object in its document that holds its fields.
    ///   - platforms: The platforms that it goes to; empty for a template, and for handles, which bring their own.
    ///   - key: Its key in the topic of parents.
    ///   - partition: The partition there that holds its records.
    ///   - chunks: How many parts there are.
    ///   - publishedAt: When it was published.
    public init(
        _ request: borrowing PushRequest, body: JSONDocument.Node, platforms: PlatformSet, key: ParentKey, partition: Int32,
        chunks: Int, publishedAt: Timestamp
    ) {
        let whole = PartReference(
            parentID: request.document.string(request.id), key: key, partition: partition, chunk: 0, chunks: chunks,
            publishedAt: publishedAt)
        self.init(request, body: body, platforms: platforms, of: whole)
    }

    /// A writer for the parts that a continuation carries.
    ///
    /// - Parameters:
    ///   - request: The continuation.
    ///   - body: The object in its document that holds its fields.
    ///   - platforms: The platforms that the whole goes to; empty for a template, and for handles, which bring their own.
    ///   - whole: What its `parent` block says.
    public init(
        _ request: borrowing PushRequest, body: JSONDocument.Node, platforms: PlatformSet, of whole: PartReference
    ) {
        let id = Array(whole.parentID.utf8)
        parentID = Self.stem(id.span, source: request.source.map { request.document.string($0) })
        beforeID.append("{\"schema_version\":1,\"id\":\"")
        beforeChunk.append("\",\"parent\":{\"id\":", json: id.span)
        beforeChunk.append(",\"key\":", json: whole.key.text)
        beforeChunk.append(",\"partition\":", decimal: Int64(whole.partition))
        beforeChunk.append(",\"published_at\":", moment: whole.publishedAt)
        beforeChunk.append(",\"chunks\":", decimal: whole.chunks)
        beforeChunk.append(",\"chunk\":")
        appendPlatforms(platforms)
        ending.append(",\"expires_at\":", moment: request.expiresAt)
        ending.append(",\"source\":", text: request.source, in: request.document)
        for name in Self.kept { ending.append(member: name, of: body, in: request.document) }
        hub.append(",\"hub\":", text: request.hub, in: request.document)
        ending.append("}")
    }

    /// The largest `repeatedByteCount` that is written, bytes (384 KiB): with its audience, a part is then short enough to be read.
    public static let maximumRepeatedByteCount = 384 << 10

    /// The bytes that stand in every part beside its number and its audience.
    public var repeatedByteCount: Int {
        beforeID.count + parentID.count + beforeChunk.count + hub.count + ending.count
    }

    /// The bytes that a part has beside that and its audience, at most: its number twice, of 8 digits, and the members' names.
    private static let ownByteCount = 2 * 8 + ".},\"audience\":,\"hub\":\"\"".utf8.count

    /// The most bytes that a part may have.
    ///
    /// - Parameter audience: The bytes of the longest audience, with the name of a hub of its own.
    /// - Returns: No fewer bytes than any part has.
    public func maximumByteCount(audience: Int) -> Int { repeatedByteCount + Self.ownByteCount + audience }

    /// Writes a part.
    ///
    /// - Parameters:
    ///   - chunk: Which one, from 0.
    ///   - own: The hub that it goes to; nil for that of the whole.
    ///   - json: Gets the request.
    ///   - audience: Writes whom it reaches, as an object.
    public func append(
        _ chunk: Int, hub own: String? = nil, to json: inout ByteWriter, audience: (inout ByteWriter) -> Void
    ) {
        append(chunk, hub: own, to: &json, remaining: { _ in }, audience: audience)
    }

    /// Writes one of the parts that remain.
    ///
    /// - Parameters:
    ///   - index: Which one, from 0, below their count.
    ///   - parts: The parts.
    ///   - json: Gets the request.
    public func append(_ index: Int, of parts: RemainingParts, to json: inout ByteWriter) {
        append(parts.first + index, hub: parts.hub(of: index), to: &json) { parts.appendAudience(of: index, to: &$0) }
    }

    /// Writes the continuation: one of the parts that remain, with those behind it.
    ///
    /// - Parameters:
    ///   - index: Which one, from 0, below their count.
    ///   - parts: The parts.
    ///   - json: Gets the request.
    public func appendContinuation(from index: Int, of parts: RemainingParts, to json: inout ByteWriter) {
        append(
            parts.first + index, hub: parts.hub(of: index), to: &json,
            remaining: { json in
                json.append(",\"remaining\":[")
                json.append(list: index + 1..<max(parts.count, index + 1)) { json, other in
                    json.append("{\"audience\":")
                    parts.appendAudience(of: other, to: &json)
                    json.append(",\"hub\":", json: parts.hub(of: other))
                    json.append("}")
                }
                json.append("]")
            },
            audience: { parts.appendAudience(of: index, to: &$0) })
    }

    private func append(
        _ chunk: Int, hub own: String?, to json: inout ByteWriter, remaining: (inout ByteWriter) -> Void,
        audience: (inout ByteWriter) -> Void
    ) {
        json.append(beforeID)
        json.append(parentID.span)
        json.append(".")
        json.append(decimal: chunk)
        json.append(beforeChunk)
        json.append(decimal: chunk)
        remaining(&json)
        json.append("},\"audience\":")
        audience(&json)
        if let own {
            json.append(",\"hub\":", json: own)
        } else {
            json.append(hub)
        }
        json.append(ending)
    }

    /// The beginning of the ids of parts: the id of the whole, or where that is too long, a digest of it and its source.
    private static func stem(_ id: Span<UInt8>, source: String?) -> [UInt8] {
        // A point and the most digits that a number of a part has.
        if id.count + 1 + 8 <= 128 {
            var writer = ByteWriter()
            writer.append(id)
            return writer.bytes
        }
        var digest = FNV1a()
        digest.add(id)
        digest.add(0)
        digest.add((source ?? "").utf8)
        var writer = ByteWriter()
        writer.append(id.extracting(first: 96))
        writer.append("-")
        writer.append(hexadecimal: digest.value)
        return writer.bytes
    }

    private mutating func appendPlatforms(_ platforms: PlatformSet) {
        guard !platforms.isEmpty else { return }
        ending.append(",\"platforms\":[")
        ending.append(list: Platform.allCases.filter { platforms.contains($0) }) { $0.append(json: "\($1.name)") }
        ending.append("]")
    }
}
