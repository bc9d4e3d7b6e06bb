import Dispatch
import HTTPServing
import TestSupport
import Testing

@testable import HubServer
@testable import HubStore

/// Notifications of a hub that has none.
private struct NoMessages: MessageStore {
    func accept(_ notification: Notification, of call: HubCall, due: Int64?) -> Acceptance { Acceptance() }
    func cancel(_ id: String, now: Int64) -> Bool { false }
    func test(_ notification: Notification, of call: HubCall) -> Reach? { nil }
    func telemetry(of id: String, now: Int64) -> MessageTelemetry? { nil }
    func refused(by id: String) -> [PNSFeedback]? { nil }
    func feedbackBlobs(from name: String, limit: Int) -> [FeedbackBlob.Head] { [] }
    func feedbackBlob(_ name: String) -> [UInt8]? { nil }
}

/// A store whose every change is refused once before it is carried out.
private struct FlakyDevices: DeviceStore {
    let store: any DeviceStore
    let count = Box(0)

    func change<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        let isRefused = count.withLock { count in
            count += 1
            return count % 2 == 1
        }
        if isRefused { throw .unavailable("the disk is full") }
        return try store.change(body)
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result { try store.read(body) }
}

/// Jobs whose end is refused once.
private struct FlakyJobs: JobStore {
    let store: FileJobs
    let refusesEnd = Box(true)

    var answerByteCount: Int { store.answerByteCount }

    func keep(_ job: HubJob) throws(RefusedCall) {
        let refuses = refusesEnd.withLock { refuses in
            defer { if job.status != .started { refuses = false } }
            return refuses && job.status != .started
        }
        if refuses { throw .unavailable("the disk is full") }
        try store.keep(job)
    }

    func job(_ id: String) throws(RefusedCall) -> HubJob? { try store.job(id) }
    func jobs() throws(RefusedCall) -> [HubJob] { try store.jobs() }
    func file(_ path: String) throws(RefusedCall) -> (any JobFile)? { try store.file(path) }
    func draft(_ path: String) throws(RefusedCall) -> any JobFileDraft { try store.draft(path) }
    func removeFile(_ path: String) throws(RefusedCall) { try store.removeFile(path) }
    func submit(_ job: HubJob, work: @escaping @Sendable () -> Void) throws(RefusedCall) -> Bool {
        try store.submit(job, work: work)
    }
    func checkRunning() throws(RefusedCall) { try store.checkRunning() }
    func waitToRetry() throws(RefusedCall) { try store.waitToRetry() }
}

/// Bulk jobs of a hub in a file.
struct JobRunTests {
    private let kept: JournalFile
    private let jobs: FileJobs
    private let server: HubServer

    init() throws {
        kept = try JournalFile()
        jobs = FileJobs(kept.file, retryPause: .nanoseconds(1)) { 1_000_000 }
        server = HubServer(
            HubTerms(hubName: "hub", policies: [], listen: "h:1"), devices: kept.devices, messages: NoMessages(), jobs: jobs,
            blobPath: "/hub/blobs/", seed: 1)
    }

    private func put(_ text: String, at path: String) throws {
        let draft = try jobs.draft(path)
        try draft.append(Array(text.utf8))
        try draft.finish()
    }

    private func text(_ path: String) throws -> String? {
        guard let file = try jobs.file(path) else { return nil }
        return String(decoding: try file.bytes(from: 0, count: file.byteCount), as: UTF8.self)
    }

    private func run(_ kind: HubJob.Kind, id: String, input: String? = nil) throws -> HubJob {
        let job = HubJob(id: id, kind: kind, outputContainer: "http://h/storage/out", importFile: input, createdAt: 5)
        try jobs.keep(job)
        JobRun(job, output: "out", input: input, server: server).perform()
        return try #require(try jobs.job(id))
    }

    private static func line(_ number: Int) -> String {
        let handle = String(repeating: "0", count: 64 - String(number).count) + String(number)
        return "<AppleRegistrationDescription xmlns=\"\(XMLWriter.serviceBus)\"><Tags>t\(number % 3)</Tags>"
            + "<DeviceToken>\(handle)</DeviceToken></AppleRegistrationDescription>"
    }

