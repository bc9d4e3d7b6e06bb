import JobSupport
import Publishing
import PushModel
import ResultQuery

struct ResultFormatter {
    private let record: ResultRecord
    private var document = JSONDocument()
    private var root: JSONDocument.Node { document.root }

    init(_ record: ResultRecord) {
        self.record = record
        // Read once before: what is no result never became a record.
        _ = document.readResult(record.json.span)
    }

    /// The publication and consumption of the request, and each attempt. A wide story has each call, too.
    func attempts(isWide: Bool) -> [StoryEvent] {
        var events = publishing
        if let attempts = document.member("attempts", of: root) {
            document.forEachElement(of: attempts) { events.append(attempt($0)) }
        }
        guard isWide, let sends = document.member("sends", of: root) else { return events }
        document.forEachElement(of: sends) { events.append(call($0)) }
        return events
    }

    var ending: StoryEvent {
        switch record.kind {
        case "outcome": return StoryEvent(at: record.at, what: "outcome", detail: telemetry)
        case "interim":
            return StoryEvent(at: record.at, what: "interim", detail: record.state + attemptsOfACall)
        default:
            let after = record.totalMilliseconds.map { ", \(TimeText.length(milliseconds: $0)) after it was published" } ?? ""
            return StoryEvent(at: record.at, what: "result", detail: record.state + attemptsOfACall + after)
        }
    }

    /// The most attempts of a call, with a blank before the number.
    private var attemptsOfACall: String {
        record.attemptCount > 0 ? " after " + Counted.text(record.attemptCount, "attempt", "attempts") : " without an attempt"
    }

    var replay: StoryEvent {
        let code = record.errorCode.map { ": \($0)" } ?? ""
        let job = job.map { " (\($0))" } ?? ""
        return StoryEvent(at: record.at, what: "replay", detail: "\(record.requestID) \(record.state)\(code)\(job)")
    }

    /// The result of its parts, when it was sent in parts.
    var parts: String? {
        guard let parts = document.member("parts", of: root) else { return nil }
        func count(_ name: StaticString) -> Int64 { document.integer(name, of: parts) ?? 0 }
        var words = ["\(count("count"))", "\(count("sent")) sent"]
        for (name, number) in [
            ("partial", count("partial")), ("failed", count("failed")), ("ambiguous", count("ambiguous")),
            ("expired", count("expired")), ("cancelled", count("cancelled")),
        ] where number > 0 { words.append("\(number) \(name)") }
        return words.joined(separator: ", ")
    }

    /// The ids of the first parts that were not sent everywhere.
    var partsNotSent: [String] {
        guard let parts = document.member("parts", of: root), let list = document.member("not_sent", of: parts) else { return [] }
        var ids: [String] = []
        document.forEachElement(of: list) { chunk in
            if let number = document.integer(at: chunk) { ids.append("\(record.requestID).\(number)") }
        }
        return ids
    }

    /// The request of which this one is a part, or nil when it stands for itself.
    var whole: String? {
        guard let parent = document.member("parent", of: root), let id = document.text("id", of: parent) else { return nil }
        let (chunk, chunks) = (document.integer("chunk", of: parent) ?? 0, document.integer("chunks", of: parent) ?? 0)
        return "\(id), \(chunk.addingSaturated(1)) of \(chunks)"
    }

    /// The request of which this one is a replay, or nil when it is none.
    var origin: String? {
        guard let replay = document.member("replay", of: root), let parent = document.text("parent_request_id", of: replay)
        else { return nil }
        let first = document.text("root_request_id", of: replay).flatMap { $0 == parent ? nil : ", at first \($0)" } ?? ""
        return parent + first + (job.map { " (\($0))" } ?? "")
    }

