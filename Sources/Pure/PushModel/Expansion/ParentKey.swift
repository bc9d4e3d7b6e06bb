import Basics

/// The name of a large request in the topic of parents: the keys of all records that belong to it begin with it.
///
/// A request that came as a record is named by its place, which no two requests of one log share even where their ids are the same, and
/// by its time and id, which tell it from one at the same place of a topic that was made again. One that came as a file is named by its
/// id, so that the same run continued is the same request.
public struct ParentKey: Sendable, Hashable {
    /// A record of the topic.
    public enum Role: Sendable, Equatable {
        /// The record that the request's result needs: `KEY`.
        case parent
        /// The fate of one of its parts: `KEY/CHUNK`.
        case part(Int)
        /// The progress of enqueuing the file: `KEY/progress`.
        case progress
        /// The claim of the one who is about to enqueue it: `KEY/claim`.
        case claim
    }

    /// The most bytes of it: a topic's name, a partition, an offset and a hash.
    public static let maximumByteCount = 300

    /// Letters, digits and `. _ : -`.
    public let text: String

    /// The key of a request that came as a record: `TOPIC:PARTITION:OFFSET:HASH`.
    ///
    /// - Parameters:
    ///   - origin: Where it stands, and its time.
    ///   - id: Its id.
    public init(of origin: RecordOrigin, id: Span<UInt8>) {
        var hash = FNV1a()
        if origin.isDated { hash.add("\(origin.timestamp.milliseconds) ".utf8) }
        hash.add(id)
        text = "\(Self(at: origin).text):\(Hexadecimal.text(hash.value))"
    }

    /// The key that earlier versions gave to whatever request stands at a place.
    public init(at place: RecordOrigin) { text = "\(place.topic):\(place.partition):\(place.offset)" }

    /// The key of a request that came as a file. No topic's name begins with a colon.
    public init(fileID: String) { text = ":file:\(fileID)" }

    /// The key that `text` is.
    public init(_ text: String) { self.text = text }

    /// True if it is the key of a request at a place, `TOPIC:PARTITION:OFFSET`, whatever its time.
    public func isKey(at place: String) -> Bool { text == place || text.hasPrefix("\(place):") }

    /// Reads the key of a record. Nil for one that no writer of parents has written.
    public static func read(_ bytes: Span<UInt8>) -> (parent: ParentKey, role: Role)? {
        guard !bytes.isEmpty, bytes.count <= maximumByteCount + 12 else { return nil }
        var writer = ByteWriter()
        writer.append(bytes)
        guard let text = String(validating: writer.bytes, as: UTF8.self) else { return nil }
        guard let slash = text.firstIndex(of: "/") else { return (ParentKey(text), .parent) }
        let parent = ParentKey(String(text[..<slash]))
        let rest = text[text.index(after: slash)...]
        if rest == "progress" { return (parent, .progress) }
        if rest == "claim" { return (parent, .claim) }
        guard let chunk = Int(rest), chunk >= 0, chunk < ParentRecord.maximumChunks else { return nil }
        return (parent, .part(chunk))
    }

    /// Writes the key of a record.
    public func append(_ role: Role, to bytes: inout ByteWriter) {
        bytes.append(text)
        switch role {
        case .parent: return
        case .part(let chunk):
            bytes.append("/")
            bytes.append(decimal: chunk)
        case .progress: bytes.append("/progress")
        case .claim: bytes.append("/claim")
        }
    }

    /// The 64-bit FNV-1a digest of the key.
    public var digest: UInt64 { FNV1a.hash(of: text.utf8) }

    /// The partition, of `count`, that holds the records of the request. Its parts carry the number with them, so that it stays
    /// theirs when the topic gets more partitions.
    public func partition(of count: Int32) -> Int32 { Int32(digest % UInt64(max(1, count))) }
}
