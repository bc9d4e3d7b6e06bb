import Basics
import CurlHTTP
import Delivery
import EventLoop
import HubREST
import Observability
import PushModel

/// All that one loop has of one hub: connections, key, limits, and the calls and polls that wait for their turn there.
///
/// Hubs share nothing but the loop's turns, so that one that is out, or asked to wait, holds up its own calls alone. Belongs to the
/// loop's thread.
final class HubPort {
    /// Its place in the loop's list.
    let number: Int
    let settings: WorkerConfiguration.Hub
    /// The limit of a call, in nanoseconds.
    let requestNanoseconds: Int64
    let connections: ConnectionPool
    let metrics: HubMeter
    let health: HubHealth
    /// The member of a result that names it.
    let resultMember: ByteWriter

    var client: HubClient
    var limits: HubLimits
    var places: LanePlaces
    var ready: ReadyCalls {
        didSet {
            sums?.delayedReadyCount += ready.delayedCount - countedDelayed
            countedDelayed = ready.delayedCount
        }
    }
    /// The calls that were made when it was last looked, and the time when there were more than before.
    private var lastUse: (callCount: Int64, at: MonotonicTime) = (0, .past)
    /// Calls that wait for a timer.
    private(set) var waitingForRetry = 0 { didSet { sums?.waitingForRetry += waitingForRetry - oldValue } }
    /// The counts of all ports that these two are parts of.
    private var sums: HubSums?
    private var countedDelayed = 0
    /// True if the present turn looks at it.
    var isMarked = false
    var polls = OutcomePolling()
    /// The standing that decides if it counts as one that works.
    var standing: HubAvailability { didSet { limits.isHeld = standing.hold != nil } }
    /// The question that it is being asked, if it is.
    var question: Question?
    /// The outcome of the last one.
    var finding: HubFinding?
    /// True if it was logged that the first one had no answer.
    var isSilent = false
    /// True if an answer had a notification's id: a hub of the Standard tier, whose answers all have one.
    var namesNotifications = false

    // What its rate is shared by; nil when it has no limit.
    var fleet: FleetChannel?
    var isFleetOpen = false
    var knowsNoFleet = false
    /// The reason that its rate is not shared with the fleet, where that is on account of the topic. Nil where it is.
    private(set) var fleetProblem: String?

    /// True if the settings do not have it any more: what is in flight ends here, and nothing is begun.
    var isRetired = false
    /// True if nothing is in flight any more after that.
    var isClosed = false

    init(
        _ number: Int, settings: WorkerConfiguration.Hub, of configuration: WorkerConfiguration, poller: Poller,
        now: MonotonicTime,
        metrics: HubMeter, health: HubHealth, generator: inout QuickRandom
    ) throws {
        self.number = number
        self.settings = settings
        self.metrics = metrics
        self.health = health
        requestNanoseconds = settings.requestTimeout.wholeNanoseconds
        resultMember = ResultWriter.hub(settings.name)
        connections = try ConnectionPool(settings.connections, poller: poller, tokenBase: Self.tokenBase(of: number))
        client = try HubClient(settings.hub, userAgent: "pushfan/\(configuration.version)")
        ready = ReadyCalls(configuration.laneWeights, tenants: configuration.tenantWeights)
        places = LanePlaces(weights: configuration.laneWeights.all)
        limits = Self.limits(settings, now: now, using: &generator)
        standing = HubAvailability(of: settings.name, isAsked: configuration.checksHubs)
        limits.isHeld = standing.hold != nil
        reportHealth()
    }

    /// The name that requests, results and metrics have for it.
    var name: String { settings.name }

    /// The most ports of a loop, those that end included: what the poller's tokens have room for.
    static let maximumCount = 1 << 20

    /// The first of the poller's tokens of a port's connections.
    static func tokenBase(of number: Int) -> UInt64 { UInt64(number) << 32 }

    /// The limits of a hub that was not called yet.
    private static func limits(_ hub: WorkerConfiguration.Hub, now: MonotonicTime, using generator: inout QuickRandom)
        -> HubLimits
    {
        let concurrency = ConcurrencyLimit(most: hub.maxInFlight, isAdaptive: hub.adaptsConcurrency)
        guard hub.rateLimit > 0 else { return HubLimits(concurrency: concurrency) }
        return HubLimits(
            concurrency: concurrency, rate: RateLimit(callsPerSecond: hub.rateLimit, member: generator.next(), now: now))
    }

    /// The lanes that may begin a call now, as bits.
    func openLanes(now: MonotonicTime) -> UInt64 { places.open(limit: limits.places(now: now), now: now) }

    /// The number of calls that are no good as probes and may be passed over in one turn. When there are no others, one of them
    /// must do.
    var mostPassedOver: Int { min(ready.count, 64) }

