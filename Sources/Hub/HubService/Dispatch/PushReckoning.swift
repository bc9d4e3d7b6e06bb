import HubServer

extension Delivery {
    /// The bytes that it is reckoned with: its content, and what every push needs.
    var byteCount: Int { body.count + handle.utf8.count + 512 }
}

extension Notification {
    /// The bytes that it is reckoned with while it is on its way.
    var byteCount: Int {
        guard case .handles(let handles) = audience else { return body.count + 1024 }
        return handles.reduce(body.count + 1024) { $0 + $1.utf8.count + 32 }
    }

    /// The bytes that one push of it is reckoned with before its device is known.
    var pushByteCount: Int { body.count + 1024 }
}

extension DispatchTerms {
    /// The most devices of a page of a notification. A page has an eighth at most of all that may be on its way.
    func pageLimit(for notification: Notification) -> Int {
        max(1, min(pageSize, pushCount / 8, byteCount / 8 / notification.pushByteCount))
    }
}

extension PushedMessage {
    /// The facts that the pushes of a notification have in common.
    init(_ notification: Notification, acceptedAt: Int64, deadline: Int64) {
        self.init(
            id: notification.id, callID: notification.callID, format: notification.format, acceptedAt: acceptedAt,
            deadline: deadline)
    }
}

extension [HubPlatform: any PushService] {
    /// Hands pushes of one platform to its push service. Without one, no push has credentials.
    func push(_ deliveries: [Delivery], of message: PushedMessage, done: @escaping @Sendable ([PushOutcome]) -> Void) {
        guard let first = deliveries.first else { return done([]) }
        guard let service = self[first.device.platform] else {
            return done([PushOutcome](repeating: PushOutcome("InvalidCredentials"), count: deliveries.count))
        }
        service.push(deliveries, of: message, done: done)
    }
}
