/// Prometheus's samples of the workers: one every 15 s, and the queries of a rule over them.
struct Scrapes {
    static let period = 15
    /// The samples of two minutes, newest last. Each has the workers in the order of ordinals, nil where there was none.
    private var samples: [(at: Int, workers: [WorkerFigures?])] = []
    private var lagRecords = 0.0

    mutating func take(_ workers: [WorkerFigures?], lagRecords: Double, at now: Int) {
        samples.append((now, workers))
        samples.removeAll { $0.at <= now - 120 }
        self.lagRecords = lagRecords
    }

    /// The answer to a trigger's query, or nil where there is none.
    func value(of trigger: ScalingRule.Trigger) -> Double? {
        guard let present = samples.last?.workers.compactMap(\.self), !present.isEmpty else { return nil }
        switch trigger.signal {
        case .lagRecords: return lagRecords
        case .callsInFlight: return ordinals.reduce(0) { $0 + mean(\.inFlight, of: $1, seconds: 60) }
        case .oldestWaiting: return seconds(present.map(\.oldest), trigger.gate)
        case .lag: return seconds(present.map(\.lag), trigger.gate)
        }
    }

    private func seconds(_ values: [Double], _ gate: ScalingRule.Gate?) -> Double {
        let largest = values.max() ?? 0
        guard let gate else { return largest }
        let states = samples.last?.workers.compactMap { $0?.circuit } ?? []
        let busiest = ordinals.map { busyShare(of: $0) }.max() ?? 0
        let counts =
            average(ordinals.compactMap { rate(\.throttled, of: $0) }) <= gate.throttled
            && average(ordinals.compactMap { rate(\.rateWait, of: $0) }) <= gate.rateWait
            && average(states) <= gate.circuit && busiest > gate.busy
        return counts ? largest : min(largest, gate.ceiling)
    }

    /// The ordinals of the workers that were there at the last scrape.
    private var ordinals: [Int] {
        guard let last = samples.last?.workers else { return [] }
        return last.indices.filter { last[$0] != nil }
    }

    private func series(_ ordinal: Int, seconds: Int) -> [(at: Int, figures: WorkerFigures)] {
        let since = (samples.last?.at ?? 0) - seconds
        return samples.compactMap { sample in
            guard sample.at > since, sample.workers.indices.contains(ordinal), let figures = sample.workers[ordinal] else {
                return nil
            }
            return (sample.at, figures)
        }
    }

    private func mean(_ metric: KeyPath<WorkerFigures, Double>, of ordinal: Int, seconds: Int) -> Double {
        average(series(ordinal, seconds: seconds).map { $0.figures[keyPath: metric] })
    }

    /// The calls in flight of a minute, of those that may be in flight now.
    private func busyShare(of ordinal: Int) -> Double {
        let limit = samples.last?.workers[ordinal]?.limit ?? 0
        return limit == 0 ? 0 : mean(\.inFlight, of: ordinal, seconds: 60) / limit
    }

    /// The growth of a counter in a second, or nil where there are not two samples.
    private func rate(_ metric: KeyPath<WorkerFigures, Double>, of ordinal: Int) -> Double? {
        let series = series(ordinal, seconds: 120)
        guard let first = series.first, let last = series.last, last.at > first.at else { return nil }
        let growth = last.figures[keyPath: metric] - first.figures[keyPath: metric]
        return growth / Double(last.at - first.at)
    }

    private func average(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count) }
}
