import CurlHTTP
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

/// What the hub and the network do to calls, and what becomes of them.
@Suite(.serialized)
struct FaultTests {
    /// One request, named for its tag, with the faults that meet it and what its result must say.
    private struct Trial {
        var name: String
        var faults: [String] = []
        var options = ""
        var fields = ""
        /// State, outcome, code, attempts.
        var summary: String
        var rungCount: Int
        var safety: String?
    }

    private static let trials: [Trial] = [
        Trial(name: "fine", summary: "sent success - 1", rungCount: 1),
        Trial(name: "twice500", faults: ["status=500,count=2"], summary: "sent success - 3", rungCount: 1),
        Trial(
            name: "always500", faults: ["status=500"], summary: "failed transient hub_unavailable 4", rungCount: 0, safety: "safe"
        ),
        Trial(
            name: "own-attempts", faults: ["status=500"], options: #""max_attempts":2"#,
            summary: "failed transient hub_unavailable 2", rungCount: 0),
        Trial(name: "once401", faults: ["status=401,count=1"], summary: "sent success - 2", rungCount: 1),
        Trial(name: "bare403", faults: ["status=403"], summary: "failed auth hub_forbidden 1", rungCount: 0, safety: "safe"),
        Trial(
            name: "gone404", faults: ["status=404"], summary: "failed transient hub_not_found 4", rungCount: 0,
            safety: "safe"),
        Trial(name: "soon404", faults: ["status=404,count=2"], summary: "sent success - 3", rungCount: 1),
        Trial(
            name: "proxy407", faults: ["status=407"], summary: "failed permanent response_invalid 1", rungCount: 0,
            safety: "safe"),
        Trial(
            name: "big413", faults: ["status=413"], summary: "failed payload payload_too_large 1", rungCount: 0,
            safety: "pointless"),
        Trial(name: "html500", faults: ["status=500,body=html,count=1"], summary: "sent success - 2", rungCount: 1),
        Trial(name: "empty400", faults: ["status=400,body=empty"], summary: "failed payload payload_rejected 1", rungCount: 0),
        Trial(name: "json502", faults: ["status=502,body=json,count=1"], summary: "sent success - 2", rungCount: 1),
        Trial(
            name: "odd202", faults: ["status=202"], summary: "failed ambiguous response_invalid 1", rungCount: 0,
            safety: "ambiguous"),
        Trial(
            name: "page200", faults: ["status=200,body=html"], summary: "failed ambiguous response_invalid 1", rungCount: 0,
            safety: "ambiguous"),
        Trial(
            name: "page201-once", faults: ["status=201,body=html,count=1"], options: #""on_ambiguous":"retry""#,
            summary: "sent success - 2", rungCount: 1),
        Trial(name: "once421", faults: ["status=421,count=1"], summary: "sent success - 2", rungCount: 1),
        Trial(name: "once425", faults: ["status=425,count=1"], summary: "sent success - 2", rungCount: 1),
        Trial(
            name: "gone499", faults: ["status=499"], summary: "failed ambiguous hub_unavailable 1", rungCount: 0,
            safety: "ambiguous"),
        Trial(
            name: "cut", faults: ["truncate"], options: #""test_send":true"#,
            summary: "failed ambiguous hub_unavailable 1", rungCount: 1, safety: "ambiguous"),
        Trial(
            name: "lost-before", faults: ["reset=before"], summary: "failed ambiguous hub_unavailable 1", rungCount: 0,
            safety: "ambiguous"),
        Trial(
            name: "lost-after", faults: ["reset=after"], summary: "failed ambiguous hub_unavailable 1", rungCount: 1,
            safety: "ambiguous"),
        Trial(
            name: "lost-again", faults: ["reset=after,count=1"], options: #""on_ambiguous":"retry""#,
            summary: "sent success - 2", rungCount: 2),
        Trial(
            name: "lost-then-500", faults: ["reset=after,count=1", "status=500"], options: #""on_ambiguous":"retry""#,
            summary: "failed ambiguous hub_unavailable 4", rungCount: 1, safety: "ambiguous"),
        Trial(
            name: "lost-then-400", faults: ["reset=before,count=1", "status=400,body=empty"], options: #""on_ambiguous":"retry""#,
            summary: "failed ambiguous payload_rejected 2", rungCount: 0, safety: "ambiguous"),
        Trial(name: "hangs", faults: ["hang"], summary: "failed ambiguous hub_timeout 1", rungCount: 0, safety: "ambiguous"),
        Trial(
            name: "expired", fields: #","expires_at":"2020-01-01T00:00:00Z""#, summary: "expired expired expired_in_queue 0",
            rungCount: 0, safety: "pointless"),
        Trial(
            name: "expires", faults: ["status=500,retry-after=6000"], fields: #","ttl_seconds":3000"#,
            summary: "expired expired expired_in_queue 1", rungCount: 0, safety: "pointless"),
    ]

