import Delivery
import Dispatch
import EventLoop
import GatewayAPI
import Groups
import JobSupport
import Kafka
import Observability
import PushModel
import Synchronization

/// Knows the orders of the control topic: it reads that from its beginning and on, on a thread of its own. What this gateway writes counts
/// as soon as Kafka has it.
package final class OrderWatch: Sendable {
    /// The longest wait for a record before it is seen that the gateway stops.
    private static let step = Duration.milliseconds(250)
    /// The wait before another look at a topic that is missing or cannot be read.
    private static let pause = Duration.milliseconds(500)
    /// The bytes that are read ahead: an order has 16 KiB at most.
    private static let readAhead = 4 << 20

    private struct State {
        var book = OrderBook()
        /// The reason why the orders are not known, nil while they are.
        var problem: APIProblem? = .ordersUnread
        /// Orders that were handed to Kafka, which has not said what became of them.
        var reserved: [OrderRecord] = []
        /// Orders that were written while the topic is being read to its end, nil once it was.
        var written: [OrderRecord]? = []
    }

    private let context: JobContext
    private let log: Log
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let thread = ServiceThread()

    init(_ context: JobContext, log: Log) {
        var context = context
        context.readAhead = Self.readAhead
        self.context = context
        self.log = log
    }

    package func start() { thread.start(named: "pushfan-orders") { [self] in work() } }

    /// Waits for the end of the thread, which `JobContext.isCancelled` brings about.
    func waitForEnd(until deadline: DispatchTime) { thread.waitForEnd(until: deadline) }

    // MARK: Asking

    /// The present moment.
    var now: Timestamp { Timestamp(milliseconds: context.now()) }

    /// The orders at this moment, and the records that cannot be obeyed.
    ///
    /// - Throws: 503 while they are not known.
    func book() throws(APIProblem) -> OrderBook {
        let now = now
        let found = state.withLock { state -> Result<OrderBook, APIProblem> in
            if let problem = state.problem { return .failure(problem) }
            _ = state.book.orders.removeEnded(now: now)
            return .success(state.book)
        }
        return try found.get()
    }

    /// The orders at this moment, nil while they are not known.
    var orders: Orders? { try? book().orders }

    /// Keeps a place for an order that is about to be written.
    ///
    /// - Throws: 503 while the orders are not known, 429 where as many stand as may.
    func reserve(_ order: OrderRecord) throws(APIProblem) {
        let now = now
        let problem = state.withLock { state -> APIProblem? in
            if let problem = state.problem { return problem }
            var orders = state.book.orders
            _ = orders.removeEnded(now: now)
            for other in state.reserved { _ = orders.take(other, now: now) }
            if orders.take(order, now: now) == .tooMany { return .tooManyOrders(of: order.scope.tenant) }
            state.reserved.append(order)
            return nil
        }
        if let problem { throw problem }
    }

    /// Notes what became of an order that was handed to Kafka.
    func settle(_ order: OrderRecord, isWritten: Bool) {
        let now = now
        state.withLock { state in
            state.reserved.removeAll { $0 == order }
            guard isWritten else { return }
            _ = state.book.orders.take(order, now: now)
            state.written?.append(order)
        }
    }

    // MARK: Reading

    /// Counts what was read until the topic's end in place of what was known before.
    func begin(with book: OrderBook) {
        let now = now
        state.withLock { state in
            state.book = book
            for order in state.written ?? [] { _ = state.book.orders.take(order, now: now) }
            state.written = nil
            state.problem = book.hasTopic ? nil : .controlTopicMissing(context.topics.control)
        }
    }

    private func work() {
        while !context.isCancelled() {
            do throws(JobFailure) { try follow() } catch { note(error) }
            guard !context.isCancelled() else { return }
            Pause.sleep(Self.pause)
        }
    }

    /// Follows the topic as long as it can be read, or until another reader must replace this one.
    private func follow() throws(JobFailure) {
        let scan = TopicScan(context, topic: context.topics.control)
        state.withLock { $0.written = [] }
        var book = OrderBook()
        guard let reader = try scan.openIfThere(.beginning, .never) else {
            book.hasTopic = false
            return begin(with: book)
        }
        defer { reader.close() }
        var isCurrent = false
        while !context.isCancelled() {
            if !isCurrent, reader.hasReachedEnd {
                begin(with: book)
                isCurrent = true
            }
            let result = reader.read(timeout: Self.step) { record in
                guard record.partition == OrderRecord.partition else { return }
                let (record, now) = (FetchedRecord(record), now)
                guard isCurrent else { return book.take(record, now: now) }
                state.withLock { $0.book.take(record, now: now) }
            }
            switch result {
            case .record, .endOfPartition: continue
            case .empty: try checkConnection(of: reader, by: scan)
            case .error(let error):
                guard !error.isOutdated else { return }
                throw scan.failure(error)
            }
        }
    }

    /// Throws where no broker answers any more: what others write would not be seen.
    private func checkConnection(of reader: TopicReader, by scan: TopicScan) throws(JobFailure) {
        while let event = reader.nextEvent() {
            guard case .error(let error) = event else { continue }
            if error.isFatal || error.isAuthentication || error.isAllBrokersDown { throw scan.failure(error) }
        }
    }

    /// Notes why the orders are not known, and logs it once until it is another reason.
    private func note(_ failure: JobFailure) {
        guard !context.isCancelled() else { return }
        let problem = APIProblem.ordersUnread(failure, in: context.topics.control)
        let isNew = state.withLock { state -> Bool in
            defer { state.problem = problem }
            return state.problem != problem
        }
        if isNew { log.warning(.kafkaError, "orders cannot be read", [.reason: .string("\(failure)")]) }
    }
}

extension OrderBook {
    /// Takes in a record of the control topic.
    fileprivate mutating func take(_ record: FetchedRecord, now: Timestamp) {
        guard let key = record.key else { return }
        if case .faulty(let fault) = orders.take(key: key.span, value: record.value?.span, now: now), faulty.count < 100 {
            faulty.append((record.offset, fault))
        }
    }
}

extension APIProblem {
    /// 503: the orders were not read to their end since the gateway has started.
    static let ordersUnread = APIProblem(
        503, code: .brokerUnavailable, detail: "Holds, limits and cancellations are not read from Kafka yet.", retry: .safe,
        retryAfter: 1000)

    /// 503: the orders cannot be read. No address of a broker is in it but in `cause`, which the log gets.
    static func ordersUnread(_ failure: JobFailure, in topic: String) -> APIProblem {
        let reason = APIProblem(failure)
        var problem = APIProblem(
            503, code: .brokerUnavailable, detail: "\(reason.detail) Holds, limits and cancellations are read from \(topic).",
            retry: .safe, retryAfter: 2000)
        problem.cause = reason.cause
        return problem
    }

    /// 503: there is no topic of orders.
    static func controlTopicMissing(_ topic: String) -> APIProblem {
        APIProblem(
            503, code: .topicMissing,
            detail: "The topic \(topic) is missing, which `pushfan topics create` makes: no order stands, and none can be given.",
            retry: .safe, retryAfter: 5000)
    }

    /// 429: as many orders stand as may.
    static func tooManyOrders(of tenant: String?) -> APIProblem {
        let most = tenant == nil ? "\(Orders.most) orders without a tenant" : "\(Orders.mostOfTenant) orders of this tenant"
        return APIProblem(
            429, code: .tooManyRequests, detail: "\(most) stand, and no more may. Release one, or wait for the end of one.",
            retry: .safe, retryAfter: 60_000)
    }
}
