import FaultOracle
import PushModel

/// A hub that loses some of its calls at random, and takes the others.
extension Catalogue {
    static let lossScenarios = [partialLoss, thirdBad]

    /// Requests per second.
    private static let rate = 150

    /// With the default time for an answer, 30 s, calls that hang would take all places, whatever a worker does about them.
    private static let partialLoss = Scenario(
        "partial-loss",
        "a hub that loses a share p of its calls gives at least 0.7 (1 - p) of its good answers; workers wait 2 s for an answer"
    ) { stage in
        var workload = stage.scenario.workload
        if stage.suite.isFast { workload.count = rate * 20 }
        for (index, row) in rows(stage).enumerated() {
            stage.note("row: \(row.name)")
            try stage.setHubFaults(row.faults(seed: stage.suite.seed &+ UInt64(index)))
            stage.publish(workload)
            try Clock.wait(for: "the requests to be published", within: .seconds(120)) { stage.isPublished }
            // What is left is not the next row's burden.
            try stage.setHubFaults([])
            try? Clock.wait(for: "the rest", within: .seconds(120)) { stage.isSettled }
            stage.note("\(stage.watch.settledCount) of \(stage.writtenCount) are settled")
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.isScaled = false
        scenario.publishes = false
        scenario.maxInFlight = 64
        scenario.workload = .plain(rate * 40, rate: rate)
        scenario.workload.alwaysRetries = true
        scenario.settings = ["PUSHFAN_HUB_REQUEST_TIMEOUT": "2s", "PUSHFAN_HUB_CONNECT_TIMEOUT": "1s"]
        scenario.deadline = .seconds(900)
        scenario.check = { stage, evidence in LossMeasures(rows(stage), stage.workloads, evidence).findings }
        scenario.table = { stage, evidence in LossMeasures(rows(stage), stage.workloads, evidence).table }
    }

    /// The rows of the table; the first one is what the others are measured by.
    private static func rows(_ stage: Stage) -> [LossRow] {
        let lossless = LossRow(name: "no loss", wanted: 1)
        if stage.suite.isFast { return [lossless, .mixed(percent: 20)] }
        var tenth = LossRow.mixed(percent: 10)
        tenth.median = 3000
        return [lossless, .mixed(percent: 5), tenth, .mixed(percent: 20), .mixed(percent: 40), .hangs]
    }

    /// The hub is as bad at the end as at the beginning, so that the last worker stops under it, too.
    private static let thirdBad = Scenario(
        "third-bad",
        "while a third of a hub's answers are bad in mixed ways, every request ends, and so does a worker that is told to"
    ) { stage in
        let seed = stage.suite.seed
        try stage.setHubFaults(
            LossRow.chances(1 / 3, ["status=500", "status=503,body=html", "reset=before", "hang=before"], seed: seed))
        for worker in stage.crew {
            Clock.pause(.seconds(6))
            stage.note("SIGTERM \(worker.name)")
            worker.stop()
            try worker.start()
        }
        stage.watch.mark()
    }.with { scenario in
        scenario.isScaled = false
        scenario.workload = Workload(4_500, rate: rate)
        scenario.settings = ["PUSHFAN_HUB_REQUEST_TIMEOUT": "2s", "PUSHFAN_HUB_CONNECT_TIMEOUT": "1s"]
        scenario.deadline = .seconds(180)
    }
}

/// One row of the table: how many calls the hub loses, and what is wanted all the same.
struct LossRow: Sendable {
    let name: String
    /// The share of calls that are lost, and the ways.
    var loss = 0.0
    var ways: [String] = []
    /// The good answers per second that are wanted, as a share of those without loss.
    let wanted: Double
    /// Within how many milliseconds half of the requests must have their results; nil for any time.
    var median: Double?

    /// An error, an answer that is lost, and a call without an answer, a third each.
    static func mixed(percent: Int) -> LossRow {
        let loss = Double(percent) / 100
        return LossRow(
            name: "\(percent) %", loss: loss, ways: ["status=500", "reset=after", "hang=before"], wanted: 0.7 * (1 - loss))
    }

