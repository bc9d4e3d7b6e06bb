package import FanOut
package import JobSupport
import Kafka
import PushModel

/// Writes the parts of a request whose audience is a file, one transaction after another, without the parts of earlier runs.
package struct AudienceRun {
    /// The most parts and bytes of one transaction.
    private static let batchCount = 256
    private static let batchByteCount = 1 << 20
    /// Sessions that may fail before the run does.
    private static let maximumFailures = 5

    let context: JobContext
    let survey: AudienceSurvey
    let planner: FanOutPlanner
    /// The request's id.
    package let id: String
    let draft: AudienceRequest
    let digest: String
    let publishedAt: Int64
    let batchByteCount: Int?

    /// The parts that this run has written.
    package private(set) var writtenCount = 0
    /// The parts that had been written before.
    package private(set) var resumedAt = 0
    /// True when all parts are written.
    package private(set) var isComplete = false

    /// A run that has written nothing yet. It belongs to one thread at a time. `digest` differs from that of any other request
    /// with its id.
    package init(
        of draft: AudienceRequest, id: String, survey: AudienceSurvey, planner: FanOutPlanner, digest: String, publishedAt: Int64,
        batchByteCount: Int?, context: JobContext
    ) {
        self.draft = draft
        self.id = id
        self.survey = survey
        self.planner = planner
        self.digest = digest
        self.publishedAt = publishedAt
        self.batchByteCount = batchByteCount
        self.context = context
    }

    /// Writes all missing parts. After trouble with Kafka it continues at the position in the topic. A cancelled run ends between
    /// two transactions and is not complete. `progress` gets the number of names that were dealt with.
    package mutating func run(progress: (RunProgress) -> Void) throws(JobFailure) {
        var failures = 0
        while true {
            do throws(SessionFailure) {
                return try pass(isFirst: failures == 0, progress: progress)
            } catch {
                switch error {
                case .final(let failure): throw failure
                case .kafka(let error):
                    failures += 1
                    guard !error.isHopeless, !error.isFenced, failures < Self.maximumFailures, !context.isCancelled() else {
                        throw .kafka(error, .enqueue(path: survey.path))
                    }
                    Pause.sleep(.milliseconds(500))
                }
            }
        }
    }

    private mutating func pass(isFirst: Bool, progress: (RunProgress) -> Void) throws(SessionFailure) {
        let (id, context, batchByteCount) = (id, context, batchByteCount)
        let session = try SessionFailure.catching { () throws(KafkaError) in
            try AudienceSession(for: id, context: context, batchByteCount: batchByteCount)
        }
        var state = try start(session)
        if isFirst { resumedAt = state.next }
        guard !state.isComplete else {
            isComplete = true
            return
        }
        let whole = try SessionFailure.ending { () throws(JobFailure) in
            try AudienceRequest(state.request, publishedAt: state.publishedAt)
        }
        var batch = TransactionParts(of: whole.request, id: id, state: state, survey: survey, planner: planner)
        var reader = try open()
        var format = survey.format
        var parts = planner.parts(of: survey.kind, for: whole.request, over: survey.spread)
        var names = 0
        progress(.began(at: 0))
        while try Self.next(&reader) {
            guard !survey.skips(reader.number) else { continue }
            names += 1
            guard (try? format.read(reader.bytes)) == true, let isFull = try? parts.add(format) else { throw changed }
            guard isFull, try add(parts, to: &batch, state: &state, session: session, reader: reader) else { continue }
            progress(.reached(names, skipped: 0))
            if context.isCancelled() { return }
        }
        while parts.finish() { _ = try add(parts, to: &batch, state: &state, session: session, reader: reader) }
        guard reader.digest == survey.digest, state.next + batch.count == state.parts else { throw changed }
        try commit(&batch, state: &state, session: session, reader: reader)
        isComplete = true
    }

    private func open() throws(SessionFailure) -> AudienceReader {
        do throws(JobFailure) { return try AudienceReader(survey.path) } catch { throw .final(error) }
    }

    private static func next(_ reader: inout AudienceReader) throws(SessionFailure) -> Bool {
        do throws(JobFailure) { return try reader.next() } catch { throw .final(error) }
    }

    private var changed: SessionFailure { .final(.room(AudienceFailure.changedFile(path: survey.path))) }

    /// The progress of the request: that of the topic, or its beginning.
    private func start(_ session: AudienceSession) throws(SessionFailure) -> AudienceProgress {
        guard let found = session.found else {
            let partition = ParentKey(fileID: id).partition(of: session.parentPartitions)
            return AudienceProgress(
                request: draft.json, digest: digest, publishedAt: publishedAt, partition: partition, parts: survey.parts)
        }
        guard found.digest == digest, found.parts == survey.parts else {
            throw .final(.room(AudienceFailure.otherRequest(id: id)))
        }
        return found
    }

    /// Adds the complete part, unless an earlier run has written it. Returns whether a transaction was committed.
    private mutating func add(
        _ parts: AudienceParts, to batch: inout TransactionParts, state: inout AudienceProgress, session: AudienceSession,
        reader: borrowing AudienceReader
    ) throws(SessionFailure) -> Bool {
        guard parts.chunk >= state.next else { return false }
        try SessionFailure.catching { () throws(KafkaError) in try batch.add(parts, in: session) }
        guard batch.count >= Self.batchCount || batch.byteCount >= Self.batchByteCount else { return false }
        // The last one is not committed before the whole file was seen once more.
        guard parts.chunk + 1 < state.parts else { return false }
        try commit(&batch, state: &state, session: session, reader: reader)
        return true
    }

    private mutating func commit(
        _ batch: inout TransactionParts, state: inout AudienceProgress, session: AudienceSession, reader: borrowing AudienceReader
    ) throws(SessionFailure) {
        guard reader.isUnchanged else { throw changed }
        guard batch.count > 0 else { return }
        var next = state
        next.next += batch.count
        try SessionFailure.catching { () throws(KafkaError) in try session.commit(next) }
        state = next
        writtenCount += batch.count
        batch.removeAll()
    }
}

