import Console
import Observability

/// Measures each stage of a request by itself, on the calling thread.
struct StageBench {
    /// What is measured, and how often it is needed.
    struct Stage {
        let name: String
        let part: StageFigure.Part
        let what: String
        var rounds = 140_000
        /// Another stage that cannot be left out of this one and is taken away afterwards.
        var contained: String?
        let work: () throws -> Void
    }

    private static let batchCount = 7

    /// The figures of all stages, in the order of a request's way.
    static func run() throws -> [StageFigure] {
        let path = try RequestPath()
        let exchange = try ExchangeRun(call: path.callBytes)
        defer { exchange.close() }
        let stages = stages(path, exchange: exchange)
        let measured = try stages.map(measure)
        return zip(stages, measured).map { stage, figure in
            var figure = figure
            if let contained = measured.first(where: { $0.name == stage.contained }) { figure.subtract(contained) }
            return figure
        }
    }

    static func stages(_ path: RequestPath, exchange: ExchangeRun) -> [Stage] {
        let log = Log(format: .json, level: .info, now: { 0 }, sink: { _ in })
        return [
            Stage(name: "parse", part: .request, what: "JSONDocument.read", work: path.parse),
            Stage(name: "validate", part: .request, what: "RequestReader.read, less parse", contained: "parse", work: path.read),
            Stage(name: "plan", part: .request, what: "FanOutPlanner.plan", work: path.plan),
            Stage(name: "format", part: .request, what: "PayloadFormatter.format, Apple", work: path.format),
            Stage(name: "sign", part: .request, what: "SASTokenCache.token, signed before", work: path.takeToken),
            Stage(name: "write", part: .request, what: "HubClient.write, less sign", contained: "sign", work: path.write),
            Stage(
                name: "send", part: .request, what: "ConnectionPool, loopback, one at a time, answer read", rounds: 14_000,
                work: exchange.pass),
            Stage(name: "answer", part: .request, what: "HubAnswer, Verdict, DeliveryReport", work: path.judge),
            Stage(name: "result", part: .request, what: "ResultWriter.append, no headers", work: path.conclude),
            Stage(name: "commit", part: .request, what: "OffsetLedger, a commit every 64", work: path.commit),
            Stage(name: "receive", part: .contained, what: "AnswerParser, in send already", work: path.receive),
            Stage(
                name: "brief", part: .rare, what: "ResultWriter.append, options.result_detail=none", work: path.concludeBriefly),
            Stage(name: "token", part: .rare, what: "SASToken.sign, once in 54 minutes", rounds: 7000, work: path.sign),
            Stage(name: "log", part: .rare, what: "Log.info, a line per request with log.requests=all", rounds: 14_000) {
                log.info(
                    .requestFinished, "a request has its final result",
                    [
                        .requestID: .string("bench-000000001"), .outcome: .string("success"), .attempt: 1, .partition: 3,
                        .offset: 4711,
                    ])
            },
        ]
    }

    /// The median of several batches, so that one that was interrupted does not count.
    private static func measure(_ stage: Stage) throws -> StageFigure {
        try Interruption.check()
        for _ in 0..<stage.rounds / 10 { try stage.work() }
        var batches: [ProcessorTime] = []
        var totals: [Double] = []
        for _ in 0..<batchCount {
            let splitBefore = ProcessorTime.ofThread()
            let before = ProcessorTime.threadNanoseconds()
            for _ in 0..<stage.rounds / batchCount { try stage.work() }
            totals.append(Double(ProcessorTime.threadNanoseconds() - before) / Double(stage.rounds / batchCount) / 1000)
            batches.append(ProcessorTime.ofThread() - splitBefore)
        }
        let split = batches.reduce(into: ProcessorTime()) { sum, batch in
            sum.user += batch.user
            sum.system += batch.system
        }
        let allocations = try AllocationCounter.count { for _ in 0..<640 { try stage.work() } }
        let total = Percentiles(totals).value(0.5)
        let systemShare = split.total > 0 ? Double(split.system) / Double(split.total) : 0
        return StageFigure(
            name: stage.name, part: stage.part, what: stage.what, microseconds: total, systemMicroseconds: total * systemShare,
            allocations: allocations.map { Double($0) / 640 })
    }
}
