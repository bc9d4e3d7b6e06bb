import Basics
package import HTTPServing
package import HubAuth

/// One operation of the hub's data plane.
package struct HubOperation: Sendable {
    /// The name in the records.
    package let name: StaticString
    /// The rights of which a policy needs one ("Notification Hubs security"). Installations are not in its table, and are treated
    /// like single registrations. Telemetry and feedback are not either, and are treated like sends that a manager may do too.
    package let rights: SASRights
    /// The tiers that include it.
    package var tiers = HubTier.allCases
    /// True if it sends a notification, now or later.
    package var isSend = false
    package let perform: @Sendable (HubServer, HubCall) -> HubReply
}

/// The destination of a call.
package enum HubRoute: Sendable {
    case operation(HubOperation)
    /// The path exists, the method does not. `allowed` is the value of `Allow`.
    case methodNotAllowed(allowed: String)
    /// There is such a hub, but nothing at this path.
    case unknown
    /// The path belongs to another hub, or to none.
    case otherHub

    /// Finds the route. Paths are compared without regard to case, one trailing slash does not count, and every segment is
    /// decoded by itself.
    package init(of request: HTTPServerRequest, hubName: String) {
        var segments = request.rawPath.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
            .map { PercentEncoding.decoded(String(Substring($0))) }
        if segments.last == "" { segments.removeLast() }
        guard let first = segments.first, first.equalsIgnoringCase(hubName) else {
            self = .otherHub
            return
        }
        guard let operations = Self.operations(at: Array(segments.dropFirst()), for: request) else {
            self = .unknown
            return
        }
        self =
            operations.first { $0.key == request.method }.map { .operation($0.value) }
            ?? .methodNotAllowed(allowed: operations.map(\.key).joined(separator: ", "))
    }

    /// The operations of a path by their methods, or `nil` for a path that a hub does not have. A probe is a request for something
    /// that never existed, by which workers, gateways and `doctor` probe the hub.
    private static func operations(
        at path: [String], for request: HTTPServerRequest
    ) -> KeyValuePairs<String, HubOperation>? {
        guard let collection = path.first?.lowercased() else { return nil }
        let id = path.count > 1 ? path[1] : ""
        let ofDevices: SASRights = [.listen, .manage]
        switch (collection, path.count) {
        case ("messages", 1): return ["POST": .init(name: "send", rights: .send, isSend: true) { $0.send($1) }]
        case ("messages", 2) where id.equalsIgnoringCase("$batch"):
            return [
                "POST": .init(name: "send.batch", rights: .send, tiers: [.basic, .standard], isSend: true) { $0.sendBatch($1) }
            ]
        case ("messages", 2):
            let name: StaticString = id.hasSuffix("-pushfan-question") ? "probe" : "telemetry"
            return [
                "GET": .init(name: name, rights: [.send, .manage], tiers: [.standard]) { $0.telemetry($1, id: id) }
            ]
        case ("feedbackcontainer", 1):
            return ["GET": .init(name: "feedback", rights: [.send, .manage], tiers: [.standard]) { $0.feedbackContainer($1) }]
        case ("schedulednotifications", 1):
            return ["POST": .init(name: "schedule", rights: .send, tiers: [.standard], isSend: true) { $0.schedule($1) }]
        case ("schedulednotifications", 2):
            return [
                "DELETE": .init(name: "schedule.cancel", rights: .send, tiers: [.standard]) { $0.cancelSchedule($1, id: id) }
            ]
        case ("jobs", 1):
            return [
                "POST": .init(name: "job.submit", rights: .manage, tiers: [.standard]) { $0.submitJob($1) },
                "GET": .init(name: "job.list", rights: .manage, tiers: [.standard]) { $0.listJobs($1) },
            ]
        case ("jobs", 2): return ["GET": .init(name: "job.get", rights: .manage, tiers: [.standard]) { $0.getJob($1, id: id) }]
        case ("registrationids", 1):
            return ["POST": .init(name: "registration.id", rights: ofDevices) { $0.createRegistrationID($1) }]
        case ("registrations", 1):
            let ofList: SASRights = request.queryValue("$filter") == nil ? .manage : ofDevices
            return [
                "POST": .init(name: "registration.create", rights: ofDevices) { $0.createRegistration($1) },
                "GET": .init(name: "registration.list", rights: ofList) { $0.listRegistrations($1) },
            ]
        case ("registrations", 2):
            return [
                "PUT": .init(name: "registration.put", rights: ofDevices) { $0.putRegistration($1, id: id) },
                "GET": .init(name: "registration.get", rights: ofDevices) { $0.getRegistration($1, id: id) },
                "DELETE": .init(name: "registration.delete", rights: ofDevices) { $0.deleteRegistration($1, id: id) },
            ]
        case ("tags", 3) where path[2].equalsIgnoringCase("registrations"):
            return [
                "GET": .init(name: "registration.tag", rights: .manage, tiers: [.standard]) {
                    $0.listRegistrations($1, tagged: id)
                }
            ]
        case ("installations", 2) where !id.isEmpty:
            let name: StaticString = id == "pushfan-gateway-readiness" ? "probe" : "installation.get"
            return [
                "PUT": .init(name: "installation.put", rights: ofDevices) { $0.putInstallation($1, id: id) },
                "GET": .init(name: name, rights: ofDevices) { $0.getInstallation($1, id: id) },
                "PATCH": .init(name: "installation.patch", rights: ofDevices) { $0.patchInstallation($1, id: id) },
                "DELETE": .init(name: "installation.delete", rights: ofDevices) { hub, _ in hub.deleteInstallation(id: id) },
            ]
        default: return nil
        }
    }
}
