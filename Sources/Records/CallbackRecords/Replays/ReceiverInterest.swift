public import ResultFeed
import ResultQuery
public import Webhooks

/// Tells which results a receiver wants, by its kinds, tenant, sources and filter.
public struct ReceiverInterest: Sendable {
    private let receiver: Receiver
    private var matcher: ResultMatcher?

    /// The interest of a receiver.
    public init(_ receiver: Receiver) {
        self.receiver = receiver
        matcher = receiver.filter.map { ResultMatcher($0) }
    }

    /// True if a result is wanted.
    public mutating func wants(_ record: FeedRecord) -> Bool {
        guard receiver.kinds.contains(record.kind), receiver.tenant.map({ $0 == record.tenant }) ?? true else { return false }
        guard receiver.sources.isEmpty || record.source.map({ receiver.sources.contains($0) }) ?? false else { return false }
        let line = record.line
        return matcher?.matches(line.span, writtenAt: record.timestamp) ?? true
    }
}
