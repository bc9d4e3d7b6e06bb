import Foundation
import TestSupport
import Testing

@testable import Console

@Suite(
    .enabled(if: ReplayStage.realBrokers != nil, "PUSHFAN_TEST_KAFKA names no broker: replays were not tested"), .serialized)
struct ReplayCommandTests {
    private let failed = (apple: "transient", windows: "throttled")

    @Test func aPlanSaysWhatWouldHappenAndDoesNothing() throws {
        let stage = try ReplayStage()
        let fates = [
            failed, ("success", "throttled"), ("ambiguous", "transient"), ("ambiguous", "success"), ("payload", "payload"),
            ("success", "success"), ("expired", "success"),
        ]
        try stage.writeHistory(fates.count) { fates[$0] }
        try stage.write("results", [(0, stage.result(900, failed))])
        let outcome = stage.replay("plan --file PLAN -o json")
        #expect(outcome.code == .done, "\(outcome.messages)")
        let expected = [
            "matched": 7, "eligible": 3, "requests": 3, "calls": 4, "ambiguous": 1, "pointless": 1, "expired": 1, "gone": 1,
            "delivered": 0,
        ]
        for (name, count) in expected { #expect(stage.count(name, outcome) == count, "\(name): \(outcome.output)") }
        #expect(try stage.replayed().isEmpty)
        #expect(stage.replay("run state:failed").code == .usage, "a reason is needed before anything is planned")
        let all = stage.replay("plan --include-ambiguous --ttl 1h --file PLAN -o json")
        #expect(stage.count("requests", all) == 5)
        #expect(stage.count("calls", all) == 7)
        let leftovers = stage.replay("leftovers PLAN -o ndjson")
        #expect(leftovers.output.contains(#""left":"gone""#))
        #expect(leftovers.output.contains(#""left":"open""#))
        #expect(leftovers.output.contains(#""left":"pointless""#))
    }

    @Test func aRunDoesThePlanAndAnotherOneNothing() throws {
        let stage = try ReplayStage()
        try stage.writeHistory(30) { $0 % 3 == 0 ? failed : $0 % 3 == 1 ? ("success", "auth") : ("success", "success") }
        #expect(stage.replay("plan --file PLAN --set options.max_attempts=8").code == .done)
        #expect(stage.replay("run PLAN").code == .usage, "a reason is needed")
        let outcome = stage.replay("run PLAN --reason outage -o json")
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(stage.count("replayed", outcome) == 20)
        let new = try stage.replayed(atLeast: 20)
        #expect(new.count == 20 && new.allSatisfy { $0.value.contains("\"replay\"") })
        #expect(
            new.allSatisfy {
                $0.key == "key" && $0.value.contains(#""actor":"ann","reason":"outage","modified":["options.max_attempts=8"]"#)
            })
        #expect(new.count { $0.value.contains(#""sends":[1]"#) && $0.value.contains(#""platforms":["windows"]"#) } == 10)
        let again = stage.replay("run PLAN --reason outage -o json")
        #expect(again.code == .done)
        #expect(try stage.replayed(atLeast: 20).count == 20)
        let later = stage.replay("plan --file PLAN -o json")
        #expect(later.code == .nothingMatched)
        #expect(stage.count("replayed", later) == 20)
        try stage.write(
            "results",
            new.map { record in
                let block =
                    record.value.range(of: "\"replay\":").map { record.value[$0.upperBound...].prefix { $0 != "}" } } ?? ""
                return (0, #"{"request_id":"x","kind":"final","state":"sent","replay":\#(block)}}"#)
            })
        let repaired = stage.replay("plan --file PLAN -o json")
        #expect(stage.count("delivered", repaired) == 20, "\(repaired.output)")
        let list = stage.replay("list -o ndjson")
        #expect(list.lines.count == 1 && list.output.contains(#""state":"done""#))
    }

    @Test func manyAreNotReplayedUnasked() throws {
        var stage = try ReplayStage()
        try stage.writeHistory(1001) { _ in failed }
        #expect(stage.replay("plan --file PLAN --reason outage").code == .done)
        #expect(stage.replay("run PLAN").code == .refused)
        stage.traits.isErrorTerminal = true
        stage.traits.isInputTerminal = true
        stage.typed = "1000"
        #expect(stage.replay("run PLAN").code == .refused)
        #expect(try stage.replayed().isEmpty)
        stage.typed = "1001"
        #expect(stage.replay("run PLAN --rate 100000").code == .done)
        #expect(try stage.replayed(atLeast: 1001).count == 1001)
    }

    @Test func aRunIsPausedResumedAndStoppedFromElsewhere() throws {
        let stage = try ReplayStage()
        try stage.writeHistory(200) { _ in failed }
        let plan = stage.replay("plan --file PLAN --reason outage -o json")
        let job = String(plan.output.dropFirst(#"{"job_id":""#.count).prefix(36))
        let run = Background { stage.replay("run PLAN --rate 20").code }
        #expect(eventually { stage.replay("status \(job) -o json").output.contains(#""has_runner":true"#) })
        let pause = stage.replay("pause \(job)")
        #expect(pause.code == .done, "\(pause.messages)")
        #expect(stage.replay("status \(job)").output.contains("state       paused"))
        let other = stage.replay("plan --leftovers PLAN --file \(stage.folder)/other.ndjson --reason more -o json")
        let standing = 200 - (try #require(stage.count("requests", other)))
        #expect(try stage.replayed(atLeast: standing).count == standing)
        #expect(stage.replay("resume \(job.suffix(6))").code == .done)
        #expect(eventually { (try? stage.replayed().count) ?? 0 > standing })
        let busy = stage.replay("run \(stage.folder)/other.ndjson")
        #expect(busy.code == .temporary && busy.messages.contains("one runs at a time"), "\(busy.messages)")
        #expect(stage.replay("stop \(job)").code == .done)
        #expect(try run.value() == .partlyFailed)
        #expect(stage.replay("run PLAN").code == .refused)
        let rest = stage.replay("run \(stage.folder)/other.ndjson --rate 10000")
        #expect(rest.code == .partlyFailed, "what was replayed after it was planned is left: \(rest.messages)")
        let places = try stage.replayed(atLeast: 200).compactMap {
            $0.value.firstRange(of: "\"parent_origin\":\"").map { $0.upperBound }
        }
        #expect(places.count == 200)
    }

    @Test func aJobIsTakenOverAndEachRequestIsWrittenOnce() throws {
        let stage = try ReplayStage()
        try stage.writeHistory(100) { _ in failed }
        #expect(stage.replay("plan --file PLAN --reason outage").code == .done)
        let run = Background { stage.replay("run PLAN --rate 20").code }
        #expect(eventually { (try? stage.replayed().count) ?? 0 > 10 })
        #expect(stage.replay("run PLAN --rate 10000").code == .done)
        #expect(try run.value() == .temporary)
        #expect(try stage.replayed(atLeast: 100).count == 100)
    }

    @Test func aJobThatIsStoppedWithoutARunnerStaysStopped() throws {
        let stage = try ReplayStage()
        try stage.writeHistory(10) { _ in failed }
        let plan = stage.replay("plan --file PLAN --reason outage -o json")
        let job = String(plan.output.dropFirst(#"{"job_id":""#.count).prefix(36))
        try stage.write("replays", [(0, #"{"kind":"job","job_id":"\#(job)","state":"interrupted","requests":10}"#)])
        #expect(stage.replay("status \(job)").output.contains("state       interrupted"))
        #expect(stage.replay("resume \(job)").code == .temporary)
        #expect(stage.replay("stop \(job)").code == .done)
        #expect(stage.replay("list").output.contains("stopped"))
        #expect(stage.replay("stop \(job)").code == .refused)
        #expect(stage.replay("run PLAN").code == .refused)
        #expect(try stage.replayed().isEmpty)
    }

    @Test func deadLettersGoBackToWhereTheyCameFrom() throws {
        let stage = try ReplayStage()
        let headers = [("own", "kept"), ("pushfan-dlq-topic", stage.requests), ("pushfan-dlq-reason", "unexpected_end")]
        try stage.write(
            "deadletter", [(0, "{\"audience\""), (1, #"{"audience":{"users":["a"]},"message":{"title":"Hi"}}"#)], headers: headers
        )
        try stage.write("deadletter", [(2, "from nowhere")])
        let dry = stage.replay("deadletter --dry-run -o json --file PLAN")
        #expect(stage.count("requests", dry) == 2 && stage.count("invalid", dry) == 1, "\(dry.output)")
        #expect(try stage.read("requests").isEmpty)
        let outcome = stage.replay("deadletter --reason fixed --file PLAN")
        #expect(outcome.code == .done, "\(outcome.messages)")
        let back = try stage.read("requests", atLeast: 2)
        #expect(back.map(\.value).sorted().first == "{\"audience\"")
        #expect(back.allSatisfy { $0.key == "key" && $0.headers == ["own": "kept"] })
        #expect(stage.replay("deadletter --reason fixed --file PLAN").code == .nothingMatched)
        #expect(try stage.read("requests", atLeast: 2).count == 2)
    }
}
