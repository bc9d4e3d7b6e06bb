import Groups
import PushModel
import Results

/// Counts the calls of each hub of late, from counters that grow until a worker starts again. Without clock.
struct HubTally: Sendable {
    private struct Place: Hashable {
        let worker: String
        let loop: String
        let hub: String
    }

    /// The time that rates are taken of, milliseconds.
    private static let span = 10_000
    /// The most steps that are kept.
    private static let capacity = 20

    /// The most names of hubs that are counted at a time, more than a fleet has. A stranger may report any number of others.
    private static let nameLimit = 4096

    private struct Step {
        /// Milliseconds.
        let length: Int
        let added: [String: Int]
    }

    /// The counters of the last reports, and of no others.
    private var known: [Place: Int] = [:]
    /// The newest is the last.
    private var steps: [Step] = []

    /// Takes the reports of all workers, some milliseconds after the last ones. A hub that its loop did not report before only begins
    /// to count, and one whose counter is smaller than before has begun at 0.
    mutating func take(_ members: [Fleet.Member], milliseconds: Int) {
        var (found, added): ([Place: Int], [String: Int]) = ([:], [:])
        for member in members {
            for loop in member.page.loops {
                for hub in loop.hubs {
                    guard let calls = hub.calls, calls >= 0 else { continue }
                    let name = member.page.name(of: hub)
                    let place = Place(worker: member.id, loop: loop.worker, hub: name)
                    found[place] = calls
                    guard let before = known[place], added[name] != nil || added.count < Self.nameLimit else { continue }
                    added[name] = added[name, default: 0].addingSaturated(calls < before ? calls : calls - before)
                }
            }
        }
        known = found
        steps.append(Step(length: min(max(0, milliseconds), Self.span), added: added))
        while let first = steps.first, steps.count > 1, length - first.length >= Self.span || steps.count > Self.capacity {
            steps.removeFirst()
        }
    }

    /// The time of all steps, milliseconds.
    private var length: Int { steps.reduce(0) { $0 + $1.length } }

    /// The calls of each hub that were answered or failed a second. Without those whose reports were not compared yet.
    var callsPerSecond: [String: Double] {
        let milliseconds = length
        guard milliseconds > 0 else { return [:] }
        let sums = steps.reduce(into: [String: Int]()) { sums, step in
            sums.merge(step.added) { $0.addingSaturated($1) }
        }
        return sums.mapValues { Double($0) * 1000 / Double(milliseconds) }
    }
}
