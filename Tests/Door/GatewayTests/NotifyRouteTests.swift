@testable import DeviceHubs
@testable import GatewayAPI
@testable import AppAPI
import Delivery
import Dispatch
import Foundation
import Gateway
import HTTPServing
import HubAuth
import HubEmulator
import Kafka
import PushModel
import TestSupport
import Testing

@testable import Publishing

/// `POST /api/notifications` over HTTP and Kafka; the tests themselves write the results.
@Suite(.tags(.waits, .threads), .serialized) struct NotifyRouteTests {
    private static let path = "/api/notifications?pns=apns&to_tag=bob"
    private static let sent = #""kind":"final","state":"sent","targets":{"accepted":1},"sends":[\#(accepted)]"#
    private static let accepted = #"{"index":0,"platform":"apple","outcome":"success"}"#

    private static func failed(_ state: String, _ code: String) -> String {
        #""kind":"final","state":"\#(state)","replay_safety":"safe","error":{"code":"\#(code)","message":"m"}"#
    }

    private static func outcome(_ state: String, _ code: String) -> String {
        #""kind":"outcome","state":"\#(state)","error":{"code":"\#(code)","message":"m"},"sends":[\#(accepted)]"#
    }

    @Test func aSendIsAnsweredByItsResult() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let table: [(result: String, status: Int, word: String)] = [
            (Self.sent, 200, #""state":"sent""#), (Self.failed("failed", "hub_unavailable"), 500, #""code":"hub_unavailable""#),
            (Self.failed("rejected", "payload_too_large"), 500, #""code":"payload_too_large""#),
            (Self.failed("expired", "expired_in_queue"), 500, #""code":"expired_in_queue""#),
            (Self.failed("cancelled", "cancelled"), 500, #""code":"cancelled""#),
            (Self.failed("duplicate", "duplicate"), 200, #""state":"duplicate""#),
        ]
        for row in table {
            let client = try gateway.begin("POST", Self.path, as: "alice", body: #""Hi""#)
            let id = try worker.next().id
            try worker.write(row.result, of: id)
            let answer = client.answer()
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == row.status && text.contains(row.word) && text.contains(id), "\(text)")
        }
        #expect(eventually { gateway.services.metrics.contains("pushfan_gateway_ack_seconds_count{outcome=\"persisted\"} 6\n") })
        #expect(gateway.services.metrics.contains("pushfan_gateway_waiting_sends 0\n"))
    }

    @Test(
        arguments: [
            ("/api/notifications?pns=gcm&to_tag=bob", #""Hi""#, #"{"message":{"data":{"message":"From alice: Hi"}}}"#, "bob"),
            ("/api/notifications?pns=APNS&to_tag=b+o%2Bb", "\"\"", #"{"aps":{"alert":"From alice: "}}"#, "b+o+b"),
            ("/api/notifications", "", #"{"aps":{"alert":"Hello"}}"#, "alice"),
            ("/api/notifications", #""Hi""#, #"{"aps":{"alert":"Hi"}}"#, "alice"),
        ] as [(String, String, String, String)])
    func aCallBecomesARequest(path: String, body: String, payload: String, user: String) throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let client = try gateway.begin("POST", path, as: "alice", body: body)
        let request = try worker.next()
        #expect(request.json.contains(payload), "\(request.json)")
        #expect(request.json.contains(#""id":"\#(request.id)""#) && request.json.contains(#""users":["\#(user)"]"#))
        #expect(request.json.contains(#""labels":{"from":"alice"}"#) && !request.json.contains("track_outcome"))
        try worker.write(Self.sent, of: request.id)
        #expect(client.answer().status == 200)
    }

    /// Names are unique without regard to case and composition, so they are found so.
    @Test(
        arguments: [
            ("jose%CC%81", "José"), ("JOS%C3%89", "José"), ("anna%20meier", "Anna Meier"),
            ("BOB", "Bob"), ("nobody", "nobody"),
        ])
    func aNameReachesTheUserWhomItNames(written: String, name: String) throws {
        let users = try UsersOnDisk(["José", "Anna Meier", "Bob"].map { ($0, "a password") })
        let gateway = try ServedGateway { $0.usersFile = users.path }
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let path = "/api/notifications?pns=apns&to_tag=\(written)"
        let client = try gateway.begin("POST", path, as: "anna meier", body: #""Hi""#)
        let request = try worker.next()
        #expect(request.json.contains(#""users":["\#(name)"]"#), "\(request.json)")
        #expect(request.json.contains(#""labels":{"from":"x.416e6e61204d65696572"}"#))
        try worker.write(Self.sent, of: request.id)
        #expect(client.answer().status == 200)
    }

    @Test(
        arguments: [
            ("/api/notifications?pns=apns", #""Hi""#, 400), ("/api/notifications?to_tag=bob", #""Hi""#, 400),
            ("/api/notifications?pns=mpns&to_tag=bob", #""Hi""#, 400), (path, "", 400), (path, "Hi", 400), (path, #""a"b""#, 400),
            (path, #"{"a":1}"#, 400), ("/api/notifications?secure=true", #""Hi""#, 503), (path, #""Hi""#, 503),
        ] as [(String, String, Int)])
    func whatIsNoCallIsToldWithoutKafka(path: String, body: String, status: Int) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let answer = try gateway.ask("POST", path, as: "alice", body: body)
        #expect(answer.status == status, "\(answer.text)")
        #expect(answer.head.contains("Content-Type: application/problem+json\r\n"))
    }

    // MARK: Outcomes

    @Test func withTrackingTheOutcomesDecide() throws {
        let gateway = try ServedGateway { $0.tracksOutcome = true }
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let table = [
            ("failed", "hub_abandoned", 500), ("failed", "hub_state_unknown", 500), ("failed", "no_target", 200),
            ("unknown", "telemetry_unavailable", 200), ("failed", "telemetry_missing", 504),
        ]
        for (state, code, status) in table {
            let client = try gateway.begin("POST", Self.path, as: "alice", body: #""Hi""#)
            let request = try worker.next()
            #expect(request.json.contains(#""options":{"track_outcome":true}"#))
            try worker.write(Self.sent, of: request.id)
            try worker.write(Self.outcome(state, code), of: request.id)
            let answer = client.answer()
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == status && text.contains(code), "\(text)")
        }
    }

    @Test(
        arguments: [
            ("state=Abandoned", 500, "hub_abandoned"), ("state=Unknown", 500, "hub_state_unknown"),
            ("state=NoTargetFound", 200, "no_target"), ("state=Processing", 504, "telemetry_unfinished"),
            ("hidden", 504, "telemetry_missing"),
        ] as [(String, Int, String)])
    func atTheLimitTheHubIsAsked(script: String, status: Int, word: String) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        gateway.hub.script([try TelemetryScript(parsing: script)])
        let answer = try answerAtTheLimit(of: gateway)
        #expect(answer.status == status && answer.text.contains(word), "\(answer.text)")
        #expect(gateway.calls(after: 0).contains("telemetry"))
        #expect(answer.services.metrics.contains("hub_calls_total{operation=\"telemetry.get\",code=\"ok\"} 1\n"))
    }

    @Test(arguments: ["status=403", "status=401", "status=500", "reset=before"])
    func telemetryThatIsNotAnsweredIs504AndHoldsUpNobody(fault: String) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let answer = try answerAtTheLimit(of: gateway) { gateway.hub.arm([try Fault(parsing: "\(fault),method=GET")]) }
        #expect(answer.status == 504 && answer.text.contains("telemetry_missing"), "\(answer.text)")
        #expect(answer.services.readiness.contains("the hub was not asked yet"), "nothing is concluded about the hub")
    }

    /// What a send is answered whose time is over and whose one call the hub has accepted.
    private func answerAtTheLimit(
        of gateway: ServedGateway, _ prepare: () throws -> Void = {}
    ) throws -> (status: Int, text: String, services: TestServices) {
        let notification = try self.notification(of: gateway.hub)
        try prepare()
        let services = TestServices()
        let lanes = try DeviceHubs(gateway.configuration, services: services.services).hubs[0].lanes
        lanes.start()
        defer { lanes.stop() }
        let call = #"{"index":0,"platform":"apple","outcome":"success","notification_id":"\#(notification)"}"#
        let json = #"{"request_id":"r-1","kind":"final","state":"sent","targets":{"accepted":1},"sends":[\#(call)]}"#
        var awaited = Awaited(.outcomes)
        awaited.take(try #require(ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: 0)))
        let held = HeldCalls()
        let door = try TestGateway(demo: true, endpoints: held)
        let client = try RawClient(port: door.port)
        client.send(request("POST", "/api/notifications", [basic("alice", "alice")]))
        Sending.conclude(
            "r-1", record: .unreported, ending: ResultFollower.Ending(reason: .timeOver, awaited: awaited), lanes: lanes,
            reply: try held.next().reply)
        let answer = client.answer()
        return (answer.status, String(decoding: answer.body, as: UTF8.self), services)
    }

    /// The id of a notification that the hub accepts now.
    private func notification(of hub: EmulatedHub) throws -> String {
        let credential = try ConnectionString(parsing: hub.connectionString).credential
        let expiry = Int64(Date.now.timeIntervalSince1970) + 3600
        let token = try SASToken.sign(
            resource: "http://127.0.0.1/demo", policy: credential.policy, key: credential.key, expiry: expiry)
        let headers: HTTPFields = [
            "Host": "127.0.0.1", "Authorization": String(decoding: token.headerValue, as: UTF8.self),
            "ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8",
        ]
        let answer = hub.handle(
            HTTPServerRequest(
                method: "POST", target: "/demo/messages?api-version=2020-06", headers: headers,
                body: Array(#"{"aps":{"alert":"Hi"}}"#.utf8)))
        try #require(answer.status == 201)
        return try #require(hub.calls().last?.notificationID)
    }

    // MARK: Time and brokers

    /// Kafka may take a record just before the wait ends or just after; that it took one is seen sooner or later.
    @Test func withoutAResultInTimeItIs504ThatSaysWhereTheRequestIs() throws {
        let gateway = try ServedGateway { $0.sendWait = .zero }
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        var offset = 0
        let isWritten = try eventually {
            let answer = try gateway.ask("POST", Self.path, as: "alice", body: #""Hi""#)
            let id = try worker.next().id
            defer { offset += 1 }
            #expect(answer.status == 504 && answer.head.contains("Location: /v1/requests/\(id)"))
            let named = answer.text.contains(#""request_id":"\#(id)""#) && answer.text.contains("pushfan results show \(id)")
            #expect(named, "\(id): \(answer.text)")
            guard answer.text.contains(#""code":"result_pending""#) else {
                #expect(answer.text.contains(#""code":"ack_unknown""#) && answer.text.contains("It is not known"))
                return false
            }
            let topic = gateway.configuration.topics.requests
            #expect(answer.head.contains("Location: /v1/requests/\(id)?at=\(topic)/0/\(offset)\r\n"), "\(answer.head)")
            return answer.text.contains("is written to \(topic), partition 0, offset \(offset),")
        }
        #expect(isWritten)
    }

    /// With a wait that is shorter than the time that a record may take, nobody knows at its end whether there is a record.
    @Test func aSendThatDoesNotReachKafkaInTimeIsNotCalledWritten() throws {
        let gateway = try ServedGateway {
            $0.sendWait = .zero
            $0.kafka.properties.append(.init(key: "message.timeout.ms", value: "3600000"))
        }
        defer { gateway.stop() }
        let cluster = try #require(gateway.cluster)
        cluster.setBroker(1, isUp: false)
        let answer = try gateway.ask("POST", Self.path, as: "alice", body: #""Hi""#)
        #expect(answer.status == 504 && answer.text.contains(#""code":"ack_unknown""#), "\(answer.text)")
        #expect(answer.text.contains(#""retry":"ambiguous""#) && answer.text.contains(#""request_id":""#))
        #expect(!answer.text.contains("is written"))
    }

    @Test func whileKafkaIsAwayItIs503() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let answer = try gateway.ask("POST", Self.path, as: "alice", body: #""Hi""#)
        #expect(answer.status == 503 && answer.head.contains("Retry-After: 1\r\n"))
        #expect(answer.text.contains(#""code":"broker_unavailable""#) && answer.text.contains(#""retry":"safe""#))
        #expect(eventually { gateway.services.readiness.contains("failing kafka") })
        #expect(eventually { gateway.services.log.text.contains("Kafka cannot be used") })
    }

    @Test func aBrokerThatGoesIs503AndIsUsedAgainWhenItIsBack() throws {
        let gateway = try ServedGateway {
            $0.kafka.properties += [
                .init(key: "message.timeout.ms", value: "2000"), .init(key: "reconnect.backoff.max.ms", value: "100"),
            ]
        }
        defer { gateway.stop() }
        let cluster = try #require(gateway.cluster)
        let worker = try ScriptedWorker(gateway)
        cluster.setBroker(1, isUp: false)
        #expect(eventually { gateway.services.readiness.contains("failing kafka") })
        let answer = try gateway.ask("POST", Self.path, as: "alice", body: #""Hi""#)
        #expect(answer.status == 503 && answer.text.contains(#""code":"broker_unavailable""#), "\(answer.text)")
        #expect(gateway.services.metrics.contains("pushfan_gateway_waiting_sends 0\n"))
        #expect(gateway.services.metrics.contains("ack_seconds_count{outcome=\"not_persisted\"} 1\n"))
        cluster.setBroker(1, isUp: true)
        let client = try gateway.begin("POST", Self.path, as: "alice", body: #""Hi""#)
        try worker.write(Self.sent, of: worker.next().id)
        #expect(client.answer().status == 200)
        #expect(eventually { gateway.services.readiness.isEmpty })
    }

    @Test func anotherProducerTakesThePlaceOfOneThatHasFailedForGood() throws {
        let cluster = try MockCluster()
        defer { cluster.close() }
        try cluster.createTopic("q", partitions: 1)
        let topics = RequestTopics(high: "q", normal: "q", bulk: "q")
        let producer = try RequestProducer(cluster.configuration, topics: topics)
        producer.start {}
        defer { producer.stop() }
        var writer = RequestWriter(topics: topics, source: "test")
        let reports = Reports()
        for round in 1...3 {
            let before = producer.current
            try producer.write(writer.record(of: OutgoingRequest(json: Array("{}".utf8)), at: .init(milliseconds: 0))) {
                reports.add($0)
            }
            #expect(eventually { reports.persistedCount == round })
            producer.openAgain()
            #expect(eventually { producer.current !== before })
        }
        #expect(eventually { producer.problem == nil })
    }

    // MARK: The end

    @Test func sendsThatWaitAtTheEndAre504WithThePlaceOfTheirRequests() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let clients = try (0..<20).map { _ in try gateway.begin("POST", Self.path, as: "alice", body: #""Hi""#) }
        for _ in clients { _ = try worker.next() }
        gateway.service.stop(within: .zero)
        for client in clients {
            let answer = client.answer()
            #expect(answer.status == 504 && String(decoding: answer.body, as: UTF8.self).contains(#""code":"result_pending""#))
            #expect(answer.head.contains("?at=\(gateway.configuration.topics.requests)/0/"))
        }
    }

    @Test func sendsThatEndInTimeAreAnsweredAsEver() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let clients = try (0..<5).map { _ in try gateway.begin("POST", Self.path, as: "alice", body: #""Hi""#) }
        let ids = try clients.map { _ in try worker.next().id }
        let isStopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [service = gateway.service] in
            service.stop(within: farDeadline)
            isStopped.signal()
        }
        #expect(eventually { gateway.services.readiness.contains("draining") })
        for id in ids { try worker.write(Self.sent, of: id) }
        for client in clients { #expect(client.answer().status == 200) }
        isStopped.wait()
    }

    @Test func noTextAndNoNameIsToldToLogsOrMetrics() throws {
        let gateway = try ServedGateway { $0.sendWait = .zero }
        defer { gateway.stop() }
        let answer = try gateway.ask(
            "POST", "/api/notifications?pns=apns&to_tag=CANARYbob", as: "CANARYalice", body: #""CANARYtext""#)
        #expect(answer.status == 504)
        #expect(eventually { gateway.services.metrics.contains("requests_total{route=\"notify\",status=\"504\"} 1\n") })
        for text in [answer.head, answer.text, gateway.services.log.text, gateway.services.metrics] {
            #expect(!text.contains("CANARY"))
        }
    }
}
