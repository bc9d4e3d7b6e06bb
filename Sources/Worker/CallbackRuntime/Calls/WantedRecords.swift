import CallbackRecords
import ResultFeed
import Synchronization
import Webhooks

/// The choice of the results that a receiver wants, for a feed that asks in any thread.
final class WantedRecords: Sendable {
    /// Protects the memory of the filter. Nothing else is locked while it is held.
    private let interest: Mutex<ReceiverInterest>

    /// The choice of a receiver.
    init(_ receiver: Receiver) { interest = Mutex(ReceiverInterest(receiver)) }

    /// True if a result is wanted.
    func wants(_ record: FeedRecord) -> Bool { interest.withLock { $0.wants(record) } }
}

extension Receiver {
    /// True if it wants the results that other terms want.
    func wantsTheSame(as other: Receiver) -> Bool {
        (tenant, sources, filter, kinds) == (other.tenant, other.sources, other.filter, other.kinds)
    }
}
