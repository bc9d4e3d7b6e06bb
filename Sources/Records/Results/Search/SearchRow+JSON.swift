import Publishing
import PushModel
import Replay
import ResultQuery

extension SearchRow {
    /// The row as one JSON object (page Gateway, "Find and repair").
    ///
    /// - Parameters:
    ///   - names: The names that the searcher gave, which are shown in any case.
    ///   - isPayloadVisible: The title and all names are shown.
    ///   - isSought: A user, a device or a word is sought, so that the row says how sure it is.
    ///   - now: The moment of the list, in milliseconds since 1970.
    /// - Returns: The object.
    package func json(revealing names: [String], isPayloadVisible: Bool, isSought: Bool = false, at now: Int64) -> [UInt8] {
        var object = JSONObject([
            "id": id, "state": state, "outcome_state": outcomeState(at: now)?.rawValue,
            "published_at": Timestamp(milliseconds: publishedAt).text, "finished_at": finishedAt,
        ])
        if let audience = facts?.audience {
            object.add("to", raw: (isPayloadVisible ? audience : audience.masked(revealing: names)).json)
        }
        if isPayloadVisible { object.add("title", value: facts?.title) }
        object.add("labels", pairs: labels.sorted { $0.name < $1.name })
        object.add(["tenant": tenant, "source": source, "hub": hub])
        if isSought { object.add("match", value: isNamed ? "named" : "possible") }
        object.add(["whole": facts?.whole, "due": due])
        if let parts = standing?.parts {
            object.add("parts", raw: JSONObject(["count": parts.count, "ended": parts.ended]).bytes)
        }
        if let place {
            object.add(["topic": place.topic, "partition": Int(place.partition), "offset": String(place.offset)])
        }
        if let result { object.add("result", raw: result.line) }
        return object.bytes
    }

    /// True if it was given up as a dead letter, and has no result.
    package var isDeadLetter: Bool { result == nil && standing.map { $0.state == nil } ?? false }

    /// The outcome, where its result is that of its only call, and `awaited` while a followed request may get one. Nil for any other: outcomes
    /// of several calls, and successes, are not in a list.
    private func outcomeState(at now: Int64) -> OutcomeState? {
        if let result, result.kind == "final" {
            let isFollowed = result.state == ResultState.sent.rawValue && result.followedCount > 0
            return isFollowed && now < result.timestamp.addingSaturated(RequestStory.longestOutcome) ? .awaited : nil
        }
        var document = JSONDocument()
        guard let result, result.kind == "outcome", document.readResult(result.json.span),
            let targets = document.member("targets", of: document.root), document.integer("planned", of: targets) == 1
        else { return nil }
        return OutcomeState([RequestStory.Outcome(state: result.state, code: result.errorCode)])
    }

    /// The tenant, by its record or its result.
    package var tenant: String? { facts?.tenant ?? result?.tenant ?? sender?.tenant }

    /// The source, by its record or its result.
    package var source: String? { facts?.source ?? result?.source ?? sender?.source }

    /// The hub that it went to, or that it names while it has no result.
    package var hub: String? { result.flatMap { $0.hub.isEmpty ? nil : $0.hub } ?? facts?.hub ?? sender?.hub }

    /// The labels, by its record or its result.
    package var labels: [(name: String, value: String)] {
        if let facts { return facts.labels.map { ($0.key, $0.value) } }
        return result?.labels ?? []
    }

    /// The moment of its last result, or nil where it has none, or none that is the last word.
    package var finishedAt: String? {
        guard let result, result.kind != "interim" else { return nil }
        return result.at.isEmpty ? Timestamp(milliseconds: result.timestamp).text : result.at
    }

    /// The moment at which it goes on, while it waits for one.
    private var due: String? {
        let moment = standing?.due.map { Timestamp(milliseconds: $0) }
        return (moment ?? (standing?.state == .delayed ? facts?.due : nil))?.text
    }
}

extension ResultRecord {
    /// The labels of the request. A name that is there twice counts once.
    var labels: [(name: String, value: String)] {
        var document = JSONDocument()
        guard document.readResult(json.span), let labels = document.member("labels", of: document.root) else { return [] }
        var found: [(name: String, value: String)] = []
        document.forEachMember(of: labels) { key, value in
            let name = document.string(key)
            if document.kind(of: value) == .string, !found.contains(where: { $0.name == name }) {
                found.append((name, document.string(document.text(of: value))))
            }
        }
        return found
    }
}
