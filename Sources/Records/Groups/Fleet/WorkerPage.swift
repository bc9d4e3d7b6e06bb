package import Basics
package import Kafka
package import PushModel

/// A worker's report, at `/status` or to its fleet. Missing or unknown fields are nil. Texts are as the worker wrote them, control characters included.
package struct WorkerPage: Sendable, Equatable {
    /// One loop of the worker.
    package struct Loop: Sendable, Equatable {
        package var worker = ""
        package var mode = ""
        package var at: Timestamp?
        /// All its calls, as if they went to one hub.
        package var total = Hub()
        package var finishedPerSecond = ""
        package var lastRebalance: Timestamp?
        package var lastCommit: Timestamp?
        package var hubs: [Hub] = []
        package var partitions: [Partition] = []
        /// False while it does not see what is cancelled.
        package var heedsCancellations = true
        /// A further obstacle to requests, or an ignored setting, in the worker's own words.
        package var problem: String?
        /// The reason that Kafka holds requests up, in the worker's own words.
        package var kafkaProblem: String?
        /// The ordering key behind which most of what waits for keys waits.
        package var headOfLine: HeadOfLine?
        /// The requests that wait for a hub that its settings do not have, by the hub's name.
        package var unknownHubs: [String: Int] = [:]
        /// The final results since its process began, by their state.
        package var finished: [String: Int] = [:]
        /// The calls of hubs that were answered or failed since then.
        package var calls = 0
        /// The hubs that had no room in its report.
        package var omittedHubs = 0
        /// The partitions that had no room there.
        package var omittedPartitions = 0
        /// The number of these hubs and partitions that are in trouble.
        package var omittedProblems = 0
    }

    /// A hub that a loop sends through.
    package struct Hub: Sendable, Equatable {
        package var name = ""
        package var region: String?
        package var isRetired = false
        /// The reason for which it does not count as working.
        package var problem: String?
        package var circuit = ""
        package var circuitReason: String?
        package var circuitChange: Timestamp?
        package var limit: Int?
        package var inFlight: Int?
        /// The calls that were answered or failed since its process began.
        package var calls: Int?
        package var waitingForTurn: Int?
        package var waitingForTimer: Int?
        package var ratePerSecond: String?
        package var throttledMilliseconds: Int?
        package var throttledUntil: Timestamp?
        /// The word of the limit for which its calls wait, or nil where none do.
        package var limitedBy: String?
        /// The calls a second that this limit lets, or nil where it is no rate.
        package var limitedTo: String?
        /// The id of the order that sets it, or nil where none does.
        package var limitingOrder: String?

        /// A hub of which nothing is known.
        package init() {}
    }

    /// An ordering key behind which requests wait, by the request that they wait for.
    package struct HeadOfLine: Sendable, Equatable {
        package var topic = ""
        package var partition = -1
        package var offset = 0
        /// The requests behind it.
        package var waiting = 0

        package var id: TopicPartition { TopicPartition(topic: topic, partition: Int32(clamping: partition)) }
    }

    /// A partition that a loop reads.
    package struct Partition: Sendable, Equatable {
        package var topic = ""
        package var partition = -1
        package var inWork: Int?
        package var oldest: Oldest?
        /// True if the worker leaves it as it is until an operator decides.
        package var isLeft = false
        /// True if the worker waits until its leader is back.
        package var waitsForLeader = false
        /// The progress of reading the records that determine its start, or nil if that is known.
        package var reading: Reading?

        package var id: TopicPartition { TopicPartition(topic: topic, partition: Int32(clamping: partition)) }
    }

    /// The progress of reading the records of a partition that determine its start.
    package struct Reading: Sendable, Equatable {
        package var count = 0
        package var total = 0
        package var byteCount = 0
    }

    /// An order that a worker obeys.
    package struct Order: Sendable, Equatable {
        package var id = ""
        package var kind = ""
        /// The requests that the worker has put to wait by it.
        package var waiting = 0
        /// The calls a second of a limit, or nil of a hold.
        package var rate: Int?
        /// The calls that wait for their turn by this limit, at present.
        package var calls = 0
    }

    /// The oldest request in work of a partition.
    package struct Oldest: Sendable, Equatable {
        package var offset: Int?
        package var publishedAt: Timestamp?
        package var attempt: Int?
        package var waitsFor = ""
        package var nextDue: Timestamp?
    }

    /// The program's version, or nil if it does not say it.
    package let version: String?
    /// The hub's name, or empty.
    package let hub: String
    /// The holds and limits that it obeys, but for those that had no room in its report. Nil if its version knows no holds.
    package let orders: [Order]?
    /// Its loops, but for those that had no room in its report.
    package let loops: [Loop]
    /// The number of loops that had no room.
    package let omittedLoops: Int
    /// The loops, and the hubs and partitions of the others, that are in trouble and had no room.
    package let omittedProblems: Int
    /// The final results of all loops since the process began, by their state.
    package let finished: [String: Int]
    /// The calls of all loops that were answered or failed since then.
    package let calls: Int
    /// The times from publishing to those results.
    package let latency: LatencyHistogram

    /// Reads the page. Anything but an object with loops gives nil.
    package init?(_ json: [UInt8]) {
        var document = JSONDocument()
        do throws(JSONError) { try document.read(json.span) } catch { return nil }
        var reader = PageReader(document, byteCount: json.count)
        guard let list = document.member("loops", of: document.root), document.kind(of: list) == .array else { return nil }
        version = reader.text("version", document.root)
        hub = reader.text("hub", document.root) ?? ""
        orders = reader.orders(document.root)
        var (loops, passedOver) = ([Loop](), 0)
        document.forEachElement(of: list) {
            if reader.takes(PageReader.loopPrice) { loops.append(reader.loop($0)) } else { passedOver += 1 }
        }
        self.loops = loops
        let omitted = document.member("omitted", of: document.root)
        omittedLoops = (omitted.map { reader.count("loops", $0) } ?? 0).addingSaturated(passedOver)
        omittedProblems = loops.reduce(omitted.map { reader.count("troubles_omitted", $0) } ?? 0) {
            $0.addingSaturated($1.omittedProblems)
        }
        finished = loops.reduce(into: omitted.map { reader.finished($0) } ?? [:]) { sum, loop in
            sum.merge(loop.finished) { $0.addingSaturated($1) }
        }
        latency = LatencyHistogram(document, at: document.member("total_ms", of: document.root))
        calls = loops.reduce(omitted.map { reader.count("calls", $0) } ?? 0) { $0.addingSaturated($1.calls) }
    }
}

