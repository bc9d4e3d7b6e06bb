import PushModel

/// Makes incidents of signs of trouble that are looked for each second: one begins, goes on and ends. Pure: it reads no clock.
///
/// Lengths are counted on a clock that never jumps, so an incident is as long as it was, whatever the wall clock does.
package struct IncidentTally: Sendable {
    /// The trouble after which an incident begins, 5 s in milliseconds: a probe or a rebalance is shorter.
    package static let beginning: Int64 = 5000
    /// The time without trouble after which one that has not begun is forgotten, 10 s in milliseconds: a hub that asks to wait again and again
    /// is in trouble all the while.
    package static let patience: Int64 = 10_000
    /// The time without trouble after which one ends, 1 min in milliseconds, so that what comes and goes is one incident.
    package static let ending: Int64 = 60_000
    /// The most subjects that are watched at a time: as many workers as a fleet has, and some hubs. A stranger may report any number.
    package static let capacity = 500
    /// The longest time that one look counts for, in milliseconds.
    private static let longestStep: Int64 = 5000
    /// The difference from the wall clock from which that has jumped, 1 min in milliseconds.
    private static let slack: Int64 = 60_000

    /// All that is known in one second besides the signs of trouble.
    package struct Sample: Sendable {
        /// The present, in milliseconds since 1970.
        package var wall: Int64
        /// The milliseconds since the last look, on a clock that never jumps.
        package var passed: Int64
        /// The requests that failed since then.
        package var failed = 0
        /// The requests that expired since then.
        package var expired = 0
        /// The requests that wait in Kafka, as far as they were counted of late.
        package var backlog = 0

        /// A look at a time, some milliseconds after the last one.
        package init(wall: Int64, passed: Int64) { (self.wall, self.passed) = (wall, passed) }
    }

    /// The state of an incident at a look.
    package enum Phase: Sendable { case began, goesOn, ended }

    fileprivate struct Entry {
        var incident: Incident
        /// Milliseconds of trouble.
        var troubled: Int64 = 0
        /// Milliseconds since the last sign of it.
        var quiet: Int64 = 0
        var hasBegun = false
    }

    private var entries: [IncidentSign.Subject: Entry] = [:]

    /// A tally that has seen nothing.
    package init() {}

    /// Takes the signs of one look.
    ///
    /// - Parameters:
    ///   - troubles: The signs. Those of one subject are added.
    ///   - look: All else that is known.
    ///   - known: The incidents that all gateways have written, or nil before they were read: until then only Kafka's begin.
    /// - Returns: The incidents that last, and those that have just ended.
    package mutating func take(_ troubles: [IncidentSign], at look: Sample, known: IncidentList?) -> [(
        incident: Incident, phase: Phase
    )] {
        var found: [IncidentSign.Subject: IncidentSign] = [:]
        for trouble in troubles {
            found[trouble.subject, default: IncidentSign(trouble.subject)].add(trouble)
        }
        let isNew = found.keys.contains { entries[$0]?.hasBegun != true }
        let lasting = isNew ? known?.lasting(at: look.wall) : known.map { _ in [:] }
        var changes: [(Incident, Phase)] = []
        // Nobody has looked for so long that it is not known if they went on.
        if look.passed > Incident.silence { changes += endAll() }
        for (subject, var entry) in entries {
            entry.advance(to: look, with: found[subject])
            guard entry.isOfUse else {
                entries[subject] = nil
                continue
            }
            if !entry.hasBegun { entry.begin(at: look.wall, unless: lasting?[subject], isRead: lasting != nil, noting: &changes) }
            if entry.hasBegun, entry.quiet >= Self.ending {
                entry.incident.isOver = true
                changes.append((entry.incident, .ended))
                entries[subject] = nil
            } else {
                if entry.hasBegun, changes.last?.0.id != entry.incident.id { changes.append((entry.incident, .goesOn)) }
                entries[subject] = entry
            }
        }
        for (subject, trouble) in found where entries[subject] == nil && entries.count < Self.capacity {
            var entry = Entry(incident: Incident(subject.kind, of: subject.name, from: look.wall))
            entry.incident.add(trouble, backlog: look.backlog)
            entry.begin(at: look.wall, unless: lasting?[subject], isRead: lasting != nil, noting: &changes)
            entries[subject] = entry
        }
        return changes
    }

    private mutating func endAll() -> [(Incident, Phase)] {
        defer { entries = [:] }
        return entries.values.filter(\.hasBegun).map {
            var incident = $0.incident
            incident.isOver = true
            return (incident, .ended)
        }
    }
}

extension IncidentTally.Entry {
    /// False if it has not begun, and will not.
    fileprivate var isOfUse: Bool { hasBegun || quiet <= IncidentTally.patience }

    /// Counts the time since the last look, and what came in it.
    fileprivate mutating func advance(to look: IncidentTally.Sample, with trouble: IncidentSign?) {
        let step = min(max(0, look.passed), IncidentTally.longestStep)
        incident.seen = incident.seen.addingSaturated(max(0, look.passed))
        incident.watched += step
        let drift = look.wall - incident.from.addingSaturated(incident.seen)
        if abs(drift) > IncidentTally.slack { incident.from = look.wall - incident.seen }
        incident.failed = incident.failed.addingSaturated(look.failed)
        incident.expired = incident.expired.addingSaturated(look.expired)
        if let trouble {
            troubled += step
            quiet = 0
            incident.lasted = incident.seen
            incident.add(trouble, backlog: look.backlog)
        } else {
            quiet += step
        }
    }

    /// Begins, if it is time, or goes on with one that lasts and that a gateway has left.
    fileprivate mutating func begin(
        at wall: Int64, unless left: Incident?, isRead: Bool, noting changes: inout [(Incident, IncidentTally.Phase)]
    ) {
        if var left, left.from <= incident.from {
            left.failed = left.failed.addingSaturated(incident.failed)
            left.expired = left.expired.addingSaturated(incident.expired)
            left.waited = max(left.waited, incident.waited)
            left.cause = incident.cause ?? left.cause
            left.watched += incident.watched
            left.seen = max(left.seen, wall - left.from)
            if quiet == 0 { left.lasted = left.seen }
            (incident, hasBegun) = (left, true)
            changes.append((incident, .goesOn))
        } else if troubled >= IncidentTally.beginning, isRead || incident.kind == .kafkaAway {
            hasBegun = true
            changes.append((incident, .began))
        }
    }
}

extension Incident {
    /// Takes what a sign of trouble counts. The backlog of all is that of no tenant.
    fileprivate mutating func add(_ trouble: IncidentSign, backlog: Int) {
        waited = max(waited, trouble.waiting, isOfAll ? backlog : 0)
        cause = trouble.cause ?? cause
    }
}

extension IncidentSign {
    /// Adds another sign of the same subject.
    fileprivate mutating func add(_ other: IncidentSign) {
        waiting = waiting.addingSaturated(other.waiting)
        cause = cause ?? other.cause
    }
}
