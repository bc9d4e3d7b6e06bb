/// The faults of a day under a rule.
///
/// Physics is the same day with the most workers all day: what waits there waits under any rule.
package struct Verdict: Sendable {
    /// The most changes of direction in a day.
    package static let mostTurns = 4
    /// The time that a rule may take to see, to start and to share the partitions, seconds.
    package static let reaction = 150.0
    /// The time until what has piled up meanwhile is done, too, for each event, seconds.
    package static let recovery = 900
    /// The factor for partitions that are not shared as evenly as between the most workers.
    package static let unevenness = 1.1

    /// Sentences, none if the day is as it should be.
    package let complaints: [String]

    package init(_ day: Day, rule: ScalingRule, physics: Day) {
        var complaints: [String] = []
        let bound = max(Day.objective, physics.longestWait * Self.unevenness + Self.reaction)
        if day.longestWait > bound {
            complaints.append("a request waited for \(Int(day.longestWait)) s, of \(Int(bound)) s at most")
        }
        let over = physics.secondsOver + day.scenario.events.count * Self.recovery
        if day.secondsOver > over {
            complaints.append("\(day.secondsOver) s over the objective, of \(over) s at most")
        }
        if day.turns > Self.mostTurns { complaints.append("\(day.turns) changes of direction, of \(Self.mostTurns) at most") }
        if day.futileGrowth > 0 { complaints.append("\(day.futileGrowth) workers more while none could help") }
        if day.replicas(at: Scenario.dayEnd) != rule.replicas.lowerBound { complaints.append("not the fewest at night") }
        self.complaints = complaints
    }
}
