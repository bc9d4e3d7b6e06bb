import Groups
package import PushModel
import Replay

/// A large request whose parts have not all ended, by the records of the topic of parents.
package struct DividedRequest: Sendable, Equatable {
    /// The record that it was published with, or nil for one that came as a file, and where its own record was not read.
    package let origin: RecordOrigin?
    /// The time of its first record that was read.
    package let at: Timestamp
    /// The number of its parts, or nil where its own record was not read.
    package let count: Int?
    /// The number of parts that have ended, as far as they were read.
    package let endedCount: Int
    /// The number of parts that were sent everywhere, or nil where that was not read.
    package var sentCount: Int?
}

/// Reads what is open of one request in the topic of parents, partition by partition. Without effects.
///
/// A worker deletes the records of a request in the transaction that writes its result, so what is there is open.
struct DividedReader {
    private struct Open {
        var record: ParentRecord?
        let at: Timestamp
        var ended: Set<Int> = []
        var sent: Set<Int> = []
    }

    private let id: String
    /// Its place if its id is one.
    private let place: String?
    /// The names that the request has if its record was found, or it came as a file.
    private let names: Set<ParentKey>
    private var open: [ParentKey: Open] = [:]

    /// A reader for a request by its id, and its place if the id is one, of which some records were found in lanes.
    init(for id: String, place: RecordPlace?, found: [FoundRequest]) {
        self.id = id
        self.place = place.map { "\($0)" }
        names = Set(
            found.flatMap {
                let id = Array($0.request.id.utf8)
                return [ParentKey(of: $0.request.origin, id: id.span), ParentKey(at: $0.request.origin)]
            } + [ParentKey(fileID: id)])
    }

    private func isKnown(_ key: ParentKey) -> Bool { names.contains(key) || place.map(key.isKey) ?? false }

    /// Takes in a record.
    mutating func take(key: Span<UInt8>?, value: Span<UInt8>?, at time: Timestamp) {
        guard let key, let (parent, role) = ParentKey.read(key) else { return }
        switch (role, value) {
        case (.parent, nil): open[parent] = nil
        case (.parent, .some(let value)):
            guard let record = ParentRecord(value), isKnown(parent) || record.id == id else { return }
            open[parent, default: Open(at: time)].record = record
        case (.part(let chunk), .some(let value)):
            // The record of one whose name is known may stand before what is read.
            guard open[parent] != nil || isKnown(parent) else { return }
            open[parent, default: Open(at: time)].ended.insert(chunk)
            if PartTally(value, chunk: chunk)?.state == .sent { open[parent]?.sent.insert(chunk) }
        default: return
        }
    }

    /// The request that was divided last, or nil when none is open.
    var divided: DividedRequest? {
        open.values.max { $0.at < $1.at }.map {
            DividedRequest(
                origin: $0.record?.origin, at: $0.at, count: $0.record?.chunks, endedCount: $0.ended.count,
                sentCount: $0.sent.count)
        }
    }
}
