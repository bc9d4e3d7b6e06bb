import FanOut
import Glibc
import Jobs
import Kafka
import PushModel
import Settings

/// Writes the parts of a request whose audience is a file, one transaction after another, without the parts of earlier runs.
struct AudienceRun {
    /// The most parts and bytes of one transaction.
    private static let batchCount = 256
    private static let batchByteCount = 1 << 20
    /// Sessions that may fail before the run does.
    private static let maximumFailures = 5

    let invocation: Invocation
    let settings: Settings
    let survey: AudienceSurvey
    let planner: FanOutPlanner
    let id: String
    /// The request as this run would begin it.
    let draft: AudienceRequest
    let digest: String
    let publishedAt: Int64
    let timeout: Duration

    /// The bytes that a batch of records may have, or nil for the client's own limit.
    var batchByteCount: Int?
    /// Parts that this run has written, and those that had been written before.
    private(set) var writtenCount = 0
    private(set) var resumedAt = 0
    private(set) var isComplete = false

    init(
        _ invocation: Invocation, _ settings: Settings, _ survey: AudienceSurvey, _ planner: FanOutPlanner, id: String,
        _ draft: AudienceRequest, digest: String, publishedAt: Int64, timeout: Duration
    ) {
        self.invocation = invocation
        self.settings = settings
        self.survey = survey
        self.planner = planner
        self.id = id
        self.draft = draft
        self.digest = digest
        self.publishedAt = publishedAt
        self.timeout = timeout
    }

    /// Writes all missing parts. After trouble with Kafka it continues at the position in the topic.
    ///
    /// - Throws: An error that cannot be cured here. The same command continues.
    mutating func run() throws(CommandFailure) {
        let progress = ReplayProgress(total: survey.names, invocation.streams, hasBar: true)
        defer { progress.end() }
        var failures = 0
        while true {
            do throws(CommandSessionFailure) {
                return try pass(progress, isFirst: failures == 0)
            } catch {
                switch error {
                case .final(let failure): throw failure
                case .kafka(let error):
                    failures += 1
                    try giveUp(error, failures)
                    Pause.sleep(.milliseconds(500))
                }
            }
        }
    }

    private func giveUp(_ error: KafkaError, _ failures: Int) throws(CommandFailure) {
        guard error.isHopeless || error.isFenced || failures >= Self.maximumFailures || Interruption.isRequested else { return }
        throw invocation.failure(error, settings.kafka, to: "enqueue \(Sanitised.line(survey.path)); the same command goes on")
    }

    private mutating func pass(_ progress: ReplayProgress, isFirst: Bool) throws(CommandSessionFailure) {
        let (id, settings, timeout, batchByteCount) = (id, settings, timeout, batchByteCount)
        let session = try CommandSessionFailure.catching { () throws(KafkaError) in
            try AudienceSession(id, settings, batchByteCount: batchByteCount, timeout: timeout)
        }
        var state = try start(session)
        if isFirst { resumedAt = state.next }
        guard !state.isComplete else {
            isComplete = true
            return
        }
        let whole = try CommandSessionFailure.ending { () throws(CommandFailure) in
            try AudienceRequest(state.request, publishedAt: state.publishedAt)
        }
        var batch = Batch(whole.request, state, id, survey, planner)
        var reader = try open()
        var format = survey.format
        var parts = planner.parts(of: survey.kind, for: whole.request, over: survey.spread)
        var names = 0
        progress.show(.began(at: 0))
        while try Self.next(&reader) {
            guard !survey.skips(reader.number) else { continue }
            names += 1
            guard (try? format.read(reader.bytes)) == true, let isFull = try? parts.add(format) else { throw changed }
            guard isFull, try add(parts, &batch, &state, session, reader) else { continue }
            progress.show(.reached(names, skipped: 0))
            if Interruption.isRequested { return }
        }
        while parts.finish() { _ = try add(parts, &batch, &state, session, reader) }
        guard reader.digest == survey.digest, state.next + batch.count == state.parts else { throw changed }
        try commit(&batch, &state, session, reader)
        isComplete = true
    }

