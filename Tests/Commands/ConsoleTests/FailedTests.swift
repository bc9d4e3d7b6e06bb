import PushModel
import TestSupport
import Testing

@testable import Console

@Suite(.serialized) struct FailedTests {
    private static func result(
        _ id: String, state: String, _ outcome: String, code: String?, safety: String, kind: String = "final"
    ) -> String {
        let error = code.map { #","error":{"code":"\#($0)","message":"m"}"# } ?? ""
        return #"{"request_id":"\#(id)","hub":"shop","kind":"\#(kind)","state":"\#(state)","outcome":"\#(outcome)","#
            + #""replay_safety":"\#(safety)"\#(error),"sends":[{"index":0,"platform":"apple","outcome":"\#(outcome)"}]}"#
    }

    private func broker() throws -> Broker {
        let broker = try Broker()
        try broker.writeResults(
            [
                Self.result("a", state: "sent", "success", code: nil, safety: "duplicate_risk"),
                Self.result("b", state: "failed", "throttled", code: "hub_throttled", safety: "safe"),
                Self.result("c", state: "failed", "ambiguous", code: "hub_throttled", safety: "ambiguous"),
                Self.result("d", state: "retrying", "throttled", code: "hub_throttled", safety: "safe", kind: "interim"),
                Self.result("e", state: "expired", "expired", code: "expired_in_queue", safety: "pointless"),
                Self.result("f", state: "duplicate", "duplicate", code: "duplicate", safety: "pointless"),
                Self.result("g", state: "failed", "transient", code: "unheard_of", safety: "safe"), "nonsense",
            ], at: 1_795_262_400_000)
        return broker
    }

    @Test func failuresAreGroupedByCauseWithTheirRemedy() throws {
        let broker = try broker()
        let failed = broker.harness.run("failed")
        #expect(failed.code == .done)
        #expect(
            failed.output == """
                OPEN  REPAIRING  REPAIRED  ERROR             HUB   PLATFORMS  FIRST SEEN                LAST SEEN                 REPLAY
                   2          0         0  hub_throttled     shop  apple      2026-11-21T12:00:00.000Z  2026-11-21T12:00:00.000Z  safe 1, ambiguous 1
                   1          0         0  expired_in_queue  shop  apple      2026-11-21T12:00:00.000Z  2026-11-21T12:00:00.000Z  pointless 1
                   1          0         0  unheard_of        shop  apple      2026-11-21T12:00:00.000Z  2026-11-21T12:00:00.000Z  safe 1

                hub_throttled     \(ErrorCode.hubThrottled.explanation.remedy)
                expired_in_queue  \(ErrorCode.expiredInQueue.explanation.remedy)

                """)
        #expect(failed.messages.hasPrefix("4 of 8 results failed: 4 open; "))
    }

    @Test(arguments: [
        (60, "OPEN  REPAIRED  ERROR             HUB   REPLAY"),
        (80, "OPEN  REPAIRING  REPAIRED  ERROR             HUB   REPLAY"),
    ])
    func aNarrowTerminalHasWhatMattersAndEveryLineFits(width: Int, heading: String) throws {
        let broker = try broker()
        var harness = broker.harness
        harness.traits.width = width
        let failed = harness.run("failed")
        #expect(failed.lines.first == Substring(heading))
        #expect(failed.lines.allSatisfy { DisplayWidth.of(String($0)) <= width }, "\(failed.output)")
        #expect(failed.output.contains("hub_throttled ") && failed.output.contains("safe 1, ambiguous 1\n"))
        #expect(!failed.output.contains("…"))
        #expect(failed.output.contains("\nexpired_in_queue  "), "what to do")
    }

