import Delivery
import FanOut
import HubAuth
import HubREST
import Intake
import Observability
import Payloads
import Publishing
import PushModel
import Settings

/// Plans and formats requests as a worker would, and makes no calls.
struct RequestPreview {
    /// What one request would become.
    struct Explained {
        /// For a person.
        var text = ""
        /// The same as a JSON object.
        var json: [UInt8] = []
        /// Why nothing would be sent.
        var fault: String?
        /// What its calls cost.
        var estimate: PlanEstimate
    }

    private let reader: StrictReader
    private var trial: RequestTrial
    private let routes: HubRoutes
    /// The hubs, by number.
    private let hubs: [HubSettings]
    private var clients: [HubClient] = []
    private var formatter = PayloadFormatter()
    private let now: Timestamp
    private let callTime: Duration
    private let loops: Int
    private var identifiers = RequestIdentifier()
    private var generator = SystemRandomNumberGenerator()

    /// A preview with the settings of a worker; a hub that is not set is replaced by names that say so.
    ///
    /// - Parameters:
    ///   - settings: Those of the worker.
    ///   - callTime: How long the hub is thought to take for a call.
    ///   - now: Milliseconds since 1970.
    ///   - reader: Reads the requests.
    /// - Throws: A hub that is set, but wrong.
    init(
        _ settings: Settings, callTime: Duration, now: Int64, reader: StrictReader = StrictReader()
    ) throws(CommandFailure) {
        self.reader = reader
        self.now = Timestamp(milliseconds: now)
        self.callTime = callTime
        loops = settings.worker.loops
        trial = RequestTrial(settings)
        routes = settings.routes
        hubs = settings.allHubs
        do throws(HubAuthError) {
            for hub in hubs {
                clients.append(try HubClient(try Self.configuration(of: hub), userAgent: "pushfan/\(Program.version)"))
            }
        } catch {
            throw CommandFailure(.configuration, "the hub's settings: \(error)")
        }
    }

