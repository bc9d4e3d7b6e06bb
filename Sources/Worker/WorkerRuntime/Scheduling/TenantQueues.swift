import Basics
import Delivery

/// Calls that wait for their turn, in a queue for each tenant. The tenants have turns by weight.
///
/// Who has more for a tenant than may wait here watches its queue. A tenant is not looked at before a call has left that.
struct TenantQueues {
    private struct Queue {
        var calls = FIFO<WaitingCall>()
        /// The tenant that is watched, if one is: as long as calls are here, the queue is its own.
        var watched: TenantID?
    }

    private var turns: FairTurns
    /// By the numbers of `turns`.
    private var queues = [Queue()]
    private(set) var count = 0
    /// The tenants that were watched and whose queues have become shorter, each about once.
    private var served = FIFO<TenantID>()

    init(weights: TenantWeights) { turns = FairTurns(weights: weights) }

    var isEmpty: Bool { count == 0 }

    /// The tenants that have calls, or had more than their part lately.
    var tenantCount: Int { turns.tenantCount }

    /// The calls in a tenant's queue.
    func count(of tenant: TenantID) -> Int { turns.count(of: tenant) }

    /// The queue that a tenant's calls are for: its own, or one that it shares because there are too many.
    func queue(of tenant: TenantID) -> TenantID { turns.queue(of: tenant) }

    mutating func append(_ call: WaitingCall, of tenant: TenantID) {
        let number = turns.add(tenant)
        while queues.count <= number { queues.append(Queue()) }
        queues[number].calls.append(call)
        count += 1
    }

    mutating func removeNext() -> WaitingCall? {
        guard let number = turns.next() else { return nil }
        count -= 1
        endWatch(of: number)
        return queues[number].calls.popFirst()
    }

    /// Lets `removeServed` give a tenant when a call has left its queue, or at once if that is empty.
    mutating func watch(_ tenant: TenantID) {
        if let number = turns.number(of: tenant) { queues[number].watched = tenant } else { served.append(tenant) }
    }

    /// Takes out the watched tenant that was served first of those that were.
    mutating func removeServed() -> TenantID? { served.popFirst() }

    private mutating func endWatch(of number: Int) {
        if let tenant = queues[number].watched.take() { served.append(tenant) }
    }

    /// Takes out the calls that are not wanted any more. The others keep their order.
    mutating func removeAll(unless isWanted: (WaitingCall) -> Bool) {
        for number in queues.indices where !queues[number].calls.isEmpty {
            let before = queues[number].calls.count
            queues[number].calls.removeAll { !isWanted($0) }
            let removed = before - queues[number].calls.count
            guard removed > 0 else { continue }
            turns.remove(removed, from: number)
            count -= removed
            endWatch(of: number)
        }
    }
}
