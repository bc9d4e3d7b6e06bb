import Basics
import CallbackRecords
import CurlHTTP
import Delivery
import Kafka
import Observability
import ResultFeed
import Webhooks

/// All that the loop has of one receiver: its desk, its connections and its instruments. Belongs to the loop's thread.
///
/// Receivers share nothing but the loop's turns, so that one that hangs or is away holds up its own results alone.
final class ReceiverPort {
    /// The time between two readings of one that has reached the end, in nanoseconds. What comes meanwhile comes together.
    private static let readPause: Int64 = 10_000_000

    /// Its number, which no other port ever has.
    let number: Int
    let name: String
    let meter: ReceiverMeter
    var desk: ReceiverDesk
    private(set) var pool: ConnectionPool
    private(set) var choice: WantedRecords
    private let log: Log

    /// True while positions are asked for.
    var isLoading = false
    /// The moment before which positions are not asked for.
    var loadMoment = MonotonicTime.past
    /// True while a reading has not ended.
    private(set) var isReading = false
    /// The moment before which nothing is read.
    private(set) var readMoment = MonotonicTime.past
    /// The version of the desk at which a source had nothing more, with the news that were known then.
    private var ends: [(version: Int, newsCount: Int)?] = [nil, nil]
    /// The source that was read last.
    private var lastSource = CallbackSource.replays
    /// The decision of its own that others may not have heard of: it has answered 410.
    private(set) var ownState: ReceiverState?
    /// The moment of the last decision that was heeded.
    private var heededAt = Int64.min
    /// True if that is not written yet, nor being written.
    var mustNote = false
    /// Dead letters that could not be written.
    private var unwritten = UnwrittenLetters()
    /// The moment when the loop must look at it.
    var moment = MonotonicTime.past
    private var lastFailure: (words: String, at: Int64)?
    private var starts: [Int: MonotonicTime] = [:]
    /// Results behind its position, as of the last look.
    private var behind: Int64?

    init(
        _ number: Int, receiver: Receiver, connector: ReceiverConnector, meter: ReceiverMeter, log: Log, now: MonotonicTime
    ) throws(ConnectionPool.SetupFailure) {
        self.number = number
        self.meter = meter
        self.log = log
        name = receiver.name
        desk = ReceiverDesk(receiver, now: now)
        choice = WantedRecords(receiver)
        pool = try connector.pool(to: receiver, number: number)
    }

    /// Takes in new terms. Another address, other results that it wants, or other rules for connections, end the calls in flight, which are
    /// made again. Results that it does not want any more are done with.
    func change(
        to receiver: Receiver, of topic: String, connector: ReceiverConnector, isRenewed: Bool, now: MonotonicTime
    ) throws(ConnectionPool.SetupFailure) {
        let wantsOthers = !receiver.wantsTheSame(as: desk.receiver)
        if isRenewed || wantsOthers || receiver.url != desk.receiver.url {
            let next = try connector.pool(to: receiver, number: number)
            endCalls(now: now)
            pool = next
        }
        desk.change(to: receiver, now: now)
        choice = WantedRecords(receiver)
        if wantsOthers { desk.keep(of: topic) { choice.wants($0) } }
        moment = .past
    }

    /// Ends all calls and closes the connections. The calls are no attempts.
    func endCalls(now: MonotonicTime) {
        pool.close()
        while let completion = pool.nextCompletion() {
            starts[completion.id] = nil
            desk.takeBack(completion.id, now: now)
        }
    }

    /// Ends some calls, whose results are others' by now.
    func end(_ calls: [Int]) { for call in calls { pool.cancel(id: call) } }
}

// Decisions.
extension ReceiverPort {
    /// Takes in what was decided about it, unless its own last word is newer.
    func heed(_ state: ReceiverState?) {
        if let own = ownState {
            guard let state, state.at >= own.at else { return }
            ownState = nil
        }
        if let state { heededAt = state.at }
        let stop: ReceiverDesk.Stop? =
            state?.paused == true ? .paused : state?.disabledAt != nil ? .disabled : nil
        guard stop != desk.stop else { return }
        desk.set(stop)
        moment = .past
        log.info(
            .receiverChanged, "what was decided about a receiver has changed",
            [.receiver: .string(name), .state: .string(stop.map { "\($0)" } ?? "running")])
    }

