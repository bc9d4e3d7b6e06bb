import EventLoop
import HubREST
import Observability
import PushModel

/// Calls the hub about devices, counts the calls, and notes how the hub is. Each method waits for its answer.
///
/// Usable from one thread at a time: that of its lane.
final class HubCaller {
    private let client: RegistrationClient
    private let watch: HubWatch
    private let services: GatewayServices

    /// Calls by a client of its own.
    init(_ client: RegistrationClient, _ watch: HubWatch, _ services: GatewayServices) {
        self.client = client
        self.watch = watch
        self.services = services
    }

    /// Makes one call.
    ///
    /// - Returns: What the hub says.
    /// - Throws: `RegistrationFailure`.
    func perform(_ call: RegistrationCall) throws(RegistrationFailure) -> RegistrationReply {
        try counted("\(call.name)") { () throws(RegistrationFailure) -> RegistrationReply in try client.perform(call) }
    }

    /// All registrations of one handle; several pages of them count as one call.
    ///
    /// - Parameters:
    ///   - handle: The handle as installations have it.
    ///   - platform: Its platform; nil looks on every platform.
    /// - Returns: The registrations, in the hub's order.
    /// - Throws: `RegistrationFailure`; nothing is told of half a list.
    func registrations(of handle: String, on platform: Platform?) throws(RegistrationFailure) -> [DeviceRegistration] {
        try counted("registration.list") { () throws(RegistrationFailure) -> [DeviceRegistration] in
            try client.registrations(of: handle, on: platform)
        }
    }

    private func counted<Value>(
        _ operation: String, _ call: () throws(RegistrationFailure) -> Value
    ) throws(RegistrationFailure) -> Value {
        let started = services.now()
        do throws(RegistrationFailure) {
            let value = try call()
            note(operation, since: started, nil)
            return value
        } catch {
            note(operation, since: started, error)
            throw error
        }
    }

    private func note(_ operation: String, since started: MonotonicTime, _ failure: RegistrationFailure?) {
        let code = failure.map { failure in failure.status.map { String($0) } ?? failure.code.rawValue } ?? "ok"
        services.metrics.hubCalls.series([operation, code]).increment()
        let taken = services.now().nanoseconds(since: started)
        services.metrics.hubCallDuration.series([operation]).observe(nanoseconds: taken)
        watch.note(failure)
    }
}