    /// True if records of a lane may be read for it, as far as its own calls go: enough of them wait when they could take all
    /// that is free. One may always wait, so that a lane has its turn however much the others have in flight.
    func hasRoom(_ lane: Lane) -> Bool {
        ready.freshCount(of: lane) < max(1, settings.maxInFlight - limits.inFlight)
    }

    /// Lets time pass for its rate, and says once when the fleet has been silent for long.
    func watchFleet(_ topic: String, now: MonotonicTime, log: Log) {
        limits.rate?.timePassed(now: now)
        let isSilent = limits.rate?.goesWithoutFleet ?? false
        guard isSilent != (fleetProblem != nil) else { return }
        fleetProblem =
            isSilent
            ? "the shares topic \(topic) cannot be used; the rate of \(name) is divided by partitions, unused quota is lost" : nil
        guard let fleetProblem else { return }
        log.warning(.kafkaError, "the shares topic is not heeded", [.hub: .string(name), .reason: .string(fleetProblem)])
    }

    /// Counts its calls among those of all ports from now on.
    func join(_ sums: HubSums) {
        sums.delayedReadyCount += ready.delayedCount
        sums.waitingForRetry += waitingForRetry
        countedDelayed = ready.delayedCount
        self.sums = sums
    }

    /// Counts them there no more.
    func leave(_ sums: HubSums) {
        self.sums = nil
        sums.delayedReadyCount -= ready.delayedCount
        sums.waitingForRetry -= waitingForRetry
    }

    /// Closes what is open. `keepsMetrics` if another port has the same name, whose gauges show the present.
    func close(keepsMetrics: Bool) {
        guard !isClosed else { return }
        isClosed = true
        connections.close()
        if !keepsMetrics { metrics.retire() }
        health.leave()
    }

    /// Publishes since when the oldest request waits, what limits calls, and what the connections count by themselves. `isBlind` if more may
    /// wait than is seen.
    func noteSecond(oldest: Timestamp, isBlind: Bool, at now: Timestamp) {
        metrics.noteOldest(oldest, isBlind: isBlind, at: now)
        metrics.noteLimits(limits)
        metrics.noteKey(isRefused: client.isKeyRefused)
        metrics.noteConnections(of: connections)
    }
}

/// The phases of calls. Each changes here alone, together with the count of those that wait for a timer.
extension HubPort {
    /// Begins an attempt at a call that `limits` allow, signed with the token of that number.
    func begin(_ flight: Flight, call index: Int, token: UInt64, now: MonotonicTime, at time: Timestamp) {
        waitingForRetry += flight.work.calls[index].enter(.inFlight)
        flight.noteStart(ofCall: index, role: limits.started(now: now), token: token, now: now, at: time)
        places.noteStart(flight.route.lane.rawValue)
    }

    /// Lets a call wait for a timer that ends at `due`. The next attempt is not made before `notBefore` either, where that is later.
    func wait(_ flight: Flight, call index: Int, until due: MonotonicTime, notBefore: Timestamp?) {
        waitingForRetry += flight.work.calls[index].enter(.waiting)
        flight.work.calls[index].wait(until: due, notBefore: notBefore)
    }

    /// Ends the wait of a call, or its attempt: it waits for its turn.
    func makeReady(_ flight: Flight, call index: Int) { waitingForRetry += flight.work.calls[index].enter(.ready) }

    /// Ends a call with an outcome.
    func end(_ flight: Flight, call index: Int, as outcome: Outcome) {
        waitingForRetry += flight.work.calls[index].enter(.done)
        flight.noteOutcome(outcome, ofCall: index)
    }

    /// Ends the waits of a request's calls, because it goes elsewhere.
    func endWaits(of flight: Flight) {
        for index in flight.work.calls.indices where flight.work.calls[index].phase == .waiting { makeReady(flight, call: index) }
    }

    /// Hands the calls of a request that wait for a timer over to another port.
    func handOver(_ flight: Flight, to other: HubPort) {
        let count = flight.work.calls.count { $0.phase == .waiting }
        waitingForRetry -= count
        other.waitingForRetry += count
    }

    /// Notes whether calls were made since the last look, once a second.
    func noteUse(now: MonotonicTime) {
        if metrics.callCount != lastUse.callCount { lastUse = (metrics.callCount, now) }
    }

    /// True if a call was made in the last minute.
    func isInUse(now: MonotonicTime) -> Bool { lastUse.at != .past && now - lastUse.at < 60_000_000_000 }

    /// The queue of its lane that a request's calls wait in here: its tenant's own, or one that several share.
    func queue(of flight: Flight) -> TenantID { ready.fresh(in: flight.route.lane).queue(of: flight.route.tenant) }

    /// Puts a call that may be made into the queue of its lane and tenant.
    func queue(_ flight: Flight, call index: Int) {
        ready.append(
            WaitingCall(flight, call: index), to: flight.route.lane, tenant: flight.route.tenant,
            isDelayed: flight.wait.delayed != nil)
    }
}
