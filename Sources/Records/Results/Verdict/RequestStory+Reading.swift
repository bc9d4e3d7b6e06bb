package import Groups
package import Publishing
package import PushModel
import Replay
import ResultQuery

extension RequestStory {
    /// The longest wait for the hub's outcome, in milliseconds: its deadline of 35 minutes, and the same for whoever raised it.
    package static let longestOutcome: Int64 = 4_200_000

    /// The story of a request by all its results.
    package init(_ life: RequestLife) {
        self.init(id: life.id)
        guard let final = life.final else {
            standing = life.own.contains { $0.kind == "interim" } ? .inWork : life.own.isEmpty ? .open : .done
            return
        }
        take(final)
        isRepeated = !final.isRepetition && life.own.contains(where: \.repeatsItsID)
        doubts = Doubts(life, final: final).all
        replays = life.replays.filter { $0.kind == "final" }.compactMap(ResultCalls.init).filter { $0.parent == life.id }
            .map { Replay($0.state, of: $0.repeated) }
        var outcomes: [Int64: Outcome] = [:]
        for result in life.outcomes {
            var document = JSONDocument()
            guard document.readResult(result.json.span) else { continue }
            outcomes[document.call ?? -1] = Outcome(state: result.state, code: result.errorCode)
        }
        // Outcomes of parts are told under the ids of these.
        telemetry =
            !outcomes.isEmpty
            ? .known(outcomes.sorted { $0.key < $1.key }.map(\.value)) : ending?.parts ?? 0 > 1 ? .notSearched : .missing
    }

    /// The story of a request that has no result, by where it is.
    package init(_ report: WhereaboutsReport) {
        let place = report.whereabouts
        self.init(id: report.id, publishedAt: place.origin?.timestamp ?? place.divided?.at)
        cancelledAt = report.cancelledAt
        let request = place.found?.request
        if let letter = report.deadLetter {
            standing = .deadLetter(reason: letter.message)
            return
        }
        switch place.state {
        case .published: standing = .published
        case .inWork: standing = .inWork
        case .delayed: standing = .delayed(due: request?.due, attempts: Int(clamping: request?.attempts ?? 0))
        case .held: standing = .behindItsKey
        case .inParts:
            let divided = place.divided
            standing = .inParts(count: divided?.count, ended: divided?.endedCount ?? 0, sent: divided?.sentCount)
        case .done: standing = .done
        case .unknown: standing = .unknown
        }
        guard [.done, .unknown].contains(place.state) else { return }
        obstacle = report.gaps.isEmpty && report.extents.allSatisfy { $0.searched >= $0.total } ? nil : .notAllSearched
    }

    /// Takes a final result.
    package mutating func take(_ final: ResultRecord) {
        var document = JSONDocument()
        guard document.readResult(final.json.span) else { return }
        let root = document.root
        var ending = Ending(document)
        ending.at = ending.at ?? (final.timestamp > 0 ? Timestamp(milliseconds: final.timestamp) : nil)
        let calls = ResultCalls(final)
        ending.open = calls?.open
        doubts = calls?.hasLostAnswer == true ? [.lostAnswer] : []
        self.ending = ending
        publishedAt = document.member("timings", of: root).flatMap { document.moment("published_at", of: $0) } ?? publishedAt
        if let parent = document.member("parent", of: root), let id = document.text("id", of: parent),
            let chunk = document.integer("chunk", of: parent)
        {
            whole = Whole(id: id, number: Int(clamping: chunk.addingSaturated(1)))
        }
        guard final.isRepetition, let place = RecordPlace(document, originOf: root), let offset = ending.offsetOfOriginal else {
            return
        }
        original = Original(id: "\(RecordPlace(topic: place.topic, partition: place.partition, offset: offset))")
    }

    /// Notes if its calls are followed. Nil if that is not known.
    package mutating func note(isTracked: Bool?, now: Timestamp) {
        guard telemetry == .missing, let isTracked else { return }
        let isYoung = ending?.at.map { now.milliseconds(since: $0) < Self.longestOutcome } ?? false
        telemetry = !isTracked ? .notTracked : isYoung ? .awaited : .missing
    }

