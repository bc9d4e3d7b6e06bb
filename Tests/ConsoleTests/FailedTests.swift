import PushModel
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
                COUNT  ERROR             HUB   PLATFORMS  FIRST SEEN                LAST SEEN                 REPLAY
                    2  hub_throttled     shop  apple      2026-11-21T12:00:00.000Z  2026-11-21T12:00:00.000Z  safe 1, ambiguous 1
                    1  expired_in_queue  shop  apple      2026-11-21T12:00:00.000Z  2026-11-21T12:00:00.000Z  pointless 1
                    1  unheard_of        shop  apple      2026-11-21T12:00:00.000Z  2026-11-21T12:00:00.000Z  safe 1

                hub_throttled     \(ErrorCode.hubThrottled.explanation.remedy)
                expired_in_queue  \(ErrorCode.expiredInQueue.explanation.remedy)

                """)
        #expect(failed.messages.hasPrefix("4 of 8 results; "))
    }

    @Test(arguments: [
        (60, "COUNT  ERROR             HUB   REPLAY"),
        (80, "COUNT  ERROR             HUB   LAST SEEN                 REPLAY"),
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
                #"{"count":2,"code":"hub_throttled","hub":"shop","platforms":["apple"],"first_seen":"2026-11-21T12:00:00.000Z","#
                    + #""last_seen":"2026-11-21T12:00:00.000Z","replay_safety":{"safe":1,"ambiguous":1},"latest_request":"c","#
                    + #""cause":"\#(ErrorCode.hubThrottled.explanation.cause)","#
                    + #""remedy":"\#(ErrorCode.hubThrottled.explanation.remedy)"}"#
            ])
        #expect(harness.run("failed error:hub_throttled -o json").output == "[\n\(json.output.dropLast())\n]\n")
        let csv = harness.run("failed error:unheard_of -o csv")
        #expect(csv.code == .usage, "a code that is not known is written in quotes")
        #expect(
            harness.run(["failed", "error:\"unheard_of\"", "-o", "csv"]).lines.last
                == "1,unheard_of,shop,apple,2026-11-21T12:00:00.000Z,2026-11-21T12:00:00.000Z,safe 1,g,")
        #expect(harness.run("failed -o wide").lines.first?.hasSuffix("REMEDY") == true)
    }

    @Test func aFilterMayAskForOtherStatesAndKinds() throws {
        let broker = try broker()
        let harness = broker.harness
        #expect(harness.run("failed state:duplicate -o ndjson").lines.count == 1)
        #expect(harness.run("failed kind:interim state:retrying -o ndjson").lines.count == 1)
        #expect(harness.run("failed safety:safe -o csv").lines.count == 3)
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
