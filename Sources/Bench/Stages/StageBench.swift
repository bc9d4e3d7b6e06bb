import Observability

/// Measures each stage of a request by itself, on the calling thread.
struct StageBench {
    /// What is measured, and how often it is needed.
    private struct Stage {
        let name: String
        let part: StageFigure.Part
        let what: String
        var rounds = 140_000
        let work: () throws -> Void
    }

    private static let batchCount = 7

    /// The figures of all stages, in the order of a request's way.
    static func run() throws -> [StageFigure] {
        let path = try RequestPath()
        let exchange = try ExchangeRun(call: path.callBytes)
        defer { exchange.close() }
        var figures = try stages(path, exchange).map(measure)
        // Reading cannot be had without parsing; what it takes beyond that is the checking of the contract's rules.
        if let parse = figures.first(where: { $0.name == "parse" }),
            let index = figures.firstIndex(where: { $0.name == "validate" })
        {
            figures[index].subtract(parse)
        }
        return figures
    }

    private static func stages(_ path: RequestPath, _ exchange: ExchangeRun) -> [Stage] {
        let log = Log(format: .json, level: .info, now: { 0 }, sink: { _ in })
        return [
            Stage(name: "parse", part: .request, what: "JSONDocument.read", work: path.parse),
            Stage(name: "validate", part: .request, what: "RequestReader.read, less parse", work: path.read),
            Stage(name: "plan", part: .request, what: "FanOutPlanner.plan", work: path.plan),
            Stage(name: "format", part: .request, what: "PayloadFormatter.format, Apple", work: path.format),
            Stage(name: "write", part: .request, what: "HubClient.write, token at hand", work: path.write),
            Stage(
                name: "send", part: .request, what: "ConnectionPool, loopback, one at a time, answer read", rounds: 14_000,
                work: exchange.pass),
            Stage(name: "answer", part: .request, what: "HubAnswer, Verdict, DeliveryReport", work: path.judge),
            Stage(name: "result", part: .request, what: "ResultWriter.append, no headers", work: path.conclude),
            Stage(name: "commit", part: .request, what: "OffsetLedger, a commit every 64", work: path.commit),
            Stage(name: "receive", part: .contained, what: "AnswerParser, in send already", work: path.receive),
            Stage(
                name: "brief", part: .rare, what: "ResultWriter.append, options.result_detail=none", work: path.concludeBriefly),
            Stage(name: "sign", part: .rare, what: "SASToken.sign, once a token", rounds: 7000, work: path.sign),
            Stage(name: "log", part: .rare, what: "Log.info, a line per request at info", rounds: 14_000) {
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