/// Reads the parts of a worker's page, no more of them than a worker writes in so many bytes: what is read is larger than its bytes.
private struct PageReader {
    /// The price of a loop, of which a worker says more than of a hub or a partition.
    static let loopPrice = 8
    /// The parts that a page of any size may have, and the least bytes of one of more.
    private static let limits = (any: 256, byteCount: 24)

    let document: JSONDocument
    private var left: Int

    init(_ document: JSONDocument, byteCount: Int) {
        self.document = document
        left = Self.limits.any + byteCount / Self.limits.byteCount
    }

    /// Takes the room of a part, if there is so much.
    mutating func takes(_ price: Int = 1) -> Bool {
        guard left >= price else { return false }
        left -= price
        return true
    }

    func text(_ name: StaticString, _ node: JSONDocument.Node) -> String? {
        document.text(name, of: node)
    }

    private func number(_ name: StaticString, _ node: JSONDocument.Node) -> Int? { digits(name, node).flatMap { Int($0) } }

    /// A number that is not negative, or 0.
    func count(_ name: StaticString, _ node: JSONDocument.Node) -> Int { max(0, number(name, node) ?? 0) }

    /// The final results by their state.
    func finished(_ node: JSONDocument.Node) -> [String: Int] {
        guard let list = document.member("finished", of: node), document.kind(of: list) == .object else { return [:] }
        var counts: [String: Int] = [:]
        document.forEachMember(of: list) { name, value in
            if let count = document.integer(at: value), count >= 0 { counts[document.string(name)] = Int(count) }
        }
        return counts
    }

    private func digits(_ name: StaticString, _ node: JSONDocument.Node) -> String? {
        document.member(name, of: node).flatMap {
            document.kind(of: $0) == .number ? document.string(document.text(of: $0)) : nil
        }
    }

    private func moment(_ name: StaticString, _ node: JSONDocument.Node) -> Timestamp? {
        text(name, node).flatMap { Timestamp($0.utf8.span) }
    }

    private func isTrue(_ name: StaticString, _ node: JSONDocument.Node) -> Bool {
        document.member(name, of: node).map { document.kind(of: $0) == .true } ?? false
    }

    /// The orders of a worker, or nil if it does not say any.
    mutating func orders(_ node: JSONDocument.Node) -> [WorkerPage.Order]? {
        guard let list = document.member("orders", of: node), document.kind(of: list) == .array else { return nil }
        var reader = self
        defer { left = reader.left }
        var orders: [WorkerPage.Order] = []
        document.forEachElement(of: list) {
            guard reader.takes(), let id = reader.text("id", $0) else { return }
            orders.append(
                .init(
                    id: id, kind: reader.text("kind", $0) ?? "", waiting: reader.count("waiting", $0),
                    rate: reader.number("rate", $0), calls: reader.count("calls", $0)))
        }
        return orders
    }

