package import Groups
package import PushModel

/// Finds the signs of trouble in what workers, brokers and the gateway's own calls say in one second. Pure: it reads no clock.
package struct IncidentSignFinder: Sendable {
    /// The time after brokers were away in which workers are not missed, 1 min in milliseconds: they connect again.
    private static let afterKafka: Int64 = 60_000

    /// All that is known in one second.
    package struct Facts: Sendable {
        /// The last reports of workers.
        package var members: [Fleet.Member] = []
        /// The reason for which brokers count as away, or nil.
        package var kafkaProblem: String?
        /// True if brokers have answered in the last seconds.
        package var hasKafkaAnswered = false
        /// The calls that this gateway has refused for the rate of a key, by tenant or source. Each gateway sees its own, so no incident has
        /// their number.
        package var refused: [IncidentSign.Subject: Int] = [:]
        /// The requests that wait in Kafka, as far as they were counted of late. Used only where no worker reports.
        package var waiting = 0
        /// The present, in milliseconds since 1970.
        package var wall: Int64 = 0
        /// The milliseconds since the last look.
        package var passed: Int64 = 0

        /// Facts of which nothing is known.
        package init() {}
    }

    /// The time without any worker, where all have left, after which they are missed, 1 min in milliseconds: a restart is shorter.
    private static let restart: Int64 = 60_000

    /// A worker has reported since the beginning, or an incident says that one is missed.
    package private(set) var hasSeenWorkers = false
    /// One of those that are missed has not left, but stopped reporting.
    private var isLost = false
    /// Milliseconds since a worker was heard.
    private var absent: Int64 = 0
    private var sinceKafka = Self.afterKafka

    /// A finder that has seen nothing.
    package init() {}

    /// Has workers be missed, as an incident that lasts says.
    package mutating func expectWorkers() { (hasSeenWorkers, isLost) = (true, true) }

    /// Takes over that another finder, which was told of an incident, expects workers.
    package mutating func take(_ other: IncidentSignFinder) {
        if !hasSeenWorkers, other.hasSeenWorkers { expectWorkers() }
    }

    /// The signs of trouble.
    ///
    /// - Parameters:
    ///   - facts: The facts of one second.
    ///   - scopes: Gives the scopes of the limits that stand, by their ids. Called only where requests wait by one.
    /// - Returns: The signs.
    package mutating func signs(_ facts: Facts, scopes: () -> [String: OrderScope]) -> [IncidentSign] {
        let fresh = facts.members.filter { !$0.isStale }
        if fresh.isEmpty {
            isLost = isLost || !facts.members.isEmpty
            absent = min(absent.addingSaturated(max(0, facts.passed)), Self.restart)
        } else {
            (hasSeenWorkers, isLost, absent) = (true, false, 0)
        }
        sinceKafka = facts.kafkaProblem == nil ? min(sinceKafka.addingSaturated(max(0, facts.passed)), Self.afterKafka) : 0
        var found = Self.hubs(of: fresh.map(\.page), at: Timestamp(milliseconds: facts.wall))
        if let problem = facts.kafkaProblem { found.append(IncidentSign(.init(.kafkaAway), cause: problem)) }
        if sinceKafka >= Self.afterKafka { found += missing(facts, fresh: fresh.count) }
        found += facts.refused.keys.map { IncidentSign($0, cause: "the key's rate") }
        found += Self.limited(fresh.map(\.page), scopes: scopes)
        return found
    }

    /// The workers that are missed: some while others report, or all while brokers answer. Where all have left by themselves, as for a restart
    /// or a night without requests, none is missed before a minute has passed and something waits.
    private func missing(_ facts: Facts, fresh: Int) -> [IncidentSign] {
        guard fresh == 0 else {
            return facts.members.filter(\.isStale).map {
                IncidentSign(.init(.workerLost, of: $0.id), cause: "it stopped reporting without leaving")
            }
        }
        let isMissed = isLost || absent >= Self.restart && facts.waiting > 0
        return hasSeenWorkers && isMissed && facts.hasKafkaAnswered ? [IncidentSign(.init(.noWorker))] : []
    }

    /// The hubs in trouble, each by the worst that any worker says of it.
    private static func hubs(of pages: [WorkerPage], at wall: Timestamp) -> [IncidentSign] {
        var found: [String: (kind: Incident.Kind, waiting: Int, cause: String?)] = [:]
        for page in pages {
            for loop in page.loops {
                for hub in loop.hubs where !hub.isRetired {
                    guard let kind = hub.incident(at: loop.at ?? wall) else { continue }
                    let name = page.name(of: hub)
                    var sum = found[name] ?? (kind, 0, nil)
                    if kind.gravity > sum.kind.gravity { (sum.kind, sum.cause) = (kind, nil) }
                    if kind == sum.kind { sum.cause = sum.cause ?? hub.problem ?? hub.circuitReason }
                    sum.waiting = sum.waiting.addingSaturated(max(0, hub.waitingForTurn ?? 0))
                        .addingSaturated(max(0, hub.waitingForTimer ?? 0))
                    found[name] = sum
                }
            }
        }
        return found.map { IncidentSign(.init($1.kind, of: $0), waiting: $1.waiting, cause: $1.cause) }
    }

    /// The tenants and sources whose requests wait because an order limits them. A hold is no trouble, and a limit of all or of a hub is none of
    /// theirs.
    private static func limited(_ pages: [WorkerPage], scopes: () -> [String: OrderScope]) -> [IncidentSign] {
        let limits = pages.flatMap { $0.orders ?? [] }.filter { $0.kind == "limit" && $0.waiting > 0 }
        guard !limits.isEmpty else { return [] }
        let known = scopes()
        return limits.compactMap { limit -> IncidentSign? in
            guard let scope = known[limit.id] else { return nil }
            let subject =
                scope.tenant.map { IncidentSign.Subject(.tenantLimited, of: $0) }
                ?? scope.source.map { .init(.sourceLimited, of: $0) }
            return subject.map { IncidentSign($0, waiting: limit.waiting, cause: "the order \(limit.id)") }
        }
    }
}

extension Incident.Kind {
    /// The order of the kinds of one hub: the greatest tells most.
    fileprivate var gravity: Int {
        switch self {
        case .hubUnauthorized: 3
        case .hubDown: 2
        case .hubThrottled: 1
        default: 0
        }
    }
}

extension WorkerPage.Hub {
    /// The gravity of its circuit: 2 open, 1 half open, 0 otherwise.
    package var gravity: Int { circuit == "open" ? 2 : circuit == "half_open" ? 1 : 0 }

    /// The trouble that a report says it has at a moment of its worker's clock.
    fileprivate func incident(at moment: Timestamp) -> Incident.Kind? {
        // The words are those of HubFinding and HubPort.
        let refusals = ["refuses the key", "it answers 401", "it answers 403"]
        if let problem, refusals.contains(where: { problem.contains($0) }) { return .hubUnauthorized }
        if gravity > 0 || problem != nil { return .hubDown }
        return throttledUntil.map { $0 > moment } ?? false ? .hubThrottled : nil
    }
}

extension WorkerPage {
    /// The name of one of its hubs. A worker of an earlier version names it once, beside its loops.
    package func name(of hub: Hub) -> String { hub.name.isEmpty ? self.hub : hub.name }
}
