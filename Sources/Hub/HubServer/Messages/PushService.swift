/// A push service, or what stands in for one.
package protocol PushService: Sendable {
    /// Sends a notification to devices of its platform.
    ///
    /// - Parameters:
    ///   - deliveries: What each device gets. None breaks a rule of the service.
    ///   - message: What all of them have in common.
    ///   - done: Gets one outcome for each delivery, in their order, once, on any thread.
    func push(_ deliveries: [Delivery], of message: PushedMessage, done: @escaping @Sendable ([PushOutcome]) -> Void)
}

/// The facts that the pushes of one notification have in common.
package struct PushedMessage: Sendable {
    /// The notification's id.
    package let id: String
    /// The number of the call that sent it, in the hub's records.
    package let callID: Int
    /// The format of the send.
    package let format: String
    /// The time of the send, in milliseconds since 1970.
    package let acceptedAt: Int64
    /// The time after which no push service may be asked any more, in milliseconds since 1970.
    package let deadline: Int64

    package init(id: String, callID: Int, format: String, acceptedAt: Int64, deadline: Int64) {
        (self.id, self.callID, self.format) = (id, callID, format)
        (self.acceptedAt, self.deadline) = (acceptedAt, deadline)
    }
}

/// The outcome of one push.
package struct PushOutcome: Sendable, Equatable {
    /// `Success`, `ExpiredChannel`, `WrongToken`, …: the word by which telemetry counts it.
    package var name: String
    /// True if the handle is gone.
    package var isGone = false
    /// The time since which the handle is gone, in milliseconds since 1970, if the service says it.
    package var goneSince: Int64?

    package init(_ name: String, isGone: Bool = false, goneSince: Int64? = nil) {
        (self.name, self.isGone, self.goneSince) = (name, isGone, goneSince)
    }

    /// A push that the service took.
    package static let success = PushOutcome(OutcomeCounts.success)
    /// A push to a handle that is gone.
    package static let expiredChannel = PushOutcome("ExpiredChannel", isGone: true)
}
