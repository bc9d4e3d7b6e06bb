package import Basics
import Dispatch
import EventLoop
package import HubServer
import Payloads
import Synchronization

/// The notifications of a hub with a journal: each is in the journal before it is accepted, and a thread walks it to its devices.
///
/// After a kill the walk goes on behind the place that the journal knows. Pushes that were in flight are repeated, with the same ids.
package final class HubDispatcher: MessageStore {
    private let journal: any MessageJournal
    private let devices: any DeviceStore
    private let services: [HubPlatform: any PushService]
    private let clock: @Sendable () -> Int64
    private let observe: @Sendable (DispatchEvent) -> Void
    private let inbox = WalkerInbox()
    private let thread = ServiceThread()
    /// Protects the present terms. Nothing else is locked while it is held.
    private let presentTerms: Mutex<DispatchTerms>
    private let testSends: TestSends
    private let hasStarted = Atomic<Bool>(false)

    /// A dispatcher whose thread does not run yet. It accepts, and what it accepts waits.
    ///
    /// - Parameters:
    ///   - journal: What was accepted.
    ///   - devices: The registrations.
    ///   - services: The push service of each platform. Pushes of another one end with `InvalidCredentials`.
    ///   - terms: Limits and times.
    ///   - clock: The time, in milliseconds since 1970.
    ///   - seed: The seed of random choices.
    ///   - observe: Gets what happens, on any thread. It must not block.
    package init(
        journal: any MessageJournal, devices: any DeviceStore, services: [HubPlatform: any PushService], terms: DispatchTerms,
        clock: @escaping @Sendable () -> Int64, seed: UInt64, observe: @escaping @Sendable (DispatchEvent) -> Void = { _ in }
    ) {
        (self.journal, self.devices, self.services) = (journal, devices, services)
        (self.clock, self.observe) = (clock, observe)
        presentTerms = Mutex(terms)
        testSends = TestSends(devices: devices, services: services, seed: seed)
    }

    /// The present terms.
    package var terms: DispatchTerms { presentTerms.withLock { $0 } }

    /// Takes other terms. Notifications that were accepted keep their deadlines.
    package func take(_ terms: DispatchTerms) { presentTerms.withLock { $0 = terms } }

    /// Starts the thread, once. It begins with what the journal has.
    ///
    /// - Returns: False where the system has no thread left. What is accepted waits for the next start of the process then.
    @discardableResult
    package func start() -> Bool {
        guard !hasStarted.exchange(true, ordering: .acquiringAndReleasing) else { return true }
        return thread.start(named: "pushfan-walk") { [inbox, journal, devices, services, clock, observe, weak self] in
            let walker = Walker(journal: journal, devices: devices, services: services, inbox: inbox, observe: observe)
            var wake = MonotonicTime.past
            while let terms = self?.terms {
                let content = inbox.take(waitingUntil: wake)
                let now = WalkMoment(wall: clock(), steady: .now())
                wake = walker.turn(with: content, at: now, by: terms)
                if let end = content.end, walker.isIdle || end <= now.steady { return }
            }
        }
    }

    /// Begins no push any more, and returns at once. What is in flight goes on to its outcome. What is accepted waits for the next start.
    package func beginStop() {
        inbox.add { content in
            content.isEnding = true
            // Ends the wait that is about to begin.
            content.hasNews = true
        }
    }

    /// Ends the thread. It waits for the outcomes of what is in flight, and for their place in the journal, no longer than until a time.
    /// The rest is sent after the next start.
    package func stop(until end: MonotonicTime) {
        inbox.add { content in content.end = min(content.end ?? end, end) }
        beginStop()
        guard hasStarted.load(ordering: .acquiring) else { return }
        thread.waitForEnd(until: .now() + .nanoseconds(Int(clamping: max(0, end - MonotonicTime.now()))) + .seconds(1))
    }

    package func accept(
        _ notification: Notification, of call: HubCall, due: Int64?
    ) throws(RefusedCall) -> Acceptance {
        let terms = terms
        guard inbox.waitingCount.load(ordering: .relaxed) < terms.waitingCount else { throw .throttled(call) }
        let (deadline, isOver) = (due ?? call.moment.milliseconds)
            .addingReportingOverflow(terms.messageLifetime.wholeMilliseconds)
        try journal.add(notification, of: call, due: due, deadline: isOver ? .max : deadline)
        if due == nil { inbox.waitingCount.add(1, ordering: .relaxed) }
        inbox.add { content in
            if let due { content.due = min(content.due ?? due, due) } else { content.hasNews = true }
        }
        observe(.accepted)
        var acceptance = Acceptance()
        acceptance.brokenRule = notification.refusal?.sentence
        return acceptance
    }

    package func cancel(_ id: String, now: Int64) throws(RefusedCall) -> Bool { try journal.cancel(id, now: now) }

    package func test(_ notification: Notification, of call: HubCall) throws(RefusedCall) -> Reach? {
        try testSends.send(notification, of: call, by: terms)
    }

    package func telemetry(of id: String, now: Int64) throws(RefusedCall) -> MessageTelemetry? {
        try journal.telemetry(of: id, now: now)
    }

    package func refused(by id: String) throws(RefusedCall) -> [PNSFeedback]? { try journal.refused(by: id) }

    package func feedbackBlobs(from name: String, limit: Int) throws(RefusedCall) -> [FeedbackBlob.Head] {
        try journal.feedbackBlobs(from: name, limit: limit)
    }

    package func feedbackBlob(_ name: String) throws(RefusedCall) -> [UInt8]? { try journal.feedbackBlob(name) }
}
