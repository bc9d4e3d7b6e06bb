package import GatewayAPI
import Groups
import HTTPServing
package import Kafka
import Observability
package import PushModel
package import Results

/// Gives and releases orders over HTTP, and lists them. Waits for nothing.
package struct OrderDesk: Sendable {
    /// Hands an order to Kafka's client, which calls `report` once unless this throws.
    package typealias Writing =
        @Sendable (
            _ order: OrderRecord, _ report: @escaping @Sendable (Producer.Delivery) -> Void
        ) throws(KafkaError) -> Void

    /// Counts what an order concerns, on a thread for searches. `then` is called once, before this returns or later.
    package typealias Counting =
        @Sendable (
            _ order: OrderRecord, _ call: OperatorCall, _ then: @escaping @Sendable (Result<ScopeCounts, APIProblem>) -> Void
        ) -> Void

    let watch: OrderWatch
    /// The topic of the orders.
    let topic: String
    let log: Log
    let write: Writing

    /// Lists the holds and limits that stand, and with history those that have ended and cancellations, too. A key with a tenant sees its own.
    func list(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let wantsAll = try call.query().isTrue("history")
        let (book, now, tenant) = (try watch.book(), watch.now, call.publisher.tenant)
        let shown = book.orders.history.filter { order in
            (wantsAll || order.stands(at: now) && !order.isCancellation) && (tenant == nil || order.scope.tenant == tenant)
        }
        var json = JSONObject()
        OrderList(orders: shown, now: now).add("items", to: &json)
        // It is not known whose they are.
        let faulty = tenant == nil ? book.faulty : []
        json.add("faulty", array: faulty.map { JSONObject(["offset": Int($0.offset), "fault": "\($0.fault)"]).bytes })
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    /// The holds and limits that stand, none while they are not known.
    var standing: [OrderRecord] { watch.orders?.all.filter { !$0.isCancellation } ?? [] }

    /// Adds to the state of the fleet the holds and limits that stand, or why they are not known. In short, few of them.
    func add(to json: inout JSONObject, isShort: Bool = false) {
        do throws(APIProblem) {
            let orders = try watch.book().orders.all.filter { !$0.isCancellation }
            OrderList(orders: orders.reversed(), now: watch.now).add("orders", to: &json, isShort: isShort)
        } catch {
            if error.code == APIProblem.Code.topicMissing.rawValue { json.add("orders", array: []) }
            json.add("orders_problem", value: error.detail)
        }
    }

    /// Answers a call that gives an order or releases one: once Kafka has it.
    package func answer(_ call: OperatorCall, counting: @escaping Counting) throws(APIProblem) {
        let now = watch.now
        switch call.operation {
        case .giveHold:
            let order = try OrderRecord(holdOf: call, at: now)
            try give(order, for: call) { call.answer(Self.answer(order, status: 201, at: now)) }
        case .releaseHold:
            let order = try released(call.id, by: call, at: now)
            try give(order, for: call) { call.answer(Self.answer(order, status: 200, at: now)) }
        case .cancelScope:
            let (order, isTrial) = try OrderRecord.cancellation(of: call, at: now)
            guard !isTrial else { return counting(order, call) { call.answer(Self.trial($0)) } }
            try give(order, for: call) {
                counting(order, call) { counts in
                    var json = JSONObject()
                    json.add("order", raw: order.object(at: now).bytes)
                    json.add("counts", raw: ((try? counts.get()) ?? ScopeCounts(isComplete: false)).json)
                    call.answer(APIAnswer(status: 202, json: json.bytes, headers: ["Cache-Control": "no-store"]))
                }
            }
        default: throw .notFound
        }
    }

    private static func trial(_ counts: Result<ScopeCounts, APIProblem>) -> APIAnswer {
        switch counts {
        case .failure(let problem): return APIAnswer(problem)
        case .success(let counts):
            var json = JSONObject(["dry_run": true])
            json.add("counts", raw: counts.json)
            return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
        }
    }

    private static func answer(_ order: OrderRecord, status: Int, at now: Timestamp) -> APIAnswer {
        APIAnswer(status: status, json: order.object(at: now).bytes, headers: ["Cache-Control": "no-store"])
    }

    /// A hold or limit with its release.
    private func released(_ id: String, by call: OperatorCall, at now: Timestamp) throws(APIProblem) -> OrderRecord {
        var body = try BodyReader(call.request, atMost: APILimit.orderByteCount, members: ["reason"])
        let reason = body.orderReason(isNeeded: false)
        try body.check()
        let publisher = call.publisher
        guard var order = try watch.book().orders.order(id), !order.isCancellation,
            publisher.tenant == nil || order.scope.tenant == publisher.tenant
        else { throw .noSuchOrder }
        guard order.mayBeReleased(by: publisher) else { throw .ordersOfOthers }
        guard order.stands(at: now) else { throw .orderEnded }
        order.release = OrderRecord.Release(at: now, author: OrderRecord.author(publisher), reason: reason)
        return order
    }

    /// Writes an order, and goes on once Kafka has it, or answers why not.
    private func give(_ order: OrderRecord, for call: OperatorCall, then: @escaping @Sendable () -> Void) throws(APIProblem) {
        try watch.reserve(order)
        do throws(KafkaError) {
            try write(order) { [self] delivery in
                if case .persisted = delivery {
                    watch.settle(order, isWritten: true)
                } else {
                    watch.settle(order, isWritten: false)
                }
                switch delivery {
                case .persisted:
                    note(order, as: "an order was given")
                    then()
                case .notPersisted(let error): call.refuse(refusal(error))
                case .possiblyPersisted:
                    note(order, as: "an order may have been given")
                    call.refuse(order.release == nil ? .perhapsGiven : .perhapsReleased)
                }
            }
        } catch {
            watch.settle(order, isWritten: false)
            throw refusal(error)
        }
    }

    private func refusal(_ error: KafkaError) -> APIProblem { .notTaken(error, in: topic, retryAfter: 1000, of: .order) }

    /// Says in the log who has given or released which order, and why.
    private func note(_ order: OrderRecord, as words: StaticString) {
        let (author, reason) = order.release.map { ($0.author, $0.reason ?? order.reason) } ?? (order.author, order.reason)
        let deed = order.release == nil ? order.word : "release of \(order.word)"
        log.info(
            .orderGiven, words,
            [.reason: .string("\(author): \(deed) \(order.id), \(order.scope.text), until \(order.end.text): \(reason)")])
    }
}

extension OrderRecord {
    /// True if it cancels.
    var isCancellation: Bool { if case .cancel = kind { true } else { false } }
}

extension APIProblem {
    /// 404: no hold or limit has the id, or it is another tenant's.
    static let noSuchOrder = APIProblem(
        404, code: .notFound, detail: "There is no such hold or limit, or none of yours. A cancellation is not taken back.")

    /// 403: a key with a tenant would release what was not given by a key of that tenant.
    static let ordersOfOthers = APIProblem(
        403, code: .forbiddenTenant,
        detail: "The order concerns this tenant, and no key of the tenant has given it. A key without a tenant releases it.")

    /// 409: the order has ended.
    static let orderEnded = APIProblem(409, code: .orderEnded, detail: "The order has ended by itself, or was released.")

    /// 504: the order may be written. Another one besides it does no harm.
    static let perhapsGiven = APIProblem(
        504, code: .ackUnknown,
        detail: "It is not known whether the order was written: Kafka did not say so in time. The call can be made again: "
            + "a second order stands beside the first, and each has to be released.",
        retry: .safe, retryAfter: 1000)

    /// 504: the release may be written. Releasing twice is the same as once.
    static let perhapsReleased = APIProblem(
        504, code: .ackUnknown, detail: "It is not known whether the release was written: Kafka did not say so in time.",
        retry: .safe, retryAfter: 1000)
}
