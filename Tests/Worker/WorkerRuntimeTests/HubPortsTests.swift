import Basics
import CurlHTTP
import Delivery
import EventLoop
import Foundation
import HubAuth
import HubREST
import Kafka
import Observability
import Outcomes
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The ports of a loop, without its requests.
struct HubPortsTests {
    /// Ports that a loop could have, to hubs that nobody calls. The first hub's rate may have a limit.
    private final class Stage {
        let ports: HubPorts
        private var configuration: WorkerConfiguration
        private let poller: Poller
        private let metrics: WorkerMetrics
        private let health: WorkerHealth
        private var generator = QuickRandom()

        init(_ names: String..., spreads: [String: [String]] = [:], defaultHub: String? = nil, rate: Int = 0) throws {
            configuration = WorkerConfiguration(
                workerID: "w", version: "test", kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"),
                hub: try Self.hub("unused").hub, connections: try Self.hub("unused").connections)
            configuration.hubs = try names.map { try Self.hub($0) }
            configuration.hubs[0].rateLimit = rate
            configuration.spreads = spreads.map { WorkerConfiguration.Spread(name: $0, hubs: $1) }
            configuration.defaultHub = defaultHub
            configuration.tenantHubs = ["acme": names.last ?? "", "lost": "nowhere"]
            configuration.checksHubs = false
            poller = try Poller()
            let published = PushfanMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
            metrics = WorkerMetrics(published, gauges: LoopGauges(published, topics: configuration.topics, loops: 1), loop: 0)
            health = WorkerHealth(Health(), log: Log(format: .json, level: .error, now: { 0 }, sink: { _ in }), now: 0)
            ports = HubPorts(routes: configuration.routes(since: 0))
            for hub in configuration.hubs { try open(hub) }
        }

        static func hub(_ name: String) throws -> WorkerConfiguration.Hub {
            let connection = try ConnectionString(
                parsing: "Endpoint=sb://127.0.0.1/;SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0")
            var hub = WorkerConfiguration.Hub(
                HubConfiguration(endpoint: connection.endpoint, hub: try HubName(name), credential: connection.credential),
                connections: ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: 1))
            hub.maxInFlight = 2
            return hub
        }

        @discardableResult
        func open(_ hub: WorkerConfiguration.Hub) throws -> HubPort {
            let port = try HubPort(
                ports.nextNumber, settings: hub, of: configuration, poller: poller, now: 0,
                metrics: metrics.ofHub(hub.name, isRateLimited: hub.rateLimit > 0), health: health.newHub(), generator: &generator
            )
            ports.add(port)
            return port
        }

