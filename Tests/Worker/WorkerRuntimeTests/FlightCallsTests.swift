import Basics
import CurlHTTP
import Delivery
import EventLoop
import HTTP1
import HubAuth
import HubREST
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The life of a request's calls, as its flight and the hub's port have it.
struct FlightCallsTests {
    /// Two hubs that nothing is sent to.
    private struct Stage {
        private let poller: Poller
        let ports: [HubPort]
        var generator = QuickRandom()

        init() throws {
            let poller = try Poller()
            let metrics = PushfanMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
            let workerMetrics = WorkerMetrics(metrics, gauges: LoopGauges(metrics, topics: Topics(), loops: 1), loop: 0)
            let health = WorkerHealth(Health(), log: .silent, now: 0)
            var generator = QuickRandom()
            ports = try (0..<2).map { number in
                let connection = try ConnectionString(
                    parsing: "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=CANARYkey")
                let hub = HubConfiguration(
                    endpoint: connection.endpoint, hub: try HubName("hub\(number)"), credential: connection.credential)
                let connections = ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: 1)
                let configuration = WorkerConfiguration(
                    workerID: "w", version: "test", kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), hub: hub,
                    connections: connections)
                return try HubPort(
                    number, settings: .init(hub, connections: connections), of: configuration, poller: poller, now: 0,
                    metrics: workerMetrics.ofHub("hub\(number)", isRateLimited: false), health: health.newHub(),
                    generator: &generator)
            }
            self.poller = poller
        }

        mutating func abandonCalls(of flight: Flight) {
            ports[flight.route.port].abandonCalls(of: flight, now: 0, using: &generator, log: .silent)
        }
    }

    /// A large request, before it ends or is divided as a whole.
    @Test func aRequestThatWaitedCountsAsReadFirstAndADryRunAsReadNow() {
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 7, timestamp: Timestamp(milliseconds: 0))
        var report = DeliveryReport()
        report.consumedAt = Timestamp(milliseconds: 1000)
        let delayed = DelayedRecord(
            due: Timestamp(milliseconds: 2000), lane: .normal, origin: origin, history: DeliveryHistory(plan: 0, calls: []),
            report: report, text: ByteWriter(), recheckTime: Timestamp(milliseconds: 2000))
        let flight = Flight(index: 0)
        for isDryRun in [true, false] {
            flight.begin(epoch: 0, slot: 0, origin: origin, now: Timestamp(milliseconds: 5000), monotonic: 0)
            flight.load(delayed, at: 9)
            flight.request.options.dryRun = isDryRun
            flight.restoreReception()
            #expect(flight.report.consumedAt.milliseconds == (isDryRun ? 5000 : 1000))
        }
    }

    /// A flight of a request with calls to the first hub.
    private func begin(_ flight: Flight, callCount: Int) {
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 7, timestamp: Timestamp(milliseconds: 0))
        flight.begin(epoch: 0, slot: 0, origin: origin, now: Timestamp(milliseconds: 0), monotonic: 0)
        flight.work.calls = (0..<callCount).map { _ in Flight.Call() }
        flight.report.calls = (0..<callCount).map { _ in DeliveryReport.Call(platform: .apple) }
        flight.work.openCalls = callCount
    }

    private func flight(callCount: Int) -> Flight {
        let flight = Flight(index: 0)
        begin(flight, callCount: callCount)
        return flight
    }

    // MARK: - Phases

    @Test func aCallThatChangesItsPhaseChangesTheCountOfThoseThatWait() {
        for before in [Flight.Phase.ready, .inFlight, .waiting, .done] {
            for (after, isWaiting) in [(Flight.Phase.ready, 0), (.inFlight, 0), (.waiting, 1), (.done, 0)] {
                var call = Flight.Call()
                _ = call.enter(before)
                #expect(call.enter(after) == isWaiting - (before == .waiting ? 1 : 0), "\(before) to \(after)")
                #expect(call.phase == after)
            }
        }
    }

    @Test func aPortCountsTheCallsThatWaitForATimer() throws {
        let stage = try Stage()
        let (port, other) = (stage.ports[0], stage.ports[1])
        let flight = flight(callCount: 3)
        port.wait(flight, call: 0, until: 50, notBefore: nil)
        port.begin(flight, call: 1, token: 4, now: 10, at: Timestamp(milliseconds: 20))
        port.wait(flight, call: 1, until: 60, notBefore: Timestamp(milliseconds: 70))
        #expect(flight.work.calls.map(\.phase) == [.waiting, .waiting, .ready] && port.waitingForRetry == 2)
        #expect(flight.work.calls[1].due == 60 && flight.work.calls[1].notBefore == Timestamp(milliseconds: 70))
        // The next step of a long wait.
        port.wait(flight, call: 1, until: 90, notBefore: nil)
        #expect(port.waitingForRetry == 2)
        port.handOver(flight, to: other)
        flight.route.lead(to: .init(port: other.number))
        #expect(port.waitingForRetry == 0 && other.waitingForRetry == 2 && flight.route.port == 1)
        other.handOver(flight, to: other)
        other.makeReady(flight, call: 0)
        other.end(flight, call: 2, as: .permanent)
        #expect(other.waitingForRetry == 1 && flight.work.openCalls == 2 && flight.report.calls[2].outcome == .permanent)
        other.endWaits(of: flight)
        #expect(flight.work.calls.map(\.phase) == [.ready, .ready, .done] && other.waitingForRetry == 0)
    }

    @Test(arguments: 1...20)
    func noSequenceMakesTheCountsOfPortsWrong(seed: Int) throws {
        var stage = try Stage()
        var random = SeededRandom(seed)
        var pool = FlightPool()
        let flights = (0..<4).map { _ in pool.take() }
        for flight in flights { begin(flight, callCount: 3) }
        for step in 0..<2000 {
            let flight = flights[Int.random(in: 0..<4, using: &random)]
            change(flight, at: MonotonicTime(nanoseconds: Int64(step)), on: &stage, in: &pool, using: &random)
            for port in stage.ports {
                let waiting = flights.reduce(0) {
                    $0 + ($1.route.port == port.number ? $1.work.calls.count { $0.phase == .waiting } : 0)
                }
                try #require(port.waitingForRetry == waiting, "step \(step)")
            }
            let inFlight = flights.reduce(0) { $0 + $1.work.calls.count { $0.phase == .inFlight } }
            try #require(stage.ports.reduce(0) { $0 + $1.limits.inFlight } == inFlight, "step \(step)")
            try #require(flight.work.openCalls == flight.work.calls.count { $0.phase != .done }, "step \(step)")
        }
    }

    /// Does one thing that may happen to a request, or to one of its calls.
    private func change(
        _ flight: Flight, at now: MonotonicTime, on stage: inout Stage, in pool: inout FlightPool,
        using random: inout SeededRandom
    ) {
        let port = stage.ports[flight.route.port]
        if !flight.work.hasCallInFlight {
            if Int.random(in: 0..<4, using: &random) == 0 {
                let other = stage.ports[1 - flight.route.port]
                port.handOver(flight, to: other)
                flight.route.lead(to: .init(port: other.number))
                return
            }
            if flight.work.openCalls == 0 || Int.random(in: 0..<20, using: &random) == 0 {
                stage.abandonCalls(of: flight)
                return begin(flight, callCount: 3)
            }
        }
        let index = Int.random(in: 0..<3, using: &random)
        let phase = flight.work.calls[index].phase
        guard phase != .done else { return }
        if phase == .inFlight { port.limits.noteEnd(startedAt: flight.work.calls[index].startedAt) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: port.wait(flight, call: index, until: now, notBefore: nil)
        case 1: port.end(flight, call: index, as: .success)
        case 2 where phase == .ready: port.begin(flight, call: index, token: 0, now: now, at: Timestamp(milliseconds: 0))
        default: port.makeReady(flight, call: index)
        }
    }

    @Test func aCallIsFoundInItsPhaseUntilItsRequestIsGivenUp() {
        var pool = FlightPool()
        let flight = pool.take()
        begin(flight, callCount: 2)
        func entry(call: Int) -> WaitingCall {
            WaitingCall(flight: flight.index, call: call, generation: flight.generation)
        }
        _ = flight.work.calls[1].enter(.waiting)
        let entries = [entry(call: 0), entry(call: 1)]
        #expect(pool.flight(of: entries[0], in: .ready) === flight && pool.flight(of: entries[0], in: .waiting) == nil)
        #expect(pool.flight(of: entries[1], in: .waiting) === flight && pool.flight(of: entries[1], in: .ready) == nil)
        #expect(pool.flight(ofPoll: entries[0]) == nil, "it holds no poll")
        pool.release(flight)
        #expect(pool.flight(of: entries[0], in: .ready) == nil)
        _ = pool.take()
        begin(flight, callCount: 2)
        #expect(pool.flight(of: entries[0], in: .ready) == nil, "the next request has another generation")
        #expect(pool.flight(of: entry(call: 0), in: .ready) === flight)
    }

    // MARK: - Attempts

    @Test func anAttemptIsTakenDownFromItsStartToItsEnd() throws {
        let stage = try Stage()
        let port = stage.ports[0]
        let flight = flight(callCount: 2)
        #expect(!flight.work.wasSent && !flight.mustFinish)
        port.begin(flight, call: 1, token: 9, now: 5_000_000, at: Timestamp(milliseconds: 100))
        #expect(flight.work.wasSent && flight.report.firstAttemptAt == Timestamp(milliseconds: 100))
        #expect(flight.work.calls[1].phase == .inFlight && flight.work.calls[1].tokenSerial == 9 && port.limits.inFlight == 1)
        let attempt = flight.endAttempt(atCall: 1, verdict: CallVerdict(of: lost), now: 8_000_000)
        #expect(attempt.number == 1 && attempt.call == 1 && attempt.duration == 3 && attempt.code == .hubUnavailable)
        #expect(attempt.startedAt == Timestamp(milliseconds: 100) && flight.report.calls[1].code == .hubUnavailable)
        port.begin(flight, call: 1, token: 9, now: 9_000_000, at: Timestamp(milliseconds: 200))
        #expect(flight.work.calls[1].attempt == 2 && flight.work.calls[0].attempt == 0)
        #expect(flight.report.firstAttemptAt == Timestamp(milliseconds: 100), "the first one stays")
    }

    private let lost = CallResult.answered(status: 503, hasRetryAfter: false, detail: .none)

    @Test func theCircuitBreakerHearsOfTheEndOfAnAttemptOnce() throws {
        let stage = try Stage()
        let flight = flight(callCount: 1)
        #expect(flight.work.calls[0].takeCircuitCall() == nil)
        stage.ports[0].begin(flight, call: 0, token: 0, now: 0, at: Timestamp(milliseconds: 0))
        #expect(flight.work.calls[0].takeCircuitCall() != nil)
        #expect(flight.work.calls[0].takeCircuitCall() == nil)
    }

    /// The verdicts on attempts of one call, and whether its result is then this worker's to write.
    @Test(
        arguments: [
            ([.answered(status: 503, hasRetryAfter: false, detail: .none)], false),
            ([.failed(curlCode: 56, isAnswerInvalid: false, bodySent: true)], true),
            (
                [
                    .failed(curlCode: 56, isAnswerInvalid: false, bodySent: true),
                    .answered(status: 503, hasRetryAfter: false, detail: .none),
                ], true
            ),
            ([.failed(curlCode: 7, isAnswerInvalid: false, bodySent: false)], false),
        ] as [([CallResult], Bool)])
    func aDeviceMayHaveHeardOfARequestAfterAnAttemptWithoutAnswer(results: [CallResult], isOurs: Bool) throws {
        let stage = try Stage()
        let flight = flight(callCount: 1)
        for result in results {
            stage.ports[0].begin(flight, call: 0, token: 0, now: 0, at: Timestamp(milliseconds: 0))
            _ = flight.endAttempt(atCall: 0, verdict: CallVerdict(of: result), now: 1)
        }
        #expect(flight.work.calls[0].mayHaveArrived == isOurs && flight.mustFinish == isOurs)
    }

    @Test(arguments: Outcome.allCases)
    func aDeviceMayHaveHeardOfARequestAfterASuccess(outcome: Outcome) throws {
        let stage = try Stage()
        let flight = flight(callCount: 2)
        stage.ports[0].end(flight, call: 0, as: outcome)
        #expect(!flight.mustFinish, "nothing was sent since its record was read")
        stage.ports[0].begin(flight, call: 1, token: 0, now: 0, at: Timestamp(milliseconds: 0))
        #expect(flight.mustFinish == (outcome == .success || outcome == .ambiguous))
    }

    @Test func anAnswerReplacesWhatAnEarlierAttemptLeft() throws {
        let flight = flight(callCount: 1)
        func text(_ text: DeliveryReport.Text?) -> String? {
            text.map { text in
                let report = flight.report
                let span = report.span(text)
                return String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
            }
        }
        func note(_ status: String, fields: String = "", body: String = "") throws {
            var parser = AnswerParser()
            let head = "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
            #expect(try parser.feed(Array((head + body).utf8).span))
            flight.noteAnswer(HubAnswer(parser.answer, toSend: true, now: 0), toCall: 0, text: parser.answer)
        }
        let refusal = "<Error><Code>429</Code><Detail>Slow</Detail></Error>"
        try note("429 Slow", fields: "Retry-After: 2\r\nTrackingId: t-1\r\n", body: refusal)
        #expect(flight.report.calls[0].httpStatus == 429 && flight.report.calls[0].retryAfter == 2000)
        #expect(text(flight.report.calls[0].detail) == "Slow" && text(flight.report.calls[0].trackingID) == "t-1")
        try note("201 Created", fields: "Location: https://c/h/messages/8-2\r\n")
        #expect(flight.report.calls[0].httpStatus == 201 && flight.report.calls[0].retryAfter == nil)
        #expect(flight.report.calls[0].detail == nil && text(flight.report.calls[0].notificationID) == "8-2")
        #expect(text(flight.report.calls[0].trackingID) == "t-1", "an answer without one says nothing of it")
        try note("200 OK", fields: "Content-Type: text/html\r\n", body: "<html></html>")
        #expect(text(flight.report.calls[0].detail)?.hasPrefix("the answer is no hub's") ?? false)
        flight.noteFailure(ofCall: 0, detail: "no route")
        #expect(flight.report.calls[0].httpStatus == 0 && text(flight.report.calls[0].detail) == "no route")
    }

    // MARK: - From a record, and to another hub

    private let history = DeliveryHistory(
        plan: 1, calls: [.init(mayHaveArrived: true, due: Timestamp(milliseconds: 50)), .init()])

    @Test func callsGoOnWhereARecordSaysThatTheyWere() {
        let flight = flight(callCount: 2)
        flight.report.calls[0].attemptCount = 3
        flight.resume(after: history)
        #expect(flight.work.calls.map(\.phase) == [.ready, .done] && flight.work.openCalls == 1)
        #expect(flight.work.calls[0].attempt == 3 && flight.work.calls[0].mayHaveArrived)
        #expect(flight.work.calls[0].notBefore == Timestamp(milliseconds: 50) && flight.work.calls[1].notBefore == nil)
        #expect(!flight.mustFinish, "its record says what was sent")
    }

    /// One call is done and another waits: the next owner makes the one that waits, and tells both.
    @Test(arguments: [false, true])
    func aHistoryCarriesCallsThatAreDone(isInDoubt: Bool) throws {
        let stage = try Stage()
        let former = flight(callCount: 2)
        for (call, result) in [CallResult.answered(status: 201, hasRetryAfter: false, detail: .none), lost].enumerated() {
            stage.ports[0].begin(former, call: call, token: 0, now: 1_000_000, at: Timestamp(milliseconds: 100))
            former.report.add(former.endAttempt(atCall: call, verdict: CallVerdict(of: result), now: 3_000_000))
        }
        former.report.calls[0].notificationID = former.report.keep(Array("8-2".utf8).span)
        stage.ports[0].end(former, call: 0, as: .success)
        stage.ports[0].wait(former, call: 1, until: 9_000_000, notBefore: nil)
        #expect(DrainGate.next(former.drainFacts.union(.isCommittable)) == .handOver)
        let text = former.history(isInDoubt: isInDoubt, now: 5_000_000, at: Timestamp(milliseconds: 104))
        var report = DeliveryReport()
        let history = try DeliveryHistory(text.span, into: &report)
        let due = Timestamp(milliseconds: 108)
        let record = DelayedRecord(
            due: due, lane: .normal, origin: former.place.origin, history: history, report: report, text: text, recheckTime: due)
        let next = flight(callCount: 2)
        #expect(next.restore(from: record))
        #expect(
            next.work.calls.map(\.phase) == [.done, .ready] && next.work.openCalls == 1 && next.work.calls[1].notBefore == due)
        #expect(next.work.calls.map(\.attempt) == [1, 1] && next.work.calls.map(\.mayHaveArrived) == [isInDoubt, isInDoubt])
        #expect(next.report.calls.map(\.outcome) == [.success, nil] && next.report.attempts.map(\.call) == [0, 1])
        #expect(String(decoding: text.bytes, as: UTF8.self).contains(#""outcome":"success","notification":"8-2"}"#))
        #expect(DrainGate.next(next.drainFacts.union(.isCommittable)) == .forget, "its record tells all until a call is made")
        #expect(next.history(isInDoubt: false, now: 6_000_000, at: Timestamp(milliseconds: 105)).bytes == text.bytes)
    }

    @Test func theCallsOfARecordReplaceThosePlannedNow() {
        let flight = flight(callCount: 3)
        var report = DeliveryReport()
        report.calls = [.init(platform: .fcmv1), .init(platform: nil)]
        report.calls[0].attemptCount = 2
        flight.replaceCalls(by: history, report: report)
        #expect(
            flight.work.calls.map(\.phase) == [.ready, .done] && flight.work.calls.map(\.attempt) == [2, 0]
                && flight.work.openCalls == 1)
        #expect(flight.report.calls.map(\.platform) == [.fcmv1, nil])
    }

    @Test(
        arguments: [(nil, nil, true), (.unknown, nil, false), (.unnamed, nil, false), (nil, 0, false), (.unknown, 0, false)]
            as [(HubRouter.Fault?, Int?, Bool)])
    func plannedCallsCanBeMadeAtOneHubOnly(fault: HubRouter.Fault?, spread: Int?, isPossible: Bool) throws {
        let stage = try Stage()
        let flight = flight(callCount: 1)
        flight.route.fault = fault
        flight.route.spread = spread
        #expect(flight.route.joinQueue(of: stage.ports[1].queue(of: flight)) == isPossible)
        #expect(flight.route.spread == nil && flight.route.fault == fault)
    }
}
