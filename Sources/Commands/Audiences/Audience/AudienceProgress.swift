import PushModel

/// The progress of enqueuing the file of a request: a record of the topic of parents, written in the same transactions as the
/// parts.
///
/// It is kept when the request is finished, so that the same file with the same content is never enqueued twice under one id.
struct AudienceProgress: Equatable {
    /// The request as it was when its first part was written. The later parts have the same.
    var request: [UInt8]
    /// The digest of the file, and what the request is besides.
    var digest: String
    /// The time of the beginning, milliseconds since 1970.
    var publishedAt: Int64
    /// The partition of the topic of parents that holds its records.
    var partition: Int32
    /// The first part that is not written yet.
    var next = 0
    /// The number of parts.
    var parts: Int

    /// True if all parts are written.
    var isComplete: Bool { next >= parts }
}

extension AudienceProgress {
    /// Reads a record's value, or returns nil for one that this version did not write.
    init?(_ value: Span<UInt8>) {
        var document = JSONDocument()
        do { try document.read(value) } catch { return nil }
        let root = document.root
        guard document.integer("v", of: root) == 1, let request = document.member("request", of: root),
            let digest = document.text("digest", of: root), let moment = document.integer("published_ms", of: root),
            let partition = document.integer("partition", of: root).flatMap({ Int32(exactly: $0) }),
            let next = document.integer("next", of: root), (0...1 << 53).contains(next),
            let parts = document.integer("parts", of: root), (0...1 << 53).contains(parts)
        else { return nil }
        var bytes = ByteWriter()
        bytes.append(document.span(document.text(of: request)))
        self.init(request: bytes.bytes, digest: digest, publishedAt: moment, partition: partition, parts: Int(parts))
        self.next = Int(next)
    }

    /// The record's value.
    var json: [UInt8] {
        var object = JSONObject([
            "v": 1, "digest": digest, "published_ms": Int(publishedAt), "partition": Int(partition), "next": next, "parts": parts,
        ])
        object.add("request", raw: request)
        return object.bytes
    }
}
