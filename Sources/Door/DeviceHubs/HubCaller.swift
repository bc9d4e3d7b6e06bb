import Basics
import EventLoop
package import GatewayAPI
package import HubREST
import Observability
package import Outcomes
package import PushModel

/// Calls the hub about devices and notifications, counts the calls, and notes how the hub is. Each method waits for its answer.
///
/// Usable from one thread at a time: that of its lane.
package final class HubCaller {
    /// How long all telemetry polls for one send may take.
    private static let telemetryLimit = Duration.seconds(5)

    private let client: RegistrationClient
    private let watch: HubWatch
    private let services: GatewayServices

    /// Calls by a client of its own.
    package init(_ client: RegistrationClient, watch: HubWatch, services: GatewayServices) {
        self.client = client
        self.watch = watch
        self.services = services
    }

    /// Makes one call, and returns what the hub says.
    package func perform(_ call: RegistrationCall) throws(RegistrationFailure) -> RegistrationReply {
        try counted("\(call.name)") { () throws(RegistrationFailure) -> RegistrationReply in try client.perform(call) }
    }

    /// All registrations of one handle, in the hub's order. Several pages of them count as one call, and half a list is never
    /// returned. Without a platform it looks on all.
    package func registrations(of handle: String, on platform: Platform?) throws(RegistrationFailure) -> [DeviceRegistration] {
        try counted("registration.list") { () throws(RegistrationFailure) -> [DeviceRegistration] in
            try client.registrations(of: handle, on: platform)
        }
    }

    /// What the hub tells of notifications, within a few seconds for all of them together; one that is missing was not told of.
    package func telemetry(of ids: [String]) -> [String: NotificationTelemetry] {
        let deadline = MonotonicTime.now().advanced(by: Self.telemetryLimit)
        var told: [String: NotificationTelemetry] = [:]
        for id in ids {
            let left = Duration.nanoseconds(deadline.nanoseconds(since: .now()))
            guard left > .zero else { break }
            do throws(RegistrationFailure) {
                // A hub below the Standard tier, or a policy without Send, refuses it; that does not keep anybody from registering.
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
            if isWatched { watch.note(nil) }
            return value
        } catch {
            count(operation, since: started, failure: error)
            if isWatched { watch.note(error) }
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
