import Basics
import Testing

@testable import HubServer
@testable import HubService

@Suite("A walker")
struct WalkerTests {
    private let answering = DispatchStage(ScriptedService { _ in .success })
    private let waiting = DispatchStage()

    @Test("needs one look and one step for a notification to a few devices")
    func single() throws {
        try answering.register(3)
        try answering.accept(try .sample("a"))
        answering.settle()
        let entry = try #require(answering.journal.entry("a"))
        #expect(entry.steps.count == 1)
        #expect(entry.ending == .completed)
        #expect(entry.counts == ["Success": 3])
        #expect(answering.journal.readCount == 1)
        #expect(answering.service.pushes.count == 1)
        #expect(
            answering.events.filter { if case .waiting = $0 { false } else { true } } == [
                .begun(after: .zero), .pushed(.fcmv1, outcome: "Success", count: 3), .ended(.completed, after: .zero),
            ])
    }

    @Test("ends a notification without devices")
    func noTarget() throws {
        try answering.accept(try .sample("a"))
        answering.settle()
        #expect(answering.journal.entry("a")?.ending == .noTarget)
        #expect(answering.service.pushes.isEmpty)
    }

    @Test("sends one to a few devices at once while one to many is on its way")
    func fairness() throws {
        answering.terms.pageSize = 10
        try answering.register(1000)
        try answering.accept(try .sample("many"))
        for _ in 0..<5 { answering.turn() }
        try answering.accept(try .sample("one", to: .handles(["x"])))
        answering.turn()
        #expect(answering.service.pushes.last?.message.id == "one")
        answering.settle()
        #expect(answering.journal.entry("many")?.counts == ["Success": 1000])
    }

    @Test("goes on with one to many devices while others to a few come without an end")
    func noStarvation() throws {
        answering.terms.pageSize = 10
        try answering.register(1000)
        try answering.accept(try .sample("many"))
        for _ in 0..<3 { answering.turn() }
        let before = answering.service.pushes.count { $0.message.id == "many" }
        for number in 0..<90 {
            try answering.accept(try .sample("one-\(number)", to: .handles(["x"])))
            answering.turn()
        }
        #expect(answering.service.pushes.count { $0.message.id == "many" } >= before + 9)
    }

    @Test("has no more pushes in flight than it may, and reads on when outcomes come")
    func pushLimit() throws {
        (waiting.terms.pageSize, waiting.terms.pushCount) = (10, 80)
        try waiting.register(100)
        for number in 0..<20 { try waiting.accept(try .sample("\(number)")) }
        waiting.settle()
        var most = 0
        for _ in 0..<20 * 10 {
            most = max(most, waiting.service.openPushes.reduce(0) { $0 + $1.deliveries.count })
            waiting.service.takeOpen()?.end()
            waiting.settle()
        }
        #expect(most == 80)
        #expect(waiting.journal.entries.values.allSatisfy { $0.counts == ["Success": 100] && $0.ending == .completed })
    }

    @Test("has no more bytes in flight than it may: 200 handles with 60,000 bytes each")
    func byteLimit() throws {
        waiting.terms.byteCount = 1 << 20
        let handles = (0..<200).map { "phone-\($0)" }
        let body = String(repeating: "x", count: 60_000)
        try waiting.accept(try .sample("a", format: "windowsphone", to: .handles(handles), body: body))
        waiting.settle()
        var most = 0
        while let push = waiting.service.takeOpen() {
            most = max(most, (waiting.service.openPushes + [push]).reduce(0) { $0 + $1.deliveries.count * 60_000 })
            push.end()
            waiting.settle()
        }
        #expect(most <= 1 << 20)
        #expect(waiting.service.handles == handles)
        #expect(waiting.journal.entry("a")?.ending == .completed)
    }

    @Test("reads no further than its pages while the journal keeps nothing, and tries the same step until it lasts")
    func failingJournal() throws {
        answering.terms.pageSize = 10
        answering.journal.holdSteps(true)
        try answering.register(50)
        try answering.accept(try .sample("a"))
        for _ in 0..<8 {
            answering.settle()
            #expect(answering.service.handles.count == 20)
            answering.journal.release(failing: true)
            answering.settle()
            answering.advance(.seconds(6))
        }
        answering.journal.holdSteps(false)
        answering.settle()
        answering.journal.release()
        answering.settle()
        let entry = try #require(answering.journal.entry("a"))
        #expect(entry.counts == ["Success": 50])
        #expect(entry.steps.compactMap(\.place?.number) == [10, 20, 30, 40, 50])
        #expect(answering.service.handles.count == 50)
        #expect(answering.events.contains(.failed("The disk is full")))
    }

    @Test("waits for a journal that cannot be read")
    func unreadableJournal() throws {
        try answering.register(1)
        try answering.accept(try .sample("a"))
        answering.journal.fail(true)
        for _ in 0..<5 {
            answering.settle()
            answering.advance(.seconds(6))
        }
        #expect(answering.service.pushes.isEmpty)
        answering.journal.fail(false)
        answering.settle()
        #expect(answering.journal.entry("a")?.ending == .completed)
    }

    @Test("gives up waiting for outcomes that do not come, and hears no late or second ones")
    func silentService() throws {
        try waiting.register(3)
        try waiting.accept(try .sample("a"))
        waiting.settle()
        let push = try #require(waiting.service.takeOpen())
        waiting.advance(waiting.terms.outcomeLimit)
        waiting.settle()
        #expect(waiting.journal.entry("a")?.counts == ["UnknownError": 3])
        #expect(waiting.journal.entry("a")?.ending == .completed)
        push.end()
        push.end()
        waiting.settle()
        #expect(waiting.journal.entry("a")?.counts == ["UnknownError": 3])
        #expect(waiting.walker.isIdle)
    }

    @Test("forgets a device whose handle is gone, and reports it")
    func goneDevice() throws {
        let stage = DispatchStage(ScriptedService { $0.handle == "fcmv1-1" ? .expiredChannel : .success })
        try stage.register(3)
        try stage.accept(try .sample("a"))
        stage.settle()
        #expect(stage.journal.entry("a")?.counts == ["Success": 2, "ExpiredChannel": 1])
        #expect(stage.journal.refused(by: "a")?.map(\.handle) == ["fcmv1-1"])
        #expect(try stage.audience(of: try .sample("b")).keys.sorted() == ["fcmv1-0", "fcmv1-2"])
    }

    @Test("counts all devices of a notification whose deadline was over before the walk")
    func deadline() throws {
        answering.terms.pageSize = 4
        try answering.register(10)
        try answering.accept(try .sample("a"), lifetime: 1000)
        answering.advance(.seconds(2))
        answering.settle()
        let entry = try #require(answering.journal.entry("a"))
        #expect(entry.counts == ["AbandonedNotificationMessages": 10])
        #expect(entry.ending == .abandoned)
        #expect(answering.service.pushes.isEmpty)
    }

    @Test("ends a notification at its deadline, whatever the devices say", arguments: [false, true])
    func unreadableDevices(hasBegun: Bool) throws {
        answering.terms.pageSize = 4
        try answering.register(10)
        try answering.accept(try .sample("a"), lifetime: 60_000)
        if hasBegun { answering.turn() }
        answering.failingDevices.fail(true)
        for _ in 0..<5 {
            answering.settle()
            answering.advance(.seconds(6))
        }
        #expect(answering.journal.entry("a")?.ending == nil)
        answering.advance(.seconds(60))
        answering.settle()
        #expect(answering.journal.entry("a")?.ending == .abandoned)
        #expect(answering.journal.entry("a")?.counts == (hasBegun ? ["Success": 4] : [:]))
        #expect(answering.walker.isIdle)
        answering.failingDevices.fail(false)
        try answering.accept(try .sample("b"))
        answering.settle()
        #expect(answering.journal.entry("b")?.counts == ["Success": 10])
    }

    @Test("sends one to a few devices at once while as many to many as may be are on their way, and ends all")
    func placesForBeginners() throws {
        (waiting.terms.messageCount, waiting.terms.pageSize, waiting.terms.pagesPerMessage) = (8, 1, 1)
        try waiting.register(20)
        for number in 0..<12 { try waiting.accept(try .sample("many-\(number)")) }
        waiting.settle()
        for _ in 0..<4 { endOpenPushes() }
        try waiting.accept(try .sample("one", to: .handles(["x"])))
        waiting.settle()
        #expect(waiting.service.openPushes.contains { $0.message.id == "one" })
        #expect(waiting.journal.entries.values.allSatisfy { $0.ending == nil })
        for _ in 0..<100 { endOpenPushes() }
        for (_, entry) in waiting.journal.entries {
            #expect(entry.counts == ["Success": entry.notification.id == "one" ? 1 : 20])
            #expect(entry.ending == .completed)
        }
    }

    /// Gives every push that waits its outcome.
    private func endOpenPushes() {
        for _ in waiting.service.openPushes { waiting.service.takeOpen()?.end() }
        waiting.settle()
    }

    @Test("begins no page once it is to end, and keeps what was in flight")
    func ending() throws {
        (waiting.terms.pageSize, waiting.terms.pagesPerMessage) = (1, 1)
        try waiting.register(3)
        try waiting.accept(try .sample("a"))
        waiting.settle()
        waiting.inbox.add { $0.isEnding = true }
        waiting.service.takeOpen()?.end()
        try waiting.accept(try .sample("b"))
        for _ in 0..<5 { waiting.turn() }
        #expect(waiting.journal.entry("a")?.counts == ["Success": 1])
        #expect(waiting.service.handles == ["fcmv1-0"])
        #expect(waiting.walker.isIdle)
    }

    @Test("sends a scheduled notification at its time, and one taken back not at all")
    func schedule() throws {
        try answering.register(1)
        try answering.accept(try .sample("a"), due: answering.wall + 60_000)
        try answering.accept(try .sample("b"), due: answering.wall + 60_000)
        answering.settle()
        #expect(answering.journal.cancel("b", now: answering.wall))
        answering.advance(.seconds(59))
        answering.settle()
        #expect(answering.service.pushes.isEmpty)
        answering.advance(.seconds(1))
        answering.settle()
        #expect(answering.service.pushes.map(\.message.id) == ["a"])
        #expect(answering.journal.entry("a")?.ending == .completed)
    }

    @Test("goes on when the clock is set by a year", arguments: [31_536_000_000, -31_536_000_000] as [Int64])
    func clock(change: Int64) throws {
        answering.terms.pageSize = 10
        try answering.register(100)
        try answering.accept(try .sample("a"))
        for _ in 0..<3 { answering.turn() }
        try answering.accept(try .sample("b"))
        answering.turn()
        answering.wall += change
        try answering.accept(try .sample("c"))
        answering.settle()
        for id in ["a", "b", "c"] {
            #expect(answering.journal.entry(id)?.counts == ["Success": 100])
            #expect(answering.journal.entry(id)?.ending == .completed)
        }
    }

    @Test("forgets old notifications a few at a time")
    func retention() throws {
        for number in 0..<7 { try answering.accept(try .sample("\(number)")) }
        answering.settle()
        #expect(answering.journal.entries.count == 7)
        answering.terms.retention = .seconds(3600)
        answering.advance(.seconds(3601))
        answering.settle()
        #expect(answering.journal.entries.isEmpty)
        let calls = answering.journal.forgetCount
        answering.advance(.seconds(59))
        answering.settle()
        #expect(answering.journal.forgetCount == calls)
    }

    @Test("counts those that wait")
    func waitingCount() throws {
        try waiting.register(1)
        for number in 0..<3 { try waiting.accept(try .sample("\(number)")) }
        waiting.settle()
        waiting.advance(.seconds(5))
        waiting.settle()
        #expect(waiting.events.last == .waiting(count: 3, oldest: .seconds(5)))
        while let push = waiting.service.takeOpen() { push.end() }
        waiting.settle()
        waiting.advance(.seconds(1))
        waiting.settle()
        #expect(waiting.events.last == .waiting(count: 0, oldest: .zero))
    }

    @Test("counts those that wait for a journal that cannot be read")
    func waitingForJournal() throws {
        try waiting.register(1)
        waiting.settle()
        try waiting.accept(try .sample("a"))
        waiting.journal.fail(true)
        for _ in 0..<3 {
            waiting.settle()
            waiting.advance(.seconds(5))
        }
        waiting.settle()
        let counts = waiting.events.filter { if case .waiting = $0 { true } else { false } }
        #expect(counts.last == .waiting(count: 1, oldest: .seconds(10)))
        #expect(waiting.events.contains(.failed("The disk is full")))
    }
}
