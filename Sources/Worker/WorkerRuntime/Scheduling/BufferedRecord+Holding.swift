import Delivery
import PushModel

/// A record on its way to the topic of held requests, and where there is no room for it.
extension BufferedRecord {
    /// True if a call of it was made before it was held.
    var wasTried: Bool { delayed.map { $0.report.attemptCount > 0 } ?? false }

    /// True if it is cancelled, where it waits for its moment and so has a name.
    func isCancelled(by cancellations: Cancellations) -> Bool {
        name.map { cancellations.cancellation(of: $0, published: origin.timestamp) != nil } ?? false
    }

    /// The history that it has there: what it says of the past if it was held before.
    func history(of flight: Flight) -> ByteWriter {
        if let delayed { return delayed.text }
        var history = ByteWriter()
        DeliveryHistory(plan: 0, calls: []).append(flight.report, to: &history)
        return history
    }

    /// The time when it is due there. One that was not held before waits for nothing but its turn.
    func heldDue(now: Timestamp) -> Timestamp {
        delayed?.due ?? Timestamp(milliseconds: min(max(origin.timestamp.milliseconds, 0), now.milliseconds))
    }
}

extension Scheduler {
    /// True if a request of a key that must not be sent before a moment finds no place to wait.
    func hasNoPlace(for flight: Flight, until due: Timestamp, now: Timestamp) -> Bool {
        let moment = DelayPolicy.moment(until: due, expiresAt: flight.request.expiresAt)
        let size = flight.place.byteCount
        return hasNoPlace(of: flight.namedTenant, in: flight.place.slot, until: moment, byteCount: size, now: now)
    }

    /// Decides whether a request of a key, which is in work, is held, with a history of so many bytes. See `hold`.
    func hold(
        _ flight: Flight, key: RequestIdentity, until due: Timestamp, historyByteCount: Int, isLeft: Bool, now: Timestamp
    ) -> Int32? {
        let size = flight.place.byteCount + historyByteCount
        return hold(key, in: flight.place.slot, until: due, byteCount: size, isLeft: isLeft, tenant: flight.namedTenant, now: now)
    }
}

extension RequestFault {
    /// The fault of a request whose tenant has as many waiting with ordering keys in a partition as it may.
    static let orderingKeyFull = RequestFault(
        .orderingKeyFull, at: "/ordering_key",
        message: "Too many requests of its tenant wait in this partition for the moments of their ordering keys.")
}
