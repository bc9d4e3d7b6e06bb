import FanOut
import Synchronization
import Testing
import TestSupport

@testable import HubServer
@testable import HubService

/// Random runs with a journal that outlives its process. Each ends with a run without disturbance.
@Suite("A dispatcher whose process dies")
struct CrashTests {
    /// A run, and what it must come to.
    private final class Run {
        let stage = DispatchStage()
        var random: SeededRandom
        var places: [String: [String: DevicePlace]] = [:]
        var gone: Set<String> = []
        var crashCount = 0
        private var deviceCount = 0
        private var messageCount = 0
        /// Pushes to devices that were done by the journal.
        let wrongRepeats = Box<[String]>([])

        init(seed: Int) throws {
            random = SeededRandom(seed)
            stage.journal.holdSteps(true)
            stage.terms.pageSize = 1 + random.below(6)
            stage.terms.pagesPerMessage = 1 + random.below(3)
            stage.terms.messageCount = 1 + random.below(4)
            stage.terms.pushCount = 8 + random.below(60)
            for _ in 0..<random.below(8) { try register() }
        }

        private func register() throws {
            let count = random.below(9)
            switch random.below(4) {
            case 0: try stage.register(count, on: .apple, from: deviceCount)
            case 1: try stage.registerTemplates(count, on: random.below(2) == 0 ? .gcm : .adm, from: deviceCount)
            case 2: try stage.register(count, tags: ["t"], from: deviceCount)
            default: try stage.register(count, from: deviceCount)
            }
            deviceCount += count
        }

        private func accept() throws {
            guard messageCount < 6 else { return }
            messageCount += 1
            let id = "m\(messageCount)"
            let notification =
                switch random.below(5) {
                case 0: try Notification.sample(id, format: "apple")
                case 1: try Notification.sample(id, format: "template", body: #"{"m":"hello"}"#)
                case 2: try Notification.sample(id, to: .handles((0..<random.below(12)).map { "h\($0)" }))
                case 3: try Notification.sample(id, to: .tags(try TagExpression(parsing: "t")))
                default: try Notification.sample(id)
                }
            places[id] = try stage.audience(of: notification)
            let watched = places
            stage.service.watch.withLock { watch in
                watch = { [journal = stage.journal, wrongRepeats] delivery, message in
                    guard let place = watched[message.id]?[delivery.handle] else {
                        return wrongRepeats.withLock { $0.append("\(message.id) to the stranger \(delivery.handle)") }
                    }
                    guard let kept = journal.entry(message.id)?.place, place <= kept else { return }
                    wrongRepeats.withLock { $0.append("\(message.id) to \(delivery.handle)") }
                }
            }
            try stage.accept(notification)
        }

        private func end(_ push: ScriptedService.Push) {
            push.done(
                push.deliveries.map { delivery in
                    switch random.below(12) {
                    case 0:
                        gone.insert(delivery.handle)
                        return .expiredChannel
                    case 1: return PushOutcome("Throttled")
                    default: return .success
                    }
                })
        }

        /// One random thing happens.
        func step() throws {
            switch random.below(12) {
            case 0: try accept()
            case 1:
                if random.below(3) == 0 { try register() }
                guard random.below(2) == 0 else { return }
                crashCount += 1
                stage.journal.crash { random.below(2) == 0 }
                while stage.service.takeOpen() != nil {}
                stage.restart()
            case 2...5: stage.turn()
            case 6, 7:
                if let push = stage.service.takeOpen(random.below(max(1, stage.service.openPushes.count))) { end(push) }
            case 8...10: stage.journal.release(random.below(max(1, stage.journal.heldCount)), failing: random.below(5) == 0)
            default: stage.advance(.milliseconds(random.below(3000)))
            }
        }

        /// Nothing disturbs it any more.
        func finish() {
            stage.journal.holdSteps(false)
            while stage.journal.heldCount > 0 { stage.journal.release() }
            for _ in 0..<1000 where stage.journal.entries.values.contains(where: { $0.ending == nil }) {
                stage.settle()
                while let push = stage.service.takeOpen() { push.end() }
                stage.advance(.seconds(6))
            }
            stage.settle()
        }
    }

    @Test("leaves no device out, repeats with equal ids what was in flight alone, and counts every device", arguments: 0..<150)
    func randomRuns(seed: Int) throws {
        let run = try Run(seed: seed)
        for _ in 0..<500 { try run.step() }
        run.finish()
        #expect(run.wrongRepeats.withLock { $0 } == [])
        var pushes: [String: [String: [String]]] = [:]
        for push in run.stage.service.pushes {
            for delivery in push.deliveries {
                pushes[push.message.id, default: [:]][delivery.handle, default: []].append(delivery.pushID(of: push.message.id))
            }
        }
        for (id, places) in run.places {
            let entry = try #require(run.stage.journal.entry(id))
            let (met, all) = (pushes[id] ?? [:], Set(places.keys))
            #expect(Set(met.keys).isSuperset(of: all.subtracting(run.gone)), "\(id) leaves devices out")
            #expect(all.isSuperset(of: met.keys), "\(id) has devices that it is not for")
            #expect(met.values.allSatisfy { Set($0).count == 1 && $0.count <= 1 + run.crashCount })
            let counted = entry.counts.values.reduce(0, +)
            #expect(counted <= all.count)
            #expect(counted >= all.subtracting(run.gone).count)
            let reached = entry.steps.compactMap(\.place)
            #expect(reached == reached.sorted())
            #expect(Set(reached).count == reached.count)
            #expect(entry.steps.dropLast().allSatisfy { $0.ending == nil })
            #expect(entry.ending == .completed || entry.ending == .noTarget && reached.isEmpty)
        }
    }
}
