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
    }

    private let planner: FanOutPlanner
    private var client: HubClient
    private var formatter = PayloadFormatter()
    private let now: Timestamp
    private let isPlaceholder: Bool
    private var identifiers = RequestIdentifier()
    private var generator = SystemRandomNumberGenerator()

    /// A preview with the settings of a worker; a hub that is not set is replaced by names that say so.
    ///
    /// - Throws: A hub that is set, but wrong.
    init(_ settings: Settings, now: Int64) throws(CommandFailure) {
        self.now = Timestamp(milliseconds: now)
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
        var failure: RequestFault?
        do throws(RequestFault) {
            try planner.plan(request, into: &plan)
            for call in plan.calls { calls.append(try preview(call, plan, request)) }
        } catch {
            failure = error
        }
        return render(outgoing, calls, failure)
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

    private func render(_ outgoing: OutgoingRequest, _ calls: [CallPreview], _ failure: RequestFault?) -> Explained {
        var explained = Explained()
        var object = JSONObject()
        object.add("id", outgoing.id)
        var lines = [
            "\(outgoing.id.map { "request \($0)" } ?? "a request that gets its id when it is written"): \(calls.count) calls"
        ]
        if isPlaceholder && !calls.isEmpty { lines.append("(no hub is set; the address and policy below stand for yours)") }
        if let failure {
            let pointer = failure.pointer.isEmpty ? "" : Sanitised.line(failure.pointer) + ": "
            explained.fault = "\(failure.code.rawValue): \(pointer)\(failure.message)"
            lines = ["nothing would be sent: \(explained.fault ?? "")"]
            var error = JSONObject()
            error.add("code", failure.code.rawValue)
            error.add("pointer", failure.pointer)
            error.add("message", failure.message)
            object.add("error", raw: error.bytes)
        } else {
            object.add("calls", array: calls.map(\.json))
            for (index, call) in calls.enumerated() {
                lines += ["", "call \(index + 1) of \(calls.count): \(call.title)"] + call.lines
            }
        }
        explained.text = lines.joined(separator: "\n")
        explained.json = object.bytes
        return explained
    }
}