    /// Notes that it answered 410: it gets nothing until it is resumed.
    private func disable(at time: Int64) {
        guard ownState == nil else { return }
        // The clock of whoever decided before may be ahead.
        let moment = max(time, heededAt &+ 1)
        ownState = ReceiverState(paused: false, disabledAt: time, reason: "it answered 410", by: nil, at: moment)
        mustNote = true
        log.error(
            .receiverChanged, "a receiver answered 410 and gets nothing until it is resumed",
            [.receiver: .string(name), .address: .string(desk.receiver.url.host)])
    }
}

// Readings.
extension ReceiverPort {
    /// Begins a reading if there is room for one and something may be there.
    func read(_ feeds: [any FeedSource], topics: CallbackTopics, inbox: CallbackInbox, now: MonotonicTime) {
        guard !isReading, now >= readMoment, let room = desk.room else { return }
        let order: [CallbackSource] = lastSource == .results ? [.replays, .results] : [.results, .replays]
        for source in order {
            let newsCount = inbox.newsCount(of: source)
            if let end = ends[source.rawValue], end == (desk.version, newsCount) { continue }
            let places = desk.places(of: topics.name(of: source))
            if places.offsets.isEmpty {
                ends[source.rawValue] = (desk.version, newsCount)
                continue
            }
            (isReading, lastSource) = (true, source)
            let (number, series, version, name, choice) = (number, desk.series, desk.version, name, choice)
            feeds[source.rawValue].read(
                from: places, onlyNamed: true, room: room,
                where: { record in source == .results ? choice.wants(record) : record.key == name },
                then: { result in
                    inbox.put(
                        .read(
                            number,
                            .init(source: source, series: series, version: version, newsCount: newsCount, result: result)))
                })
            return
        }
    }

    /// Takes in a reading.
    func take(_ reading: CallbackInbox.Reading, of topic: String, now: MonotonicTime) {
        isReading = false
        moment = .past
        switch reading.result {
        case .success(let found):
            desk.offer(found, of: topic, series: reading.series)
            guard found.isAtEnd, reading.series == desk.series else { return }
            ends[reading.source.rawValue] = (reading.version, reading.newsCount)
            readMoment = now + Self.readPause
        case .failure(.gone(let first)):
            guard reading.series == desk.series else { return }
            let lost = desk.skip(to: first, of: topic)
            if lost.isEmpty { readMoment = now + 1_000_000_000 }
            for (partition, count) in lost { noteLoss(of: count, in: partition) }
        case .failure(.unreachable), .failure(.closed):
            readMoment = now + 1_000_000_000
        case .failure(.full):
            readMoment = now + 250_000_000
        }
    }

    private func noteLoss(of count: Int64, in partition: TopicPartition) {
        meter.countLost(count)
        log.error(
            .resultsLost, "results are gone before a receiver got them",
            [
                .receiver: .string(name), .topic: .string(partition.topic), .partition: LogValue(partition.partition),
                .count: LogValue(count),
            ])
    }
}

// Calls.
extension ReceiverPort {
    /// Takes in the calls that have ended.
    func takeCompletions(now: MonotonicTime, at time: Int64) {
        while let completion = pool.nextCompletion() {
            moment = .past
            let start = starts.removeValue(forKey: completion.id) ?? now
            let answer: CallbackAnswer
            switch completion.outcome {
            case .answer(let received):
                answer = CallbackAnswer(received, at: time)
            case .failure(let failure):
                if failure.reason == .cancelled {
                    desk.takeBack(completion.id, now: now)
                    continue
                }
                answer = CallbackAnswer(failure)
            }
            end(completion.id, answer: answer, after: now - start, now: now, at: time)
        }
    }

    /// Begins the calls that may begin.
    func startCalls(_ calls: CallbackCall, now: MonotonicTime, at time: Int64) {
        while let call = desk.startCall(now: now, at: time) {
            starts[call.number] = now
            do {
                let request = try calls.request(for: call.record, to: desk.receiver, at: time)
                pool.submit(id: call.number, request: request, deadline: now + desk.receiver.timeout * 1_000_000)
            } catch {
                log.error(
                    .internalFault, "a call of a receiver could not be written",
                    [.receiver: .string(name), .requestID: .string(call.record.requestID), .reason: .string("\(error)")])
                starts[call.number] = nil
                end(call.number, answer: .failed(reason: "unwritten", mayHaveArrived: false), after: 0, now: now, at: time)
            }
        }
    }

