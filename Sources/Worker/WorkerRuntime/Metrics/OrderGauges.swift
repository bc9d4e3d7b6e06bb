import Observability
import PushModel
import Synchronization

/// The gauges of orders that stand, of all loops of a process together: a series for each order by which requests wait, and two for each
/// kind.
final class OrderGauges: Sendable {
    private let waiting: Family<Gauge, 2>
    private let age: Family<Gauge, 1>
    private let expiring: Family<Gauge, 1>
    /// The orders of each loop. The families are locked while they are held.
    private let orders: Mutex<[[HeldCounts.Count]]>

    init(_ metrics: PushfanMetrics, loops: Int) {
        waiting = metrics.heldWaiting
        age = metrics.holdAge
        expiring = metrics.holdExpiring
        orders = Mutex(Array(repeating: [], count: loops))
    }

    /// Replaces what loop `loop`, from 0, contributes. To be called once a second while it has any.
    func set(_ new: [HeldCounts.Count], loop: Int, at now: Timestamp) {
        orders.withLock { orders in
            guard !new.isEmpty || !orders[loop].isEmpty else { return }
            let former = orders[loop]
            orders[loop] = new
            let all = Array(orders.joined())
            for (id, kind) in Dictionary((former + new).map { ($0.id, $0.kind) }, uniquingKeysWith: { $1 }) {
                let sum = all.reduce(0) { $0 + ($1.id == id ? $1.waiting : 0) }
                if sum > 0 { waiting.series([id, kind]).set(Double(sum)) } else { waiting.remove([id, kind]) }
            }
            for kind in ["hold", "limit"] {
                let those = all.filter { $0.kind == kind }
                Self.set(age, of: kind, to: those.map(\.since).min().map { now.seconds(since: $0) })
                Self.set(expiring, of: kind, to: those.compactMap(\.nextExpiry).min().map { $0.seconds(since: now) })
            }
        }
    }

    private static func set(_ family: Family<Gauge, 1>, of kind: String, to value: Double?) {
        if let value { family.series([kind]).set(value) } else { family.remove([kind]) }
    }
}
