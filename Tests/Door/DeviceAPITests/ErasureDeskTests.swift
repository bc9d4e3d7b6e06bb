import Basics
import FanOut
import GatewayAPI
import HubREST
import PushModel
import Synchronization
import Testing

@testable import DeviceAPI

/// How erasures take turns, what is told of them, and who waits for them.
struct ErasureDeskTests {
    private static func failure(_ status: Int, after wait: Int64? = nil, mayHelp: Bool) -> RegistrationFailure {
        var failure = RegistrationFailure(.refused, code: .hubThrottled, isWorthRetrying: mayHelp)
        (failure.status, failure.retryAfter) = (status, wait)
        return failure
    }

    @Test func devicesAreRemovedAtEachHubAndItIsToldHowManyAreLeft() throws {
        let (stage, hubs) = (try ErasureStage(), [ErasureStage.Hub("eu"), ErasureStage.Hub("us")])
        defer { stage.close() }
        hubs[0].give(["a", "b"], to: stage.pattern.tag(of: "alice"))
        hubs[1].give(["c"], to: stage.pattern.tag(of: "alice"))
        hubs[1].give(["d"], to: stage.pattern.tag(of: "bob"))
        let begun = try #require(try stage.begin("alice", at: hubs))
        #expect(begun.state == "running" && begun.progress.found == 0)
        _ = hubs[0].answer()
        _ = hubs[0].answer()
        let midway = try #require(stage.report(of: "alice"))
        #expect(midway.progress.found == 2 && midway.progress.removed == 1 && midway.progress.left == 1)
        stage.pass(seconds: 10, answering: hubs)
        let ended = try #require(stage.report(of: "alice"))
        #expect(ended.state == "done" && ended.progress.removed == 3 && ended.progress.left == 0)
        #expect(hubs.map(\.deviceCount) == [0, 1] && stage.report(of: "bob") == nil)
    }

