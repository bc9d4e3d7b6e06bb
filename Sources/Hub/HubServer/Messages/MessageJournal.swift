/// The notifications that a hub has accepted, each with its way so far, so that they go on after the process has ended.
///
/// Any thread may call. A journal that cannot answer refuses with 503.
package protocol MessageJournal: Sendable {
    /// Keeps a notification, and returns once that lasts. One that is sent now is for the devices that there are now, a scheduled one for
    /// those that there are when it is due.
    ///
    /// - Parameters:
    ///   - notification: The notification, with its id.
    ///   - call: The call that sends it.
    ///   - due: The time to send it, in milliseconds since 1970. Nil for now.
    ///   - deadline: The time after which no push service is asked any more, in milliseconds since 1970.
    /// - Throws: 503.
    func add(_ notification: Notification, of call: HubCall, due: Int64?, deadline: Int64) throws(RefusedCall)

    /// Takes back a notification that waits for its time. Returns false if there is none.
    func cancel(_ id: String, now: Int64) throws(RefusedCall) -> Bool

    /// Notifications that are due and not at their end, the first due first, at most `limit`, without those of some numbers. One that is
    /// sent now is due whatever the clock says, which may have been set back.
    func unfinished(now: Int64, without numbers: Set<Int64>, limit: Int) throws(RefusedCall) -> [JournaledMessage]

    /// The time of the next scheduled notification behind `now`, in milliseconds since 1970.
    func nextDue(after now: Int64) throws(RefusedCall) -> Int64?

    /// Keeps the outcome of a part of a walk, all of it or nothing. `done` gets nil, or why nothing is kept, on another thread.
    func keep(_ step: WalkStep, done: @escaping @Sendable (RefusedCall?) -> Void)

    /// As for a store of messages.
    func telemetry(of id: String, now: Int64) throws(RefusedCall) -> MessageTelemetry?
    func refused(by id: String) throws(RefusedCall) -> [PNSFeedback]?
    func feedbackBlobs(from name: String, limit: Int) throws(RefusedCall) -> [FeedbackBlob.Head]
    func feedbackBlob(_ name: String) throws(RefusedCall) -> [UInt8]?

    /// Forgets some of the notifications that ended before a time, with their feedback. Returns the number of those forgotten, 0 for the last.
    func forget(endedBefore time: Int64) throws(RefusedCall) -> Int

    /// The notifications that are not at their end, those that wait for their time left out.
    func unfinishedCount() throws(RefusedCall) -> Int

    /// The earliest time of delivery among the notifications that are not at their end, in milliseconds since 1970.
    func oldestDue() throws(RefusedCall) -> Int64?
}

/// A notification that is not at its end.
package struct JournaledMessage: Sendable {
    /// Its number in the journal, which grows with each.
    package let number: Int64
    package let notification: Notification
    /// The time of the answer, in milliseconds since 1970.
    package let acceptedAt: Int64
    /// The time of its delivery, in milliseconds since 1970: when it was accepted, or for which it was scheduled.
    package let due: Int64
    package let deadline: Int64
    /// Devices of this number and above are not meant. Nil for handles.
    package let end: DeviceNumber?
    /// The last device that is done. Nil before the first. For handles, its number is that of the handle among the different ones, from 1.
    package let place: DevicePlace?
    /// The outcomes that are kept so far.
    package let counts: OutcomeCounts

    package init(
        number: Int64, notification: Notification, acceptedAt: Int64, due: Int64, deadline: Int64, end: DeviceNumber?,
        place: DevicePlace?, counts: OutcomeCounts = OutcomeCounts()
    ) {
        (self.number, self.notification, self.acceptedAt, self.due) = (number, notification, acceptedAt, due)
        (self.deadline, self.end, self.place, self.counts) = (deadline, end, place, counts)
    }
}

/// The outcome of a part of a walk.
package struct WalkStep: Sendable {
    /// The end of a notification.
    package enum Ending: Sendable, Equatable {
        /// Every device has an outcome.
        case completed
        /// There was no device.
        case noTarget
        /// The deadline was over before every device had an outcome.
        case abandoned
    }

    /// A device whose handle is gone.
    package struct Gone: Sendable {
        package let device: DeviceKey
        /// Registrations that were written at this time or later stay. Milliseconds since 1970.
        package let before: Int64?

        package init(device: DeviceKey, before: Int64?) { (self.device, self.before) = (device, before) }
    }

    /// The notification's number in the journal.
    package let message: Int64
    /// The time, in milliseconds since 1970. The first step of a notification is its start.
    package let at: Int64
    /// The last device that is done. Nil leaves it as it is.
    package var place: DevicePlace?
    /// The outcomes to add.
    package var counts = OutcomeCounts()
    package var refused: [PNSFeedback] = []
    package var gone: [Gone] = []
    package var ending: Ending?

    package init(message: Int64, at: Int64) { (self.message, self.at) = (message, at) }
}
