import Delivery
import EventLoop
import Foundation
import HubEmulator
import Kafka
import Observability
import TestSupport
import Testing

@testable import WorkerRuntime

/// Workers whose names others have, or have had.
@Suite(.serialized, .tags(.waits, .threads))
struct NameTests {
    private static let waiting = "waiting until it is gone: stop it, or give this worker its own PUSHFAN_WORKER_ID"
    private static let rejoining = "no other process has this worker's name"

    private static func requests(_ range: Range<Int>) -> [String] {
        range.map { #"{"id":"n\#($0)","audience":{"categories":["n\#($0)"]},"platforms":["apple"],"message":{"title":"T"}}"# }
    }

    /// A run on a machine of its own.
    private static func run(_ number: UInt64) -> Incarnation {
        Incarnation(place: "machine \(number)", process: 7, start: 1, number: number)
    }

    /// A member of the bench's group under the name of a worker; it lives while it is turned.
    private final class Rival {
        private let consumer: Consumer
        private(set) var hasJoined = false
        private(set) var isFenced = false

        init(_ bench: Bench, _ configuration: WorkerConfiguration) throws {
            consumer = try Consumer(
                configuration.memberKafka, groupID: configuration.groupID, instanceID: configuration.instanceID,
                sessionTimeout: .seconds(6), heartbeatInterval: .seconds(1), wakeUpFileDescriptor: -1)
            try consumer.subscribe(configuration.topics.shared)
        }

        func turn() throws {
            while let event = consumer.nextEvent() {
                switch event {
                case .assigned(let list):
                    try consumer.assign(list.map { (partition: $0, start: .end) })
                    hasJoined = true
                case .revoked: try consumer.unassign()
                case .error(let error): isFenced = isFenced || error.isFenced
                case .statistics, .log: break
                }
            }
        }

        func close() { consumer.close(timeout: .seconds(5)) }
    }

    private static func says(_ text: String, _ bench: Bench) -> Bool { bench.logLines.all.contains { $0.contains(text) } }

    /// Without a dispute, the worker ends as `fenced`.
    @Test(.needsKafka)
    func aWorkerThatItsOwnShadowFencesJoinsAgainAndGoesOn() throws {
        let bench = try Bench(.real, partitions: 2)
        let change: (inout WorkerConfiguration) -> Void = {
            Bench.takeover(&$0)
            $0.incarnation = Self.run(1)
        }
        let worker = try bench.startWorker(change: change)
        try bench.publish(all: Self.requests(0..<10))
        try bench.results(10)
        let shadow = try Rival(bench, try bench.workerConfiguration(change: change))
        #expect(
            try eventually {
                try shadow.turn()
                return shadow.hasJoined
            })
        // Its membership goes on without it until its session is over, as one does of which no client was told.
        shadow.close()
        #expect(eventually { Self.says(Self.rejoining, bench) })
        try bench.publish(all: Self.requests(10..<20))
        try bench.results(20)
        #expect(!worker.hasEnded)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 20)
        #expect(bench.hub.calls().count == 20)
    }

