@testable import PublishAPI
@testable import AppAPI
import TestSupport
@testable import OperatorAPI
@testable import GatewayAPI
import DoorStage
import Delivery
import Foundation
import Groups
import HTTPServing
import JobSupport
import Kafka
import Keys
import Observability
import PushModel
import Results
import Testing

/// A desk for orders on a clock that a test moves, with a Kafka of its own.
private final class OrderStage: Sendable {
    let wall = Box<Int64>(1_764_000_000_000)
    let written = Box<[OrderRecord]>([])
    let delivery = Box<Result<Producer.Delivery, KafkaError>>(.success(.persisted(partition: 0, offset: 1)))
    /// The orders that were counted, and what each is said to concern.
    let counted = Box<[OrderRecord]>([])
    let counts = Box<Result<ScopeCounts, APIProblem>>(.success(OrderStage.some))
    let log = LogLines()
    let desk: OrderDesk

    static let some = {
        var counts = ScopeCounts()
        (counts.waiting, counts.running, counts.delayed, counts.sent, counts.other) = (5, 4, 3, 2, 1)
        counts.isComplete = true
        return counts
    }()

    /// A desk that knows the orders of a topic without records, or does not know them yet.
    init(isRead: Bool = true, hasTopic: Bool = true) {
        let (wall, written, delivery, lines) = (wall, written, delivery, log)
        let context = JobContext(
            kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), topics: .init(), timeout: .seconds(1),
            now: { wall.withLock { $0 } })
        let log = Log(format: .json, level: .debug, now: { 0 }, sink: { lines.add($0) })
        desk = OrderDesk(watch: OrderWatch(context, log: log), topic: "push.control.v1", log: log) {
            (order, report) throws(KafkaError) in
            let delivery = try delivery.withLock { $0 }.get()
            written.withLock { $0.append(order) }
            report(delivery)
        }
        guard isRead else { return }
        var book = OrderBook()
        book.hasTopic = hasTopic
        desk.watch.begin(with: book)
    }

    /// Answers a call as the gateway does once its key is known.
    func ask(
        _ operation: APIOperation.Operate, _ body: String = "", id: String = "", tenant: String? = nil,
        scopes: Set<Scope> = [.operate],
        target: String = "/x"
    ) -> (status: Int, text: String) {
        let answers = Answered()
        let asked = call(operation, id: id, scopes: scopes, tenant: tenant, target: target, body: body) { answers.add($0) }
        do throws(APIProblem) {
            try asked.checkRights()
            if operation == .listHolds {
                asked.answer(try desk.list(asked))
            } else {
                try desk.answer(asked) { [counted, counts] order, _, then in
                    counted.withLock { $0.append(order) }
                    then(counts.withLock { $0 })
                }
            }
        } catch {
            asked.refuse(error)
        }
        return (answers.last?.status ?? 0, answers.text.trimmingCharacters(in: .newlines))
    }

    /// Gives a hold, and returns its id.
    func hold(_ scope: String, tenant: String? = nil) -> String {
        _ = ask(.giveHold, #"{"scope":\#(scope),"reason":"wrong text"}"#, tenant: tenant)
        return written.withLock { $0.last?.id ?? "" }
    }

    func advance(seconds: Int64) { wall.withLock { $0 += seconds * 1000 } }
}

/// Holds, limits and cancellations over HTTP.
@Suite struct OrderDeskTests {
    private static let sale = #"{"labels":{"campaign":"sale"}}"#

