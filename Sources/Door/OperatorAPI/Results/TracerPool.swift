import Basics
import EventLoop
import GatewayAPI
import GroupPositions
import GroupPositions
import JobSupport
import PushModel
import Results
import Synchronization

/// Searches single results, by clients of Kafka that threads share one after the other.
final class TracerPool: Sendable {
    /// The longest search.
    private static let patience = Duration.seconds(1)
    /// The age at which a client is closed: another one has the certificates of then.
    private static let lifetime = Duration.seconds(60)

    /// A tracer, and the time at which it was made.
    ///
    /// `@unchecked Sendable`: it is either in the pool, where no thread uses it, or with the one thread that has taken it out. The pool's lock
    /// orders what one thread did before what the next one does, and clients of librdkafka may change threads (rdkafka.h, INTRODUCTION).
    private struct Tracer: @unchecked Sendable {
        let value: ResultTracer
        let madeAt: MonotonicTime
    }

    private let context: JobContext
    private let terms: GroupTerms
    private let keeper: IndexKeeper?
    private let idle = Mutex<[Tracer]>([])

    /// A pool without clients.
    init(_ context: JobContext, terms: GroupTerms, keeper: IndexKeeper?) {
        var context = context
        context.timeout = .seconds(2)
        (self.context, self.terms, self.keeper) = (context, terms, keeper)
    }

    /// Searches the final result of a request. Blocks the calling thread.
    func trace(_ request: PublishedRequest, search: ResultSearch) throws(APIProblem) -> ResultTracer.Answer {
        let traced = TracedRequest(
            id: request.id, place: request.place.map { ($0.record.partition, $0.record.offset) },
            writtenAt: request.acceptedAt.milliseconds, isRepetition: search == .sinceItsID, isOwn: { request.has($0) })
        return try APIProblem.catching { () throws(JobFailure) in
            let tracer = try take()
            let answer = try tracer.value.trace(traced, until: Deadline(after: Self.patience))
            // One that has failed is closed.
            idle.withLock { $0.append(tracer) }
            return answer
        }
    }

    private func take() throws(JobFailure) -> Tracer {
        let now = MonotonicTime.now()
        while let tracer = idle.withLock({ $0.popLast() }) {
            if tracer.madeAt.advanced(by: Self.lifetime) > now { return tracer }
        }
        return Tracer(value: try ResultTracer(context, terms: terms, keeper: keeper), madeAt: now)
    }
}
