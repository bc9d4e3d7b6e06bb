import Delivery
package import JobSupport
import Kafka
import PushModel

/// The workers that report themselves, by their knowledge of an order.
package struct OrderReach: Sendable, Equatable {
    /// Those that obey it.
    package var obeying: [String] = []
    /// Those that know orders, and have not named it yet.
    package var pending: [String] = []
    /// Those of versions that know no orders. They go on as if there were none.
    package var ignorant: [String] = []
    /// Those of the pending ones that do not read the control topic at present.
    package var blind: [String] = []
    /// The names of the hubs that these workers report.
    package var hubs: Set<String> = []

    /// The number of these workers.
    package var count: Int { obeying.count + pending.count + ignorant.count }

    /// No worker.
    package init() {}
}

extension Fleet {
    /// The workers that were heard of late, by their knowledge of an order.
    package func reach(of id: String, at now: Int64) -> OrderReach {
        var reach = OrderReach()
        for member in members(at: now) where !member.isStale {
            reach.hubs.formUnion(member.page.loops.flatMap { $0.hubs.map(\.name) })
            guard let orders = member.orders else {
                reach.ignorant.append(member.id)
                continue
            }
            guard !orders.contains(id) else {
                reach.obeying.append(member.id)
                continue
            }
            reach.pending.append(member.id)
            if member.page.loops.contains(where: { !$0.heedsCancellations }) { reach.blind.append(member.id) }
        }
        return reach
    }
}

extension Fleet.Member {
    /// The ids of the orders that stand at the worker, or at each of its loops. Nil if its version knows no orders.
    package var orders: Set<String>? {
        var document = JSONDocument()
        do throws(JSONError) { try document.read(raw.span) } catch { return nil }
        if let orders = document.orders(of: document.root) { return orders }
        guard let loops = document.member("loops", of: document.root), document.kind(of: loops) == .array else { return nil }
        var (common, isKnown): (Set<String>?, Bool) = (nil, true)
        document.forEachElement(of: loops) { loop in
            guard let orders = document.orders(of: loop) else { return isKnown = false }
            common = common?.intersection(orders) ?? orders
        }
        return isKnown ? common : nil
    }
}

extension JSONDocument {
    fileprivate func orders(of node: Node) -> Set<String>? {
        guard let list = member("orders", of: node), kind(of: list) == .array else { return nil }
        var ids: Set<String> = []
        forEachElement(of: list) { order in
            guard let id = member("id", of: order), kind(of: id) == .string else { return }
            ids.insert(string(text(of: id)))
        }
        return ids
    }
}

extension JobContext {
    /// The longest time for which a worker that lives seems silent, if its clock is wrong: it reports itself once a second.
    private static let silence = Duration.milliseconds(2500)

    /// Waits until every worker that reports itself, and knows orders, obeys one.
    ///
    /// - Parameters:
    ///   - id: The order.
    ///   - patience: The longest wait.
    /// - Returns: The workers at the end, or nil when there is no topic of reports.
    /// - Throws: The reports cannot be read, or the job was cancelled before they were.
    package func reach(of id: String, within patience: Duration) throws(JobFailure) -> OrderReach? {
        guard let reader = try openFleet() else { return nil }
        defer { reader.close() }
        var fleet = Fleet()
        try TopicScan(self, topic: topics.status).read(reader) {
            fleet.take($0, isLive: false, wall: now(), now: Deadline.milliseconds())
        }
        let (deadline, silence) = (Deadline(after: patience), Deadline(after: min(patience, Self.silence)))
        while !deadline.hasPassed, !isCancelled() {
            let now = Deadline.milliseconds()
            let mayLive = !silence.hasPassed && fleet.members(at: now).contains(where: \.isStale)
            guard mayLive || !fleet.reach(of: id, at: now).pending.isEmpty else { break }
            _ = reader.read(timeout: deadline.step) {
                fleet.take($0, isLive: true, wall: self.now(), now: Deadline.milliseconds())
            }
        }
        return fleet.reach(of: id, at: Deadline.milliseconds())
    }
}