    private func register(_ trial: String, on hub: EmulatedHub) throws {
        try hub.register(EmulatedDevice(id: trial, platform: "fcmV1", handle: "device-\(trial)", tags: [trial]))
    }

    private static func request(_ trial: Trial) -> String {
        request(trial.name, options: trial.options, fields: trial.fields)
    }

    private static func request(_ name: String, options: String = "", fields: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["fcmv1"],"message":{"title":"T"},"options":{\#(options)}\#(fields)}"#
    }

    private static func quick(_ configuration: inout WorkerConfiguration) {
        configuration.retry.base = 30
        configuration.requestTimeout = .seconds(600)
    }

    @Test func everyFaultHasItsOutcome() throws {
        let bench = try Bench(.quickest)
        for trial in Self.trials { try register(trial.name, on: bench.hub) }
        bench.hub.arm(
            try Self.trials.flatMap { trial in try trial.faults.map { try Fault(parsing: "\($0),tags=\(trial.name)") } })
        try bench.publish(all: Self.trials.map(Self.request))
        let worker = try bench.startWorker(change: Self.quick)
        try bench.results(Self.trials.count - 1)
        // The one that hangs.
        bench.clock.advance(by: .seconds(610))
        try bench.results(Self.trials.count)
        try worker.stop()
        let results = try bench.resultsByRequest()
        for trial in Self.trials {
            #expect(results[trial.name]?.summary == trial.summary, "\(trial.name)")
            #expect(bench.hub.devices(tag: trial.name).first?.rungCount == trial.rungCount, "\(trial.name) rings")
            if let safety = trial.safety { #expect(results[trial.name]?["replay_safety"] == safety, "\(trial.name)") }
        }
        let (early, late): (String?, String?) = (
            results["empty400"]?["error.message"], results["lost-then-400"]?["error.message"]
        )
        #expect(early != nil && early == late, "what the lost attempt said is not the reason")
        let attempts: [[String: Any]]? = results["twice500"]?["attempts"]
        #expect(attempts?.map { $0["http_status"] as? Int } == [500, 500, 201])
        #expect(attempts?.prefix(2).allSatisfy { $0["backoff_ms"] is Int } == true)
        #expect(bench.metric("pushfan_retries_scheduled_total", #"reason="hub_unavailable""#) > 5)
        #expect(bench.metric("pushfan_sends_total", #"code="413""#) == 1)
        #expect(bench.metric("pushfan_sends_total", #"code="timeout""#) == 1)
        #expect(bench.metric("pushfan_records_rejected_total", #"reason="expired""#) == 1)
    }

    @Test(arguments: [
        "throttle,retry-after=9,count=1", "status=403,retry-after=9,count=1", "status=503,retry-after-date=10,count=1",
    ])
    func retryAfterPausesTheWholeHub(_ fault: String) throws {
        let bench = try Bench(.quickest, partitions: 1)
        for name in ["first", "second", "third"] { try register(name, on: bench.hub) }
        bench.hub.arm([try Fault(parsing: fault)])
        let worker = try bench.startWorker { configuration in
            Self.quick(&configuration)
            configuration.maxInFlight = 1
        }
        try bench.publish(all: ["first", "second", "third"].map { Self.request($0) })
        #expect(eventually { bench.hasRetries })
        bench.clock.advance(by: .seconds(12))
        try bench.results(3)
        try worker.stop()
        let calls = bench.hub.calls()
        let results = try bench.resultsByRequest()
        #expect(calls.count == 4)
        let refused = try #require(calls.first)
        #expect(calls.dropFirst().allSatisfy { $0.at - refused.at >= 8_990 }, "\(calls.map { $0.at - refused.at })")
        #expect(results["first"]?.summary == "sent success - 2")
        #expect(results["second"]?.summary == "sent success - 1")
        let waited: Int? = results["first"]?["timings.throttle_wait_ms"]
        #expect(waited ?? 0 >= 8_990)
        #expect(bench.metric("pushfan_throttled_seconds_total") >= 8.9)
    }

    @Test func aRefusedKeyIsFinalAndASecondOneTakesOver() throws {
        let spare = HubPolicy(name: "spare", key: "c3BhcmUta2V5LW9mLXRoZS1odWI=", rights: .all)
        let bench = try Bench(.quickest, partitions: 1) { $0.policies.append(spare) }
        try register("rotated", on: bench.hub)
        let wrong = SASCredential(policy: "spare", key: SecretKey("d3JvbmcgY2FuYXJ5IGtleQ=="))
        try bench.publish(all: [Self.request("refused"), Self.request("refused-too")])
        let first = try bench.startWorker { configuration in
            Self.quick(&configuration)
            configuration.hub.credential = wrong
        }
        try bench.results(2)
        #expect(first.report(.ready).checks.contains { $0.name == "hub" && $0.reason?.contains("401") == true })
        try first.stop()
        try bench.publish(Self.request("rotated"))
        let second = try bench.startWorker { configuration in
            Self.quick(&configuration)
            configuration.hub.credential = wrong
            configuration.hub.secondaryCredential = SASCredential(policy: spare.name, key: SecretKey(spare.key))
        }
        try bench.results(3)
        #expect(second.report(.ready).passes)
        try second.stop()
        let results = try bench.resultsByRequest()
        #expect(results["refused"]?.summary == "failed auth hub_unauthorized 2")
        #expect(results["rotated"]?.summary == "sent success - 3")
        #expect(!bench.logLines.all.contains { $0.contains("d3JvbmcgY2FuYXJ5IGtleQ") || $0.contains(spare.key) })
    }

    /// As when the first key is regenerated by the page: many calls are in flight with its token.
    @Test func aRegeneratedKeyIsNoTroubleWhileTheOtherWorks() throws {
        let spare = HubPolicy(name: "spare", key: "c3BhcmUta2V5LW9mLXRoZS1odWI=", rights: .all)
        let bench = try Bench(.quickest, partitions: 1) { $0.policies.append(spare) }
        let names = (0..<80).map { "n\($0)" }
        try bench.publish(all: names.map { Self.request($0) })
        let worker = try bench.startWorker { configuration in
            Self.quick(&configuration)
            configuration.maxInFlight = 16
            configuration.hub.credential = SASCredential(policy: "spare", key: SecretKey("d3JvbmcgY2FuYXJ5IGtleQ=="))
            configuration.hub.secondaryCredential = SASCredential(policy: spare.name, key: SecretKey(spare.key))
        }
        try bench.results(names.count)
        #expect(worker.report(.ready).passes)
        try worker.stop()
        #expect(try bench.resultsByRequest().values.allSatisfy { $0["state"] == "sent" })
        #expect(bench.metric("pushfan_sends_total", #"code="401""#) >= 2 && bench.metric("pushfan_hub_key_refused") == 0)
        func count(_ words: String) -> Int { bench.logLines.all.count { $0.contains(words) } }
        #expect(count("the hub refuses the first key; the second is used from now on") == 1)
        #expect(count("circuit opened") == 0 && count("does not accept the key") == 0)
    }

    @Test func aWrongKeyCostsFewRequestsHoweverManyMayBeInFlight() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=401")])
        try bench.publish(all: (0..<80).map { Self.request("n\($0)") })
        let worker = try bench.startWorker { configuration in
            Self.quick(&configuration)
            configuration.maxInFlight = 64
        }
        #expect(eventually { bench.logLines.all.contains { $0.contains("circuit opened") } })
        // Twenty in a row within 100 ms open the circuit, or five that take longer, with no call beside them. A probe may be another one.
        #expect(bench.metric("pushfan_requests_finished_total", #"outcome="auth""#) <= 21)
        worker.askToStop()
    }

    @Test func whatExpiresWhileTheHubIsPausedIsFinishedThen() throws {
        let bench = try Bench(.quickest, partitions: 1)
        // The time to live counts from the record's own, so the worker must be at work before the first one is written.
        try bench.publish(Self.request("before"))
        let worker = try bench.startWorker { $0.maxInFlight = 4 }
        try bench.results(1)
        bench.hub.arm([try Fault(parsing: "status=429,retry-after=600,count=1")])
        // A hub that has just accepted another call would not be paused.
        bench.clock.advance(by: .seconds(2))
        let fields = #","ttl_seconds":200"#
        try bench.publish(Self.request("throttled", fields: fields))
        // It would have to wait for longer than it lives.
        try bench.results(2)
        // More than are read while nothing may be sent.
        let behind = (0..<20).map { "behind-\($0)" }
        try bench.publish(all: behind.map { Self.request($0, fields: fields) })
        bench.clock.advance(by: .seconds(210))
        try bench.results(2 + behind.count)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["throttled"]?.summary == "expired expired expired_in_queue 1")
        #expect(Set(behind.compactMap { results[$0]?.summary }) == ["expired expired expired_in_queue 0"])
        #expect(bench.hub.calls().count == 2)
    }

