import HTTPServing
import HubServer
import Synchronization

/// The emulator's own paths. None is part of a hub.
extension EmulatedHub {
    /// The beginning of the paths of the storage account behind links.
    static let blobPath = "/blobs/"
    private static let collections = ["devices", "calls", "faults", "telemetry", "blobs", "feedback", "storage", "livez"]

    /// True if a hub of this name could not be distinguished from the emulator's own paths.
    static func isReserved(_ name: String) -> Bool { collections.contains(name.lowercased()) }

    /// Answers a request for the emulator itself. Returns `nil` for one for the hub.
    func administer(_ request: HTTPServerRequest) -> HTTPServerResponse? {
        guard let methods = methods(for: request) else { return nil }
        let found = methods.first { $0.key == request.method || ($0.key == "GET" && request.method == "HEAD") }
        if let found { return found.value() }
        let allowed = methods.map { $0.key == "GET" ? "GET, HEAD" : $0.key }.joined(separator: ", ")
        return HTTPServerResponse(status: 405, headers: ["Allow": allowed])
    }

    /// The methods of the path of a request, with their answers, or `nil` for a path that is not the emulator's own.
    private func methods(for request: HTTPServerRequest) -> KeyValuePairs<String, () -> HTTPServerResponse>? {
        var path = request.path[...]
        if path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        switch path {
        case "/devices": return ["GET": { self.listDevices(request) }]
        case "/devices/rung": return ["DELETE": { self.change { $0.devices.reset() } }]
        case "/calls": return ["GET": { self.listCalls(request) }, "DELETE": { self.change { $0.calls.reset() } }]
        case "/faults":
            return [
                "GET": { self.messages.state.withLock { $0.faults.list } }, "PUT": { self.armFaults(request) },
                "POST": { self.armFaults(request) },
                "DELETE": { self.change { $0.faults = FaultScript() } },
            ]
        case "/telemetry":
            return [
                "GET": { self.listTelemetry() }, "PUT": { self.scriptTelemetry(request, replacing: true) },
                "POST": { self.scriptTelemetry(request, replacing: false) },
                "DELETE": { self.change { $0.plan = TelemetryPlan() } },
            ]
        case "/livez": return ["GET": { .text("ok\n") }]
        case _ where path.hasPrefix("/feedback/") && path != "/feedback/":
            let name = String(path.dropFirst("/feedback/".count))
            return [
                "PUT": { self.putFeedback(name, in: request, isAppended: false) },
                "POST": { self.putFeedback(name, in: request, isAppended: true) },
            ]
        case _ where path.hasPrefix(JobStorage.path):
            let answer = { self.hub.storage(request, path: String(path.dropFirst(JobStorage.path.count))) }
            return ["GET": answer, "PUT": answer, "DELETE": answer]
        case _ where path.hasPrefix(Self.blobPath): return ["GET": { self.hub.blob(request, now: self.clock()) }]
        default: return nil
        }
    }

    private func change(_ change: (inout HubState) -> Void) -> HTTPServerResponse {
        messages.state.withLock { change(&$0) }
        return HTTPServerResponse(status: 204)
    }

    private func putFeedback(_ name: String, in request: HTTPServerRequest, isAppended: Bool) -> HTTPServerResponse {
        putFeedback(name, bytes: request.body, isAppended: isAppended)
        return HTTPServerResponse(status: 204)
    }

    /// Puts a blob of any content into the feedback container, in place of one with that name, or adds to one that is there.
    public func putFeedback(_ name: String, bytes: [UInt8], isAppended: Bool = false) {
        let now = clock()
        messages.state.withLock { $0.scriptedFeedback.put(name, bytes: bytes, isAppended: isAppended, at: now) }
    }

    private func listDevices(_ request: HTTPServerRequest) -> HTTPServerResponse {
        ListPage.answer(
            to: request, reading: DeviceCursor.init, or: "'after' must be what a link to the next page has"
        ) { cursor, limit in
            let (page, next, count) = devicePage(
                handle: request.queryValue("handle"), tag: request.queryValue("tag"), from: cursor ?? .start, limit: limit)
            return ListPage(body: ReportWriter.json(devices: page), next: next?.text, count: count)
        }
    }

    private func armFaults(_ request: HTTPServerRequest) -> HTTPServerResponse {
        FaultScript.armed(by: request) { faults in messages.state.withLock { $0.faults.arm(faults, for: request) } }
    }

    private func listTelemetry() -> HTTPServerResponse {
        .json(ReportWriter.json(telemetry: messages.state.withLock { $0.plan.entries }))
    }

    private func listCalls(_ request: HTTPServerRequest) -> HTTPServerResponse {
        ListPage.answer(to: request, reading: { Int($0) }, or: "'after' must be a whole number") { after, limit in
            let (found, count) = messages.state.withLock { ($0.calls.page(after: after ?? 0, limit: limit), $0.calls.count) }
            return ListPage(body: ReportWriter.json(calls: found.page), next: found.next.map(String.init), count: count)
        }
    }

    private func scriptTelemetry(_ request: HTTPServerRequest, replacing: Bool) -> HTTPServerResponse {
        guard let lines = request.scriptLines else { return .notJSON }
        do { script(try lines.map { try TelemetryScript(parsing: $0) }, replacing: replacing) } catch {
            return .text("\(error)\n", status: 400)
        }
        return listTelemetry()
    }
}
