import FanOut

@testable import HubServer

/// What a journal must say, in memory and without haste.
struct JournalModel {
    struct Message {
        let notification: Notification
        let tags: String?
        let number: Int64
        let accepted, due: Int64
        var end: DeviceNumber?
        var place: DevicePlace?
        var started, ended: Int64?
        var state: String?
        var counts = OutcomeCounts()

        var isForHandles: Bool { if case .handles = notification.audience { true } else { false } }

        /// True if it is due, which one that is sent now always is.
        func isUnfinished(_ now: Int64) -> Bool { ended == nil && (due <= accepted || due <= now) }

        /// The telemetry in one text.
        func told(at now: Int64) -> String {
            let state =
                self.state ?? (started != nil ? "Processing" : due > accepted && due > now ? "Scheduled" : "Enqueued")
            return JournalModel.text(
                MessageTelemetry(
                    id: notification.id, body: ended == nil ? notification.body : nil, tags: tags, platform: .apple,
                    apiVersion: .namesErrorDetails, queuedAt: due,
                    shown: .init(state: state, startedAt: started, endedAt: ended, counts: counts)))
        }
    }

    private(set) var messages: [Message] = []
    private(set) var feedback: [PNSFeedback] = []
    private var lastNumber: Int64 = 0
    /// The number that the next device gets.
    var nextDevice: DeviceNumber = 1

    static func text(_ telemetry: MessageTelemetry) -> String {
        let shown = telemetry.shown
        return """
            \(telemetry.id) \(telemetry.body ?? []) \(telemetry.tags ?? "-") \(telemetry.platform?.format ?? "-") \
            \(telemetry.apiVersion.text) \(telemetry.queuedAt) \(shown.state) \(shown.startedAt ?? -1) \(shown.endedAt ?? -1) \
            \(shown.counts.entries.map { "\($0.platform.format).\($0.name)=\($0.count)" })
            """
    }

    mutating func add(_ notification: Notification, at now: Int64, due: Int64?) {
        lastNumber += 1
        var tags: String?
        if case .tags(let expression) = notification.audience { tags = expression.description }
        var message = Message(
            notification: notification, tags: tags, number: lastNumber, accepted: now, due: due ?? now)
        if due == nil, !message.isForHandles { message.end = nextDevice }
        messages.append(message)
    }

    mutating func cancel(_ id: String, now: Int64) -> Bool {
        guard
            let index = messages.firstIndex(where: {
                $0.notification.id == id && $0.ended == nil && $0.due > $0.accepted && $0.due > now
            })
        else { return false }
        (messages[index].ended, messages[index].state) = (now, "Canceled")
        return true
    }

    mutating func unfinished(now: Int64, without numbers: Set<Int64>, limit: Int) -> [Message] {
        let found = messages.filter { $0.isUnfinished(now) && !numbers.contains($0.number) }
            .sorted { ($0.due, $0.number) < ($1.due, $1.number) }.prefix(limit).map(\.number)
        for index in messages.indices where found.contains(messages[index].number) {
            if messages[index].end == nil, !messages[index].isForHandles { messages[index].end = nextDevice }
        }
        return found.compactMap { number in messages.first { $0.number == number } }
    }

    func nextDue(after now: Int64) -> Int64? {
        messages.filter { $0.ended == nil && $0.due > $0.accepted && $0.due > now }.map(\.due).min()
    }

    func backlog(now: Int64) -> MessageBacklog {
        let due = messages.filter { $0.isUnfinished(now) }
        return MessageBacklog(
            dueCount: due.count, oldestDue: due.map(\.due).min(),
            scheduledCount: messages.count { $0.ended == nil && !$0.isUnfinished(now) })
    }

    mutating func keep(_ step: WalkStep) {
        guard let index = messages.firstIndex(where: { $0.number == step.message && $0.ended == nil }) else { return }
        messages[index].started = messages[index].started ?? step.at
        messages[index].place = step.place ?? messages[index].place
        for entry in step.counts.entries { messages[index].counts.add(entry.name, on: entry.platform, count: entry.count) }
        feedback += step.refused
        guard let ending = step.ending else { return }
        messages[index].ended = step.at
        messages[index].state =
            switch ending {
            case .completed: "Completed"
            case .noTarget: "NoTargetFound"
            case .abandoned: "Abandoned"
            }
    }

    /// The blobs of the feedback container.
    var blobs: [FeedbackBlob] {
        Dictionary(grouping: feedback, by: \.day).map { day, entries in
            FeedbackBlob(
                name: day + "-feedback.xml", bytes: PNSFeedback.document(entries), modified: entries.map(\.at).max() ?? 0)
        }.sorted { $0.name < $1.name }
    }

    func refused(by id: String) -> [PNSFeedback]? {
        messages.contains { $0.notification.id == id } ? feedback.filter { $0.notificationID == id } : nil
    }

    /// Forgets all that can be forgotten.
    mutating func forget(endedBefore time: Int64) {
        let old = Set(blobs.filter { $0.modified < time }.map(\.name))
        feedback.removeAll { old.contains($0.day + "-feedback.xml") }
        let needed = Set(feedback.map(\.notificationID))
        messages.removeAll { message in
            message.ended.map { $0 < time } ?? false && !needed.contains(message.notification.id)
        }
    }
}
