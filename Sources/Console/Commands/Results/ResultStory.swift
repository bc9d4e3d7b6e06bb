import PushModel

/// One result told as the life of its request, in plain text.
struct ResultStory {
    private let record: ResultRecord
    private let traits: Streams.Traits
    private var document = JSONDocument()

    init(_ record: ResultRecord, _ traits: Streams.Traits) {
        self.record = record
        self.traits = traits
        // Read once before: what is no JSON never became a record.
        try? document.read(record.json.span)
    }

    /// Several lines, the last without its end.
    var text: String {
        let root = document.root
        let state = Colour.of(state: record.state)?.paint(record.state, traits) ?? Sanitised.line(record.state)
        var lines = ["request  \(Sanitised.line(record.requestID))", "state    \(state) (\(Sanitised.line(record.outcome)))"]
        if !record.hub.isEmpty { lines.append("hub      \(Sanitised.line(record.hub))") }
        if let safety = document.text("replay_safety", of: root) { lines.append("replay   \(Sanitised.line(safety))") }
        lines += errorLines(root)
        lines.append("")
        lines += publishing(root)
        document.member("attempts", of: root).map { attempts in
            document.forEachElement(of: attempts) { lines.append(attempt($0, root)) }
        }
        let timings = document.member("timings", of: root)
        let total = timings.flatMap { document.integer("total_ms", of: $0) }
        let after = total.map { ", \(TimeText.length(milliseconds: $0)) after it was published" } ?? ""
        lines.append(event(record.at, "result", "\(record.state) after \(record.attemptCount) attempts\(after)"))
        return lines.joined(separator: "\n")
    }

    private func errorLines(_ root: JSONDocument.Node) -> [String] {
        guard let code = record.errorCode else { return [] }
        var lines = ["error    \(Sanitised.line(code)): \(Sanitised.line(record.errorMessage ?? ""))"]
        if let remedy = ErrorCode(rawValue: code)?.explanation.remedy { lines.append("remedy   \(remedy)") }
        return lines
    }

    private func publishing(_ root: JSONDocument.Node) -> [String] {
        var lines: [String] = []
        let timings = document.member("timings", of: root)
        if let origin = document.member("origin", of: root), let topic = document.text("topic", of: origin) {
            let partition = document.integer("partition", of: origin) ?? 0
            let place = "to \(topic), partition \(partition), offset \(document.text("offset", of: origin) ?? "?")"
            let at = timings.flatMap { document.text("published_at", of: $0) } ?? ""
            lines.append(event(at, "published", place))
        }
        if let timings, let at = document.text("consumed_at", of: timings) {
            let wait = document.integer("queue_ms", of: timings).map {
                ", after \(TimeText.length(milliseconds: $0)) in the queue"
            }
            let worker = document.member("worker", of: root).flatMap { document.text("id", of: $0) } ?? "a worker"
            lines.append(event(at, "consumed", "by \(worker)\(wait ?? "")"))
        }
        return lines
    }

    private func attempt(_ attempt: JSONDocument.Node, _ root: JSONDocument.Node) -> String {
        let number = document.integer("n", of: attempt) ?? 0
        var words = "\(number)"
        if let platform = platform(ofSend: document.integer("send", of: attempt), root) { words += " to \(platform)" }
        if let status = document.integer("http_status", of: attempt) { words += ": status \(status)" }
        if let code = document.text("error_code", of: attempt) { words += " (\(code))" }
        if let length = document.integer("duration_ms", of: attempt) { words += ", \(TimeText.length(milliseconds: length))" }
        if let wait = document.integer("backoff_ms", of: attempt) {
            words += ", then waited \(TimeText.length(milliseconds: wait))"
        }
        return event(document.text("started_at", of: attempt) ?? "", "attempt", words)
    }

    private func platform(ofSend index: Int64?, _ root: JSONDocument.Node) -> String? {
        guard let index, let sends = document.member("sends", of: root) else { return nil }
        var found: String?
        document.forEachElement(of: sends) { send in
            if document.integer("index", of: send) == index { found = document.text("platform", of: send) }
        }
        return found
    }

    private func event(_ at: String, _ what: String, _ detail: String) -> String {
        Sanitised.line(at.padding(to: 26) + what.padding(to: 11) + detail)
    }
}
