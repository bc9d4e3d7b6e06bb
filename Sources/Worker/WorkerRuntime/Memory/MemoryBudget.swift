import Delivery
import Kafka

/// The memory that a loop may use for requests and results, in bytes, and how that is shared. It is counted in bytes that were
/// read, rendered or written, with about what goes with them. Beside it are what the library has fetched ahead, three eighths as much, the
/// results of lost partitions (`UncommittedResults`, 4 MiB), and some 40 MB.
struct MemoryBudget: Sendable {
    /// All of it.
    let total: Int

    /// A budget of so many bytes, at least 16 MiB.
    init(_ total: Int) { self.total = max(total, 16 << 20) }

    /// Requests in work. The first record of each partition of a delay lane, which waits there, is beside it: up to
    /// `FlightPool.longestKept`.
    var flights: Int { total / 8 * 3 }
    /// The shares of several hubs in three quarters of that. The rest is for what cannot be deferred, and for the last record of
    /// each.
    func hubs(_ count: Int) -> HubShares { HubShares(budget: flights / 4 * 3, hubs: count) }
    /// Results that wait for a commit. As much again is being committed.
    var outcomes: Int { min(total / 16, 64 << 20) }
    /// The part that is buffered of one lane, because its tenants or hubs have no room.
    var buffered: Int { min(total / 128 * 9, HubBuffers.mostBytes) }

    /// Large requests of which parts have not ended. At this bound no other is begun, and what would begin it is not read. Parts are
    /// read, so that these end.
    var wholes: Int { total / 16 }
    /// Flights that carry no request and are kept for the next ones.
    var spareFlights: Int { total / 32 }

    /// The share of each partition of requests in the room of the library: all that the loop has to read when it is alone have a
    /// quarter of the budget, beside it.
    func requestQueues(of partitions: PartitionCounts) -> QueueRoom {
        QueueRoom(sharing: total / 4, among: partitions.requests, atMost: .large)
    }

    /// The same for the other partitions, which lie unread for long: all of them an eighth of the budget, beside it.
    func otherQueues(of partitions: PartitionCounts) -> QueueRoom {
        QueueRoom(sharing: total / 8, among: partitions.others, atMost: .small)
    }

    /// The part that waits for the ordering keys of one of the loop's partitions of requests where it was published: 1 MiB at least.
    func keys(of partitions: Int) -> Int { min(max(total / 8 / max(partitions, 1), 1 << 20), Scheduler.mostOfKeys) }
}
