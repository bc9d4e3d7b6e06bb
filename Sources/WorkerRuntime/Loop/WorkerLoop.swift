import Basics
import CurlHTTP
import Delivery
import EventLoop
import FanOut
import HubREST
import Kafka
import Observability
import Payloads
import PushModel

/// One thread's worth of worker: it owns its consumer, connections, ledgers and flights outright, and never blocks but to
/// wait for the next event.
///
/// A turn takes what is there, in this order: replies of the committer, Kafka's events, the hub's answers, timers. Then it reads records
/// while there is room, hands calls to connections, and offers what is finished to the committer.
final class WorkerLoop {
    /// Its hubs are those of `ports`.
    var configuration: WorkerConfiguration
    let metrics: WorkerMetrics
    let log: Log
    let health: WorkerHealth
    let control: WorkerControl
    let statusBoard: StatusBoard
    let clock: WorkerClock
    let memory: MemoryBudget

    let poller: Poller
    let wakeUp: WakeUp
    let kafkaWakeUp: WakeUp
    /// Those of the partitions of requests, by lane.
    let laneWakeUps: [WakeUp]
    let delayWakeUp: WakeUp
    let consumer: Consumer
    /// Reads the partitions of delay lanes that the consumer's group assigned, and the control topic.
    let delayReader: PartitionReader
    /// Replaced when one of its calls never ends.
    var committer: Committer
    /// The loop's ports to its hubs, by number, and the routes to them.
    let ports: HubPorts

    /// The loop's knowledge of its partitions' lives, and of its own.
    var membership: Membership
    /// The reason that the worker cannot go on, if it cannot.
    var failure: WorkerFailure?

    // The assignment.
    var partitions: [PartitionState] = []
    /// The partitions of requests, by lane.
    var lanes = Lane.allCases.map { _ in LanePartitions() }
    /// The moment when it is next seen to that more records are fetched, monotonic nanoseconds.
    var nextRefill = MonotonicTime.past

    var delayedPartitions = DelayedPartitions()
    var parents = ParentPartitions()
    var ordered = OrderedPartitions()
    var controlReading = ControlReading()
    var cancellations = Cancellations()
    /// The delay lanes that can be written to. None before the producer is ready.
    var delayLanes = DelayLanes([])
    /// The partitions of the topic of parents, which is there when the producer is ready.
    var parentPartitionCount: Int32 = 0

    /// Reads in the background what says where partitions begin. Nil while that is known of all.
    var startProbe: StartProbe?
    /// The progress of reading partitions without a position when that was ended.
    var startProgress: [TopicPartition: Int64] = [:]

    // Requests in work.
    var flights = FlightPool()
    /// By monotonic nanoseconds.
    var timers = MomentHeap<MonotonicTime, WaitingCall>()
    var spareBuffers: [ByteWriter] = []
    var generator = QuickRandom()

    // Reading.
    let openReader = RequestReader(.tolerant)
    let ownReader = RequestReader(.tolerant, from: .own)
    let planner: FanOutPlanner
    var formatter: PayloadFormatter
    var headers = PushModel.RecordHeaders()

    // Outcomes.
    var details: ErrorDetails
    /// The rules by which duplicates are detected, or nil when all are sent.
    let repetitions: RepetitionRules?

    // Results.
    var recorder: ResultRecorder
    let deadLetters: DeadLetterRecorder
    let delayRecorder: DelayRecorder
    let expansionRecorder = ExpansionRecorder()
    /// The batch of what is finished and not yet offered to the committer.
    var outbox = OutcomeBatch()
    /// The batch that was offered and is not confirmed.
    var offered = OfferedBatch()
    /// The cycle that decides over both.
    var cycle: CommitCycle

