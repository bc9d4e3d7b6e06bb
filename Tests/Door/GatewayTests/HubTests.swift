@testable import DeviceHubs
@testable import AppAPI
import Dispatch
import EventLoop
import Gateway
import GatewayAPI
import HubEmulator
import HubREST
import Observability
import PushModel
import Synchronization
import TestSupport
import Testing

@Suite(.tags(.threads)) struct HubTests {
    /// What lanes have done, in order.
    private final class Done: Sendable {
        private let ids = Mutex<[String]>([])
        private let arrivals = DispatchSemaphore(value: 0)

        func add(_ id: String) {
            ids.withLock { $0.append(id) }
            arrivals.signal()
        }

        /// All of it, once there are `count`.
        func wait(for count: Int) throws -> [String] {
            let limit = DispatchTime.now() + .seconds(Int(farDeadline.components.seconds))
            for _ in 0..<count {
                let hasArrived = arrivals.wait(timeout: limit) == .success
                try #require(hasArrived)
            }
            return ids.withLock { $0 }
        }
    }

    /// A hub that is away, whose threads do not run.
    private func makeHubs(limit: Int, services: TestServices = TestServices()) throws -> DeviceHubs {
        let configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        return try DeviceHubs(configuration, laneLimit: limit, services: services.services)
    }

    /// Lanes whose callers nobody uses.
    private func makeLanes(limit: Int) throws -> HubLanes { try makeHubs(limit: limit).hubs[0].lanes }

    /// Serves a hub and a gateway of it.
    private func serving(
        key: String? = nil, faults: [String] = [], _ body: (EmulatedHub, TestGateway) throws -> Void
    ) throws {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        configuration.faults = try faults.map { try Fault(parsing: $0) }
        let hub = try EmulatedHub(configuration)
        _ = try hub.start()
        defer { hub.stop(within: .zero) }
        var connection = hub.connectionString
        if let key, let place = connection.firstRange(of: "SharedAccessKey=") {
            connection = String(connection[..<place.upperBound]) + key
        }
        try body(hub, try TestGateway(demo: true, hub: connection))
    }

    @Test func workForOneIDIsDoneInItsOrder() throws {
        let lanes = try makeLanes(limit: 1000)
        lanes.start()
        defer { lanes.stop() }
        let done = Done()
        for round in 0..<50 {
            for id in 0..<20 {
                let isPut = lanes.put(for: "id-\(id)") { _ in done.add("\(id) \(round)") }
                #expect(isPut)
            }
        }
        let all = try done.wait(for: 1000)
        for id in 0..<20 { #expect(all.filter { $0.hasPrefix("\(id) ") } == (0..<50).map { "\(id) \($0)" }) }
    }

    /// The threads are not started before the lane is full.
    @Test func aFullLaneTakesNoMoreUntilItHasRoom() throws {
        let lanes = try makeLanes(limit: 3)
        let done = Done()
        for index in 0..<3 {
            let isPut = lanes.put(for: "a") { _ in done.add("\(index)") }
            #expect(isPut)
        }
        let isTooMuchPut = lanes.put(for: "a") { _ in done.add("too much") }
        #expect(!isTooMuchPut)
        lanes.start()
        #expect(try done.wait(for: 3) == ["0", "1", "2"])
        let isNextPut = lanes.put(for: "a") { _ in done.add("3") }
        #expect(isNextPut)
        #expect(try done.wait(for: 1) == ["0", "1", "2", "3"])
        lanes.stop()
        let isLatePut = lanes.put(for: "a") { _ in done.add("too late") }
        #expect(!isLatePut)
    }

    /// The threads are not started before all of it waits.
    @Test func ofOneLanePartiesTakeTurnsAndEachKeepsItsOrder() throws {
        let hubs = try makeHubs(limit: 100)
        let done = Done()
        for (name, count) in [("alice", 20), ("bob", 2)] {
            let lanes = try hubs.home(of: nil, id: "a", for: .user(Caller(name: name))).lanes
            for number in 0..<count {
                let isPut = lanes.put(for: "a") { _ in done.add("\(name) \(number)") }
                #expect(isPut)
            }
        }
        hubs.start()
        defer { hubs.stop() }
        let turns = ["alice 0", "bob 0", "alice 1", "bob 1"]
        #expect(try done.wait(for: 22) == turns + (2..<20).map { "alice \($0)" })
    }

    /// The wait, and whether the work is refused then. What comes after it is not.
    @Test(arguments: [(2, false), (3, true)] as [(Int64, Bool)])
    func workThatHasWaitedForMoreThanTwoSecondsMakesNoCall(seconds: Int64, isRefused: Bool) throws {
        let services = TestServices()
        let lanes = try makeHubs(limit: 10, services: services).hubs[0].lanes
        let done = Done()
        let work: HubLanes.Work = { caller in
            let failure = #expect(throws: RegistrationFailure.self) { try caller.perform(.getInstallation(id: "a")) }
            done.add(failure?.cause == .held ? "held for \(failure?.retryAfter ?? 0)" : "called")
        }
        let isPut = lanes.put(for: "a", work: work)
        services.clock.advance(seconds: seconds)
        let isNextPut = lanes.put(for: "a", work: work)
        #expect(isPut && isNextPut)
        lanes.start()
        defer { lanes.stop() }
        #expect(try done.wait(for: 2) == [isRefused ? "held for 1000" : "called", "called"])
    }

    @Test func aGatewayServesWhileTheHubIsAwayAndSaysSo() throws {
        let gateway = try TestGateway(demo: true)
        #expect(try gateway.ask(request("POST", "/api/register", [basic("alice", "alice")])).status == 200)
        #expect(eventually { gateway.services.readiness.contains("failing hub: the hub does not answer") })
        #expect(eventually { gateway.services.log.text.contains("the hub cannot be used") })
        #expect(gateway.services.metrics.contains("hub_calls_total{operation=\"installation.get\",code="))
    }

    @Test func whatIsNotServedIsInTheLogWithItsReason() throws {
        let gateway = try TestGateway(demo: true, change: { $0.leftOut = ["eu": "its address is wrong"] })
        let line = gateway.services.log.text.split(separator: "\n").first { $0.contains("is not served") }
        #expect(line?.contains(#""eu""#) == true && line?.contains("its address is wrong") == true)
    }

    /// The emulator lists it as what it is, and not as a device that was not found.
    @Test func theLookAtTheHubIsAProbe() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        #expect(gateway.calls(after: 0).first == "probe")
    }

    @Test func aHubThatComesBackMakesItReady() throws {
        try serving(faults: ["status=500,count=1"]) { _, gateway in
            #expect(eventually { gateway.services.readiness.contains("the hub answers 500") })
            #expect(
                eventually {
                    gateway.service.probeHubs()
                    return gateway.services.readiness.isEmpty
                })
            #expect(eventually { gateway.services.log.text.contains("the hub answers\"") })
            let metrics = gateway.services.metrics
            #expect(metrics.contains("hub_calls_total{operation=\"installation.get\",code=\"500\"} 1\n"))
            #expect(metrics.contains("hub_calls_total{operation=\"installation.get\",code=\"ok\"} 1\n"))
        }
    }

    @Test func aHubThatKeepsSilentIsNamedUntilItAnswers() {
        let services = TestServices()
        let watch = HubWatch(services.services)
        let words = "the hub has not answered yet"
        watch.noteSilence()
        #expect(!services.log.text.contains(words), "it was not asked")
        #expect(watch.beginProbe())
        watch.noteSilence()
        #expect(services.log.text.contains(words))
        let answered = TestServices()
        let other = HubWatch(answered.services)
        #expect(other.beginProbe())
        other.note(nil)
        other.noteSilence()
        #expect(!answered.log.text.contains(words))
    }

    /// A sign-in that answers in the hub's place is no hub; one answer that cannot be read says nothing of it.
    @Test(arguments: [(RegistrationFault.page, false), (.malformed, true)])
    func aPageInTheHubsPlaceIsNamed(fault: RegistrationFault, isReady: Bool) {
        let services = TestServices()
        HubWatch(services.services).note(RegistrationFailure(.unreadable(fault), code: .responseInvalid))
        #expect(services.log.text.contains("the hub cannot be used") != isReady)
        #expect(services.readiness.contains("page of HTML") != isReady)
    }

    /// The status and the code of a refusal, and whether it is one of the key; nil where it says nothing of that.
    @Test(
        arguments: [
            (401, .hubUnauthorized, true), (403, .hubForbidden, true), (403, .hubThrottled, false), (404, .hubNotFound, false),
            (429, .hubThrottled, false), (503, .hubUnavailable, nil), (nil, .hubUnavailable, nil),
        ] as [(Int?, ErrorCode, Bool?)])
    func thatTheKeyIsRefusedIsAStateUntilTheHubTakesIt(status: Int?, code: ErrorCode, isRefused: Bool?) {
        let services = TestServices()
        let (watch, refused) = (HubWatch(services.services), services.services.metrics.hubKeyRefused)
        var failure = RegistrationFailure(status == nil ? .unreadable(.page) : .refused, code: code)
        failure.status = status
        watch.note(failure)
        #expect(refused.value == (isRefused == true ? 1 : 0))
        refused.set(1)
        watch.note(failure)
        #expect(refused.value == (isRefused == false ? 0 : 1))
        watch.note(nil)
        #expect(refused.value == 0)
    }

    @Test func aHubThatIsWellIsAskedOnce() throws {
        try serving { hub, gateway in
            #expect(eventually { gateway.services.readiness.isEmpty })
            for _ in 0..<5 { gateway.service.probeHubs() }
            gateway.service.stop(within: .zero)
            #expect(hub.calls().count == 1)
        }
    }

    @Test func aKeyThatIsRefusedIsNamedAndNotShown() throws {
        try serving(key: "CANARYkey") { _, gateway in
            #expect(eventually { gateway.services.readiness.contains("does its policy have Listen?") })
            for text in [gateway.services.readiness, gateway.services.log.text, gateway.services.metrics] {
                #expect(!text.contains("CANARY"))
            }
        }
    }
}
