import JobSupport
package import PushModel

/// The holds and limits that stand, and what workers say of them.
package struct StandingOrders: Sendable {
    /// An order that stands.
    package struct Entry: Sendable {
        /// The order.
        package let order: OrderRecord
        /// The requests that workers have put to wait by it, as far as they report it. Nil if none names it.
        package let waiting: Int?
    }

    /// Those that stand, the newest first.
    package let entries: [Entry]
    /// The workers that know no holds, with their versions, by name: they go on as if there were none.
    package let ignorant: [(worker: String, version: String?)]
    /// The records that look like orders and cannot be obeyed.
    package let faulty: [(offset: Int64, fault: OrderRecord.Fault)]
    /// The present moment.
    package let now: Timestamp

    /// The time after which a hold is worth a question: 1 h in milliseconds.
    package static let long: Int64 = 3_600_000

    /// Those that concern a request that is published now. No cancellation does.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - hubs: The names of the hubs that its calls go to, with nil for one that has no name.
    ///   - lane: The word of its lane.
    /// - Returns: The entries.
    package func entries(concerning request: borrowing PushRequest, hubs: [String?], lane: String) -> [Entry] {
        var found: [Entry] = []
        for entry in entries {
            for hub in hubs where entry.order.scope.concerns(request, hub: hub, lane: lane) {
                found.append(entry)
                break
            }
        }
        return found
    }

    /// The holds and limits of a book that stand now, as workers tell of them by their names.
    package init(_ book: OrderBook, workers: [(name: String, page: WorkerPage)] = [], now: Timestamp) {
        let standing = book.orders.history.filter { order in
            if case .cancel = order.kind { false } else { order.stands(at: now) }
        }
        var waiting: [String: Int] = [:]
        for order in workers.flatMap({ $0.page.orders ?? [] }) {
            waiting[order.id] = (waiting[order.id] ?? 0).addingSaturated(order.waiting)
        }
        entries = standing.map { Entry(order: $0, waiting: waiting[$0.id]) }
        ignorant =
            standing.isEmpty ? [] : workers.filter { $0.page.orders == nil }.map { ($0.name, $0.page.version) }
        faulty = book.faulty
        self.now = now
    }
}

extension StandingOrders {
    /// Those that stand, as JSON objects: the order, with `state`, `text` (its scope), `seconds_left`, and `waiting` where that is known.
    package var json: [[UInt8]] {
        entries.map { entry in
            var object = entry.order.object(at: now)
            object.add(["waiting": entry.waiting])
            return object.bytes
        }
    }
}

// Words. Those of an order are as its author wrote them, control characters included.
extension StandingOrders {
    /// `hub:north until 14:00:00Z (12 min) by key abc: wrong text; 120 wait`, after `held: `, or after `limited to 5 calls/s: `.
    package func text(_ entry: Entry) -> String { entry.order.standingText(at: now, waiting: entry.waiting) }

    /// `worker w1 (version 1.4.0) knows no holds, and goes on as if there were none`.
    package static func text(ofIgnorant worker: String, version: String?) -> String {
        "worker \(worker) (version \(version ?? "unknown")) knows no holds, and goes on as if there were none"
    }

    /// The record that cannot be obeyed, and why.
    package static func text(ofFaulty offset: Int64, fault: OrderRecord.Fault, topic: String) -> String {
        "\(topic)[\(OrderRecord.partition)]: the record at offset \(offset) looks like an order and no worker obeys it: \(fault.sentence)"
    }
}

extension OrderRecord {
    /// `held: hub:north until 14:00:00Z (12 min) by key abc: wrong text; 120 wait`.
    ///
    /// - Parameters:
    ///   - now: The present moment. An end on another day has its date.
    ///   - waiting: The requests that wait by it, if that is known.
    /// - Returns: The line.
    package func standingText(at now: Timestamp, waiting: Int? = nil) -> String {
        let verb =
            switch kind {
            case .hold: "held"
            case .limit(let rate): "limited to \(Counted.text(rate, "call", "calls")) a second"
            case .cancel: "cancelled"
            }
        let count = waiting.map { "; " + Counted.text($0, "waits", "wait") } ?? ""
        return "\(verb): \(scope.text) \(endText(at: now)) by \(author): \(reason)\(count)"
    }

    /// `until 14:00:00Z (12 min)`, with its date where that is another day.
    package func endText(at now: Timestamp) -> String {
        let (end, today) = (until.text, now.text)
        let isToday = end.prefix(11) == today.prefix(11)
        let clock = (isToday ? end.dropFirst(11) : end[...]).prefix { $0 != "." && $0 != "Z" }
        return "until \(clock)Z (\(TimeText.rough(milliseconds: max(0, until.milliseconds(since: now)))))"
    }
}

extension OrderRecord.Fault {
    /// The fault in words.
    package var sentence: String {
        switch self {
        case .unreadable: "it is not as this version writes orders"
        case .id: "its id is not 8 to 64 small letters, digits and -"
        case .scope: "its scope names nothing, or a text in it is too long"
        case .number: "its limit is not 1 to 1,000,000 calls a second"
        case .reason: "its reason is empty or too long"
        case .author: "its author is empty or too long"
        case .end: "its end is not after its beginning, or later than seven days after it"
        }
    }
}
