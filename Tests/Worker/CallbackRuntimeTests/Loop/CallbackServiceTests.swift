import CallbackRecords
import Crypto
import EventLoop
import Foundation
import HTTPServing
import Kafka
import Observability
import ResultFeed
import TestSupport
import Testing
import Webhooks

@testable import CallbackRuntime

/// The service with receivers that listen on loopback.
@Suite(.serialized, .tags(.threads)) struct CallbackServiceTests {
    private static let taken: @Sendable (HTTPServerRequest) -> HTTPServerResponse? = { _ in HTTPServerResponse(status: 204) }

    @Test func eachResultComesSignedAndIsDoneWithAfterwards() throws {
        let server = try ReceivingServer(Self.taken)
        let receiver = try server.receiver("orders")
        let bench = try CallbackBench([receiver])
        try bench.publish(0..<200)
        #expect(eventually { server.count >= 200 && bench.position(of: "orders") == 200 })
        bench.stop()
        #expect(Set(server.ids) == Set((0..<200).map { "r0-\($0)" }) && server.count == 200)
        for call in server.calls.withLock({ $0 }) {
            let (id, time) = (try #require(call.headers["webhook-id"]), try #require(call.headers["webhook-timestamp"]))
            let content = WebhookSignature.content(id: id, timestamp: try #require(Int64(time)), body: call.body)
            let code = try HMACSHA256.code(of: content, key: receiver.secrets[0].key)
            #expect(call.headers["webhook-signature"] == WebhookSignature.header([code]))
        }
    }

    @Test func callsGoOverTLSWithTheCertificatesOfTheFile() throws {
        let folder = try TemporaryFolder()
        let certificate = try SelfSignedCertificate(hosts: ["127.0.0.1"])
        let path = folder.path("ca.pem")
        try certificate.certificatePEM.write(toFile: path, atomically: true, encoding: .utf8)
        let identity = HTTPServerConfiguration.Identity(
            certificateChain: certificate.certificatePEM, privateKey: certificate.privateKeyPEM)
        let server = try ReceivingServer(identity: identity, Self.taken)
        let bench = try CallbackBench([try server.receiver("orders", scheme: "https")], caFile: path)
        try bench.publish(0..<50)
        #expect(eventually { server.count >= 50 })
        bench.stop()
        #expect(server.calls.withLock { $0.allSatisfy(\.isSecure) })
    }

    @Test func oneThatHangsCostsTheOthersNothing() throws {
        let hangs = Box(true)
        let hanging = try ReceivingServer { _ in hangs.withLock { $0 } ? nil : HTTPServerResponse(status: 204) }
        let server = try ReceivingServer(Self.taken)
        var slow = try hanging.receiver("slow")
        slow.timeout = 600_000
        let bench = try CallbackBench([slow, try server.receiver("orders")])
        try bench.publish(0..<2_000)
        #expect(eventually { server.count >= 2_000 && bench.position(of: "orders") == 2_000 })
        #expect(hanging.count <= 16)
        #expect(bench.position(of: "slow") ?? 0 == 0)
        hangs.withLock { $0 = false }
        hanging.answerHeld()
        bench.stop()
    }

    @Test func whoAnswers410GetsNothingUntilItIsResumed() throws {
        let isGone = Box(true)
        let server = try ReceivingServer { _ in HTTPServerResponse(status: isGone.withLock { $0 } ? 410 : 200) }
        let bench = try CallbackBench([try server.receiver("orders")])
        try bench.publish(0..<1)
        #expect(eventually { bench.states.states["orders"]?.disabledAt != nil })
        #expect(eventually { bench.status.contains(#""state":"disabled""#) })
        try bench.publish(1..<10)
        isGone.withLock { $0 = false }
        #expect(server.count == 1)
        let disabled = try #require(bench.states.states["orders"])
        bench.states.decide(ReceiverState(paused: false, at: disabled.at + 1), of: "orders")
        #expect(eventually { bench.position(of: "orders") == 10 })
        bench.stop()
        #expect(server.count == 11)
    }

    @Test func a410CountsThoughTheClockOfWhoResumedIsAhead() throws {
        let server = try ReceivingServer { _ in HTTPServerResponse(status: 410) }
        let bench = try CallbackBench([try server.receiver("orders")])
        let ahead = WallClock.millisecondsSince1970() + 3_600_000
        bench.states.decide(ReceiverState(paused: true, at: ahead), of: "orders")
        #expect(eventually { bench.status.contains(#""state":"paused""#) })
        bench.states.decide(ReceiverState(paused: false, at: ahead + 1), of: "orders")
        try bench.publish(0..<1)
        #expect(eventually { bench.states.states["orders"]?.disabledAt != nil })
        let disabled = try #require(bench.states.states["orders"])
        #expect(disabled.at == ahead + 2 && disabled.disabledAt.map { $0 < ahead } ?? false)
        #expect(eventually { bench.status.contains(#""state":"disabled""#) })
        bench.stop()
        #expect(server.count == 1)
    }

    @Test func whoIsPausedIsNotCalled() throws {
        let server = try ReceivingServer(Self.taken)
        let other = try ReceivingServer(Self.taken)
        let bench = try CallbackBench([try server.receiver("orders"), try other.receiver("others")])
        bench.states.decide(ReceiverState(paused: true, at: 1), of: "orders")
        #expect(eventually { bench.status.contains(#""state":"paused""#) })
        try bench.publish(0..<20)
        #expect(eventually { other.count == 20 })
        #expect(server.count == 0)
        bench.states.decide(ReceiverState(paused: false, at: 2), of: "orders")
        #expect(eventually { server.count == 20 })
        bench.stop()
    }

    @Test func whatIsNotTakenInTimeBecomesADeadLetter() throws {
        let server = try ReceivingServer { request in
            HTTPServerResponse(status: request.headers["webhook-id"] == "r0-3" ? 422 : 200)
        }
        var receiver = try server.receiver("orders")
        receiver.giveUpAfter = 1
        let bench = try CallbackBench([receiver])
        try bench.publish(0..<10)
        #expect(eventually { bench.position(of: "orders") == 10 })
        bench.stop()
        let letters = bench.letters.all.withLock { $0 }
        #expect(letters.map(\.resultID) == ["r0-3"] && letters.map(\.status) == [422] && letters.map(\.reason) == ["gave_up"])
        #expect(letters.first?.receiver == "orders" && letters.first?.offset == 3)
        #expect(bench.metrics.deadLetters.series(["orders"]).value == 1)
        #expect(bench.metrics.taken.series(["orders"]).value == 9)
    }

    @Test func aDeadLetterThatCannotBeWrittenIsToldAndWrittenLater() throws {
        let server = try ReceivingServer { _ in HTTPServerResponse(status: 422) }
        var receiver = try server.receiver("orders")
        receiver.giveUpAfter = 1
        let bench = try CallbackBench([receiver])
        bench.letters.problem.withLock { $0 = "no room on the disk" }
        try bench.publish(0..<1)
        let check = { bench.health.report(.ready, now: 0).checks.first { $0.name == "deadletters" } }
        #expect(eventually { check()?.lack == "no room on the disk" })
        #expect(check()?.reason == nil, "results are read and called all the same")
        #expect(bench.position(of: "orders") ?? 0 == 0)
        bench.letters.problem.withLock { $0 = nil }
        #expect(eventually { bench.position(of: "orders") == 1 && check()?.lack == nil })
        bench.stop()
        #expect(bench.letters.all.withLock { $0.map(\.resultID) } == ["r0-0"])
    }

    @Test func nobodyIsCalledInside() throws {
        let server = try ReceivingServer(Self.taken)
        let bench = try CallbackBench([try server.receiver("orders")], allowing: [])
        try bench.publish(0..<5)
        #expect(eventually { bench.status.contains("address_refused") })
        bench.stop()
        #expect(server.count == 0)
        #expect(bench.position(of: "orders") ?? 0 == 0)
    }

    @Test func nobodyIsCalledOverAnOpenConnectionOnceThatIsForbidden() throws {
        let server = try ReceivingServer(Self.taken)
        let bench = try CallbackBench([try server.receiver("orders")])
        try bench.publish(0..<5)
        #expect(eventually { bench.position(of: "orders") == 5 })
        bench.receivers.withLock { $0.allowedNetworks = [] }
        // A receiver that comes in the same file shows that the file was taken in.
        let second = try server.receiver("second")
        bench.receivers.withLock { $0.receivers.append(second) }
        #expect(eventually { bench.status.contains(#""name":"second""#) })
        try bench.publish(5..<10)
        #expect(eventually { bench.status.ranges(of: "address_refused").count == 2 })
        bench.stop()
        #expect(server.count == 5 && bench.position(of: "orders") == 5)
    }

    @Test func redirectsAreNotFollowedAndLongAnswersDoNoHarm() throws {
        let other = try ReceivingServer(Self.taken)
        let server = try ReceivingServer { request in
            guard request.headers["webhook-id"] != "r0-0" else {
                return HTTPServerResponse(status: 302, headers: ["Location": "http://127.0.0.1:\(other.port)/"])
            }
            return HTTPServerResponse(status: 200, body: [UInt8](repeating: 0x20, count: 1_000_000))
        }
        var receiver = try server.receiver("orders")
        receiver.giveUpAfter = 1
        let bench = try CallbackBench([receiver])
        try bench.publish(0..<5)
        #expect(eventually { bench.position(of: "orders") == 5 })
        bench.stop()
        #expect(other.count == 0)
        #expect(bench.letters.all.withLock { $0.map(\.status) } == [302])
    }

    @Test func theFileIsFollowedWhileResultsCome() throws {
        let (first, second) = (try ReceivingServer(Self.taken), try ReceivingServer(Self.taken))
        let bench = try CallbackBench([try first.receiver("old"), try first.receiver("moved")])
        try bench.publish(0..<10)
        #expect(eventually { bench.position(of: "old") == 10 && bench.position(of: "moved") == 10 })
        let changed = [try second.receiver("moved"), try second.receiver("new")]
        bench.receivers.withLock { $0.receivers = changed }
        #expect(eventually { bench.status.contains(#""name":"new""#) && !bench.status.contains(#""name":"old""#) })
        try bench.publish(10..<20)
        #expect(eventually { bench.position(of: "moved") == 20 && bench.position(of: "new") == 20 })
        bench.stop()
        #expect(bench.position(of: "old") == 10)
        #expect(first.count == 20 && second.count == 30)
    }

    @Test func onlyWhatIsWantedComes() throws {
        let server = try ReceivingServer(Self.taken)
        var receiver = try server.receiver("orders")
        receiver.sources = ["shop"]
        let bench = try CallbackBench([receiver])
        try bench.publish(0..<10, source: "other")
        try bench.publish(10..<15)
        #expect(eventually { bench.position(of: "orders") == 15 })
        bench.stop()
        #expect(server.ids.sorted() == (10..<15).map { "r0-\($0)" })
    }

    @Test func whatIsNotWantedAnyMoreDoesNotComeFromMemory() throws {
        let isAway = Box(true)
        let server = try ReceivingServer { _ in HTTPServerResponse(status: isAway.withLock { $0 } ? 503 : 204) }
        var receiver = try server.receiver("orders")
        let bench = try CallbackBench([receiver])
        try bench.publish(0..<5, source: "other")
        try bench.publish(5..<10)
        #expect(eventually { bench.status.contains(#""last_failure":"status 503""#) })
        receiver.sources = ["shop"]
        bench.receivers.withLock { [receiver] in $0.receivers = [receiver] }
        #expect(eventually { bench.position(of: "orders") == 5 })
        let before = server.count
        isAway.withLock { $0 = false }
        #expect(eventually { bench.position(of: "orders") == 10 })
        bench.stop()
        #expect(Set(server.ids.dropFirst(before)) == Set((5..<10).map { "r0-\($0)" }))
    }

    @Test func whatIsSentOnceMoreGoesToItsReceiverAlone() throws {
        let (server, other) = (try ReceivingServer(Self.taken), try ReceivingServer(Self.taken))
        let bench = try CallbackBench([try server.receiver("orders"), try other.receiver("others")])
        bench.replays.append(try sample(0, key: "orders"))
        bench.replays.append(try sample(1, key: "others"))
        #expect(eventually { server.count == 1 && other.count == 1 })
        bench.stop()
        #expect(server.ids == ["r0-0"] && other.ids == ["r0-1"])
    }

    @Test func partitionsAreGivenBackWithTheirPositionsAndNothingComesTwice() throws {
        let server = try ReceivingServer(Self.taken)
        let positions = CallbackBench.Positions()
        let bench = try CallbackBench([try server.receiver("orders")], positions: positions)
        try bench.publish(0..<100)
        #expect(eventually { server.count == 100 })
        bench.give([])
        #expect(bench.position(of: "orders") == 100)
        try bench.publish(100..<150)
        bench.give(CallbackBench.partitions)
        #expect(eventually { server.count >= 150 })
        bench.stop()
        #expect(server.count == 150 && bench.position(of: "orders") == 150)
    }

    @Test func theEndWaitsForCallsInFlightAndBeginsNoMore() throws {
        let server = try ReceivingServer { _ in nil }
        var receiver = try server.receiver("orders")
        receiver.inFlight = 4
        let bench = try CallbackBench([receiver])
        try bench.publish(0..<100)
        #expect(eventually { server.count == 4 })
        bench.askToStop()
        server.answerHeld()
        bench.stop()
        #expect(server.count == 4 && bench.position(of: "orders") == 4)
    }

    @Test func whatRetentionTookIsCountedAndTheRestComes() throws {
        let server = try ReceivingServer(Self.taken)
        let positions = CallbackBench.Positions()
        try positions.save("orders", at: [TopicPartition(topic: CallbackBench.topics.results, partition: 0): 0])
        let bench = try CallbackBench([], positions: positions)
        try bench.publish(0..<100)
        bench.results.remove(before: 60, of: 0)
        let receiver = try server.receiver("orders")
        bench.receivers.withLock { $0.receivers = [receiver] }
        #expect(eventually { bench.position(of: "orders") == 100 })
        bench.stop()
        #expect(server.count == 40)
        #expect(bench.metrics.lost.series(["orders"]).value == 60)
    }
}