    /// No call is made, so where no connection string is set, any key will do.
    private static func configuration(of hub: HubSettings) throws(HubAuthError) -> HubConfiguration {
        let text =
            hub.connectionString?.secret
            ?? "Endpoint=https://namespace.servicebus.windows.net/;SharedAccessKeyName=policy;SharedAccessKey=none"
        let connection = try ConnectionString(parsing: text)
        var configuration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName(hub.name ?? "hub"), credential: connection.credential)
        configuration.apiVersion = hub.apiVersion
        configuration.tokenLifetime = hub.tokenLifetime
        return configuration
    }

    private var planner: FanOutPlanner { trial.planner }

    /// The hubs that requests of a name, or of a tenant, are divided among.
    ///
    /// - Parameter request: Only what it says of hub and tenant matters.
    /// - Returns: The hubs; nil when there is one.
    func spread(of request: borrowing PushRequest) -> HubSpread? {
        guard let route = try? routes.router.route(of: request, tenant: RequestTrial.tenant(of: request)),
            case .spread(let number) = route, routes.spreads[number].numbers.count > 1
        else { return nil }
        return routes.spreads[number].hubs
    }

    private func limits(of hub: Int) -> PlanEstimate.Limits {
        PlanEstimate.Limits(
            callsAtOnce: loops * hubs[hub].maxInFlight, callTime: callTime, callsPerSecond: hubs[hub].rateLimit)
    }

    /// Plans and formats a request that was checked.
    mutating func explain(_ outgoing: OutgoingRequest) -> Explained {
        var request = PushRequest()
        let id = outgoing.id ?? identifiers.next(now: now.milliseconds, using: &generator)
        let json = outgoing.json(withID: id)
        _ = reader.read(json, now: now, into: &request)
        if let finding = trial.findings(in: request, now: now).first { return refused(outgoing, finding.fault) }
        var plan = FanOutPlan()
        var calls: [CallPreview] = []
        var way = HubRoutes.Way.hub(0)
        var isSample = false
        do throws(RequestFault) {
            way = try trial.way(of: request)
            try planner.plan(request, into: &plan)
            isSample = planner.isLarge(plan) || way != .hub(number(of: way))
            // Of a large one the calls of the first piece are shown, one for each platform.
            for call in plan.calls where !isSample || call.chunk == 0 {
                calls.append(try preview(call, plan, request, to: number(of: way)))
            }
        } catch {
            return refused(outgoing, error)
        }
        var estimate = PlanEstimate(limits(of: number(of: way)))
        if plan.mayReachTwice { estimate.noteOverlap() }
        switch way {
        case .parts(let number):
            let parts = planner.parts(of: plan, request, over: routes.spreads[number].hubs)
            // They differ by their tags alone.
            for _ in 0..<parts.callCount { estimate.add(callOf: calls.first?.byteCount ?? 0) }
            estimate.divide(into: parts.count)
        case .hub where isSample:
            for call in plan.calls { estimate.add(callOf: calls.first { $0.isFor(call.platform) }?.byteCount ?? 0) }
            estimate.divide(into: planner.expansion(of: plan, request).count)
        case .hub: for call in calls { estimate.add(callOf: call.byteCount) }
        }
        return render(outgoing, calls, estimate, way)
    }

    /// The hub whose calls are shown.
    private func number(of way: HubRoutes.Way) -> Int {
        switch way {
        case .hub(let number): number
        case .parts(let spread): routes.spreads[spread].numbers[0]
        }
    }

    private mutating func preview(
        _ call: FanOutPlan.Call, _ plan: borrowing FanOutPlan, _ request: borrowing PushRequest, to hub: Int
    ) throws(RequestFault) -> CallPreview {
        var payload = RenderedPayload()
        do throws(PayloadError) {
            if let platform = call.platform {
                try formatter.format(copy request, for: platform, now: now, into: &payload)
            } else {
                try formatter.formatTemplate(copy request, now: now, into: &payload)
            }
        } catch {
            throw RequestFault(error.code, error.pointer, error.sentence)
        }
        var bytes = ByteWriter()
        do throws(HubAuthError) {
            _ = try clients[hub].write(call, of: plan, for: request, payload, now: now.milliseconds / 1000, into: &bytes)
        } catch {
            throw RequestFault(.internal, "", "The token cannot be signed: \(error)")
        }
        return CallPreview(call, request: bytes.bytes, payload)
    }

    private func refused(_ outgoing: OutgoingRequest, _ failure: RequestFault) -> Explained {
        let pointer = failure.pointer.isEmpty ? "" : Sanitised.line(failure.pointer) + ": "
        let fault = "\(failure.code.rawValue): \(pointer)\(failure.message)"
        var error = JSONObject()
        error.add("code", failure.code.rawValue)
        error.add("pointer", failure.pointer)
        error.add("message", failure.message)
        var object = JSONObject()
        object.add("id", outgoing.id)
        object.add("error", raw: error.bytes)
        return Explained(
            text: "nothing would be sent: \(fault)", json: object.bytes, fault: fault, estimate: PlanEstimate(limits(of: 0)))
    }

    private func render(
        _ outgoing: OutgoingRequest, _ calls: [CallPreview], _ estimate: PlanEstimate, _ way: HubRoutes.Way
    ) -> Explained {
        let name = outgoing.id.map { "request \($0)" } ?? "a request that gets its id when it is written"
        let hub = hubs[number(of: way)]
        var lines = ["\(name): \(estimate.text)"]
        if hubs.count > 1 { lines.append(text(of: way)) }
        if estimate.partCount > 1 {
            lines.append(
                "(it is sent in \(estimate.partCount) parts, as requests of their own in the lane for what goes to many; its result comes"
            )
            lines.append(" with the last of them. Shown is the first call of each platform)")
        }
        if estimate.mayReachTwice { lines.append("(a device that is in several parts of the audience rings once for each)") }
        if hub.connectionString == nil {
            lines.append("(no hub is set; the address and policy below stand for yours)")
        }
        for (index, call) in calls.enumerated() {
            lines += ["", "call \(index + 1) of \(estimate.callCount): \(call.title)"] + call.lines
        }
        var object = JSONObject()
        object.add("id", outgoing.id)
        switch way {
        case .hub: object.add("hub", hub.routeName)
        case .parts(let spread):
            object.add("hub", routes.spreads[spread].name)
            object.add("hubs", texts: routes.spreads[spread].hubs.hubs)
        }
        object.add("plan", raw: estimate.json)
        object.add("calls", array: calls.map(\.json))
        return Explained(text: lines.joined(separator: "\n"), json: object.bytes, fault: nil, estimate: estimate)
    }

    /// One line that says which hub it goes to.
    private func text(of way: HubRoutes.Way) -> String {
        switch way {
        case .hub(let number):
            let region = hubs[number].region.map { " in \($0)" } ?? ""
            return "(it goes to the hub \(hubs[number].routeName ?? "")\(region))"
        case .parts(let number):
            let spread = routes.spreads[number]
            return "(it goes to \(spread.name), which are the hubs \(spread.hubs.hubs.joined(separator: ", ")))"
        }
    }
}