    private func end(_ call: Int, answer: CallbackAnswer, after nanoseconds: Int64, now: MonotonicTime, at time: Int64) {
        let before = desk.limits.circuit.state
        let verdict = desk.end(call, answer: answer, now: now)
        meter.count(answer, after: nanoseconds)
        if verdict == .disabled { disable(at: time) }
        if verdict != .taken {
            lastFailure = (answer.text, time)
            log.debug(
                .retryScheduled, "a receiver did not take a result", [.receiver: .string(name), .reason: .string(answer.text)])
        }
        if case .wait(let milliseconds) = verdict {
            log.warning(
                .receiverChanged, "a receiver asked to wait; all calls of it do",
                [.receiver: .string(name), .delayMilliseconds: LogValue(milliseconds)])
        }
        let isClosed = desk.limits.circuit.state == .closed
        guard isClosed != (before == .closed) else { return }
        if isClosed {
            log.info(.circuitChanged, "a receiver takes results again", [.receiver: .string(name)])
        } else if before == .closed {
            log.warning(
                .circuitChanged, "a receiver is away; only probes are made",
                [.receiver: .string(name), .reason: .string(answer.text)])
        }
    }
}

// Dead letters.
extension ReceiverPort {
    /// The reason for which dead letters cannot be written, or nil.
    var letterProblem: String? { unwritten.problem }

    /// Notes that a dead letter is written, or for which reason not. Then it is written again.
    func noteBurial(of result: UntakenResult, problem: String?, now: MonotonicTime) {
        if let problem {
            unwritten.add(result, because: problem, now: now)
            return log.warning(
                .kafkaError, "a dead letter of a receiver could not be written and is written again",
                [
                    .receiver: .string(name), .requestID: .string(result.record.requestID), .reason: .string(problem),
                ])
        }
        unwritten.noteWritten(result.number)
        meter.countDeadLetter()
        log.warning(
            .deadLettered, "a receiver did not take a result, which became a dead letter",
            [
                .receiver: .string(name), .requestID: .string(result.record.requestID),
                .reason: .string(result.reason.rawValue), .attempt: LogValue(result.attempts),
            ])
        desk.noteWritten(result.number)
        moment = .past
    }

    /// Takes out the dead letters that must be written again now, but for those of results that are others' by now.
    func takeUnwritten(now: MonotonicTime) -> [UntakenResult] {
        unwritten.takeDue(now: now) { desk.records[$0] != nil }
    }
}

// Turns and standing.
extension ReceiverPort {
    /// The moment when the loop must look at it. `mayCall` if calls may begin at all.
    func nextMoment(mayCall: Bool, now: MonotonicTime) -> MonotonicTime {
        if pool.hasCompletions { return .past }
        var next = pool.nextTimer ?? .never
        guard mayCall else { return next }
        if let moment = desk.nextMoment(now: now) { next = min(next, moment) }
        if !isReading, readMoment > now { next = min(next, readMoment) }
        return next
    }

    /// Counts the results behind its position, by the end of each source. Where something lies there it reads once more: no news come of
    /// the marks of transactions, and its place is to stand behind them.
    func measureLag(to places: [FeedPlaces?], of topics: CallbackTopics) {
        for source in CallbackSource.allCases {
            guard let end = places[source.rawValue] else { continue }
            let next = desk.places(of: topics.name(of: source)).offsets
            guard next.contains(where: { $0.value < end.offsets[$0.key, default: 0] }) else { continue }
            ends[source.rawValue] = nil
            moment = .past
        }
        behind = places[CallbackSource.results.rawValue].map { desk.distance(to: $0, of: topics.results) }
    }

    /// Its standing.
    func status(now: MonotonicTime, at time: Int64) -> ReceiverStatus {
        ReceiverStatus(
            name: name, host: desk.receiver.url.host, state: desk.state(now: now), partitions: desk.partitionCount,
            inFlight: desk.inFlight, waiting: desk.records.retryCount,
            oldestMilliseconds: desk.records.oldest.map { max(0, time - $0) } ?? 0,
            behind: behind, lastFailure: lastFailure, calls: meter.calls)
    }
}

extension CallbackTopics {
    /// The name of the topic of a source.
    func name(of source: CallbackSource) -> String { source == .results ? results : replays }
}
