import Delivery
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
        /// The calls that were refused for the rate of a key, by tenant or source.
        package var refused: [IncidentSign.Subject: Int] = [:]
        /// The present, in milliseconds since 1970.
        package var wall: Int64 = 0
        /// The milliseconds since the last look.
        package var passed: Int64 = 0

        /// Facts of which nothing is known.
        package init() {}
    }

    /// A worker has reported since the beginning, or an incident says that one is missed.
    package var hasSeenWorkers = false
    private var sinceKafka = Self.afterKafka

    /// A finder that has seen nothing.
    package init() {}

    /// The signs of trouble.
    ///
    /// - Parameters:
    ///   - facts: The facts of one second.
    ///   - scopes: Gives the scopes of the limits that stand, by their ids. Called only where requests wait by one.
    /// - Returns: The signs.
    package mutating func signs(_ facts: Facts, scopes: () -> [String: OrderScope]) -> [IncidentSign] {
        let fresh = facts.members.filter { !$0.isStale }
        if !fresh.isEmpty { hasSeenWorkers = true }
        sinceKafka = facts.kafkaProblem == nil ? min(sinceKafka.addingSaturated(max(0, facts.passed)), Self.afterKafka) : 0
        var found = Self.hubs(of: fresh.map(\.page), at: Timestamp(milliseconds: facts.wall))
        if let problem = facts.kafkaProblem { found.append(IncidentSign(.init(.kafkaAway), cause: problem)) }
        if sinceKafka >= Self.afterKafka { found += missing(facts, fresh: fresh.count) }
        found += facts.refused.map { IncidentSign($0.key, refused: $0.value, cause: "the key's rate") }
        found += Self.limited(fresh.map(\.page), scopes: scopes)
        return found
    }

    /// The workers that are missed: some while others report, or all while brokers answer.
    private func missing(_ facts: Facts, fresh: Int) -> [IncidentSign] {
        guard fresh == 0 else {
            return facts.members.filter(\.isStale).map {
                IncidentSign(.init(.workerLost, of: $0.id), cause: "it stopped reporting without leaving")
            }
        }
        return hasSeenWorkers && facts.hasKafkaAnswered ? [IncidentSign(.init(.noWorker))] : []
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
