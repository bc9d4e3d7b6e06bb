/// One scenario under one rule.
package struct Day: Sendable {
    /// A minute, as it ended.
    package struct Minute: Sendable {
        /// Seconds since midnight.
        package var at = 0
        /// Requests a second.
        package var demand = 0.0
        /// The longest wait in it, seconds.
        package var oldest = 0.0
        package var replicas = 0
        package var ready = 0
    }

    package let scenario: Scenario
    package private(set) var minutes: [Minute] = []
    /// The number that was to run, and since when.
    package private(set) var steps: [(at: Int, count: Int)]
    /// The longest wait of a request, seconds.
    package private(set) var longestWait = 0.0
    /// Seconds in which something waited for longer than the objective.
    package private(set) var secondsOver = 0
    package private(set) var rebalances = 0
    package private(set) var workerHours = 0.0

    /// The longest that a request may wait where more workers would help, seconds.
    package static let objective = 60.0

    /// Simulates the day.
    ///
    /// - Parameters:
    ///   - scenario: Demand and hub.
    ///   - rule: The rule that decides how many workers run.
    ///   - seed: Begins everything random.
    package init(_ scenario: Scenario, rule: ScalingRule, seed: UInt64) {
        self.scenario = scenario
        var fleet = Fleet(seed: seed)
        var random = SplitMix(seed &+ 1)
        var autoscaler = Autoscaler(rule)
        var scrapes = Scrapes()
        var replicas = rule.replicas.lowerBound
        var unrest = 0.0
        var minute = Minute()
        steps = [(Scenario.dayStart, replicas)]
        let start = Scenario.dayStart - 600
        fleet.scale(to: replicas, at: start)
        for now in start..<Scenario.dayEnd {
            // Demand wanders by some percent for minutes, and by a few from second to second.
            unrest = unrest * 0.995 + Double.random(in: -0.01...0.01, using: &random)
            let demand = scenario.demand(at: now) * max(0, 1 + unrest + Double.random(in: -0.05...0.05, using: &random))
            fleet.publish(demand, keyed: scenario.keyedDemand(at: now), at: now)
            let hub = scenario.hub(at: now)
            fleet.work(hub, at: now)
            if now % Scrapes.period == 0 { scrapes.take(fleet.metrics, lagRecords: fleet.lagRecords, at: now) }
            if now % Autoscaler.period == 7 {
                let values = rule.triggers.map { scrapes.value(of: $0) }
                let count = autoscaler.decide(values, current: replicas, ready: fleet.readyCount(hub), at: now)
                if count != replicas { steps.append((now, count)) }
                replicas = count
                fleet.scale(to: replicas, at: now)
            }
            // The fleet of before the day starts without work.
            guard now >= Scenario.dayStart else { continue }
            let oldest = fleet.oldest(at: now)
            longestWait = max(longestWait, oldest)
            if oldest > Self.objective { secondsOver += 1 }
            workerHours += Double(replicas) / 3600
            minute.oldest = max(minute.oldest, oldest)
            guard now % 60 == 59 else { continue }
            minute.at = now
            minute.demand = demand
            minute.replicas = replicas
            minute.ready = fleet.readyCount(hub)
            minutes.append(minute)
            minute = Minute()
        }
        rebalances = fleet.rebalances
    }

    /// Changes of direction: the number stopped growing and began to shrink, or the other way round.
    package var turns: Int {
        let signs = zip(steps.dropFirst(), steps).map { ($0.count - $1.count).signum() }
        return zip(signs.dropFirst(), signs).count { $0 != $1 }
    }

    /// The most workers that there were to be.
    package var most: Int { steps.map(\.count).max() ?? 0 }

    /// The number that was to run at a moment.
    package func replicas(at second: Int) -> Int { steps.last { $0.at <= second }?.count ?? 0 }

    /// By how many workers the fleet grew while more of them changed nothing.
    package var futileGrowth: Int {
        scenario.events.filter(\.event.isFutile).map { event in
            // Decisions of the first minute were for the time before.
            let start = replicas(at: event.from + 60)
            return (steps.filter { (event.from + 60..<event.to).contains($0.at) }.map(\.count).max() ?? start) - start
        }.max() ?? 0
    }
}
