import FanOut
import HTTPServing
import HubStore
import SQLite
import Testing

@testable import HubServer
@testable import HubStore

/// Notifications on their way, and what is told of them.
struct FileJournalTests {
    private let kept: JournalFile

    init() throws { kept = try JournalFile() }

    private func add(_ id: String, to audience: Notification.Audience = .everyone, at now: Int64 = 0, due: Int64? = nil) throws {
        try kept.journal.add(.sample(id, to: audience), of: .sample(at: now), due: due, deadline: now + 86_400_000)
    }

    private func register(_ handle: String, at now: Int64 = 0) throws {
        try kept.devices.change { (book) throws(RefusedCall) in
            var registration = Registration(id: "1-1-\(handle)", etag: 1, platform: .apple, handle: handle)
            registration.writtenAt = now
            try book.write(registration)
        }
    }

    private func step(_ id: String, at now: Int64, _ change: (inout WalkStep) -> Void = { _ in }) throws {
        var step = WalkStep(message: try kept.number(id), at: now)
        change(&step)
        try kept.keep(step)
    }

    @Test func telemetryFollowsANotification() throws {
        try register("AA")
        try add("n", at: 1000)
        #expect(try kept.told("n", at: 1000) == "Enqueued")
        #expect(try kept.journal.telemetry(of: "n", now: 1000)?.shown.startedAt == nil)
        try step("n", at: 2000) { step in
            step.counts.add("Success", on: .fcmv1, count: 2)
            step.counts.add("ExpiredChannel", on: .apple)
            step.place = DevicePlace(platform: .fcmv1, number: 7)
        }
        try step("n", at: 3000) { $0.counts.add("Success", on: .fcmv1, count: 5) }
        #expect(try kept.told("n", at: 3000) == "Processing fcmv1.Success=7 apple.ExpiredChannel=1")
        try kept.reopen()
        let message = try #require(try kept.journal.unfinished(now: 3000, without: [], limit: 1).first)
        #expect(message.place == DevicePlace(platform: .fcmv1, number: 7) && message.end == 2)
        try step("n", at: 4000) { $0.ending = .completed }
        let telemetry = try #require(try kept.journal.telemetry(of: "n", now: 9000))
        #expect(telemetry.shown.state == "Completed" && telemetry.body == nil)
        #expect(telemetry.shown.startedAt == 2000 && telemetry.shown.endedAt == 4000 && telemetry.queuedAt == 1000)
        #expect(try kept.unfinished(9000).isEmpty && kept.journal.backlog(now: 9000).dueCount == 0)
        #expect(try kept.journal.telemetry(of: "other", now: 0) == nil)
    }

    @Test(
        arguments: [(.completed, "Completed"), (.noTarget, "NoTargetFound"), (.abandoned, "Abandoned")]
            as [(WalkStep.Ending, String)])
    func anEndHasItsState(_ ending: WalkStep.Ending, _ state: String) throws {
        try add("n")
        let number = try kept.number("n")
        try step("n", at: 5) { $0.ending = ending }
        #expect(try kept.told("n", at: 6) == state)
        var late = WalkStep(message: number, at: 7)
        late.counts.add("Success", on: .apple)
        try kept.keep(late)
        try kept.keep(WalkStep(message: 999, at: 7))
        #expect(try kept.told("n", at: 8) == state, "a step behind the end counts for nothing")
    }

