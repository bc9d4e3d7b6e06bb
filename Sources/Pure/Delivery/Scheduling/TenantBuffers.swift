import Basics
import PushModel

/// Buffered records of one lane: read although their tenants have enough calls waiting, so that they cause no head-of-line blocking.
///
/// They are kept as they came, which takes a small part of what a flight does, and are read again when their tenant's turn has come. They
/// are to everything else what the records are that Kafka still has.
struct TenantBuffers {
    /// About how many calls of a lane's tenants wait for their turn at most, when they are many.
    private static let waitingCalls = 1024

    /// The calls of one tenant that may wait for their turn: fewer than it is sure to need until more can be started, and at least one.
    ///
    /// - Parameters:
    ///   - most: The calls that the hub may have in flight.
    ///   - tenantCount: The tenants that have calls waiting.
    /// - Returns: That number.
    static func limit(most: Int, tenantCount: Int) -> Int { max(1, min(most, waitingCalls / max(tenantCount, 1))) }

    /// The most memory that the records of a lane may take: 32 MiB, some 60,000 small ones.
    static let maximumBytes = 32 << 20

    private var queues: [TenantID: Queue] = [:]
    private(set) var count = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { count == 0 }

    /// The tenants that have records here.
    var tenants: [TenantID] { Array(queues.keys) }

    /// The time since which the one waits that waits longest. Nil when there is none.
    var waitingSince: Timestamp? { queues.values.lazy.compactMap(\.waitingSince).min() }

    func hasRecords(of tenant: TenantID) -> Bool { count > 0 && queues[tenant] != nil }

    mutating func append(_ record: BufferedRecord, of tenant: TenantID) {
        queues[tenant, default: Queue()].append(record)
        count += 1
        byteCount += record.byteCount
    }

    /// Takes out the first record of a tenant.
    mutating func removeFirst(of tenant: TenantID) -> BufferedRecord? {
        guard let record = queues[tenant]?.popFirst() else { return nil }
        if queues[tenant]?.isEmpty ?? false { forget(tenant) }
        count -= 1
        byteCount -= record.byteCount
        return record
    }

    /// Forgets a tenant that has no records, and gives its memory back: a dictionary would keep that of a burst.
    private mutating func forget(_ tenant: TenantID) {
        queues[tenant] = nil
        guard queues.capacity > 64, queues.count < queues.capacity / 8 else { return }
        queues = Dictionary(uniqueKeysWithValues: queues.lazy.map { ($0, $1) })
    }

    /// Takes out the records of a partition that stand before `end` and were read before `moment`, each tenant's in their order.
    mutating func removeAll(of slot: Int, before end: Int64, readBefore moment: MonotonicTime) -> [BufferedRecord] {
        var removed: [BufferedRecord] = []
        for tenant in tenants {
            var kept = Queue()
            while let record = removeFirst(of: tenant) {
                let isMeant = record.slot == slot && record.origin.offset < end && record.receivedAt < moment
                if isMeant { removed.append(record) } else { kept.append(record) }
            }
            while let record = kept.popFirst() { append(record, of: tenant) }
        }
        return removed
    }

    /// Takes out all records, each tenant's in their order.
    mutating func takeAll() -> [BufferedRecord] {
        var removed: [BufferedRecord] = []
        for tenant in tenants { while let record = removeFirst(of: tenant) { removed.append(record) } }
        return removed
    }

    /// Removes all records.
    mutating func removeAll() { self = TenantBuffers() }

    /// The records of one tenant, first come first served.
    private struct Queue {
        private var records = FIFO<BufferedRecord>()
        /// The moments since when records wait that no later record has waited as long as: the first is the earliest of all. So tens of
        /// thousands of records need not be searched, each second, for the one that waits longest.
        private var moments = FIFO<Timestamp>()

        var isEmpty: Bool { records.isEmpty }

        var waitingSince: Timestamp? { moments.first }

        mutating func append(_ record: BufferedRecord) {
            records.append(record)
            while let last = moments.last, last > record.waitingSince { _ = moments.popLast() }
            moments.append(record.waitingSince)
        }

        mutating func popFirst() -> BufferedRecord? {
            guard let record = records.popFirst() else { return nil }
            if record.waitingSince == waitingSince { _ = moments.popFirst() }
            return record
        }
    }
}
