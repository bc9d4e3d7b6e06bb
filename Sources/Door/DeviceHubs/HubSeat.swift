import EventLoop
package import GatewayAPI
import HubREST

/// One hub of a gateway: how it is called, by which keys and at which pace, and how it is.
package final class HubSeat: Sendable {
    /// The name, as requests have it.
    package let name: String
    package let watch: HubWatch
    let pacer: HubPacer
    let memory: DeviceMemory
    private let hub: GatewayConfiguration.Hub
    private let keys: HubKeys
    private let userAgent: String

    /// Makes a seat. Nothing is called.
    package init(_ hub: GatewayConfiguration.Hub, version: String, watch: HubWatch, pacer: HubPacer, memory: DeviceMemory) {
        (self.hub, self.watch, self.pacer, self.memory) = (hub, watch, pacer, memory)
        name = hub.name
        keys = HubKeys(hub.configuration)
        userAgent = "pushfan/\(version)"
    }

    /// Has clients sign with other keys of the hub from now on.
    func renewKeys(by new: HubConfiguration) -> HubKeys.Renewal { keys.renew(by: new) }

    /// A client of the hub that keeps the pace. It fails for settings that cannot work, or without a descriptor.
    func makeClient() throws -> RegistrationClient {
        try RegistrationClient(
            hub.configuration, connections: hub.connections, userAgent: userAgent, timeout: hub.timeout, keys: keys,
            now: { WallClock.millisecondsSince1970() },
            waitForTurn: { [pacer] () throws(RegistrationFailure) in try pacer.waitForTurn() })
    }
}