    private func open() throws(CommandSessionFailure) -> AudienceReader {
        do throws(CommandFailure) { return try AudienceReader(survey.path) } catch { throw .final(error) }
    }

    private static func next(_ reader: inout AudienceReader) throws(CommandSessionFailure) -> Bool {
        do throws(CommandFailure) { return try reader.next() } catch { throw .final(error) }
    }

    private var changed: CommandSessionFailure { .final(AudienceSurvey.changed(survey.path)) }

    /// The progress of the request: that of the topic, or its beginning.
    private func start(_ session: AudienceSession) throws(CommandSessionFailure) -> AudienceProgress {
        guard let found = session.found else {
            let partition = ParentKey(fileID: id).partition(of: session.parentPartitions)
            return AudienceProgress(
                request: draft.json, digest: digest, publishedAt: publishedAt, partition: partition, parts: survey.parts)
        }
        guard found.digest == digest, found.parts == survey.parts else {
            throw .final(
                CommandFailure(
                    .refused, "the request \(id) was begun with another file, other content, or for other platforms or hubs",
                    hint: "another --id makes another request of it"))
        }
        return found
    }

    /// Adds the complete part, unless an earlier run has written it.
    ///
    /// - Returns: Whether a transaction was committed.
    private mutating func add(
        _ parts: AudienceParts, _ batch: inout Batch, _ state: inout AudienceProgress, _ session: AudienceSession,
        _ reader: borrowing AudienceReader
    ) throws(CommandSessionFailure) -> Bool {
        guard parts.chunk >= state.next else { return false }
        try CommandSessionFailure.catching { () throws(KafkaError) in try batch.add(parts, session) }
        guard batch.count >= Self.batchCount || batch.byteCount >= Self.batchByteCount else { return false }
        // The last one is not committed before the whole file was seen once more.
        guard parts.chunk + 1 < state.parts else { return false }
        try commit(&batch, &state, session, reader)
        return true
    }

    private mutating func commit(
        _ batch: inout Batch, _ state: inout AudienceProgress, _ session: AudienceSession, _ reader: borrowing AudienceReader
    ) throws(CommandSessionFailure) {
        guard reader.isUnchanged else { throw changed }
        guard batch.count > 0 else { return }
        var next = state
        next.next += batch.count
        try CommandSessionFailure.catching { () throws(KafkaError) in try session.commit(next) }
        state = next
        writtenCount += batch.count
        batch.removeAll()
    }
}

extension PartWriter {
    /// A writer for the parts of a request whose audience is a file.
    ///
    /// - Parameters:
    ///   - request: The whole.
    ///   - survey: The file.
    ///   - planner: Plans as the workers do.
    ///   - id: The request's id.
    ///   - partition: The partition of the topic of parents that holds its records.
    ///   - chunks: The number of parts.
    ///   - publishedAt: The time of its beginning, milliseconds since 1970.
    init(
        _ request: PushRequest, to survey: AudienceSurvey, _ planner: FanOutPlanner, id: String, partition: Int32, chunks: Int,
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
private struct Batch {
    private let writer: PartWriter
    private let parent: ByteWriter
    private let partition: Int32
    private var json = ByteWriter()
    private(set) var count = 0
    private(set) var byteCount = 0

    init(_ request: PushRequest, _ state: AudienceProgress, _ id: String, _ survey: AudienceSurvey, _ planner: FanOutPlanner) {
        writer = PartWriter(
            request, to: survey, planner, id: id, partition: state.partition, chunks: state.parts, publishedAt: state.publishedAt)
        var parent = ByteWriter()
        ParentRecord.append(request, chunks: state.parts, calls: survey.calls, origin: nil, to: &parent)
        self.parent = parent
        partition = state.partition
    }

    mutating func add(_ parts: AudienceParts, _ session: AudienceSession) throws(KafkaError) {
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
