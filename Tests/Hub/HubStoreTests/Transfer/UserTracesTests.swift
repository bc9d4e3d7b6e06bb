import FanOut
import struct Foundation.Data
import struct Foundation.URL
import HTTPServing
import Testing

@testable import HubServer
@testable import HubStore

/// What is left of a user in notifications and in lists of refused devices.
struct UserTracesTests {
    private static let (phone, tablet, former, other) = ("handle-of-phone", "handle-of-tablet", "handle-once", "handle-of-bob")
    private let kept: JournalFile

    init() throws { kept = try JournalFile() }

    /// A registration and an installation of Zelda, and a registration of Bob.
    private func register() throws {
        try kept.devices.change { (book) throws(RefusedCall) in
            try book.write(Registration(id: "1-1-1", platform: .fcmv1, handle: Self.phone, tags: ["UserName:Zelda"]))
            try book.write(Registration(id: "1-2-1", platform: .fcmv1, handle: Self.other, tags: ["username:bob"]))
            let target = InstallationTarget(pushChannel: Self.tablet, tags: [])
            var installation = StoredInstallation(id: "tablet-of-her", platform: .fcmv1, target: target)
            installation.userID = "zelda"
            try book.write(installation, as: installation.registrations { "1-3-1" })
        }
    }

    /// Adds a notification with a text of its own, which is scheduled, or ended after some refusals.
    private func send(
        _ id: String, to audience: Notification.Audience, headers: HTTPFields = [:], refused: [PNSFeedback]? = nil
    ) throws {
        let body = Array(#"{"message":{"data":{"k":"text-of-\#(id)"}}}"#.utf8)
        let notification = try Notification(
            id: id, callID: 1, format: "fcmv1", audience: audience, body: body, headers: [:])
        try kept.journal.add(
            notification, of: .sample(at: 1000, headers: headers), due: refused == nil ? 900_000 : nil, deadline: 999_000)
        guard let refused else { return }
        var step = WalkStep(message: try kept.number(id), at: 2000)
        (step.refused, step.ending) = (refused, .completed)
        try kept.keep(step)
    }

    private func send(
        _ id: String, toTags tags: String, headers: HTTPFields = [:], refused: [PNSFeedback]? = nil
    ) throws {
        try send(id, to: .tags(TagExpression(parsing: tags)), headers: headers, refused: refused)
    }

    private func refusal(_ handle: String, by id: String, installation: String? = nil) -> PNSFeedback {
        PNSFeedback(
            at: 2000, outcome: "WrongToken", platform: .fcmv1, handle: handle, registrationID: "9-9-9",
            installationID: installation, notificationID: id)
    }

    private func erase() throws -> UserTraces {
        var removal = UserRemoval(ofTags: ["username:ZELDA", "$UserId:{ZELDA}"])
        try removal.find(on: kept.devices)
        var traces = UserTraces(of: removal, at: 5000)
        try traces.remove(from: kept.file)
        try removal.remove(from: kept.devices)
        return traces
    }

    @Test func aClosedFileHasNeitherNameNorTextNorHandleOfTheErased() throws {
        try register()
        try send(
            "told", toTags: "username:zelda", headers: ["ServiceBusNotification-Tags": "UserName:Zelda"],
            refused: [refusal(Self.former, by: "told")])
        let both = [
            refusal(Self.phone, by: "both"), refusal("handle-before", by: "both", installation: "tablet-of-her"),
            refusal(Self.other, by: "both"),
        ]
        try send("both", toTags: "username:zelda || username:bob", refused: both)
        try send("later", toTags: "$UserId:{zelda} || (username:zelda && news)")
        try send("device", toTags: "$InstallationId:{tablet-of-her}")
        try send("handles", to: .handles([Self.phone, Self.tablet]))
        try send("bobs", toTags: "username:bob")
        let traces = try erase()
        #expect(traces.endedCount == 2 && traces.canceledCount == 3 && traces.keptCount == 0 && traces.refusalCount == 3)
        #expect(try kept.told("later", at: 6000) == "Canceled" && kept.told("bobs", at: 6000) == "Scheduled")
        #expect(try kept.journal.telemetry(of: "told", now: 6000)?.tags == nil)
        let blob = try #require(try kept.journal.feedbackBlobs(from: "", limit: 9).first)
        let left = PNSFeedback.document([refusal(Self.other, by: "both")])
        #expect(try kept.journal.feedbackBlob(blob.name) == left && blob.byteCount == left.count)

        kept.file.close()
        try HubFile.rewrite(path: kept.path, handleKey: nil)
        #expect(try HubFile.check(path: kept.path, handleKey: nil).problems.isEmpty)
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: kept.path)), as: UTF8.self).lowercased()
        let gone = [
            "zelda", "tablet-of-her", "text-of-told", "text-of-later", "text-of-device", "text-of-handles", Self.phone,
            Self.tablet, Self.former, "handle-before",
        ]
        for word in gone { #expect(!text.contains(word), "\(word)") }
        for word in ["username:bob", "text-of-bobs", Self.other] { #expect(text.contains(word), "\(word)") }
    }

    @Test func whatIsForOthersTooIsSentAndThenLosesItsTags() throws {
        try register()
        try send("tags", toTags: "username:zelda || username:bob")
        try send("handles", to: .handles([Self.phone, Self.other]))
        let traces = try erase()
        #expect(traces.keptCount == 2 && traces.canceledCount == 0 && traces.endedCount == 0)
        let waiting = try kept.journal.unfinished(now: 900_000, without: [], limit: 9)
        #expect(waiting.map(\.notification.id) == ["tags", "handles"])
        for message in waiting {
            var step = WalkStep(message: message.number, at: 900_000)
            step.ending = .completed
            try kept.keep(step)
        }
        #expect(try erase().endedCount == 1)
        #expect(try kept.journal.telemetry(of: "tags", now: 900_000)?.tags == nil)
    }

    @Test func manyAreLookedAtInPortions() throws {
        for index in 0..<501 { try send("n\(index)", toTags: index == 200 ? "username:bob" : "username:zelda") }
        #expect(try erase().canceledCount == 500)
        #expect(try kept.unfinished(900_000) == ["n200"])
    }

    @Test func aBlobGoesWithTheLastRefusal() throws {
        try send("told", toTags: "username:zelda", refused: [refusal(Self.former, by: "told")])
        #expect(try erase().refusalCount == 1)
        #expect(try kept.journal.feedbackBlobs(from: "", limit: 9).isEmpty)
        #expect(try kept.journal.refused(by: "told")?.isEmpty == true)
    }

    @Test(
        arguments: [
            ("username:zelda", .all), ("UserName:Zelda", .all), ("username:zelda && ios", .all),
            ("username:zelda || $UserId:{Zelda}", .all), ("ios && (username:zelda || username:zelda)", .all),
            ("username:zelda || ios", .some), ("!username:zelda", .some), ("news && !username:zelda", .some),
            ("(username:zelda && ios) || news", .some), ("username:zelda2", .none), ("x-username:zelda", .none),
            ("zelda", .none), ("username:z || elda", .none), ("$InstallationId:{zelda}", .none),
        ] as [(String, FoundUser.Share)])
    func aUserIsNamedByWholeTagsAlone(_ text: String, share: FoundUser.Share) throws {
        let user = FoundUser(tags: ["username:zelda", "$userid:{zelda}"])
        #expect(user.share(in: try TagExpression(parsing: text)) == share)
    }
}
