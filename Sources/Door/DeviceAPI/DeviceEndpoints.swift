package import DeviceHubs
package import FanOut
import GatewayAPI

/// Answers calls about devices: a value decides, and its calls are made on a lane of the hub.
package struct DeviceEndpoints: Sendable {
    let users: UserTags
    let rules: TagRules
    let hubs: DeviceHubs

    package init(users: UserTags, rules: TagRules, hubs: DeviceHubs) {
        (self.users, self.rules, self.hubs) = (users, rules, hubs)
    }

    /// Answers a call, now or later. Waits for nothing.
    package func answer(_ call: DeviceCall) { call.reply.answer(APIProblem.notFound) }
}