    /// Without a look, the first ends as `fenced`, which is a wrong setting to a service manager, and the one that is started again fences
    /// the other in its turn.
    @Test(.needsKafka)
    func aWorkerWhoseNameALivingProcessTakesEndsForAWhileAndThenWaits() throws {
        let bench = try Bench(.real, partitions: 2)
        func change(_ number: UInt64) -> (inout WorkerConfiguration) -> Void {
            {
                Bench.takeover(&$0)
                $0.incarnation = Self.run(number)
            }
        }
        let first = try bench.startWorker(change: change(1))
        try bench.publish(all: Self.requests(0..<10))
        try bench.results(10)
        let rival = try Rival(bench, try bench.workerConfiguration(change: change(2)))
        #expect(
            try eventually {
                try rival.turn()
                return first.hasEnded && rival.hasJoined
            })
        #expect {
            try first.wait()
        } throws: { error in
            guard case .takenOver? = error as? WorkerFailure else { return false }
            return true
        }
        let again = try bench.startWorker(change: change(3))
        #expect(
            try eventually {
                try rival.turn()
                return again.report(.ready).checks.contains { $0.name == "group" && $0.reason?.contains(Self.waiting) == true }
            })
        #expect(again.report(.live).passes && !rival.isFenced && !again.hasEnded)
        rival.close()
        try bench.publish(all: Self.requests(10..<20))
        // The name is free when the other's session is over, 6 s here.
        try bench.results(20)
        #expect(eventually { again.report(.ready).passes })
        try again.stop()
        #expect(try bench.resultsByRequest().count == 20)
    }

    /// Its session would last for 45 s here.
    @Test(.needsKafka)
    func aWorkerThatHasStoppedMakesNobodyWaitWhereverItWas() throws {
        let bench = try Bench(.real, partitions: 2)
        let first = try bench.startWorker { $0.incarnation = Self.run(1) }
        try bench.publish(all: Self.requests(0..<10))
        try bench.results(10)
        try first.stop()
        let second = try bench.startWorker { $0.incarnation = Self.run(2) }
        try bench.publish(all: Self.requests(10..<20))
        try bench.results(20)
        #expect(!Self.says(Self.waiting, bench))
        try second.stop()
    }

    @Test(arguments: [WorkerFailure.fenced("why"), .takenOver("why")])
    func aWorkerThatEndsForItsNameSaysWhatToDo(failure: WorkerFailure) {
        let remedy = "another process works under this worker's name: stop it, or give this one its own PUSHFAN_WORKER_ID"
        #expect(failure.description.hasPrefix(remedy) && failure.description.hasSuffix("(why)"))
    }

    @Test func aWorkerThatIsStoppedBeforeItHasItsNameBackAccusesNobody() throws {
        let bench = try Bench(.embedded)
        var configuration = try bench.workerConfiguration()
        configuration.incarnation = Self.run(1)
        configuration.guarantee = .exactlyOnce
        let services = WorkerServices(metrics: bench.metrics, log: .silent, health: Health())
        let health = WorkerHealth(services.health, log: services.log, now: services.clock.monotonic)
        let control = WorkerControl(wakeUp: try WakeUp())
        var keeper = try #require(NameKeeper(configuration, services: services, health: health, control: control))
        control.stop()
        var failure: WorkerFailure?
        do throws(WorkerFailure) { try keeper.regain(after: "why", as: nil, hasServed: true) } catch { failure = error }
        #expect(failure == .interrupted("why") && failure?.description.contains("another process") == false)
    }

    @Test func aProcessOfThisMachineIsKnownToHaveEnded() throws {
        let own = Incarnation.ofThisProcess()
        #expect(own.place != nil && own.start != nil && own.process == ProcessInfo.processInfo.processIdentifier)
        #expect(!own.isGone(seenBy: own))
        var earlier = own
        earlier.start = own.start.map { $0 &- 1 }
        #expect(earlier.isGone(seenBy: own), "another process has the number now")
        var elsewhere = earlier
        elsewhere.place = own.place.map { $0 &+ 1 }
        #expect(!elsewhere.isGone(seenBy: own), "nothing is known of it")
        let child = Process()
        child.executableURL = URL(filePath: "/bin/true")
        try child.run()
        child.waitUntilExit()
        var dead = own
        dead.process = child.processIdentifier
        dead.start = nil
        #expect(dead.isGone(seenBy: own))
    }

    @Test func onlyTheMemberShowsItsRun() throws {
        let bench = try Bench(.embedded)
        var configuration = try bench.workerConfiguration()
        #expect(configuration.memberKafka.clientID == configuration.kafka.clientID)
        configuration.incarnation = Self.run(1)
        #expect(Incarnation(clientID: configuration.memberKafka.clientID) == Self.run(1))
        #expect(configuration.kafka.clientID == "pushfan")
    }
}