    @Test func everyFormatHoldsTheSame() throws {
        let broker = try broker()
        let harness = broker.harness
        let json = harness.run("failed error:hub_throttled -o ndjson")
        #expect(
            json.lines.map(String.init) == [
                #"{"count":2,"open":2,"being_repaired":0,"repaired":0,"failed_again":0,"code":"hub_throttled","hub":"shop","platforms":["apple"],"first_seen":"2026-11-21T12:00:00.000Z","#
                    + #""last_seen":"2026-11-21T12:00:00.000Z","replay_safety":{"safe":1,"ambiguous":1},"latest_request":"c","#
                    + #""cause":"\#(ErrorCode.hubThrottled.explanation.cause)","#
                    + #""remedy":"\#(ErrorCode.hubThrottled.explanation.remedy)"}"#
            ])
        #expect(harness.run("failed error:hub_throttled -o json").output == "[\n\(json.output.dropLast())\n]\n")
        let csv = harness.run("failed error:unheard_of -o csv")
        #expect(csv.code == .usage, "a code that is not known is written in quotes")
        #expect(
            harness.run(["failed", "error:\"unheard_of\"", "-o", "csv"]).lines.last
                == "1,0,0,unheard_of,shop,apple,2026-11-21T12:00:00.000Z,2026-11-21T12:00:00.000Z,safe 1,0,g,")
        #expect(harness.run("failed -o wide").lines.first?.hasSuffix("REMEDY") == true)
    }

    @Test func aFilterMayAskForOtherStatesAndKinds() throws {
        let broker = try broker()
        let harness = broker.harness
        #expect(harness.run("failed state:duplicate -o ndjson").lines.count == 1)
        #expect(harness.run("failed kind:interim state:retrying -o ndjson").lines.count == 1)
        #expect(harness.run("failed safety:safe -o csv").lines.count == 3)
    }

    /// A broker with three failures in partition 0 of the requests: a replay of one was sent, of one failed, and of one has no result.
    private func replayedBroker(job: String = "j") throws -> Broker {
        let broker = try Broker()
        let places = (0..<4).map { "push.requests.v1:0:\($0)" }
        var failures = places.enumerated().map { Self.placed("r\($0)", at: $1) }
        failures += [("sent", 0), ("failed", 1)].map { state, index in
            Self.placed("j:r\(index)", at: "push.requests-own.v1:0:\(index)", state: state, replay: places[index])
        }
        try broker.writeResults(failures, at: 1_795_262_400_000)
        try broker.write(
            [
                #"{"kind":"job","job_id":"\#(job)","state":"done"}"#,
                #"{"kind":"batch","job_id":"\#(job)","first":0,"next":3,"replayed":[\#(places.prefix(3).map { "[\"\($0)\"]" }.joined(separator: ","))]}"#,
            ], to: "push.replays.v1")
        return broker
    }

    private static func placed(_ id: String, at place: String, state: String = "failed", replay: String? = nil) -> String {
        let parts = place.split(separator: ":")
        let lineage = replay.map { #","replay":{"parent_origin":"\#($0)","job_id":"j"}"# } ?? ""
        let outcome = state == "sent" ? "success" : "throttled"
        return #"{"request_id":"\#(id)","hub":"shop","kind":"final","state":"\#(state)","outcome":"\#(outcome)","#
            + #""replay_safety":"safe","error":{"code":"hub_throttled"},"targets":{"planned":1},"#
            + #""sends":[{"index":0,"platform":"apple","outcome":"\#(outcome)"}],"#
            + #""origin":{"topic":"\#(parts[0])","partition":\#(parts[1]),"offset":"\#(parts[2])"}\#(lineage)}"#
    }

    @Test(arguments: ["", " --index=FILE"]) func whatAReplayHasTakenUpIsNotOpen(flag: String) throws {
        let folder = try TemporaryFolder()
        let flag = flag.replacing("FILE", with: folder.path("i.sqlite"))
        let broker = try replayedBroker()
        let harness = broker.harness
        let failed = harness.run("failed -o ndjson" + flag)
        #expect(
            failed.output.hasPrefix(
                #"{"count":5,"open":2,"being_repaired":1,"repaired":1,"failed_again":1,"code":"hub_throttled""#), "\(failed)")
        #expect(failed.output.contains(#""replay_safety":{"safe":2},"latest_request":"r3""#))
        #expect(failed.messages.contains("5 of 6 results failed: 2 open, 1 being repaired, 1 repaired, 1 failed again; "))
        let repaired = harness.run("failed request:r0" + flag)
        #expect(repaired.code == .nothingMatched && repaired.output.isEmpty)
        #expect(repaired.messages.contains("nothing is open, of 1 that failed: 0 open, 1 repaired"))
        #expect(
            harness.run("failed request:r0 --all -o ndjson" + flag).output.hasPrefix(
                #"{"count":1,"open":0,"being_repaired":0,"repaired":1"#))
        #expect(harness.run("failed until:2026-11-21T12:00:00.001Z -o ndjson" + flag).output == failed.output)
        withExtendedLifetime(broker) {}
    }

    /// Headers of their own, those of another request, and none: commands read the value alone.
    @Test(arguments: ["failed -o ndjson", "results list -o ndjson", "results show r1 -o ndjson", "failed -o ndjson --index=FILE"])
    func resultsReadTheSameWithHeadersAndWithout(line: String) throws {
        let results = [
            Self.placed("r1", at: "push.requests.v1:0:1"), Self.placed("r2", at: "push.requests.v1:0:2", state: "sent"),
            Self.placed("r3", at: "push.requests.v1:0:3"),
        ]
        let outputs = try [["r1", "final.1"], ["other", "final.9"], []].map { words in
            let folder = try TemporaryFolder()
            let broker = try Broker()
            let names = [ResultHeader.subject, .id]
            let headers = zip(names, words).map { (name: $0.rawValue, value: $1) }
            try broker.writeResults(results, key: "r1", headers: headers, at: 1_795_262_400_000)
            let outcome = broker.harness.run(line.replacing("FILE", with: folder.path("i.sqlite")))
            withExtendedLifetime(broker) {}
            #expect(outcome.code == .done)
            return outcome.output
        }
        #expect(outputs[0].contains(#""r"#) && outputs == Array(repeating: outputs[0], count: 3))
    }

    @Test func whatOfNoKnownJobIsRepairsNothing() throws {
        let broker = try replayedBroker(job: "other")
        let failed = broker.harness.run("failed -o ndjson")
        withExtendedLifetime(broker) {}
        #expect(failed.output.hasPrefix(#"{"count":5,"open":2,"being_repaired":3,"repaired":0,"failed_again":0"#), "\(failed)")
    }

    @Test func deadLettersAreNamedWithTheirCommand() throws {
        let broker = try broker()
        try broker.write(["a", "b", "c"], to: "push.deadletter.v1")
        try broker.write(
            [
                #"{"kind":"job","job_id":"j","state":"done"}"#,
                #"{"kind":"batch","job_id":"j","first":0,"next":1,"replayed":[["push.deadletter.v1:0:1"]]}"#,
            ], to: "push.replays.v1")
        let failed = broker.harness.run("failed")
        #expect(failed.messages.contains("2 dead letters, which were not understood: `pushfan replay deadletter --dry-run`"))
        #expect(!broker.harness.run("failed hub:shop").messages.contains("dead letter"), "they have no hub")
    }

    @Test(arguments: ["failed hub:toys", "failed since:now", "failed state:cancelled"])
    func whereNothingFailedNothingMatches(line: String) throws {
        let broker = try broker()
        let failed = broker.harness.run(line)
        #expect(failed.code == .nothingMatched)
        #expect(failed.output.isEmpty)
        #expect(failed.messages.contains("nothing failed that matches"))
    }
}