    /// More lines than one portion, with faulty ones between.
    @Test func whatIsExportedIsWhatWasImported() throws {
        let lines = (1...501).map { $0.isMultiple(of: 100) ? "<broken" : Self.line($0) }
        try put(lines.joined(separator: "\n"), at: "in")
        let imported = try run(.create, id: "1", input: "in")
        #expect(imported.status == .completed && imported.outputName == "hub/1/Output.txt")
        #expect(imported.failedName == "hub/1/Failed.txt")
        let failed = try #require(try text("out/hub/1/Failed.txt"))
        #expect(failed.split(separator: "\n").map { $0.prefix { $0 != "," } } == ["100", "200", "300", "400", "500"])
        #expect(try text("out/hub/1/Output.txt")?.split(separator: "\n").count == 496)
        let exported = try run(.export, id: "2")
        #expect(exported.status == .completed && exported.failedName == nil)
        let output = try #require(try text("out/hub/2/Output.txt"))
        #expect(output.split(separator: "\n").count == 496)

        let removed = try run(.delete, id: "3", input: "out/hub/2/Output.txt")
        #expect(removed.status == .completed)
        #expect(try text("out/hub/3/Failed.txt")?.isEmpty == true)
        #expect(try kept.devices.counts().registrations == 0)
    }

