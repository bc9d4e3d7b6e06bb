import HTTPServing
import PushModel
import Synchronization

extension EmulatedHub {
    /// Answers a request for the emulator itself.
    func administer(_ route: AdminRoute, for request: HTTPServerRequest) -> HTTPServerResponse {
        switch route {
        case .live:
            return .text("ok\n")
        case .methodNotAllowed(let allowed):
            return HTTPServerResponse(status: 405, headers: ["Allow": allowed])
        case .devices:
            let found = devices(handle: request.queryValue("handle"), tag: request.queryValue("tag"))
            return Self.json(ReportWriter.json(devices: found))
        case .resetRings:
            state.withLock { $0.devices.reset() }
            return HTTPServerResponse(status: 204)
        case .calls:
            return listCalls(request)
        case .resetCalls:
            state.withLock { $0.calls.reset() }
            return HTTPServerResponse(status: 204)
        case .faults:
            return Self.json(ReportWriter.json(faults: state.withLock { $0.faults.entries }))
        case .clearFaults:
            state.withLock { $0.faults = FaultScript() }
            return HTTPServerResponse(status: 204)
        case .setFaults, .addFaults:
            return armFaults(request, replacing: route == .setFaults)
        case .telemetry:
            return Self.json(ReportWriter.json(telemetry: state.withLock { $0.plan.entries }))
        case .clearTelemetry:
            state.withLock { $0.plan = TelemetryPlan() }
            return HTTPServerResponse(status: 204)
        case .setTelemetry, .addTelemetry:
            return scriptTelemetry(request, replacing: route == .setTelemetry)
        case .blob:
            return blob(request)
        case .storage(let path):
            return storage(request, path: path)
        case .setFeedback(let name), .addFeedback(let name):
            putFeedback(name, bytes: request.body, isAppended: route == .addFeedback(name: name))
            return HTTPServerResponse(status: 204)
        }
    }

    private func listCalls(_ request: HTTPServerRequest) -> HTTPServerResponse {
        let after = request.queryValue("after").map { Int($0) } ?? 0
        let limit = request.queryValue("limit").map { Int($0) } ?? .max
        guard let after, let limit, limit >= 0 else {
            return .text("'after' and 'limit' must be whole numbers\n", status: 400)
        }
        var response = Self.json(ReportWriter.json(calls: calls(after: after, limit: limit)))
        response.headers.append("X-Total-Count", value: String(state.withLock { $0.calls.count }))
        return response
    }

    private func armFaults(_ request: HTTPServerRequest, replacing: Bool) -> HTTPServerResponse {
        guard let lines = Self.lines(of: request) else { return Self.notJSON }
        var faults: [Fault] = []
        for line in lines {
            do { faults.append(try Fault(parsing: line)) } catch { return .text("\(error)\n", status: 400) }
        }
        arm(faults, replacing: replacing)
        return Self.json(ReportWriter.json(faults: state.withLock { $0.faults.entries }))
    }

    private func scriptTelemetry(_ request: HTTPServerRequest, replacing: Bool) -> HTTPServerResponse {
        guard let lines = Self.lines(of: request) else { return Self.notJSON }
        var scripts: [TelemetryScript] = []
        for line in lines {
            do { scripts.append(try TelemetryScript(parsing: line)) } catch { return .text("\(error)\n", status: 400) }
        }
        script(scripts, replacing: replacing)
        return Self.json(ReportWriter.json(telemetry: state.withLock { $0.plan.entries }))
    }

    /// The lines of a script, from lines of text or a JSON array of strings, or `nil` for a broken array.
    private static func lines(of request: HTTPServerRequest) -> [String]? {
        var lines: [String] = []
        if request.body.first(where: { $0 > 0x20 }) == UInt8(ascii: "[") {
            var document = JSONDocument()
            guard (try? document.read(request.body.span)) != nil else { return nil }
            document.forEachElement(of: document.root) { lines.append(document.string(document.text(of: $0))) }
        } else {
            lines = String(decoding: request.body, as: UTF8.self).split(whereSeparator: \.isNewline).map { $0.trimmingBlanks }
        }
        return lines.filter { !$0.isEmpty }
    }

    private static var notJSON: HTTPServerResponse { .text("the body is not valid JSON\n", status: 400) }

    private static func json(_ body: [UInt8]) -> HTTPServerResponse {
        HTTPServerResponse(status: 200, headers: ["Content-Type": "application/json; charset=utf-8"], body: body)
    }
}
