import Basics
import CallbackRecords
import EventLoop
import Foundation
import TestSupport
import Testing
import Webhooks

/// The receivers that count while their file, and those of their secrets, change.
@Suite(.tags(.c, .threads)) struct WatchedReceiversTests {
    private static let secrets = [SampleSecret.first, SampleSecret.second]

    private let folder: TemporaryFolder
    private let reports = Box<[WatchedReceivers.Report]>([])

    init() throws { folder = try TemporaryFolder() }

    private func second(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000_000) }

    private func put(_ text: String, in name: String = "receivers") throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(name)), options: .atomic)
    }

    private func watch() throws -> WatchedReceivers {
        try WatchedReceivers(folder.path("receivers"), now: second(0)) { [reports] report in
            reports.withLock { $0.append(report) }
        }
    }

    private var told: [WatchedReceivers.Report] { reports.withLock { $0 } }

    private static func text(_ names: String..., lines: String = "") -> String {
        "receivers:\n" + names.map { "- name: \($0)\n  url: https://example.com\n  secrets: [\(secrets[0])]\n\(lines)" }.joined()
    }

    private func names(in receivers: WatchedReceivers, at moment: Int64) -> [String] {
        receivers.current(now: second(moment)).receivers.map(\.name)
    }

    @Test func aReceiverThatIsAddedCountsTwoSecondsLater() throws {
        try put(Self.text("a"))
        let receivers = try watch()
        try put(Self.text("a", "b"))
        #expect(names(in: receivers, at: 1) == ["a"])
        #expect(names(in: receivers, at: 2) == ["a", "b"])
        #expect(told == [.read(count: 2)])
    }

    @Test func aFaultyFileKeepsTheReceiversAndIsToldOnce() throws {
        try put(Self.text("a"))
        let receivers = try watch()
        try put(Self.text("a", "b") + "- name: CANARY/\n")
        for moment in [2, 4, 6] as [Int64] { #expect(names(in: receivers, at: moment) == ["a"]) }
        #expect(told.count == 1)
        guard case .kept(because: .fault(let fault)) = told.first else {
            Issue.record("the faulty file was not told of")
            return
        }
        #expect(fault.items.allSatisfy { $0.line == 8 } && !fault.description.contains("CANARY"))
        try put(Self.text("a", "b"))
        #expect(names(in: receivers, at: 8) == ["a", "b"])
        #expect(told.last == .read(count: 2))
    }

    @Test(arguments: ["  tenant: acme\n", "  sources: [shop]\n", "  filter: 'state:failed'\n"])
    func aFileThatIsCutBeforeATermNeverGivesAReceiverMore(_ term: String) throws {
        let whole = Self.text("a", lines: term)
        try put(whole)
        let receivers = try watch()
        let before = receivers.current(now: second(0))
        for length in 0..<whole.utf8.count {
            try put(String(decoding: Array(whole.utf8).prefix(length), as: UTF8.self))
            #expect(receivers.current(now: second(Int64(length + 1) * 2)) == before, "\(length)")
        }
    }

    @Test func aReceiverThatIsRemovedEndsOnceTheFileHasSettled() throws {
        try put(Self.text("a", "b"))
        let receivers = try watch()
        try put(Self.text("b"))
        #expect(names(in: receivers, at: 2) == ["a", "b"])
        #expect(told == [.kept(because: .unsettled)])
        #expect(names(in: receivers, at: 11) == ["a", "b"])
        #expect(names(in: receivers, at: 13) == ["b"])
    }

    @Test func anEmptyLineAtTheEndMakesARemovalCountAtOnce() throws {
        try put(Self.text("a", "b"))
        let receivers = try watch()
        try put(Self.text("b") + "\n")
        #expect(names(in: receivers, at: 2) == ["b"])
    }

    @Test func aFileOfSecretsIsReadAgain() throws {
        let path = folder.path("secrets")
        try put("\(Self.secrets[0])\n", in: "secrets")
        try put("receivers:\n- name: a\n  url: https://example.com\n  secrets_file: \(path)\n")
        let receivers = try watch()
        func secrets(at moment: Int64) -> [WebhookSecret?] { receivers.current(now: second(moment)).receivers.flatMap(\.secrets) }
        #expect(secrets(at: 0) == [WebhookSecret(Self.secrets[0])])
        try put("\(Self.secrets[1])\n\(Self.secrets[0])\n", in: "secrets")
        #expect(secrets(at: 1) == [WebhookSecret(Self.secrets[0])])
        #expect(secrets(at: 2) == [WebhookSecret(Self.secrets[1]), WebhookSecret(Self.secrets[0])])
        #expect(told == [.read(count: 1)])
        try FileManager.default.removeItem(atPath: path)
        for moment in [4, 6, 8] as [Int64] { #expect(secrets(at: moment).count == 2) }
        #expect(told.count == 2)
        try put("\(Self.secrets[1])\n", in: "secrets")
        #expect(secrets(at: 10) == [WebhookSecret(Self.secrets[1])])
        #expect(told.count == 3 && told.last == .read(count: 1))
        #expect(secrets(at: 12) == [WebhookSecret(Self.secrets[1])])
        #expect(told.count == 3)
    }

    @Test func aNewFileThatNamesSecretsThatAreMissingDoesNotCountYet() throws {
        try put(Self.text("a"))
        let receivers = try watch()
        let file = "- name: b\n  url: https://example.com\n  secrets_file: \(folder.path("secrets"))\n"
        try put(Self.text("a") + file)
        for moment in [2, 4, 6] as [Int64] { #expect(names(in: receivers, at: moment) == ["a"]) }
        #expect(told.count == 2 && told.first == .read(count: 2))
        try put(Self.secrets[0], in: "secrets")
        #expect(names(in: receivers, at: 8) == ["a", "b"])
        #expect(told.last == .read(count: 2))
    }

    @Test func aFileThatIsNotThereIsAFailureAtTheStart() throws {
        #expect(throws: WatchedReceivers.Failure.missing) { try watch() }
    }
}