    @Test func aHoldStandsAtOnceAndEndsByItself() throws {
        let stage = OrderStage()
        let given = stage.ask(.giveHold, #"{"scope":{"tenant":"acme"},"reason":"wrong text","for_seconds":600}"#)
        let order = try #require(stage.written.withLock { $0.first })
        let members =
            #"{"id":"\#(order.id)","kind":"hold","scope":{"tenant":"acme"},"reason":"wrong text","by":"key k1","#
            + #""since":"2025-11-24T16:00:00.000Z","until":"2025-11-24T16:10:00.000Z","#
        #expect(given.status == 201)
        #expect(given.text == members + #""state":"standing","text":"tenant:acme","seconds_left":600}"#)
        stage.advance(seconds: 10)
        let listed = stage.ask(.listHolds)
        #expect(listed.status == 200)
        #expect(
            listed.text
                == #"{"items":["# + members + #""state":"standing","text":"tenant:acme","seconds_left":590}],"faulty":[]}"#)
        stage.advance(seconds: 590)
        #expect(stage.ask(.listHolds).text == #"{"items":[],"faulty":[]}"#)
        #expect(
            stage.ask(.listHolds, target: "/x?history=true").text.contains(
                #""state":"ended","text":"tenant:acme","seconds_left":0}"#)
        )
    }

    @Test func aLimitHasItsNumberAndAnHour() {
        let stage = OrderStage()
        let given = stage.ask(
            .giveHold, #"{"kind":"limit","calls_per_second":5,"scope":{"hub":"north"},"reason":"too fast"}"#)
        #expect(given.status == 201 && given.text.contains(#""kind":"limit","calls_per_second":5,"scope":{"hub":"north"}"#))
        #expect(given.text.contains(#""seconds_left":3600}"#))
    }

    @Test(arguments: [
        (#"{"scope":{"everything":true}}"#, "/reason"), (#"{"scope":{"everything":true},"reason":""}"#, "/reason"),
        (#"{"scope":{"everything":true},"reason":" "}"#, "/reason"),
        (#"{"scope":{"everything":true},"reason":"\#(String(repeating: "x", count: 201))"}"#, "/reason"),
        (#"{"reason":"r"}"#, "/scope"), (#"{"scope":{},"reason":"r"}"#, "/scope"), (#"{"scope":[],"reason":"r"}"#, "/scope"),
        (#"{"scope":"{\"everything\":true}","reason":"r"}"#, "/scope"),
        (#"{"scope":{"everything":true,"hub":"a"},"reason":"r"}"#, "/scope"),
        (#"{"scope":{"everything":false},"reason":"r"}"#, "/scope/everything"),
        (#"{"scope":{"topic":"a"},"reason":"r"}"#, "/scope"), (#"{"scope":{"hub":null},"reason":"r"}"#, "/scope"),
        (#"{"scope":{"hub":""},"reason":"r"}"#, "/scope"), (#"{"scope":{"hub":"a","hub":"b"},"reason":"r"}"#, "/scope"),
        (#"{"scope":{"hub":5},"reason":"r"}"#, "/scope/hub"), (#"{"scope":{"lane":"fast"},"reason":"r"}"#, "/scope/lane"),
        (#"{"scope":{"labels":"a"},"reason":"r"}"#, "/scope/labels"), (#"{"scope":{"labels":{"a":1}},"reason":"r"}"#, "/scope"),
        (#"{"kind":"limit","calls_per_second":0,"scope":{"hub":"a"},"reason":"r"}"#, "/calls_per_second"),
        (#"{"kind":"limit","calls_per_second":1000001,"scope":{"hub":"a"},"reason":"r"}"#, "/calls_per_second"),
        (#"{"kind":"limit","scope":{"hub":"a"},"reason":"r"}"#, "/calls_per_second"),
        (#"{"calls_per_second":5,"scope":{"hub":"a"},"reason":"r"}"#, "/calls_per_second"),
        (#"{"kind":"cancel","scope":{"hub":"a"},"reason":"r"}"#, "/kind"),
        (#"{"for_seconds":0,"scope":{"hub":"a"},"reason":"r"}"#, "/for_seconds"),
        (#"{"for_seconds":604801,"scope":{"hub":"a"},"reason":"r"}"#, "/for_seconds"),
        (#"{"until":"2025-11-24T16:00:00Z","scope":{"hub":"a"},"reason":"r"}"#, "/until"),
        (#"{"until":"2025-12-02T16:00:00Z","scope":{"hub":"a"},"reason":"r"}"#, "/until"),
        (#"{"until":"soon","scope":{"hub":"a"},"reason":"r"}"#, "/until"),
        (#"{"until":"2025-11-24T17:00:00Z","for_seconds":5,"scope":{"hub":"a"},"reason":"r"}"#, "/until"),
        (#"{"by":"me","scope":{"hub":"a"},"reason":"r"}"#, "/by"),
    ])
    func whatIsNoOrderIsNamedAndNotWritten(_ body: String, _ pointer: String) {
        let stage = OrderStage()
        let answer = stage.ask(.giveHold, body)
        #expect(answer.status == 422 && answer.text.contains(#"{"pointer":"\#(pointer)","#), "\(answer)")
        #expect(stage.written.withLock { $0.isEmpty })
    }

    @Test func aTimeOfSevenDaysIsOne() {
        let stage = OrderStage()
        #expect(stage.ask(.giveHold, #"{"for_seconds":604800,"scope":{"hub":"a"},"reason":"r"}"#).status == 201)
        #expect(stage.ask(.giveHold, #"{"until":"2025-12-01T16:00:00Z","scope":{"hub":"a"},"reason":"r"}"#).status == 201)
    }

    @Test(arguments: [
        (#"{"everything":true}"#, "tenant:acme"), (#"{"tenant":"acme"}"#, "tenant:acme"),
        (#"{"hub":"north"}"#, "hub:north tenant:acme"), (#"{"lane":"bulk"}"#, "tenant:acme lane:bulk"),
    ])
    func theScopeOfATenantsKeyGetsItsTenant(_ scope: String, _ text: String) {
        let stage = OrderStage()
        let cancelled = stage.ask(.cancelScope, #"{"scope":\#(scope),"reason":"r"}"#, tenant: "acme")
        let held = stage.ask(.giveHold, #"{"scope":\#(scope),"reason":"r"}"#, tenant: "acme")
        #expect(cancelled.status == 202 && held.status == 201)
        #expect(stage.written.withLock { $0.map(\.scope.text) } == [text, text])
        #expect(held.text.contains(#""by":"key k1 of acme""#))
    }

    @Test(arguments: [APIOperation.Operate.giveHold, .cancelScope])
    func anotherTenantsRequestsAreNoKeysButItsOwn(_ operation: APIOperation.Operate) {
        let (stage, body) = (OrderStage(), #"{"scope":{"tenant":"bank"},"reason":"r"}"#)
        let answer = stage.ask(operation, body, tenant: "acme")
        #expect(answer.status == 403 && answer.text.contains("forbidden_tenant"))
        #expect(stage.written.withLock { $0.isEmpty } && stage.counted.withLock { $0.isEmpty })
        #expect([201, 202].contains(stage.ask(operation, body).status))
    }

    @Test(arguments: [APIOperation.Operate.giveHold, .releaseHold, .cancelScope])
    func anOrderNeedsTheScopeOperate(_ operation: APIOperation.Operate) {
        let scopes = Set(Scope.allCases).subtracting([.operate])
        let answer = OrderStage().ask(operation, #"{"scope":{"hub":"a"},"reason":"r"}"#, scopes: scopes)
        #expect(answer.status == 403 && answer.text.contains("--scope operate"))
    }

    @Test func whoeverReadsSeesHoldsAndATenantItsOwn() {
        let stage = OrderStage()
        let (acme, bank) = (stage.hold(#"{"tenant":"acme"}"#), stage.hold(#"{"tenant":"bank"}"#))
        #expect(stage.ask(.listHolds, scopes: [.publish]).status == 403)
        let all = stage.ask(.listHolds, scopes: [.read]).text
        #expect(all.contains(acme) && all.contains(bank))
        let own = stage.ask(.listHolds, tenant: "acme", scopes: [.read]).text
        #expect(own.contains(acme) && !own.contains(bank))
    }

    // MARK: Releases

    @Test func aHoldIsReleasedOnce() {
        let stage = OrderStage()
        let id = stage.hold(#"{"everything":true}"#)
        let first = stage.ask(.releaseHold, #"{"reason":"mended"}"#, id: id)
        #expect(first.status == 200 && first.text.contains(#""released":{"by":"key k1","reason":"mended","at":"#))
        #expect(first.text.contains(#""state":"released""#) && stage.ask(.listHolds).text.contains(#""items":[]"#))
        let second = stage.ask(.releaseHold, id: id)
        #expect(second.status == 409 && second.text.contains("order_ended"))
        #expect(stage.written.withLock { $0.count } == 2)
    }

    @Test func whatHasEndedByItselfIsNotReleased() {
        let stage = OrderStage()
        let id = stage.hold(#"{"everything":true}"#)
        stage.advance(seconds: 3600)
        #expect(stage.ask(.releaseHold, id: id).status == 409)
    }

    @Test func aCancellationIsNotTakenBack() {
        let stage = OrderStage()
        #expect(stage.ask(.cancelScope, #"{"scope":\#(Self.sale),"reason":"r"}"#).status == 202)
        let id = stage.written.withLock { $0[0].id }
        #expect(stage.ask(.releaseHold, id: id).status == 404 && stage.ask(.releaseHold, id: "h-unknown1").status == 404)
    }

    /// The status for a key of a tenant that would release a hold of a key with or without a tenant.
    @Test(arguments: [("acme", "acme", 200), (nil, "acme", 403), ("acme", "bank", 404)] as [(String?, String, Int)])
    func aTenantsKeyReleasesWhatItsTenantHasGiven(_ giver: String?, _ releaser: String, _ status: Int) {
        let stage = OrderStage()
        let id = stage.hold(#"{"tenant":"acme"}"#, tenant: giver)
        #expect(stage.ask(.releaseHold, id: id, tenant: releaser).status == status)
        #expect(stage.written.withLock { $0.count } == (status == 200 ? 2 : 1))
        #expect(stage.ask(.releaseHold, id: id).status == (status == 200 ? 409 : 200))
    }

    // MARK: Cancellations

    @Test func aDryRunCountsAndCancelsNothing() throws {
        let stage = OrderStage()
        let answer = stage.ask(.cancelScope, #"{"scope":\#(Self.sale),"since_seconds":600,"dry_run":true}"#)
        #expect(answer.status == 200)
        #expect(
            answer.text
                == #"{"dry_run":true,"counts":{"waiting":5,"running":4,"delayed":3,"sent":2,"other":1,"complete":true}}"#)
        let counted = try #require(stage.counted.withLock { $0.first })
        #expect(counted.scope.text == "label.campaign:sale")
        #expect(counted.kind == .cancel(publishedFrom: Timestamp(milliseconds: 1_764_000_000_000 - 600_000)))
        #expect(
            stage.written.withLock { $0.isEmpty }
                && stage.ask(.listHolds, target: "/x?history=true").text.contains(#""items":[]"#))
        stage.counts.withLock { $0 = .failure(.searchTooLong) }
        #expect(stage.ask(.cancelScope, #"{"scope":\#(Self.sale),"dry_run":true}"#).status == 503)
    }

    @Test func aCancellationIsWrittenThoughNobodyCanCount() {
        let stage = OrderStage()
        let body = #"{"scope":\#(Self.sale),"reason":"wrong text"}"#
        let answer = stage.ask(.cancelScope, body)
        #expect(answer.status == 202 && answer.text.hasPrefix(#"{"order":{"id":"c-"#))
        #expect(answer.text.contains(#""text":"label.campaign:sale""#) && answer.text.contains(#""complete":true}}"#))
        stage.counts.withLock { $0 = .failure(.searchTooLong) }
        let blind = stage.ask(.cancelScope, body)
        #expect(blind.status == 202 && blind.text.contains(#""complete":false}}"#))
        #expect(stage.written.withLock { $0.map(\.reason) } == ["wrong text", "wrong text"])
    }

    @Test(arguments: [
        (#"{"scope":{"hub":"a"}}"#, "/reason"), (#"{"scope":{"hub":"a"},"reason":"r","dry_run":"true"}"#, "/dry_run"),
        (#"{"scope":{"hub":"a"},"reason":"r","since_seconds":0}"#, "/since_seconds"),
        (#"{"scope":{"hub":"a"},"reason":"r","since":"2025-11-24T16:00:01Z"}"#, "/since"),
        (#"{"reason":"r"}"#, "/scope"),
    ])
    func whatIsNoCancellationIsNamed(_ body: String, _ pointer: String) {
        let stage = OrderStage()
        let answer = stage.ask(.cancelScope, body)
        #expect(answer.status == 422 && answer.text.contains(#"{"pointer":"\#(pointer)","#), "\(answer)")
        #expect(stage.written.withLock { $0.isEmpty })
    }

    // MARK: Kafka

    @Test(
        arguments: [
            (.success(.notPersisted(.queueFull)), 503, "broker_slow"), (.failure(.queueFull), 503, "broker_slow"),
            (.success(.possiblyPersisted(.queueFull)), 504, "ack_unknown"),
        ] as [(Result<Producer.Delivery, KafkaError>, Int, String)])
    func whatKafkaHasNotTakenDoesNotStand(_ delivery: Result<Producer.Delivery, KafkaError>, _ status: Int, _ code: String) {
        let stage = OrderStage()
        stage.delivery.withLock { $0 = delivery }
        let answer = stage.ask(.giveHold, #"{"scope":{"hub":"a"},"reason":"r"}"#)
        #expect(answer.status == status && answer.text.contains(#""code":"\#(code)","retry":"safe""#), "\(answer)")
        #expect(stage.ask(.listHolds).text.contains(#""items":[]"#))
    }

    @Test(arguments: [(false, true, "broker_unavailable"), (true, false, "topic_missing")])
    func whileOrdersAreNotKnownNoneIsGivenOrShown(_ isRead: Bool, _ hasTopic: Bool, _ code: String) {
        let stage = OrderStage(isRead: isRead, hasTopic: hasTopic)
        let answers = [
            stage.ask(.listHolds), stage.ask(.giveHold, #"{"scope":{"hub":"a"},"reason":"r"}"#),
            stage.ask(.releaseHold, id: "h-unknown1"),
            stage.ask(.cancelScope, #"{"scope":{"hub":"a"},"reason":"r"}"#),
        ]
        for answer in answers { #expect(answer.status == 503 && answer.text.contains(#""code":"\#(code)""#), "\(answer)") }
        #expect(stage.written.withLock { $0.isEmpty })
        var json = JSONObject()
        stage.desk.add(to: &json)
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(text.contains("orders_problem") && text.contains(#""orders":[]"#) == !hasTopic)
    }

    @Test func aTenantHasItsShareOfOrdersAndNoMore() {
        let stage = OrderStage()
        for _ in 0..<Orders.mostOfTenant { _ = stage.hold(#"{"everything":true}"#, tenant: "acme") }
        let answer = stage.ask(.giveHold, #"{"scope":{"everything":true},"reason":"r"}"#, tenant: "acme")
        #expect(answer.status == 429 && answer.text.contains("too_many_requests"))
        #expect(stage.written.withLock { $0.count } == Orders.mostOfTenant)
        #expect(stage.ask(.giveHold, #"{"scope":{"everything":true},"reason":"r"}"#, tenant: "bank").status == 201)
        let id = stage.written.withLock { $0[0].id }
        #expect(stage.ask(.releaseHold, id: id, tenant: "acme").status == 200)
        #expect(stage.ask(.giveHold, #"{"scope":{"everything":true},"reason":"r"}"#, tenant: "acme").status == 201)
    }

    @Test func whatWasWrittenBeforeTheTopicWasReadAgainStaysKnown() {
        let stage = OrderStage(isRead: false)
        let order = OrderRecord(
            id: "h-of-others", kind: .hold, scope: .everything, reason: "r", author: "key k2", since: stage.desk.watch.now)
        stage.desk.watch.settle(order, isWritten: true)
        stage.desk.watch.begin(with: OrderBook())
        #expect(stage.ask(.listHolds).text.contains("h-of-others"))
    }

    @Test func whoWhatAndWhyIsInTheLog() {
        let stage = OrderStage()
        let id = stage.hold(#"{"hub":"north"}"#)
        _ = stage.ask(.releaseHold, #"{"reason":"mended"}"#, id: id)
        let lines = stage.log.text.split(separator: "\n").filter { $0.contains("order_given") }
        #expect(lines.count == 2)
        #expect(lines.first?.contains("key k1: hold \(id), hub:north, until 2025-11-24T17:00:00.000Z: wrong text") == true)
        #expect(
            lines.last?.contains("key k1: release of hold \(id), hub:north") == true && lines.last?.contains("mended") == true)
    }

    @Test func theFleetsStateHasHoldsAndNoCancellations() {
        let stage = OrderStage()
        _ = stage.ask(.cancelScope, #"{"scope":\#(Self.sale),"reason":"r"}"#)
        for _ in 0..<25 { _ = stage.hold(#"{"hub":"north"}"#) }
        func text(isShort: Bool) -> String {
            var json = JSONObject()
            stage.desk.add(to: &json, isShort: isShort)
            return String(decoding: json.bytes, as: UTF8.self)
        }
        #expect(text(isShort: false).split(separator: #""kind":"hold""#).count == 26)
        #expect(!text(isShort: false).contains(#""kind":"cancel""#) && !text(isShort: false).contains("omitted"))
        #expect(text(isShort: true).contains(#""orders_omitted":"#) && text(isShort: true).utf8.count < 9000)
    }

    @Test func anEventOfTheFleetHasTheOrdersThatStand() {
        let stage = OrderStage()
        let id = stage.hold(#"{"hub":"north"}"#)
        func event() -> String {
            let event = FleetEvent(members: [], work: RecentWork(), addOrders: { stage.desk.add(to: &$0, isShort: true) })
            return String(decoding: event.json(at: 0), as: UTF8.self)
        }
        #expect(event().contains(#""orders":[{"id":"\#(id)","kind":"hold""#))
        _ = stage.ask(.releaseHold, id: id)
        #expect(event().contains(#""orders":[]"#))
    }
}