    /// Takes the facts of the record that it was published with.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - tracksByDefault: The settings follow calls of requests that do not say. Nil if that is not known.
    ///   - now: The present moment.
    package mutating func take(_ request: borrowing PushRequest, tracksByDefault: Bool?, now: Timestamp) {
        note(isTracked: request.options.testSend ? false : request.options.trackOutcome ?? tracksByDefault, now: now)
        if whole == nil, let part = PartReference(of: request) {
            whole = Whole(id: part.parentID, number: part.chunk.addingSaturated(1))
        }
    }

    /// Takes the hold that keeps it back now, of those that ever concerned it. The author is named if `namesAuthors`.
    package mutating func take(_ spans: [HeldSpan], now: Timestamp, namesAuthors: Bool) {
        guard let span = spans.last(where: { $0.to == nil }), span.order.until > now else { return }
        hold = Hold(
            author: namesAuthors || span.order.scope.tenant != nil ? span.order.author : "an operator", reason: span.order.reason,
            from: span.from, until: span.order.until)
    }
}

extension RequestStory.Ending {
    fileprivate init(_ document: borrowing JSONDocument) {
        let root = document.root
        self.init(
            state: document.text("state", of: root) ?? "unknown", outcome: document.text("outcome", of: root) ?? "unknown")
        safety = document.text("replay_safety", of: root)
        at = document.moment("at", of: root)
        if let error = document.member("error", of: root) {
            code = document.text("code", of: error)
            message = document.text("message", of: error)
            if let faults = document.member("faults", of: error) {
                document.forEachElement(of: faults) { node in
                    guard fault == nil, let message = document.text("message", of: node) else { return }
                    let pointer = document.text("pointer", of: node) ?? ""
                    fault = pointer.isEmpty ? message : "\(pointer): \(message)"
                }
            }
        }
        if let timings = document.member("timings", of: root) {
            at = document.moment("finished_at", of: timings) ?? at
            took = document.integer("total_ms", of: timings)
        }
        func count(_ name: StaticString, of node: JSONDocument.Node) -> Int? {
            document.integer(name, of: node).map { Int(clamping: max(0, $0)) }
        }
        if let targets = document.member("targets", of: root) {
            planned = count("planned", of: targets)
            accepted = count("accepted", of: targets)
            ambiguous = count("ambiguous", of: targets)
        }
        if let parts = document.member("parts", of: root) {
            self.parts = count("count", of: parts)
            partsSent = count("sent", of: parts)
            partsFailed = count("failed", of: parts)
            partsExpired = count("expired", of: parts)
            partsCancelled = count("cancelled", of: parts)
        }
    }

    /// The offset of the record that a repetition repeats, in its own partition, as its message says it.
    fileprivate var offsetOfOriginal: Int64? {
        guard let words = message?.split(separator: " "), let place = words.firstIndex(of: "offset"), place + 1 < words.count
        else { return nil }
        return Int64(words[place + 1])
    }
}

extension JSONDocument {
    /// The index of the one call that an outcome is of.
    package var call: Int64? {
        guard let sends = member("sends", of: root) else { return nil }
        var index: Int64?
        forEachElement(of: sends) { index = index ?? integer("index", of: $0) }
        return index
    }
}

extension RequestStory.HubObstacle {
    /// The gravest obstacle that workers report at a hub, or nil for none.
    ///
    /// - Parameters:
    ///   - name: The hub's name.
    ///   - hubs: The hubs as workers report them at present.
    ///   - now: The present moment.
    package init?(of name: String, in hubs: [WorkerPage.Hub], now: Timestamp) {
        let own = hubs.filter { $0.name == name && !$0.isRetired }
        let refusals: Set<String?> = [ErrorCode.hubUnauthorized.rawValue, ErrorCode.hubForbidden.rawValue]
        if own.contains(where: { refusals.contains($0.circuitReason) && $0.circuit != "closed" }) {
            self.init(name: name, kind: .refusesKey)
        } else if let open = own.first(where: { $0.circuit == "open" || $0.circuit == "half_open" }) {
            self.init(name: name, kind: .suspended(until: open.circuitChange))
        } else if let until = own.compactMap(\.throttledUntil).max(), until > now {
            self.init(name: name, kind: .throttled(until: until))
        } else if own.contains(where: { $0.problem != nil }) {
            self.init(name: name, kind: .broken)
        } else {
            return nil
        }
    }
}
