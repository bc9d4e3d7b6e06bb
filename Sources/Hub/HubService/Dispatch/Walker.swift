import Basics
import HubServer

/// A moment by both clocks. Waits go by the steady one: whoever sets the other neither stops nor hurries what is on its way.
struct WalkMoment: Sendable {
    /// Milliseconds since 1970.
    let wall: Int64
    let steady: MonotonicTime
}

/// The notifications of a hub that are on their way. One thread has it, and every turn of it is short.
final class Walker {
    /// A notification on its way.
    private struct Running {
        var walk: Walk
        let expiry: MonotonicTime
        let byteCount: Int
        var hasBegun: Bool
        /// It has one of the places of long notifications.
        var isLong = false
        /// It is read no further. It is put back once its pages are kept.
        var isLeaving = false
        var retryAt = MonotonicTime.past
        var failureCount = 0
    }

    /// Pushes that were handed to a push service, and have no outcome yet.
    private struct OpenPush {
        let message: Int64
        let page: Int
        let deliveries: [Delivery]
        let byteCount: Int
        let limit: MonotonicTime
    }

    /// The most turns of notifications that begin before a long one has its own.
    private static let longestStreak = 8
    /// The notifications that are read from the journal at once.
    private static let portion = 32

    private let journal: any MessageJournal
    private let devices: any DeviceStore
    private let services: [HubPlatform: any PushService]
    private let inbox: WalkerInbox
    private let observe: @Sendable (DispatchEvent) -> Void
    private let housekeeping: Housekeeping

    private var running: [Int64: Running] = [:]
    /// The bodies and handles of what is on its way.
    private var heldByteCount = 0
    /// Notifications of which no page was read, and the others with pages to read, each in the order of their turns.
    private var fresh = FIFO<Int64>()
    private var long = FIFO<Int64>()
    private var streak = 0
    /// Long notifications without a place. Each goes on behind the place that the journal knows, in this order.
    private var parked = FIFO<Int64>()
    private var openPushes: [Int: OpenPush] = [:]
    private var nextPush = 0
    private var openCount = 0
    private var openByteCount = 0
    private var keeping: Set<Int64> = []
    /// Notifications whose step is kept again at a time.
    private var postponed: [(at: MonotonicTime, message: Int64)] = []
    /// The next look for pushes beyond their limit.
    private var overdueAt = MonotonicTime.past
    private var admission = Admission()

    /// A walker that begins with what its journal has.
    init(
        journal: any MessageJournal, devices: any DeviceStore, services: [HubPlatform: any PushService], inbox: WalkerInbox,
        observe: @escaping @Sendable (DispatchEvent) -> Void
    ) {
        (self.journal, self.devices, self.services, self.inbox, self.observe) = (journal, devices, services, inbox, observe)
        housekeeping = Housekeeping(journal: journal, devices: devices, inbox: inbox, observe: observe)
    }

    /// True if nothing that it began is open.
    var isIdle: Bool { openPushes.isEmpty && keeping.isEmpty && postponed.isEmpty }

    /// Does what can be done at once.
    ///
    /// - Parameters:
    ///   - content: What other threads have told.
    ///   - now: The moment.
    ///   - terms: The present terms.
    /// - Returns: The time of the next turn, if no news come before.
    func turn(with content: WalkerInbox.Content, at now: WalkMoment, by terms: DispatchTerms) -> MonotonicTime {
        admission.take(content)
        if content.hasNews || content.due != nil { housekeeping.noteChange() }
        for word in content.words { take(word, at: now) }
        settleOverdue(at: now)
        keepPostponed(at: now)
        guard !content.isEnding else { return now.steady.advanced(by: .milliseconds(100)) }
        admit(at: now, by: terms)
        let hasRead = readPage(at: now, by: terms)
        let pause = housekeeping.turn(isIdle: running.isEmpty, at: now, by: terms)
        if hasRead { return .past }
        let waits = [now.steady.advanced(by: pause), admission.wake(at: now)] + postponed.map(\.at)
        return waits.min() ?? now.steady
    }

    // MARK: News

    private func take(_ word: WalkerInbox.Word, at now: WalkMoment) {
        switch word {
        case .outcomes(let push, let outcomes): settle(push, as: outcomes, at: now)
        case .kept(let message, let refusal): noteKept(message, refusal: refusal, at: now)
        }
    }

    private func settle(_ push: Int, as outcomes: [PushOutcome], at now: WalkMoment) {
        guard let open = openPushes.removeValue(forKey: push) else { return }
        openCount -= open.deliveries.count
        openByteCount -= open.byteCount
        running[open.message]?.walk.settle(open.deliveries, of: open.page, as: outcomes, at: now.wall)
        var counts = OutcomeCounts()
        for (index, delivery) in open.deliveries.enumerated() {
            counts.add(index < outcomes.count ? outcomes[index].name : Walk.unknown, on: delivery.device.platform)
        }
        report(counts)
        keepStep(of: open.message, at: now)
    }