    @Test func anImportThatIsRepeatedMakesNoSecondRegistrations() throws {
        try put((1...999).map(Self.line).joined(separator: "\n"), at: "in")
        for id in ["1", "2"] { #expect(try run(.create, id: id, input: "in").status == .completed) }
        #expect(try kept.devices.counts().registrations == 999)
        let ids = try ["1", "2"].map { try text("out/hub/\($0)/Output.txt")?.matches(of: /<RegistrationId>([\d-]+)</).map(\.1) }
        #expect(ids[0]?.count == 999 && ids[0] == ids[1])
    }

    @Test func aJobWhoseStoreDoesNotAnswerFails() throws {
        try put((1...3).map(Self.line).joined(separator: "\n"), at: "in")
        jobs.close()
        let job = try run(.create, id: "1", input: "in")
        #expect(job.status == .failed && job.failure == "The hub was stopped before the job was done")
        #expect(job.outputName == "hub/1/Output.txt" && job.failedName == "hub/1/Failed.txt", "they say what was done")
        #expect(try text("out/hub/1/Output.txt")?.isEmpty == true && kept.devices.counts().registrations == 0)
    }

    @Test func aStoreThatRefusesNowAndThenIsAskedAgain() throws {
        try put((1...501).map(Self.line).joined(separator: "\n"), at: "in")
        let flaky = HubServer(
            HubTerms(hubName: "hub", policies: [], listen: "h:1"), devices: FlakyDevices(store: kept.devices),
            messages: NoMessages(), jobs: FlakyJobs(store: jobs), blobPath: "/hub/blobs/", seed: 1)
        let job = HubJob(id: "1", kind: .create, outputContainer: "http://h/storage/out", importFile: "in", createdAt: 5)
        try jobs.keep(job)
        JobRun(job, output: "out", input: "in", server: flaky).perform()
        #expect(try jobs.job("1")?.status == .completed && kept.devices.counts().registrations == 501)
        #expect(try text("out/hub/1/Output.txt")?.split(separator: "\n").count == 501)
    }

    @Test(arguments: [(2048, 10, true), (2049, 10, false), (10, 2048, true), (10, 2049, false)])
    func aJobNamesFilesByShortAddresses(output: Int, input: Int, isTaken: Bool) {
        func uri(_ count: Int) -> String { "http://h/" + String(repeating: "x", count: count - 9) }
        let body = """
            <entry xmlns="\(XMLWriter.atom)"><content><NotificationHubJob xmlns="\(XMLWriter.serviceBus)">
            <Type>ImportCreateRegistrations</Type><OutputContainerUri>\(uri(output))</OutputContainerUri>
            <ImportFileUri>\(uri(input))</ImportFileUri></NotificationHubJob></content></entry>
            """
        #expect(((try? HubJob.read(Array(body.utf8), id: "1", at: 1)) != nil) == isTaken)
    }

    @Test func anImportIsCutByLinesAndBytes() throws {
        let reader = RegistrationImport(.create, at: 5)
        func counts(_ lines: [String], pieceCount: Int = 65_536) -> [Int] {
            let bytes = Array(lines.joined(separator: "\n").utf8)
            var portions = ImportPortions(for: reader)
            let pieces = stride(from: 0, to: bytes.count, by: pieceCount).map { Array(bytes[$0...].prefix(pieceCount)) }
            return (pieces + [[]]).flatMap { portions.cut($0) }.map(\.count)
        }
        #expect(counts([]).isEmpty)
        #expect(counts((1...401).map(Self.line)) == [200, 200, 1])
        #expect(counts((1...400).map(Self.line), pieceCount: 7) == [200, 200])
        #expect(counts([String](repeating: String(repeating: "x", count: 200_000), count: 5)) == [2, 2, 1])
    }

    @Test(
        arguments: [
            (nil, .whole), ("lines=1-2", .whole), ("bytes=5-4", .whole), ("bytes=-", .whole), ("bytes=0-1,3-4", .whole),
            ("bytes=+1-2", .whole), ("bytes=2-4", .bytes(2..<5)), ("bytes=8-", .bytes(8..<10)), ("bytes=8-99", .bytes(8..<10)),
            ("bytes=-3", .bytes(7..<10)), ("bytes=-99", .bytes(0..<10)), ("bytes=-0", .outside), ("bytes=10-", .outside),
            ("bytes=0-99999999999999999999", .bytes(0..<10)), ("bytes=99999999999999999999-", .outside),
        ] as [(String?, BlobPart)])
    func aPartIsThatOfTheRange(_ range: String?, _ part: BlobPart) {
        var headers: HTTPFields = [:]
        if let range { headers.append("Range", value: range) }
        #expect(BlobPart(HTTPServerRequest(method: "GET", target: "/f", headers: headers), of: 10) == part)
    }

    @Test(
        arguments: [
            (nil, 200, 10, nil), ("bytes=2-4", 206, 3, "bytes 2-4/10"), ("bytes=8-", 206, 2, "bytes 8-9/10"),
            ("bytes=10-", 416, 0, "bytes */10"),
        ] as [(String?, Int, Int, String?)])
    func aFileIsAnsweredInParts(_ range: String?, _ status: Int, _ count: Int, _ told: String?) throws {
        try put("0123456789", at: "f")
        var headers: HTTPFields = [:]
        if let range { headers.append("Range", value: range) }
        let answer = server.storage(HTTPServerRequest(method: "GET", target: "/storage/f", headers: headers), path: "f")
        #expect(answer.status == status && answer.body.count == count && answer.headers["Content-Range"] == told)
    }

    @Test func aLongFileIsAnsweredInPartsOnly() throws {
        let length = jobs.answerByteCount + 10
        let draft = try jobs.draft("f")
        try draft.append([UInt8](repeating: 65, count: length))
        try draft.finish()
        func get(_ range: String?) -> HTTPServerResponse {
            var headers: HTTPFields = [:]
            if let range { headers.append("Range", value: range) }
            return server.storage(HTTPServerRequest(method: "GET", target: "/storage/f", headers: headers), path: "f")
        }
        for range in [nil, "bytes=5-4", "lines=1-2"] { #expect(get(range).status == 400) }
        let outside = get("bytes=\(length)-")
        #expect(outside.status == 416 && outside.headers["Content-Range"] == "bytes */\(length)")
        #expect(get("bytes=-5").headers["Content-Range"] == "bytes \(length - 5)-\(length - 1)/\(length)")
        let first = get("bytes=0-")
        #expect(first.status == 206 && first.body.count == jobs.answerByteCount)
        #expect(first.headers["Content-Range"] == "bytes 0-\(jobs.answerByteCount - 1)/\(length)")
        #expect(get("bytes=\(length - 3)-99999999999").headers["Content-Range"] == "bytes \(length - 3)-\(length - 1)/\(length)")
    }
}
