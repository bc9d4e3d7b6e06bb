import Dispatch
import FanOut
import HTTPServing
import HubStore
import Synchronization
import TestSupport
import Testing

@testable import HubServer

/// A journal in a file of its own, which can be closed and opened again.
final class JournalFile {
    /// A key for handles.
    static let key = [UInt8](repeating: 7, count: 32)

    private let folder: TemporaryFolder
    private let handleKey: [UInt8]?
    private(set) var file: HubFile
    private(set) var journal: FileJournal
    private(set) var devices: FileDevices

    init(handleKey: [UInt8]? = nil) throws {
        folder = try TemporaryFolder()
        self.handleKey = handleKey
        file = try HubFile(HubFileTerms(path: folder.path("hub.db"), handleKey: handleKey))
        (journal, devices) = (FileJournal(file), FileDevices(file))
    }

    /// The path of the file.
    var path: String { folder.path("hub.db") }

    /// Closes the file and opens it again.
    func reopen() throws {
        file.close()
        file = try HubFile(HubFileTerms(path: path, handleKey: handleKey))
        (journal, devices) = (FileJournal(file), FileDevices(file))
    }

    /// Keeps a step, and waits until it lasts.
    func keep(_ step: WalkStep) throws {
        let outcome = Mutex<RefusedCall?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        journal.keep(step) { refusal in
            outcome.withLock { $0 = refusal }
            isDone.signal()
        }
        try #require(isDone.wait(timeout: .now() + 300) == .success)
        if let refusal = outcome.withLock({ $0 }) { throw refusal }
    }

    /// State and counts: `Completed apple.Success=2`.
    func told(_ id: String, at now: Int64) throws -> String? {
        try journal.telemetry(of: id, now: now).map { telemetry in
            ([telemetry.shown.state]
                + telemetry.shown.counts.entries.map { "\($0.platform.format).\($0.name)=\($0.count)" })
                .joined(separator: " ")
        }
    }

    /// The ids of the notifications that are to be sent, in their order.
    func unfinished(_ now: Int64, without numbers: Set<Int64> = [], limit: Int = 100) throws -> [String] {
        try journal.unfinished(now: now, without: numbers, limit: limit).map(\.notification.id)
    }

    /// The number of a notification that is to be sent.
    func number(_ id: String) throws -> Int64 {
        try #require(try journal.unfinished(now: .max, without: [], limit: 1000).first { $0.notification.id == id }).number
    }
}

extension HubCall {
    /// A call at a time.
    static func sample(at now: Int64, headers: HTTPFields = [:], body: [UInt8] = [], id: Int = 1) -> HubCall {
        HubCall(
            request: HTTPServerRequest(method: "POST", target: "/hub/messages", headers: headers, body: body), id: id,
            moment: Moment(milliseconds: now), apiVersion: .namesErrorDetails, tier: .standard, baseURL: "http://h/hub")
    }
}

extension Notification {
    /// A notification of a platform to an audience.
    static func sample(_ id: String, to audience: Audience = .everyone, format: String = "apple") throws -> Notification {
        try Notification(
            id: id, callID: 1, format: format, audience: audience, body: Array(#"{"aps":{"alert":"x"}}"#.utf8), headers: [:])
    }

    /// All of it in one text.
    var whole: String {
        let audience =
            switch self.audience {
            case .everyone: "everyone"
            case .tags(let expression): "tags \(expression)"
            case .handles(let handles): "handles \(handles)"
            }
        let properties = if case .template(let values) = content { values.sorted { $0.key < $1.key }.description } else { "" }
        return """
            \(id) \(callID) \(format) \(properties) \(audience) \(String(decoding: body, as: UTF8.self)) \
            \(headers.all.map { "\($0.name)=\($0.value)" }) \(collapseKey ?? "-") \(refusal.map { "\($0)" } ?? "-")
            """
    }
}
