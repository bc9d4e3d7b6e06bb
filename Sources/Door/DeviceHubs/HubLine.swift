import Basics
import EventLoop
import GatewayAPI
import HubREST
import Observability
import Outcomes
import PushModel

/// The calls of one thread to one hub. It counts them, and notes how the hub is. Each method waits for its answer.
final class HubLine {
    /// The time that all telemetry polls for one send may take.
    private static let telemetryLimit = Duration.seconds(5)

    private let client: RegistrationClient
    private let seat: HubSeat
    private let services: GatewayServices
    /// True if answers go by what was written in the last minute, which the hub may not show yet.
    var goesByMemory = false
    /// The installations that the hub has shown to this work, by their ids, with a nil inside for nothing.
    private var shown: [String: Installation?] = [:]

    /// Makes a client of its own.
    init(_ seat: HubSeat, services: GatewayServices) throws {
        client = try seat.makeClient()
        (self.seat, self.services) = (seat, services)
    }

    /// Begins a piece of work.
    func begin() { shown = [:] }

    func perform(_ call: RegistrationCall) throws(RegistrationFailure) -> RegistrationReply {
        switch call {
        case .getInstallation(let id):
            let found = try read(id)
            let known = goesByMemory ? seat.memory.installation(id, at: seat.name, showing: found) : found
            return known.map { .installation($0) } ?? .absent
        case .deleteInstallation(let id):
            // One that cannot be read is removed all the same.
            if shown[id] == nil { _ = try? read(id) }
            let reply = try ask(call)
            seat.memory.note(call, at: seat.name, over: shown[id])
            return reply
        case .putInstallation(let installation):
            let reply = try ask(call)
            seat.memory.note(call, at: seat.name, over: shown[installation.id])
            return reply
        case .patchInstallation(let id, _):
            do throws(RegistrationFailure) {
                return try ask(call)
            } catch {
                if error.cause == .absent { seat.memory.forget(id, at: seat.name) }
                throw error
            }
        case .listRegistrations, .listTagged, .deleteRegistration: return try ask(call)
        }
    }

    private func ask(_ call: RegistrationCall) throws(RegistrationFailure) -> RegistrationReply {
        var isWatched = true
        // A policy without Manage is refused it, and can do all else.
        if case .listTagged = call { isWatched = false }
        return try counted("\(call.name)", isWatched: isWatched) { () throws(RegistrationFailure) -> RegistrationReply in
            try client.perform(call)
        }
    }

    /// The installation that the hub shows under an id, or nil for none.
    private func read(_ id: String) throws(RegistrationFailure) -> Installation? {
        var found: Installation?
        if case .installation(let installation) = try ask(.getInstallation(id: id)) { found = installation }
        shown.updateValue(found, forKey: id)
        return found
    }

    /// Remembers what the hub has of a device that was changed in part.
    func keep(_ installation: Installation) {
        seat.memory.keep(
            installation, as: installation.id, at: seat.name, over: shown[installation.id], isChange: true)
    }

    /// The installations that got a handle before this one did, by this gateway.
    func rivals(of id: String, handle: String, on platform: Platform) -> [DeviceRegistration] {
        seat.memory.rivals(of: id, handle: handle, on: platform, at: seat.name)
    }

    func registrations(of handle: String, on platform: Platform?) throws(RegistrationFailure) -> [DeviceRegistration] {
        let list = try counted("registration.list") { () throws(RegistrationFailure) -> [DeviceRegistration] in
            try client.registrations(of: handle, on: platform)
        }
        guard goesByMemory, let platform else { return list }
        for id in list.compactMap(\.installationID) where shown[id] == nil && seat.memory.knows(id, at: seat.name) {
            // Another gateway may have given it the handle since.
            _ = try perform(.getInstallation(id: id))
        }
        return seat.memory.corrected(list, of: handle, on: platform, at: seat.name)
    }

    func telemetry(of ids: [String]) -> [String: NotificationTelemetry] {
        let deadline = MonotonicTime.now().advanced(by: Self.telemetryLimit)
        var told: [String: NotificationTelemetry] = [:]
        for id in ids {
            let left = Duration.nanoseconds(deadline.nanoseconds(since: .now()))
            guard left > .zero else { break }
            do throws(RegistrationFailure) {
                // A hub below the Standard tier, or a policy without Send, refuses it, and takes registrations all the same.
                told[id] = try counted("telemetry.get", isWatched: false) {
                    () throws(RegistrationFailure) -> NotificationTelemetry? in
                    try client.telemetry(of: id, within: left)
                }
            } catch {
                services.log.info(
                    .outcomesUnavailable, "the hub does not tell of a notification", [.reason: .string(error.description)])
            }
        }
        return told
    }

    private func counted<Value>(
        _ operation: String, isWatched: Bool = true, by call: () throws(RegistrationFailure) -> Value
    ) throws(RegistrationFailure) -> Value {
        let started = services.now()
        do throws(RegistrationFailure) {
            let value = try call()
            count(operation, since: started, failure: nil)
            if isWatched { seat.watch.note(nil) }
            return value
        } catch {
            count(operation, since: started, failure: error)
            seat.pacer.note(error)
            if isWatched { seat.watch.note(error) }
            throw error
        }
    }

    private func count(_ operation: String, since started: MonotonicTime, failure: RegistrationFailure?) {
        let code = failure.map { failure in failure.status.map { String($0) } ?? failure.code.rawValue } ?? "ok"
        services.metrics.hubCalls.series([operation, code]).increment()
        let taken = services.now().nanoseconds(since: started)
        services.metrics.hubCallDuration.series([operation]).observe(nanoseconds: taken)
    }
}
