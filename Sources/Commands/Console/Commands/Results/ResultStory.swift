import Publishing
import PushModel
import Results

/// The life of one request in plain text: what it came to, and how.
struct ResultStory {
    let life: RequestLife
    let traits: Streams.Traits
    /// Each call is shown as well.
    var isWide = false
    /// The outcome of all its calls together, where it is followed.
    var outcome: OutcomeState?
    /// The times for which holds concerned the request.
    var held: [HeldSpan] = []
    /// The present moment.
    var now = Timestamp.past
    private static let shownParts = 10

    /// Several lines, the last without its end.
    var text: String {
        var events: [StoryEvent] = []
        for record in life.own {
            let telling = ResultFormatter(record)
            if showsAttempts(record) { events += telling.attempts(isWide: isWide) }
            events.append(telling.ending)
        }
        events += life.replays.map { ResultFormatter($0).replay }
        let ordered = events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return (heading + [""] + ordered.map(\.element.line)).joined(separator: "\n")
    }

    /// True if a result's attempts are shown. Each result repeats all attempts, so only the final one, or else the newest, shows
    /// them.
    private func showsAttempts(_ record: ResultRecord) -> Bool {
        if life.final != nil { return record.kind == "final" }
        return record.partition == life.own.last?.partition && record.offset == life.own.last?.offset
    }

    /// The last outcome of a call for which not every device was reached, or that is not known. Nil where none is to blame.
    private var causeOfOutcome: ResultRecord? {
        guard let outcome, outcome != .delivered, outcome != .awaited else { return nil }
        let failures = life.outcomes.filter { $0.errorCode != nil }
        let known = [ErrorCode.noTarget, .devicesRefused].map(\.rawValue)
        return failures.last { !known.contains($0.errorCode ?? "") }
            ?? failures.last { $0.errorCode == ErrorCode.devicesRefused.rawValue } ?? failures.last
    }

    private var heading: [String] {
        guard let latest = life.latest else { return [] }
        let telling = ResultFormatter(latest)
        let cause = causeOfOutcome ?? latest
        let word = outcome.flatMap { $0.isKnown ? $0.rawValue : nil } ?? latest.state
        let state = Colour.of(state: word)?.paint(word, traits) ?? Sanitised.line(word)
        var lines = ["request  \(Sanitised.line(latest.requestID))", "state    \(state) (\(Sanitised.line(cause.outcome)))"]
        if let outcome, !outcome.isKnown { lines.append("outcome  \(outcome.rawValue)") }
        if !latest.hub.isEmpty { lines.append("hub      \(Sanitised.line(latest.hub))") }
        if let safety = cause.replaySafety { lines.append("replay   \(Sanitised.line(safety))") }
        if let code = cause.errorCode {
            lines.append("error    \(Sanitised.line(code)): \(Sanitised.line(cause.errorMessage ?? ""))")
            if let remedy = ErrorCode(rawValue: code)?.explanation.remedy { lines.append("remedy   \(remedy)") }
        }
        if let parts = telling.parts { lines.append("parts    \(Sanitised.line(parts))") }
        let notSent = telling.partsNotSent
        if !notSent.isEmpty {
            let more = notSent.count > Self.shownParts ? " and more; `pushfan results list state:failed,partial` lists them" : ""
            lines.append("not sent \(notSent.prefix(Self.shownParts).map { Sanitised.line($0) }.joined(separator: " "))\(more)")
        }
        if let whole = telling.whole { lines.append("part of  \(Sanitised.line(whole))") }
        if let origin = telling.origin { lines.append("repeats  \(Sanitised.line(origin))") }
        return lines + held.map { "held     \(Sanitised.line($0.text(at: now)))" }
    }
}

/// Something that happened to a request.
struct StoryEvent {
    let at: String
    let what: String
    let detail: String

    var line: String { Sanitised.line(at.padding(to: 26) + what.padding(to: 11) + detail) }
}
