internal import FanOut
public import HubAuth
internal import HubREST
internal import Payloads
public import Publishing
public import PushModel

/// Plans and formats requests as a worker would, and makes no calls.
public struct RequestReporter: Sendable {
    private let worker: WorkerSketch
    private let topics: RequestTopics
    private let callMilliseconds: Int64
    private var trial: RequestTrial
    private var clients: [HubClient] = []
    private var formatter = PayloadFormatter()
    private var identifiers = RequestIdentifier()
    private var generator = SystemRandomNumberGenerator()

    /// A reporter on the calls that a worker would make of requests.
    ///
    /// - Parameters:
    ///   - worker: The worker.
    ///   - topics: The topics of requests.
    ///   - userAgent: The program's name and version, as calls have it.
    ///   - callMilliseconds: Milliseconds that the hub is thought to take for a call, default 100.
    /// - Throws: A token's life that is out of range.
    public init(
        _ worker: WorkerSketch, topics: RequestTopics, userAgent: String, callMilliseconds: Int64 = 100
    ) throws(HubAuthError) {
        self.worker = worker
        self.topics = topics
        self.callMilliseconds = callMilliseconds
        trial = RequestTrial(
            FanOutPlanner(worker.planning), routes: worker.routes, hubNames: worker.hubs.map(\.name), knowsHubs: worker.isWhole)
        for hub in worker.hubs { clients.append(try HubClient(hub.configuration, userAgent: userAgent)) }
    }

    /// Reports the calls that a request would become.
    ///
    /// - Parameters:
    ///   - outgoing: A request that was read without faults.
    ///   - reader: Reads it, with the headers of its record.
    ///   - now: The time at which it would be written.
    /// - Returns: The report.
    public mutating func report(
        on outgoing: OutgoingRequest, read reader: StrictReader, at now: Timestamp
    ) -> RequestReport {
        var request = PushRequest()
        let id = outgoing.id ?? identifiers.next(now: now.milliseconds, using: &generator)
        _ = reader.read(outgoing.json(withID: id), now: now, into: &request)
        return RequestReport(
            id: outgoing.id, lane: outgoing.priority.lane, topic: topics.name(for: outgoing.priority),
            recordKey: outgoing.recordKey, notBefore: request.notBefore, expiresAt: request.expiresAt,
            fate: fate(of: request, at: now))
    }

    private mutating func fate(of request: borrowing PushRequest, at now: Timestamp) -> RequestReport.Fate {
        if let finding = trial.findings(in: copy request, now: now).first { return .refused(finding.fault) }
        do throws(RequestFault) { return .sent(try sending(of: request, at: now)) } catch { return .refused(error) }
    }

    private mutating func sending(
        of request: borrowing PushRequest, at now: Timestamp
    ) throws(RequestFault) -> RequestReport.Sending {
        let route = try trial.route(of: request)
        let number = hubNumber(of: route)
        var plan = FanOutPlan()
        try trial.planner.plan(request, into: &plan)
        let isSample = trial.planner.isLarge(plan) || route != .hub(number)
        var calls: [CallPreview] = []
        // Of a large one the calls of the first piece are shown, one for each platform.
        for call in plan.calls where !isSample || call.chunk == 0 {
            calls.append(try preview(call, of: plan, for: request, to: number, at: now))
        }
        let estimate = estimate(of: plan, for: request, by: route, calls: calls, isSample: isSample)
        let spread: HubRoutes.Spread? = if case .parts(let spread) = route { worker.routes.spreads[spread] } else { nil }
        return RequestReport.Sending(
            hub: spread?.name ?? worker.hubs[number].name, hubs: spread?.hubs.hubs ?? [], estimate: estimate, calls: calls,
            notes: notes(on: estimate, for: worker.hubs[number], spread: spread))
    }

    private func estimate(
        of plan: borrowing FanOutPlan, for request: borrowing PushRequest, by route: HubRoutes.Route, calls: [CallPreview],
        isSample: Bool
    ) -> PlanEstimate {
        let hub = worker.hubs[hubNumber(of: route)]
        let limits = PlanEstimate.Limits(
            callsAtOnce: hub.callsAtOnce, callMilliseconds: callMilliseconds, callsPerSecond: hub.callsPerSecond)
        var estimate = PlanEstimate(limits, mayReachTwice: plan.mayReachTwice)
        switch route {
        case .parts(let number):
            let parts = trial.planner.parts(of: plan, for: request, over: worker.routes.spreads[number].hubs)
            // They differ by their tags alone.
            for _ in 0..<parts.callCount { estimate.add(callOf: calls.first?.byteCount ?? 0) }
            estimate.divide(into: parts.count)
        case .hub where isSample:
            for call in plan.calls {
                estimate.add(callOf: calls.first { $0.platform == call.platform }?.byteCount ?? 0)
            }
            estimate.divide(into: trial.planner.expansion(of: plan, for: request).count)
        case .hub: for call in calls { estimate.add(callOf: call.byteCount) }
        }
        return estimate
    }

    /// The hub whose calls are shown.
    private func hubNumber(of route: HubRoutes.Route) -> Int {
        switch route {
        case .hub(let number): number
        case .parts(let spread): worker.routes.spreads[spread].numbers[0]
        }
    }

    private mutating func preview(
        _ call: FanOutPlan.Call, of plan: borrowing FanOutPlan, for request: borrowing PushRequest, to hub: Int,
        at now: Timestamp
    ) throws(RequestFault) -> CallPreview {
        var payload = RenderedPayload()
        do throws(PayloadError) {
            if let platform = call.platform {
                try formatter.format(copy request, for: platform, now: now, into: &payload)
            } else {
                try formatter.formatTemplate(copy request, now: now, into: &payload)
            }
        } catch {
            throw RequestFault(error.code, at: error.pointer, message: error.sentence)
        }
        var bytes = ByteWriter()
        do throws(HubAuthError) {
            _ = try clients[hub].write(call, of: plan, for: request, with: payload, now: now.milliseconds / 1000, into: &bytes)
        } catch {
            throw RequestFault(.internal, at: "", message: "The token cannot be signed: \(error)")
        }
        return CallPreview(call, request: bytes.bytes, payload: payload)
    }

    private func notes(
        on estimate: PlanEstimate, for hub: WorkerSketch.Hub, spread: HubRoutes.Spread?
    ) -> [String] {
        var notes: [String] = []
        if let spread {
            notes.append("it goes to \(spread.name), which are the hubs \(spread.hubs.hubs.joined(separator: ", "))")
        } else if worker.hubs.count > 1 {
            notes.append("it goes to the hub \(hub.name ?? "")\(hub.region.map { " in \($0)" } ?? "")")
        }
        if estimate.partCount > 1 {
            notes.append(
                "it is sent in \(estimate.partCount) parts, as requests of their own in the lane for what goes to many; its result comes "
                    + "with the last of them; shown is the first call of each platform")
        }
        if estimate.mayReachTwice { notes.append("a device that is in several parts of the audience rings once for each") }
        if hub.isStandIn { notes.append("no hub is set; the address and policy stand for yours") }
        return notes
    }
}

extension PushRequest.Priority {
    fileprivate var lane: String {
        switch self {
        case .high: "high"
        case .normal: "normal"
        case .low: "bulk"
        }
    }
}
