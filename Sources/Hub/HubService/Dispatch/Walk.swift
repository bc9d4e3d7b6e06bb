import HubServer

/// The way of one notification to its devices: pages in, outcomes in, steps for the journal out, one after the other in the order of the
/// pages. A value, which reads, sends and keeps nothing itself.
struct Walk: Sendable {
    /// The outcome of pushes that no push service was asked for before the deadline.
    static let abandoned = "AbandonedNotificationMessages"
    /// The outcome of a push of which the push service does not say what became of it, and of a registration that cannot be read.
    static let unknown = "UnknownError"

    /// A page whose outcomes are not kept yet.
    fileprivate struct OpenPage: Sendable {
        let number: Int
        let isLast: Bool
        var step: WalkStep
        var openCount: Int
        var gone: Set<DeviceKey> = []
    }

    let message: JournaledMessage
    /// The last device that was read.
    private(set) var cursor: DevicePlace?
    /// At most as many as may be on their way at once, the first read first.
    private var pages: [OpenPage] = []
    private var nextNumber = 0
    private var hasReadAll = false
    private var isKeeping = false
    private var hasMetDevice: Bool
    private var hasAbandoned: Bool
    /// The end, once it is kept.
    private(set) var ending: WalkStep.Ending?

    /// A walk that goes on behind the place that its journal knows.
    init(_ message: JournaledMessage) {
        self.message = message
        cursor = message.place
        hasMetDevice = !message.counts.isEmpty
        hasAbandoned = message.counts.entries.contains { $0.name == Self.abandoned }
    }

    /// True if there may be devices that were not read.
    var isUnread: Bool { !hasReadAll }

    /// True if no page was read in this process.
    var isFresh: Bool { nextNumber == 0 }

    /// True if all that was read is kept.
    var isAtRest: Bool { pages.isEmpty }

    /// True if a further page may be read while at most `limit` are on their way.
    func takesPage(limit: Int) -> Bool { !hasReadAll && pages.count < limit }

    /// Takes the page behind the cursor.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - now: The time, in milliseconds since 1970.
    ///   - isOver: The deadline is over, and no push service is asked any more.
    /// - Returns: The page's number, and the page with the pushes to hand over.
    mutating func take(_ page: WalkPage, at now: Int64, isOver: Bool) -> (number: Int, page: WalkPage) {
        var page = page
        if isOver {
            hasAbandoned = hasAbandoned || !page.deliveries.isEmpty
            page.abandon()
        }
        var step = WalkStep(message: message.number, at: now)
        step.place = page.place
        step.counts = page.counts
        step.refused = page.refused.map { PNSFeedback($0, notificationID: message.notification.id, at: now) }
        hasMetDevice = hasMetDevice || !page.deliveries.isEmpty || !page.counts.isEmpty
        cursor = page.place ?? cursor
        return (add(step, isLast: page.isLast, openCount: page.deliveries.count), page)
    }

    /// Gives up the devices behind the cursor, which cannot be read, and of which nobody knows how many there are.
    mutating func giveUp(at now: Int64) {
        (hasAbandoned, hasMetDevice) = (true, true)
        _ = add(WalkStep(message: message.number, at: now), isLast: true, openCount: 0)
    }

    private mutating func add(_ step: WalkStep, isLast: Bool, openCount: Int) -> Int {
        hasReadAll = isLast
        defer { nextNumber += 1 }
        pages.append(OpenPage(number: nextNumber, isLast: isLast, step: step, openCount: openCount))
        return nextNumber
    }

    /// Takes the outcomes of pushes of a page. A push without an outcome has the one that is not known.
    mutating func settle(_ deliveries: [Delivery], of number: Int, as outcomes: [PushOutcome], at now: Int64) {
        guard let index = pages.firstIndex(where: { $0.number == number }) else { return }
        for (position, delivery) in deliveries.enumerated() {
            let outcome = position < outcomes.count ? outcomes[position] : PushOutcome(Self.unknown)
            pages[index].add(outcome, of: delivery, notificationID: message.notification.id, at: now)
        }
        pages[index].openCount -= deliveries.count
    }

    /// The next step, once: the one before is kept, and every outcome of its page is there.
    mutating func nextStep(at now: Int64) -> WalkStep? {
        guard !isKeeping, let page = pages.first, page.openCount <= 0 else { return nil }
        isKeeping = true
        var step = page.step
        if page.isLast { step.ending = reachedEnding }
        return step.moved(to: now)
    }

    /// The end that it has behind the last page.
    private var reachedEnding: WalkStep.Ending { hasAbandoned ? .abandoned : hasMetDevice ? .completed : .noTarget }

    /// Notes that the step that was given last lasts.
    mutating func noteKept() {
        guard isKeeping, let page = pages.first else { return }
        isKeeping = false
        pages.removeFirst()
        if page.isLast { ending = reachedEnding }
    }

    /// Notes that nothing of the step that was given last lasts: the next one is the same again.
    mutating func noteFailed() { isKeeping = false }
}

extension Walk.OpenPage {
    fileprivate mutating func add(_ outcome: PushOutcome, of delivery: Delivery, notificationID: String, at now: Int64) {
        step.counts.add(outcome.name, on: delivery.device.platform)
        if outcome.name != OutcomeCounts.success && outcome.name != Walk.unknown && outcome.name != Walk.abandoned {
            let refusal = Reach.RefusedDelivery(delivery: delivery, outcome: outcome.name)
            step.refused.append(PNSFeedback(refusal, notificationID: notificationID, at: now))
        }
        if outcome.isGone, gone.insert(delivery.device).inserted {
            step.gone.append(WalkStep.Gone(device: delivery.device, before: outcome.goneSince))
        }
    }
}

extension WalkStep {
    /// The same step at another time.
    fileprivate func moved(to now: Int64) -> WalkStep {
        var step = WalkStep(message: message, at: now)
        (step.place, step.counts, step.refused, step.gone, step.ending) = (place, counts, refused, gone, ending)
        return step
    }
}
