import Basics
import Dispatch
import EventLoop
import Foundation
import HubStore
import Synchronization
import Testing

@testable import HubServer
@testable import HubService

@Suite("A dispatcher over a file")
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

    @Test("sends to every device, with the same id for a repeat, however often its process ends")
    func interruptions() throws {
        defer { for end in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + end) } }
        var file = try opened()
        let count = 90
        try FileDevices(file).change { (book) throws(RefusedCall) in
            for number in 0..<count {
                try book.write(Registration(id: "r\(number)", platform: .fcmv1, handle: "h\(number)", tags: ["t"]))
            }
        }
        _ = try dispatcher(file).accept(.sample("m1"), of: .sample(at: start), due: nil)
        for round in 0..<8 {
            service.takeNext(10 + round)
            let dispatcher = dispatcher(file)
            dispatcher.start()
            #expect(service.signal.wait(timeout: .now() + 60) == .success)
            dispatcher.stop(until: .now())
            file.close()
            file = try opened()
            if try FileJournal(file).unfinishedCount() == 0 { break }
        }
        service.takeNext(.max)
        let last = dispatcher(file)
        last.start()
        if try FileJournal(file).unfinishedCount() > 0 { #expect(service.ended.wait(timeout: .now() + 60) == .success) }
        last.stop(until: .now().advanced(by: .seconds(60)))
        let telemetry = try #require(try FileJournal(file).telemetry(of: "m1", now: start))
        #expect(telemetry.shown.state == "Completed")
        #expect(telemetry.shown.counts.entries.map { "\($0.name) \($0.count)" } == ["Success \(count)"])
        #expect(service.ids.count == count)
        #expect(service.ids.values.allSatisfy { Set($0).count == 1 })
        file.close()
    }
}
