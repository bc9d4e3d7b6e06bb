import Dispatch
import FanOut
import Foundation
import Testing
import TestSupport

@testable import HubServer
@testable import HubService

@Suite("The recording of pushes")
struct RecordingServiceTests {
    private let message = PushedMessage(id: "n1", callID: 1, format: "fcmv1", acceptedAt: 0, deadline: 9)

    private func deliveries(_ handles: [String], body: String? = nil) throws -> [Delivery] {
        try Notification.sample("n1", to: .handles(handles), body: body).directReach.rung
    }

    @Test("takes every push, and keeps the newest up to a number")
    func count() throws {
        let service = RecordingService(capacity: 3, clock: { 42 })
        let outcomes = Box<[PushOutcome]>([])
        service.push(try deliveries(["a", "b"]), of: message) { found in outcomes.withLock { $0 += found } }
        service.push(try deliveries(["c", "d"]), of: message) { found in outcomes.withLock { $0 += found } }
        #expect(outcomes.withLock { $0 } == [PushOutcome](repeating: .success, count: 4))
        #expect(service.pushes.map(\.delivery.handle) == ["b", "c", "d"])
        #expect(service.pushes.map(\.at) == [42, 42, 42])
        #expect(service.totalCount == 4)
        service.forget([DeviceKey(platform: .fcmv1, handle: "c")])
        #expect(service.pushes.map(\.delivery.handle) == ["b", "d"])
    }

    @Test("forgets what rang on a device that is removed, and keeps what rang on a handle that was never registered")
    func removedDevices() throws {
        let stage = DispatchStage()
        try stage.register(3)
        let notification = try Notification.sample("n1")
        let audience = try #require(notification.devices(at: stage.wall))
        let found = try stage.devices.read { (book) throws(RefusedCall) in
            try book.devices(of: audience, after: nil, limit: 9).devices
        }
        var reach = Reach()
        for device in found { notification.add(device, to: &reach) }
        let service = RecordingService(clock: { 0 })
        service.push(reach.rung + (try deliveries(["x"])), of: message) { _ in }
        try stage.devices.change { (book) throws(RefusedCall) in
            for number in 1...2 { try book.removeRegistration("fcmv1-\(number)") }
        }
        try service.forgetRemoved(from: stage.devices, among: [DeviceKey(platform: .fcmv1, handle: "fcmv1-1")])
        #expect(service.pushes.map(\.delivery.handle) == ["fcmv1-0", "fcmv1-2", "x"])
        try service.forgetRemoved(from: stage.devices)
        #expect(service.pushes.map(\.delivery.handle) == ["fcmv1-0", "x"])
    }

    @Test("records many pushes beside the thread that hands them over, in their order")
    func manyPushes() throws {
        let service = RecordingService(clock: { 0 })
        let ended = DispatchSemaphore(value: 0)
        let handles = (0..<500).map { "h\($0)" }
        for part in [handles[..<200], handles[200...]] {
            service.push(try deliveries(Array(part)), of: message) { outcomes in
                if outcomes.count == part.count { ended.signal() }
            }
        }
        for _ in 0..<2 { #expect(ended.wait(timeout: .now() + 60) == .success) }
        #expect(service.pushes.map(\.delivery.handle) == handles)
    }

    @Test("keeps the newest up to a number of bytes")
    func bytes() throws {
        let body = #"{"message":{"data":{"k":"\#(String(repeating: "v", count: 2000))"}}}"#
        let service = RecordingService(maximumByteCount: 6000, clock: { 0 })
        service.push(try deliveries(["a", "b", "c", "d"], body: body), of: message) { _ in }
        #expect(service.pushes.map(\.delivery.handle) == ["c", "d"])
    }

    @Test(
        "has a line in its file before a push has its outcome, behind the whole lines that were there",
        arguments: [
            ("", ""), ("{\"cut", "{\"cut\n"), ("text\n", "text\n"), ("text\n{\"push\":\"12", "text\n"), ("text\n{\"p", "text\n"),
        ])
    func file(before: String, kept: String) throws {
        let path = NSTemporaryDirectory() + "pushes-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(before.utf8).write(to: URL(fileURLWithPath: path))
        let file = try PushRecordFile(path: path) { Issue.record("\($0)") }
        let service = RecordingService(file: file, clock: { 42 })
        let found = Box("")
        service.push(try deliveries(["a", "b"]), of: message) { _ in
            let content = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            found.withLock { $0 = content }
        }
        let text = found.withLock { $0 }
        #expect(text.hasPrefix(kept + #"{"push":""#))
        let lines = text.dropFirst(kept.count).split(separator: "\n")
        let ids = service.pushes.map(\.id)
        let line = #"{"push":"\#(ids[0])","notification":"n1","at":42,"platform":"fcmv1","handle":"ca978112ca1bbdca"}"#
        #expect(lines.count == 2)
        #expect(lines.first.map(String.init) == line)
        #expect(lines.last?.contains(ids[1]) == true)
    }

    @Test("says once that its file cannot be written, and counts the pushes")
    func fullFile() throws {
        let complaints = Box<[String]>([])
        let file = try PushRecordFile(path: "/dev/full") { text in complaints.withLock { $0.append(text) } }
        let service = RecordingService(file: file, clock: { 0 })
        for handle in ["a", "b"] { service.push(try deliveries([handle]), of: message) { _ in } }
        #expect(complaints.withLock { $0.count } == 1)
        #expect(file.lostCount == 2)
        #expect(service.totalCount == 2)
    }

    @Test("names a file that cannot be opened")
    func unopenedFile() {
        #expect(throws: PushRecordFile.Unopened.self) { try PushRecordFile(path: "/nowhere/pushes") { _ in } }
    }
}
