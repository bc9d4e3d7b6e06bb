import PushModel

/// A time of trouble: a hub, Kafka, a worker or a rate that held requests up, from when to when, and what became of requests meanwhile.
package struct Incident: Sendable, Equatable {
    /// The kinds of trouble.
    package enum Kind: String, Sendable, CaseIterable {
        /// The circuit of a hub is not closed, or it does not count as working.
        case hubDown = "hub_down"
        /// A hub asks to wait (429).
        case hubThrottled = "hub_throttled"
        /// A hub refuses the key (401, 403).
        case hubUnauthorized = "hub_unauthorized"
        /// Brokers do not answer.
        case kafkaAway = "kafka_away"
        /// A worker stopped reporting without leaving, while others report.
        case workerLost = "worker_lost"
        /// No worker reports, though some did.
        case noWorker = "no_worker"
        /// The rate of a key or of an order holds a tenant up.
        case tenantLimited = "tenant_limited"
        /// The same of a source without a tenant.
        case sourceLimited = "source_limited"
        /// No gateway wrote minutes: nothing is known.
        case unwatched
    }

    /// The most scalars of a subject and of a cause: with escapes a record has 4 KiB at most.
    static let longestText = 200
    /// The silence after which an incident without a last record is over, 3 min in milliseconds: one that lasts is written each minute.
    static let silence: Int64 = 180_000

    /// The kind, the subject and the minute of the beginning, by which gateways that see the same name the same.
    package let id: String
    /// The kind of trouble.
    package let kind: Kind
    /// The name of the hub, worker, tenant or source. Empty for what there is once.
    package let subject: String
    /// The beginning, in milliseconds since 1970.
    package internal(set) var from: Int64
    /// The milliseconds from the beginning to the last sign of trouble.
    package internal(set) var lasted: Int64 = 0
    /// The milliseconds from the beginning to the last look.
    package internal(set) var seen: Int64 = 0
    /// The milliseconds of it that a gateway watched. Of several records of one incident that with most counts.
    package internal(set) var watched: Int64 = 0
    /// True once there was no trouble for long enough.
    package internal(set) var isOver = false
    /// Requests that failed meanwhile, in part or without a known outcome included, of all hubs: reports do not tell them apart. Not shown
    /// where ``isOfAll`` is false.
    package internal(set) var failed = 0
    /// Requests that expired meanwhile, of all hubs.
    package internal(set) var expired = 0
    /// The largest number of requests that waited.
    package internal(set) var waited = 0
    /// The cause in the words of whoever noticed it.
    package internal(set) var cause: String?

    /// An incident that begins at a time in milliseconds since 1970.
    init(_ kind: Kind, of subject: String, from: Int64) {
        self.init(kind, of: subject, from: from, id: nil)
    }

    private init(_ kind: Kind, of subject: String, from: Int64, id: String?) {
        (self.kind, self.from) = (kind, from)
        self.subject = Self.cut(subject)
        let minute = Timestamp(milliseconds: from - from % 60_000).text
        self.id = id ?? "\(kind.rawValue)/\(self.subject)/\(minute)"
    }

    /// The time in which no gateway watched, between two moments in milliseconds since 1970.
    package static func unwatched(from: Int64, to end: Int64) -> Incident {
        var incident = Incident(.unwatched, of: "", from: from)
        let length = max(0, end - from)
        (incident.lasted, incident.seen, incident.watched, incident.isOver) = (length, length, length, true)
        return incident
    }

    /// True if what failed, expired and waited in all says something of it: of a tenant or a source it does not.
    package var isOfAll: Bool { kind != .tenantLimited && kind != .sourceLimited }

    /// The last sign of trouble, in milliseconds since 1970.
    package var end: Int64 { from.addingSaturated(lasted) }

    /// True if it lasts at a time in milliseconds since 1970, as far as is known.
    package func lasts(at now: Int64) -> Bool { !isOver && now <= from.addingSaturated(seen).addingSaturated(Self.silence) }

    /// True if it was there at a moment of the other one, too, and both are about the same.
    func isSame(as other: Incident) -> Bool {
        kind == other.kind && subject == other.subject && from <= other.end && other.from <= end
    }

    static func cut(_ text: String) -> String { String(Substring(text.unicodeScalars.prefix(longestText))) }
}

// Its record, in the topic of the history.
extension Incident {
    /// The beginning of each record, by which minutes are passed over unread.
    private static let mark = Array(#"{"incident":{"#.utf8)
    /// The most bytes of a record that is read.
    private static let largestRecord = 8192

    /// The record. It has no `at`, so that gateways that know minutes alone pass over it.
    package var record: [UInt8] {
        var inner = JSONObject(["id": id, "kind": kind.rawValue, "subject": subject, "from": Timestamp(milliseconds: from).text])
        inner.add([
            "lasted_ms": Int(lasted), "seen_ms": Int(seen), "watched_ms": Int(watched), "over": isOver ? true : nil,
            "failed": failed, "expired": expired, "waited": waited, "cause": cause,
        ])
        var json = JSONObject()
        json.add("incident", raw: inner.bytes)
        return json.bytes
    }

    /// Reads a record of the topic. Anything else, also of a kind that a later version knows, gives nil.
    package init?(record: Span<UInt8>) {
        guard Self.mark.count < record.count, record.count <= Self.largestRecord else { return nil }
        for place in Self.mark.indices where record[place] != Self.mark[place] { return nil }
        var document = JSONDocument()
        guard (try? document.read(record)) != nil, let node = document.member("incident", of: document.root) else { return nil }
        let read = document
        func text(_ name: StaticString) -> String? {
            guard let member = read.member(name, of: node), read.kind(of: member) == .string else { return nil }
            return read.string(read.text(of: member))
        }
        func count(_ name: StaticString) -> Int64 {
            min(max(read.member(name, of: node).flatMap(read.integer(at:)) ?? 0, 0), 1 << 53)
        }
        guard let kind = text("kind").flatMap(Kind.init(rawValue:)), let from = text("from").flatMap({ Timestamp($0.utf8.span) }),
            let id = text("id"), id.unicodeScalars.count <= 2 * Self.longestText
        else { return nil }
        self.init(kind, of: text("subject") ?? "", from: from.milliseconds, id: id)
        (lasted, seen, watched) = (count("lasted_ms"), count("seen_ms"), count("watched_ms"))
        (failed, expired) = (Int(count("failed")), Int(count("expired")))
        waited = Int(count("waited"))
        isOver = read.member("over", of: node).map { read.kind(of: $0) == .true } ?? false
        cause = text("cause").map(Self.cut)
    }
}
