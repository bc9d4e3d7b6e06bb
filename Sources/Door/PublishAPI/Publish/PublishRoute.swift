import Basics
import EventLoop
package import GatewayAPI
import HTTPServing
import HubAuth
import Intake
import PushModel

/// Serves the calls of `/v1` that bring requests, and answers when Kafka has said what became of each. No thread waits. What is long to read
/// is read on threads for such work, where keys take turns.
///
/// Of calls with one `Idempotency-Key` the first is carried out, with whichever key of the source they come.
package final class PublishRoute: Sendable {
    /// Gets the answer for whoever repeats the call, or nil where that is not certain, as soon as that is known.
    private typealias Noting = @Sendable (StoredAnswer?) -> Void

    /// The longest wait of a long call for its turn, and the longest time for reading it then.
    static let patience = Duration.seconds(10)

    private let writer: PublicationWriter
    private let idempotency: Idempotency
    private let lookups: LookupEndpoints
    private let reporter: RequestReporter
    private let threads: JobThreads
    private let clock: @Sendable () -> MonotonicTime

    /// Makes a route whose requests go to `producer`, and which reads long calls on `threads`. It fails where a hub of the worker whose calls
    /// are shown cannot be called.
    package init(
        _ configuration: GatewayConfiguration, producer: RequestProducer, threads: JobThreads, idempotency: Idempotency,
        lookups: LookupEndpoints, services: GatewayServices
    ) throws(GatewayFailure) {
        self.idempotency = idempotency
        self.lookups = lookups
        self.threads = threads
        clock = services.now
        do throws(HubAuthError) {
            reporter = try RequestReporter(
                configuration.worker, topics: configuration.requestTopics, userAgent: "pushfan/\(configuration.version)")
        } catch {
            throw .configuration("the hub cannot be called with these settings: \(error)")
        }
        writer = PublicationWriter(configuration, producer: producer, lookup: lookups.lookup, services: services)
    }

    /// Answers a call, now or later; waits for nothing.
    package func answer(_ call: PublishCall) {
        guard call.isLong else { return begin(call) }
        onThread(for: call) { [self] in begin(call) }
    }

    /// Has work of a long call done in its key's turn, or refuses it when that comes too late.
    private func onThread(for call: PublishCall, isAdmitted: Bool = false, do work: @escaping @Sendable () -> Void) {
        let end = clock().advanced(by: Self.patience)
        let problem = threads.put(for: call.publisher.keyID, of: call.publisher.tenant, isAdmitted: isAdmitted) { [clock] in
            clock() < end ? work() : call.reply.answer(APIProblem.overloaded(after: 1000))
        }
        if let problem { call.reply.answer(problem) }
    }

    private func begin(_ call: PublishCall) {
        do throws(APIProblem) {
            let key = try IdempotencyKey.read(call.request.headers)
            // A trial changes nothing: its key only says which id the request would have.
            guard let key, call.kind.writes else { return carryOut(call, with: key, noting: { _ in }) }
            let (scope, former, fingerprint) = Self.identity(of: call, with: key)
            // Before the request is checked: the repetition of one that has expired since gets the answer to the first.
            idempotency.begin(scope, former: former, fingerprint: fingerprint) { [self] verdict in
                switch verdict {
                // The verdict may come in the thread of the file or of another call.
                case .first(let turn) where call.isLong:
                    onThread(for: call, isAdmitted: true) { [self] in carryOut(call, with: key) { turn.end(with: $0) } }
                case .first(let turn): carryOut(call, with: key) { turn.end(with: $0) }
                case .replayed(let answer): repeatAnswer(answer.replay, to: call)
                case .mismatch: call.reply.answer(APIProblem.idempotencyMismatch)
                case .inFlight: call.reply.answer(APIProblem.conflictInFlight)
                }
            }
        } catch {
            call.reply.answer(error)
        }
    }

    private static func identity(
        of call: PublishCall, with key: IdempotencyKey
    ) -> (scope: IdempotencyScope, former: IdempotencyScope, fingerprint: CallFingerprint) {
        let route =
            switch call.kind {
            case .batch(.list), .batch(.lines): "publish.batch"
            case .single, .trial, .batch(.events): "publish"
            }
        let publisher = call.publisher
        return (
            IdempotencyScope(key.text, tenant: publisher.tenant, source: publisher.source, route: route),
            IdempotencyScope(key.text, apiKey: publisher.keyID, route: route),
            CallFingerprint(call.request.body, headers: call.request.headers)
        )
    }

    private func carryOut(_ call: PublishCall, with key: IdempotencyKey?, noting note: @escaping Noting) {
        let now = Timestamp(milliseconds: WallClock.millisecondsSince1970())
        do throws(APIProblem) {
            switch call.kind {
            case .single(let form): publishOne(call, in: form, with: key, at: now, noting: note)
            case .batch(let form): try publishAll(call, in: form, with: key, at: now, noting: note)
            case .trial(let form): call.reply.answer(try explanation(of: call, in: form, with: key, at: now))
            }
        } catch {
            let answer = APIAnswer(error)
            note(StoredAnswer(certain: answer))
            call.reply.answer(answer)
        }
    }

    private func repeatAnswer(_ answer: APIAnswer, to call: PublishCall) {
        guard case .single = call.kind else { return call.reply.answer(answer) }
        lookups.answerRepetition(
            by: Asker(call.publisher), from: call.holder.claimant.client, to: call.request.headers, accepted: answer,
            holding: call.holding
        ) {
            [reply = call.reply] in reply.answer($0)
        }
    }

    private func publishOne(
        _ call: PublishCall, in form: PublishForm, with key: IdempotencyKey?, at now: Timestamp, noting note: @escaping Noting
    ) {
        let submission = Submission(body: call.request.body, form: form, headers: call.request.headers, key: key)
        writer.write(submission, by: call.publisher, at: now) {
            [lookups, reply = call.reply, holder = call.holder, headers = call.request.headers] outcome, place in
            let answer = APIAnswer(outcome)
            note(StoredAnswer(certain: answer))
            guard let place else { return reply.answer(answer) }
            lookups.answer(
                place, of: holder.claimant, to: headers, accepted: answer, holding: reply.rights.hold(holder)
            ) { reply.answer($0) }
        }
    }

    /// Publishes each request of a batch as if it came alone, in their order. For a fault of the batch itself nothing is written.
    private func publishAll(
        _ call: PublishCall, in form: BatchForm, with key: IdempotencyKey?, at now: Timestamp, noting note: @escaping Noting
    ) throws(APIProblem) {
        // The answer is long, and is owed once anything is written.
        guard !call.reply.isCongested else { throw .overloaded(after: 1000) }
        let batch = try Batch(call.request.body, form: form)
        switch call.checkBatch(batch.items.count, call.publisher) {
        case .allowed: break
        case .limited(let wait): throw .rateLimited(after: wait)
        case .beyond(let limit): throw .batchBeyondRate(limit)
        }
        let tally = BatchTally(count: batch.items.count) { [reply = call.reply] verdicts in
            let answer = verdicts.answer
            note(verdicts.isCertain ? StoredAnswer(certain: answer) : nil)
            reply.answer(answer)
        }
        let end = clock().advanced(by: Self.patience)
        for (index, item) in batch.items.enumerated() {
            guard clock() < end else {
                tally.note(.refused(.overloaded(after: 1000)), at: index)
                continue
            }
            var submission = Submission(
                body: item, form: form == .events ? .structuredEvent : .request, headers: call.request.headers, key: key,
                index: index)
            if form == .lines { submission.line = batch.lines[index] }
            writer.write(submission, by: call.publisher, at: now) { outcome, _ in tally.note(outcome, at: index) }
        }
    }

    /// What a request would become. Nothing is written.
    private func explanation(
        of call: PublishCall, in form: PublishForm, with key: IdempotencyKey?, at now: Timestamp
    ) throws(APIProblem) -> APIAnswer {
        let submission = Submission(body: call.request.body, form: form, headers: call.request.headers, key: key)
        var buffers = writer.newBuffers
        let newID = writer.newID(at: now)
        let publication = try Publication(submission, by: call.publisher, at: now, buffers: &buffers) { newID }
        var reporter = reporter
        return APIAnswer(explaining: publication, at: now, without: newID, by: &reporter)
    }
}