    static let hangs = LossRow(name: "1 % hang", loss: 0.01, ways: ["hang=before"], wanted: 0.8)

    /// The emulator's faults.
    func faults(seed: UInt64) -> [String] { Self.chances(loss, ways, seed: seed) }

    /// Faults that together meet a share of all calls, each as many as the others: a later one sees only those that the earlier left.
    static func chances(_ loss: Double, _ ways: [String], seed: UInt64) -> [String] {
        let each = loss / Double(max(ways.count, 1))
        return ways.enumerated().map { "\($1),chance=\(each / (1 - Double($0) * each)),seed=\(seed)" }
    }
}

/// What came of each row: its requests are those of the workload at its place.
struct LossMeasures {
    private struct Measure {
        let row: LossRow
        /// Requests per second that were sent and told so while the row lasted.
        var rate = 0.0
        /// The same as a share of the first row's.
        var share = 0.0
        /// Milliseconds from publishing to the result, in order.
        var times: [Int64] = []
    }

    private var measures: [Measure] = []

    init(_ rows: [LossRow], _ workloads: [Workload], _ evidence: Evidence) {
        var results: [Place: ResultFact] = [:]
        for result in evidence.results { results[result.origin] = result }
        var first = 0
        for (row, workload) in zip(rows, workloads) {
            let numbers = first..<first + workload.count
            first = numbers.upperBound
            measures.append(Self.measure(row, numbers, seconds: workload.count / max(workload.rate ?? 1, 1), evidence, results))
        }
        guard let whole = measures.first?.rate, whole > 0 else { return }
        for index in measures.indices { measures[index].share = measures[index].rate / whole }
    }

    private static func measure(
        _ row: LossRow, _ numbers: Range<Int>, seconds: Int, _ evidence: Evidence, _ results: [Place: ResultFact]
    ) -> Measure {
        let inputs = evidence.inputs.filter { input in
            if case .request(let user, _) = input.content { numbers.contains(user) } else { false }
        }
        let end = (inputs.map(\.at).min() ?? 0) + Int64(seconds) * 1000
        var measure = Measure(row: row)
        var goodCount = 0
        for input in inputs {
            guard let result = results[input.place] else { continue }
            measure.times.append(result.at - input.at)
            if result.state == .sent && result.at <= end { goodCount += 1 }
        }
        measure.times.sort()
        measure.rate = Double(goodCount) / Double(max(seconds, 1))
        return measure
    }

    /// The worst row against what is wanted, and the slowest of those whose time is judged.
    var findings: [Finding] {
        let missing = measures.dropFirst().map { max(0, $0.row.wanted - $0.share) * 1000 }
        let examples = measures.dropFirst().filter { $0.share < $0.row.wanted }.map {
            "\($0.row.name): \(Self.text($0.share)) of the good answers, wanted \(Self.text($0.row.wanted))"
        }
        return [Finding(.goodAnswers, measured: missing.max() ?? 1000, examples: examples)]
            + measures.compactMap { measure in
                measure.row.median.map {
                    Finding(
                        .median, measured: Double(Self.part(0.5, of: measure.times) ?? .max), allowed: $0,
                        examples: [measure.row.name])
                }
            }
    }

    /// The columns' names, and a row for each.
    var table: [[String]] {
        [["lost calls", "good answers/s", "share", "wanted", "p50 ms", "p99 ms"]]
            + measures.map { measure in
                let times = [0.5, 0.99].map { Self.part($0, of: measure.times).map { "\($0)" } ?? "-" }
                return [measure.row.name, Self.text(measure.rate), Self.text(measure.share), Self.text(measure.row.wanted)]
                    + times
            }
    }

    /// The time within which a part of the requests have their results; nil without any.
    private static func part(_ part: Double, of times: [Int64]) -> Int64? {
        times.isEmpty ? nil : times[min(times.count - 1, Int(Double(times.count) * part))]
    }

    /// A figure with three decimals at most.
    private static func text(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }
}