    // For its status.
    var facts = LoopFacts()

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
        statusBoard = services.status
        clock = services.clock
        memory = MemoryBudget(configuration.memoryBudget)
        poller = try Poller()
        wakeUp = control.wakeUp
        kafkaWakeUp = try WakeUp()
        laneWakeUps = try Lane.allCases.map { _ in try WakeUp() }
        delayWakeUp = try WakeUp()
        try poller.add(wakeUp.fileDescriptor, token: LoopToken.wakeUp, interest: .readable)
        try poller.add(kafkaWakeUp.fileDescriptor, token: LoopToken.kafka, interest: .readable)
        try poller.add(delayWakeUp.fileDescriptor, token: LoopToken.delayed, interest: .readable)
        for lane in Lane.allCases {
            try poller.add(laneWakeUps[lane.rawValue].fileDescriptor, token: LoopToken.of(lane), interest: .readable)
        }
        consumer = try Consumer(
            configuration.memberKafka, groupID: configuration.groupID,
            instanceID: configuration.guarantee == .exactlyOnce ? configuration.instanceID : nil,
            sessionTimeout: configuration.sessionTimeout, heartbeatInterval: configuration.heartbeatInterval,
            room: memory.requestQueues(of: counts), reportsPartitionEnd: true, wakeUpFileDescriptor: kafkaWakeUp.fileDescriptor)
        delayReader = try PartitionReader(
            configuration.kafka, room: memory.otherQueues(of: counts), wakeUpFileDescriptor: delayWakeUp.fileDescriptor)
        planner = FanOutPlanner(configuration.planning)
        formatter = PayloadFormatter(configuration: configuration.formatting)
        repetitions = configuration.dedupe.map { RepetitionRules($0) }
        recorder = ResultRecorder(workerID: configuration.workerID, version: configuration.version)
        cycle = CommitCycle(configuration.commitTerms)
        membership = Membership(configuration.membershipTerms)
        details = ErrorDetails(configuration, poller: poller, tokenBase: LoopToken.details)
        deadLetters = DeadLetterRecorder(group: configuration.groupID, spellings: configuration.deadLetterHeaders)
        delayRecorder = DelayRecorder(group: configuration.groupID)
        committer = Committer(configuration, group: consumer.group, clock: clock, wakeUp: wakeUp)
        ports = HubPorts(routes: configuration.routes(since: services.clock.monotonic))
        for hub in configuration.hubs { try openPort(hub) }
    }

    /// Runs until the worker is asked to stop and everything is committed, or it cannot go on.
    func run() throws {
        committer.submit(.prepare)
        for port in ports { port.joinFleet(configuration, wakeUp: wakeUp) }
        while mode != .stopped {
            readClocks()
            health.noteTurn(at: now)
            try handleEvents()
            handleReplies()
            beginAnswered()
            watchCommitter()
            handleControl()
            handleKafka()
            everySecond()
            handleFleet()
            handleCompletions()
            if membership.joins(isWanted: ports.hasUseful) { try consumer.subscribe(configuration.topics.shared) }
            handleDetails()
            handleTimers()
            readControl()
            receiveHeld()
            startKeys()
            receiveRecords()
            examinePartitionsBehindCommit()
            receiveDelayed()
            readParents()
            sendPolls()
            sendCalls()
            startBufferedRecords()
            tickMembership()
            offerCommit()
            ports.endTurn(isCommitOverdue: isCommitOverdue, now: now)
        }
    }

    /// Ends what the loop has outside of its memory, in the order in which one part needs another: the committer has its last say to the
    /// group before the consumer leaves it. To be called once, when `run()` has returned or thrown.
    func close() {
        endStartProbing()
        committer.stop(within: .seconds(10))
        consumer.close(timeout: .seconds(5))
        // Before its descriptor is closed: the library would write to whatever has the number next, a connection of another loop.
        delayReader.stop()
        closePorts()
        details.close()
    }

    /// Does once a second what need not be done in each turn.
    private func everySecond() {
        metrics.everySecond(now) {
            expireWaitingCalls()
            expireWaitingPolls()
            noteReaderEvents()
            watchControl()
            measureLag()
            watchHeld()
            relieveWindows()
            watchReserves()
            ports.closeRetired()
            for (port, oldest) in zip(ports, oldestWaiting()) where !port.isRetired {
                port.noteLimits(oldestWaiting: seconds(since: oldest))
            }
            perform(membership.secondPassed(isBrokerDoubtful: health.isBrokerDoubtful, now: now))
            noteLeft()
            if !membership.mayOverlap(at: wallClock) { partitions.indices.forEach { partitions[$0].begun.overlapEnded() } }
            postStatus()
        }
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
        let events = try poller.wait(until: clock.systemTime(at: wakeTime()))
        readClocks()
        for index in events {
            let event = poller[index]
            switch event.token {
            case LoopToken.wakeUp: wakeUp.drain()
            case LoopToken.kafka: kafkaWakeUp.drain()
            case LoopToken.firstLane...LoopToken.lastLane: noteArrivals(inLane: Int(event.token - LoopToken.firstLane))
            case LoopToken.delayed:
                delayWakeUp.drain()
                for slot in delayedPartitions.slots { partitions[slot].mayHaveRecords = true }
                delayedPartitions.mayHaveRecords = true
                parents.noteArrivals()
                noteHeldArrivals()
                controlReading.mayHaveRecords = true
            case LoopToken.details..<LoopToken.wakeUp: details.handle(event)
            default:
                Failpoint.pass(.answerUnread)
                ports[Int(event.token >> 32)].connections.handle(event)
            }
        }
        for port in ports { port.connections.handleTimers(now) }
        details.handleTimers(now)
    }

    /// The moment when the loop must turn again, whatever happens.
    private func wakeTime() -> MonotonicTime {
        if canReceive && Lane.allCases.contains(where: { lanes[$0.rawValue].mayHaveRecords && hasRoom($0) }) { return now }
        if delayedPartitions.mayHaveRecords && canReceiveDelayed { return now }
        if controlReading.mayHaveRecords || parents.mayHaveRecords && canReadParents { return now }
        let portWake = ports.wakeTime(isCommitOverdue: isCommitOverdue, now: now)
        if portWake <= now { return now }
        let keyed = orderedMoment()
        if keyed <= now { return now }
        // Kafka wants to be polled several times a second, and health wants to see the loop turn.
        var wake = min(now + 200_000_000, portWake, keyed)
        if let due = timers.first { wake = min(wake, due) }
        if canReceiveDelayed { wake = min(wake, delayedPartitions.nextCheck) }
        wake = min(wake, cycle.wakeTime(waiting: outbox.records.count, isHurried: isReserveShort, now: now))
        if let timer = details.nextTimer { wake = min(wake, timer) }
        return wake
    }

    /// True if records may be read: not while more is finished than could be committed.
    var canReceive: Bool { hasRoomForOutcomes && flights.byteCount < memory.flights && canProceed }

    /// True if what was read may begin: not before it is known which requests are cancelled, and not while draining.
    ///
    /// Where results wait for all before them, what these wait for must begin however many there are.
    var canProceed: Bool {
        guard mode == .running, !partitions.isEmpty, membership.isProducerReady, !membership.isOpening,
            controlReading.allowsRequests
        else { return false }
        guard !isCommitOverdue, hasRoomForOutcomes || cycle.isInOrder else { return false }
        return flights.activeCount < Self.maximumFlights
    }

    /// True if there is room for more results.
    var hasRoomForOutcomes: Bool { outbox.records.count < Self.maximumUncommitted && outbox.byteCount < memory.outcomes }

    /// True if results cannot be recorded at present, as far as is known. Then nothing may be begun, because its calls would be
    /// made again if the worker died, or lost its partitions, before they are.
    var isCommitOverdue: Bool { membership.isDoubtful || cycle.isOverdue(now: now) }

    /// Requests in work at once, waiting for retries included: what bounds the loop's memory.
    static let maximumFlights = 65_536

    /// Finished records that may wait for the commit before them.
    static let maximumUncommitted = 16_384
}