    @Test func anOutageIsWaitedForAndNotStormed() throws {
        let bench = try Bench(.quickest, partitions: 2)
        bench.hub.arm([try Fault(parsing: "status=503")])
        let names = (0..<300).map { "n\($0)" }
        try bench.publish(all: names.map { Self.request($0) })
        let worker = try bench.startWorker {
            $0.maxInFlight = 8
            $0.requestTimeout = .seconds(3600)
        }
        let circuit = { (word: String) in bench.logLines.all.contains { $0.contains("circuit_changed") && $0.contains(word) } }
        #expect(eventually { circuit("open") && bench.metric("pushfan_inflight_sends") == 0 })
        // A probe now and then.
        for _ in 0..<2 {
            let before = bench.hub.calls().count
            bench.clock.advance(by: .seconds(6))
            #expect(eventually { bench.hub.calls().count > before })
        }
        bench.hub.arm([])
        #expect(bench.passTime(by: .milliseconds(50)) { circuit("closed") })
        bench.clock.advance(by: .seconds(10))
        try bench.results(names.count)
        #expect(eventually { bench.metric("pushfan_circuit_state") == 0 })
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == names.count)
        #expect(results.values.allSatisfy { $0["state"] == "sent" })
        // Twenty until it is known, those under way then, and at most a probe in three quarters of a second.
        let refused = bench.hub.calls().filter { $0.status == 503 }.map(\.at).sorted()
        let probes = try Int(#require(refused.last) - #require(refused.first)) / 750
        #expect(refused.count <= 20 + 8 + probes, "\(refused.count) calls in an outage, and at most \(probes) probes")
    }

    @Test func aHubThatRefusesConnectionsIsTransientAndNamedByHealth() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let closed = try EmulatedHub(
            {
                var configuration = HubEmulatorConfiguration()
                configuration.listen = "127.0.0.1:0"
                return configuration
            }())
        try closed.start()
        let endpoint = try ConnectionString(parsing: closed.connectionString).endpoint
        let port = try #require(UInt16(exactly: endpoint.effectivePort))
        closed.stop()
        try bench.publish(Self.request("nobody"))
        let worker = try bench.startWorker { configuration in
            Self.quick(&configuration)
            configuration.connections.port = port
        }
        let results = try bench.results(1)
        #expect(results.first?.summary == "failed transient connect_failed 4")
        #expect(results.first?["replay_safety"] == "safe")
        #expect(results.first?["attempts.0.bytes_sent"] == false)
        #expect(worker.report(.ready).checks.contains { $0.name == "hub" && $0.reason != nil })
        #expect(eventually { worker.report(.live).passes })
        try worker.stop()
        #expect(bench.hub.calls().isEmpty)
    }
}