extension PartWriter {
    /// A writer for the parts of a request whose audience is a file.
    init(
        _ request: PushRequest, to survey: AudienceSurvey, planner: FanOutPlanner, id: String, partition: Int32, chunks: Int,
        publishedAt: Int64
    ) {
        let isForNames = survey.kind != .handles && request.template == nil
        self.init(
            request, body: request.document.root, platforms: isForNames ? planner.platforms(of: request) : [],
            key: ParentKey(fileID: id), partition: partition, chunks: chunks,
            publishedAt: Timestamp(milliseconds: publishedAt))
    }
}

/// The parts of one transaction.
private struct TransactionParts {
    private let writer: PartWriter
    private let parent: ByteWriter
    private let partition: Int32
    private var json = ByteWriter()
    private(set) var count = 0
    private(set) var byteCount = 0

    init(of request: PushRequest, id: String, state: AudienceProgress, survey: AudienceSurvey, planner: FanOutPlanner) {
        writer = PartWriter(
            request, to: survey, planner: planner, id: id, partition: state.partition, chunks: state.parts,
            publishedAt: state.publishedAt)
        var parent = ByteWriter()
        ParentRecord.append(request, chunks: state.parts, calls: survey.calls, origin: nil, to: &parent)
        self.parent = parent
        partition = state.partition
    }

    mutating func add(_ parts: AudienceParts, in session: AudienceSession) throws(KafkaError) {
        if count == 0 { try session.begin() }
        // Before its parts, so that it stands before what becomes of them.
        if parts.chunk == 0 { try session.addParent(parent, to: partition) }
        json.removeAll()
        writer.append(parts.chunk, hub: parts.hub, to: &json) { parts.appendAudience(to: &$0) }
        try session.addPart(parts.chunk, json)
        count += 1
        byteCount += json.count
    }

    mutating func removeAll() {
        count = 0
        byteCount = 0
    }
}
