import Basics
import Delivery

/// Calls that wait for their turn, in a queue for each tenant. The tenants have turns by weight.
struct TenantQueues {
    private var turns: FairTurns
    /// By the numbers of `turns`.
    private var queues = [FIFO<WaitingCall>()]
    private(set) var count = 0

    init(weights: TenantWeights) { turns = FairTurns(weights: weights) }

    var isEmpty: Bool { count == 0 }

    /// The tenants that have calls, or had more than their part lately.
    var tenantCount: Int { turns.tenantCount }

    /// The calls in a tenant's queue.
    func count(of tenant: TenantID) -> Int { turns.count(of: tenant) }

    /// The queue that a tenant's calls are for: its own, or one that it shares because there are too many.
    func queue(of tenant: TenantID) -> TenantID { turns.queue(of: tenant) }

    mutating func append(_ call: CallID, generation: UInt32, of tenant: TenantID) {
        let number = turns.add(tenant)
        while queues.count <= number { queues.append(FIFO()) }
        queues[number].append(call, generation: generation)
        count += 1
    }

    mutating func removeNext() -> WaitingCall? {
        guard let number = turns.next() else { return nil }
        count -= 1
        return queues[number].popFirst()
    }

    /// Takes out the calls that are not wanted any more. The others keep their order.
    mutating func removeAll(unless isWanted: (CallID, UInt32) -> Bool) {
        for number in queues.indices where !queues[number].isEmpty {
            let before = queues[number].count
            queues[number].removeAll(unless: isWanted)
            let removed = before - queues[number].count
            turns.remove(removed, from: number)
            count -= removed
        }
    }
}
