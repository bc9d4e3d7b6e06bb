import Basics
import Console
import EventLoop
import Foundation

/// How fast a worker takes a backlog of requests, and what that costs.
struct BacklogRun {
    /// What was seen at one moment.
    private struct Sample {
        var moment: Int64
        var results: Double
        var processor: ProcessorTime
        var saidByteCount: Int
    }

    let count: Int
    let limit: Int

    private static let pause: UInt32 = 50_000
    private static let patience = Duration.seconds(300)

    /// Watches `worker` until it has written all results. Throws if the worker ends, takes no request for too long, or a signal
    /// interrupts it.
    func watch(_ worker: ChildProcess, metrics: MetricsReader) throws -> BacklogFigure {
        let start = MonotonicTime.now()
        let deadline = start.advanced(by: Self.patience)
        var first: Sample?
        var steady: Sample?
        var full = 0
        var busy = 0
        while true {
            usleep(Self.pause)
            try check(worker, until: deadline)
            guard let page = try metrics.read() else { continue }
            let sample = Sample(
                moment: MonotonicTime.now().nanoseconds, results: page.sum("pushfan_results_published_total"),
                processor: worker.processorTime, saidByteCount: worker.saidByteCount)
            if sample.results > 0 && first == nil { first = sample }
            if sample.results >= Double(count) / 5 && steady == nil { steady = sample }
            guard sample.results < Double(count) else {
                return try figure(
                    from: steady ?? first ?? sample, to: sample, page: page, worker: worker,
                    fullShare: busy > 0 ? Double(full) / Double(busy) : nil, since: start)
            }
            if steady != nil {
                busy += 1
                // A few calls fewer than the limit: the gauge is written at the end of a turn, when answers were taken.
                if page.sum("pushfan_inflight_sends") >= Double(limit) * 0.9 { full += 1 }
            }
        }
    }

    private func check(_ worker: ChildProcess, until deadline: MonotonicTime) throws {
        try Interruption.check()
        guard worker.isRunning else {
            throw CommandFailure(.failed, "the worker ended: " + (worker.said.split(separator: "\n").last.map(String.init) ?? ""))
        }
        guard MonotonicTime.now() < deadline else {
            throw CommandFailure(.temporary, "the worker did not finish \(count) requests within 5 min")
        }
    }

    private func figure(
        from begin: Sample, to end: Sample, page: MetricsPage, worker: ChildProcess, fullShare: Double?,
        since start: MonotonicTime
    ) throws(CommandFailure) -> BacklogFigure {
        let steady = end.results - begin.results
        let used = end.processor - begin.processor
        guard steady > 0, used.total > 0 else {
            throw CommandFailure(
                .failed, "the worker took \(count) requests before anything could be measured", hint: "use more --requests")
        }
        let seconds = Double(max(1, end.moment - begin.moment)) / 1e9
        let calls = page.sum("pushfan_send_duration_seconds_count")
        return BacklogFigure(
            requests: count, steadyRequests: Int(steady), requestsPerSecond: steady / seconds,
            userMicroseconds: Double(used.user) / 1000 / steady, systemMicroseconds: Double(used.system) / 1000 / steady,
            processorShare: Double(used.total) / 1e9 / seconds,
            peakMemoryMebibytes: Double(worker.peakResidentByteCount) / 1_048_576,
            inFlightFullShare: fullShare,
            hubMilliseconds: calls > 0 ? page.sum("pushfan_send_duration_seconds_sum") / calls * 1000 : nil,
            loggedBytesPerRequest: Double(end.saidByteCount - begin.saidByteCount) / steady,
            failedRequests: Int(
                page.sum("pushfan_requests_finished_total") - page.sum("pushfan_requests_finished_total", where: #""success""#)),
            secondsToStart: Double(begin.moment - start.nanoseconds) / 1e9)
    }
}
