import Basics
import CurlHTTP
import Delivery
import EventLoop
import Kafka
import Observability
import PushModel

/// One thread's worth of worker: it owns its consumer, connections, ledgers and flights outright, and never blocks but to
/// wait for the next event.
///
/// A turn takes what is there, in this order: replies of the committer, Kafka's events, the hub's answers, timers. Then it reads and starts
/// requests while there is room, hands calls to connections, and offers what is finished to the committer.
final class WorkerLoop {
    /// Its hubs are those of `ports`.
    var configuration: WorkerConfiguration
    let metrics: WorkerMetrics
    let log: Log
    let health: WorkerHealth
    let control: WorkerControl
    let clock: WorkerClock
    let memory: MemoryBudget

    let sources: EventSources
    let consumer: Consumer
    /// Reads the partitions of delay lanes that the consumer's group assigned, and the control topic.
    let delayReader: PartitionReader
    /// Replaced when one of its calls never ends.
    var committer: Committer
    /// The loop's ports to its hubs, by number, and the routes to them.
    let ports: HubPorts
    /// The limits that orders set, and the calls that wait for them.
    let limited: LoopLimits

    /// The loop's knowledge of its partitions' lives, and of its own.
    var membership: Membership
    /// The reason that the worker cannot go on, if it cannot.
    var failure: WorkerFailure?

    // The assignment.
    var partitions: [PartitionState] = []
    /// The partitions of requests, by lane.
    var lanes = Lane.allCases.map { _ in CursorGroup() }
    /// Those that have something to be done.
    var marks = PartitionMarks()

    var delayedPartitions = DelayedPartitions()
    var parents = ParentPartitions()
    /// The partitions of held requests.
    var held = CursorGroup()
    /// The requests that wait in memory, and whose turn it is.
    let scheduler: Scheduler
    var controlTopic = ControlTopic()

    /// The partitions of which it is not known yet where they begin.
    var laterStarts = LaterStarts()

    // Requests in work.
    var flights: FlightPool
    /// Reads, plans and formats requests.
    var desk: RequestDesk

    // Results.
    var details: ErrorDetails
    var recorders: Recorders
    /// The batch of what is finished and not yet offered to the committer.
    var outbox = OutcomeBatch()
    /// The batch that was offered and is not confirmed.
    var offered = OfferedBatch()
    /// The cycle that decides over both.
    var cycle: CommitCycle

    // For its status.
    var facts: LoopFacts

    /// The moment at which the turn began: monotonic, and by the wall clock.
    var now = MonotonicTime.past
    var wallClock = Timestamp(milliseconds: 0)

    init(
        _ configuration: WorkerConfiguration, counts: PartitionCounts, services: WorkerServices, metrics: WorkerMetrics,
        health: WorkerHealth, control: WorkerControl
    ) throws {
        self.configuration = configuration
        self.metrics = metrics
        log = services.log
        self.health = health
        self.control = control
        facts = LoopFacts(board: services.status, startedAt: services.clock.monotonic)
        clock = services.clock
        memory = MemoryBudget(configuration.memoryBudget)
        flights = FlightPool(mostSpareByteCount: memory.spareFlights)
        sources = try EventSources(wakeUp: control.wakeUp)
        consumer = try Consumer(
            configuration, heartbeatInterval: configuration.heartbeatInterval, room: memory.requestQueues(of: counts),
            wakeUpFileDescriptor: sources.consumer.fileDescriptor)
        delayReader = try PartitionReader(
            configuration.kafka, room: memory.otherQueues(of: counts), wakeUpFileDescriptor: -1)
        desk = RequestDesk(configuration)
        recorders = Recorders(configuration)
        cycle = CommitCycle(configuration.commitTerms)
        membership = Membership(configuration.membershipTerms)
        details = ErrorDetails(configuration, poller: sources.poller, tokenBase: LoopToken.details)
        committer = Committer(configuration, group: consumer.group, clock: clock, wakeUp: control.wakeUp)
        limited = LoopLimits(partitionCount: counts.requests)
        ports = HubPorts(routes: configuration.routes(since: services.clock.monotonic))
        scheduler = Scheduler(heldWindow: configuration.heldWindow)
        for hub in configuration.hubs { try openPort(hub) }
    }

    /// Runs until the worker is asked to stop and everything is committed, or it cannot go on.
    func run() throws {
        committer.submit(.prepare)
        for port in ports { port.joinFleet(configuration, mail: ports.mail, wakeUp: control.wakeUp) }
        while mode != .stopped {
            readClocks()
            health.noteTurn(at: now)
            try takeEvents()
            readAndSend()
        }
    }

    /// Takes what has happened: events, replies, answers and timers.
    private func takeEvents() throws {
        try handleEvents()
        handleReplies()
        beginAnswered()
        watchCommitter()
        handleControl()
        handleKafka()
        metrics.everySecond(now) { passSecond() }
        handleFleet()
        handleCompletions()
        if membership.joins(isWanted: ports.hasUseful) { try consumer.join(configuration) }
        handleDetails()
        handleTimers()
    }

    /// Reads records while there is room, hands calls to connections, and what is finished to the committer.
    private func readAndSend() {
        readControl()
        startNext()
        examinePartitionsBehindCommit()
        startDelayed()
        readParents()
        sendPolls()
        sendLimited()
        sendCalls()
        startBuffered()
        sayNotices()
        tickMembership()
        offerCommit()
        ports.endTurn(isCommitOverdue: isCommitOverdue, now: now)
    }

