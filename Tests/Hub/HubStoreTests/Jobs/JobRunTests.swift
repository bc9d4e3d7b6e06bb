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

/// Bulk jobs of a hub in a file.
struct JobRunTests {
    private let kept: JournalFile
    private let jobs: FileJobs
    private let server: HubServer

    init() throws {
        kept = try JournalFile()
        jobs = FileJobs(kept.file) { 1_000_000 }
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

    @Test func aJobWhoseStoreDoesNotAnswerFails() throws {
        try put((1...3).map(Self.line).joined(separator: "\n"), at: "in")
        jobs.close()
        let job = try run(.create, id: "1", input: "in")
        #expect(job.status == .failed && job.failure == "The hub was stopped before the job was done")
        #expect(job.outputName == nil)
        #expect(try text("out/hub/1/Output.txt") == nil && kept.devices.counts().registrations == 0)
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
        for range in [nil, "bytes=-5", "bytes=5-4", "bytes=\(length)-", "lines=1-2"] {
            let answer = get(range)
            #expect(answer.status == 416 && answer.headers["Content-Range"] == "bytes */\(length)")
        }
        let first = get("bytes=0-")
        #expect(first.status == 206 && first.body.count == jobs.answerByteCount)
        #expect(first.headers["Content-Range"] == "bytes 0-\(jobs.answerByteCount - 1)/\(length)")
        #expect(get("bytes=\(length - 3)-99999999999").headers["Content-Range"] == "bytes \(length - 3)-\(length - 1)/\(length)")
    }
}
