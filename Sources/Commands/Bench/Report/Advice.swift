import Delivery

/// A setting that would help, and why.
struct Advice: Codable, Equatable {
    /// The setting, with the value to try.
    var setting: String
    /// What it may bring.
    var effect: String
    /// What was measured that says so.
    var reason: String
    /// How much it may bring, 0 for nothing; advice is ordered by it.
    var gain: Double
}

extension Advice {
    /// The three settings that would help most by what was measured.
    ///
    /// Each gain is an estimate of a share: the time or processor time of a request that would be saved, or the requests a second
    /// that would be added.
    static func best(_ setting: BenchReport.Setting, stages: [StageFigure], backlog: BacklogFigure, latency: LatencyFigure)
        -> [Advice]
    {
        // Of the two opposite ways to change the commits only the better one.
        let commits = [quickerCommits(setting, latency: latency), fewerCommits(setting, stages: stages, backlog: backlog)]
            .compactMap(\.self)
        let all = [
            moreInFlight(setting, backlog: backlog), moreConnections(setting, backlog: backlog),
            moreWorkers(setting, backlog: backlog),
            quieterLog(setting, stages: stages, backlog: backlog), commits.max { $0.gain < $1.gain },
            shorterResults(stages, backlog: backlog),
        ]
        return Array(all.compactMap(\.self).sorted { $0.gain > $1.gain }.prefix(3))
    }

    /// More calls at once help while the worker waits for the hub instead of working.
    private static func moreInFlight(_ setting: BenchReport.Setting, backlog: BacklogFigure) -> Advice? {
        guard setting.maxInFlight < 4096, let full = backlog.inFlightFullShare, let call = backlog.hubMilliseconds else {
            return nil
        }
        let idle = max(0, 1 - backlog.processorShare)
        let gain = full * min(1, idle / max(0.05, backlog.processorShare))
        return Advice(
            setting: "worker.max_in_flight=\(min(4096, setting.maxInFlight * 2))",
            effect: "up to \(percent(gain)) more requests/s, if the hub keeps up",
            reason:
                "all \(setting.maxInFlight) calls were in flight at \(percent(full)) of the samples; a call took "
                + "\(decimal(call)) ms, and the worker used \(decimal(backlog.processorShare)) cores",
            gain: gain)
    }

    private static func moreConnections(_ setting: BenchReport.Setting, backlog: BacklogFigure) -> Advice? {
        guard setting.maxConnections > 0, setting.maxConnections < setting.maxInFlight, let full = backlog.inFlightFullShare
        else { return nil }
        let gain = full * (1 - Double(setting.maxConnections) / Double(setting.maxInFlight))
        return Advice(
            setting: "hub.max_connections=0", effect: "calls no longer wait for a connection",
            reason: "\(setting.maxInFlight) calls may be in flight, but only \(setting.maxConnections) connections open",
            gain: gain)
    }

    /// Another worker helps when this one's core is full; there can be as many as partitions.
    private static func moreWorkers(_ setting: BenchReport.Setting, backlog: BacklogFigure) -> Advice? {
        guard setting.processorCount > 1 else { return nil }
        let fullness = min(1, max(0, (backlog.processorShare - 0.5) * 2))
        let room = Double(setting.processorCount) / max(1, backlog.processorShare) - 1
        let wanted = max(12, setting.processorCount * 2)
        guard setting.partitions >= wanted || setting.partitions >= setting.processorCount else {
            return Advice(
                setting: "partitions of the requests topic: \(wanted)", effect: "more workers can share the load",
                reason:
                    "\(setting.partitions) partitions occupy at most that many workers, and there are \(setting.processorCount) "
                    + "cores; a worker takes \(Int(backlog.requestsPerSecond)) requests/s",
                gain: fullness)
        }
        return Advice(
            setting: "a second worker, with a worker.id of its own",
            effect: "up to \(percent(min(1, max(0, room)))) more requests/s on \(setting.processorCount) cores",
            reason:
                "the worker used \(decimal(backlog.processorShare)) cores at \(Int(backlog.requestsPerSecond)) requests/s, and "
                + "one thread does all the work of a request",
            gain: fullness * min(1, max(0, room)))
    }

