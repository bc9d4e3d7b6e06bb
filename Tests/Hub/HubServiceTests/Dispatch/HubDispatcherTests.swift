import Basics
import Dispatch
import EventLoop
import HTTPServing
import Synchronization
import Testing
import TestSupport

@testable import HubServer
@testable import HubService

@Suite("A hub's dispatcher", .tags(.threads))
struct HubDispatcherTests {
    /// What a dispatcher tells, and a wait for it.
    private final class Witness: Sendable {
        private let begun = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)

        func note(_ event: DispatchEvent) {
            switch event {
            case .begun: begun.signal()
            case .ended: ended.signal()
            case .accepted, .pushed, .waiting, .failed: break
            }
        }

        /// Waits as long as a broken machine needs.
        func waitForBeginning() -> Bool { begun.wait(timeout: .now() + 60) == .success }
        func waitForEnd() -> Bool { ended.wait(timeout: .now() + 60) == .success }
    }

    private let start = DispatchStage.start
    private let devices = MemoryDevices()
    private let journal: MemoryJournal
    private let witness = Witness()

    init() throws {
        journal = MemoryJournal(devices: devices)
        try register(3)
    }

    private func register(_ count: Int) throws {
        try devices.change { (book) throws(RefusedCall) in
            for number in 0..<count {
                try book.write(
                    Registration(id: "r\(number)", platform: .fcmv1, handle: "h\(number)", tags: number == 1 ? ["one"] : []))
            }
        }
    }

    private func dispatcher(_ service: (any PushService)?, terms: DispatchTerms = DispatchTerms()) -> HubDispatcher {
        HubDispatcher(
            journal: journal, devices: devices, services: service.map { [.fcmv1: $0] } ?? [:], terms: terms,
            clock: { [start] in start }, seed: 7, observe: { [witness] in witness.note($0) })
    }

    @Test("sends what it accepts, also what was accepted before its start, and keeps what comes after its stop")
    func lifecycle() throws {
        let service = ScriptedService { _ in .success }
        let dispatcher = dispatcher(service)
        let acceptance = try dispatcher.accept(.sample("a"), of: .sample(at: start), due: nil)
        #expect(acceptance.rungCount == 0)
        #expect(service.pushes.isEmpty)
        dispatcher.start()
        #expect(witness.waitForEnd())
        _ = try dispatcher.accept(.sample("b"), of: .sample(at: start), due: nil)
        #expect(witness.waitForEnd())
        dispatcher.stop(until: .now().advanced(by: .seconds(60)))
        _ = try dispatcher.accept(.sample("c"), of: .sample(at: start), due: nil)
        #expect(service.pushes.map(\.message.id) == ["a", "b"])
        #expect(journal.entry("b")?.counts == ["Success": 3])
        #expect(journal.entry("c")?.steps.isEmpty == true)
    }

    @Test("accepts nothing that its journal does not have")
    func fullDisk() throws {
        journal.fail(true)
        let error = #expect(throws: RefusedCall.self) {
            try dispatcher(nil).accept(.sample("a"), of: .sample(at: start), due: nil)
        }
        #expect(error?.answer.status == 503)
        #expect(error?.answer.headers["Retry-After"] == "5")
    }

    @Test("refuses a notification when too many wait")
    func throttling() throws {
        var terms = DispatchTerms()
        terms.waitingCount = 2
        let dispatcher = dispatcher(nil, terms: terms)
        for id in ["a", "b"] { _ = try dispatcher.accept(.sample(id), of: .sample(at: start), due: nil) }
        let error = #expect(throws: RefusedCall.self) {
            try dispatcher.accept(.sample("c"), of: .sample(at: start), due: nil)
        }
        #expect(error?.answer.status == 429)
        #expect(error?.answer.headers["Retry-After"] == "10")
        terms.waitingCount = 3
        dispatcher.take(terms)
        _ = try dispatcher.accept(.sample("c"), of: .sample(at: start), due: nil)
    }

    @Test("gives a notification its deadline from the time of its delivery", arguments: [nil, 5000] as [Int64?])
    func deadline(delay: Int64?) throws {
        let dispatcher = dispatcher(nil, terms: DispatchTerms(messageLifetime: .seconds(60)))
        let due = delay.map { start + $0 }
        _ = try dispatcher.accept(.sample("a"), of: .sample(at: start), due: due)
        #expect(journal.entry("a")?.deadline == (due ?? start) + 60_000)
    }

    @Test("ends in time beside a push service that says nothing")
    func stopping() throws {
        let service = ScriptedService()
        let dispatcher = dispatcher(service)
        dispatcher.start()
        _ = try dispatcher.accept(.sample("a"), of: .sample(at: start), due: nil)
        #expect(witness.waitForBeginning())
        dispatcher.stop(until: .now().advanced(by: .milliseconds(20)))
        #expect(journal.entry("a")?.steps.isEmpty == true)
    }

    @Test("has no credentials for a platform without a push service")
    func missingService() throws {
        let dispatcher = dispatcher(nil)
        dispatcher.start()
        _ = try dispatcher.accept(.sample("a"), of: .sample(at: start), due: nil)
        #expect(witness.waitForEnd())
        dispatcher.stop(until: .now().advanced(by: .seconds(60)))
        #expect(journal.entry("a")?.counts == ["InvalidCredentials": 3])
    }

    @Test("sends a test to ten different devices at most", arguments: [(3, 3), (10, 10), (40, 10), (2500, 10)])
    func testSends(count: Int, reached: Int) throws {
        try register(count)
        let service = ScriptedService { _ in .success }
        let reach = try #require(try dispatcher(service).test(.sample(""), of: .sample(at: start)))
        #expect(reach.rung.count == reached)
        #expect(Set(reach.rung.map(\.handle)).count == reached)
        #expect(reach.refused.isEmpty)
        #expect(Set(service.handles) == Set(reach.rung.map(\.handle)))
        #expect(journal.entries.isEmpty)
    }

    @Test("tells of each device of a test what its push service said, or that it said nothing in time")
    func testOutcomes() throws {
        let service = ScriptedService { $0.handle == "h1" ? PushOutcome("WrongToken") : .success }
        let reach = try #require(try dispatcher(service).test(.sample(""), of: .sample(at: start)))
        #expect(reach.rung.map(\.handle).sorted() == ["h0", "h2"])
        #expect(reach.refused.map { "\($0.delivery.handle) \($0.outcome)" } == ["h1 WrongToken"])
        let gone = dispatcher(ScriptedService { $0.handle == "h2" ? .expiredChannel : .success })
        #expect(try gone.test(.sample(""), of: .sample(at: start))?.refused.map(\.outcome) == ["ExpiredChannel"])
        #expect(try gone.test(.sample(""), of: .sample(at: start))?.rung.count == 2)
        var terms = DispatchTerms()
        terms.testLimit = .zero
        let silent = try #require(try dispatcher(ScriptedService(), terms: terms).test(.sample(""), of: .sample(at: start)))
        #expect(silent.rung.isEmpty)
        #expect(silent.refused.map(\.outcome) == ["UnknownError", "UnknownError"])
    }

    @Test("sends ten tests in a minute, whatever the clock does")
    func testLimit() throws {
        let dispatcher = dispatcher(ScriptedService { _ in .success })
        let notification = try Notification.sample("", to: .handles(["x"]))
        for _ in 0..<10 { #expect(try dispatcher.test(notification, of: .sample(at: start)) != nil) }
        #expect(try dispatcher.test(notification, of: .sample(at: start + 59_999)) == nil)
        #expect(try dispatcher.test(notification, of: .sample(at: start + 60_000)) != nil)
        #expect(try dispatcher.test(notification, of: .sample(at: start - 31_536_000_000)) != nil)
    }
}
