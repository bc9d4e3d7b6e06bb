import Delivery
import Foundation
import HubAuth
import HubEmulator
import HubREST
import HubServer
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// A worker that asks its hubs whether they are there, and is not ready on a guess. Nothing is sent for it.
@Suite(.tags(.threads))
struct StandingTests {
    private static func asks(_ configuration: inout WorkerConfiguration) { configuration.checksHubs = true }

    /// The same with a key that the hub does not know.
    private static func asksWithAWrongKey(_ configuration: inout WorkerConfiguration) {
        asks(&configuration)
        let policy = configuration.hub.credential.policy
        configuration.hub.credential = SASCredential(policy: policy, key: SecretKey("d3JvbmcgY2FuYXJ5IGtleQ=="))
    }

    private static func reason(_ worker: RunningWorker) -> String? {
        worker.report(.ready).checks.first { $0.name == "hub" }?.reason
    }

    private static func trouble(_ bench: Bench) -> String? { bench.status.statuses.first?.hubs.first?.problem }

    private static func request(_ name: String) -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}}"#
    }

    @Test func aWorkerIsNotReadyBeforeItsHubHasAnswered() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker(change: Self.asks)
        let isAsked = eventually { Self.reason(worker)?.contains("the hub demo is being asked") == true }
        #expect(isAsked && !worker.report(.ready).passes)
        bench.gate.open()
        #expect(eventually { worker.report(.ready).passes })
        try worker.stop()
        #expect(bench.tags.isEmpty && bench.hub.rungCount == 0)
    }

    @Test func aHubThatKeepsSilentIsNamedOnceAndSoIsItsAnswer() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker(change: Self.asks)
        func count(_ words: String) -> Int { bench.logLines.all.count { $0.contains(words) } }
        #expect(eventually { Self.reason(worker)?.contains("the hub demo is being asked") == true })
        // Longer than silence may last, and shorter than the question itself.
        bench.clock.advance(by: .seconds(2))
        #expect(eventually { count("the hub has not answered yet; waiting") == 1 })
        bench.gate.open()
        #expect(eventually { worker.report(.ready).passes && count("the hub works") == 1 })
        try worker.stop()
        #expect(count("the hub has not answered yet; waiting") == 1)
    }

    @Test func aWrongKeyIsToldWithoutACallAndAReloadWithAGoodOneMends() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker(change: Self.asksWithAWrongKey)
        let sentence = "the hub demo refuses the key: 401"
        #expect(eventually { Self.reason(worker)?.hasPrefix(sentence) == true })
        #expect(eventually { Self.trouble(bench)?.hasPrefix(sentence) == true })
        #expect(!worker.report(.ready).passes && worker.report(.live).passes)
        #expect(bench.logLines.all.contains { $0.contains("hub_unauthorized") && $0.contains("refuses the key") })
        #expect(!bench.logLines.all.contains { $0.contains("d3JvbmcgY2FuYXJ5") })
        try worker.reload(try bench.workerConfiguration(change: Self.asks))
        #expect(eventually { worker.report(.ready).passes })
        #expect(eventually { bench.status.statuses.first?.hubs.count == 1 && Self.trouble(bench) == nil })
        try worker.stop()
        #expect(bench.tags.isEmpty)
    }

    private static let names = (0..<6).map { "r\($0)" }

    /// Whether each of the requests was sent, by its first call.
    private static func areSentAtOnce(_ bench: Bench) throws -> Bool {
        let results = try bench.resultsByRequest()
        return Set(results.keys) == Set(names) && results.values.allSatisfy { $0.summary == "sent success - 1" }
    }

    @Test func aWorkerWithAWrongKeyLeavesRequestsToOneWithAGoodKey() throws {
        let bench = try Bench(.quickest, partitions: 2)
        let bad = try bench.startWorker("bad", change: Self.asksWithAWrongKey)
        #expect(eventually { Self.reason(bad)?.contains("refuses the key: 401") == true })
        let good = try bench.startWorker("good", change: Self.asks)
        try bench.publish(all: Self.names.map(Self.request))
        try bench.results(Self.names.count)
        #expect(!bad.report(.ready).passes && good.report(.ready).passes)
        try bad.stop()
        try good.stop()
        #expect(try Self.areSentAtOnce(bench))
    }

    @Test func whereNoWorkerHasAGoodKeyRequestsWaitForOne() throws {
        let bench = try Bench(.quickest, partitions: 2)
        try bench.publish(all: Self.names.map(Self.request))
        let worker = try bench.startWorker(change: Self.asksWithAWrongKey)
        #expect(eventually { Self.reason(worker)?.contains("refuses the key: 401") == true })
        try worker.reload(try bench.workerConfiguration(change: Self.asks))
        try bench.results(Self.names.count)
        try worker.stop()
        #expect(try Self.areSentAtOnce(bench))
    }

    @Test func aReloadWithAWrongKeyEndsNoRequest() throws {
        let bench = try Bench(.quickest, partitions: 2)
        let worker = try bench.startWorker(change: Self.asks)
        #expect(eventually { worker.report(.ready).passes })
        try worker.reload(try bench.workerConfiguration(change: Self.asksWithAWrongKey))
        #expect(eventually { Self.reason(worker)?.contains("refuses the key: 401") == true })
        try bench.publish(all: Self.names.map(Self.request))
        #expect(
            eventually {
                bench.status.statuses.first?.hubs.contains { $0.waitingForTurn == Self.names.count } == true
            })
        try worker.reload(try bench.workerConfiguration(change: Self.asks))
        try bench.results(Self.names.count)
        try worker.stop()
        #expect(try Self.areSentAtOnce(bench))
    }

    @Test func ofSeveralHubsTheOneThatRefusesItsKeyHoldsUpNoOther() throws {
        let bench = try Bench(.quickest, partitions: 2)
        let other = try FurtherHub("other")
        func settings(_ base: (inout WorkerConfiguration) -> Void) throws -> WorkerConfiguration {
            try bench.workerConfiguration { configuration in
                base(&configuration)
                configuration.hubs.append(try other.settings())
            }
        }
        let worker = try bench.startWorker { $0 = try settings(Self.asksWithAWrongKey) }
        try bench.publish(all: Self.names.map(Self.request))
        let others = Self.names.map { Self.request("o" + $0).replacing("{\"id\"", with: "{\"hub\":\"other\",\"id\"") }
        try bench.publish(all: others)
        try bench.results(others.count)
        #expect(Set(other.tags) == Set(Self.names.map { "o" + $0 }) && bench.tags.isEmpty)
        try worker.reload(try settings(Self.asks))
        try bench.results(others.count + Self.names.count)
        try worker.stop()
        #expect(try bench.resultsByRequest().values.allSatisfy { $0.summary == "sent success - 1" })
    }

    @Test func aReloadWithAWrongKeyIsTold() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker(change: Self.asks)
        #expect(eventually { worker.report(.ready).passes })
        try worker.reload(
            try bench.workerConfiguration { configuration in
                Self.asks(&configuration)
                configuration.hub.credential = SASCredential(policy: "nobody", key: SecretKey("d3JvbmcgY2FuYXJ5IGtleQ=="))
            })
        #expect(eventually { Self.reason(worker)?.contains("refuses the key: 401") == true })
        try worker.stop()
    }

    @Test func aHubThatDoesNotExistIsTold() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker { configuration in
            Self.asks(&configuration)
            let hub = configuration.hub
            configuration.hub = HubConfiguration(
                endpoint: hub.endpoint, hub: try HubName("nowhere"), credential: hub.credential)
        }
        #expect(eventually { Self.reason(worker)?.contains("there is no such hub in this namespace: 404") == true })
        #expect(eventually { Self.trouble(bench)?.contains("there is no such hub") == true })
        try worker.stop()
    }

    @Test(arguments: [
        ("status=503", "answers 503"), ("reset=before", "does not answer"), ("status=401", "refuses the key: 401"),
    ])
    func anIdleWorkerBecomesReadyByItselfWhenItsHubWorksAgain(trouble: String, words: String) throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: trouble)])
        let worker = try bench.startWorker(change: Self.asks)
        #expect(eventually { Self.reason(worker)?.contains(words) == true })
        bench.hub.arm([])
        #expect(bench.passTime(by: .milliseconds(500)) { worker.report(.ready).passes })
        try worker.stop()
        #expect(bench.tags.isEmpty)
    }

    @Test func aRefusedKeyIsAStateThatEndsByItselfWhenTheHubTakesItAgain() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker(change: Self.asks)
        #expect(eventually { worker.report(.ready).passes })
        bench.hub.arm([try Fault(parsing: "status=401")])
        try bench.publish(Self.request("refused"))
        try bench.results(1)
        #expect(bench.passTime(by: .milliseconds(200)) { bench.metric("pushfan_hub_key_refused") == 1 })
        #expect(eventually { !worker.report(.ready).passes })
        bench.hub.arm([])
        // Nothing is published meanwhile.
        #expect(bench.passTime(by: .milliseconds(200)) { bench.metric("pushfan_hub_key_refused") == 0 })
        #expect(eventually { worker.report(.ready).passes })
        try worker.stop()
        #expect(try bench.resultsByRequest()["refused"]?.summary == "failed auth hub_unauthorized 2")
    }

    /// What has the answers of a stranger, or no right to ask, is no hub in trouble.
    @Test(arguments: [
        (SASRights.send, "", nil as String?), (.listen, "", "lacks a right"), (.all, "status=405", "tells nothing: 405"),
    ])
    func whatIsNotKnownIsNoReasonToBeNotReady(rights: SASRights, fault: String, warning: String?) throws {
        let bench = try Bench(.quickest, partitions: 1) {
            $0.policies = [HubPolicy(name: "only", key: "b25seS1rZXktb2YtdGhlLWh1Yg==", rights: rights)]
        }
        if !fault.isEmpty { bench.hub.arm([try Fault(parsing: fault)]) }
        let worker = try bench.startWorker(change: Self.asks)
        #expect(eventually { worker.report(.ready).passes })
        try worker.stop()
        let warnings = bench.logLines.all.filter { $0.contains("it is not known whether the hub works") }
        #expect(warnings.count == (warning == nil ? 0 : 1))
        if let warning { #expect(warnings.first?.contains(warning) == true) }
    }

    @Test func anOpenCircuitIsNotReadyAndAnIdleWorkerClosesItByQuestions() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker { configuration in
            Self.asks(&configuration)
            configuration.retry.maxAttempts = 1
        }
        #expect(eventually { worker.report(.ready).passes })
        bench.hub.arm([try Fault(parsing: "status=503")])
        let names = (0..<30).map { "r\($0)" }
        try bench.publish(all: names.map(Self.request))
        #expect(eventually { Self.reason(worker)?.contains("the circuit of the hub demo is open") == true })
        #expect(eventually { Self.trouble(bench)?.contains("the circuit of the hub demo is open") == true })
        let areOver = bench.passTime(by: .milliseconds(500)) {
            bench.metric("pushfan_requests_finished_total") >= Double(names.count)
        }
        #expect(areOver && !worker.report(.ready).passes)
        // Nothing is left to be sent: without a question the circuit would stay open until somebody publishes.
        let sent = bench.tags.count
        bench.hub.arm([])
        #expect(bench.passTime(by: .milliseconds(500)) { worker.report(.ready).passes })
        #expect(eventually { bench.status.statuses.first?.circuit == "closed" && Self.trouble(bench) == nil })
        #expect(bench.tags.count == sent)
        try worker.stop()
    }
}
