import Foundation
import Replay
import TestSupport
import Testing

@testable import Console

@Suite(.needsKafka, .serialized)
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
        let outcome = stage.replay("plan --reason outage --file PLAN -o json")
        #expect(outcome.code == .done, "\(outcome.messages)")
        let expected = [
            "matched": 7, "eligible": 3, "requests": 3, "calls": 4, "ambiguous": 1, "pointless": 1, "expired": 1, "gone": 1,
            "delivered": 0,
        ]
        for (name, count) in expected { #expect(stage.count(name, outcome) == count, "\(name): \(outcome.output)") }
        #expect(try stage.replayed().isEmpty)
        #expect(stage.replay("run state:failed").code == .usage, "a reason is needed before anything is planned")
        let all = stage.replay("plan --reason outage --include-ambiguous --ttl 1h --file PLAN -o json")
        #expect(stage.count("requests", all) == 5)
        #expect(stage.count("calls", all) == 7)
        #expect(all.output.contains(#""eligible_by_safety":{"safe":3,"ambiguous":2}"#), "\(all.output)")
        let leftovers = stage.replay("leftovers PLAN -o ndjson")
        #expect(leftovers.output.contains(#""left":"gone""#))
        #expect(leftovers.output.contains(#""left":"open""#))
        #expect(leftovers.output.contains(#""left":"pointless""#))
    }

    @Test func whatAMistakeInTheSettingsEndedIsRepeatedOnceItIsMended() throws {
        let stage = try ReplayStage()
        let (missing, forbidden) = ("permanent\",\"error_code\":\"hub_not_found", "auth\",\"error_code\":\"hub_forbidden")
        try stage.writeHistory(4) { $0 == 3 ? ("success", forbidden) : (missing, missing) }
        let faults = #""error":{"code":"unknown_hub","faults":[{"code":"unknown_hub"}]},"#
        try stage.write(
            "requests",
            [(0, #"{"id":"r4","audience":{"users":["u"]},"platforms":["apple"],"message":{"title":"Hi"},"hub":"shpo"}"#)])
        try stage.write(
            "results",
            [
                (
                    1,
                    #"{"request_id":"r4","kind":"final","state":"rejected","outcome":"permanent","replay_safety":"pointless",\#(faults)"#
                        + #""targets":{"planned":0},"origin":{"topic":"\#(stage.requests)","partition":0,"offset":"4"}}"#
                )
            ])
        let plan = stage.replay("plan --reason outage --file PLAN")
        #expect(plan.code == .done, "\(plan.messages)")
        for line in [
            "repair      3 hub_not_found: name the hub with --set hub=NAME, or mend hub.name and hub.connection_string",
            "repair      1 hub_forbidden: give the policy the right Send, or the workers another policy",
            "repair      1 unknown_hub: name the hub with --set hub=NAME, or add it to the workers' settings",
        ] { #expect(plan.output.contains(line + "\n"), "\(plan.output)") }
        let mended = stage.replay("plan --reason outage --set hub=shop --file PLAN -o json")
        #expect(mended.output.contains(#""repairs":{"hub_forbidden":1}"#), "\(mended.output)")
        #expect(stage.replay("run PLAN --reason renamed -o json").code == .done)
        let new = try stage.replayed(atLeast: 5)
        #expect(new.count == 5 && new.allSatisfy { $0.value.contains(#""hub":"shop""#) })
    }

    @Test func whatSomebodyCancelledIsNotRepeatedUnlessTheFilterNamesIt() throws {
        let stage = try ReplayStage()
        let stopped = ("cancelled\",\"error_code\":\"cancelled", "transient")
        // The first was cancelled while it waited, the second when it had ended, the third as a part of a whole; the others are at rest.
        try stage.writeHistory(2) { $0 == 0 ? stopped : failed }
        let part =
            #"{"id":"r2","audience":{"users":["u"]},"platforms":["apple","windows"],"message":{"title":"Hi"},"#
            + #""parent":{"id":"whole","key":"k","partition":0,"chunk":0,"chunks":2,"published_at":"2026-01-01T00:00:00Z"}}"#
        try stage.write("requests", [(0, part)])
        try stage.write("results", [(0, stage.result(2, failed))])
        for id in ["r1", "whole"] { try stage.write("control", [(0, "{}")], key: "cancel/\(id)") }
        let later = #"{"id":"r3","audience":{"users":["u"]},"platforms":["apple","windows"],"message":{"title":"Hi"}}"#
        try stage.write("requests", [(0, later)])
        try stage.write("results", [(0, stage.result(3, failed))])
        let plan = stage.replay("plan --reason outage --file PLAN -o json")
        #expect(stage.count("cancelled", plan) == 3 && stage.count("requests", plan) == 1, "\(plan.output)")
        let leftovers = stage.replay("leftovers PLAN -o ndjson")
        #expect(leftovers.lines.count { $0.contains(#""left":"cancelled""#) } == 3)
        // Cancelled between plan and run.
        try stage.write("control", [(0, "{}")], key: "cancel/r3")
        let run = stage.replay("run PLAN --reason outage -o json")
        #expect(run.code == .partlyFailed && run.output.contains(#""skipped":{"cancelled":1}"#), "\(run.output)")
        #expect(try stage.replayed().isEmpty)
        let rest = stage.replay("plan --reason outage --leftovers PLAN --file \(stage.folder)/rest.ndjson -o json")
        #expect(stage.count("requests", rest) == 0, "the states of a plan's own filter name nothing: \(rest.output)")
        let all = stage.replay("plan --reason outage state:failed,partial,cancelled --file PLAN -o json")
        #expect(stage.count("requests", all) == 4 && stage.count("cancelled", all) == 0, "\(all.output)")
        #expect(stage.replay("run PLAN --reason mistake").code == .done)
        #expect(try stage.replayed(atLeast: 4).count == 4)
    }

    @Test func theIDOfALargeRequestStandsForItsPartsThatNeedAReplay() throws {
        let stage = try ReplayStage()
        func parent(_ chunk: Int) -> String {
            #""parent":{"id":"r9","key":"k","partition":0,"chunk":\#(chunk),"chunks":3,"published_at":"2026-01-01T00:00:00Z"}"#
        }
        try stage.write(
            "requests",
            (0..<4).map { chunk in
                let block = chunk < 3 ? ",\(parent(chunk))" : ""
                return (
                    0,
                    #"{"id":"r9.\#(chunk)","audience":{"users":["u"]},"platforms":["apple","windows"],"message":{"title":"Hi"}\#(block)}"#
                )
            })
        let fates = [("success", "success"), failed, ("success", "throttled"), failed]
        var results = (0..<4).map { chunk -> (partition: Int32, value: String) in
            let block = chunk < 3 ? ",\(parent(chunk))}" : "}"
            let json = stage.result(chunk, fates[chunk]).replacing("\"r\(chunk)\"", with: "\"r9.\(chunk)\"")
            return (0, json.trimmingCharacters(in: .whitespacesAndNewlines).dropLast() + block)
        }
        results.append(
            (
                0,
                #"{"request_id":"r9","kind":"final","state":"partial","outcome":"transient","replay_safety":"safe","#
                    + #""parts":{"count":3},"targets":{"planned":6},"origin":{"topic":"t","partition":0,"offset":"9"}}"#
            ))
        try stage.write("results", results)
        let plan = stage.replay("plan --reason outage request:r9 --file PLAN -o json")
        #expect(plan.code == .done, "\(plan.messages)")
        #expect(stage.count("requests", plan) == 2 && stage.count("calls", plan) == 3, "\(plan.output)")
        #expect(stage.count("parts", plan) == 1, "the whole itself is not repeated: \(plan.output)")
        #expect(stage.replay("run PLAN --reason outage").code == .done)
        #expect(try stage.replayed(atLeast: 2).count == 2)
    }

    @Test func aRunDoesThePlanAndAnotherOneNothing() throws {
        let stage = try ReplayStage()
        try stage.writeHistory(30) { $0 % 3 == 0 ? failed : $0 % 3 == 1 ? ("success", "auth") : ("success", "success") }
        #expect(stage.replay("plan --reason outage --file PLAN --set options.max_attempts=8").code == .done)
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
        #expect(again.code == .done && stage.count("replayed", again) == 20, "\(again.messages)")
        #expect(
            again.messages.contains(" finished at 20") && again.messages.contains("; nothing was sent now"), "\(again.messages)")
        #expect(try stage.replayed(atLeast: 20).count == 20)
        let later = stage.replay("plan --reason outage --file PLAN -o json")
        #expect(later.code == .nothingMatched)
        #expect(stage.count("replayed", later) == 20)
        try stage.write(
            "results",
            new.map { record in
                let block =
                    record.value.range(of: "\"replay\":").map { record.value[$0.upperBound...].prefix { $0 != "}" } } ?? ""
                return (0, #"{"request_id":"x","kind":"final","state":"sent","replay":\#(block)}}"#)
            })
        let repaired = stage.replay("plan --reason outage --file PLAN -o json")
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
        let job = String(plan.output.dropFirst(#"{"id":""#.count).prefix(36))
        let run = Background { stage.replay("run PLAN --rate 2").code }
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

    @Test func whatStandsWhereAFailureStoodIsNotSent() throws {
        let stage = try ReplayStage()
        try stage.writeHistory(3) { _ in failed }
        #expect(stage.replay("plan --file PLAN --reason outage").code == .done)
        try stage.remake("requests")
        // The last has the id of the one that stood there.
        try stage.write(
            "requests",
            ["s0", "s1", "r2", "s3"].map {
                (0, #"{"id":"\#($0)","audience":{"users":["u"]},"platforms":["apple","windows"],"message":{"title":"Hi"}}"#)
            })
        let run = stage.replay("run PLAN -o json")
        #expect(run.code == .partlyFailed && run.output.contains(#""skipped":{"gone":3}"#), "\(run.output) \(run.messages)")
        #expect(run.messages.contains("partition 0 of \(stage.requests) was made again"), "\(run.messages)")
        #expect(try stage.replayed().isEmpty)
        let plan = stage.replay("plan request:r0,r1 --reason again --file \(stage.folder)/again.ndjson -o json")
        #expect(stage.count("requests", plan) == 0 && stage.count("gone", plan) == 2, "\(plan.output)")
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
        let job = String(plan.output.dropFirst(#"{"id":""#.count).prefix(36))
        try stage.write("replays", [(0, #"{"kind":"job","job_id":"\#(job)","state":"interrupted","requests":10}"#)])
        #expect(stage.replay("status \(job)").output.contains("state       interrupted"))
        let open = stage.replay("leftovers PLAN")
        #expect(open.output.contains("the run was interrupted before it"), "\(open.output)")
        #expect(open.messages.contains("10 left; `pushfan replay run \(stage.plan)` goes on with the 10 that are open"))
        #expect(stage.replay("resume \(job)").code == .temporary)
        #expect(stage.replay("stop \(job)").code == .done)
        #expect(stage.replay("list").output.contains("stopped"))
        let left = stage.replay("leftovers PLAN")
        #expect(left.output.contains("the replay was stopped before it"), "\(left.output)")
        #expect(left.messages.contains("`pushfan replay plan --leftovers \(stage.plan)` plans them as a new job"))
        #expect(stage.replay("stop \(job)").code == .refused)
        #expect(stage.replay("run PLAN").code == .refused)
        #expect(try stage.replayed().isEmpty)
    }

    @Test func deadLettersGoBackToWhereTheyCameFrom() throws {
        let stage = try ReplayStage()
        let headers = [("own", "kept"), ("pushfan-dlq-topic", stage.requests), ("pushfan-dlq-reason", "unexpected_end")]
        try stage.write("deadletter", [(0, "{\"audience\"")], headers: headers + [("ce_source", "shop\u{1B}[2J")])
        try stage.write("deadletter", [(1, #"{"audience":{"users":["a"]},"message":{"title":"Hi"}}"#)], headers: headers)
        try stage.write("deadletter", [(2, "from nowhere")])
        let dry = stage.replay("deadletter --dry-run -o json")
        #expect(stage.count("requests", dry) == 1 && stage.count("invalid", dry) == 1, "\(dry.output)")
        #expect(stage.count("broken", dry) == 1 && !dry.output.contains("audience"), "no text, which may have handles")
        #expect(try stage.read("requests").isEmpty && !FileManager.default.fileExists(atPath: stage.plan))
        let shown = stage.replay("deadletter --dry-run").output
        for text in [
            "no: broken", "no: invalid", "yes", "\(stage.requests)", "{\"audience\"", "from nowhere", "shop\u{FFFD}[2J ",
        ] {
            #expect(shown.contains(text), "\(text) in \(shown)")
        }
        #expect(stage.replay("deadletter --dry-run --file PLAN").code == .usage)
        let outcome = stage.replay("deadletter --reason fixed --file PLAN")
        #expect(outcome.code == .done, "\(outcome.messages)")
        let back = try stage.read("requests", atLeast: 1)
        #expect(back.map(\.value) == [#"{"audience":{"users":["a"]},"message":{"title":"Hi"}}"#])
        #expect(back.allSatisfy { $0.key == "key" && $0.headers == ["own": "kept"] })
        #expect(stage.replay("deadletter --reason fixed --file PLAN").code == .nothingMatched)
        #expect(try stage.read("requests", atLeast: 1).count == 1)
    }

    /// Duplicates are sought in a partition, so what goes back stays in its own. The keys name the partitions 1, 2, 1 and 2.
    @Test func whatIsWrittenAgainStaysInThePartitionOfItsOriginal() throws {
        let stage = try ReplayStage()
        for (key, partition) in [("a", "0"), ("b", "1"), ("c", "2"), ("d", "7")] {
            let origin = [("pushfan-dlq-topic", stage.requests), ("pushfan-dlq-partition", partition)]
            try stage.write("deadletter", [(0, "{}")], key: key, headers: origin)
        }
        let letters = stage.replay("deadletter --reason fixed --file PLAN")
        #expect(letters.code == .done, "\(letters.messages)")
        let back = try stage.read("requests", atLeast: 4).map { "\($0.key ?? "") \($0.partition)" }
        #expect(back.sorted() == ["a 0", "b 1", "c 2", "d 2"])

        // The key of these names partition 1.
        let failures = try ReplayStage()
        try failures.writeHistory(3) { _ in failed }
        #expect(failures.replay("plan --reason outage --file PLAN").code == .done)
        let outcome = failures.replay("run PLAN --reason outage")
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(try failures.replayed(atLeast: 3).map(\.partition) == [0, 0, 0])
    }

    @Test func aDeadLetterIsMendedByTheRequestInItsPlaceAndNoOtherGoesBack() throws {
        let stage = try ReplayStage()
        let headers = [("own", "kept"), ("pushfan-dlq-topic", stage.requests), ("pushfan-dlq-reason", "unexpected_end")]
        try stage.write("deadletter", [(0, "{\"audience\""), (0, "[]")], headers: headers)
        let file = stage.folder + "/mended.json"
        let mended = #"{"audience":{"users":["a"]},"message":{"title":"Hi"}}"#
        try mended.replacing(",", with: ",\n").write(toFile: file, atomically: true, encoding: .utf8)
        let place = "\(stage.name).deadletter:0:0"
        let outcome = stage.replay("deadletter --reason mended --at \(place) --value \(file) --file PLAN -o json")
        #expect(outcome.code == .done && stage.count("replayed", outcome) == 1, "\(outcome.messages)")
        let back = try stage.read("requests", atLeast: 1)
        #expect(back.map { $0.value.filter { $0 != " " } } == [mended])
        #expect(back.allSatisfy { $0.key == "key" && $0.headers == ["own": "kept"] })
        let again = stage.replay("deadletter --reason again --at \(place) --file PLAN -o json")
        #expect(again.code == .nothingMatched && stage.count("replayed", again) == 1, "\(again.output)")
    }

    @Test func aDeadLetterWithoutItsWholeRecordIsLeftAndNamed() throws {
        let stage = try ReplayStage()
        let source = ("pushfan-dlq-topic", stage.requests)
        try stage.write("deadletter", [(0, "")], headers: [source, ("pushfan-dlq-reason", "not_taken")])
        try stage.write(
            "deadletter", [(0, "{")], headers: [source, ("pushfan-dlq-reason", "too_large"), ("pushfan-dlq-cut-bytes", "90")])
        try stage.write("deadletter", [(0, "{}")], headers: [source, ("pushfan-dlq-reason", "unexpected_end")])
        let outcome = stage.replay("deadletter --reason fixed --file PLAN -o json")
        #expect(
            outcome.code == .done && outcome.messages.contains("left out: 2, \(Leftover.cut.explanation)"), "\(outcome.messages)")
        #expect(try stage.read("requests", atLeast: 1).map(\.value) == ["{}"])
        let again = stage.replay("deadletter --reason again --file PLAN -o json")
        #expect(again.code == .nothingMatched && stage.count("cut", again) == 2, "\(again.output)")
    }
}
