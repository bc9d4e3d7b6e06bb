import Basics
import Dispatch
import EventLoop
import Foundation
import HubStore
import Synchronization
import Testing

@testable import HubServer
@testable import HubService
import TestSupport

@Suite("A dispatcher over a file", .tags(.threads))
struct FileDispatchTests {
    /// A push service that takes some pushes, and leaves all behind them without an outcome, as a process that dies does.
    private final class StallingService: PushService {
        private struct State: Sendable {
            var room = 0
            var ids: [String: [String]] = [:]
        }

        private let state = Mutex(State())
        /// Comes with the first push that has no outcome, and at the end of a notification.
        let signal = DispatchSemaphore(value: 0)
        /// Comes at the end of a notification.
        let ended = DispatchSemaphore(value: 0)

        func takeNext(_ count: Int) { state.withLock { $0.room = count } }

        /// The ids of all pushes by handle.
        var ids: [String: [String]] { state.withLock { $0.ids } }

        func push(_ deliveries: [Delivery], of message: PushedMessage, done: @escaping @Sendable ([PushOutcome]) -> Void) {
            let isTaken = state.withLock { state in
                for delivery in deliveries { state.ids[delivery.handle, default: []].append(delivery.pushID(of: message.id)) }
                state.room -= deliveries.count
                return state.room >= 0
            }
            if isTaken { done([PushOutcome](repeating: .success, count: deliveries.count)) } else { signal.signal() }
        }
    }

    private let start = DispatchStage.start
    private let service = StallingService()
    private let path = NSTemporaryDirectory() + "hub-\(UUID().uuidString).db"
    private let key: [UInt8]? = [UInt8](repeating: 7, count: 32)

    private func opened() throws -> HubFile { try HubFile(HubFileTerms(path: path, handleKey: key)) }

    private func dispatcher(_ file: HubFile) -> HubDispatcher {
        var terms = DispatchTerms()
        terms.pageSize = 7
        return HubDispatcher(
            journal: FileJournal(file), devices: FileDevices(file), services: [.fcmv1: service, .apple: service], terms: terms,
            clock: { [start] in start }, seed: 1
        ) { [service] event in
            guard case .ended = event else { return }
            service.ended.signal()
            service.signal.signal()
        }
    }

    private func removeFiles() {
        for end in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + end) }
    }

    private func register(_ count: Int, in file: HubFile) throws {
        try FileDevices(file).change { (book) throws(RefusedCall) in
            for number in 0..<count {
                try book.write(Registration(id: "r\(number)", platform: .fcmv1, handle: "h\(number)", tags: ["t"]))
            }
        }
    }

    @Test(
        "goes on with the counts of a process that ended: a deadline abandons what is left over alone",
        arguments: [(doneCount: 7, state: "Completed"), (doneCount: 6, state: "Abandoned")])
    func deadlineAfterRestart(doneCount: Int64, state: String) throws {
        defer { removeFiles() }
        let file = try opened()
        try register(7, in: file)
        let journal = FileJournal(file)
        try journal.add(.sample("m1"), of: .sample(at: start), due: nil, deadline: start - 1)
        let message = try #require(try journal.unfinished(now: start, without: [], limit: 1).first)
        let end = try #require(message.end)
        var step = WalkStep(message: message.number, at: start)
        step.place = DevicePlace(platform: .fcmv1, number: end - 8 + doneCount)
        step.counts.add(OutcomeCounts.success, on: .fcmv1, count: Int(doneCount))
        let kept = DispatchSemaphore(value: 0)
        journal.keep(step) { refusal in if refusal == nil { kept.signal() } }
        #expect(kept.wait(timeout: .now() + 60) == .success)
        let dispatcher = dispatcher(file)
        dispatcher.start()
        #expect(service.ended.wait(timeout: .now() + 60) == .success)
        dispatcher.stop(until: .now().advanced(by: .seconds(60)))
        #expect(service.ids.isEmpty)
        let telemetry = try #require(try journal.telemetry(of: "m1", now: start))
        #expect(telemetry.shown.state == state)
        #expect(telemetry.shown.counts.entries.reduce(0) { $0 + $1.count } == 7)
        file.close()
    }

    @Test("sends to every device, with the same id for a repeat, however often its process ends")
    func interruptions() throws {
        defer { removeFiles() }
        var file = try opened()
        let count = 90
        try register(count, in: file)
        _ = try dispatcher(file).accept(.sample("m1"), of: .sample(at: start), due: nil)
        for round in 0..<8 {
            service.takeNext(10 + round)
            let dispatcher = dispatcher(file)
            dispatcher.start()
            #expect(service.signal.wait(timeout: .now() + 60) == .success)
            dispatcher.stop(until: .now())
            file.close()
            file = try opened()
            if try FileJournal(file).backlog(now: .max).dueCount == 0 { break }
        }
        service.takeNext(.max)
        let last = dispatcher(file)
        last.start()
        if try FileJournal(file).backlog(now: .max).dueCount > 0 { #expect(service.ended.wait(timeout: .now() + 60) == .success) }
        last.stop(until: .now().advanced(by: .seconds(60)))
        let telemetry = try #require(try FileJournal(file).telemetry(of: "m1", now: start))
        #expect(telemetry.shown.state == "Completed")
        #expect(telemetry.shown.counts.entries.map { "\($0.name) \($0.count)" } == ["Success \(count)"])
        #expect(service.ids.count == count)
        #expect(service.ids.values.allSatisfy { Set($0).count == 1 })
        file.close()
    }
}
