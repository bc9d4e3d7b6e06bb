import Groups
import JobSupport
import PushModel

/// Findings about holds and limits that stand.
enum OrderFindings {
    /// The most orders, workers and records that are named: a tenant may give a hundred orders.
    private static let most = 10

    /// A finding for each order that stands, for each worker that knows none, and for records that no worker obeys.
    ///
    /// - Parameters:
    ///   - orders: The orders, or nil if they cannot be read.
    ///   - topic: The control topic.
    /// - Returns: The findings.
    static func of(_ orders: StandingOrders?, topic: String) -> [Finding] {
        guard let orders else {
            return [.unasked("orders", of: topic, text: "which holds and limits stand cannot be read there")]
        }
        let standing = orders.entries.prefix(most).map { entry in
            let text = orders.text(entry)
            let isLong = orders.now.milliseconds(since: entry.order.since) > StandingOrders.long
            return isLong
                ? Finding.warning(
                    "orders", of: entry.order.id, text: "stands for longer than an hour: \(text)",
                    mend: "pushfan release \(entry.order.id)")
                : .ok("orders", of: entry.order.id, text: text)
        }
        let rest = orders.entries.count - standing.count
        let more =
            rest > 0
            ? [Finding.ok("orders", of: topic, text: Counted.text(rest, "more stands", "more stand") + ": `pushfan holds`")] : []
        return standing + more + ignorant(orders) + faulty(orders, topic: topic)
    }

    private static func ignorant(_ orders: StandingOrders) -> [Finding] {
        orders.ignorant.prefix(most).map {
            .warning(
                "orders", of: $0.worker, text: StandingOrders.text(ofIgnorant: $0.worker, version: $0.version),
                mend: "update the worker, or stop it while the hold stands")
        }
    }

    private static func faulty(_ orders: StandingOrders, topic: String) -> [Finding] {
        orders.faulty.prefix(most).map {
            .warning(
                "orders", of: topic, text: StandingOrders.text(ofFaulty: $0.offset, fault: $0.fault, topic: topic),
                mend: "see who may write to \(topic): `pushfan topics acls`")
        }
    }
}