    private var job: String? {
        guard let replay = document.member("replay", of: root) else { return nil }
        let parts = [
            document.integer("generation", of: replay).map { "generation \($0)" },
            document.text("job_id", of: replay).map { "job \($0)" }, document.text("actor", of: replay).map { "by \($0)" },
            document.text("reason", of: replay).map { "because \($0)" },
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private var publishing: [StoryEvent] {
        var events: [StoryEvent] = []
        let timings = document.member("timings", of: root)
        if let origin = document.member("origin", of: root), let topic = document.text("topic", of: origin) {
            let partition = document.integer("partition", of: origin) ?? 0
            let place = "to \(topic), partition \(partition), offset \(document.text("offset", of: origin) ?? "?")"
            let at = timings.flatMap { document.text("published_at", of: $0) } ?? ""
            events.append(StoryEvent(at: at, what: "published", detail: place))
        }
        if let timings, let at = document.text("consumed_at", of: timings) {
            let wait = document.integer("queue_ms", of: timings).map {
                ", after \(TimeText.length(milliseconds: $0)) in the queue"
            }
            events.append(StoryEvent(at: at, what: "consumed", detail: "by \(record.worker ?? "a worker")\(wait ?? "")"))
        }
        return events
    }

    private func attempt(_ attempt: JSONDocument.Node) -> StoryEvent {
        let number = document.integer("n", of: attempt) ?? 0
        var words = "\(number)"
        if let platform = platform(ofSend: document.integer("send", of: attempt)) { words += " to \(platform)" }
        if let status = document.integer("http_status", of: attempt) { words += ": status \(status)" }
        if let code = document.text("error_code", of: attempt) { words += " (\(code))" }
        if let length = document.integer("duration_ms", of: attempt) { words += ", \(TimeText.length(milliseconds: length))" }
        if let wait = document.integer("backoff_ms", of: attempt) {
            words += ", then waited \(TimeText.length(milliseconds: wait))"
        }
        return StoryEvent(at: document.text("started_at", of: attempt) ?? "", what: "attempt", detail: words)
    }

    private func call(_ send: JSONDocument.Node) -> StoryEvent {
        var words = "\(document.integer("index", of: send) ?? 0) to \(document.text("platform", of: send) ?? "?")"
        words += ": \(document.text("outcome", of: send) ?? "unknown")"
        if let code = document.text("error_code", of: send) { words += " (\(code))" }
        if let count = document.integer("payload_bytes", of: send) { words += ", \(count) bytes" }
        if let id = document.text("notification_id", of: send) { words += ", notification \(id)" }
        if let id = document.text("tracking_id", of: send) { words += ", tracking \(id)" }
        return StoryEvent(at: record.at, what: "call", detail: words)
    }

    /// The counts of the hub's telemetry, such as `Completed; apple: Success 3, ExpiredChannel 1`.
    private var telemetry: String {
        var parts = [document.text("hub_state", of: root) ?? record.state]
        if let devices = document.member("devices", of: root) {
            document.forEachMember(of: devices) { parts += counts(of: $1, on: document.string($0)) }
        } else if let sends = document.member("sends", of: root) {
            document.forEachElement(of: sends) { send in
                guard let outcomes = document.member("pns_outcomes", of: send) else { return }
                parts += counts(of: outcomes, on: document.text("platform", of: send) ?? "?")
            }
        }
        if let code = record.errorCode { parts.append(code) }
        return parts.joined(separator: "; ")
    }

    private func counts(of outcomes: JSONDocument.Node, on platform: String) -> [String] {
        var counts: [String] = []
        document.forEachMember(of: outcomes) { name, count in
            counts.append("\(document.string(name)) \(document.integer(at: count) ?? 0)")
        }
        return counts.isEmpty ? [] : ["\(platform): \(counts.joined(separator: ", "))"]
    }

    private func platform(ofSend index: Int64?) -> String? {
        guard let index, let sends = document.member("sends", of: root) else { return nil }
        var found: String?
        document.forEachElement(of: sends) { send in
            if document.integer("index", of: send) == index { found = document.text("platform", of: send) }
        }
        return found
    }
}