    mutating func loop(_ node: JSONDocument.Node) -> WorkerPage.Loop {
        let document = document
        var reader = self
        defer { left = reader.left }
        var loop = WorkerPage.Loop()
        loop.worker = text("worker", node) ?? ""
        loop.mode = text("mode", node) ?? ""
        loop.at = moment("at", node)
        loop.total = hub(node)
        loop.finishedPerSecond = digits("finished_per_second", node) ?? ""
        loop.lastRebalance = moment("last_rebalance", node)
        loop.lastCommit = moment("last_commit", node)
        loop.heedsCancellations = !isTrue("cancellations_off", node)
        loop.problem = text("trouble", node)
        loop.kafkaProblem = text("kafka_trouble", node)
        loop.headOfLine = document.member("head_of_line", of: node).flatMap { head in
            guard document.kind(of: head) == .object else { return nil }
            return WorkerPage.HeadOfLine(
                topic: text("topic", head) ?? "", partition: number("partition", head) ?? -1, offset: count("offset", head),
                waiting: count("waiting", head))
        }
        if let list = document.member("unknown_hubs", of: node), document.kind(of: list) == .array {
            document.forEachElement(of: list) {
                if reader.takes(), let hub = reader.text("hub", $0) { loop.unknownHubs[hub] = reader.count("waiting", $0) }
            }
        }
        loop.finished = finished(node)
        loop.calls = count("calls", node)
        loop.omittedHubs = count("hubs_omitted", node)
        loop.omittedPartitions = count("partitions_omitted", node)
        loop.omittedProblems = count("troubles_omitted", node)
        if let list = document.member("hubs", of: node), document.kind(of: list) == .array {
            document.forEachElement(of: list) {
                guard reader.takes() else { return loop.omittedHubs = loop.omittedHubs.addingSaturated(1) }
                loop.hubs.append(reader.hub($0))
                loop.hubs[loop.hubs.count - 1].problem = reader.text("trouble", $0)
            }
        } else {
            // A worker of an earlier version has one, and reports it with the loop.
            loop.hubs = [loop.total]
        }
        if let list = document.member("partitions", of: node) {
            document.forEachElement(of: list) {
                guard reader.takes() else { return loop.omittedPartitions = loop.omittedPartitions.addingSaturated(1) }
                loop.partitions.append(reader.partition($0))
            }
        }
        return loop
    }

    private func hub(_ node: JSONDocument.Node) -> WorkerPage.Hub {
        var hub = WorkerPage.Hub()
        hub.name = text("hub", node) ?? ""
        hub.region = text("region", node)
        hub.isRetired = isTrue("retired", node)
        hub.circuit = text("circuit", node) ?? ""
        hub.circuitReason = text("circuit_reason", node)
        hub.circuitChange = moment("circuit_change", node)
        hub.limit = number("limit", node)
        hub.inFlight = number("in_flight", node)
        hub.calls = number("calls", node)
        hub.waitingForTurn = number("waiting_for_turn", node)
        hub.waitingForTimer = number("waiting_for_timer", node)
        hub.ratePerSecond = digits("rate_per_second", node)
        hub.throttledMilliseconds = number("throttled_ms", node)
        hub.throttledUntil = moment("throttled_until", node)
        hub.limitedBy = text("limited_by", node)
        hub.limitedTo = digits("limited_to", node)
        hub.limitingOrder = text("limited_by_order", node)
        return hub
    }

    private func partition(_ node: JSONDocument.Node) -> WorkerPage.Partition {
        var partition = WorkerPage.Partition()
        partition.topic = text("topic", node) ?? ""
        partition.partition = number("partition", node) ?? -1
        partition.inWork = number("in_work", node)
        partition.isLeft = isTrue("left", node)
        partition.waitsForLeader = isTrue("waits_for_leader", node)
        if let reading = document.member("reading", of: node) {
            partition.reading = WorkerPage.Reading(
                count: number("records", reading) ?? 0, total: number("of", reading) ?? 0,
                byteCount: number("bytes", reading) ?? 0)
        }
        if let oldest = document.member("oldest", of: node) {
            partition.oldest = WorkerPage.Oldest(
                offset: number("offset", oldest), publishedAt: moment("published_at", oldest), attempt: number("attempt", oldest),
                waitsFor: text("waits_for", oldest) ?? "", nextDue: moment("next_due", oldest))
        }
        return partition
    }
}
