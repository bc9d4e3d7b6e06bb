public import PushModel

/// The parts of a large request that are not written yet: what each has of its own, its audience and in a spread its hub.
///
/// They are written in steps, one in each transaction. A step writes the first of them as records of their own, and all others in one
/// more record, the continuation. That is a part itself, the first of those that it carries; its `parent.remaining` holds the others.
/// The step that reads it goes on from there. So progress is a record, and whoever reads it needs neither the audience as it was
/// published nor the settings by which it was divided.
public struct RemainingParts: Sendable {
    private struct Part: Sendable {
        let audience: Range<Int>
        let hub: String?
    }

    /// The number of the first of them among all parts of the request.
    public let first: Int
    private var bytes = ByteWriter()
    private var parts: [Part] = []

    /// Their number.
    public var count: Int { parts.count }

    /// The bytes that a step has at most where parts are small, 4 MiB: brokers that turn slow must still take it.
    public static let largestStep = 4 << 20

    /// None, to which those of a whole request are added.
    public init() { first = 0 }

    /// Those that a continuation carries, itself included. Nil for a request that is no continuation.
    ///
    /// - Parameters:
    ///   - request: A request that was read.
    ///   - body: The object of its document that holds its fields.
    public init?(of request: borrowing PushRequest, body: JSONDocument.Node) {
        guard let list = request.remaining, let whole = PartReference(of: request),
            let own = request.document.member("audience", of: body)
        else { return nil }
        first = whole.chunk
        append(own, hub: nil, of: request.document)
        var elements = request.document.children(of: list)
        while let (_, element) = elements.next(in: request.document) {
            guard let audience = request.document.member("audience", of: element) else { return nil }
            append(audience, hub: request.document.member("hub", of: element), of: request.document)
        }
    }

    private mutating func append(
        _ audience: JSONDocument.Node, hub: JSONDocument.Node?, of document: borrowing JSONDocument
    ) {
        var name: String?
        if let hub { name = document.string(document.text(of: hub)) }
        let start = bytes.count
        bytes.append(document.span(document.text(of: audience)))
        parts.append(Part(audience: start..<bytes.count, hub: name))
    }

    /// Adds a part behind the others.
    ///
    /// - Parameters:
    ///   - hub: The hub that it goes to; nil for that of the whole.
    ///   - audience: Writes whom it reaches, as an object.
    public mutating func add(hub: String? = nil, audience: (inout ByteWriter) -> Void) {
        let start = bytes.count
        audience(&bytes)
        parts.append(Part(audience: start..<bytes.count, hub: hub))
    }

    /// The number of those that the next step writes as records of their own.
    ///
    /// They are as many as fill the room together with the continuation, and have at least as many bytes as that has: steps then
    /// write no more than twice what the parts have. They are more where a continuation would be too long to be read.
    ///
    /// - Parameters:
    ///   - repeated: The bytes that each record has beside its audience and its hub: `PartWriter.repeatedByteCount`.
    ///   - room: The bytes that the step should have, `largestStep` at most.
    /// - Returns: From 1 to `count`; there is no continuation where it is `count`.
    public func stepCount(repeated: Int, room: Int) -> Int {
        let room = min(room, Self.largestStep)
        var written = 0
        var rest = repeated + Self.frame + parts.reduce(0) { $0 + byteCount(of: $1) + Self.frame }
        for (index, part) in parts.enumerated() {
            let own = byteCount(of: part)
            written += repeated + own
            rest -= own + Self.frame
            // One that is left alone is no more than a part.
            guard index + 2 < parts.count else { break }
            if written + rest >= room, written >= rest, rest <= RequestReader.maximumRecordByteCount { return index + 1 }
        }
        return parts.count
    }

    /// No less than what JSON has around each part in a continuation, and around all of them: 48 bytes.
    private static let frame = 48

    private func byteCount(of part: Part) -> Int { part.audience.count + (part.hub?.utf8.count ?? 0) }

    func hub(of index: Int) -> String? { parts[index].hub }

    func appendAudience(of index: Int, to json: inout ByteWriter) {
        json.append(bytes.span.extracting(parts[index].audience))
    }
}
