import JobSupport
import Kafka
import PushModel

extension StatusReport.WaitCause {
    /// The kinds of reasons, with their words in JSON. Those of a hub's limits are the words of `pushfan_limited_by`.
    package enum Kind: String, Sendable, CaseIterable {
        /// The group has no worker.
        case noWorker = "no_worker"
        /// Partitions have no consumer.
        case noReader = "no_reader"
        /// The group is dividing its partitions.
        case rebalance
        /// It is not known yet, or for an operator to decide, where a partition begins.
        case start
        /// A worker leaves a partition as it is.
        case left
        /// A worker does not report, or turn.
        case silence
        /// A worker is starting, stopping or giving partitions back.
        case mode
        /// Something else holds a worker up, in its own words.
        case problem = "trouble"
        /// Kafka does not take results, or does not answer a worker.
        case kafka
        /// A hub is out, or does not count as one that works.
        case outage
        /// A hub asked to wait.
        case pause
        /// A hub throttles some calls, so that fewer begin.
        case throttle
        /// The rate of the settings.
        case rateLimit = "rate_limit"
        /// A limit that was ordered.
        case limit
        /// A hold that was ordered.
        case hold
        /// As many calls are in flight as the settings let.
        case inFlight = "in_flight"
        /// As many calls are in flight as the hub was found to bear.
        case adaptive
        /// Most of what waits is in one partition.
        case partition
        /// Most of what waits for ordering keys waits for one.
        case key
        /// A position that no version known here wrote.
        case position
        /// A partition's window is full.
        case window
        /// An open transaction hides requests.
        case transaction
    }
}

/// The limits by which requests wait although all works.
extension StatusReport {
    /// The requests in one partition from which they are worth a reason.
    private static let leastInPartition: Int64 = 20

    /// The orders by which requests wait, the partition that has most of them, and the keys behind which they are.
    var limitReasons: [WaitCause] { orderReasons + crowdReasons + keyReasons }

    /// The limit for which calls to a hub wait, or nil where they wait for none that is not said otherwise.
    ///
    /// - Parameters:
    ///   - hub: The hub.
    ///   - name: Its name in a sentence.
    ///   - loop: The loop that calls it.
    /// - Returns: The reason, or nil.
    func limitReason(of hub: WorkerPage.Hub, named name: String, in loop: WorkerPage.Loop) -> WaitCause? {
        guard let kind = hub.limitedBy.flatMap(WaitCause.Kind.init) else { return nil }
        let isAlone = loop.hubs.count < 2
        let rate = hub.limitedTo.map(Self.rate) ?? "fewer calls"
        let most = Counted.text(hub.limit ?? 0, "call", "calls")
        var (text, end) = ("", "")
        switch kind {
        case .rateLimit: text = "takes \(rate) (\(isAlone ? "hub." : "its ")rate_limit\(share(of: hub)))"
        case .limit:
            guard let order = hub.limitingOrder, OrderRecord.isID(order) else { return nil }
            end = ": \(Self.release(order))"
            text = "gets \(rate) by limit \(order)\(share(of: hub))"
        case .throttle: text = "throttles (429), and gets \(rate) until it does not"
        case .inFlight: text = "gets \(most) at once (\(isAlone ? "worker." : "its ")max_in_flight)"
        case .adaptive: text = "bears \(most) at once at present (found by adaptive_concurrency)"
        default: return nil
        }
        let waiting = Counted.text(hub.waitingForTurn ?? 0, "call waits for its turn", "calls wait for their turn")
        return WaitCause(kind, text: "\(loop.worker): \(name) \(text), and \(waiting)\(end)")
    }

    /// `100 calls/s` of `100.0`.
    private static func rate(_ digits: String) -> String {
        "\(digits.hasSuffix(".0") ? digits.dropLast(2) : digits[...]) calls/s"
    }

    private static func release(_ order: String) -> String { "`pushfan release \(order)` ends it" }

    /// `, 50 calls/s of them here`, where a loop has a part of a hub's rate.
    private func share(of hub: WorkerPage.Hub) -> String {
        hub.ratePerSecond.flatMap { $0 == hub.limitedTo ? nil : ", \(Self.rate($0)) of them here" } ?? ""
    }

    /// The orders by which requests wait, as workers that were heard of late count them.
    private var orderReasons: [WaitCause] {
        var sums: [WorkerPage.Order] = []
        // Anybody may have written a report, and its ids stand in commands.
        for order in workers.filter({ !$0.isStale }).flatMap({ (try? $0.page.get())?.orders ?? [] })
        where OrderRecord.isID(order.id) {
            guard let place = sums.firstIndex(where: { $0.id == order.id }) else {
                sums.append(order)
                continue
            }
            sums[place].waiting = sums[place].waiting.addingSaturated(order.waiting)
            sums[place].calls = sums[place].calls.addingSaturated(order.calls)
        }
        return sums.compactMap(reason)
    }

    private func reason(_ order: WorkerPage.Order) -> WaitCause? {
        let scope = orders?.entries.first { $0.order.id == order.id }.map { " of \($0.order.scope.text)" } ?? ""
        if order.kind == "hold", order.waiting > 0 {
            let count = Counted.text(order.waiting, "request was", "requests were")
            return WaitCause(.hold, text: "hold \(order.id)\(scope): \(count) put to wait: \(Self.release(order.id))")
        }
        guard order.kind == "limit", order.calls > 0 else { return nil }
        let rate = order.rate.map { " to \(Self.rate("\($0)"))" } ?? ""
        let count = Counted.text(order.calls, "call waits for its turn", "calls wait for their turn")
        return WaitCause(.limit, text: "limit \(order.id)\(scope)\(rate): \(count): \(Self.release(order.id))")
    }

    /// The partitions that have nearly all that waits in their topics, and are read.
    private var crowdReasons: [WaitCause] {
        guard groupDescription?.state == .stable else { return [] }
        return topics.compactMap { topic in
            let count = Self.lag(of: topic)
            guard topic.count > 1, let fullest = topic.max(by: { $0.lag < $1.lag }), !fullest.isDelayed, !fullest.isHeld,
                fullest.owner != nil, fullest.position.windowUse < 0.9,
                fullest.lag >= Self.leastInPartition, Double(fullest.lag) >= 0.9 * Double(count)
            else { return nil }
            return WaitCause(
                .partition,
                text:
                    "\(fullest.position.partition): \(fullest.lag) of the \(count) requests that wait in this topic are in this "
                    + "partition, so more workers would not help")
        }
    }

    /// The keys behind which most of what waits for keys waits.
    private var keyReasons: [WaitCause] {
        loops.compactMap { loop in
            loop.headOfLine.map { head in
                WaitCause(
                    .key,
                    text:
                        "\(head.id): \(Counted.text(head.waiting, "request waits", "requests wait")) for one ordering key, behind the "
                        + "request at offset \(head.offset)")
            }
        }
    }
}
