import GatewayAPI
import Keys
import ResultFeed
import ResultQuery
import Synchronization

/// The results that a reader may see and wants.
final class FeedAudience: Sendable {
    /// The publisher of requests and their tenant, each nil for any.
    struct Owner: Hashable, Sendable {
        var tenant: String?
        var source: String?
    }

    /// The room of a reading of which a filter leaves less.
    private static let wideRoom = FeedRoom(records: 1000, bytes: 1 << 20)

    let owner: Owner
    let kinds: [String]
    /// True if a filter leaves something out.
    private let isFiltered: Bool
    /// Nil lets everything through. Matching parses the result, so it is done behind the reading.
    private let matcher: Mutex<ResultMatcher?>

    /// The audience of a call by a publisher.
    ///
    /// - Throws: 403 for a source that it may not see.
    init(_ query: FeedQuery, for publisher: Publisher) throws(APIProblem) {
        if publisher.scopes.contains(.read) {
            owner = Owner(tenant: publisher.tenant, source: query.source)
        } else {
            guard query.source == nil || query.source == publisher.source else { throw .foreignResults }
            owner = Owner(tenant: publisher.tenant, source: publisher.source)
        }
        kinds = query.kinds
        isFiltered = query.filter != nil
        matcher = Mutex(query.filter.map { ResultMatcher($0) })
    }

    /// True for a result that the reader may see, of a kind that it wants. It is quick, and looks at no filter.
    func concerns(_ record: FeedRecord) -> Bool {
        kinds.contains(record.kind) && (owner.tenant == nil || owner.tenant == record.tenant)
            && (owner.source == nil || owner.source == record.source)
    }

    /// The room of a reading that is narrowed then.
    func room(for room: FeedRoom) -> FeedRoom { isFiltered ? Self.wideRoom : room }

    /// Leaves of a reading from a place what the filter lets through, as far as there is room for it.
    func narrow(_ reading: FeedReading, from places: FeedPlaces, to room: FeedRoom) -> FeedReading {
        guard isFiltered else { return reading }
        var (found, byteCount, passed) = ([FeedRecord](), 0, places)
        for record in reading.records {
            if isMatch(record) {
                guard found.count < room.records, byteCount < room.bytes else {
                    return FeedReading(records: found, places: passed, isAtEnd: false)
                }
                found.append(record)
                byteCount += record.line.count
            }
            passed.offsets[record.partition] = record.offset + 1
        }
        return FeedReading(records: found, places: reading.places, isAtEnd: reading.isAtEnd)
    }

    private func isMatch(_ record: FeedRecord) -> Bool {
        let (line, time) = (record.line, record.timestamp)
        return matcher.withLock { $0?.matches(line.span, writtenAt: time) ?? true }
    }
}
