import Basics
import PushModel

/// Counts what workers have finished, from counters that grow until a worker starts again.
struct CounterTally: Sendable {
    /// The counters of one worker.
    struct Counters: Sendable, Equatable {
        var finished: [String: Int] = [:]
        var calls = 0
        /// The times from publishing to those results.
        var latency = LatencyHistogram()

        /// The states that are counted. A stranger may report any number of others.
        private static let states = ResultState.allCases.map(\.rawValue)

        /// The growth since earlier counters, or nil if it counts less of anything.
        fileprivate func growth(since earlier: Counters) -> Counters? {
            guard calls >= earlier.calls, let latency = latency.growth(since: earlier.latency),
                !earlier.finished.contains(where: { finished[$0.key, default: 0] < $0.value })
            else { return nil }
            var grown = Counters(calls: calls - earlier.calls, latency: latency)
            for state in Self.states { grown.finished[state] = finished[state, default: 0] - earlier.finished[state, default: 0] }
            return grown
        }

        fileprivate mutating func add(_ grown: Counters) {
            calls = calls.addingSaturated(grown.calls)
            for state in Self.states {
                guard let count = grown.finished[state], count > 0 else { continue }
                finished[state] = finished[state, default: 0].addingSaturated(count)
            }
            latency.add(grown.latency)
        }
    }

    private var known: [String: Counters] = [:]

    /// Takes the counters of all workers, by names, and returns what was added since the last time. A worker that is new only begins to
    /// count, and one whose counters are smaller than before has begun at 0.
    mutating func take(_ workers: [String: Counters]) -> Counters {
        var sum = Counters()
        for (name, counters) in workers {
            guard let before = known[name] else { continue }
            sum.add(counters.growth(since: before) ?? counters)
        }
        known = workers
        return sum
    }
}

/// The work of the last minute, step by step, and the results since the gateway began to watch. Without clock.
struct RecentWork: Sendable {
    private struct Step {
        /// Milliseconds.
        let length: Int
        let added: CounterTally.Counters
    }

    /// The time that rates are taken of, milliseconds.
    private static let rateSpan = 10_000
    /// The time that is kept, milliseconds.
    private static let span = 60_000
    /// The longest time of a step, milliseconds.
    private static let longestStep = 3_600_000
    /// The most steps that are kept.
    private static let capacity = 120

    /// The newest is the last.
    private var steps: [Step] = []
    private var kept = 0
    /// The results since the beginning, by state.
    private(set) var finished: [String: Int] = [:]

    /// Adds what was done in some milliseconds.
    mutating func add(_ added: CounterTally.Counters, milliseconds: Int) {
        for (state, count) in added.finished { finished[state] = finished[state, default: 0].addingSaturated(count) }
        let milliseconds = min(max(0, milliseconds), Self.longestStep)
        steps.append(Step(length: milliseconds, added: added))
        kept += milliseconds
        while let first = steps.first, steps.count > 1, kept - first.length >= Self.span || steps.count > Self.capacity {
            kept -= steps.removeFirst().length
        }
    }

    /// Requests that had their final result, a second.
    var finishedPerSecond: Double { perSecond { $0.finished.values.reduce(0) { $0.addingSaturated($1) } } }

    /// The times from publishing to the results of the last minute.
    var latency: LatencyHistogram {
        var sum = LatencyHistogram()
        for step in steps { sum.add(step.added.latency) }
        return sum
    }

    /// Requests that were sent, all of them or in part, a second.
    var sentPerSecond: Double {
        perSecond { added in
            [ResultState.sent, .partial].reduce(0) { $0.addingSaturated(added.finished[$1.rawValue, default: 0]) }
        }
    }

    /// Calls that were answered or failed, a second.
    var callsPerSecond: Double { perSecond(\.calls) }

    private func perSecond(_ count: (CounterTally.Counters) -> Int) -> Double {
        var (sum, milliseconds) = (0, 0)
        for step in steps.reversed() where milliseconds < Self.rateSpan {
            sum = sum.addingSaturated(count(step.added))
            milliseconds += step.length
        }
        return milliseconds > 0 ? Double(sum) * 1000 / Double(milliseconds) : 0
    }
}

extension LatencyHistogram {
    /// The figures that people ask for, as JSON, or nil without any duration.
    var figures: [UInt8]? {
        guard let half = percentile(0.5), let most = percentile(0.95), let nearlyAll = percentile(0.99) else { return nil }
        return JSONObject([
            "count": Int(total), "p50_ms": Int(half), "p95_ms": Int(most), "p99_ms": Int(nearlyAll),
        ]).bytes
    }
}