    private func report(_ counts: OutcomeCounts) {
        for entry in counts.entries { observe(.pushed(entry.platform, outcome: entry.name, count: entry.count)) }
    }

    /// Gives up waiting for outcomes that do not come.
    private func settleOverdue(at now: WalkMoment) {
        guard overdueAt <= now.steady else { return }
        overdueAt = now.steady.advanced(by: .seconds(1))
        for push in openPushes.filter({ $0.value.limit <= now.steady }).keys.sorted() { settle(push, as: [], at: now) }
    }

    // MARK: Steps

    private func keepStep(of message: Int64, at now: WalkMoment) {
        guard let step = running[message]?.walk.nextStep(at: now.wall) else { return }
        keeping.insert(message)
        journal.keep(step) { [inbox] refusal in inbox.add { $0.words.append(.kept(message: message, refusal)) } }
    }

    private func noteKept(_ message: Int64, refusal: RefusedCall?, at now: WalkMoment) {
        guard keeping.remove(message) != nil else { return }
        guard refusal == nil else {
            running[message]?.walk.noteFailed()
            postpone(message, after: refusal, at: now)
            if let at = running[message]?.retryAt { postponed.append((at, message)) }
            return
        }
        running[message]?.walk.noteKept()
        running[message]?.failureCount = 0
        guard let run = running[message] else { return }
        let ending = run.walk.ending
        guard ending != nil || run.isLeaving && run.walk.isAtRest else { return keepStep(of: message, at: now) }
        running[message] = nil
        heldByteCount -= run.byteCount
        guard let ending else { return parked.append(message) }
        housekeeping.noteChange()
        observe(.ended(ending, after: Self.age(of: run.walk.message, at: now)))
    }

    private func keepPostponed(at now: WalkMoment) {
        let due = postponed.filter { $0.at <= now.steady }
        guard !due.isEmpty else { return }
        postponed.removeAll { $0.at <= now.steady }
        for entry in due { keepStep(of: entry.message, at: now) }
    }

    /// Lets a notification wait after a failure, longer each time.
    private func postpone(_ message: Int64, after refusal: RefusedCall?, at now: WalkMoment) {
        let count = running[message]?.failureCount ?? 0
        running[message]?.failureCount = count + 1
        running[message]?.retryAt = now.steady.advanced(by: Self.pause(afterFailures: count))
        housekeeping.noteFailure(refusal, at: now)
    }

    /// 100 ms after the first failure, twice as long after each further one, and 5 s at most.
    static func pause(afterFailures count: Int) -> Duration { min(.seconds(5), .milliseconds(100 << min(count, 6))) }

    private static func age(of message: JournaledMessage, at now: WalkMoment) -> Duration {
        let (age, isOver) = now.wall.subtractingReportingOverflow(message.due)
        return .milliseconds(isOver ? 0 : max(0, age))
    }

    // MARK: Turns

    /// Takes in notifications that are due, as far as there is room.
    private func admit(at now: WalkMoment, by terms: DispatchTerms) {
        let room = min(Self.portion, terms.messageCount - running.count)
        guard room > 0, fresh.count < Self.portion, heldByteCount < terms.byteCount, admission.canRead(at: now) else {
            return
        }
        if !parked.isEmpty, hasLongPlace(by: terms), parked.popFirst() != nil { admission.noteNews() }
        guard admission.isDue(at: now) else { return }
        do throws(RefusedCall) {
            let known = Set(running.keys).union(parked)
            let found = try journal.unfinished(now: now.wall, without: known, limit: room)
            if admission.asksForSchedule(at: now) { admission.nextDue = try journal.nextDue(after: now.wall) }
            admission.noteReading(isFull: found.count >= room, at: now)
            for message in found where running[message.number] == nil { begin(message, at: now) }
        } catch {
            admission.noteFailure(at: now)
            housekeeping.noteFailure(error, at: now)
        }
    }

    private func begin(_ message: JournaledMessage, at now: WalkMoment) {
        let (rest, isOver) = message.deadline.subtractingReportingOverflow(now.wall)
        let expiry = now.steady.advanced(by: .milliseconds(isOver ? 0 : rest))
        let byteCount = message.notification.byteCount
        running[message.number] = Running(
            walk: Walk(message), expiry: expiry, byteCount: byteCount, hasBegun: message.place != nil)
        heldByteCount += byteCount
        fresh.append(message.number)
        housekeeping.noteChange()
    }

