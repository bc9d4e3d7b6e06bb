import Testing

@testable import HubServer
@testable import HubStore

/// The devices that push services refused.
struct KeptFeedbackTests {
    private static let day: Int64 = 86_400_000
    private let kept: JournalFile

    init() throws { kept = try JournalFile(handleKey: JournalFile.key) }

    private func feedback(_ handle: String, of id: String, at now: Int64) -> PNSFeedback {
        PNSFeedback(
            at: now, outcome: "WrongToken", platform: .fcmv1, handle: handle, registrationID: "1-2-3",
            installationID: handle.hasPrefix("a") ? "inst" : nil, notificationID: id)
    }

    private func refuse(_ handles: [String], by id: String, at now: Int64, ending: WalkStep.Ending? = .completed) throws {
        if try kept.journal.telemetry(of: id, now: now) == nil {
            try kept.journal.add(.sample(id), of: .sample(at: now), due: nil, deadline: now + 1)
        }
        var step = WalkStep(message: try kept.number(id), at: now)
        step.refused = handles.map { feedback($0, of: id, at: now) }
        step.counts.add("WrongToken", on: .fcmv1, count: handles.count)
        step.ending = ending
        try kept.keep(step)
    }

    private func blobs() throws -> [FeedbackBlob.Head] { try kept.journal.feedbackBlobs(from: "", limit: 100) }

    @Test func aBlobOfADayHasItsRefusals() throws {
        try refuse(["a&b", "c"], by: "n", at: 1000, ending: nil)
        try refuse(["é"], by: "n", at: 2000)
        try refuse(["d"], by: "m", at: Self.day + 1)
        let heads = try blobs()
        #expect(heads.map(\.name) == ["01011970-feedback.xml", "01021970-feedback.xml"])
        #expect(heads.map(\.modified) == [2000, Self.day + 1])
        let expected = PNSFeedback.document(
            [("a&b", 1000), ("c", 1000), ("é", 2000)].map { feedback($0.0, of: "n", at: $0.1) })
        #expect(try kept.journal.feedbackBlob("01011970-feedback.xml") == expected)
        #expect(heads[0].byteCount == expected.count)
        #expect(try kept.journal.refused(by: "n").map(PNSFeedback.document) == expected)
        #expect(try kept.journal.refused(by: "none") == nil && kept.journal.feedbackBlob("none") == nil)
        #expect(try kept.journal.feedbackBlobs(from: "01011970-g", limit: 1) == [heads[1]])
    }

    @Test func aFullBlobIsFollowedByAnotherOfItsDay() throws {
        let long = String(repeating: "h", count: Int(FeedbackRows.fullByteCount))
        for (index, handle) in ["s", long, "t", long, "u"].enumerated() { try refuse([handle], by: "n\(index)", at: 0) }
        let names = ["01011970-feedback-2.xml", "01011970-feedback-3.xml", "01011970-feedback.xml"]
        #expect(try blobs().map(\.name) == names)
        for head in try blobs() { #expect(try kept.journal.feedbackBlob(head.name)?.count == head.byteCount) }
        let last = String(decoding: try #require(try kept.journal.feedbackBlob(names[1])), as: UTF8.self)
        #expect(last.contains("<PnsHandle>u</PnsHandle>") && last.split(separator: "\n").count == 1)
    }

    @Test func whatEndedLongAgoIsForgottenWithItsFeedback() throws {
        try refuse(["a"], by: "old", at: 1000)
        try refuse(["b"], by: "new", at: Self.day + 1000)
        // The blob of the first day is changed last by a notification that is newer than the limit.
        try refuse(["c"], by: "newer", at: 5000)
        #expect(try kept.journal.forget(endedBefore: 3000) == 0, "a blob goes as a whole, and keeps its notifications")
        #expect(try kept.journal.forget(endedBefore: 6000) > 0)
        while try kept.journal.forget(endedBefore: 6000) > 0 {}
        #expect(try kept.told("old", at: 0) == nil && kept.told("newer", at: 0) == nil)
        #expect(try kept.told("new", at: 0) == "Completed fcmv1.WrongToken=1")
        #expect(try blobs().map(\.name) == ["01021970-feedback.xml"])
        #expect(try kept.journal.refused(by: "new")?.count == 1)
        #expect(try HubFile.check(path: kept.path, handleKey: JournalFile.key).problems.isEmpty)
    }

    @Test func manyAreForgottenInPortions() throws {
        for index in 0..<30 {
            try kept.journal.add(.sample("n\(index)"), of: .sample(at: 0), due: nil, deadline: 1)
            var step = WalkStep(message: try kept.number("n\(index)"), at: Int64(index))
            if index % 3 > 0 { step.ending = .noTarget }
            try kept.keep(step)
        }
        var count = 0
        while case let some = try kept.journal.forget(endedBefore: 25), some > 0 { count += some }
        #expect(count == (0..<25).count { $0 % 3 > 0 })
        #expect(try kept.journal.backlog(now: 0).dueCount == 10)
    }
}