    /// Ends what the loop has outside of its memory, in the order in which one part needs another: the committer has its last say to the
    /// group before the consumer leaves it. To be called once, when `run()` has returned or thrown.
    func close() {
        laterStarts.end()
        committer.stop(within: .seconds(10))
        consumer.close(timeout: .seconds(5))
        // Before its descriptor is closed: the library would write to whatever has the number next, a connection of another loop.
        delayReader.stop()
        closePorts()
        details.close()
    }

    /// Does once a second what need not be done in each turn. Stands by itself, so that `.ci/check-cost` can count what it costs.
    @inline(never) private func passSecond() {
        expireWaitingCalls()
        expireWaitingPolls()
        if membership.isDraining { for flight in flights.flights where flight.isActive { leave(flight) } }
        noteReaderEvents()
        if let error = consumer.clusterFailure { fail(WorkerFailure(fatal: error)) }
        watchControl()
        startEverySecond()
        measureLag()
        watchHeld()
        watchReserves()
        ports.closeRetired()
        for (port, oldest) in zip(ports, oldestWaiting()) where !port.isRetired {
            port.noteSecond(oldest: oldest, isBlind: facts.sight.isBlind, at: wallClock)
        }
        perform(membership.secondPassed(isBrokerDoubtful: health.isBrokerDoubtful, now: now))
        noteLeft()
        giveBackMemory()
        if !membership.mayOverlap(at: wallClock) { marks.endOverlap(of: &partitions) }
        postStatus()
    }

    /// The mode that the loop is in.
    var mode: Membership.Mode { membership.mode }

    /// The number of the present assignment. What belongs to another counts no more.
    var epoch: Int { membership.epoch }

    func readClocks() {
        now = clock.monotonic
        wallClock = Timestamp(milliseconds: clock.millisecondsSince1970)
        membership.noteTurn(
            now: .now(), isOffering: cycle.isOffering, hasRead: partitions.contains { $0.ledger != nil })
    }

    /// Waits for the next event or timer, and lets connections work.
    private func handleEvents() throws {
        let events = try sources.wait(until: clock.systemTime(at: wakeTime()))
        readClocks()
        for index in events {
            switch sources.takeEvent(at: index) {
            case .wakeUp: ports.markMailed()
            case .consumer: break
            case .requests: noteArrivals(sources.requests, from: 0)
            case .reader: noteArrivals(sources.reader, from: delayedPartitions.slots.lowerBound)
            case .details(let event): details.handle(event)
            case .hub(let number, let event):
                Failpoint.pass(.answerUnread)
                ports[number].connections.handle(event)
            }
        }
        ports.handleTimers(now)
        details.handleTimers(now)
    }

    /// The moment when the loop must turn again, whatever happens.
    private func wakeTime() -> MonotonicTime {
        if canReadAtOnce { return now }
        let portWake = ports.wakeTime
        let needed = portWake > now ? min(portWake, momentOfKeys()) : now
        if needed <= now { return now }
        // Kafka wants to be polled several times a second, and health wants to see the loop turn.
        var wake = min(now + 200_000_000, needed)
        if let due = flights.nextTimer { wake = min(wake, due) }
        if canReceiveDelayed { wake = min(wake, delayedPartitions.nextCheck(now, by: wallClock)) }
        wake = min(wake, nextCommit, momentOfLimits)
        if let timer = details.nextTimer { wake = min(wake, timer) }
        return wake
    }

    /// True if a read that is allowed may find a record.
    private var canReadAtOnce: Bool {
        canReceive && Lane.allCases.contains { lanes[$0.rawValue].mayHaveRecords && hasRoom($0) }
            || delayedPartitions.group.mayHaveRecords && canReceiveDelayed || controlTopic.mayHaveRecords
            || parents.mayHaveRecords && canReadParents
    }

    /// Says what Kafka reports. The loop ends if it is fatal.
    func noteKafkaError(_ error: KafkaError) {
        // Of a start without any broker the watch speaks, once and in plain words.
        let isSaid = (error.isUnreachable || error.brokerFailure != nil) && configuration.kafka.watch?.isWaiting == true
        if !isSaid { log.warning(.kafkaError, "Kafka reports an error", [.reason: .string(error.description)]) }
        if error.isUnreachable || error.isAllBrokersDown || error.isAuthorization { health.brokerFailed(error.description) }
        if error.isFatal { fail(WorkerFailure(fatal: error)) }
    }

    /// Ends the loop because it cannot go on. The first reason counts.
    func fail(_ failure: WorkerFailure) {
        self.failure = self.failure ?? failure
        membership.stop()
    }

    /// True if records may be read: not while more is finished than could be committed.
    var canReceive: Bool { hasRoomForOutcomes && flights.byteCount < memory.flights && canProceed }

    /// True if what was read may begin: not before it is known which requests are cancelled, and not while draining.
    ///
    /// Where results wait for all before them, what these wait for must begin however many there are.
    var canProceed: Bool {
        mode == .running && !partitions.isEmpty && membership.isProducerReady && !membership.isOpening
            && controlTopic.allowsRequests && !isCommitOverdue && (hasRoomForOutcomes || cycle.isInOrder) && flights.hasRoom
    }

    /// True if there is room for more results.
    var hasRoomForOutcomes: Bool { outbox.hasRoom(mostBytes: memory.outcomes) }

    /// True if results cannot be recorded at present, as far as is known. Then nothing may be begun, because its calls would be
    /// made again if the worker died, or lost its partitions, before they are.
    var isCommitOverdue: Bool { membership.isDoubtful || cycle.isOverdue(now: now) }
}
