import FanOut
import HubAuth
import HubREST
import Observability
import Payloads
import PushModel
import Settings

/// Plans and formats requests as a worker would, and calls nobody.
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

    private let planner: FanOutPlanner
    private var client: HubClient
    private var formatter = PayloadFormatter()
    private let now: Timestamp
    private let isPlaceholder: Bool
    private let limits: PlanEstimate.Limits
    private var identifiers = RequestIdentifier()
    private var generator = SystemRandomNumberGenerator()

    /// A preview with the settings of a worker; a hub that is not set is replaced by names that say so.
    ///
    /// - Parameters:
    ///   - settings: Those of the worker.
    ///   - callTime: How long the hub is thought to take for a call.
    ///   - now: Milliseconds since 1970.
    /// - Throws: A hub that is set, but wrong.
    init(_ settings: Settings, callTime: Duration, now: Int64) throws(CommandFailure) {
        self.now = Timestamp(milliseconds: now)
        limits = PlanEstimate.Limits(
            callsAtOnce: settings.worker.maxInFlightOfAll, callTime: callTime, callsPerSecond: settings.hub.rateLimit)
        planner = FanOutPlanner(settings.planning())
        isPlaceholder = settings.hub.connectionString == nil
        do throws(HubAuthError) {
            let configuration = try Self.hub(settings)
            client = try HubClient(configuration, userAgent: "pushfan/\(Program.version)")
        } catch {
            throw CommandFailure(.configuration, "the hub's settings: \(error)")
        }
    }

    /// No call is made, so where no connection string is set, any key will do.
    private static func hub(_ settings: Settings) throws(HubAuthError) -> HubConfiguration {
        let text =
            settings.hub.connectionString?.secret
            ?? "Endpoint=https://namespace.servicebus.windows.net/;SharedAccessKeyName=policy;SharedAccessKey=none"
        let connection = try ConnectionString(parsing: text)
        var configuration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName(settings.hub.name ?? "hub"), credential: connection.credential)
        configuration.apiVersion = settings.hub.apiVersion
        configuration.tokenLifetime = settings.hub.tokenLifetime
        return configuration
    }

    /// Plans and formats a request that was checked.
    mutating func explain(_ outgoing: OutgoingRequest) -> Explained {
        var request = PushRequest()
        let origin = RecordOrigin(topic: "input", partition: 0, offset: 0, timestamp: now)
        let id = outgoing.id ?? identifiers.next(now: now.milliseconds, using: &generator)
        let json = outgoing.json(withID: id)
        _ = RequestReader(.strict).read(
            json.span, headers: PushModel.RecordHeaders(), origin: origin, into: &request)
        var plan = FanOutPlan()
        var calls: [CallPreview] = []
        var estimate = PlanEstimate(limits)
        do throws(RequestFault) {
            try planner.plan(request, into: &plan)
            for call in plan.calls { calls.append(try preview(call, plan, request)) }
        } catch {
            return refused(outgoing, error)
        }
        for call in calls { estimate.add(callOf: call.byteCount) }
        if plan.mayReachTwice { estimate.noteOverlap() }
        return render(outgoing, calls, estimate)
    }

    private mutating func preview(
        _ call: FanOutPlan.Call, _ plan: borrowing FanOutPlan, _ request: borrowing PushRequest
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
            _ = try client.write(call, of: plan, for: request, payload, now: now.milliseconds / 1000, into: &bytes)
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
            text: "nothing would be sent: \(fault)", json: object.bytes, fault: fault, estimate: PlanEstimate(limits))
    }

    private func render(_ outgoing: OutgoingRequest, _ calls: [CallPreview], _ estimate: PlanEstimate) -> Explained {
        let name = outgoing.id.map { "request \($0)" } ?? "a request that gets its id when it is written"
        var lines = ["\(name): \(estimate.text)"]
        if estimate.mayReachTwice { lines.append("(a device that is in several parts of the audience rings once for each)") }
        if isPlaceholder { lines.append("(no hub is set; the address and policy below stand for yours)") }
        for (index, call) in calls.enumerated() {
            lines += ["", "call \(index + 1) of \(calls.count): \(call.title)"] + call.lines
        }
        var object = JSONObject()
        object.add("id", outgoing.id)
        object.add("plan", raw: estimate.json)
        object.add("calls", array: calls.map(\.json))
        return Explained(text: lines.joined(separator: "\n"), json: object.bytes, fault: nil, estimate: estimate)
    }
}