    /// Reads a page of the notification whose turn it is, and hands its pushes over. Returns false if there is none to read.
    private func readPage(at now: WalkMoment, by terms: DispatchTerms) -> Bool {
        guard let number = nextTurn(at: now, by: terms), var run = running[number] else { return false }
        let most = terms.pageLimit(for: run.walk.message.notification)
        let limit = run.walk.isFresh ? min(most, terms.firstPageSize) : most
        do throws(RefusedCall) {
            let read = try page(of: run.walk, limit: limit)
            let (pageNumber, page) = run.walk.take(read, at: now.wall, isOver: run.expiry <= now.steady)
            if !run.hasBegun, !page.deliveries.isEmpty {
                run.hasBegun = true
                observe(.begun(after: Self.age(of: run.walk.message, at: now)))
            }
            running[number] = run
            report(page.counts)
            handOver(page.deliveries, of: run.walk.message, page: pageNumber, until: now.steady.advanced(by: terms.outcomeLimit))
            keepStep(of: number, at: now)
        } catch {
            postpone(number, after: error, at: now)
            if run.expiry <= now.steady {
                // Nothing is pushed any more. A store that cannot be read does not keep it from its end.
                running[number]?.walk.giveUp(at: now.wall)
                keepStep(of: number, at: now)
            }
        }
        queue(number, by: terms)
        return true
    }

    /// Queues a notification for its next page. One to many devices needs a place for that, and makes room for others without one.
    private func queue(_ number: Int64, by terms: DispatchTerms) {
        guard var run = running[number], run.walk.isUnread else { return }
        guard !run.walk.isFresh else { return fresh.append(number) }
        if !run.isLong {
            let isNext = parked.isEmpty || run.walk.message.place != nil
            if isNext && hasLongPlace(for: run.byteCount, by: terms) { run.isLong = true } else { run.isLeaving = true }
            running[number] = run
        }
        if run.isLong { long.append(number) }
    }

    /// True if a further notification to many devices may be on its way. One always may.
    private func hasLongPlace(for byteCount: Int = 0, by terms: DispatchTerms) -> Bool {
        let byteCounts = running.values.filter(\.isLong).map(\.byteCount)
        return byteCounts.isEmpty
            || byteCounts.count < terms.messageCount / 4 * 3 && byteCounts.reduce(byteCount, +) <= terms.byteCount / 4 * 3
    }

    private func page(of walk: Walk, limit: Int) throws(RefusedCall) -> WalkPage {
        let (message, cursor) = (walk.message, walk.cursor)
        // The time of the message decides which registrations have expired: a walk has the same devices however long it takes.
        guard let audience = message.notification.devices(at: message.due, end: message.end) else {
            return WalkPage(after: cursor, limit: limit, ofHandlesOf: message.notification)
        }
        let found = try devices.read { (book) throws(RefusedCall) in
            try book.devices(of: audience, after: cursor, limit: limit)
        }
        return WalkPage(found, of: audience, of: message.notification)
    }

    /// Takes the notification out whose turn it is to read a page.
    private func nextTurn(at now: WalkMoment, by terms: DispatchTerms) -> Int64? {
        if streak < Self.longestStreak || long.isEmpty, let number = takeTurn(of: \.fresh, share: 1, at: now, by: terms) {
            streak += 1
            return number
        }
        streak = 0
        return takeTurn(of: \.long, share: 0.75, at: now, by: terms) ?? takeTurn(of: \.fresh, share: 1, at: now, by: terms)
    }

    private func takeTurn(
        of queue: ReferenceWritableKeyPath<Walker, FIFO<Int64>>, share: Double, at now: WalkMoment, by terms: DispatchTerms
    ) -> Int64? {
        for _ in 0..<self[keyPath: queue].count {
            guard let number = self[keyPath: queue].popFirst(), let run = running[number], run.walk.isUnread else { continue }
            if run.retryAt <= now.steady, run.walk.takesPage(limit: terms.pagesPerMessage),
                hasRoom(for: run.walk.message.notification, share: share, by: terms)
            {
                return number
            }
            self[keyPath: queue].append(number)
        }
        return nil
    }

    /// True if a page fits into a share of what may be on its way. Something always may.
    private func hasRoom(for notification: Notification, share: Double, by terms: DispatchTerms) -> Bool {
        let limit = terms.pageLimit(for: notification)
        return openPushes.isEmpty
            || openCount + limit <= Int(Double(terms.pushCount) * share)
                && openByteCount + limit * notification.pushByteCount <= Int(Double(terms.byteCount) * share)
    }

    /// Hands pushes to the push services of their platforms.
    private func handOver(_ deliveries: [Delivery], of message: JournaledMessage, page: Int, until limit: MonotonicTime) {
        let pushed = PushedMessage(message.notification, acceptedAt: message.acceptedAt, deadline: message.deadline)
        var rest = deliveries[...]
        while let platform = rest.first?.device.platform {
            let part = Array(rest.prefix { $0.device.platform == platform })
            rest = rest.dropFirst(part.count)
            let push = nextPush
            nextPush += 1
            let open = OpenPush(
                message: message.number, page: page, deliveries: part, byteCount: part.reduce(0) { $0 + $1.byteCount },
                limit: limit)
            openPushes[push] = open
            openCount += part.count
            openByteCount += open.byteCount
            services.push(part, of: pushed) { [inbox] outcomes in
                inbox.add { $0.words.append(.outcomes(push: push, outcomes)) }
            }
        }
    }
}
