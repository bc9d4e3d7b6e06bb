/// Whose turn it is among tenants that come and go: start-time fair queueing (Goyal, Vin, Cheng, 1996) with turns of equal length.
///
/// While several tenants have work, each has turns in proportion to its weight, evenly spread. What one does not use is the others', and
/// it gets nothing for it later. A tenant that comes back is among the next, unless it has just had more than its part. A tenant without
/// work is forgotten when a turn would be its own, and all are when none has work. There are queues for 1,024 tenants at once and for
/// those with a weight; the others share 64.
///
/// A turn takes time in proportion to the logarithm of the number of tenants, and for a single one none to speak of.
public struct FairTurns: Sendable {
    /// The most tenants that have queues of their own without having a weight.
    public static let maximumCount = 1024
    /// The queues of all others.
    static let sharedCount = 64
    /// The length of a turn of a tenant with weight 1. A turn of weight `w` takes a `w`-th of it. The sum of 2^43 turns has room
    /// in 64 bits: 10,000 a second for 27 years without a rest; after one it starts again at 0.
    private static let unit: Int64 = 1 << 20

    private struct Queue {
        var tenant: TenantID
        var length: Int64
        /// The beginning of its next turn, in shares.
        var start: Int64
        /// Of several with the same claim, the one that has waited longest is the next.
        var serial: UInt64
        /// The number of pieces that wait.
        var count = 0
    }

    private let weights: TenantWeights
    /// The queues by number. Number 0 is that of requests without a tenant, which needs no looking up.
    private var queues: [Queue]
    private var numbers: [TenantID: Int] = [:]
    private var free: [Int] = []
    /// The numbers of the queues that have work, or had more than their part lately: a binary heap, the next turn's first.
    private var heap: [Int] = []
    private var isNobodyIn = false
    /// The number of pieces that wait, of all tenants.
    private var count = 0
    /// The beginning of the latest turn.
    private var time: Int64 = 0
    private var serial: UInt64 = 0

    /// No tenant has work.
    public init(weights: TenantWeights = TenantWeights()) {
        self.weights = weights
        queues = [Queue(tenant: .none, length: Self.unit / Int64(weights[.none]), start: 0, serial: 0)]
    }

    /// The number of tenants that have work, or that got more than their share while others still have work.
    public var tenantCount: Int { heap.count }

    /// Under which name a tenant's work is queued: its own, or one that it shares because there are too many.
    public func queue(of tenant: TenantID) -> TenantID {
        if tenant == .none || tenant.isShared || heap.count < Self.maximumCount { return tenant }
        return numbers[tenant] != nil || weights.names(tenant) ? tenant : tenant.shared(among: Self.sharedCount)
    }

    /// The number of pieces that wait in the queue of that name.
    public func count(of tenant: TenantID) -> Int {
        if tenant == .none { return queues[0].count }
        return numbers[tenant].map { queues[$0].count } ?? 0
    }

    /// The number of a tenant's queue, or nil when nothing waits there.
    public func number(of tenant: TenantID) -> Int? {
        let number = tenant == .none ? 0 : numbers[tenant]
        return number.flatMap { queues[$0].count > 0 ? $0 : nil }
    }

    /// Adds one piece of work.
    ///
    /// - Parameter tenant: A name that `queue(of:)` gave.
    /// - Returns: The queue's number, the same while it has work; numbers are small and used again.
    public mutating func add(_ tenant: TenantID) -> Int {
        let number = enter(tenant)
        queues[number].count += 1
        count += 1
        return number
    }

    /// Gives the next turn away, which takes one piece of work, to a queue by its number. Nil when none has work.
    public mutating func next() -> Int? {
        while let first = heap.first {
            guard queues[first].count > 0 else {
                leaveFirst()
                continue
            }
            queues[first].count -= 1
            count -= 1
            if count == 0 {
                leaveAll()
                return first
            }
            time = queues[first].start
            serial += 1
            queues[first].serial = serial
            queues[first].start += queues[first].length
            siftDown()
            return first
        }
        return nil
    }

    /// Takes work out of a queue without a turn.
    ///
    /// - Parameters:
    ///   - amount: How much; not more than there is.
    ///   - number: The queue's number.
    public mutating func remove(_ amount: Int, from number: Int) {
        let removed = min(amount, queues[number].count)
        queues[number].count -= removed
        count -= removed
        if count == 0 { leaveAll() }
    }

    private mutating func enter(_ tenant: TenantID) -> Int {
        if tenant == .none {
            if !isNobodyIn { push(0) }
            isNobodyIn = true
            return 0
        }
        if let number = numbers[tenant] { return number }
        let queue = Queue(tenant: tenant, length: Self.unit / Int64(weights[tenant]), start: 0, serial: 0)
        let number: Int
        if let last = free.popLast() {
            number = last
            queues[number] = queue
        } else {
            number = queues.count
            queues.append(queue)
        }
        numbers[tenant] = number
        push(number)
        return number
    }

    /// Forgets the first tenant of the heap, which has no work. No other turn begins before its own would, so it is owed nothing, and
    /// owes nothing.
    private mutating func leaveFirst() {
        let number = heap[0]
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            siftDown()
        }
        forget(number)
    }

    private mutating func leaveAll() {
        for index in heap.indices { forget(heap[index]) }
        heap.removeAll(keepingCapacity: true)
        time = 0
    }

    private mutating func forget(_ number: Int) {
        if number == 0 {
            isNobodyIn = false
        } else {
            numbers[queues[number].tenant] = nil
            free.append(number)
        }
    }

    private func comes(_ left: Int, before right: Int) -> Bool {
        (queues[left].start, queues[left].serial) < (queues[right].start, queues[right].serial)
    }

    private mutating func push(_ number: Int) {
        serial += 1
        queues[number].serial = serial
        queues[number].start = time
        heap.append(number)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard comes(heap[child], before: heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            for child in 2 * parent + 1...2 * parent + 2 where child < heap.count && comes(heap[child], before: heap[least]) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
