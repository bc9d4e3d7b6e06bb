import Delivery
import PushModel

/// The known facts of the first record of a delay lane's partition that waits and is too large to be kept in memory: it is unread
/// again, and read once more when it may go on.
struct DeferredHead {
    let offset: Int64
    /// The time when it was read first. What it says of its time is judged by that moment for good, or it could wait for ever.
    let readAt: Timestamp
    /// The time to check it again, or nil when it waits for room only.
    let recheckTime: Timestamp?
    /// The time of the record.
    let writtenAt: Timestamp?
    /// The time when it is due, as it says.
    let due: Timestamp?
    /// Since when it waits for something other than its time.
    let waitingSince: Timestamp
    /// The time when its request was published, and the attempts made for it.
    let publishedAt: Timestamp
    let attempt: Int
    /// True if it may go on, and is read once more.
    var isWanted = false

    /// The names by which it can be cancelled, each with the time of publication: its own, and that of the request it is a part of.
    private let names: [(name: RequestName, published: Timestamp)]

    /// Takes down what a flight says that was read just now.
    init(_ flight: Flight) {
        offset = flight.place.offset
        readAt = flight.report.consumedAt
        recheckTime = flight.wait.recheckTime
        writtenAt = flight.wait.writtenAt
        due = flight.wait.due
        waitingSince = flight.waitingSince
        publishedAt = flight.place.origin.timestamp
        attempt = flight.wait.delayed?.report.attemptCount ?? 0
        guard flight.wait.deadLetter == nil, flight.wait.poll == nil else {
            names = []
            return
        }
        let request = flight.request
        let own = RequestName(of: request)
        let part = request.parent == nil ? nil : PartReference(of: request)
        let whole = part.map {
            (name: RequestName(id: $0.parentID, source: own.source, tenant: own.tenant), published: $0.publishedAt)
        }
        names = [(name: own, published: flight.place.origin.timestamp)] + (whole.map { [$0] } ?? [])
    }

    /// True if it need not wait for its time any more.
    func mayGoOn(_ cancellations: Cancellations, now: Timestamp) -> Bool {
        guard let recheckTime, recheckTime > now else { return true }
        return names.contains { cancellations.cancellation(of: $0.name, published: $0.published) != nil }
    }

    /// The status's entry about it.
    func status(at now: Timestamp) -> LoopStatus.Oldest {
        let waitsForTime = recheckTime.map { $0 > now } ?? false
        return LoopStatus.Oldest(
            offset: offset, publishedAt: publishedAt, attempt: attempt, waitsFor: waitsForTime ? "timer" : "turn", nextDue: due)
    }
}
