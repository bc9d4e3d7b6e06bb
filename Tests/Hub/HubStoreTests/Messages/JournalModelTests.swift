import FanOut
import TestSupport
import Testing

@testable import HubServer
@testable import HubStore

/// Random operations on a journal and on a model of it: all answers are equal after each.
struct JournalModelTests {
    private static let hour = 3_600_000

    @Test(arguments: [1, 2, 3, 4])
    func aJournalAnswersAsItsModel(_ seed: Int) throws {
        var random = SeededRandom(seed)
        let kept = try JournalFile(handleKey: seed.isMultiple(of: 2) ? JournalFile.key : nil)
        var model = JournalModel()
        var now: Int64 = 0
        var ids = ["none"]
        for round in 0..<250 {
            now += Int64(random.below(2 * Self.hour))
            switch random.below(20) {
            case 0..<7:
                ids.append("id-\(round)")
                let due = random.below(3) == 0 ? now + Int64(1 + random.below(12 * Self.hour)) : nil
                let notification = try Notification.sample(
                    "id-\(round)", to: Self.audience(isScheduled: due != nil, by: &random))
                try kept.journal.add(notification, of: .sample(at: now), due: due, deadline: now + 100)
                model.add(notification, at: now, due: due)
            case 7..<15:
                let step = Self.step(of: model, at: now, by: &random)
                try kept.keep(step)
                model.keep(step)
            case 15..<17:
                let id = ids[random.below(ids.count)]
                let isTakenBack = model.cancel(id, now: now)
                #expect(try kept.journal.cancel(id, now: now) == isTakenBack)
            case 17:
                let time = now - Int64(random.below(48 * Self.hour))
                while try kept.journal.forget(endedBefore: time) > 0 {}
                model.forget(endedBefore: time)
            case 18:
                let handle = "AB\(round)"
                try kept.devices.change { (book) throws(RefusedCall) in
                    try book.write(Registration(id: "1-1-\(round)", etag: 1, platform: .apple, handle: handle))
                }
                model.nextDevice += 1
            default: try kept.reopen()
            }
            try Self.compare(kept, with: &model, ids: ids, now: now, limit: 1 + random.below(4))
        }
        #expect(try HubFile.check(path: kept.path, handleKey: seed.isMultiple(of: 2) ? JournalFile.key : nil).problems.isEmpty)
    }

    private static func audience(
        isScheduled: Bool, by random: inout SeededRandom
    ) throws -> Notification.Audience {
        switch random.below(isScheduled ? 2 : 3) {
        case 0: .everyone
        case 1: .tags(try TagExpression(parsing: "(a && !b) || c"))
        default: .handles(["AB", "CD"])
        }
    }

    /// A step of any notification, also of one that has ended or never was.
    private static func step(of model: JournalModel, at now: Int64, by random: inout SeededRandom) -> WalkStep {
        let started = model.messages.filter { $0.due <= now && $0.ended == nil }
        let message = random.below(10) == 0 ? model.messages.randomElement(using: &random) : started.randomElement(using: &random)
        var step = WalkStep(message: message?.number ?? 9999, at: now)
        if random.below(2) == 0 {
            step.place = DevicePlace(platform: random.below(2) == 0 ? .apple : .xiaomi, number: Int64(random.below(1 << 30)))
        }
        for name in ["Success", "WrongToken", "ExpiredChannel"] where random.below(2) == 0 {
            step.counts.add(name, on: random.below(2) == 0 ? .apple : .fcmv1, count: 1 + random.below(9))
        }
        for index in 0..<random.below(3) {
            step.refused.append(
                PNSFeedback(
                    at: now, outcome: "WrongToken", platform: .apple, handle: "h\(index)<é>", registrationID: "1-\(index)-1",
                    installationID: index == 0 ? nil : "i\(index)", notificationID: message?.notification.id ?? "none"))
        }
        switch random.below(9) {
        case 0: step.ending = .completed
        case 1: step.ending = .noTarget
        case 2: step.ending = .abandoned
        default: break
        }
        return step
    }

    private static func compare(
        _ kept: JournalFile, with model: inout JournalModel, ids: [String], now: Int64, limit: Int
    ) throws {
        let skipped = Set(model.messages.prefix(1).map(\.number))
        let due = try kept.journal.unfinished(now: now, without: skipped, limit: limit).map(Self.text)
        #expect(due == model.unfinished(now: now, without: skipped, limit: limit).map(Self.text))
        #expect(try kept.journal.nextDue(after: now) == model.nextDue(after: now))
        #expect(try kept.journal.backlog(now: now) == model.backlog(now: now))
        let blobs = model.blobs
        #expect(try kept.journal.feedbackBlobs(from: "", limit: 1000) == blobs.map(\.head))
        for blob in blobs.suffix(2) { #expect(try kept.journal.feedbackBlob(blob.name) == blob.bytes) }
        for id in ids {
            let message = model.messages.first { $0.notification.id == id }
            #expect(try kept.journal.telemetry(of: id, now: now).map(JournalModel.text) == message?.told(at: now))
        }
        for id in ids.suffix(5) {
            #expect(
                try kept.journal.refused(by: id).map(PNSFeedback.document) == model.refused(by: id).map(PNSFeedback.document))
        }
    }

    private static func text(_ message: JournaledMessage) -> String {
        text(
            number: message.number, notification: message.notification, times: [message.acceptedAt, message.due],
            end: message.end, place: message.place)
    }

    private static func text(_ message: JournalModel.Message) -> String {
        text(
            number: message.number, notification: message.notification, times: [message.accepted, message.due],
            end: message.end, place: message.place)
    }

    private static func text(
        number: Int64, notification: Notification, times: [Int64], end: DeviceNumber?, place: DevicePlace?
    ) -> String {
        "\(number) \(notification.whole) \(times) \(end ?? -1) \(place?.platform.format ?? "-") \(place?.number ?? -1)"
    }
}