    /// A line for each request is written at `info`, where `log.requests` is `all`.
    private static func quieterLog(_ setting: BenchReport.Setting, stages: [StageFigure], backlog: BacklogFigure) -> Advice? {
        guard setting.logLevel == "info" || setting.logLevel == "debug", backlog.loggedBytesPerRequest >= 1 else { return nil }
        let line = stages.first { $0.name == "log" }?.microseconds ?? 0
        let gain = min(1, line / max(1, backlog.processorMicroseconds))
        return Advice(
            setting: "log.requests=failures", effect: "up to \(percent(gain)) less processor time, and the writing of the lines",
            reason: "\(Int(backlog.loggedBytesPerRequest)) bytes of log were written for each request; a line takes "
                + "\(decimal(line)) µs of \(decimal(backlog.processorMicroseconds))",
            gain: gain)
    }

    /// A result waits for its commit, half an interval on average.
    private static func quickerCommits(_ setting: BenchReport.Setting, latency: LatencyFigure) -> Advice? {
        guard setting.commitIntervalMilliseconds > 1, let toResult = latency.publishToResult?.p50,
            let toHub = latency.publishToHub?.p50
        else { return nil }
        let waiting = max(0, toResult - toHub)
        let proposed = max(1, setting.commitIntervalMilliseconds / 3)
        // Only what the interval makes is saved, not what a commit takes anyway.
        let saved = min(waiting, (setting.commitIntervalMilliseconds - proposed) / 2)
        let gain = toResult > 0 ? saved / toResult : 0
        return Advice(
            setting: "worker.commit_interval=\(Int(proposed.rounded()))ms",
            effect: "results up to \(percent(gain)) earlier, at the price of more commits",
            reason:
                "at \(Int(latency.requestsPerSecond)) requests/s half of the results came \(decimal(waiting)) ms or more after the "
                + "hub call; commits are at least \(decimal(setting.commitIntervalMilliseconds)) ms apart",
            gain: gain)
    }

    /// Fewer commits cost less, where each is a transaction.
    private static func fewerCommits(
        _ setting: BenchReport.Setting, stages: [StageFigure], backlog: BacklogFigure
    ) -> Advice? {
        guard let transaction = stages.first(where: { $0.name == "transaction" }), setting.guarantee == "exactly_once",
            setting.commitIntervalMilliseconds < 1000
        else { return nil }
        let isFlood = backlog.requestsPerSecond > 1e9 / Double(CommitSchedule.floodSpacing)
        let least = isFlood ? Double(CommitSchedule.floodInterval) / 1e6 : 1
        let present = max(setting.commitIntervalMilliseconds, least)
        let proposed = min(1000, present * 3)
        // Two of three commits fall away; a longer transaction costs hardly more than a short one.
        let perSecond = 1000 / present * 2 / 3
        let gain = min(1, perSecond * transaction.microseconds / 1e6 / max(0.05, backlog.processorShare))
        return Advice(
            setting: "worker.commit_interval=\(Int(proposed.rounded()))ms",
            effect: "up to \(percent(gain)) less processor time, at the price of later results",
            reason: "a transaction takes \(decimal(transaction.microseconds)) µs whatever it holds, and there may be one every "
                + "\(decimal(present)) ms",
            gain: gain)
    }

    /// A request can ask for a result without calls and attempts.
    private static func shorterResults(_ stages: [StageFigure], backlog: BacklogFigure) -> Advice? {
        guard let result = stages.first(where: { $0.name == "result" }), let brief = stages.first(where: { $0.name == "brief" })
        else { return nil }
        let saved = max(0, result.microseconds - brief.microseconds)
        let gain = min(1, saved / max(1, backlog.processorMicroseconds))
        return Advice(
            setting: "options.result_detail=none in the requests",
            effect: "up to \(percent(gain)) less processor time, and shorter records",
            reason:
                "writing a result takes \(decimal(result.microseconds)) µs, and \(decimal(brief.microseconds)) µs without calls "
                + "and attempts, of \(decimal(backlog.processorMicroseconds)) for all of a request",
            gain: gain)
    }

    private static func percent(_ share: Double) -> String { NumberText.percent(share) }

    private static func decimal(_ number: Double) -> String { NumberText.text(number) }
}
