package import GatewayAPI
package import HTTPServing

/// A call about devices whose caller has signed in.
package struct DeviceCall: Sendable {
    /// Whoever calls.
    package enum Origin: Sendable {
        /// A back end, for the devices of any user.
        case backEnd(KeyHolder)
        /// A user, for devices of its own.
        case user(Caller)
    }

    package let operation: APIOperation.Device
    /// The parameters of its path, decoded: an installation or a user, and perhaps a tag.
    package let parameters: [String]
    let request: HTTPServerRequest
    let origin: Origin
    /// Takes the answer.
    package let reply: Reply

    package init(
        _ operation: APIOperation.Device, at parameters: [String], request: HTTPServerRequest, by origin: Origin, reply: Reply
    ) {
        (self.operation, self.parameters, self.request) = (operation, parameters, request)
        (self.origin, self.reply) = (origin, reply)
    }
}
