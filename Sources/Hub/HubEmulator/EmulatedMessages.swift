import HubServer
import Synchronization

/// The notifications of an emulator: each rings at once, or at its time, and the telemetry follows a script.
final class EmulatedMessages: MessageStore {
    /// Protects all that the emulator remembers. No other lock is taken and nothing blocks while it is held.
    let state: Mutex<HubState>
    private let devices: any DeviceStore
    /// Held while due notifications are delivered, so that nobody finds one neither scheduled nor rung. It is taken before all others.
    private let delivery = Mutex(())

    init(_ state: HubState, devices: any DeviceStore) {
        self.state = Mutex(state)
        self.devices = devices
    }

    func accept(_ notification: Notification, of call: HubCall, due: Int64?) throws(RefusedCall) -> Acceptance {
        var acceptance = Acceptance()
        if let due {
            state.withLock { state in
                state.remember(notification, of: call, due: due)
                state.schedule(notification, due: due)
            }
            return acceptance
        }
        let now = call.moment.milliseconds
        let reach = try reach(of: notification, now: now)
        let outcome = state.withLock { state in
            let outcome = state.ring(notification, on: reach, now: now)
            state.remember(notification, of: call, due: nil)
            state.completeTelemetry(outcome, of: notification, now: now)
            return outcome
        }
        try forgetExpired(outcome, at: now)
        (acceptance.rungCount, acceptance.brokenRule) = (outcome.rung.count, outcome.rule)
        return acceptance
    }

    /// Delivers the notifications that have become due.
    ///
    /// Called before every other reading or change, so that no caller notices the missing clock.
    func deliverDue(now: Int64) {
        delivery.withLock { _ in
            for message in state.withLock({ $0.takeDue(now: now) }) { deliver(message) }
        }
    }

    private func deliver(_ message: HubState.Scheduled) {
        guard let reach = try? reach(of: message.notification, now: message.due) else { return }
        let outcome = state.withLock { state in
            let outcome = state.ring(message.notification, on: reach, now: message.due)
            state.completeTelemetry(outcome, of: message.notification, now: message.due)
            return outcome
        }
        try? forgetExpired(outcome, at: message.due)
    }

    func cancel(_ id: String, now: Int64) -> Bool { state.withLock { $0.cancelSchedule(id, now: now) } }

    func test(_ notification: Notification, of call: HubCall) throws(RefusedCall) -> Reach? {
        let now = call.moment.milliseconds
        guard state.withLock({ $0.countTestSend(at: now) }) else { return nil }
        let reach = try reach(of: notification, now: now)
        return state.withLock { $0.ring(notification, on: reach, now: now, limit: 10) }
    }

    func telemetry(of id: String, now: Int64) -> MessageTelemetry? { state.withLock { $0.telemetry[id] }?.telemetry(at: now) }

    func refused(by id: String) -> [PNSFeedback]? { state.withLock { $0.telemetry[id]?.refused } }

    func feedbackBlobs(from name: String, limit: Int) -> [FeedbackBlob.Head] {
        state.withLock { $0.feedbackBlobs.filter { $0.name >= name }.prefix(limit).map(\.head) }
    }

    func feedbackBlob(_ name: String) -> [UInt8]? { state.withLock { $0.feedbackBlobs.first { $0.name == name }?.bytes } }

    /// The devices that a notification reaches.
    private func reach(of notification: Notification, now: Int64) throws(RefusedCall) -> Reach {
        guard let audience = notification.devices(at: now) else { return notification.directReach }
        var (reach, place): (Reach, DevicePlace?) = (Reach(), nil)
        repeat {
            let page = try devices.read { [place] (book) throws(RefusedCall) in
                try book.devices(of: audience, after: place, limit: .max)
            }
            for device in page.devices { notification.add(device, to: &reach) }
            place = page.next
        } while place != nil
        return reach
    }

    /// Forgets devices whose handles are gone, but for registrations that were written since the push.
    private func forgetExpired(_ reach: Reach, at time: Int64) throws(RefusedCall) {
        let gone = reach.refused.filter { $0.outcome == "ExpiredChannel" }.map(\.delivery)
        guard !gone.isEmpty else { return }
        try devices.change { (book) throws(RefusedCall) in
            for delivery in gone {
                // A push that is delivered late may go to a registration that is younger than its time.
                try book.expire(delivery.device, before: max(time, delivery.registeredAt ?? time) &+ 1)
            }
        }
    }
}