        /// The destination of a request with these members.
        func destination(_ members: String, tenant: String? = nil) throws -> Flight.Destination {
            let flight = try flight(members + (tenant.map { #","tenant":"\#($0)""# } ?? ""))
            flight.route.join(flight.namedTenant)
            return lend(&flight.request) { ports.route(of: $0, tenant: flight.route.tenant) }
        }

        func flight(_ members: String) throws -> Flight {
            let flight = Flight(index: 0)
            let text = #"{"id":"r","platforms":["apple"],"message":{"title":"T"},\#(members)}"#
            let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
            let reading = RequestReader(.tolerant).read(
                Array(text.utf8).span, headers: RecordHeaders(), origin: origin, into: &flight.request)
            try #require(reading == .request, "\(text)")
            return flight
        }
    }

    @Test func thePlaceOfAClosedPortIsUsedAgain() throws {
        let stage = try Stage("a", "b", "c")
        #expect(stage.ports.map(\.name) == ["a", "b", "c"] && stage.ports.nextNumber == 3)
        let second = stage.ports[1]
        stage.ports.close(second)
        #expect(second.isRetired && second.isClosed && stage.ports.nextNumber == 1 && stage.ports.count == 3)
        let next = try stage.open(Stage.hub("d"))
        #expect(next.number == 1 && stage.ports[1] === next && stage.ports.nextNumber == 3)
        #expect(stage.ports.map(\.name) == ["a", "d", "c"])
        #expect(stage.ports.map(\.number) == [0, 1, 2], "each stands at its number")
    }

    @Test func aHubIsTheOnlyOneWhileNoOtherIsOpen() throws {
        let stage = try Stage("a")
        #expect(stage.ports.only === stage.ports[0] && !stage.ports.areSeveral)
        let other = try stage.open(Stage.hub("b"))
        #expect(stage.ports.only == nil && stage.ports.areSeveral)
        // What is retired has calls in flight until it is closed.
        stage.ports[0].isRetired = true
        #expect(stage.ports.only == nil)
        stage.ports.close(stage.ports[0])
        #expect(stage.ports.only === other)
        stage.ports.close(other)
        #expect(stage.ports.only == nil, "none is not one")
    }

    @Test func retiredPortsAreClosedWhenNothingIsInFlight() throws {
        let stage = try Stage("a", "b", "c")
        let (idle, busy, used) = (stage.ports[0], stage.ports[1], stage.ports[2])
        idle.isRetired = true
        busy.isRetired = true
        let call = busy.limits.started(now: 0)
        stage.ports.closeRetired()
        #expect(idle.isClosed && !busy.isClosed && !used.isClosed)
        busy.limits.circuit.succeeded(call, now: 1)
        busy.limits.noteEnd(startedAt: 0)
        stage.ports.closeRetired()
        #expect(busy.isClosed && !used.isClosed && stage.ports.only === used)
    }

    @Test func aHubIsFoundByItsNameOrItsSettingsUnlessItIsRetired() throws {
        let stage = try Stage("a", "b")
        var changed = stage.ports[1].settings
        #expect(stage.ports.port(named: "b") === stage.ports[1] && stage.ports.port(named: "c") == nil)
        #expect(stage.ports.port(with: changed) === stage.ports[1])
        changed.maxInFlight += 1
        #expect(stage.ports.port(with: changed) == nil)
        // The hub with its new settings has the name while the port before ends.
        let next = try stage.open(changed)
        stage.ports[1].isRetired = true
        #expect(stage.ports.port(named: "b") === next && stage.ports.port(with: changed) === next)
        #expect(stage.ports.port(with: stage.ports[1].settings) == nil)
    }

    /// A request's members, its tenant, and its destination.
    @Test(
        arguments: [
            (#""audience":{"broadcast":true},"hub":"a""#, nil, .init(port: 0)),
            (#""audience":{"broadcast":true},"hub":"b""#, "acme", .init(port: 1)),
            (#""audience":{"broadcast":true}"#, "acme", .init(port: 2)),
            (#""audience":{"broadcast":true}"#, "other", .init(port: 0)),
            (#""audience":{"broadcast":true}"#, nil, .init(port: 0)),
            // To all hubs of a spread, in parts, of which the first counts it.
            (#""audience":{"broadcast":true},"hub":"both""#, nil, .init(port: 1, spread: 0)),
            (#""audience":{"broadcast":true},"hub":"none""#, nil, .init(port: 0, fault: .unknown)),
            (#""audience":{"broadcast":true}"#, "lost", .init(port: 0, fault: .unknown)),
        ] as [(String, String?, Flight.Destination)])
    func aRequestGoesToTheHubItNamesOrToThatOfItsTenant(
        members: String, tenant: String?, destination: Flight.Destination
    ) throws {
        let stage = try Stage("a", "b", "c", spreads: ["both": ["b", "c"]], defaultHub: "a")
        #expect(try stage.destination(members, tenant: tenant) == destination)
    }

    @Test func aRequestWithoutARouteCountsForSomeHubInUse() throws {
        let stage = try Stage("a", "b")
        #expect(try stage.destination(#""audience":{"broadcast":true}"#) == .init(port: 0, fault: .unnamed))
        stage.ports[0].isRetired = true
        #expect(try stage.destination(#""audience":{"broadcast":true}"#) == .init(port: 1, fault: .unnamed))
        stage.ports[1].isRetired = true
        #expect(try stage.destination(#""audience":{"broadcast":true}"#) == .init(port: 0, fault: .unnamed))
    }

    @Test func aRequestHearsWhichHubsThereAre() throws {
        func message(_ stage: Stage, _ fault: HubRouter.Fault = .unknown) -> String {
            let fault = stage.ports.fault(fault)
            #expect(fault.code == .unknownHub && fault.pointer == "/hub")
            return fault.message
        }
        let stage = try Stage("a")
        #expect(message(stage, .unnamed) == "The request names no hub, and this worker has no default.")
        #expect(message(stage) == "This worker knows the hub a only.")
        try stage.open(Stage.hub("b"))
        #expect(message(stage) == "This worker knows the hubs a, b only.")
        stage.ports[0].isRetired = true
        #expect(message(stage) == "This worker knows the hub b only.")
        let spread = try Stage("a", "b", spreads: ["both": ["a", "b"]])
        #expect(message(spread) == "This worker knows the hubs a, b, both only.")
        for number in 3...10 { try spread.open(Stage.hub("h\(number)")) }
        #expect(message(spread) == "This worker knows the hubs a, b, h3, h4, h5, h6, h7, h8, h9, h10, … only.")
    }

    @Test func aResultNamesTheHubTheSpreadOrWhatWasAskedFor() throws {
        let stage = try Stage("a", "b", spreads: ["both": ["a", "b"]])
        func member(_ hub: String?) throws -> String {
            let flight = try stage.flight(#""audience":{"broadcast":true}"# + (hub.map { #","hub":"\#($0)""# } ?? ""))
            flight.route.lead(to: lend(&flight.request) { stage.ports.route(of: $0, tenant: .none) })
            return stage.ports.hubMember(of: flight).text
        }
        func expected(_ name: String) -> String { ResultWriter.hub(name).text }
        #expect(try member("b") == expected("b") && expected("b").contains(#""b""#))
        #expect(try member("both") == expected("both"))
        #expect(try member("none") == expected("none"))
        #expect(try member(nil) == "")
    }

    @Test func aLargeRequestCountsForTheFirstHubOfItsSpread() throws {
        let stage = try Stage("a", "b", "c", spreads: ["both": ["c", "b"]])
        for (name, number) in [("b", 1), ("both", 2), ("none", 0), (nil, 0)] as [(String?, Int)] {
            #expect(stage.ports.countingPort(named: name).number == number, "\(name ?? "no name")")
        }
        stage.ports[0].isRetired = true
        #expect(stage.ports.countingPort(named: nil).number == 1)
    }

    @Test func theHubsCountTogether() throws {
        let stage = try Stage("a")
        func add(_ calls: Int, to port: HubPort) {
            for call in 0..<calls {
                port.ready.append(WaitingCall(flight: call, call: 0, generation: 0), to: .normal, isDelayed: true)
            }
        }
        add(2, to: stage.ports[0])
        #expect(stage.ports.delayedReadyCount == 2 && stage.ports.waitingForRetry == 0)
        let other = try stage.open(Stage.hub("b"))
        add(3, to: other)
        other.ready.append(WaitingCall(flight: 9, call: 0, generation: 0), to: .normal)
        #expect(stage.ports.delayedReadyCount == 5, "a new request's call is not counted")
        stage.ports[0].ready.removeAll { $0.flight > 0 }
        #expect(stage.ports.delayedReadyCount == 4)
        _ = other.ready.removeNext(in: .max)
        _ = other.ready.removeNext(in: .max)
        #expect(stage.ports.delayedReadyCount == 3, "of two turns a new request's call had one")
        // What takes the place of a port counts in its stead.
        stage.ports.close(stage.ports[0])
        try stage.open(Stage.hub("c"))
        #expect(stage.ports.delayedReadyCount == 2)
    }

    @Test func aHubAmongSeveralHasItsShareOfTheMemory() throws {
        let memory = MemoryBudget(16 << 20)
        let stage = try Stage("a")
        let most = memory.hubs(2)
        let full = [most.guaranteed + most.common, 0]
        #expect(stage.ports.hasShare(stage.ports[0], among: full, of: memory), "the only one has all")
        try stage.open(Stage.hub("b"))
        #expect(!stage.ports.hasShare(stage.ports[0], among: full, of: memory))
        #expect(stage.ports.hasShare(stage.ports[1], among: full, of: memory))
        // The request that is asked for is counted already.
        var pool = FlightPool()
        let flight = pool.take()
        flight.place.valueByteCount = 1000
        pool.account(for: flight)
        #expect(flight.size.counted.byteCount > 0)
        #expect(stage.ports.hasShare(stage.ports[0], for: flight, among: full, of: memory))
    }

    @Test func theLoopTurnsForAHubThatCanTakeACall() throws {
        let now = MonotonicTime(nanoseconds: 5_000_000_000)
        let stage = try Stage("a", "b", rate: 10)
        func wake(isCommitOverdue: Bool = false) -> MonotonicTime {
            stage.ports.endTurn(isCommitOverdue: isCommitOverdue, now: now)
            return stage.ports.wakeTime
        }
        #expect(stage.ports.wakeTime <= now, "new ports are looked at")
        #expect(wake() == .never, "no hub wants anything")
        stage.ports[1].ready.append(WaitingCall(flight: 0, call: 0, generation: 0), to: .normal)
        #expect(wake() <= now)
        stage.ports.markDue(now)
        #expect(wake(isCommitOverdue: true) == .never)
        #expect(wake() <= now, "the commit is over")
        stage.ports.markDue(now)
        stage.ports[1].limits.pause.asked(for: 3000, now: now)
        #expect(wake() == now + 3_000_000_000, "it asked to wait")
        // The fleet is due at once.
        stage.ports[0].isFleetOpen = true
        #expect(wake() <= now)
        stage.ports.close(stage.ports[0])
        stage.ports.markDue(now)
        #expect(wake() == now + 3_000_000_000, "a closed port wants nothing")
    }

    /// The names of the ports that a turn at `now` looks at.
    private func marked(_ ports: HubPorts) -> [String] {
        var names: [String] = []
        ports.forEachMarked { names.append($0.name) }
        return names
    }

    @Test func aTurnLooksAtThePortsThatSomethingHappensTo() throws {
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        let stage = try Stage("a", "b", "c")
        func turn(at now: MonotonicTime, _ change: () -> Void = {}) -> [String] {
            stage.ports.markDue(now)
            change()
            defer { stage.ports.endTurn(isCommitOverdue: false, now: now) }
            return marked(stage.ports)
        }
        #expect(turn(at: start) == ["a", "b", "c"], "new ones")
        #expect(turn(at: start + 1) == [], "nothing happens")
        #expect(turn(at: start + 2) { _ = (stage.ports[2], stage.ports[1], stage.ports[2]) } == ["c", "b"], "each once")
        #expect(turn(at: start + 3) { stage.ports.mail.post(1) } == [], "the wake-up comes with it")
        #expect(turn(at: start + 4) { stage.ports.markMailed() } == ["b"])
        #expect(turn(at: start + 5) { stage.ports.markMailed() } == [], "taken once")
        #expect(turn(at: start + 6) { _ = stage.ports.map(\.name) } == [], "who looks at all marks none")
        #expect(turn(at: start + 7) { _ = stage.ports.port(named: "c") } == ["c"])
        #expect(turn(at: start + 50_000_000) == ["a", "b", "c"], "the round")
        #expect(turn(at: start + 50_000_001) == [])
    }

    @Test func aPortThatIsMarkedWhileOthersAreLookedAtIsLookedAtToo() throws {
        let stage = try Stage("a", "b", "c")
        stage.ports.endTurn(isCommitOverdue: false, now: 0)
        _ = stage.ports[0]
        var names: [String] = []
        stage.ports.forEachMarked { port in
            names.append(port.name)
            if port.number == 0 { _ = stage.ports[2] }
        }
        #expect(names == ["a", "c"])
    }

    @Test func aPortIsLookedAtWhenItsMomentHasCome() throws {
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        let stage = try Stage("a", "b", "c")
        stage.ports.markDue(start)
        for (number, wait) in [(1, 20 as Int64), (2, 10)] {
            stage.ports[number].ready.append(WaitingCall(flight: 0, call: 0, generation: 0), to: .normal)
            stage.ports[number].limits.pause.asked(for: wait, now: start)
        }
        stage.ports.endTurn(isCommitOverdue: false, now: start)
        for (wait, names, next) in [(9, [], 10), (10, ["c"], 20), (20, ["b"], 40)] as [(Int64, [String], Int64)] {
            let now = start + wait * 1_000_000
            stage.ports.markDue(now)
            #expect(marked(stage.ports) == names, "after \(wait) ms")
            // Their calls are not taken, so that they ask for more rest.
            for name in names { stage.ports.port(named: name)?.limits.pause.asked(for: 40 - wait, now: now) }
            stage.ports.endTurn(isCommitOverdue: false, now: now)
            #expect(stage.ports.wakeTime == start + next * 1_000_000, "after \(wait) ms")
        }
    }

    @Test func theEndOfAnOverdueCommitConcernsAll() throws {
        let stage = try Stage("a", "b")
        stage.ports.markDue(0)
        stage.ports.endTurn(isCommitOverdue: true, now: 0)
        stage.ports[1].ready.append(WaitingCall(flight: 0, call: 0, generation: 0), to: .normal)
        stage.ports.endTurn(isCommitOverdue: true, now: 1)
        #expect(stage.ports.wakeTime == .never && marked(stage.ports) == [])
        stage.ports.endTurn(isCommitOverdue: false, now: 2)
        stage.ports.markDue(3)
        #expect(marked(stage.ports) == ["b"], "it has a call to make")
    }

    @Test func anExchangeThatEndsAtOnceIsTakenInTheNextTurn() throws {
        let stage = try Stage("a", "b")
        stage.ports.endTurn(isCommitOverdue: false, now: 0)
        let port = stage.ports[0]
        port.connections.close()
        port.connections.submit(id: 1, request: [], deadline: .never)
        stage.ports.endTurn(isCommitOverdue: false, now: 1)
        #expect(port.connections.hasCompletions && stage.ports.wakeTime <= 1)
    }

    @Test func aPollWaitsForTheHubAndNotWhileACommitIsOverdue() throws {
        let now = MonotonicTime(nanoseconds: 5_000_000_000)
        let port = try Stage("a").ports[0]
        func moment(isCommitOverdue: Bool = false) -> MonotonicTime? {
            port.nextPollMoment(isCommitOverdue: isCommitOverdue, now: now)
        }
        #expect(moment() == nil, "nothing is to be polled")
        port.polls.queue.append(WaitingCall(flight: 0, call: 0, generation: 0))
        port.polls.allowance.tracked()
        #expect(moment() == now && port.mayPoll(isCommitOverdue: false, now: now))
        #expect(moment(isCommitOverdue: true) == nil && !port.mayPoll(isCommitOverdue: true, now: now))
        port.polls.pause.asked(for: 2000, now: now)
        #expect(moment() == now + 2_000_000_000 && !port.mayPoll(isCommitOverdue: false, now: now))
        port.limits.pause.asked(for: 7000, now: now)
        #expect(moment() == now + 7_000_000_000, "the later of two rests")
    }
}