    @Test func aScheduledNotificationWaitsForItsTime() throws {
        try register("AA")
        try add("later", at: 0, due: 5000)
        try add("soon", at: 0, due: 3000)
        #expect(try kept.told("soon", at: 2999) == "Scheduled" && kept.told("soon", at: 3000) == "Enqueued")
        #expect(try kept.unfinished(2999).isEmpty && kept.journal.nextDue(after: 0) == 3000)
        #expect(try kept.journal.nextDue(after: 3000) == 5000 && kept.journal.nextDue(after: 5000) == nil)
        #expect(try kept.journal.backlog(now: 0) == MessageBacklog(dueCount: 0, oldestDue: nil, scheduledCount: 2))
        #expect(
            try kept.journal.backlog(now: 4000) == MessageBacklog(dueCount: 1, oldestDue: 3000, scheduledCount: 1),
            "one that is due counts, though nobody has begun it")
        try register("BB")
        let first = try #require(try kept.journal.unfinished(now: 3000, without: [], limit: 10).first)
        #expect(first.notification.id == "soon" && first.end == 3, "it is for the devices that there are when it is due")
        try register("CC")
        try kept.reopen()
        #expect(try kept.journal.unfinished(now: 4000, without: [], limit: 10).map(\.end) == [3])
        #expect(try kept.journal.backlog(now: 4000).dueCount == 1)
    }

    @Test func whatIsSentNowIsDueThoughTheClockWasSetBack() throws {
        try add("now", at: 5000)
        try add("later", at: 5000, due: 6000)
        #expect(try kept.unfinished(1000) == ["now"] && kept.journal.nextDue(after: 1000) == 6000)
        #expect(try kept.journal.backlog(now: 1000) == MessageBacklog(dueCount: 1, oldestDue: 5000, scheduledCount: 1))
    }

    @Test func onlySoManyWaitForTheirTime() throws {
        let journal = FileJournal(kept.file, scheduledLimit: 2)
        let add = { (id: String, due: Int64?) in
            try journal.add(.sample(id), of: .sample(at: 0), due: due, deadline: 86_400_000)
        }
        for id in ["a", "b"] { try add(id, 5000) }
        let refusal = #expect(throws: RefusedCall.self) { try add("c", 5000) }
        #expect([429, 403].contains(refusal?.answer.status) && refusal?.answer.headers["Retry-After"] != nil)
        try add("now", nil)
        let reopened = FileJournal(kept.file, scheduledLimit: 2)
        #expect(throws: RefusedCall.self) { try reopened.add(.sample("d"), of: .sample(at: 0), due: 5000, deadline: 9000) }
        #expect(try journal.cancel("a", now: 1))
        try add("e", 5000)
        #expect(throws: RefusedCall.self) { try add("f", 5000) }
        _ = try journal.backlog(now: 5000)
        try add("g", 9000)
    }

    @Test func onlyWhatWaitsForItsTimeIsTakenBack() throws {
        try add("now", at: 0)
        try add("later", at: 0, due: 5000)
        #expect(try !kept.journal.cancel("now", now: 0) && !kept.journal.cancel("none", now: 0))
        #expect(try kept.journal.cancel("later", now: 4000) && !kept.journal.cancel("later", now: 4001))
        #expect(try kept.told("later", at: 6000) == "Canceled")
        #expect(try kept.journal.telemetry(of: "later", now: 6000)?.shown.endedAt == 4000)
        #expect(try kept.unfinished(6000) == ["now"])
        try add("due", at: 0, due: 5000)
        #expect(try !kept.journal.cancel("due", now: 5000))
    }

    @Test func theFirstDueComesFirst() throws {
        for (id, time) in [("c", 3), ("a", 1), ("d", 3), ("b", 2)] as [(String, Int64)] { try add(id, at: time) }
        try add("s", at: 0, due: 2)
        #expect(try kept.unfinished(9) == ["a", "b", "s", "c", "d"])
        let some = Set(try ["a", "s"].map { try kept.number($0) })
        #expect(try kept.unfinished(9, without: some, limit: 2) == ["b", "c"])
    }

    @Test func handlesThatAreGoneAreForgottenButForLaterRegistrations() throws {
        for (handle, time) in [("AA", 10), ("BB", 10), ("CC", 30)] as [(String, Int64)] { try register(handle, at: time) }
        try add("n", at: 40)
        try step("n", at: 50) { step in
            step.gone = ["AA", "CC"].map { WalkStep.Gone(device: DeviceKey(platform: .apple, handle: $0), before: 20) }
        }
        let left = try kept.devices.read { (book) throws(RefusedCall) in
            try book.page(of: .all, from: 0, limit: 9).page.map(\.handle)
        }
        #expect(left == ["BB", "CC"])
        #expect(try HubFile.check(path: kept.path, handleKey: nil).problems.isEmpty)
    }

    @Test func whatCannotBeReadHoldsUpNothingAndIsAbandonedAtItsDeadline() throws {
        for id in ["a", "b"] { try add(id, at: 5) }
        let number = try kept.number("a")
        try kept.file.change { (connection) throws(RefusedCall) in
            try connection.run("UPDATE payload SET sealed = ? WHERE message = ?", with: [.bytes([9, 9]), .number(number)])
        }
        #expect(try kept.unfinished(0, limit: 1) == ["b"])
        let backlog = try kept.journal.backlog(now: 5)
        #expect(backlog.dueCount == 2 && backlog.unreadableCount == 1)
        #expect(try kept.unfinished(86_400_005) == ["b"] && kept.told("a", at: 86_400_005) == "Enqueued")
        #expect(try kept.unfinished(86_400_006) == ["b"])
        #expect(try kept.told("a", at: 86_400_006) == "Abandoned")
        #expect(try kept.journal.backlog(now: 5) == MessageBacklog(dueCount: 1, oldestDue: 5, scheduledCount: 0))
        #expect(try HubFile.check(path: kept.path, handleKey: nil).problems.isEmpty)
    }

    @Test func lookingForWorkCostsNothingWhereAMillionHaveEnded() throws {
        let queries = [
            FileJournal.dueQuery, FileJournal.nextQuery, FileJournal.nowCount, FileJournal.dueCount, FileJournal.scheduledCount,
        ]
        let plans = try kept.file.read { (connection) throws(RefusedCall) in
            try connection.storing { () throws(SQLiteError) in
                var steps: [String] = []
                for query in queries {
                    let plan = try connection.database.prepare("EXPLAIN QUERY PLAN \(query)")
                    while try plan.step() { steps.append(String(decoding: plan.bytes(3) ?? [], as: UTF8.self)) }
                }
                return steps
            }
        }
        let looks = plans.filter { $0.contains("message") }
        #expect(looks.count == 6 && looks.allSatisfy { $0.contains("USING COVERING INDEX message_") })
        #expect(!plans.contains { $0.contains("TEMP B-TREE") }, "nothing is sorted")
    }
}
