import Delivery
import Foundation
import HubAuth
import HubEmulator
import HubServer
import Kafka
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// Requests of every shape through one worker: what the hub was asked, what rang, what the result says, and what nobody may see.
@Suite(.serialized)
struct ShapeTests {
    private static let alice = String(repeating: "A1", count: 32)
    private static let dora = String(repeating: "D0", count: 32)
    private static let batch = [String(repeating: "E1", count: 32), String(repeating: "E2", count: 32)]
    private static let bob = "bob-handle-canary"
    private static let key = "Y2FuYXJ5LWtleS1vZi10aGUtaHVi"

    private func register(on hub: EmulatedHub) throws {
        try hub.register(
            EmulatedDevice(id: "phone-alice", platform: "apns", handle: Self.alice, tags: ["username:alice", "World"]))
        try hub.register(EmulatedDevice(id: "phone-bob", platform: "fcmV1", handle: Self.bob, tags: ["username:bob", "Boston"]))
        try hub.register(
            EmulatedDevice(
                id: "phone-dora", platform: "apns", handle: Self.dora, tags: ["News"],
                templates: ["greeting": #"{"aps":{"alert":"{'Hello ' + $(name)}"}}"#]))
    }

    private static func requests(notBefore: String) -> [String] {
        let handles = batch.map { #"{"platform":"apns","handle":"\#($0)"}"# }.joined(separator: ",")
        return [
            #"{"id":"user","audience":{"users":["alice"]},"platforms":["apns"],"message":{"title":"title-canary"}}"#,
            #"{"id":"template","audience":{"categories":["News","Sports"]},"template":{"name":"Dora"}}"#,
            #"{"id":"native","audience":{"users":["bob"]},"payloads":{"fcmv1":{"body":{"message":  {"notification":{"title":"as  is"}}}}}}"#,
            #"{"id":"expression","audience":{"tag_expression":"World && !username:bob"},"platforms":["apple"],"message":{"body":"B"}}"#,
            #"{"id":"broadcast","audience":{"broadcast":true},"platforms":["fcm"],"message":{"title":"all"}}"#,
            #"{"id":"installation","audience":{"installations":["phone-bob"]},"platforms":["fcmv1"],"message":{"title":"I"}}"#,
            #"{"id":"direct","audience":{"devices":[{"platform":"apns","handle":"\#(alice)"}]},"message":{"title":"D"}}"#,
            #"{"id":"batch","audience":{"devices":[\#(handles)]},"message":{"title":"D"}}"#,
            #"{"id":"platforms","audience":{"users":["bob"]},"message":{"title":"M"},"ttl_seconds":3600}"#,
            #"{"id":"dry","audience":{"users":["alice"]},"message":{"title":"N"},"options":{"dry_run":true}}"#,
            #"{"id":"test","audience":{"users":["alice"]},"platforms":["apple"],"message":{"title":"T"},"options":{"test_send":true}}"#,
            #"{"id":"later","audience":{"users":["alice"]},"platforms":["apple"],"message":{"title":"L"},"not_before":"\#(notBefore)"}"#,
        ]
    }

    private static let event =
        #"{"audience":{"users":["alice"]},"platforms":["apple"],"message":{"title":"E"},"labels":{"campaign":"mlb"}}"#

    @Test func everyShapeReachesWhomItNamesAndNoSecretIsSeen() throws {
        let bench = try Bench(.quickest) { $0.policies = [HubPolicy(name: "sender", key: Self.key, rights: .all)] }
        try register(on: bench.hub)
        // Too soon for a delay lane.
        let due = Date().addingTimeInterval(9)
        let requests = Self.requests(notBefore: due.formatted(.iso8601))
        try bench.publish(all: requests)
        try bench.publish(
            Self.event,
            headers: [
                ("ce_specversion", "1.0"), ("ce_type", "push.request.v1"), ("ce_id", "event"), ("ce_source", "/orders"),
                ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), ("tracestate", "vendor=1"),
            ])
        try bench.publish(Self.event)
        let worker = try bench.startWorker { $0.loggedRequests = .all }
        let count = requests.count + 2
        try bench.results(count - 1)
        bench.clock.advance(by: .seconds(10))
        try bench.results(count)
        #expect(worker.report(.ready).passes)
        #expect(eventually { worker.report(.live).passes })
        let health = String(decoding: worker.report(.ready).body(verbose: true), as: UTF8.self)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == count)
        expectResults(results)
        expectCalls(bench.hub, due: due)
        expectRings(bench.hub)
        try expectHeaders(#require(results["event"]))
        let anonymous = results.values.first { $0.requestID.hasPrefix("\(bench.topics.requests):") }
        let offset: String? = anonymous?["origin.offset"]
        let partition: Int? = anonymous?["origin.partition"]
        #expect(anonymous?.requestID == "\(bench.topics.requests):\(partition ?? -1):\(offset ?? "")")
        expectMetrics(bench, count: count)
        let told = bench.logLines.all.first { $0.contains("final result") && $0.contains(#""request_id":"platforms""#) }
        #expect(told?.contains(#""attempt":1,"#) == true, "\(told ?? "")")
        expectNoCanary(bench, results, health: health)
    }

    private func expectResults(_ results: [String: FinalResult]) {
        for id in [
            "user", "template", "native", "expression", "broadcast", "installation", "direct", "batch", "test", "later", "event",
        ] {
            #expect(results[id]?.summary == "sent success - 1", "\(id)")
            #expect(results[id]?["replay_safety"] == "duplicate_risk")
            #expect(results[id]?["kind"] == "final")
            #expect(results[id]?["hub"] == "demo")
            #expect(results[id]?["attempts.0.http_status"] == 201)
            let notification: String? = results[id]?["sends.0.notification_id"]
            #expect((notification == nil) == (id == "test"), "\(id)")
        }
        #expect(results["platforms"]?.summary == "sent success - 1", "three calls of one attempt each")
        #expect(results["platforms"]?["targets.planned"] == 3)
        #expect(results["platforms"]?["targets.accepted"] == 3)
        #expect(results["dry"]?.summary == "cancelled cancelled cancelled 0")
        #expect(results["dry"]?["replay_safety"] == "safe")
        #expect(results["template"]?["sends.0.platform"] == "template")
        #expect(results["event"]?["source"] == "/orders")
        #expect(results["event"]?["labels.campaign"] == "mlb")
    }

    private func expectCalls(_ hub: EmulatedHub, due: Date) {
        let calls = hub.calls()
        #expect(calls.allSatisfy { $0.status == 201 })
        let byTags = calls.map { "\($0.operation) \($0.format ?? "-") \($0.tags ?? "-")" }
        #expect(byTags.contains("send template (News || Sports)") || byTags.contains("send template News || Sports"))
        #expect(byTags.contains { $0.hasPrefix("send apple ") && $0.contains("World && !username:bob") })
        #expect(byTags.count { $0 == "send fcmv1 -" } == 1, "one broadcast, and no other call without tags")
        #expect(calls.count { $0.tags == nil && $0.handle == nil && $0.operation.description == "send" } == 1)
        #expect(byTags.contains { $0.contains("$InstallationId:{phone-bob}") })
        #expect(calls.count { $0.handle == Self.alice } == 1)
        #expect(calls.count { $0.operation.description == "send.batch" } == 1)
        #expect(calls.count { $0.target.contains("&test") } == 1)
        let last = calls.max { $0.at < $1.at }
        #expect(last?.at ?? 0 >= Int64(due.timeIntervalSince1970.rounded(.down) * 1000), "not_before is obeyed")
    }

    private func expectRings(_ hub: EmulatedHub) {
        let rung = { (handle: String) in hub.devices(handle: handle).first?.rung ?? [] }
        // user, expression, direct, test, later, event, the anonymous one
        #expect(rung(Self.alice).count == 7)
        #expect(rung(Self.alice).contains { $0.body.contains("title-canary") })
        // native, broadcast, installation, platforms
        #expect(rung(Self.bob).count == 4)
        #expect(rung(Self.bob).contains { $0.body == #"{"message":  {"notification":{"title":"as  is"}}}"# })
        #expect(rung(Self.dora).map(\.body) == [#"{"aps":{"alert":"Hello Dora"}}"#])
        for handle in Self.batch { #expect(rung(handle).count == 1) }
    }

    private func expectHeaders(_ result: FinalResult) throws {
        let record = result.record
        #expect(record.key == Array("event".utf8))
        #expect(record.header("content-type") == "application/json")
        #expect(record.header("ce_specversion") == "1.0")
        #expect(record.header("ce_type") == "push.result.v1")
        #expect(record.header("ce_id") == result["result_id"])
        #expect(record.header("ce_subject") == "event")
        #expect(record.header("ce_source")?.hasPrefix("/pushfan/") == true)
        #expect(record.header("ce_time") == result["at"])
        #expect(record.header("ce_dataschema") == "urn:pushfan:schema:push.result:1")
        let parent = try #require(record.header("traceparent"))
        #expect(parent.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") && parent.hasSuffix("-01") && parent.utf8.count == 55)
        #expect(!parent.contains("b7ad6b7169203331"), "this hop has a span of its own")
        #expect(record.header("ce_traceparent") == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        #expect(record.header("tracestate") == "vendor=1")
    }

    private func expectMetrics(_ bench: Bench, count: Int) {
        #expect(bench.metric("pushfan_records_consumed_total") == Double(count))
        #expect(bench.metric("pushfan_requests_finished_total", #"outcome="success""#) == Double(count - 1))
        #expect(bench.metric("pushfan_requests_finished_total", #"outcome="cancelled""#) == 1)
        #expect(bench.metric("pushfan_sends_total", #"code="2xx""#) == Double(bench.hub.calls().count))
        #expect(bench.metric("pushfan_sends_total") == Double(bench.hub.calls().count))
        #expect(bench.metric("pushfan_send_duration_seconds_count") == Double(bench.hub.calls().count))
        #expect(bench.metric("pushfan_publish_to_final_seconds_count") == Double(count))
        #expect(bench.metric("pushfan_results_published_total") == Double(count))
        #expect(bench.metric("pushfan_results_failed_total") == 0)
        #expect(bench.metric("pushfan_inflight_sends") == 0)
        #expect(bench.metric("pushfan_retry_queue_records") == 0)
    }

    private func expectNoCanary(_ bench: Bench, _ results: [String: FinalResult], health: String) {
        let canaries = [
            Self.key, Self.alice, Self.dora, Self.bob, "title-canary", "as  is", "SharedAccessSignature", "sig=", "Hello",
        ]
        let texts =
            bench.logLines.all + [bench.exposition(), health]
            + results.values.map { String(decoding: $0.record.value ?? [], as: UTF8.self) }
        #expect(bench.logLines.all.count > results.count, "there is something to look at")
        for canary in canaries {
            #expect(!texts.contains { $0.contains(canary) }, "\(canary)")
        }
    }
}
