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

    let owner: Owner
    let kinds: [String]
    /// Nil lets everything through. Matching parses the result.
    private let matcher: Mutex<ResultMatcher>?

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
        matcher = query.filter.map { Mutex(ResultMatcher($0)) }
    }

    /// True for a result that the reader may see and wants.
    func wants(_ record: FeedRecord) -> Bool {
        guard kinds.contains(record.kind), owner.tenant == nil || owner.tenant == record.tenant,
            owner.source == nil || owner.source == record.source
        else { return false }
        let (line, time) = (record.line, record.timestamp)
        return matcher?.withLock { $0.matches(line.span, writtenAt: time) } ?? true
    }
}
