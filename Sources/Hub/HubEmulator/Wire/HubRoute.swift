import Basics
import HTTPServing
import HubAuth

/// One operation of the hub's data plane, read from method and path.
enum HubOperation: Sendable, Equatable {
    case send
    case sendBatch
    case schedule
    case cancelSchedule(id: String)
    case telemetry(id: String)
    case feedbackContainer
    case createRegistrationID
    case createRegistration
    case listRegistrations
    case listByTag(String)
    case putRegistration(id: String)
    case getRegistration(id: String)
    case deleteRegistration(id: String)
    case putInstallation(id: String)
    case getInstallation(id: String)
    case patchInstallation(id: String)
    case deleteInstallation(id: String)
    case submitJob
    case listJobs
    case getJob(id: String)

    /// True if it sends a notification, now or later.
    var isSend: Bool {
        switch self {
        case .send, .sendBatch, .schedule: true
        default: false
        }
    }

    /// True for a request for something that never existed, by which workers, gateways and `doctor` probe the hub.
    var isProbe: Bool {
        switch self {
        case .telemetry(let id): id.hasSuffix("-pushfan-question")
        case .getInstallation(let id): id == "pushfan-gateway-readiness"
        default: false
        }
    }

    var name: StaticString {
        if isProbe { return "probe" }
        return switch self {
        case .send: "send"
        case .sendBatch: "send.batch"
        case .schedule: "schedule"
        case .cancelSchedule: "schedule.cancel"
        case .telemetry: "telemetry"
        case .feedbackContainer: "feedback"
        case .createRegistrationID: "registration.id"
        case .createRegistration: "registration.create"
        case .listRegistrations: "registration.list"
        case .listByTag: "registration.tag"
        case .putRegistration: "registration.put"
        case .getRegistration: "registration.get"
        case .deleteRegistration: "registration.delete"
        case .putInstallation: "installation.put"
        case .getInstallation: "installation.get"
        case .patchInstallation: "installation.patch"
        case .deleteInstallation: "installation.delete"
        case .submitJob: "job.submit"
        case .listJobs: "job.list"
        case .getJob: "job.get"
        }
    }

    /// The rights of which a policy needs one ("Notification Hubs security"). Installations are not in its table, and are treated
    /// like single registrations. Telemetry and feedback are not either, and are treated like sends that a manager may do too.
    func rights(hasFilter: Bool) -> SASRights {
        switch self {
        case .send, .sendBatch, .schedule, .cancelSchedule: .send
        case .telemetry, .feedbackContainer: [.send, .manage]
        case .listByTag, .submitJob, .listJobs, .getJob: .manage
        case .listRegistrations: hasFilter ? [.listen, .manage] : .manage
        default: [.listen, .manage]
        }
    }
}

/// The destination of a call.
enum HubRoute: Sendable, Equatable {
    case operation(HubOperation)
    /// The path exists, the method does not. `allowed` is the value of `Allow`.
    case methodNotAllowed(allowed: String)
    /// There is such a hub, but nothing at this path.
    case unknown
    /// The path belongs to another hub, or to none.
    case otherHub

    /// Finds the route. Paths are compared without regard to case, one trailing slash does not count, and every segment is
    /// decoded by itself.
    init(method: String, rawPath: Substring, hubName: String) {
        var segments = rawPath.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
            .map { PercentEncoding.decoded(String(Substring($0))) }
        if segments.last == "" { segments.removeLast() }
        guard let first = segments.first, first.equalsIgnoringCase(hubName) else {
            self = .otherHub
            return
        }
        guard let operations = Self.operations(at: Array(segments.dropFirst())) else {
            self = .unknown
            return
        }
        self =
            operations.first { $0.key == method }.map { .operation($0.value) }
            ?? .methodNotAllowed(allowed: operations.map(\.key).joined(separator: ", "))
    }

    /// The operations of a path by their methods, or `nil` for a path that a hub does not have.
    private static func operations(at path: [String]) -> KeyValuePairs<String, HubOperation>? {
        guard let collection = path.first?.lowercased() else { return nil }
        let id = path.count > 1 ? path[1] : ""
        switch (collection, path.count) {
        case ("messages", 1): return ["POST": .send]
        case ("messages", 2) where id.equalsIgnoringCase("$batch"): return ["POST": .sendBatch]
        case ("messages", 2): return ["GET": .telemetry(id: id)]
        case ("feedbackcontainer", 1): return ["GET": .feedbackContainer]
        case ("schedulednotifications", 1): return ["POST": .schedule]
        case ("schedulednotifications", 2): return ["DELETE": .cancelSchedule(id: id)]
        case ("jobs", 1): return ["POST": .submitJob, "GET": .listJobs]
        case ("jobs", 2): return ["GET": .getJob(id: id)]
        case ("registrationids", 1): return ["POST": .createRegistrationID]
        case ("registrations", 1): return ["POST": .createRegistration, "GET": .listRegistrations]
        case ("registrations", 2):
            return ["PUT": .putRegistration(id: id), "GET": .getRegistration(id: id), "DELETE": .deleteRegistration(id: id)]
        case ("tags", 3) where path[2].equalsIgnoringCase("registrations"): return ["GET": .listByTag(id)]
        case ("installations", 2) where !id.isEmpty:
            return [
                "PUT": .putInstallation(id: id), "GET": .getInstallation(id: id), "PATCH": .patchInstallation(id: id),
                "DELETE": .deleteInstallation(id: id),
            ]
        default: return nil
        }
    }
}
