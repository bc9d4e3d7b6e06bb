import Foundation
import HubEmulator
import Observability
import PushModel
import Settings
import TestSupport
import Testing
import WorkerRuntime

@testable import Console

/// What telemetry tells of calls, from a worker's own results to what a person sees of them and a replay repeats.
@Suite(.needsKafka, .serialized)
struct OutcomeReplayTests {
    /// What the hub tells of the call to a platform of each request.
    private static let scripts = [
        "state=Completed,apple.PnsUnavailable=1,tags=unavailable", "state=Abandoned,tags=abandoned",
        "state=NoTargetFound,tags=nobody",
        "state=Completed,apple.Success=1,tags=reached", "state=Completed,apple.Success=1,apple.Throttled=1,tags=some",
        "state=Completed,windows.ChannelThrottled=1,tags=both,format=windows", "state=Completed,apple.Success=2,tags=both",
    ]

    /// A worker that follows the outcome of every call, on a thread of its own.
    private static func startWorker(
        _ stage: ReplayStage, _ hub: EmulatedHub, _ clock: WorkerClock
    ) throws -> (worker: Worker, ended: DispatchSemaphore) {
        var environment = stage.harness.environment
        environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString
        environment["PUSHFAN_HUB_NAME"] = "demo"
        environment["PUSHFAN_HUB_TRACK_OUTCOME"] = "true"
        environment["PUSHFAN_KAFKA_GROUP_ID"] = stage.name
        environment["PUSHFAN_WORKER_ID"] = stage.name
        let settings = try Settings.load(
            flags: [], configPath: nil, environment: environment, hostName: "host", readFile: { _ in [] })
        let metrics = PushfanMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
        let log = Log(format: .json, level: .error, now: { 0 }, sink: { _ in })
        var services = WorkerServices(metrics: metrics, log: log, health: Health())
        services.clock = clock
        let worker = try Worker(try settings.workerConfiguration(version: "test"), services: services)
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            try? worker.run()
            ended.signal()
        }
        thread.start()
        return (worker, ended)
    }

    @Test func whatTelemetryTellsIsShownGroupedAndReplayed() throws {
        let stage = try ReplayStage(["delay-10s", "requests-high", "requests-bulk", "handles", "parents"])
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        let clock = WorkerClock()
        let hub = try EmulatedHub(configuration, clock: { clock.millisecondsSince1970 })
        _ = try hub.start()
        defer { hub.stop() }
        hub.script(try Self.scripts.map { try TelemetryScript(parsing: $0) })
        let (worker, ended) = try Self.startWorker(stage, hub, clock)
        defer {
            worker.stop()
            _ = ended.wait(timeout: .now() + 300)
        }
        try stage.write(
            "requests",
            ["unavailable", "abandoned", "nobody", "reached", "some", "both"].map { name in
                let platforms = name == "both" ? #""apple","windows""# : #""apple""#
                return (
                    0,
                    #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":[\#(platforms)],"message":{"title":"T"}}"#
                )
            })
        // Six final results, and one outcome for each of seven calls.
        #expect(
            try eventually {
                clock.advance(by: .seconds(1))
                return try stage.read("results").count >= 13
            })

        let failed = stage.harness.run("failed -o ndjson")
        #expect(failed.lines.count == 4, "\(failed.output)")
        #expect(
            failed.lines.contains {
                $0.hasPrefix(#"{"count":2,"#) && $0.contains(#""code":"devices_refused","hub":"demo","platforms":["apple"]"#)
            })
        #expect(
            failed.lines.contains {
                $0.hasPrefix(#"{"count":1,"#) && $0.contains(#""code":"hub_abandoned""#) && $0.contains(#"{"ambiguous":1}"#)
            })
        #expect(
            failed.lines.contains {
                $0.hasPrefix(#"{"count":1,"#) && $0.contains(#""code":"no_target""#) && $0.contains(#"{"pointless":1}"#)
            })
        let shown = stage.harness.run("results show some").output
        #expect(shown.contains("outcome    Completed; apple: Success 1, Throttled 1; devices_refused"), "\(shown)")
        #expect(shown.contains("state    reached_some (") && shown.contains("replay   duplicate_risk"))

        let plan = stage.replay("plan --reason outage --file PLAN -o json")
        let expected = ["eligible": 2, "requests": 2, "calls": 2, "ambiguous": 1, "no_target": 1, "delivered": 1]
        for (name, count) in expected { #expect(stage.count(name, plan) == count, "\(name): \(plan.output)") }
        #expect(stage.count("requests", stage.replay("plan --reason outage --include-ambiguous --file PLAN -o json")) == 3)
        #expect(stage.replay("plan --reason outage --file PLAN").code == .done)
        hub.script([])
        #expect(stage.replay("run PLAN --reason telemetry").code == .done)
        let new = try stage.replayed(atLeast: 2).map(\.value)
        #expect(new.count == 2)
        #expect(new.contains { $0.contains(#""parent_request_id":"both""#) && $0.contains(#""sends":[1]"#) })
        #expect(new.contains { $0.contains(#""parent_request_id":"unavailable""#) })
        // The replays have results of their own, and outcomes in turn.
        #expect(
            try eventually {
                clock.advance(by: .seconds(1))
                return try stage.read("results").count >= 17
            })
        let outcomes = try stage.read("results").map(\.value).filter {
            $0.contains(#""kind":"outcome""#) && $0.contains("\"replay\":{")
        }
        #expect(outcomes.count == 2 && outcomes.allSatisfy { $0.contains(#""reason":"telemetry""#) })
    }
}
