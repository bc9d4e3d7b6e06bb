/// The incidents of the last days, of all gateways. Pure: it reads no clock.
///
/// Of one incident several gateways may have written: the record that has watched most of it counts.
package struct IncidentList: Sendable {
    /// The time for which incidents are kept, 14 days in milliseconds, as long as results.
    package static let span: Int64 = 14 * 86_400_000
    /// The most incidents that are kept: the oldest go. With the longest texts that is 4 MB.
    package static let capacity = 2000
    /// The farthest beginning ahead of the present that is taken, 10 min in milliseconds, because clocks differ.
    private static let ahead: Int64 = 600_000

    /// The times before the present from which on the topic is read, in milliseconds, until a digest is among the records: the first has two,
    /// if a gateway runs.
    package static let windows: [Int64] = [5 * IncidentDigest.interval / 2, 86_400_000, span]

    private var incidents: [String: Incident] = [:]
    /// The last digest that was read or written.
    private var digest: IncidentDigest?

    /// A list without any.
    package init() {}

    /// The number of incidents.
    package var count: Int { incidents.count }

    /// Those that lasted at a moment or later, the newest first.
    package func incidents(since moment: Int64 = .min) -> [Incident] {
        incidents.values.filter { $0.end >= moment }.sorted { ($0.from, $0.id) > ($1.from, $1.id) }
    }

    /// Those that last at a moment, by their kinds and subjects.
    func lasting(at now: Int64) -> [IncidentSign.Subject: Incident] {
        let found = incidents.values.filter { $0.lasts(at: now) }.map { (IncidentSign.Subject($0.kind, of: $0.subject), $0) }
        return Dictionary(found) { $0.end > $1.end ? $0 : $1 }
    }

    /// Takes an incident, unless one that has watched more of the same is known. Those that are too old, and far in the future, are dropped.
    package mutating func take(_ incident: Incident, now: Int64) {
        guard incident.end >= now - Self.span, incident.from <= now + Self.ahead else { return }
        if let known = incidents[incident.id] {
            guard incident.watched >= known.watched else { return }
        } else {
            let same = incidents.values.filter { $0.isSame(as: incident) }
            guard same.allSatisfy({ $0.watched < incident.watched }) else { return }
            for other in same { incidents[other.id] = nil }
        }
        incidents[incident.id] = incident
        guard incidents.count > Self.capacity else { return }
        // A quarter goes at once, so that a flood of records sorts them seldom.
        let kept = incidents(since: now - Self.span).prefix(Self.capacity * 3 / 4)
        incidents = Dictionary(kept.map { ($0.id, $0) }) { first, _ in first }
    }

    /// Takes a record of the topic, and passes over anything else.
    package mutating func take(record: Span<UInt8>, now: Int64) {
        if let incident = Incident(record: record) { return take(incident, now: now) }
        guard let other = IncidentDigest(record: record), other.at <= now + Self.ahead else { return }
        if other.at > digest?.at ?? .min { digest = other }
    }

    /// True if whoever has read all records since a moment knows all incidents.
    package func isWhole(since moment: Int64) -> Bool { digest.map { $0.at - IncidentDigest.slack >= moment } ?? false }

    /// The records of a digest if it is time for one, else none. For a list that is whole.
    package mutating func digest(at now: Int64) -> [[UInt8]] {
        if let digest, now - digest.at < IncidentDigest.interval { return [] }
        let next = IncidentDigest(at: now)
        digest = next
        return incidents(since: now - Self.span).reversed().map(\.record) + [next.record]
    }
}