    @Test func aReportIsWrittenAsThePageHasIt() {
        var report = ErasureReport(user: "alice", startedAt: Timestamp(milliseconds: 0))
        (report.progress.found, report.progress.removed, report.progress.left) = (6, 4, 2)
        #expect(
            String(decoding: report.json, as: UTF8.self)
                == #"{"user":"alice","state":"running","found":6,"removed":4,"left":2,"started_at":"1970-01-01T00:00:00.000Z"}"#)
        (report.endedAt, report.problem) = (Timestamp(milliseconds: 1000), "hub eu: no")
        #expect(
            String(decoding: report.json, as: UTF8.self).hasSuffix(
                #""ended_at":"1970-01-01T00:00:01.000Z","problem":"hub eu: no"}"#))
        #expect(report.state == "failed")
    }

    /// Two of a key are at work at a time, a hundred are kept, and whoever else comes is served at once.
    @Test func aKeyThatBeginsAThousandHoldsUpNobody() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        var refusals: [APIProblem] = []
        for number in 0..<1000 {
            do throws(APIProblem) { try stage.begin("u\(number)", at: [hub]) } catch { refusals.append(error) }
        }
        #expect(refusals.count == 900 && refusals.allSatisfy { $0.status == 429 && $0.retryAfter == 5000 && $0.retry == .safe })
        #expect(hub.calls.count == 2)
        try stage.begin("alice", at: [hub], by: "k2")
        #expect(hub.calls.count == 3)
        stage.pass(seconds: 300, answering: [hub])
        #expect(
            (0..<100).allSatisfy { stage.report(of: "u\($0)")?.state == "done" } && stage.report(of: "alice")?.state == "done")
        #expect(hub.state.withLock { $0.mostAtOnce } == 3)
    }

    @Test func allKeysTogetherHaveEightAtWork() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        for number in 0..<30 { try stage.begin("u\(number)", at: [hub], by: "k\(number)") }
        #expect(hub.calls.count == 8)
        stage.pass(seconds: 60, answering: [hub])
        #expect((0..<30).allSatisfy { stage.report(of: "u\($0)")?.state == "done" })
    }

    @Test func theKeysOfATenantShareThree() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        for number in 0..<9 { try stage.begin("u\(number)", at: [hub], by: "k\(number)", tenant: "shop") }
        #expect(hub.calls.count == 3)
    }

    @Test func oneThatGoesOnIsNotBegunAgainAndOneThatEndedIs() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        try stage.begin("alice", at: [hub])
        try stage.begin("alice", at: [hub], by: "k2")
        #expect(hub.calls.count == 1)
        stage.pass(seconds: 5, answering: [hub])
        #expect(stage.report(of: "alice")?.state == "done")
        let count = hub.calls.count
        #expect(try stage.begin("alice", at: [hub])?.state == "running")
        #expect(hub.calls.count == count + 1)
    }

    @Test func aHubThatFailsIsNamedKeepsNoOtherAndMayBeTriedAgain() throws {
        let (stage, hubs) = (try ErasureStage(), [ErasureStage.Hub("eu"), ErasureStage.Hub("us")])
        defer { stage.close() }
        let tag = stage.pattern.tag(of: "alice")
        hubs[0].give(["a"], to: tag)
        hubs[1].give(["b"], to: tag)
        hubs[0].fail(Self.failure(401, mayHelp: false))
        try stage.begin("alice", at: hubs)
        stage.pass(seconds: 5, answering: hubs)
        let failed = try #require(stage.report(of: "alice"))
        #expect(failed.state == "failed" && failed.progress.removed == 1 && hubs.map(\.deviceCount) == [1, 0])
        let problem = try #require(failed.problem)
        #expect(problem.hasPrefix("hub eu: the hub answers 401") && problem.contains("Manage") && !problem.contains("hub us"))
        hubs[0].fail(nil)
        try stage.begin("alice", at: hubs)
        stage.pass(seconds: 5, answering: hubs)
        #expect(stage.report(of: "alice")?.state == "done" && hubs[0].deviceCount == 0)
        #expect(stage.log.contains("devices_erased") && !stage.log.contains("alice"))
    }

    @Test func aHubThatThrottlesIsLeftAloneForAsLongAsItAsks() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        hub.give(["a"], to: stage.pattern.tag(of: "alice"))
        hub.fail(Self.failure(429, after: 20_000, mayHelp: true))
        try stage.begin("alice", at: [hub])
        stage.pass(seconds: 19, answering: [hub])
        #expect(hub.calls.count == 1)
        hub.fail(nil)
        stage.pass(seconds: 10, answering: [hub])
        #expect(stage.report(of: "alice")?.state == "done" && hub.deviceCount == 0)
    }

    @Test func aFullLaneIsTriedAgain() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        hub.state.withLock { $0.isFull = true }
        try stage.begin("alice", at: [hub])
        stage.pass(seconds: 2, answering: [hub])
        #expect(hub.calls.isEmpty && stage.report(of: "alice")?.state == "running")
        hub.state.withLock { $0.isFull = false }
        stage.pass(seconds: 5, answering: [hub])
        #expect(stage.report(of: "alice")?.state == "done")
    }

    @Test func theLastOnesAreRemembered() throws {
        var limits = ErasureBook.Limits()
        limits.memory = 3
        let (stage, hub) = (try ErasureStage(limits), ErasureStage.Hub("eu"))
        defer { stage.close() }
        for number in 0..<5 {
            try stage.begin("u\(number)", at: [hub])
            stage.pass(seconds: 5, answering: [hub])
        }
        #expect((0..<5).map { stage.report(of: "u\($0)") != nil } == [false, false, true, true, true])
    }

    @Test func whoeverWaitsIsToldOnceAtTheEndOrBefore() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        try stage.begin("alice", at: [hub])
        let (early, late) = (stage.wait(for: "alice", seconds: 1), stage.wait(for: "alice", seconds: 30))
        stage.pass(seconds: 2, answering: [])
        #expect(early.all.map(\.state) == ["running"] && late.all.isEmpty)
        stage.pass(seconds: 5, answering: [hub])
        #expect(early.all.count == 1 && late.all.map(\.state) == ["done"])
        #expect(stage.wait(for: "alice", seconds: 30).all.map(\.state) == ["done"])
    }

    @Test func atTheEndNobodyWaits() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        try stage.begin("alice", at: [hub])
        let told = stage.wait(for: "alice", seconds: 30)
        stage.desk?.endWaits()
        #expect(told.all.map(\.state) == ["running"])
        #expect(stage.wait(for: "alice", seconds: 30).all.map(\.state) == ["running"])
    }

    @Test func oneTenantDoesNotSeeTheErasureOfAnother() throws {
        let (stage, hub) = (try ErasureStage(), ErasureStage.Hub("eu"))
        defer { stage.close() }
        try stage.begin("alice", at: [hub], tenant: "shop")
        #expect(stage.report(of: "alice") == nil)
        #expect(stage.desk?.report(of: stage.key("alice", tenant: "shop")) != nil)
    }
}
